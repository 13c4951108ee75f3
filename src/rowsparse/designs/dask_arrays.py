"""Passes over a Dask array: one task per chunk of rows, and small results come back.

The only file that knows Dask, imported where X is one of its arrays. With a distributed client the
tasks run on its workers, without one on threads of this process. X itself is never computed here:
a task receives a chunk where it is, and only its result leaves.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from copy import copy
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.base import get_scheduler
from dask.delayed import Delayed, delayed
from dask.system import CPU_COUNT

from ..numerics.threads import one_blas_thread
from .blocks import RowBlocks
from .passes import OfBlock, Passes, as_block, float_type

ANSWER_SECONDS = 10  # within which a scheduler that is there has answered
KILLED = "KilledWorker"
LOST = ("CancelledError", "FutureCancelledError", "CommClosedError", "ClosedClientError")
FAN_IN = 4  # results that one task merges: a worker holds so many Gram matrices at a time


class _Pieces(list[Delayed]):
    """An array of n rows as pieces beside the chunks."""


class DaskPasses(Passes):
    """Over the chunks of a Dask array, whose columns lie in one chunk."""

    by_others = True

    def __init__(self, X: Any):
        refuse_columns_in_chunks(X)
        if np.isnan(X.shape[0]) or np.isnan(np.array(X.chunks[0], dtype=float)).any():
            self.count = 1  # rows whose number nobody knows are counted by computing their chunks
            X = X.copy()
            with _on_workers_or_threads():
                X.compute_chunk_sizes()
        self.shape = X.shape
        self.dtype = float_type(X.dtype)
        self.bounds = np.cumsum([0, *X.chunks[0]])
        # what leads to a chunk is fused once, so that a pass adds a few tasks per chunk alone
        self.chunks: list[Delayed] = list(X.to_delayed(optimize_graph=True)[:, 0])

    def results(self, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]) -> list:
        return self._computed(self._tasks(of_block, shared, by_rows))

    def merged(
        self, merge: Callable, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]
    ) -> Any:
        level = self._tasks(of_block, shared, by_rows)
        merging = delayed(_merged, pure=False, traverse=False)
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [merging(merge, *group) for group in groups]
        return self._computed(level)[0]

    def kept(self, of_block: OfBlock, shared: Sequence[Any], n_columns: int) -> Passes:
        self.count += 1
        kept = copy(self)
        kept.shape = (self.shape[0], n_columns)
        kept.dtype = np.dtype(float)
        kept.count = 0
        kept.chunks = self._persisted(self._tasks(of_block, shared, ()))
        return kept

    def held(self, by_rows: Sequence[Any]) -> Sequence[Any]:
        """Pieces on the workers; from the tasks that hold them a lost one is made again."""
        piece = delayed(_itself, pure=False, traverse=False)
        numbers = range(len(self.chunks))
        return [
            _Pieces(self._persisted([piece(*self.pieces(number, [values])) for number in numbers]))
            for values in by_rows
        ]

    def pieces(self, number: int, by_rows: Sequence[Any]) -> list[Any]:
        rows = slice(self.bounds[number], self.bounds[number + 1])
        return [v[number] if isinstance(v, _Pieces) else v[rows] for v in by_rows]

    def _persisted(self, tasks: list[Delayed]) -> list[Delayed]:
        """What the tasks make, left where it is made."""
        with _on_workers_or_threads(), self._saying_what_was_lost():
            return list(dask.persist(*tasks, optimize_graph=False, traverse=False))

    def _tasks(
        self, of_block: OfBlock, shared: Sequence[Any], by_rows: Sequence[Any]
    ) -> list[Delayed]:
        """One per chunk; what all of them share is one task of its own."""
        common = delayed(_together, pure=False, traverse=False)(*shared)
        task = delayed(_on_chunk, pure=False, traverse=False)
        return [
            task(chunk, of_block, common, self.pieces(number, by_rows))
            for number, chunk in enumerate(self.chunks)
        ]

    def _computed(self, tasks: list[Delayed]) -> list:
        self.count += 1
        with _on_workers_or_threads(), self._saying_what_was_lost():
            return list(dask.compute(*tasks, optimize_graph=False, traverse=False))

    @contextmanager
    def _saying_what_was_lost(self) -> Iterator[None]:
        """Dask does a lost worker's tasks again; what it cannot mend becomes one sentence. Its
        errors are told by name: distributed need not be there."""
        try:
            yield
        except Exception as error:
            kind = type(error).__name__
            if kind == KILLED:
                half = max(1, int(np.diff(self.bounds).max()) // 2)
                raise RuntimeError(
                    "Expected X in chunks that fit into the memory of a worker, got one at which "
                    f"several workers died; use X.rechunk(({half}, -1)), or more memory for each."
                ) from error
            if kind in LOST:
                raise RuntimeError(
                    "Expected a scheduler that goes on, got none any more; start the Dask cluster "
                    "and a Client again, and repeat the fit."
                ) from error
            raise


def refuse_columns_in_chunks(X: Any) -> None:
    """Say what to type where X is no array whose rows are whole."""
    if type(X).__name__ != "Array":
        raise TypeError(
            f"Expected X as a Dask array, got a Dask {type(X).__name__}; "
            "pass X.to_dask_array(lengths=True)."
        )
    if X.ndim != 2:
        raise ValueError(
            f"Expected X with two dimensions (samples × features), got {X.ndim}; "
            "use X.reshape(-1, 1) for a single feature."
        )
    if X.dtype.kind not in "fiub":
        raise ValueError(f"Expected numbers in X, got a Dask array of dtype {X.dtype}.")
    if len(X.chunks[1]) > 1:
        rows = X.chunks[0][0]
        known = "'auto'" if np.isnan(rows) else str(rows)
        raise ValueError(
            f"Expected X in chunks of whole rows, got {len(X.chunks[1])} chunks of columns; "
            f"use X.rechunk(({known}, -1))."
        )


def _itself(piece: Any) -> Any:
    return piece


def _together(*shared: Any) -> tuple[Any, ...]:
    return shared


def _on_chunk(chunk: Any, of_block: OfBlock, common: tuple[Any, ...], pieces: list[Any]) -> Any:
    return of_block(as_block(chunk), *common, *pieces)


def _merged(merge: Callable, *results: Any) -> Any:
    total = results[0]
    for result in results[1:]:
        total = merge(total, result)
    return total


def _on_workers_or_threads() -> AbstractContextManager[Any]:
    """Threads of this process hold BLAS to one thread each; workers are sent the parts of Y and of
    residuals within the graph, from which a lost worker's task can be done again."""
    stack = ExitStack()
    if get_scheduler() is None:
        stack.enter_context(one_blas_thread())
        stack.enter_context(dask.config.set(scheduler="threads"))
    else:
        stack.enter_context(
            dask.config.set({"distributed.admin.large-graph-warning-threshold": "10 GiB"})
        )
    return stack


def as_dask_array(rows: RowBlocks) -> Any:
    """A store as a Dask array with a chunk per block, which whoever works on it reads."""
    sizes = np.diff(rows.bounds).tolist()
    d = rows.shape[1]
    read = delayed(rows, pure=True).block
    chunks = [
        da.from_delayed(read(number), shape=(size, d), dtype=rows.dtype)
        for number, size in enumerate(sizes)
    ]
    return da.concatenate(chunks, axis=0)


@contextmanager
def cluster(address: str | None, n_workers: int | None) -> Iterator[str]:
    """Workers for as long as this lasts: those of a scheduler, or processes of this machine; says
    how many they are and where their dashboard is."""
    from distributed import Client, LocalCluster

    with ExitStack() as stack:
        if address is None:
            # BLAS has one thread in a worker, so that a processor is a worker
            local = LocalCluster(
                n_workers=n_workers or CPU_COUNT, threads_per_worker=1, silence_logs=logging.ERROR
            )
            stack.callback(_close, local)
            client = stack.enter_context(Client(local))
        else:
            client = stack.enter_context(_client_of(Client, address))
        count = len(client.nthreads())
        yield f"{count} worker{'s' * (count != 1)}, dashboard at {client.dashboard_link}"


def _close(local: Any) -> None:
    """On a busy machine a worker may be killed before it has ended; its answer is there already."""
    with suppress(TimeoutError):
        local.close()


def _client_of(client: Any, address: str) -> Any:
    try:
        return client(address, timeout=ANSWER_SECONDS)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"Expected the address of a Dask scheduler that answers, such as tcp://host:8786, got "
            f"{address!r}; start one with 'dask scheduler', and workers with 'dask worker'."
        ) from error
