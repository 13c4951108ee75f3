"""The printed algorithms against each other, against a grid and against the library."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from experiments import printed
from experiments.gsr_fs.accuracy import alpha_of
from rowsparse import L2pSelector
from rowsparse.solvers import IRLS


def problem(n_classes, n=40, d=12):
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(n, d))
    y = rng.integers(0, n_classes, n)
    X[:, 0] += y
    return X, y, printed.one_hot(y)


@pytest.mark.parametrize("p", [0.5, 1.0])
def test_gsr_fs_with_equal_exponents_makes_the_steps_of_l2p(p):
    X, _, Y = problem(3)
    ours = islice(printed.gsr_fs(X, Y, 1.0, p, p), 5)
    theirs = islice(printed.l2p(X, Y, 1.0, p), 5)
    for W, V in zip(ours, theirs, strict=True):
        assert np.allclose(W, V, atol=1e-8)


@pytest.mark.parametrize(("n", "d"), [(40, 12), (12, 40)])
def test_steps_are_counted_on_the_same_iterates(n, d):
    X, _, Y = problem(3, n, d)
    ours = islice(printed.gsr_fs(X, Y, 2.0, 1.0, 0.5), 4)
    cheap = islice(printed.cheaper(X, Y, 2.0, 1.0, 0.5), 4)
    for W, V in zip(ours, cheap, strict=True):
        assert np.allclose(W, V, atol=1e-7)


@pytest.mark.parametrize("p", [0.3, 0.5, 1.0])
def test_a_row_of_rank_one_goes_to_the_lowest_of_a_grid(p):
    grid = np.linspace(0, 5, 50_001)
    for size in (0.2, 0.9, 1.4, 2.0, 4.0):
        values = 0.5 * (grid - size) ** 2 + 0.7 * grid**p
        row = printed._shrunk(np.array([0.6 * size, 0.8 * size]), 0.7, p)
        assert np.linalg.norm(row) == pytest.approx(grid[values.argmin()], abs=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("r", "p"), [(2.0, 1.0), (1.0, 1.0), (1.0, 0.5)])
def test_the_papers_lambda_is_the_alpha_of_the_library(n_classes, r, p):
    X, y, Y = problem(n_classes)
    *_, W = islice(printed.gsr_fs(X, Y, 3.0, r, p), 300)
    selector = L2pSelector.gsr(
        alpha=alpha_of(3.0, r, p, y), r=r, p=p, standardize=False, fit_intercept=False,
        init="zero", solver=IRLS(tol=1e-10, max_iter=3000),
    ).fit(X, y)  # fmt: skip
    V = np.atleast_2d(selector.coef_).T
    V = np.hstack([-V, V]) if n_classes == 2 else V
    ours, theirs = (printed.objective(X, Y, A, 3.0, r, p) for A in (V, W))
    assert ours == pytest.approx(theirs, rel=1e-5)
