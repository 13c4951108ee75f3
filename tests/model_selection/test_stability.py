"""StabilitySelector: halves, counts, exactly q, thresholds, groups of alike columns."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from estimator_checks import toy
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from rowsparse import L2pSelector, ScoreSelector, TopKSelector
from rowsparse.model_selection import StabilitySelector
from rowsparse.model_selection.error_bounds import pfer_bound
from rowsparse.model_selection.subsamples import complementary_pairs
from rowsparse.targets import as_target

FAST = TopKSelector(n_init=0, polish=False)


def stable(selector=FAST, **params):
    return StabilitySelector(selector, **{"q": 3, "n_pairs": 10, "random_state": 0, **params})


# -- halves ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [60, 61, 62])
@pytest.mark.parametrize("c", [2, 3])
def test_halves_are_disjoint_equal_and_stratified(n, c):
    y = toy.labelled(n=n, c=c)[1]
    pairs = complementary_pairs(as_target(y, "auto"), None, 30, np.random.RandomState(0))
    left_out = []
    for first, second in pairs:
        assert first.size == second.size == n // 2
        both = np.concatenate([first, second])
        assert np.unique(both).size == both.size
        counts = [np.bincount(y[half], minlength=c) for half in (first, second)]
        assert np.abs(counts[0] - counts[1]).max() <= 1
        left_out.append(np.setdiff1d(np.arange(n), both))
    assert np.unique(np.concatenate(left_out)).size == 0 or len(np.unique(left_out)) > 3


def test_numbers_are_halved_too_and_groups_stay_together():
    y = np.linspace(0, 1, 41)
    first, second = complementary_pairs(as_target(y, "auto"), None, 2, np.random.RandomState(0))[0]
    assert first.size == second.size == 20
    groups = np.arange(41) // 4
    for first, second in complementary_pairs(
        as_target(y, "auto"), groups, 20, np.random.RandomState(0)
    ):
        assert not set(groups[first]) & set(groups[second])
        assert len(set(groups[first])) == len(set(groups[second])) == 5


def test_what_cannot_be_halved_is_refused():
    X, y = toy.labelled()
    alone = np.where(np.arange(60) == 0, 7, y)
    with pytest.raises(ValueError, match="two samples of every class"):
        stable().fit(X, alone)
    with pytest.raises(ValueError, match="four groups"):
        stable().fit(X, y, groups=np.arange(60) % 3)


# -- counts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "selector", [L2pSelector(p=1), FAST, ScoreSelector("f"), SelectKBest(f_classif)]
)
def test_probabilities_are_counts_of_fits_on_the_halves(selector):
    X, y = toy.labelled(n=41, d=30)
    found = stable(selector, n_pairs=4).fit(X, y)
    pairs = complementary_pairs(as_target(y, "auto"), None, 4, np.random.RandomState(0))
    k_name = "k" if isinstance(selector, SelectKBest) else "n_features_to_select"
    counts = np.zeros(30)
    for pair in pairs:
        for half in pair:
            one = clone(selector).set_params(**{k_name: 3}).fit(X[half], y[half])
            counts += one.get_support()
    np.testing.assert_array_equal(found.selection_probabilities_, counts / 8)
    assert all(len(one) == 3 for one in found.stability_.selections)
    np.testing.assert_array_equal(
        found.support_, found.selection_probabilities_ >= found.threshold_ - 1e-9
    )


def test_exactly_q_columns_where_a_penalty_would_give_more():
    rng = np.random.default_rng(0)
    base = rng.standard_normal((40, 4))
    X = np.repeat(base, 5, axis=1)  # columns five times: ties everywhere
    found = stable(L2pSelector(p=1), q=7).fit(X, base[:, 0] > 0)
    assert {len(one) for one in found.stability_.selections} == {7}


def test_seed_and_n_jobs():
    X, y = toy.labelled()
    noise = X[:40] + 3 * np.random.default_rng(0).standard_normal((40, 8))
    y = y[:40]
    base, other, again = stable(), stable(random_state=1), stable(n_jobs=2)
    base, other, again = (one.fit(noise, y).stability_ for one in (base, other, again))
    assert base == again
    assert base != other


# -- threshold, q and pfer ------------------------------------------------------------------------


def test_two_give_the_third():
    X, y = toy.labelled(d=40)
    found = stable(q=4, threshold=0.8, bound="worst-case").fit(X, y)
    assert found.pfer_ == pytest.approx(16 / (0.6 * 40))
    found = stable(q=None, threshold=0.8, pfer=1.0).fit(X, y)
    q = found.q_
    assert pfer_bound(0.8, q, 40, 10, "unimodal") <= 1 < pfer_bound(0.8, q + 1, 40, 10, "unimodal")
    found = stable(q=4, threshold=None, pfer=0.5).fit(X, y)
    assert found.pfer_ <= 0.5
    assert found.threshold_ > 0.5


def test_fewer_than_two_are_completed():
    X, y = toy.labelled(d=40)
    own = StabilitySelector(TopKSelector(4), n_pairs=5, random_state=0).fit(X, y)
    assert (own.q_, own.threshold_) == (4, 0.75)
    none = StabilitySelector(L2pSelector(p=1), n_pairs=5, random_state=0).fit(X, y)
    assert none.threshold_ == 0.75
    assert none.pfer_ <= 1


def test_another_threshold_is_a_fit_with_it():
    X, y = toy.labelled()
    base = stable().fit(X, y)
    for change in ({"threshold": 0.95}, {"pfer": 0.5}):
        other = base.at(**change)
        fresh = stable(**change).fit(X, y)
        assert other.stability_ == fresh.stability_
        np.testing.assert_array_equal(other.support_, fresh.support_)
    assert base.threshold_ == 0.75
    with pytest.raises(ValueError, match="one of threshold and pfer"):
        base.at()


# -- alike columns, explanations ------------------------------------------------------------------


def test_columns_that_stand_in_for_each_other_are_stable_together():
    rng = np.random.default_rng(0)
    signal = rng.standard_normal(80)
    X = rng.standard_normal((80, 20))
    for j in (2, 9, 15):
        X[:, j] = signal + 0.05 * rng.standard_normal(80)
    y = (signal + 0.3 * rng.standard_normal(80) > 0).astype(int)
    found = stable(q=1, n_pairs=25).fit(X, y)
    group = found.interchangeable(X, correlation=0.9, least=0.0)[0]
    assert set(group.columns) == {2, 9, 15}
    assert group.probability == 1.0
    assert group.probabilities.max() < 0.9
    with pytest.raises(ValueError, match="20 columns"):
        found.interchangeable(X[:, :3])


def test_nothing_stable_is_explained_with_what_would_be():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 50))
    y = X[:, 0] + rng.standard_normal(40)
    with pytest.warns(UserWarning, match=r"No column is stable.*threshold=0\.\d+ would select"):
        found = stable(threshold=0.95).fit(X, y)
    best = found.selection_probabilities_.max()
    assert f"on {best:.0%}" in found.stability_.explanation()


# -- weights, targets, containers -----------------------------------------------------------------


def test_weights_reach_the_fits_and_zero_is_no_sample():
    X, y = toy.labelled()
    weight = np.where(np.arange(60) < 40, 1.0, 0.0)
    cut = stable().fit(X, y, sample_weight=weight)
    assert cut.stability_ == stable().fit(X[:40], y[:40]).stability_
    heavy = np.where(y == 0, 50.0, 1.0)
    noise = X + 2 * np.random.default_rng(0).standard_normal(X.shape)
    plain = stable().fit(noise, y).stability_
    assert plain != stable().fit(noise, y, sample_weight=heavy).stability_
    with config_context(enable_metadata_routing=True):
        asks = clone(FAST).set_fit_request(sample_weight=True)
        routed = stable(asks).fit(X, y, sample_weight=weight)
    assert routed.stability_ == cut.stability_


def test_groups_are_routed_through_a_pipeline():
    X, y = toy.labelled()
    groups = np.arange(60) // 5
    alone = stable().fit(X, y, groups=groups)
    assert alone.stability_ != stable().fit(X, y).stability_
    with config_context(enable_metadata_routing=True):
        asks = stable().set_fit_request(groups=True)
        pipeline = make_pipeline(asks, LogisticRegression()).fit(X, y, groups=groups)
        assert stable().fit(X, y, groups=groups).stability_ == alone.stability_
    assert pipeline[0].stability_ == alone.stability_


@pytest.mark.parametrize("kind", ["several labels", "numbers", "one number"])
def test_labels_and_numbers(kind):
    X, Y = toy.outputs()
    y = {"several labels": (Y > 2).astype(int), "numbers": Y, "one number": Y[:, 0]}[kind]
    assert set(np.flatnonzero(stable().fit(X, y).support_)) == set(toy.INFORMATIVE)


def test_frames_and_sparse_columns():
    X, y = toy.labelled()
    names = [f"gene {j}" for j in range(8)]
    base = stable().fit(X, y)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        found = stable().fit(frame, y)
        assert list(found.get_feature_names_out()) == ["gene 1", "gene 4", "gene 6"]
        assert found.stability_.names == tuple(names)
        assert found.to_frame()["name"][0] == "gene 1" or found.scores_[1] < 1
        assert stable(SelectKBest(f_classif)).fit(frame, y).support_.any()
    np.testing.assert_array_equal(stable().fit(sp.csr_array(X), y).support_, base.support_)


class Stops(ScoreSelector):
    """Ctrl-C in the seventh fit."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        Stops.fits += 1
        if Stops.fits == 7:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


def test_an_interrupted_fit_keeps_whole_pairs():
    X, y = toy.labelled()
    Stops.fits = 0
    with pytest.warns(UserWarning, match="3 of 10 pairs"):
        found = stable(Stops("f")).fit(X, y)
    assert found.stability_.n_pairs == 3
    assert found.pfer_ == pfer_bound(0.75, 3, 8, 3, "unimodal")
    Stops.fits = 6
    with pytest.raises(KeyboardInterrupt):
        stable(Stops("f")).fit(X, y)


BAD = [
    ({"selector": LogisticRegression()}, "feature selector"),
    ({"q": 3, "threshold": 0.8, "pfer": 1.0}, "two of threshold, q and pfer"),
    ({"threshold": 0.5}, "above 0.5"),
    ({"threshold": 1.2}, "threshold"),
    ({"q": 0}, "q"),
    ({"q": 9}, "1 to 8"),
    ({"pfer": 0.0}, "pfer"),
    ({"n_pairs": 1}, "n_pairs"),
    ({"bound": "markov"}, "bound"),
]


@pytest.mark.parametrize(("params", "words"), BAD)
def test_bad_parameters_are_refused_in_one_sentence(params, words):
    X, y = toy.labelled()
    with pytest.raises((ValueError, TypeError), match=words):
        StabilitySelector(**{"selector": FAST, **params}).fit(X, y)


def test_unknown_metadata_is_refused():
    X, y = toy.labelled()
    with pytest.raises(TypeError, match="weights"):
        stable().fit(X, y, weights=np.ones(60))


# -- what is said ---------------------------------------------------------------------------------


def test_stable_columns_that_are_alike_are_said_to_be():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10))
    X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
    y = 3 * X[:, 0] + X[:, 4]
    found = stable(ScoreSelector("f"), q=3).fit(pd.DataFrame(X).add_prefix("c"), y)
    assert set(np.flatnonzero(found.support_)) == {0, 1, 4}
    sentence = f"c0 and c1 at {np.corrcoef(X[:, 0], X[:, 1])[0, 1]:.2f}"
    assert sentence in found.stability_.explanation()
    assert sentence in found.at(threshold=1.0).stability_.explanation()
    alone = stable(ScoreSelector("f"), q=3).fit(np.delete(X, 1, axis=1), y)
    assert "correlated" not in alone.stability_.explanation()


def test_a_bound_above_what_was_found_is_no_comfort():
    X, y = toy.labelled(d=12)
    found = stable(q=10).fit(X, y).stability_
    assert found.pfer >= found.support.size > 0
    assert "is not known: with q=10" in found.explanation()
