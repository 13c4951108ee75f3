"""X in blocks, wherever they lie, is fitted as X in memory is."""

import warnings

import numpy as np
import pytest
from scale.holders import HOLDERS, SELECTORS, SQUARED, assert_same_fit, dask_array, table, weights
from scipy import sparse
from sklearn.base import clone

from rowsparse import L2pSelector, TopKSelector
from rowsparse.designs import as_design, is_dask
from rowsparse.paths import selection_path

X, Y = table()


# What is done with a block does not depend on where it comes from: two holders see everything,
# the others one fit of one pass and one of many.
EVERYTHING = [(name, holder) for name in SELECTORS for holder in ("dask", "csr")]
THE_REST = [
    (name, holder)
    for name in ("top k, always in", "r=1, p=1, alpha")
    for holder in HOLDERS
    if (name, holder) not in EVERYTHING
]


@pytest.mark.parametrize(("name", "holder"), EVERYTHING + THE_REST)
@pytest.mark.parametrize("weight", [None, weights()], ids=["plain", "weighted"])
def test_same_as_in_memory(name, holder, weight, tmp_path):
    expected = clone(SELECTORS[name]).fit(X, Y, sample_weight=weight)
    fitted = clone(SELECTORS[name]).fit(HOLDERS[holder](X, tmp_path), Y, sample_weight=weight)
    assert_same_fit(fitted, expected)
    if name in SQUARED:
        assert fitted.solution_.n_passes == 1


@pytest.mark.parametrize("chunks", [1, 2, 7, 149, 150])
def test_size_of_chunks_changes_nothing(chunks, tmp_path):
    held = dask_array(chunks)(X, tmp_path)
    assert_same_fit(TopKSelector(4).fit(held, Y), TopKSelector(4).fit(X, Y))
    robust = L2pSelector(alpha=0.3, r=1, p=1)
    assert_same_fit(clone(robust).fit(held[:40], Y[:40]), clone(robust).fit(X[:40], Y[:40]))


@pytest.mark.parametrize("holder", HOLDERS)
def test_classes_predictions_and_columns(holder, tmp_path):
    y = np.array(["a", "b", "c"])[np.digitize(Y[:, 0], [-1, 1])]
    expected = TopKSelector(4).fit(X, y)
    held = HOLDERS[holder](X, tmp_path)
    fitted = TopKSelector(4).fit(held, y)
    assert_same_fit(fitted, expected)
    np.testing.assert_array_equal(fitted.predict(held), expected.predict(X))
    assert fitted.score(held, y) == expected.score(X, y)
    columns = fitted.transform(held)
    if is_dask(columns):
        columns = columns.compute()
    if sparse.issparse(columns):
        columns = columns.toarray()
    np.testing.assert_array_equal(columns, X[:, expected.support_])


@pytest.mark.parametrize("holder", ["npy", "dask"])
def test_a_path_of_fifty_alphas_is_one_pass(holder, tmp_path):
    expected = selection_path(L2pSelector(), X, Y)
    held = as_design(HOLDERS[holder](X, tmp_path))
    path = selection_path(L2pSelector(), held, Y)
    assert len(path) == 50
    np.testing.assert_array_equal(path.n_rows, expected.n_rows)
    np.testing.assert_allclose(path.alphas, expected.alphas, rtol=1e-9)
    for ours, theirs in zip(path.solutions, expected.solutions, strict=True):
        np.testing.assert_allclose(ours.W, theirs.W, atol=1e-6)
    assert held.passes.count == 1


@pytest.mark.parametrize("dtype", [np.float32, np.int16, bool])
def test_numbers_of_other_kinds(dtype, tmp_path):
    other = (X > 0.5) if dtype is bool else X.astype(dtype)
    held = dask_array(40)(other, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert_same_fit(TopKSelector(4).fit(held, Y), TopKSelector(4).fit(other.astype(float), Y))


def test_y_as_a_dask_array(tmp_path):
    da = pytest.importorskip("dask.array")
    fitted = TopKSelector(4).fit(dask_array(40)(X, tmp_path), da.from_array(Y, chunks=33))
    assert_same_fit(fitted, TopKSelector(4).fit(X, Y))


def test_chunks_of_unknown_length(tmp_path):
    da = pytest.importorskip("dask.array")
    held = da.from_array(np.vstack([X, X]), chunks=(40, -1))
    first = da.from_array(np.arange(2 * len(X)) < len(X), chunks=40)
    unknown = held[first]  # nobody knows how many rows of a chunk these are
    assert np.isnan(unknown.shape[0])
    fitted = TopKSelector(4).fit(unknown, Y)
    assert_same_fit(fitted, TopKSelector(4).fit(X, Y))
    assert fitted.solution_.n_passes == 2
    assert np.isnan(unknown.shape[0])  # what was given has not been changed


def test_chunks_of_columns_are_refused_with_what_to_type(tmp_path):
    da = pytest.importorskip("dask.array")
    held = da.from_array(X, chunks=(40, 5))
    with pytest.raises(ValueError, match=r"use X\.rechunk\(\(40, -1\)\)") as error:
        TopKSelector(4).fit(held, Y)
    assert "3 chunks of columns" in str(error.value)
    assert_same_fit(TopKSelector(4).fit(held.rechunk((40, -1)), Y), TopKSelector(4).fit(X, Y))


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_no_number_in_x(holder, wrong, tmp_path):
    bad = X.copy()
    bad[77, 3] = wrong
    with pytest.raises(ValueError, match=r"[eE]xpected") as error:
        TopKSelector(4).fit(HOLDERS[holder](bad, tmp_path), Y)
    assert "column 3" in str(error.value)


def test_other_things_of_dask_are_refused():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="Expected X with two dimensions"):
        TopKSelector(4).fit(da.from_array(X[:, 0]), Y)
    with pytest.raises(ValueError, match="Expected numbers in X"):
        TopKSelector(4).fit(da.from_array(X.astype(str)), Y)
    held = da.from_array(X)
    with pytest.raises(ValueError, match="as many samples in y as in X"):
        TopKSelector(4).fit(held, Y[1:])
    with pytest.raises(ValueError, match="expecting 12 features"):
        TopKSelector(4).fit(held, Y).predict(held[:, :5])
