"""Knockoffs: their moments, the filter, and the share of false columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from rowsparse import L2pSelector, ScoreSelector, TopKSelector
from rowsparse.model_selection import KnockoffSelector
from rowsparse.model_selection.knockoff_copies import KnockoffSampler, most_different
from rowsparse.model_selection.knockoff_filter import (
    e_values,
    knockoff_threshold,
    largest_e_values,
)

C = np.array([[1.0, 0.6, 0.2, 0.0], [0.6, 1.0, 0.4, 0.1], [0.2, 0.4, 1.0, -0.5], [0, 0.1, -0.5, 1]])
LASSO = L2pSelector(p=1)


def data(n=200, d=30, signals=12, seed=0, strength=0.6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    W = np.zeros((d, 3))
    W[:signals] = strength * rng.standard_normal((signals, 3))
    return X, X @ W + rng.standard_normal((n, 3)), np.arange(d) < signals


def test_copies_have_the_promised_second_moments():
    rng = np.random.RandomState(0)
    Z = rng.multivariate_normal(np.zeros(4), C, 200_000)
    sampler = KnockoffSampler(C)
    found = np.corrcoef(Z.T, sampler.draw(Z, rng).T)
    cross = C - np.diag(sampler.s)
    np.testing.assert_allclose(found, np.block([[C, cross], [cross, C]]), atol=0.01)


def test_s_is_where_the_entropy_is_largest():
    s = most_different(C)
    inverse = np.linalg.inv(2 * C - np.diag(s))
    np.testing.assert_allclose(1 / s, np.diag(inverse), rtol=1e-3)
    assert np.linalg.eigvalsh(2 * C - np.diag(s))[0] > 0
    np.testing.assert_allclose(most_different(np.eye(3)), 1.0)
    with pytest.raises(ValueError, match="positive definite"):
        most_different(np.ones((2, 2)))


def test_the_threshold_is_the_smallest_that_keeps_the_ratio():
    rng = np.random.default_rng(0)
    for _ in range(50):
        W = np.where(rng.random(40) < 0.5, rng.standard_normal(40), rng.exponential(2.0, 40))
        W[rng.random(40) < 0.2] = 0.0
        kept = [
            t for t in np.abs(W[W != 0])
            if (1 + np.sum(W <= -t)) / max(1, np.sum(W >= t)) <= 0.2
        ]  # fmt: skip
        assert knockoff_threshold(W, 0.2) == min(kept, default=np.inf)
        # one draw: e-values select the same columns
        chosen = largest_e_values(e_values(W, 0.2), 0.2)[0]
        np.testing.assert_array_equal(chosen, knockoff_threshold(W, 0.2) <= W)


def test_e_values_select_by_benjamini_and_hochberg():
    values = np.array([30.0, 0.0, 12.0, 11.0, 3.0])
    for fdr in (0.1, 0.15, 0.2, 0.5):
        ks = [k for k in range(1, 6) if np.sort(values)[::-1][k - 1] >= 5 / (fdr * k)]
        chosen, cut = largest_e_values(values, fdr)
        assert chosen.sum() == max(ks, default=0)
        assert cut == (np.inf if not ks else np.sort(values)[::-1][max(ks) - 1])


def test_false_columns_stay_below_the_target_and_true_ones_are_found():
    false, found = [], []
    for seed in range(12):
        X, Y, truth = data(seed=seed)
        support = KnockoffSelector(LASSO, fdr=0.2, random_state=seed).fit(X, Y).support_
        false.append((support & ~truth).sum() / max(support.sum(), 1))
        found.append(support[truth].mean())
    assert np.mean(false) < 0.25
    assert np.mean(found) > 0.7


def test_columns_and_copies_are_treated_alike():
    """A selector that prefers the first columns tells nothing: its statistics have random signs."""
    X, Y, _ = data(strength=0.0)
    first = ScoreSelector(lambda X, y: np.arange(X.shape[1])[::-1])
    W = KnockoffSelector(first, random_state=0).fit(X, Y).statistics_
    assert 5 <= np.sum(W > 0) <= 25


def test_a_known_covariance_lifts_the_limit_on_columns():
    X, Y, truth = data(n=60, d=40)
    with pytest.raises(ValueError, match=r"n/2 = 30 columns.*StabilitySelector"):
        KnockoffSelector(LASSO).fit(X, Y)
    found = KnockoffSelector(LASSO, fdr=0.3, covariance=np.eye(40), random_state=0).fit(X, Y)
    assert found.statistics_[truth].mean() > found.statistics_[~truth].mean()
    for wrong, words in (
        (np.eye(3), r"\(40, 40\)"),
        (-np.eye(40), "diagonal"),
        ("no", "covariance"),
    ):
        with pytest.raises(ValueError, match=words):
            KnockoffSelector(LASSO, covariance=wrong).fit(X, Y)


def test_several_draws_depend_less_on_chance():
    X, Y, _ = data(n=300, d=60, signals=30, strength=0.8)
    supports = [
        KnockoffSelector(LASSO, fdr=0.2, n_draws=5, random_state=seed).fit(X, Y).support_
        for seed in range(3)
    ]
    assert min(s.sum() for s in supports) >= 20
    assert np.mean([a != b for a in supports for b in supports]) < 0.1


def test_scale_names_constant_columns_and_seed():
    X, Y, _ = data()
    X[:, 29] = 3.0
    base = KnockoffSelector(LASSO, fdr=0.2, random_state=0).fit(X, Y)
    frame = pd.DataFrame(X * 10.0 ** (np.arange(30) % 5) - 4, columns=[f"x{j}" for j in range(30)])
    moved = KnockoffSelector(LASSO, fdr=0.2, random_state=0).fit(frame, Y)
    np.testing.assert_allclose(base.statistics_, moved.statistics_, atol=1e-6)
    assert base.statistics_[29] == 0
    assert moved.result_.names[3] == "x3"
    assert base.result_ == KnockoffSelector(LASSO, fdr=0.2, random_state=0).fit(X, Y).result_


def test_labels_and_selectors_of_others_work():
    X, Y, truth = data(n=300, strength=1.5)
    y = (Y[:, 0] > 0).astype(int)
    for selector in (LASSO, TopKSelector(20, n_init=0, polish=False)):
        found = KnockoffSelector(selector, fdr=0.4, random_state=0).fit(X, y)
        assert found.statistics_[truth].mean() > 2 * np.abs(found.statistics_[~truth]).mean()
        assert list(found.classes_) == [0, 1]


def test_nothing_selected_is_explained():
    X, Y, _ = data(strength=0.0)
    with pytest.warns(UserWarning, match=r"at least 10 columns must beat their copies"):
        found = KnockoffSelector(LASSO, random_state=0).fit(X, Y)
    assert found.threshold_ == np.inf
    assert not found.support_.any()


BAD = [
    ({"selector": LogisticRegression()}, "feature selector"),
    ({"fdr": 0.0}, "fdr"),
    ({"n_draws": 0}, "n_draws"),
    ({"selector": L2pSelector(feature_weights=np.ones(30))}, "without feature_weights"),
]


@pytest.mark.parametrize(("params", "words"), BAD)
def test_bad_parameters_are_refused_in_one_sentence(params, words):
    X, Y, _ = data()
    with pytest.raises((ValueError, TypeError), match=words):
        KnockoffSelector(**{"selector": LASSO, **params}).fit(X, Y)


def test_a_table_without_variation_is_refused():
    with pytest.raises(ValueError, match="varies"):
        KnockoffSelector(LASSO).fit(np.ones((20, 3)), np.arange(20) % 2)
