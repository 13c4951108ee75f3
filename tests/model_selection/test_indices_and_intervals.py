"""Stability indices and corrected intervals, against their definitions written out."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from rowsparse.model_selection.intervals import corrected_interval, score_limits
from rowsparse.model_selection.stability_index import jaccard, kuncheva, nogueira

D = 12


def drawn(sizes, seed=0):
    rng = np.random.default_rng(seed)
    return [np.sort(rng.choice(D, k, replace=False)) for k in sizes]


def pairs(selections):
    return [(set(a.tolist()), set(b.tolist())) for a, b in combinations(selections, 2)]


def test_kuncheva_and_jaccard_are_means_over_pairs():
    found = drawn([4] * 6)
    of_pairs = [(len(a & b) * D - 16) / (4 * (D - 4)) for a, b in pairs(found)]
    assert kuncheva(found, D).estimate == pytest.approx(np.mean(of_pairs))
    mixed = drawn([2, 5, 3, 4])
    of_pairs = [len(a & b) / len(a | b) for a, b in pairs(mixed)]
    assert jaccard(mixed, D).estimate == pytest.approx(np.mean(of_pairs))


def test_nogueira_is_one_minus_observed_over_chance_variance():
    found = drawn([2, 5, 3, 4])
    Z = np.array([np.isin(np.arange(D), one) for one in found], dtype=float)
    share = Z.mean()
    expected = 1 - Z.var(axis=0, ddof=1).mean() / (share * (1 - share))
    assert nogueira(found, D).estimate == pytest.approx(expected)


def test_nogueira_is_kuncheva_where_all_sizes_are_equal():
    found = drawn([5] * 7)
    assert nogueira(found, D).estimate == pytest.approx(kuncheva(found, D).estimate)


def test_the_same_columns_always_are_one_and_random_ones_zero():
    same = [np.array([1, 5])] * 5
    for index in (nogueira, kuncheva, jaccard):
        assert index(same, D).estimate == pytest.approx(1.0)
    random = drawn([4] * 400)
    assert nogueira(random, D).low < 0 < nogueira(random, D).high
    assert abs(kuncheva(random, D).estimate) < 0.02


def test_the_intervals_are_as_wide_as_repeated_draws_scatter():
    rng = np.random.default_rng(0)

    def selections():
        sure = rng.random((60, 3)) < 0.8
        rest = [rng.choice(np.arange(3, D), 2, replace=False) for _ in range(60)]
        rows = zip(sure, rest, strict=True)
        return [np.concatenate([np.flatnonzero(s), r]) for s, r in rows]

    for index in (nogueira, jaccard):
        found = [index(selections(), D) for _ in range(60)]
        scatter = np.std([one.estimate for one in found])
        width = np.mean([one.high - one.low for one in found]) / (2 * 1.96)
        assert 0.7 < width / scatter < 1.4


def test_what_cannot_be_known_is_nan():
    assert np.isnan(kuncheva(drawn([2, 3]), D).estimate)
    assert np.isnan(nogueira([np.arange(3)], D).estimate)
    assert np.isnan(nogueira([np.zeros(0, int)] * 3, D).estimate)


def test_the_interval_of_nadeau_and_bengio():
    values = np.array([0.9, 0.8, 0.85, 0.95, 0.7])
    interval, p_value = corrected_interval(values, 0.25)
    error = np.sqrt((1 / 5 + 0.25) * values.var(ddof=1))
    low, high = stats.t.interval(0.95, 4, values.mean(), error)
    assert (interval.low, interval.high) == pytest.approx((low, high))
    # without overlap it is the plain t interval and test
    plain = corrected_interval(values, 0.0)
    assert plain[1] == pytest.approx(stats.ttest_1samp(values, 0.0).pvalue)
    assert p_value > plain[1]


def test_missing_scores_are_left_out_of_the_interval():
    values = np.array([0.9, np.nan, 0.8])
    assert corrected_interval(values, 0.2) == corrected_interval(values[[0, 2]], 0.2)
    assert np.isnan(corrected_interval(values[:2], 0.2)[0].low)


@pytest.mark.parametrize(
    ("scoring", "limits"),
    [
        ("accuracy", (0, 1)),
        ("roc_auc_ovr", (0, 1)),
        ("f1_macro", (0, 1)),
        ("r2", (-np.inf, 1)),
        ("neg_log_loss", (-np.inf, 0)),
        ("matthews_corrcoef", (-1, 1)),
        ("my_score", (-np.inf, np.inf)),
    ],
)
def test_no_interval_ends_where_its_score_cannot_be(scoring, limits):
    assert score_limits(scoring) == limits
    scores = np.array([0.9, 1.0, 1.0, 0.95]) - (1 if scoring.startswith("neg") else 0)
    free = corrected_interval(scores, 0.25)[0]
    bounded = corrected_interval(scores, 0.25, limits=limits)[0]
    assert free.high > scores.max()
    assert bounded.high == min(free.high, limits[1])
    assert (bounded.low, bounded.estimate) == (free.low, free.estimate)
