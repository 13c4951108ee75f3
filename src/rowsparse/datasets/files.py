"""load_file: from a file on disk, or standard input, to a Dataset, by its extension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rowsparse.datasets.arrays import ARRAY_SUFFIXES, read_arrays
from rowsparse.datasets.base import Dataset, DatasetError, Reading
from rowsparse.datasets.columnar import KINDS, read_columnar, read_excel
from rowsparse.datasets.delimited import read_delimited
from rowsparse.datasets.h5ad import read_h5ad
from rowsparse.datasets.matrix import finished
from rowsparse.datasets.safety import unpacked
from rowsparse.datasets.sparse import read_svmlight
from rowsparse.datasets.text import DELIMITERS, STANDARD_INPUT, from_standard_input
from rowsparse.stores.safety import check_file

READERS: dict[str, Callable[[Path, Reading], Dataset]] = {
    **dict.fromkeys(KINDS, read_columnar),
    **dict.fromkeys(ARRAY_SUFFIXES, read_arrays),
    **dict.fromkeys((".svmlight", ".svm", ".libsvm"), read_svmlight),
    ".xlsx": read_excel,
    ".h5ad": read_h5ad,
}


def load_file(
    path: str | Path, target: str | Sequence[str] | None = None, **options: Any
) -> Dataset:
    """Read a dataset.

    Parameters
    ----------
    path : the file; its extension says what it is: csv, tsv, txt (each also as .gz, or alone in a
        .zip), parquet, feather, arrow, xlsx, npz, npy, mat, svmlight, h5ad. "-" is a text table on
        standard input.
    target : the target column of a table (several columns: several outputs), the column of obs of
        an h5ad file, or the name of the target array among arrays ("y" or "Y" unless told
        otherwise). svmlight files carry it.
    **options : how to read it, the fields of `Reading`: delimiter, header, ignore, ids, keep,
        impute.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> file = Path(tempfile.mkdtemp()) / "plants.csv"
    >>> _ = file.write_text("height,width,kind\\n1.5,2,fern\\n2.5,3,moss\\n")
    >>> from rowsparse.datasets import load_file
    >>> data = load_file(file, "kind")
    >>> data.feature_names, data.y.tolist()
    (('height', 'width'), ['fern', 'moss'])
    """
    # before the file is opened, which may take long: unknown options are refused here
    how = Reading(as_targets(target), **options)
    if str(path) == STANDARD_INPUT:
        return read_delimited(Path(STANDARD_INPUT), ".csv", from_standard_input(), how)
    path = Path(path)
    check_file(path)
    name, content = unpacked(path)
    suffix = Path(name).suffix.lower()
    if suffix in DELIMITERS:
        return read_delimited(path, suffix, content, how)
    if suffix not in READERS or content is not None:
        packed = " inside it, or one" if content is not None else ""
        raise DatasetError(
            f"{path}: expected a file ending in {', '.join(sorted([*DELIMITERS, *READERS]))}"
            f"{packed}, got {suffix or 'no ending'!r}; convert it, or rename it to what it is."
        )
    # by the ending alone: what a file says about itself inside may have been made to mislead
    dataset = READERS[suffix](path, how)
    # readers of tables have dropped, filled and coded columns already
    tables = READERS[suffix] in (read_columnar, read_excel)
    return dataset if tables else finished(dataset, how)


def as_targets(target: str | Sequence[str] | None) -> tuple[str, ...]:
    """One name, several, or none, as a tuple."""
    return (target,) if isinstance(target, str) else tuple(target or ())
