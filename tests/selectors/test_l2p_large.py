"""Large X by columns: passes of our own and what a fit keeps of them change no result."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from rowsparse import L2pSelector, LpInfSelector
from rowsparse.designs import storages
from rowsparse.numerics import compiling, memory, passes
from rowsparse.solvers import IRLS, BlockDescent
from rowsparse.solvers.penalised import block_descent, working_set


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((60, 31)))
    return X, X[:, :4] @ rng.standard_normal((4, 3)) + 0.1 * rng.standard_normal((60, 3))


def fitted(X, Y, **params):
    settings = {"fit_intercept": False, "standardize": False, "p": 1.0, **params}
    return L2pSelector(alpha=0.05, **settings).fit(X, Y)


@pytest.fixture
def large(monkeypatch):
    """As if every matrix were large enough for passes of our own."""
    monkeypatch.setattr(compiling, "WORTH_LOADING", 0)


@pytest.mark.parametrize("plain", [False, True], ids=["standardized", "plain"])
@pytest.mark.parametrize(("r", "kind"), [(2.0, np.float64), (2.0, np.float32), (1.0, np.float64)])
def test_a_fit_is_the_same_through_either_kind_of_pass(request, r, kind, plain):
    X, Y = data()
    params = {"r": r, "fit_intercept": not plain, "standardize": not plain}
    by_blas = fitted(X.astype(kind), Y, **params)
    request.getfixturevalue("large")
    by_own = fitted(X.astype(kind, order="F"), Y, **params)
    np.testing.assert_array_equal(by_own.get_support(), by_blas.get_support())
    np.testing.assert_allclose(by_own.coef_, by_blas.coef_, atol=1e-4)
    assert by_own.solution_.objective == pytest.approx(by_blas.solution_.objective, rel=1e-6)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_still_refused(bad):
    X, Y = data()
    X[17, 5] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        fitted(X, Y)


@pytest.mark.usefixtures("large")
def test_a_fit_reads_all_of_X_once_and_once_per_step(monkeypatch):
    """First for norms and X'Y together, then for the certificate of what each step found."""
    seen = whole_passes(monkeypatch)
    X, Y = data()
    n_steps = fitted(X, Y).solution_.n_iter
    assert seen == [True] + n_steps * [False]


def whole_passes(monkeypatch):
    """For each pass over all of X, whether sums of squares came out of it."""
    seen = []

    def counted(X, R, squares=None, columns=None, samples=None):
        if columns is None and samples is None:
            seen.append(squares is not None)
        return passes.columns_times(X, R, squares, columns, samples)

    monkeypatch.setattr(storages, "columns_times", counted)
    return seen


# -- rows guessed from a part of the samples ------------------------------------------------------


@pytest.fixture
def guessing(monkeypatch, large):
    """As if few samples were enough to look at a part of them."""
    monkeypatch.setattr(working_set, "_part_tells", lambda n, d: True)


def tall_data(seed=0, n=3000):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((n, 31)))
    return X, X[:, :4] @ rng.standard_normal((4, 3)) + 0.1 * rng.standard_normal((n, 3))


@pytest.mark.parametrize("plain", [False, True], ids=["standardized", "plain"])
@pytest.mark.parametrize("weights", [None, "always in"])
def test_guessed_rows_lead_to_the_same_solution(request, plain, weights):
    X, Y = tall_data()
    factors = np.where(np.arange(31) == 20, 0.0, 1.0) if weights else None
    params = {"fit_intercept": not plain, "standardize": not plain, "feature_weights": factors}
    read_twice = fitted(X, Y, **params)
    request.getfixturevalue("guessing")
    guessed = fitted(X, Y, **params)
    assert guessed.solution_.n_iter < read_twice.solution_.n_iter
    assert guessed.solution_.converged
    assert guessed.solution_.gap <= 1e-8 * guessed.solution_.objective
    np.testing.assert_allclose(guessed.coef_, read_twice.coef_, atol=1e-7)


@pytest.mark.usefixtures("guessing")
def test_a_right_guess_leaves_one_pass_over_all_of_X(monkeypatch):
    seen = whole_passes(monkeypatch)
    fitted(*tall_data())
    assert seen == [True]


@pytest.mark.usefixtures("guessing")
@pytest.mark.parametrize("wrong", [[], [7, 9], [0]])
def test_a_wrong_guess_is_put_right(monkeypatch, wrong):
    X, Y = tall_data()
    right = fitted(X, Y)
    monkeypatch.setattr(block_descent, "guessed_rows", lambda problem: np.array(wrong, dtype=int))
    other = fitted(X, Y)
    assert other.solution_.converged
    np.testing.assert_allclose(other.coef_, right.coef_, atol=1e-7)


@pytest.mark.usefixtures("guessing")
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", [(0, 0), (3, 20), (1500, 1), (1477, 25), (2999, 30)])
def test_what_is_not_finite_is_refused_whoever_meets_it_first(bad, where):
    X, Y = tall_data()
    X[where] = bad
    with pytest.raises(ValueError, match=r"got NaN in 1 of 31 columns|Input X contains infinity"):
        fitted(X, Y)


@pytest.mark.usefixtures("guessing")
def test_numbers_whose_squares_overflow_are_refused_in_a_sentence():
    X, Y = tall_data()
    X[1477, 25] = 1e200
    with pytest.raises(ValueError, match=r"sums of squares are finite.*rescale X"):
        fitted(X, Y)


@pytest.mark.usefixtures("large")
def test_sample_weights_are_not_forgotten():
    X, Y = data()
    doubled = fitted(np.asfortranarray(np.vstack([X, X[:30]])), np.vstack([Y, Y[:30]]))
    weights = np.where(np.arange(60) < 30, 2.0, 1.0)
    settings = {"fit_intercept": False, "standardize": False, "p": 1.0}
    weighted = L2pSelector(alpha=0.05, **settings).fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(weighted.coef_, doubled.coef_, atol=1e-5)


@pytest.mark.parametrize("estimator", [L2pSelector, LpInfSelector])
def test_collinear_float32_columns_keep_the_digits_that_their_fit_needs(estimator):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(20, 1)) + 1e-4 * rng.normal(size=(20, 6)) + 3.0).astype(np.float32)
    Y = X[:, :2].astype(float) @ [[1e4], [-1e4]] + 0.01 * rng.normal(size=(20, 1))
    selector = estimator(alpha=1e-12, p=1.0).fit(X, Y)
    loss = np.sum((selector.predict(X).reshape(20, 1) - Y) ** 2) / 40
    assert loss == pytest.approx(selector.solution_.objective, rel=1e-2)


def test_a_large_sparse_table_is_fitted_without_a_square_of_its_sides():
    rng = np.random.default_rng(0)
    X = sparse.random(12_000, 12_000, density=1e-4, format="csc", random_state=rng)
    y = np.asarray(X[:, :5].sum(axis=1)).ravel()
    tracemalloc.start()
    LpInfSelector(solver=BlockDescent(max_iter=2, tol=1e-2)).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400e6  # of X 3e5, of the square of a side 1.2e9; the rest is numba


def test_what_does_not_fit_into_memory_is_refused_in_words(monkeypatch):
    X, Y = data()
    monkeypatch.setattr(memory, "physical_memory", lambda: 1000.0)
    with pytest.raises(ValueError, match=r"IRLS cannot solve this problem: it needs .* of memory"):
        fitted(X, Y, solver=IRLS())
    with pytest.raises(ValueError, match=r"working set that fits into memory, got \d+ rows"):
        fitted(X, Y, solver=BlockDescent())
