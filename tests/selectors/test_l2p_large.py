"""Large X by columns: passes of our own and what a fit keeps of them change no result."""

import numpy as np
import pytest

from rowsparse import L2pSelector
from rowsparse.designs import dense
from rowsparse.numerics import passes


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.standard_normal((60, 31)))
    return X, X[:, :4] @ rng.standard_normal((4, 3)) + 0.1 * rng.standard_normal((60, 3))


def fitted(X, Y, **params):
    settings = {"fit_intercept": False, "standardize": False, "p": 1.0, **params}
    return L2pSelector(0.05, **settings).fit(X, Y)


@pytest.fixture
def large(monkeypatch):
    """As if every matrix were large enough for passes of our own."""
    monkeypatch.setattr(passes, "WORTH", 0)
    monkeypatch.setattr(dense, "_WORTH_COMBINING", 0)


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
    seen = []

    def counted(X, R, squares=None):
        seen.append(squares is not None)
        return passes.columns_times(X, R, squares)

    monkeypatch.setattr(dense, "columns_times", counted)
    X, Y = data()
    n_steps = fitted(X, Y).solution_.n_iter
    assert seen == [True] + n_steps * [False]


@pytest.mark.usefixtures("large")
def test_sample_weights_are_not_forgotten():
    X, Y = data()
    doubled = fitted(np.asfortranarray(np.vstack([X, X[:30]])), np.vstack([Y, Y[:30]]))
    weights = np.where(np.arange(60) < 30, 2.0, 1.0)
    settings = {"fit_intercept": False, "standardize": False, "p": 1.0}
    weighted = L2pSelector(0.05, **settings).fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(weighted.coef_, doubled.coef_, atol=1e-5)
