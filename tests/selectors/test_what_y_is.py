"""Labels, indicators or numbers: one place decides, and says so when not as scikit-learn does."""

import datetime
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from estimator_checks.toy import labelled, outputs
from sklearn.datasets import load_diabetes, load_iris

from rowsparse import L2pSelector, ScoreSelector, TopKSelector, ZeroNormSVC
from rowsparse.targets import read_target

RNG = np.random.default_rng(0)


def kind(y, task="auto"):
    return read_target(np.asarray(y), task)[1]


# -- whole numbers --------------------------------------------------------------------------------


def test_diabetes_is_read_as_numbers_and_said_so():
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(UserWarning, match=r"214 different whole numbers.*task='classification'"):
        selector = L2pSelector(2).fit(X, y)
    assert selector.coef_.shape == (1, 10)
    assert selector.score(X, y) > 0.43


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_task_overrides_the_rule_without_a_word(task):
    X, y = load_diabetes(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        selector = L2pSelector(alpha=0.01, p=1.0, task=task).fit(X, y)
    assert len(selector.coef_) == (214 if task == "classification" else 1)


@pytest.mark.parametrize(
    ("persons", "pictures", "first"),
    [(40, 10, 1), (40, 8, 0), (40, 8, 300), (120, 14, 1), (120, 3, 1), (68, 42, 0), (53, 2, 0)],
)
def test_many_classes_stay_classes(persons, pictures, first):
    y = RNG.permutation(np.repeat(np.arange(first, first + persons), pictures))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kind(y) == kind(y.astype(float)) == "labels"


@pytest.mark.parametrize(
    "y",
    [
        RNG.integers(100_000, 900_000, 200),  # prices
        np.arange(100),  # an order
        RNG.integers(20, 80, 150),  # ages
        RNG.integers(20, 80, 150).astype(float),
    ],
)
def test_many_rarely_repeated_whole_numbers_are_numbers(y):
    with pytest.warns(UserWarning, match="read as numbers"):
        assert kind(y) == "numbers"


@pytest.mark.parametrize(
    "y",
    [np.arange(20), [f"gene{i}" for i in range(60)], [True, False] * 10, [3, 7, 7, 3]],
    ids=["few", "words", "bools", "two"],
)
def test_few_values_and_words_are_classes(y):
    assert kind(y) == "labels"


def test_filters_and_constraints_follow_the_same_rule():
    X, y = load_diabetes(return_X_y=True)
    for selector in (TopKSelector(2, r=2.0), ScoreSelector("f", 2)):
        with pytest.warns(UserWarning, match="read as numbers") as caught:
            selector.fit(X, y)
        assert len(caught) == 1
        assert "classes_" not in vars(selector)


# -- what cannot be read --------------------------------------------------------------------------


def with_missing(missing):
    y = np.array(["a", "b", "c"], dtype=object)[labelled()[1]]
    y[3] = missing
    return y


def nullable(dtype):
    return pd.Series([0, 1] * 30).astype(dtype).mask([False, True, False] * 20)


STRANGE = {
    "None": (with_missing(None), ("missing", "remove")),
    "NaN among words": (with_missing(np.nan), ("missing", "remove")),
    "list with None": (with_missing(None).tolist(), ("missing", "remove")),
    "list with NaN": (with_missing(np.nan).tolist(), ("missing", "remove")),
    "pandas NA": (pd.Series(with_missing("a")).astype("string").mask([True] * 60), ("missing",)),
    "nullable integers": (nullable("Int64"), ("missing", "remove")),
    "nullable floats": (nullable("Float64"), ("missing", "remove")),
    "nullable booleans": (nullable("boolean"), ("missing", "remove")),
    "a nullable column": (nullable("Int64").to_frame("y"), ("missing", "remove")),
    "NaN": (nullable("float"), ("missing", "remove")),
    "sparse": (sp.csr_array(np.eye(3)[labelled()[1]]), ("sparse", r"toarray\(\)")),
    "label lists": ([["a"], ["a", "b"], ["c"]] * 20, ("lists of labels", "MultiLabelBinarizer")),
    "label sets": ([{"a", "b"}, {"b", "c"}, {"a", "c"}] * 20, ("MultiLabelBinarizer",)),
    "datetime64": (np.arange(60).astype("datetime64[D]"), ("dates or times",)),
    "dates": ([datetime.date(2026, 1, 1 + i % 20) for i in range(60)], ("dates or times",)),
    "time zone": (pd.Series(pd.date_range("2026", periods=60, tz="UTC")), ("dates or times",)),
}


@pytest.mark.parametrize("selector", [L2pSelector(2), ScoreSelector("f", 2), ZeroNormSVC()])
@pytest.mark.parametrize("name", STRANGE)
def test_strange_targets_are_refused_in_one_sentence(name, selector):
    y, words = STRANGE[name]
    with pytest.raises((ValueError, TypeError)) as caught:
        selector.fit(labelled()[0], y)
    message = str(caught.value)
    assert message.startswith("Expected")
    for word in words:
        assert re.search(word, message)


def test_a_lazy_frame_is_to_be_collected():
    polars = pytest.importorskip("polars")
    X, y = labelled()
    with pytest.raises(TypeError, match=r"LazyFrame; use X.collect\(\)"):
        L2pSelector(2).fit(polars.DataFrame(X).lazy(), y)
    with pytest.raises(TypeError, match=r"LazyFrame; use y.collect\(\)"):
        L2pSelector(2).fit(X, polars.DataFrame({"y": y}).lazy())


def test_a_single_class_is_named_plainly():
    with pytest.raises(ValueError, match=r"got 1 class \('a'\);"):
        L2pSelector(2).fit(labelled()[0], ["a"] * 60)
    with pytest.raises(ValueError, match=r"got 1 class \(3\);"):
        L2pSelector(2).fit(labelled()[0], np.full(60, 3))


# -- names of outputs -----------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_outputs_have_the_names_of_the_columns_of_y(library):
    frames = pytest.importorskip(library)
    X, Y = outputs()
    y = frames.DataFrame({name: Y[:, i] for i, name in enumerate(("height", "weight", "age"))})
    table = L2pSelector(2).fit(X, y).to_frame()
    assert [name for name in table.columns if name.startswith("coef_")] == [
        "coef_height", "coef_weight", "coef_age",
    ]  # fmt: skip
    labels = frames.DataFrame({name: (Y[:, i] > 2).astype(int) for i, name in enumerate("abc")})
    assert {"coef_a", "coef_b", "coef_c"} <= set(L2pSelector(2).fit(X, labels).to_frame().columns)


# -- tables that cannot be read -------------------------------------------------------------------


class AnnData:
    """Named as the container of single-cell data; touching it is what takes a minute."""

    def __array__(self, *args, **kwargs):
        raise AssertionError("the container was read")

    def __len__(self):
        raise AssertionError("the container was read")


@pytest.mark.parametrize("selector", [L2pSelector(2), TopKSelector(2), ScoreSelector("f", 2)])
def test_annotated_data_is_refused_at_once(selector):
    with pytest.raises(TypeError, match=r"got AnnData; pass adata\.X .* adata\.obs"):
        selector.fit(AnnData(), labelled()[1])


@pytest.mark.parametrize(
    ("values", "shown"),
    [(["red", "blue"] * 30, "red"), (list(pd.date_range("2026", periods=60)), "2026")],
)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_without_numbers_are_named(values, shown, library):
    frames = pytest.importorskip(library)
    X, y = labelled()
    table = frames.DataFrame({"size": X[:, 0], "colour": values, "age": X[:, 1]})
    with pytest.raises(ValueError, match=rf"columns \['colour'\] \(such as .*{shown}"):
        L2pSelector(1).fit(table, y)


@pytest.mark.parametrize("options", [{}, {"standardize": False, "fit_intercept": False}])
@pytest.mark.parametrize(("factor", "words"), [(1e200, "too large"), (1e-200, "too small")])
@pytest.mark.parametrize("selector", [L2pSelector(2), TopKSelector(2)])
def test_numbers_without_squares_are_to_be_rescaled(selector, factor, words, options):
    X, y = load_iris(return_X_y=True)
    selector = selector.set_params(**options)
    with pytest.raises(ValueError, match=rf"{words} numbers.*rescale X"):
        selector.fit(factor * X, y)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (["a", "b"] * 20, {"task": "regression"}, "leave task out"),
        ([["no", "yes"], ["yes", "no"]] * 20, {}, "code every label as 0 and 1"),
    ],
)
def test_words_in_place_of_numbers_say_what_to_do(y, options, message):
    X = np.random.default_rng(0).standard_normal((40, 5))
    with pytest.raises(ValueError, match=message):
        TopKSelector(2, **options).fit(X, np.array(y, dtype=object))


def test_texts_in_place_of_a_table_say_what_to_do():
    with pytest.raises(ValueError, match=r"got a list of texts.*TfidfVectorizer"):
        TopKSelector(1).fit(["a cat", "a dog"], [0, 1])


def test_a_few_large_measured_numbers_are_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(11, 4))
    y = 1e17 * (X[:, 1] + 0.1 * rng.normal(size=11))  # all whole, since doubles are there
    assert len(np.unique(y)) == 11
    assert TopKSelector(1).fit(X, y).coef_.shape == (1, 4)
    labels = (10**17 * np.arange(3))[rng.integers(0, 3, 30)]
    assert len(TopKSelector(1).fit(rng.normal(size=(30, 4)), labels).classes_) == 3
