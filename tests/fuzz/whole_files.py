"""One good file of every kind that ``rowsparse datasets`` reads, to be damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np


def rows(n: int = 60, d: int = 8) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)).round(4), rng.integers(0, 3, n)


def write_text(path: Path, separator: str = ",", encoding: str = "utf-8") -> None:
    X, y = rows()
    lines = [separator.join([*(f"f{j}" for j in range(8)), "city", "y"])]
    towns = ("Rome", "Oslo", "Bonn")
    for x, label in zip(X, y, strict=True):
        lines.append(separator.join([*map(str, x), towns[label], str(label)]))
    path.write_bytes("\n".join(lines).encode(encoding))


def write_packed(path: Path) -> None:
    import gzip
    import zipfile

    inner = path.with_name("inner.csv")
    write_text(inner)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(inner.read_bytes()))
        return
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(inner, "inner.csv")


def write_npz(path: Path, save: Callable[..., None] = np.savez) -> None:
    X, y = rows()
    save(path, X=X, y=y, class_names=["a", "b", "c"], feature_names=[f"g{j}" for j in range(8)])


def write_sparse(path: Path) -> None:
    from scipy import sparse

    X, y = rows()
    formats = {"csr": sparse.csr_array, "csc": sparse.csc_matrix, "coo": sparse.coo_array}
    kind = path.name.partition("-")[0]
    X[X < 0.5] = 0
    sparse.save_npz(path, formats[kind](X))
    np.save(path.with_name(path.name.replace(".X.npz", ".y.npy")), y)


def write_npy(path: Path) -> None:
    X, y = rows()
    np.save(path, X)
    np.save(path.with_name(f"{path.stem}.y.npy"), y)


def write_mat(path: Path) -> None:
    from scipy import sparse
    from scipy.io import savemat

    X, y = rows()
    compress = "packed" in path.name
    design = sparse.csc_matrix(np.where(X > 0, X, 0)) if "sparse" in path.name else X
    savemat(path, {"X": design, "y": y, "note": "text"}, do_compression=compress)


def write_svmlight(path: Path) -> None:
    from sklearn.datasets import dump_svmlight_file

    X, y = rows()
    dump_svmlight_file(np.where(X > 0, X, 0), y, str(path), zero_based=False)


def write_frame(path: Path) -> None:
    import pandas as pd

    X, y = rows()
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(8)])
    frame = frame.assign(city=np.array(["Rome", "Oslo", "Bonn"])[y], y=y)
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".feather":
        frame.to_feather(path, compression="lz4" if "packed" in path.name else "uncompressed")
    else:
        frame.to_excel(path, index=False)


def write_h5ad(path: Path) -> None:
    import anndata
    import pandas as pd
    from scipy import sparse

    X, y = rows()
    design = sparse.csr_matrix(np.where(X > 0, X, 0)) if "sparse" in path.name else X
    obs = pd.DataFrame(
        {"y": pd.Categorical(np.array(["a", "b", "c"])[y])}, index=[f"c{i}" for i in range(len(y))]
    )
    var = pd.DataFrame(index=[f"g{j}" for j in range(8)])
    anndata.AnnData(design, obs=obs, var=var).write_h5ad(path)


WRITERS: dict[str, Callable[[Path], None]] = {
    "table.csv": write_text,
    "table.tsv": lambda path: write_text(path, "\t"),
    "wide.csv": lambda path: write_text(path, ",", "utf-16"),
    "table.csv.gz": write_packed,
    "table.zip": write_packed,
    "plain.npz": write_npz,
    "packed.npz": lambda path: write_npz(path, np.savez_compressed),
    "csr-words.X.npz": write_sparse,
    "csc-words.X.npz": write_sparse,
    "coo-words.X.npz": write_sparse,
    "plain.npy": write_npy,
    "plain.mat": write_mat,
    "packed.mat": write_mat,
    "sparse.mat": write_mat,
    "lines.svm": write_svmlight,
    "table.parquet": write_frame,
    "table.feather": write_frame,
    "packed.feather": write_frame,
    "table.xlsx": write_frame,
    "dense.h5ad": write_h5ad,
    "sparse.h5ad": write_h5ad,
}


def whole_files(folder: Path) -> list[Path]:
    """One good file of every kind that can be written here."""
    made = []
    for name, write in WRITERS.items():
        try:
            write(folder / name)
        except ImportError:
            continue
        made.append(folder / name)
    return made
