"""Every kind of store, written from a matrix, its target and names of its columns."""

import itertools
import json

import numpy as np
from scipy import sparse

NAMES = [f"gene {j}" for j in range(7)]


def table(n=23, d=7, dtype=np.float64, seed=0):
    """A matrix with zeros in it, and a target."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    return X.astype(dtype), rng.integers(0, 3, n)


def beside(path, y, names):
    stem = path.name.removesuffix(path.suffix)
    np.save(path.with_name(f"{stem}.y.npy"), y)
    np.save(path.with_name(f"{stem}.feature_names.npy"), np.array(names))


def npy(folder, X, y, names):
    path = folder / "big.npy"
    np.save(path, np.ascontiguousarray(X))
    beside(path, y, names)
    return path


def npy_by_columns(folder, X, y, names):
    path = npy(folder, X, y, names)
    np.save(path, np.asfortranarray(X))
    return path


def stack(folder, X, y, names):
    """Pieces whose order by letters is another than by numbers, one of them empty."""
    path = folder / "pieces"
    path.mkdir()
    cuts = sorted({0, 1, len(X) // 3, len(X)})
    pieces = [X[a:b] for a, b in itertools.pairwise(cuts)]
    pieces.insert(1, X[:0])
    for number, piece in enumerate(pieces, start=8):
        np.save(path / f"piece_{number}.npy", piece)
    np.save(path / "y.npy", y)
    np.save(path / "feature_names.npy", np.array(names))
    return path


def csr_npz(folder, X, y, names):
    path = folder / "words.npz"
    sparse.save_npz(path, sparse.csr_array(X), compressed=False)
    beside(path, y, names)
    return path


def csr_folder(folder, X, y, names):
    path = folder / "csr"
    path.mkdir()
    rows = sparse.csr_array(X)
    for name in ("data", "indices", "indptr"):
        np.save(path / f"{name}.npy", vars(rows)[name])
    np.save(path / "shape.npy", np.array(rows.shape))
    np.save(path / "y.npy", y)
    np.save(path / "feature_names.npy", np.array(names))
    return path


def zarr_group(folder, X, y, names, version=3, **chunks):
    import zarr

    path = folder / "data.zarr"
    group = zarr.open_group(path, mode="w", zarr_format=version)
    _zarr_array(group, "X", X, **{"chunks": (5, 3), **chunks})
    _zarr_array(group, "y", y)
    _zarr_array(group, "feature_names", np.array(names))
    return path


def zarr_array(folder, X, y, names):
    import zarr

    path = folder / "alone.zarr"
    zarr.create_array(path, data=X, chunks=(4, X.shape[1]))
    beside(path, y, names)
    return path


def zarr_anndata(folder, X, y, names):
    """CSR as AnnData writes it, the target a category of obs."""
    import zarr

    path = folder / "cells.zarr"
    root = zarr.open_group(path, mode="w")
    _anndata_groups(root, X, y, names, _zarr_array)
    return path


def h5ad_sparse(folder, X, y, names):
    import h5py

    path = folder / "cells.h5ad"
    with h5py.File(path, "w") as root:
        _anndata_groups(root, X, y, names, _h5_array)
    return path


def h5ad_dense(folder, X, y, names):
    import h5py

    path = folder / "dense.h5ad"
    with h5py.File(path, "w") as root:
        chunks = (min(4, len(X)), X.shape[1])
        root.create_dataset("X", data=X, chunks=chunks, compression="gzip")
        _obs_and_var(root, y, names, _h5_array)
    return path


def _zarr_array(group, key, array, **chunks):
    """Made first and filled then, as every zarr from 3.0 on can; text of any length."""
    text = array.dtype.kind == "U"
    made = group.create_array(key, shape=array.shape, dtype=str if text else array.dtype, **chunks)
    made[:] = array.astype(object) if text else array


def _h5_array(group, key, array):
    kind = array.dtype.kind
    group.create_dataset(key, data=array.astype("S20") if kind == "U" else array)


def _anndata_groups(root, X, y, names, create):
    rows = sparse.csr_array(X)
    group = root.create_group("X")
    group.attrs["encoding-type"] = "csr_matrix"
    group.attrs["shape"] = list(rows.shape)
    for name in ("data", "indices", "indptr"):
        create(group, name, vars(rows)[name])
    _obs_and_var(root, y, names, create)


def _obs_and_var(root, y, names, create):
    categories, codes = np.unique(y, return_inverse=True)
    kind = root.create_group("obs").create_group("y")
    create(kind, "codes", codes.astype(np.int8))
    create(kind, "categories", categories)
    var = root.create_group("var")
    var.attrs["_index"] = "_index"
    create(var, "_index", np.array(names))


def parquet(folder, X, y, names, group=4, name="table.parquet"):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / name
    columns = {name: X[:, j] for j, name in enumerate(names)}
    pq.write_table(pa.table({"y": y, **columns}), path, row_group_size=group)
    return path


def parquet_one_group(folder, X, y, names):
    """A row group far larger than the blocks of the tests."""
    return parquet(folder, X, y, names, group=10**6)


def parquet_folder(folder, X, y, names):
    path = folder / "parts"
    path.mkdir()
    cuts = sorted({0, 1, len(X) // 2, len(X)})
    for number, (a, b) in enumerate(itertools.pairwise(cuts), start=9):
        parquet(path, X[a:b], y[a:b], names, group=3, name=f"part-{number}.parquet")
    (path / "_SUCCESS").write_text("")
    return path


STORES = {
    "npy": npy,
    "npy by columns": npy_by_columns,
    "stack": stack,
    "csr npz": csr_npz,
    "csr folder": csr_folder,
    "zarr v3": zarr_group,
    "zarr v2": lambda *a: zarr_group(*a, version=2),
    "zarr by columns": lambda *a: zarr_group(*a, chunks=(len(a[1]), 1)),
    "zarr in shards": lambda *a: zarr_group(*a, chunks=(2, 3), shards=(6, 9)),
    "zarr array": zarr_array,
    "zarr anndata": zarr_anndata,
    "h5ad csr": h5ad_sparse,
    "h5ad dense": h5ad_dense,
    "parquet": parquet,
    "parquet, one group": parquet_one_group,
    "parquet folder": parquet_folder,
}
NEEDS = {"zarr": "zarr", "h5ad": "h5py", "parquet": "pyarrow"}


def package_of(kind):
    """The package that a store of this kind needs, if it needs one."""
    return NEEDS.get(kind.split()[0].rstrip(","))


def rewrite_json(path, change):
    """A file of JSON with ``change`` applied to what it says."""
    facts = json.loads(path.read_text())
    change(facts)
    path.write_text(json.dumps(facts))
