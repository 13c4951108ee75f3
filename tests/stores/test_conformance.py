"""Every store hands out all rows of X once and in order, whatever the size of its blocks."""

import pickle
import threading

import numpy as np
import pytest
from scipy import sparse
from stores.stores import NAMES, STORES, package_of, table

import rowsparse

EVERY = pytest.mark.parametrize("kind", STORES)


def written(kind, folder, X, y):
    if package_of(kind):
        pytest.importorskip(package_of(kind))
    return STORES[kind](folder, X, y, NAMES)


def dense(block):
    return block.toarray() if sparse.issparse(block) else np.asarray(block)


def all_rows(store):
    return np.vstack([dense(store.block(i)) for i in range(store.bounds.size - 1)])


@EVERY
@pytest.mark.parametrize("block_bytes", [1, 100, 500, 10**6])
def test_all_rows_once_and_in_order(kind, block_bytes, tmp_path):
    X, y = table()
    store = rowsparse.open_rows(written(kind, tmp_path, X, y), "y", block_bytes=block_bytes)
    assert store.shape == X.shape
    assert (store.bounds[0], store.bounds[-1]) == (0, len(X))
    assert (np.diff(store.bounds) > 0).all()
    for i in range(store.bounds.size - 1):
        block = store.block(i)
        rows = slice(store.bounds[i], store.bounds[i + 1])
        np.testing.assert_array_equal(dense(block), X[rows])
        assert block.dtype == store.dtype == np.float64
        if block.shape[0] > 1 and not sparse.issparse(block) and "by columns" not in kind:
            assert block.nbytes <= block_bytes
    assert list(store.names) == NAMES
    np.testing.assert_array_equal(np.asarray(store.y, dtype=int), y)


@EVERY
@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8])
def test_single_precision_stays_and_whole_numbers_become_double(kind, dtype, tmp_path):
    X, y = table()
    X = (X * 3).astype(dtype) if dtype != np.uint8 else np.abs(X * 3).astype(dtype)
    store = rowsparse.open_rows(written(kind, tmp_path, X, y), "y")
    assert store.dtype == (np.float32 if dtype == np.float32 else np.float64)
    rows = all_rows(store)
    assert rows.dtype == store.dtype
    np.testing.assert_array_equal(rows, X)


@EVERY
def test_one_row(kind, tmp_path):
    X, y = table(n=1)
    store = rowsparse.open_rows(written(kind, tmp_path, X, y), "y")
    assert (store.shape, store.bounds.tolist()[-1]) == ((1, 7), 1)
    np.testing.assert_array_equal(all_rows(store), X)


@EVERY
def test_blocks_in_any_order_in_two_threads_and_in_another_process(kind, tmp_path):
    X, y = table(n=60)
    path = written(kind, tmp_path, X, y)
    store = pickle.loads(pickle.dumps(rowsparse.open_rows(path, "y", block_bytes=200)))
    found = {}

    def read(numbers):
        for i in numbers:
            found[i] = dense(store.block(i))

    last = store.bounds.size - 1
    readers = [
        threading.Thread(target=read, args=(range(0, last, 2),)),
        threading.Thread(target=read, args=(range(last - 1 - last % 2, 0, -2),)),
    ]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    for i in set(range(last)) - set(found):
        found[i] = dense(store.block(i))
    np.testing.assert_array_equal(np.vstack([found[i] for i in range(last)]), X)


@EVERY
def test_columns_left_out(kind, tmp_path):
    X, y = table()
    path = written(kind, tmp_path, X, y)
    store = rowsparse.open_rows(path, "y", ignore=[NAMES[0], NAMES[4]], block_bytes=300)
    np.testing.assert_array_equal(all_rows(store), X[:, [1, 2, 3, 5, 6]])
    assert list(store.names) == [NAMES[j] for j in (1, 2, 3, 5, 6)]
    np.testing.assert_array_equal(np.asarray(store.y, dtype=int), y)
    with pytest.raises(ValueError, match="expected an ignored column that exists, got 'gone'"):
        rowsparse.open_rows(path, "y", ignore=["gone"])


@EVERY
def test_no_such_target(kind, tmp_path):
    path = written(kind, tmp_path, *table())
    with pytest.raises(ValueError, match=r"expected .*target.*'nonesuch'"):
        rowsparse.open_rows(path, "nonesuch")


@EVERY
def test_blocks_are_not_shared(kind, tmp_path):
    """A block is read-only, or writing to it changes nothing on disk."""
    X, y = table()
    store = rowsparse.open_rows(written(kind, tmp_path, X, y), "y")
    block = store.block(0)
    values = block.data if sparse.issparse(block) else block
    if values.flags.writeable:
        values[:] = -1
    np.testing.assert_array_equal(all_rows(store), X)
