"""Large X by columns: passes of our own and what a fit keeps of them change no result."""

import numpy as np
import pytest

from rowsparse import L2pSelector
from rowsparse.designs import storages
from rowsparse.numerics import passes
from rowsparse.solvers.penalised import block_descent


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
    monkeypatch.setattr(storages, "WORTH_OWN_PASS", 0)


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
    monkeypatch.setattr(block_descent, "_part_tells", lambda n, d: True)


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
    with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
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
