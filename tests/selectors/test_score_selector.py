"""ScoreSelector: filters by name, functions of all kinds, feature weights, tables."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimator_checks import toy
from sklearn.feature_selection import chi2, f_classif, mutual_info_classif
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from rowsparse import ScoreSelector, filters

CHOOSING = ("mrmr", "svm_rfe")
NAMES = ["fisher", "f", "information_gain", "relieff", *CHOOSING]


@pytest.mark.parametrize("name", NAMES)
def test_the_selection_is_the_filters(name):
    X, y = toy.labelled(n=90, d=12)
    selector = ScoreSelector(name, 4).fit(X, y)
    function = filters.BY_NAME[name]
    if name in CHOOSING:
        order, scores = function(X, y, 4)
        assert np.argsort(selector.ranking_)[:4].tolist() == order.tolist()
    else:
        scores = function(X, y)
        order = np.argsort(-scores, kind="stable")[:4]
    np.testing.assert_array_equal(selector.scores_, scores)
    assert set(np.flatnonzero(selector.support_)) == set(order)
    np.testing.assert_array_equal(selector.support_, selector.ranking_ <= 4)
    assert sorted(selector.ranking_) == list(range(1, 13))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["labels", "indicator", "numbers"])
def test_the_informative_columns_are_found_for_every_kind_of_target(name, kind):
    X, y = toy.labelled(n=150)
    if kind == "indicator":
        y = np.column_stack([y == 0, y == 1, y == 2]).astype(int)
    if kind == "numbers":
        X, y = toy.outputs(n=150)
    selector = ScoreSelector(name, 3).fit(X, y)
    assert hasattr(selector, "classes_") == (kind == "labels")
    if name != "mrmr":  # which trades relevance for novelty
        assert set(np.flatnonzero(selector.support_)) == set(toy.INFORMATIVE)


def test_score_params_reach_the_filter():
    X, y = toy.labelled()
    selector = ScoreSelector("relieff", 3, score_params={"n_neighbors": 3, "sigma": 2.0}).fit(X, y)
    expected = filters.relieff(X, y, n_neighbors=3, sigma=2.0)
    np.testing.assert_array_equal(selector.scores_, expected)
    same = ScoreSelector(partial(filters.relieff, n_neighbors=3, sigma=2.0), 3).fit(X, y)
    np.testing.assert_array_equal(same.scores_, expected)


def test_task_reaches_the_filter():
    X, y = toy.labelled()
    for name in ("fisher", "f", "relieff", "svm_rfe"):  # others bin few numbers as they are
        labels, numbers = (ScoreSelector(name, 3, task=t).fit(X, y) for t in ("auto", "regression"))
        assert not np.allclose(labels.scores_, numbers.scores_)
        assert not hasattr(numbers, "classes_")


def test_functions_of_scikit_learn_work_as_they_are():
    X, y = toy.labelled()
    X = X - X.min(axis=0)
    for function in (f_classif, chi2, partial(mutual_info_classif, random_state=0)):
        answer = function(X, y)
        scores = answer[0] if isinstance(answer, tuple) else answer
        selector = ScoreSelector(function, 3).fit(X, y)
        np.testing.assert_array_equal(selector.scores_, scores)


def test_a_function_may_return_an_order():
    X, y = toy.labelled()
    selector = ScoreSelector(lambda X, y: (np.array([5, 0, 7]), np.array([0.1, 9.0, 3.0])), 2)
    selector.fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == [0, 5]
    assert selector.ranking_[[5, 0, 7]].tolist() == [1, 2, 3]
    assert np.isnan(selector.scores_[1])
    assert selector.scores_[5] == 0.1


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (np.ones(7), r"shape \(8,\).*shape \(7,\)"),
        (np.ones((8, 1)), "shape"),
        ((np.array([0, 0]), np.ones(8)), "different column numbers"),
        ((np.array([8]), np.ones(8)), "from 0 to 7"),
    ],
)
def test_odd_answers_of_a_function_are_refused(answer, words):
    with pytest.raises(ValueError, match=words):
        ScoreSelector(lambda X, y: answer, 2).fit(*toy.labelled())


def test_nan_scores_rank_last_with_a_warning():
    scores = np.array([np.nan, 1.0, -np.inf, 3.0, np.nan, np.inf, 2.0, 0.0])
    with pytest.warns(UserWarning, match="2 features is NaN"):
        selector = ScoreSelector(lambda X, y: scores, 3).fit(*toy.labelled())
    assert np.flatnonzero(selector.support_).tolist() == [3, 5, 6]


def test_ties_go_to_the_lowest_index():
    X, y = toy.labelled()
    selector = ScoreSelector(lambda X, y: np.zeros(8), 3).fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == [0, 1, 2]


def test_weights_go_to_functions_that_take_them_and_are_refused_by_others():
    X, y = toy.labelled()
    weights = 1.0 + np.arange(60) % 3
    selector = ScoreSelector(filters.f_score, 3).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(selector.scores_, filters.f_score(X, y, sample_weight=weights))
    with pytest.raises(ValueError, match="sample_weight"):
        ScoreSelector(f_classif, 3).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("name", NAMES)
def test_feature_weights_by_name(name):
    X, y = toy.labelled()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    weights = {"a": 0.0, "e": np.inf}
    selector = ScoreSelector(name, 3, feature_weights=weights).fit(frame, y)
    chosen = selector.get_feature_names_out()
    assert len(chosen) == 3
    assert "a" in chosen
    assert "e" not in chosen
    assert selector.ranking_[0] == 1 or name == "svm_rfe"
    assert selector.scores_[4] == 0.0


def test_a_larger_factor_lowers_scores_of_either_sign():
    X, y = toy.labelled()
    scores = np.array([3.0, 2.0, 1.0, -1.0, -2.0, -3.0, -4.0, -5.0])
    weights = np.array([4.0, 1, 1, 4.0, 1, 1, 1, 1])
    selector = ScoreSelector(lambda X, y: scores, 3, feature_weights=weights).fit(X, y)
    assert np.argsort(selector.ranking_).tolist() == [1, 2, 0, 4, 5, 3, 6, 7]
    np.testing.assert_array_equal(selector.scores_, scores)


def test_an_order_without_feature_weights_takes_only_in_and_out():
    X, y = toy.labelled()

    def first_columns(X, y):
        return np.arange(4), np.arange(8.0)

    inside = np.array([1, 1, 1, 1, 1, 1, 0, 1.0])
    selector = ScoreSelector(first_columns, 2, feature_weights=inside).fit(X, y)
    assert np.flatnonzero(selector.support_).tolist() == [0, 6]
    with pytest.raises(ValueError, match="0, 1 or inf"):
        ScoreSelector(first_columns, 2, feature_weights=2 * np.ones(8)).fit(X, y)


def test_the_table():
    X, y = toy.labelled()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    selector = ScoreSelector("fisher", 3).fit(frame, y)
    table = selector.to_frame()
    assert list(table.columns) == ["name", "rank", "score", "selected"]
    assert table["rank"].tolist() == list(range(1, 9))
    assert table["score"].is_monotonic_decreasing
    assert set(table["name"][table["selected"]]) == {"b", "e", "g"}
    assert isinstance(selector.set_output(transform="polars").to_frame(), pl.DataFrame)


def test_it_can_be_searched_inside_a_pipeline():
    X, y = toy.labelled(n=90)
    grid = {
        "scoreselector__n_features_to_select": [1, 3],
        "scoreselector__score_params": [{"n_neighbors": 3}, {"n_neighbors": 10}],
    }
    search = GridSearchCV(make_pipeline(ScoreSelector(), GaussianNB()), grid, cv=3)
    search.fit(X, y)
    assert search.best_params_["scoreselector__n_features_to_select"] == 3


def test_the_parameter_score_is_not_mistaken_for_a_method():
    selector = ScoreSelector("f", 2)
    assert not hasattr(selector, "score")
    assert selector.get_params()["score"] == "f"
    assert selector.set_params(score="fisher").get_params()["score"] == "fisher"
    assert not hasattr(make_pipeline(selector), "score")
    with pytest.raises(AttributeError, match="get_params"):
        selector.score  # noqa: B018


@pytest.mark.parametrize("name", filters.BY_NAME)
def test_x_is_validated_once(name, monkeypatch):
    X, y = toy.labelled()
    X[:, 2] = 1.0  # a constant column is left out of what the filter sees
    expected = ScoreSelector(name, 2).fit(X, y).scores_

    def again(*_, **__):
        raise AssertionError("the filter validates X again")

    monkeypatch.setattr(filters.base, "check_X_y", again)
    np.testing.assert_array_equal(ScoreSelector(name, 2).fit(X, y).scores_, expected)
