"""Block sweeps: each row exactly minimised, compiled or not, through either matrix."""

import numpy as np
import pytest

from rowsparse.numerics import compiling, sweep
from rowsparse.penalties import L2p, LpInf

POWERS = [0.0, 0.25, 0.5, 1.0]
SHAPES = [(40, 12, 1), (40, 12, 3), (15, 30, 2), (1, 5, 2), (23, 13, 11), (30, 3, 26)]
ALWAYS, NEVER = 0, 10**9


class Data:
    """X, Y and a start, with the matrices that the two sweeps want."""

    def __init__(self, n, m, c, seed=0, clipped=False):
        self.clipped = clipped
        rng = np.random.default_rng(seed)
        self.X = np.asfortranarray(rng.standard_normal((n, m)) / np.sqrt(n))
        self.Y = rng.standard_normal((n, c))
        self.W0 = np.asfortranarray(rng.standard_normal((m, c)) * (rng.random((m, 1)) < 0.5))
        self.G, self.B = self.X.T @ self.X, self.X.T @ self.Y
        self.strength = rng.uniform(0.01, 0.1, m)
        self.strength[:2] = 0.0, np.inf
        self.W0[1] = 0.0
        self.rows = np.arange(m)

    def objective(self, W, p):
        norms = np.abs(W).max(axis=1) if self.clipped else np.linalg.norm(W, axis=1)
        used = norms > 0
        penalty = self.strength[used] @ norms[used] ** p
        return 0.5 * np.sum((self.X @ W - self.Y) ** 2) + penalty

    def by_gram(self, p, n_sweeps=1, rows=None, tol=0.0):
        W = self.W0.copy(order="F")
        Q = np.asfortranarray(self.G @ W - self.B)
        rows = self.rows if rows is None else rows
        moved = sweep.sweep_gram(
            self.G, Q, W, self.strength, p, rows, n_sweeps, tol, clipped=self.clipped
        )
        return W, Q, moved

    def by_samples(self, p, n_sweeps=1, rows=None, tol=0.0):
        W = self.W0.copy(order="F")
        R = np.asfortranarray(self.X @ W - self.Y)
        curvature = np.einsum("ij,ij->j", self.X, self.X)
        rows = self.rows if rows is None else rows
        moved = sweep.sweep_samples(
            self.X, R, W, curvature, self.strength, p, rows, n_sweeps, tol, clipped=self.clipped
        )
        return W, R, moved


def sweep_by_definition(data, p):
    """One sweep, each row from a fresh gradient and the array prox."""
    W = data.W0.copy()
    for j in data.rows:
        L = data.G[j, j]
        z = W[j] - (data.G[j] @ W - data.B[j]) / L
        penalty = LpInf(p=p) if data.clipped else L2p(p=p)
        W[j] = penalty.prox_rows(z[None], data.strength[j] / L)[0]
    return W


@pytest.fixture(params=[ALWAYS, NEVER], ids=["compiled", "plain"])
def compiled_from(request, monkeypatch):
    monkeypatch.setattr(sweep, "COMPILED_FROM", request.param)


@pytest.fixture(params=[False, True], ids=["norms", "clipped"])
def clipped(request):
    return request.param


@pytest.fixture
def without_numba(monkeypatch):
    monkeypatch.setattr(compiling, "_numba", lambda: None)
    monkeypatch.setattr(sweep, "COMPILED_FROM", ALWAYS)


def both_ways(monkeypatch, call):
    results = []
    for size in (ALWAYS, NEVER):
        monkeypatch.setattr(sweep, "COMPILED_FROM", size)
        results.append(call())
    return results


def test_many_problems_of_few_rows_are_compiled_and_single_ones_are_not():
    plain = sweep._sweep_gram
    with compiling.for_many(61, 50), compiling.for_many(2, 2):  # a small path within
        assert sweep._kernel(plain, 3) is sweep._KERNELS[plain]
    assert sweep._kernel(plain, 61) is plain
    with compiling.for_many(13, 50):
        assert sweep._kernel(plain, 13) is plain


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("way", ["by_gram", "by_samples"])
def test_compiled_equals_plain_source(monkeypatch, way, shape, p, clipped):
    data = Data(*shape, clipped=clipped)
    fast, slow = both_ways(monkeypatch, lambda: getattr(data, way)(p, n_sweeps=3))
    for a, b in zip(fast, slow, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("p", [0.5, 1.0])
@pytest.mark.parametrize("batch", [1, 2, 3, 4, 7])
def test_the_size_of_a_batch_changes_nothing_but_rounding(batch, p):
    data = Data(23, 14, 9)
    expected = data.by_gram(p, n_sweeps=3)[0]
    W, Q = data.W0.copy(order="F"), np.asfortranarray(data.G @ data.W0 - data.B)
    sweep._sweep_gram(
        data.G, Q.T, W.T, data.strength, p, data.rows, 3, 0.0, space=None, batch=batch
    )
    np.testing.assert_allclose(W, expected, atol=1e-12)
    np.testing.assert_allclose(Q, data.G @ W - data.B, atol=1e-12)
    W, R = data.W0.copy(order="F"), np.asfortranarray(data.X @ data.W0 - data.Y)
    L = np.diag(data.G).copy()
    ridges = np.zeros(len(L))
    sweep._sweep_samples(
        data.X.T, R.T, W.T, L, ridges, data.strength, p, data.rows, 3, 0.0, space=None, batch=batch
    )
    np.testing.assert_allclose(W, expected, atol=1e-12)
    np.testing.assert_allclose(R, data.X @ W - data.Y, atol=1e-12)


@pytest.mark.usefixtures("compiled_from")
def test_a_move_too_small_to_count_leaves_row_and_residual_alone():
    """Squares of 1e-165 underflow: a move without length, beside the real one of the first row."""
    W, R = np.full((8, 3), 1e-165, order="F"), np.full((8, 3), 1e-165, order="F")
    R[0] = 1.0
    X, ones = np.asfortranarray(np.eye(8)), np.ones(8)
    sweep.sweep_samples(X, R, W, ones, 0.1 * ones, 1.0, np.arange(8), 1, 0.0)
    assert W[0].all()
    assert (R[0] != 1.0).all()
    np.testing.assert_array_equal(W[1:], 1e-165)
    np.testing.assert_array_equal(R[1:], 1e-165)


def test_compiled_code_is_really_used(monkeypatch):
    monkeypatch.setattr(sweep, "COMPILED_FROM", ALWAYS)
    assert sweep._kernel(sweep._sweep_gram, 1) is not sweep._sweep_gram
    assert sweep._kernel(sweep._sweep_samples, 1) is not sweep._sweep_samples


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.usefixtures("compiled_from")
def test_one_sweep_is_the_definition(shape, p, clipped):
    data = Data(*shape, clipped=clipped)
    expected = sweep_by_definition(data, p)
    np.testing.assert_allclose(data.by_gram(p)[0], expected, atol=1e-12)
    np.testing.assert_allclose(data.by_samples(p)[0], expected, atol=1e-12)


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.parametrize("way", ["by_gram", "by_samples"])
@pytest.mark.usefixtures("compiled_from")
def test_every_sweep_lowers_the_objective(way, p, clipped):
    data = Data(40, 12, 3, clipped=clipped)
    values = [data.objective(data.W0, p)]
    values += [data.objective(getattr(data, way)(p, n)[0], p) for n in (1, 2, 3, 10)]
    assert values[1] < values[0]
    assert (np.diff(values) <= 1e-13).all()


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.usefixtures("compiled_from")
def test_gradient_and_residual_are_kept_up_to_date(p, clipped):
    data = Data(40, 12, 3, clipped=clipped)
    W, Q, _ = data.by_gram(p, 5)
    np.testing.assert_allclose(Q, data.G @ W - data.B, atol=1e-12)
    W, R, _ = data.by_samples(p, 5)
    np.testing.assert_allclose(R, data.X @ W - data.Y, atol=1e-12)


@pytest.mark.usefixtures("compiled_from")
def test_only_the_named_rows_move(clipped):
    data = Data(40, 12, 3, clipped=clipped)
    rows = np.array([5, 2, 9])
    for W in (data.by_gram(0.5, rows=rows)[0], data.by_samples(0.5, rows=rows)[0]):
        moved = np.flatnonzero((data.W0 != W).any(axis=1))
        assert set(moved) <= set(rows.tolist())
        assert moved.size


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.usefixtures("compiled_from")
def test_free_rows_stay_in_and_infinite_strength_keeps_a_row_out(p, clipped):
    W = Data(40, 12, 3, clipped=clipped).by_gram(p, 5)[0]
    assert W[0].any()
    assert not W[1].any()


@pytest.mark.usefixtures("compiled_from")
def test_the_move_of_the_last_sweep_is_returned_and_ends_the_run(clipped):
    data = Data(40, 12, 3, clipped=clipped)
    W, _, moved = data.by_gram(1.0, 10_000, tol=1e-9)
    assert 0 <= moved <= 1e-9
    first, second = data.by_gram(1.0, 3)[0], data.by_gram(1.0, 4)
    change = np.linalg.norm(second[0] - first, axis=1) * np.sqrt(np.diag(data.G))
    assert second[2] == pytest.approx(change.max(), rel=1e-9)
    np.testing.assert_allclose(data.by_gram(1.0, 20_000)[0], W, atol=1e-6)


@pytest.mark.parametrize("p", POWERS)
@pytest.mark.usefixtures("compiled_from")
def test_a_row_without_curvature_is_left_alone(p, clipped):
    data = Data(40, 12, 3, clipped=clipped)
    data.X[:, 4] = 0.0
    data.G, data.B = data.X.T @ data.X, data.X.T @ data.Y
    for W in (data.by_gram(p, 2)[0], data.by_samples(p, 2)[0]):
        np.testing.assert_array_equal(W[4], data.W0[4])
        assert np.isfinite(W).all()


@pytest.mark.usefixtures("without_numba")
@pytest.mark.parametrize("p", POWERS)
def test_without_numba_the_sweeps_are_still_right(p, clipped):
    assert not compiling.numba_is_there()
    data = Data(40, 80, 2, clipped=clipped)
    expected = sweep_by_definition(data, p)
    np.testing.assert_allclose(data.by_gram(p)[0], expected, atol=1e-11)
    np.testing.assert_allclose(data.by_samples(p)[0], expected, atol=1e-11)


@pytest.mark.parametrize("z", [0.0, 1e-300, 1e-12, 1.0, 1e12, 1e300])
@pytest.mark.parametrize("p", POWERS)
def test_the_scalar_map_of_the_sweeps_is_the_array_map(p, z):
    for rho in (0.0, 1e-12, 0.1, 10.0, np.inf):
        expected = float(L2p(p=p).prox_rows(np.array([[z]]), rho)[0, 0])
        assert sweep._shrink_one(z, rho, p) == pytest.approx(expected, rel=1e-13, abs=0)
