"""ProbitSelector: the EM with log-cdf arithmetic, probabilities, selection."""

import numpy as np
import pytest
from estimator_checks.toy import INFORMATIVE, labelled
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from rowsparse import ProbitSelector
from rowsparse.losses import ProbitLoss
from rowsparse.selectors.probit import log_probabilities


def test_it_selects_the_informative_columns():
    X, y = labelled(n=150, d=40)
    model = ProbitSelector(n_features_to_select=3).fit(X, y)
    assert set(np.flatnonzero(model.support_)) == set(INFORMATIVE)
    assert model.score(X, y) > 0.85
    assert model.gamma_ >= 1.0


def test_jeffreys_prior_alone_selects_few():
    X, y = labelled(n=150, d=40, c=2)
    model = ProbitSelector().fit(X, y)
    assert 1 <= model.support_.sum() <= 6
    assert model.gamma_ == 1.0


@pytest.mark.parametrize("c", [2, 3])
def test_probabilities_sum_to_one_and_order_like_decisions(c):
    X, y = labelled(c=c)
    model = ProbitSelector(gamma=0.5).fit(X, y)
    P = model.predict_proba(X)
    assert P.shape == (60, c)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    if c == 2:
        np.testing.assert_allclose(P[:, 1], norm.cdf(model.decision_function(X)))


def test_probabilities_are_calibrated_on_data_of_the_model():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 5))
    y = X[:, 0] - 0.5 * X[:, 1] + rng.standard_normal(2000) > 0
    model = ProbitSelector(norm=2.0, gamma=1e-3, standardize=False).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], [1, -0.5, 0, 0, 0], atol=0.12)
    reference = LogisticRegression(C=1e6).fit(X, y).predict_proba(X)[:, 1]
    assert np.abs(model.predict_proba(X)[:, 1] - reference).max() < 0.05


def test_no_overflow_up_to_margins_of_a_thousand():
    m = np.array([-1e3, -300.0, -40.0, -1.0, 0.0, 1.0, 40.0, 300.0, 1e3])[:, None]
    loss, ones = ProbitLoss(), np.ones((9, 1))
    with np.errstate(all="raise", under="ignore"):
        value = loss.phi(m)
        _, targets = loss.majorizer(m, ones)
        logs = log_probabilities(m[:, 0])
    assert np.isfinite(value).all()
    assert np.isfinite(targets).all()
    assert np.isfinite(logs).all()
    np.testing.assert_allclose(
        value[:3, 0], m[:3, 0] ** 2 / 2 + np.log(-m[:3, 0] * np.sqrt(2 * np.pi)), rtol=1e-3
    )
    # far on the wrong side the expected latent value is just across zero: z = -1/m
    np.testing.assert_allclose(targets[:3, 0], -1 / m[:3, 0], rtol=2e-3)
    np.testing.assert_allclose(targets[-3:], m[-3:])


def test_the_e_step_is_the_mean_of_a_truncated_normal():
    from scipy.stats import truncnorm

    m = np.linspace(-4, 4, 9)[:, None]
    for sign in (1.0, -1.0):
        _, targets = ProbitLoss().majorizer(m, np.full_like(m, sign))
        for z, mean in zip(targets[:, 0], m[:, 0], strict=True):
            low, high = (-mean, np.inf) if sign > 0 else (-np.inf, -mean)
            assert z == pytest.approx(mean + truncnorm.mean(low, high), rel=1e-8)


def test_a_perfect_separator_stays_finite():
    X, y = labelled(c=2)
    X[:, 3] = 1e3 * (2 * y - 1)
    model = ProbitSelector(norm=0.5, gamma=1e-6, standardize=False, max_iter=50, tol=1e-2).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict_log_proba(X)).all()


def test_too_strong_a_prior_is_said():
    X, y = labelled()
    y = np.where(np.arange(60) < 40, "many", "few")
    with pytest.warns(UserWarning, match=r"gamma=1e\+06 outweighs.*majority.*lower gamma"):
        model = ProbitSelector(gamma=1e6).fit(X, y)
    assert set(model.predict(X)) == {"many"}


def test_weights_are_repetitions():
    X, y = labelled(c=2)
    weight = 1 + np.arange(60) % 3
    weighted = ProbitSelector(gamma=3.0).fit(X, y, sample_weight=weight)
    repeated = ProbitSelector(gamma=3.0).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("weights", [(0, 0, 0), (0, 0, 1)])
@pytest.mark.parametrize("seed", [0, 2])
def test_converged_means_that_columns_without_penalty_are_fitted_too(seed, weights):
    """Against a quasi-Newton method on the written objective, which is smooth at norm 2."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 3))
    X[:, 1] = X[:, 0] + 0.05 * X[:, 1]
    y = X @ [3.0, -2.0, 1.0] + rng.standard_normal(40) > 0
    settings = {"norm": 2.0, "gamma": 1.0, "standardize": False}
    model = ProbitSelector(feature_weights=weights, **settings).fit(X, y)
    signs = np.where(y, 1.0, -1.0)

    def written(point):
        loss = -norm.logcdf(signs * (X @ point[:3] + point[3])).sum()
        return 2.0 * loss + np.sum(np.array(weights) * point[:3] ** 2)

    reached = np.r_[model.coef_[0], model.intercept_]
    assert model.solution_.converged
    assert written(reached) <= minimize(written, reached).fun * (1 + 2e-8)


@pytest.mark.filterwarnings("ignore:No feature")
def test_a_constant_alone_fits_the_share_of_a_class():
    X = np.random.default_rng(0).standard_normal((200, 4))
    model = ProbitSelector(gamma=1e4).fit(X, np.arange(200) < 4)
    assert not model.coef_.any()
    assert norm.cdf(model.intercept_[0]) == pytest.approx(0.02, rel=1e-5)
