"""Damaged, cut and hostile files: one sentence each, and no memory that they only claim."""

import json
import pickle

import numpy as np
import pytest
from numpy.lib.format import open_memmap
from scipy import sparse
from stores.stores import NAMES, STORES, beside, package_of, rewrite_json, table, zarr_group

import rowsparse
from rowsparse.datasets import DatasetError

HUGE = 2**50


def read(path, target="y", **options):
    store = rowsparse.open_rows(path, target, **options)
    return [store.block(i) for i in range(store.bounds.size - 1)]


def refused(path, match="expected", target="y", **options):
    """Opening it, or reading its blocks, ends in one sentence."""
    with pytest.raises(DatasetError, match=match) as error:
        read(path, target, **options)
    assert "\n" not in str(error.value)


def files_of(path):
    return [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.97])
def test_cut_off(kind, share, tmp_path):
    """The largest file of a store, which holds X or a part of it, ends too early."""
    if package_of(kind):
        pytest.importorskip(package_of(kind))
    X, y = table(n=200)
    path = STORES[kind](tmp_path, X, y, NAMES)
    largest = max(files_of(path), key=lambda file: file.stat().st_size)
    content = largest.read_bytes()
    largest.write_bytes(content[: int(share * len(content))])
    refused(path, block_bytes=2000)


@pytest.mark.parametrize("kind", [kind for kind in STORES if kind != "npy by columns"])
def test_bytes_overwritten(kind, tmp_path):
    """Whatever is changed, there is a sentence or there are numbers, and never a crash."""
    if package_of(kind):
        pytest.importorskip(package_of(kind))
    X, y = table(n=50)
    path = STORES[kind](tmp_path, X, y, NAMES)
    largest = max(files_of(path), key=lambda file: file.stat().st_size)
    content = largest.read_bytes()
    rng = np.random.default_rng(0)
    sentences = []
    for _ in range(10):
        changed = bytearray(content)
        for place in rng.integers(0, len(content), 8):
            changed[place] = rng.integers(0, 256)
        largest.write_bytes(bytes(changed))
        try:
            read(path, block_bytes=1000)
        except DatasetError as error:
            sentences.append(str(error))
    assert not any("\n" in sentence for sentence in sentences)


def csr_with(folder, **changed):
    rows = sparse.csr_array(table()[0])
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr,
             "shape": np.array(rows.shape), "format": np.array(b"csr")}  # fmt: skip
    path = folder / "words.npz"
    np.savez(path, **(parts | changed))
    beside(path, table()[1], NAMES)
    return path


def test_sparse_parts_that_do_not_belong_together(tmp_path):
    rows = sparse.csr_array(table()[0])
    falling = rows.indptr.copy()
    falling[3] = falling[-1]
    hostile = {
        "a column beyond the shape": {"indices": np.where(rows.indices == 3, 99, rows.indices)},
        "a negative column": {"indices": np.where(rows.indices == 3, -1, rows.indices)},
        "row pointers that fall": {"indptr": falling},
        "row pointers beyond the data": {"indptr": rows.indptr + 1},
        "too few row pointers": {"indptr": rows.indptr[:-1]},
        "too few values": {"data": rows.data[:-1]},
        "pointers of floats": {"indptr": rows.indptr.astype(float)},
        "no row pointers": {"indptr": rows.indptr[:0]},
        "values of text": {"data": rows.data.astype("U9")},
        "a shape of one number": {"shape": np.array([23])},
        "a width without end": {"shape": np.array([23, HUGE])},
        "by columns": {"format": np.array(b"csc")},
    }
    for changed in hostile.values():
        refused(csr_with(tmp_path, **changed))


def test_by_columns_says_what_to_do(tmp_path):
    X, y = table()
    sparse.save_npz(tmp_path / "c.npz", sparse.csc_array(X), compressed=False)
    refused(tmp_path / "c.npz", r"save X.tocsr\(\) instead")
    sparse.save_npz(tmp_path / "p.npz", sparse.csr_array(X))
    refused(tmp_path / "p.npz", "compressed=False")
    # a file with nothing written to it takes no room on disk
    open_memmap(tmp_path / "w.npy", "w+", np.int8, (8192, 100_000), fortran_order=True)
    refused(tmp_path / "w.npy", "save it by rows", target=None)
    np.savez(tmp_path / "xy.npz", X=X, y=y)
    refused(tmp_path / "xy.npz", "a sparse matrix by rows")


def test_entries_given_twice_are_added_up(tmp_path):
    """And the file stays as it is."""
    path = csr_with(
        tmp_path,
        data=np.arange(1.0, 5),
        indices=np.array([2, 0, 2, 1]),
        indptr=np.array([0, 3, 4]),
        shape=np.array([2, 7]),
    )
    np.save(tmp_path / "words.y.npy", np.array([0, 1]))
    before = path.read_bytes()
    block = rowsparse.open_rows(path, "y").block(0)
    np.testing.assert_array_equal(block.toarray()[:, :3], [[2, 0, 4], [0, 4, 0]])
    assert block.has_canonical_format
    assert path.read_bytes() == before


def test_what_could_run_code_is_never_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return (pytest.fail, ("code of a data file was run",))

    trap = np.empty(3, dtype=object)
    trap[:] = [Trap()] * 3
    np.save(tmp_path / "t.npy", trap)
    refused(tmp_path / "t.npy", "never")
    np.save(tmp_path / "x.npy", table()[0])
    np.save(tmp_path / "x.y.npy", trap)
    refused(tmp_path / "x.npy", "never")
    folder = tmp_path / "stack"
    folder.mkdir()
    np.save(folder / "0.npy", table()[0])
    np.save(folder / "y.npy", table()[1])
    (folder / "info").write_bytes(pickle.dumps(Trap()))  # dask.array.to_npy_stack writes one
    assert rowsparse.open_rows(folder, "y").shape == (23, 7)


def test_a_zarr_filter_that_unpickles_is_refused(tmp_path):
    pytest.importorskip("zarr")
    X, y = table()
    path = zarr_group(tmp_path, X, y, NAMES, version=2)
    rewrite_json(path / "X" / ".zarray", lambda facts: facts.update(filters=[{"id": "pickle"}]))
    refused(path)


@pytest.mark.parametrize("version", [2, 3])
def test_zarr_that_claims_more_than_it_holds(version, tmp_path):
    pytest.importorskip("zarr")
    path = zarr_group(tmp_path, *table(), NAMES, version=version)
    metadata = ".zarray" if version == 2 else "zarr.json"

    def longer(facts):
        facts["shape"] = [HUGE, *facts["shape"][1:]]

    rewrite_json(path / "y" / metadata, longer)
    refused(path, "made to fill the memory")
    path = zarr_group(tmp_path, *table(), NAMES, version=version)
    large = [2**20, 2**20]

    def in_large_chunks(facts):
        if version == 2:
            facts["chunks"] = large
        else:
            facts["chunk_grid"]["configuration"]["chunk_shape"] = large

    rewrite_json(path / "X" / metadata, in_large_chunks)
    refused(path, "expected chunks of less than")


def test_h5ad_that_claims_more_than_it_holds(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = STORES["h5ad csr"](tmp_path, *table(), NAMES)
    with h5py.File(path, "r+") as file:
        del file["obs/y"]
        file["obs"].create_dataset("y", (HUGE,), "f8", chunks=(1000,))
    refused(path, "made to fill the memory")
    path = STORES["h5ad csr"](tmp_path, *table(), NAMES)
    with h5py.File(path, "r+") as file:
        file["X"].attrs["encoding-type"] = "csc_matrix"
    refused(path, "tocsr")
    with h5py.File(path, "r+") as file:
        del file["X"]
        file["X"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "X")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["X"] = table()[0]
    refused(path)


def test_parquet_that_cannot_be_a_matrix(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    def saved(name, **columns):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"y": [0, 1, 2], **columns}), path)
        return path

    refused(saved("a.parquet", a=[1.0, 2, 3], w=["x", "y", "z"]), "in 'w'")
    refused(saved("b.parquet", a=[1.0, None, 3]), "got some in 'a'")
    refused(saved("c.parquet", a=[1.0, 2, 3]), "got 'z'", target="z")
    saved("d/0.parquet", a=[1.0, 2, 3])
    saved("d/1.parquet", b=[1.0, 2, 3])
    refused(tmp_path / "d", "the columns of 0.parquet")
    saved("e/year=2020/0.parquet", a=[1.0, 2, 3])
    refused(tmp_path / "e", "without partitions")
    refused(saved("f.parquet"), "at least one sample and one feature")
    path = tmp_path / "g.parquet"
    pq.write_table(pa.table({"y": [0.0, None], "a": [1.0, 2]}), path)
    refused(path, "got 1 missing")


def test_sizes_that_do_not_fit(tmp_path):
    X, y = table()
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "x.y.npy", y[:-1])
    refused(tmp_path / "x.npy", "one target value per sample")
    np.save(tmp_path / "x.y.npy", y)
    np.save(tmp_path / "x.feature_names.npy", np.array(NAMES[:-1]))
    refused(tmp_path / "x.npy", "one name per feature")
    np.save(tmp_path / "e.npy", X[:0])
    refused(tmp_path / "e.npy", "at least one sample", target=None)
    np.save(tmp_path / "v.npy", X[0])
    refused(tmp_path / "v.npy", "a matrix with samples as rows", target=None)
    folder = tmp_path / "stack"
    folder.mkdir()
    refused(folder, "got neither", target=None)
    np.save(folder / "0.npy", X)
    np.save(folder / "1.npy", X[:, 1:])
    refused(folder, "expected 7 columns", target=None)
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    refused(tmp_path / "t.csv", "convert it")
    with pytest.raises(FileNotFoundError, match="check the path"):
        rowsparse.open_rows(tmp_path / "nothing.npy")


def test_an_npz_file_without_its_beginning(tmp_path):
    """Its directory, at the end, then names places before the file begins."""
    X, _ = table()
    path = tmp_path / "x.npz"
    sparse.save_npz(path, sparse.csr_array(X), compressed=False)
    path.write_bytes(path.read_bytes()[40:])
    refused(path, "damaged", target=None)


def test_an_npy_header_that_lies(tmp_path):
    X, _ = table()
    path = tmp_path / "x.npy"
    np.save(path, X)
    content = path.read_bytes()
    for wrong in (b"(24, 7), ", b"(99999999, 7), ", b"(-1, 7), "):
        header = content[:128].replace(b"(23, 7), ", wrong)
        header = header.rstrip().ljust(127)[:127] + b"\n"
        path.write_bytes(header + content[128:])
        refused(path, "damaged", target=None)


def test_metadata_of_zarr_that_is_none(tmp_path):
    pytest.importorskip("zarr")
    path = zarr_group(tmp_path, *table(), NAMES)
    (path / "X" / "zarr.json").write_text(json.dumps({"zarr_format": 3, "node_type": "array"}))
    refused(path)


@pytest.mark.parametrize("name", ["none.parquet", "none.npy", "none", "none.zarr"])
def test_nothing_there_is_said(name, tmp_path):
    with pytest.raises(FileNotFoundError, match="got nothing; check the path"):
        rowsparse.open_rows(tmp_path / name)


@pytest.mark.parametrize("notes", [b"{", b"[1]", b"\xff", b'"text"'])
def test_notes_of_pandas_that_are_none(notes, tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "table.parquet"
    columns = pa.table({"a": [1.0, 2.0], "y": [0, 1]})
    pq.write_table(columns.replace_schema_metadata({b"pandas": notes}), path)
    refused(path)
