"""GroupedSelector: exactly k features, whole ones, ranked as their best columns are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from rowsparse import (
    GroupedSelector,
    L2pSelector,
    LpInfSelector,
    ProbitSelector,
    ScoreSelector,
    TopKSelector,
    ZeroNormSVC,
)
from rowsparse.model_selection import SelectorCV, StabilitySelector, compare
from rowsparse.model_selection.error_bounds import pfer_bound

TOWN, COLOUR = [2, 3, 4, 5, 6], [8, 9, 10]
GROUPS = {"town": TOWN, "colour": COLOUR}  # 12 columns are 6 features
N_FEATURES = 6
MAKERS = {
    "topk": TopKSelector,
    "l2p": L2pSelector,
    "lpinf": LpInfSelector,
    "svm": ZeroNormSVC,
    "probit": ProbitSelector,
    "f": lambda k: ScoreSelector("f", k),
    "mrmr": lambda k: ScoreSelector("mrmr", k),
}


@pytest.fixture(scope="module")
def table():
    """Two classes by the town, more weakly by column 0 and the colour; 1, 7 and 11 are noise."""
    rng = np.random.default_rng(0)
    town = rng.integers(0, 5, 300)
    colour = rng.integers(0, 3, 300)
    Z = rng.standard_normal((300, 4))
    X = np.column_stack([Z[:, :2], np.eye(5)[town], Z[:, 2], np.eye(3)[colour], Z[:, 3]])
    effect = np.array([3, -3, 0, 2, -2])[town] + np.array([0.8, -0.8, 0])[colour]
    return X, (effect + Z[:, 0] + 0.3 * rng.standard_normal(300) > 0).astype(int)


@parametrize_with_checks(
    [
        GroupedSelector(L2pSelector(p=1)),
        GroupedSelector(TopKSelector(1, n_init=0, polish=False), {"two": [0, 1]}),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("method", MAKERS)
def test_exactly_k_whole_features(method, k, table):
    selector = GroupedSelector(MAKERS[method](k), GROUPS).fit(*table)
    chosen = np.flatnonzero(selector.support_).tolist()
    units = [set(TOWN), set(COLOUR), *({j} for j in (0, 1, 7, 11))]
    whole = [unit for unit in units if unit <= set(chosen)]
    assert sum(map(len, whole)) == len(chosen)
    assert len(whole) == selector.n_selected_ == k
    ranks = [set(selector.ranking_[list(unit)].tolist()) for unit in units]
    assert sorted(map(tuple, ranks)) == [(rank,) for rank in range(1, 7)]
    assert set(TOWN) <= set(chosen)


def test_coefficients_are_of_selected_columns_alone(table):
    selector = GroupedSelector(TopKSelector(), GROUPS, 3).fit(*table)
    inner = selector.selector_
    assert not inner.coef_[:, ~selector.support_].any()
    assert set(np.flatnonzero(inner.coef_[0])) == set(selector.solution_.rows)
    assert inner.n_features_to_select == 3
    assert inner.score(*table) > 0.8


def test_groups_of_one_column_change_nothing(table):
    plain = TopKSelector(4).fit(*table)
    selector = GroupedSelector(TopKSelector(4), {"a": [0], "b": [3]}).fit(*table)
    np.testing.assert_array_equal(selector.support_, plain.support_)
    np.testing.assert_array_equal(selector.ranking_, plain.ranking_)


def test_a_penalty_selects_the_features_of_its_nonzero_rows(table):
    plain = L2pSelector(alpha=0.1).fit(*table)
    selector = GroupedSelector(L2pSelector(alpha=0.1), GROUPS).fit(*table)
    touched = {next((n for n, g in GROUPS.items() if j in g), j) for j in plain.solution_.rows}
    assert selector.n_selected_ == len(touched)


def test_columns_by_name_and_names_out(table):
    X = pd.DataFrame(table[0], columns=[f"c{j}" for j in range(12)])
    selector = GroupedSelector(TopKSelector(1), {"town": [f"c{j}" for j in TOWN]})
    selector.set_output(transform="pandas").fit(X, table[1])
    assert selector.transform(X).columns.tolist() == [f"c{j}" for j in TOWN]
    frame = selector.to_frame()
    assert frame["name"][frame["selected"]].tolist() == [f"c{j}" for j in TOWN]


def jumping(X, y, n_features_to_select):
    """Two columns of one feature, or three columns of three others: supports that do not nest."""
    scores = np.zeros(X.shape[1])
    if X.shape[1] == 2:  # the columns that were kept
        return scores + 1
    places = [2, 3] if n_features_to_select == 2 else [0, 7, 11]
    scores[places] = [5, 4, 3][: len(places)]
    return scores


def test_columns_of_too_many_features_are_left_with_the_best_k(table):
    X, y = table
    selector = GroupedSelector(ScoreSelector(jumping, 2), {"town": TOWN}).fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == [0, 7]


def test_what_is_always_in_stays_and_counts(table):
    weights = np.ones(12)
    weights[11], weights[TOWN] = 0, np.inf
    inner = TopKSelector(feature_weights=weights)
    selector = GroupedSelector(inner, GROUPS, 2).fit(*table)
    assert selector.support_[11]
    assert not selector.support_[TOWN].any()
    assert selector.n_selected_ == 2


def test_stability_counts_features(table):
    selector = GroupedSelector(ScoreSelector("f", 2), GROUPS, 2)
    stable = StabilitySelector(selector, n_pairs=10, random_state=0).fit(*table)
    assert stable.q_ == 2
    assert stable.pfer_ == pfer_bound(stable.threshold_, 2, N_FEATURES, 10, "unimodal")
    assert stable.stability_.n_features == N_FEATURES
    assert {one.size for one in stable.stability_.selections} == {2}
    assert stable.support_[TOWN].all()
    assert set(stable.selection_probabilities_[TOWN]) == {1.0}
    assert stable.at(threshold=0.9).support_[TOWN].all()


def test_a_search_counts_features(table):
    selector = GroupedSelector(L2pSelector(), GROUPS)
    search = SelectorCV(selector, ks=[1, 2, 6], cv=3).fit(*table)
    assert search.cv_results_["mean_n_features"].tolist() == [1, 2, 6]
    assert search.nested_score(*table, cv=2).sizes.tolist() == [
        params["n_features_to_select"] for params in search.nested_score(*table, cv=2).params
    ]


def test_a_comparison_scores_whole_features(table):
    methods = {"whole": GroupedSelector(ScoreSelector("f"), GROUPS), "columns": ScoreSelector("f")}
    found = compare(methods, *table, ks=[1], cv=3)
    sizes = {cell.method: cell.columns.size for cell in found.cells}
    assert sizes == {"whole": 5, "columns": 1}
    assert found.scores("whole", 1, "ridge").mean() > found.scores("columns", 1, "ridge").mean()


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([3, 4], "mapping"),
        ({"a": "town"}, "mapping"),
        ({"a": [0, 12]}, "12 in 'a'"),
        ({"a": ["town"]}, "'town' in 'a'"),
        ({"a": [0, 1], "b": [1, 2]}, "different columns, got column 1"),
    ],
)
def test_groups_that_are_none_are_refused(groups, words, table):
    with pytest.raises((TypeError, ValueError), match=words):
        GroupedSelector(TopKSelector(2), groups).fit(*table)


def test_other_selectors_are_refused(table):
    with pytest.raises(TypeError, match="looks at X itself"):
        GroupedSelector(GroupedSelector(TopKSelector(2))).fit(*table)
