"""Members that leave, enter and swap by products of columns, against plain least squares."""

from itertools import combinations

import numpy as np
import pytest

from rowsparse.numerics.exchanges import _SEARCH, NOTHING, Kicks, Products, exchanged
from rowsparse.numerics.shares import _MOVE

PLAIN = pytest.mark.parametrize("plain", [False, True], ids=["compiled", "plain"])


class Data:
    """Gaussian columns, two of them equal, and what they have with one another."""

    def __init__(self, n=40, d=12, c=2, seed=0):
        rng = np.random.default_rng(seed)
        self.X = rng.standard_normal((n, d))
        self.X[:, 3] = self.X[:, 2]
        self.Y = rng.standard_normal((n, c))
        self.G, self.B = self.X.T @ self.X, np.ascontiguousarray(self.Y.T @ self.X)
        self.total = float(np.sum(self.Y**2))

    def value(self, members):
        A = self.X[:, list(members)]
        return float(np.sum((self.Y - A @ np.linalg.lstsq(A, self.Y, rcond=None)[0]) ** 2))

    def exchanged(self, members, ranks):
        members, ranks = np.array(members, dtype=int), np.array(ranks, dtype=int)
        products = Products(NOTHING, self.G, self.B, self.G.diagonal().copy(), self.total)
        return exchanged(products, members, ranks).tolist()


@PLAIN
@pytest.mark.parametrize("members", [[], [0], [2, 3], [5, 6, 7], list(range(8))])
@pytest.mark.parametrize("c", [1, 3])
def test_no_swap_of_what_it_ends_at_gains(c, members, plain, monkeypatch):
    if plain:
        monkeypatch.setattr(_SEARCH.__class__, "__call__", lambda kernel, *a: kernel.plain(*a))
    for seed in range(5):
        data = Data(c=c, seed=seed)
        found = data.exchanged(members, [0, 0, 0])
        assert len(set(found)) == 3
        swaps = [
            data.value([j, *(m for m in found if m != i)])
            for i in found
            for j in set(range(12)) - set(found)
        ]
        assert data.value(found) <= min(swaps) * (1 + 1e-9)


def test_ranks_choose_among_the_columns_of_largest_gain():
    data = Data()
    singles = np.argsort([data.value([j]) for j in range(12)])
    pairs = min(combinations(range(12), 2), key=data.value)
    assert data.exchanged([], [0]) == [singles[0]]  # no swap can gain
    assert sorted(data.exchanged([], [3, 2])) == sorted(pairs)  # swaps mend a bad choice


def test_fewer_are_returned_where_the_others_depend_on_them():
    data = Data(d=4)
    found = data.exchanged([2, 3], [0, 0, 0, 0])
    assert len(found) == 3
    assert not {2, 3} <= set(found)


def test_moved_shares_keep_the_sum_compiled_or_not():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((9, 9))
    H, g, z = A @ A.T, rng.standard_normal(9), np.full(9, 1 / 3)
    ends = []
    for move in (_MOVE, _MOVE.plain):
        end = z.copy()
        move(H, g + H @ z, end, 1e-10, 10_000)
        ends.append(end)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-8)
    assert ends[0].sum() == pytest.approx(3.0)


@PLAIN
def test_where_members_fit_all_samples_rounding_is_no_gain(plain, monkeypatch):
    """Gains are rounding there, and some promise that a column may enter which may not."""
    if plain:
        monkeypatch.setattr(_SEARCH.__class__, "__call__", lambda kernel, *a: kernel.plain(*a))
    for seed in range(20):
        data = Data(n=9, d=24, seed=seed)
        data.X[:, 5] = data.X[:, 4] * (1 + 1e-5)
        products = Products(
            NOTHING, data.X.T @ data.X, data.Y.T @ data.X, np.sum(data.X**2, axis=0), data.total
        )
        kicks = Kicks.drawn(np.random.default_rng(seed), 10, 9)
        found = exchanged(products, np.array([], dtype=int), np.zeros(9, dtype=int), kicks)
        assert len(set(found.tolist())) == len(found)
        assert data.value(found) < 1e-6 * data.total
