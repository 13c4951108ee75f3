"""What the page says of data, columns, paths and comparisons, against other computations."""

import json

import numpy as np
import pandas as pd
import pytest
from command import rowsparse
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rowsparse import GroupedSelector, L2pSelector, ScoreSelector, TopKSelector
from rowsparse.datasets import load_any
from rowsparse.model_selection import SelectorCV, Stability
from rowsparse.report import report, report_json, report_markdown


def facts_of(result, data=None):
    return json.loads(report_json(result, data=data))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_columns_that_move_together(make, wine):
    X, y = wine[0].to_numpy(), wine[1].to_numpy()
    selector = L2pSelector(4).fit(X, y)
    correlations = np.corrcoef(X, rowvar=False) - np.eye(13)
    for feature in facts_of(selector, (make(X), y))["features"]:
        column = correlations[feature["index"]]
        near = {f"x{j}": column[j] for j in np.flatnonzero(np.abs(column) >= 0.8)}
        told = {one["name"]: one["correlation"] for one in feature["stand_ins"]}
        assert told == pytest.approx(dict(sorted(near.items(), key=lambda p: -abs(p[1]))[:3]))


def test_quantiles_of_every_class(selector, wine):
    X, y = wine
    for feature in facts_of(selector, wine)["features"]:
        for label, group in enumerate(feature["groups"]):
            values = X[feature["name"]][y == label]
            expected = np.percentile(values, [5, 25, 50, 75, 95])
            np.testing.assert_allclose(group["quantiles"], expected)
            assert group["n_samples"] == values.size


def test_many_classes_show_those_the_column_speaks_for(fifty):
    X, y = fifty
    selector = L2pSelector(5).fit(X, y)
    for feature in facts_of(selector, fifty)["features"]:
        names = [group["name"] for group in feature["groups"]]
        heavy = np.argsort(-np.abs(feature["coefficients"]), kind="stable")[:3]
        assert names == [*map(str, heavy), "others"]
        assert sum(group["n_samples"] for group in feature["groups"]) == len(y)


def test_numbers_and_labels(wine):
    X, y = wine
    rng = np.random.default_rng(0)
    numbers = X["proline"] + rng.standard_normal(len(X))
    facts = facts_of(L2pSelector(2).fit(X, numbers), (X, numbers))
    first = facts["features"][0]
    assert first["name"] == "proline"
    assert first["reason"] == "a higher value goes with a higher y"
    medians = [group["quantiles"][2] for group in first["groups"]]
    assert medians == sorted(medians)
    labels = np.column_stack([y == 0, y != 2]).astype(int)
    facts = facts_of(L2pSelector(2).fit(X, labels), (X, labels))
    assert facts["data"]["target"] == "2 labels; a sample may have several"
    assert [n for _, n in facts["data"]["classes"]] == labels.sum(axis=0).tolist()


def test_constant_columns_are_named(wine):
    X, y = wine
    X = X.assign(flat=1.0)
    facts = facts_of(L2pSelector(2).fit(X, y), (X, y))
    assert facts["data"]["sentences"] == ["1 column is constant and cannot be selected."]


def test_path(path, wine):
    drawn = facts_of(path, wine)["path"]
    assert drawn["n_features"] == path.n_rows.tolist()
    names = list(wine[0].columns)
    for trace in drawn["traces"]:
        j = names.index(trace["name"])
        norms = [np.linalg.norm(solution.W[j]) for solution in path.solutions]
        np.testing.assert_allclose(trace["values"], norms)
        assert trace["entered"] == pytest.approx(path.entered[j])


def test_tuning(search):
    facts = facts_of(search)
    (curve,) = facts["curves"]
    points = curve["curves"][0]["points"]
    table = search.cv_results_
    np.testing.assert_allclose([p["mean"] for p in points], table["mean_test_score"])
    assert curve["chosen"] == search.best_params_["n_features_to_select"]
    assert facts["n_selected"] == search.support_.sum()
    alone = facts_of(search.result_)["curves"][0]
    assert [p["mean"] for p in alone["curves"][0]["points"]] == [p["mean"] for p in points]


def test_tuning_of_several_parameters(wine):
    grid = {"p": [0.5, 1.0], "alpha": [0.3, 0.1, 0.03]}
    search = SelectorCV(L2pSelector(), grid=grid, cv=3).fit(*wine)
    (curve,) = facts_of(search)["curves"]
    assert curve["axis"] == "alpha"
    assert {one["name"] for one in curve["curves"]} == {"p = 0.5", "p = 1"}
    assert curve["curves"][0]["name"] == f"p = {search.best_params_['p']:g}"
    assert "<svg" in report(search)


def test_nested_score_is_a_key_figure(search, wine):
    nested = search.nested_score(*wine, cv=3)
    page = report([search, nested])
    assert "nested score, interval" in page


def test_stability(stable, wine):
    facts = facts_of(stable, wine)
    told = dict(zip(facts["stability"]["names"], facts["stability"]["probabilities"], strict=True))
    names = wine[0].columns
    probabilities = stable.selection_probabilities_
    expected = {names[j]: probabilities[j] for j in np.flatnonzero(probabilities)}
    assert told == pytest.approx(expected)
    assert facts["stability"]["threshold"] == stable.threshold_
    assert facts["n_selected"] == stable.support_.sum()
    alone = facts_of(stable.stability_)
    assert alone["stability"]["probabilities"] == facts["stability"]["probabilities"]


def test_probabilities_stand_beside_the_features(selector, stable, wine):
    facts = facts_of([selector, stable], wine)
    for feature in facts["features"]:
        expected = stable.selection_probabilities_[feature["index"]]
        assert feature["probability"] == pytest.approx(expected)


def test_nothing_stable_is_said():
    rng = np.random.default_rng(0)
    halves = tuple(rng.choice(50, size=3, replace=False) for _ in range(20))
    noise = Stability(halves, 50, 0.9, 3, 0.1, "unimodal")
    assert "No column is stable" in report(noise)


def test_comparison(comparison):
    (facts,) = facts_of(comparison)["curves"]
    assert {curve["name"] for curve in facts["curves"]} == {"l2p", "F"}
    for curve in facts["curves"]:
        for point in curve["points"]:
            interval = comparison.interval(curve["name"], point["k"], "ridge")
            assert point["mean"] == pytest.approx(interval.estimate)
            assert (point["low"], point["high"]) == pytest.approx((interval.low, interval.high))
    assert facts["failures"][0].startswith("broken: ")
    tied = not comparison.differences(k=3)[0].separable
    sentence = next(s for s in facts["sentences"] if s.startswith("With 3 columns"))
    assert ("tell it from none" in sentence) == tied


def test_the_command_repeats_the_selection():
    data = load_any("breast_cancer", None)
    selector = TopKSelector(3, r=2.0, random_state=1).fit(data.X, data.y)
    facts = facts_of(selector, data)
    words = facts["command"].split()
    assert words[:3] == ["rowsparse", "select", "breast_cancer"]
    answer = rowsparse(*words[1:], "--json")
    chosen = [feature["name"] for feature in json.loads(answer.stdout)["features"]]
    assert chosen == [feature["name"] for feature in facts["features"]]


def test_the_code_learns_from_these_columns_alone(selector, wine):
    X_train, X_test, y_train, y_test = train_test_split(*wine, random_state=0)
    code = facts_of(selector, wine)["code"]
    known = {"X_train": X_train, "y_train": y_train}
    exec(code, known)
    columns = list(selector.get_feature_names_out())
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    model.fit(X_train[columns], y_train)
    assert known["model"].score(X_test, y_test) == model.score(X_test[columns], y_test)
    spoiled = X_test.copy()
    spoiled[[name for name in X_test if name not in columns]] = 1e9
    assert np.array_equal(known["model"].predict(spoiled), known["model"].predict(X_test))


def test_markdown_has_the_same_sections(everything, wine):
    text = report_markdown(everything, data=wine)
    for heading in ("Selected features", "How many features", "Compared with other methods",
                    "How sure the selection is", "What is proved", "The data as seen"):  # fmt: skip
        assert f"## {heading}" in text


def test_code_for_categories_starts_from_the_file(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["Oslo", "Bergen", "Bodø"], 90)})
    frame["a"] = rng.standard_normal(90)
    frame["y"] = (frame["town"] == "Oslo").astype(int)
    frame.to_csv(tmp_path / "data.csv", index=False)
    data = load_any(str(tmp_path / "data.csv"), "y")
    selector = GroupedSelector(TopKSelector(1), data.groups).fit(data.X, data.y)
    facts = facts_of(selector, data)
    assert [feature["rank"] for feature in facts["features"]] == [1, 1, 1]
    known = {"X_train": frame[["town", "a"]], "y_train": frame["y"]}
    exec(facts["code"], known)
    assert known["model"].score(known["X_train"], frame["y"]) == 1


def test_the_target_is_read_where_no_selector_was_passed(comparison):
    labels = np.array(["ill", "well", "well"] * 20)
    table = np.random.default_rng(0).standard_normal((60, 13))
    data = facts_of(comparison, (table, labels))["data"]
    assert data["target"] == "2 classes"
    assert data["classes"] == [["ill", 20], ["well", 40]]
    data = facts_of(comparison, (table, table[:, 0]))["data"]
    assert data["target"] == "numbers, 1 output"


def test_many_classes_of_a_filter_show_those_that_stand_out(fifty):
    X, y = fifty
    facts = facts_of(ScoreSelector("f", 3).fit(X, y), fifty)
    for feature in facts["features"]:
        values = X[:, feature["index"]]
        far = [abs(values[y == label].mean() - values.mean()) for label in range(50)]
        expected = [str(label) for label in np.argsort(far)[::-1][:3]]
        assert [group["name"] for group in feature["groups"]] == [*expected, "others"]
