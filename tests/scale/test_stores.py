"""Stores on disk: the next block is read meanwhile, and little more than a block is in memory."""

import threading
import tracemalloc

import numpy as np
import pytest
from processes import run
from scale.holders import HOLDERS, D, table

from rowsparse import L2pSelector, TopKSelector, open_rows
from rowsparse.designs import RowBlocks, as_design

X, Y = table()


class Watched(RowBlocks):
    """Two blocks of rows, and which of them have been asked for."""

    shape = X.shape
    dtype = X.dtype
    bounds = np.array([0, 50, len(X)])

    def __init__(self):
        self.asked = [threading.Event(), threading.Event()]

    def block(self, number):
        self.asked[number].set()
        return X[self.bounds[number] : self.bounds[number + 1]]


def test_the_next_block_is_read_while_this_one_is_worked_on():
    store = Watched()
    design = as_design(store)
    seen = []

    def work(block):
        seen.append(store.asked[1].wait(timeout=20))
        return block.sum(axis=0)

    total = design.passes.merged(np.add, work, (), ())
    assert seen == [True, True]
    np.testing.assert_allclose(total, X.sum(axis=0))


def test_an_error_of_a_block_ends_the_fit():
    class Broken(Watched):
        def block(self, number):
            if number:
                raise OSError("disk is gone")
            return super().block(number)

    with pytest.raises(OSError, match="disk is gone"):
        TopKSelector(4).fit(Broken(), Y)
    assert not [t for t in threading.enumerate() if t.name.startswith("rowsparse-reader")]


@pytest.mark.parametrize("kind", ["npy", "zarr"])
def test_memory_is_that_of_blocks_and_products(kind, tmp_path):
    """Of 32 MB in blocks of 1 MB: a few blocks, a few numbers per sample, and the products."""
    rng = np.random.default_rng(0)
    large = rng.standard_normal((40_000, 100))
    y = large[:, :3].sum(axis=1) + rng.standard_normal(len(large))
    if kind == "npy":
        path = tmp_path / "large.npy"
        np.save(path, large)
    else:
        path = tmp_path / "large.zarr"
        pytest.importorskip("zarr").create_array(path, data=large, chunks=(1000, 100))
    size = large.nbytes
    del large
    rows = open_rows(path, block_bytes=1 << 20)
    TopKSelector(3).fit(rows, y)  # loads modules
    tracemalloc.start()
    try:
        fitted = TopKSelector(3).fit(rows, y)
        assert tracemalloc.get_traced_memory()[1] < size / 3
    finally:
        tracemalloc.stop()
    assert fitted.get_support(indices=True).tolist() == [0, 1, 2]


def test_nothing_of_dask_is_imported_for_a_store(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, X)
    np.save(tmp_path / "x.y.npy", Y)
    printed = run(
        "import sys, rowsparse",
        f"rows = rowsparse.open_rows({str(path)!r})",
        "rowsparse.TopKSelector(4).fit(rows, rows.y)",
        "print([name for name in ('dask', 'distributed', 'zarr') if name in sys.modules])",
    )
    assert printed.strip() == "[]"


@pytest.mark.parametrize("holder", ["npy", "dask"])
def test_many_columns_are_not_multiplied_with_each_other(holder, tmp_path, monkeypatch):
    """Where one pass cannot give the products, passes are made for the columns that are used."""
    import rowsparse.designs.chunked as chunked
    import rowsparse.selectors.blocks as blocks

    monkeypatch.setattr(blocks, "MOST_PRODUCTS", D)  # with the outputs there are more
    monkeypatch.setattr(chunked, "MOST_PRODUCTS", D)
    for name in ("alpha", "k"):
        selector = L2pSelector(alpha=0.2) if name == "alpha" else L2pSelector(4)
        expected = selector.fit(X, Y).coef_
        fitted = selector.fit(HOLDERS[holder](X, tmp_path), Y)
        np.testing.assert_allclose(fitted.coef_, expected, atol=1e-6)
        assert 1 < fitted.solution_.n_passes
