"""Names in, names out, and the table of a fit, in pandas and polars."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimator_checks.toy import labelled, outputs
from scipy import sparse

from rowsparse import L2pSelector, ScoreSelector, TopKSelector

NAMES = list("hgfedcba")
FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
}


def columns(table):
    """The table as a dict of arrays, whatever library it comes from."""
    return {name: np.asarray(table[name]) for name in table.columns}


def fitted(library="pandas", c=3, **params):
    X, y = labelled(c=c)
    selector = L2pSelector(**({"alpha": 0.05} | params))
    return selector.fit(FRAMES[library](X), np.array(["low", "mid", "top"])[y])


def test_table_is_pandas_where_there_is_pandas():
    assert isinstance(fitted("polars").to_frame(), pd.DataFrame)


def test_table_is_polars_where_there_is_no_pandas(monkeypatch):
    selector = fitted("polars", alpha=None, n_features_to_select=3)
    with_pandas = columns(selector.to_frame())
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = selector.to_frame()
    assert isinstance(table, pl.DataFrame)
    for name, values in with_pandas.items():
        np.testing.assert_array_equal(values, table[name].to_numpy())


@pytest.mark.parametrize("library", FRAMES)
def test_table_has_one_line_per_feature_with_rank_score_and_choice(library):
    selector = fitted(library)
    table = columns(selector.to_frame())
    np.testing.assert_array_equal(table["rank"], np.arange(1, 9))
    assert len(table["name"]) == 8
    at = [NAMES.index(name) for name in table["name"]]
    np.testing.assert_array_equal(table["rank"], selector.ranking_[at])
    np.testing.assert_allclose(table["score"], selector.scores_[at])
    np.testing.assert_array_equal(table["selected"], selector.support_[at])


@pytest.mark.parametrize(("c", "rows"), [(2, 1), (3, 3)])
def test_table_has_one_coefficient_column_per_class(c, rows):
    selector = fitted(c=c)
    table = columns(selector.to_frame())
    at = [NAMES.index(name) for name in table["name"]]
    coefficients = [name for name in table if "coef" in name]
    assert len(coefficients) == rows
    assert all(any(label in name for label in ("low", "mid", "top")) for name in coefficients)
    np.testing.assert_allclose([table[name] for name in coefficients], selector.coef_[:, at])


def test_table_has_one_coefficient_column_per_output():
    selector = L2pSelector(alpha=0.05).fit(*outputs(c=4))
    table = columns(selector.to_frame())
    assert sum("coef" in name for name in table) == 4
    assert set(table["name"]) == {f"x{j}" for j in range(8)}


def test_table_says_where_on_the_path_a_feature_entered():
    selector = fitted(alpha=None, n_features_to_select=3)
    table = columns(selector.to_frame())
    at = [NAMES.index(name) for name in table["name"]]
    entered = table["entered_alpha"].astype(float)
    assert np.all(entered[selector.support_[at]] >= selector.alpha_ * (1 - 1e-12))
    never = selector.scores_[at] == 0
    assert np.all(np.isnan(entered[never]) | (entered[never] > 0))


def test_table_has_no_entry_alpha_without_a_path():
    assert np.isnan(columns(fitted().to_frame())["entered_alpha"]).all()


@pytest.mark.parametrize("given", FRAMES)
@pytest.mark.parametrize("wanted", FRAMES)
def test_set_output_gives_the_selected_columns_with_their_names(given, wanted):
    X, _ = labelled()
    selector = fitted(given).set_output(transform=wanted)
    out = selector.transform(FRAMES[given](X))
    assert type(out).__module__.split(".")[0] == wanted
    assert list(out.columns) == [
        n for n, kept in zip(NAMES, selector.support_, strict=True) if kept
    ]
    np.testing.assert_array_equal(np.asarray(out), X[:, selector.support_])


@pytest.mark.parametrize("library", FRAMES)
def test_feature_weights_by_name_equal_those_by_position(library):
    X, y = labelled()
    by_name = L2pSelector(alpha=0.05, feature_weights={"h": 0.0, "d": np.inf, "g": 2.0})
    by_position = L2pSelector(alpha=0.05, feature_weights=[0, 2, 1, 1, np.inf, 1, 1, 1])
    by_name.fit(FRAMES[library](X), y)
    np.testing.assert_allclose(by_name.scores_, by_position.fit(X, y).scores_, atol=1e-6)


def test_integer_and_boolean_columns_are_numbers():
    X, y = labelled()
    frame = pd.DataFrame({"count": np.round(3 * X[:, 1]).astype(int), "flag": X[:, 4] > 0})
    array = L2pSelector(alpha=0.05).fit(frame.to_numpy(dtype=float), y)
    np.testing.assert_allclose(L2pSelector(alpha=0.05).fit(frame, y).scores_, array.scores_)


def test_y_may_be_a_series_or_a_frame():
    X, Y = outputs()
    base = L2pSelector(alpha=0.05).fit(X, Y)
    for frame in (pd.DataFrame(Y, columns=list("uvw")), pl.DataFrame(Y)):
        np.testing.assert_allclose(
            base.coef_, L2pSelector(alpha=0.05).fit(X, frame).coef_, atol=1e-9
        )


def test_an_index_that_does_not_match_is_not_joined():
    X, y = labelled()
    frame = pd.DataFrame(X, columns=NAMES, index=np.arange(60)[::-1])
    selector = L2pSelector(alpha=0.05).fit(frame, pd.Series(y, index=np.arange(60)))
    np.testing.assert_allclose(
        selector.scores_, L2pSelector(alpha=0.05).fit(X, y).scores_, atol=1e-6
    )


@pytest.mark.parametrize("selector", [TopKSelector(2), L2pSelector(2), ScoreSelector("f", 2)])
@pytest.mark.parametrize("kind", ["frame", "nullable", "polars", "array", "sparse"])
def test_missing_values_are_named_with_what_to_do(selector, kind):
    X = np.random.default_rng(0).standard_normal((40, 6))
    y = X[:, 0] > 0
    X[[3, 5], [2, 4]] = np.nan
    frame = pd.DataFrame(X, columns=list("abcdef"))
    given = {
        "frame": frame,
        "nullable": frame.convert_dtypes(),
        "polars": pl.DataFrame(X, schema=list("abcdef")),
        "array": X,
        "sparse": sparse.csr_array(X),
    }[kind]
    columns = "2, 4" if kind in ("array", "sparse") else "c, e"
    with pytest.raises(ValueError, match=rf"NaN in 2 of 6 columns \(such as {columns}\).*Imputer"):
        selector.fit(given, y)
