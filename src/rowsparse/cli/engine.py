"""Data that is not read into memory: stores in blocks, and Dask on this machine or a cluster."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from typer import Option

from rowsparse.cli.options import DataOptions
from rowsparse.cli.terminal import say
from rowsparse.datasets import Dataset
from rowsparse.datasets.base import numbered_names
from rowsparse.designs import RowBlocks, is_dask
from rowsparse.stores import Store, open_rows


@dataclass(frozen=True)
class EngineOptions:
    """Who works on X."""

    engine: Annotated[
        Literal["memory", "blocks", "dask"] | None,
        Option(
            help="Read X into memory, or in blocks that pass through it, or let Dask's workers "
            "read them. Unless given, folders (zarr, parquet, npy) are read in blocks, files into "
            "memory."
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        Option(metavar="ADDRESS", help="Of a Dask cluster, whose workers can read DATA."),
    ] = None
    workers: Annotated[
        int | None,
        Option(metavar="N", help="Processes that Dask starts; one per processor.", min=1),
    ] = None


class Engine:
    """What reads the data of one command, and the cluster that ends with it."""

    def __init__(self, options: EngineOptions) -> None:
        self.options = options
        self._ending = ExitStack()  # a cluster is begun late, or never

    def load(self, data: DataOptions) -> Dataset:
        """The dataset, with X in memory, on disk or as a Dask array."""
        self._check()
        engine = self.options.engine
        # stores are folders, and made because they are large; a file is read as it always was
        if engine is None:
            engine = "blocks" if Path(data.data).is_dir() else "memory"
        if engine == "memory":
            return data.load()
        _refuse_what_reads_all(data)
        rows = open_rows(data.data, data.target, ignore=tuple(data.ignore or ()))
        if rows.y is None:
            raise ValueError(
                f"{data.data}: expected a target, got none; name it with --target (a column, an "
                "array beside X, or a .npy file)."
            )
        X = self._on_dask(rows) if engine == "dask" else rows
        return _dataset(rows, X, data.target)

    def close(self) -> None:
        """End what was started."""
        self._ending.close()

    def _check(self) -> None:
        options = self.options
        given = {"--scheduler": options.scheduler, "--workers": options.workers}
        for name, value in given.items():
            if value is not None and options.engine != "dask":
                raise ValueError(
                    f"{name}: expected it with --engine dask, got {value} without; add that."
                )
        if None not in given.values():
            raise ValueError(
                "--workers: expected none with --scheduler, whose cluster has workers of its own, "
                f"got {options.workers}; leave one out."
            )

    def _on_dask(self, rows: Store) -> Any:
        try:
            from rowsparse.designs.dask_arrays import as_dask_array, cluster
        except ImportError as error:
            raise ValueError(
                f"--engine: expected {error.name} for dask, got none; run pip install "
                "'dask[array]' distributed."
            ) from error
        entered = cluster(self.options.scheduler, self.options.workers)
        words = self._ending.enter_context(entered)
        say(f"Dask: {words}.")
        return as_dask_array(rows)


def in_blocks(dataset: Dataset) -> bool:
    """Whether X of the dataset is not in memory."""
    return isinstance(dataset.X, RowBlocks) or is_dask(dataset.X)


def _refuse_what_reads_all(data: DataOptions) -> None:
    """Options for what is found out by reading a table as a whole."""
    given = {
        "--id": data.ids,
        "--keep": data.keep,
        "--impute": data.impute,
        "--delimiter": data.delimiter,
        "--no-header": data.no_header,
    }
    for name, value in given.items():
        if value:
            raise ValueError(
                f"{name}: expected none for data that is not read into memory, got {value}; leave "
                "it out, or add --engine memory."
            )


def _dataset(rows: Store, X: Any, target: list[str] | None) -> Dataset:
    y = np.asarray(rows.y)
    names = numbered_names(rows.shape[1]) if rows.names is None else tuple(rows.names)
    # an array beside X may have many columns under one name
    asked = tuple(target or ())
    several = asked if y.ndim == 2 and len(asked) == y.shape[1] else None
    called = asked[0] if len(asked) == 1 else ""
    return Dataset(rows.path.name, X, y, names, several, source=str(rows.path), target=called)
