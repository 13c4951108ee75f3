"""Runs what the store does not hold yet: a child process per set and method.

The child is killed by the system's own clock when one selection uses more than the cap of CPU
seconds, or by the parent when it waits too long; either way the driver goes on.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
import warnings
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from .data import NUMBERS, SETS, Data, load
from .methods import METHODS, Method
from .score import score
from .splits import places, split
from .store import Store, pack

KS = (5, 10, 20, 50)
CAP = 60.0  # CPU seconds per selection
PATIENCE = 8  # wall seconds per CPU second of the cap: the machine is shared


@dataclass
class Job:
    """Cells of one set and one method that are still to be computed."""

    data: Data
    name: str
    method: Method
    cells: list[tuple[int, int, int]]  # repeat, fold, k
    cap: float = CAP


def run(store: Store, methods, sets, again: bool = False, retry: bool = False, cap: float = CAP):
    for name in methods:
        run_name = store.open_run(METHODS[name].ours)
        for set_name in sets:
            if SETS[set_name].task in METHODS[name].tasks:
                _run_pair(store, name, set_name, run_name, again, retry, cap)


def _run_pair(store, name, set_name, run_name, again, retry, cap):
    data = load(set_name)
    job = Job(data, name, METHODS[name], [], cap)
    for repeat, fold in places(data):
        for k in KS:
            key = (set_name, name, k, repeat, fold)
            if _wanted(store, key, run_name, again, retry):
                job.cells.append((repeat, fold, k))
    if not job.cells:
        return
    began = time.perf_counter()
    count = len(job.cells)
    failed = 0
    for record in _work(job):
        failed += "error" in record
        store.add(record | {"run": run_name})
    print(
        f"{time.strftime('%H:%M:%S')} {name:15s} {set_name:20s} {count} cells, "
        f"{failed} failed, {time.perf_counter() - began:.0f} s",
        flush=True,
    )


def _wanted(store, key, run_name, again, retry):
    if key not in store.cells:
        return True
    if retry and "error" in store.cells[key]:
        return True
    # For ours: whatever was computed with other source.
    return again and store.source_of(key) != store.runs[run_name].get("source", "")


def _work(job: Job):
    """Records, cell by cell. A child that dies takes one selection with it, not the run."""
    while job.cells:
        receiver, sender = multiprocessing.Pipe(duplex=False)
        ends = (receiver, sender)
        child = multiprocessing.get_context("fork").Process(target=_child, args=(job, *ends))
        child.start()
        sender.close()
        yield from _listen(job, receiver)
        if child.is_alive():
            child.kill()
        child.join()
        if job.cells:
            yield from _give_up(job, _reason(child.exitcode, job.cap))


def _listen(job, receiver):
    """Until the child has closed its end or has said nothing for too long."""
    try:
        while job.cells and receiver.poll(PATIENCE * job.cap):
            record = receiver.recv()
            job.cells.remove((record["repeat"], record["fold"], record["k"]))
            yield record
    except EOFError:
        return


def _give_up(job, reason):
    """The first cell left is the one that failed. The set's other folds would fail likewise:
    this k and larger ones are not tried again here."""
    k_failed = job.cells[0][2]
    given_up = [cell for cell in job.cells if cell[2] >= k_failed]
    job.cells = [cell for cell in job.cells if cell[2] < k_failed]
    for place, cell in enumerate(given_up):
        yield _record(job, *cell) | {"error": reason if place == 0 else f"not tried: {reason}"}


def _reason(exit_code, cap):
    if exit_code == -signal.SIGPROF:
        return f"time-out: over {cap:g} CPU seconds"
    if exit_code == -signal.SIGKILL:
        return f"time-out: over {PATIENCE * cap:g} wall seconds, or out of memory"
    return f"the process ended with code {exit_code}"


def _child(job, receiver, sender):
    receiver.close()  # so that a parent that was killed takes the child along at its next message
    warnings.simplefilter("ignore")
    _warm_up(job)
    for (repeat, fold), cells in groupby(job.cells.copy(), key=lambda cell: cell[:2]):
        here = split(job.data, repeat, fold)
        ks = [k for _, _, k in cells]
        for group in [ks] if job.method.shared else [[k] for k in ks]:
            for record in _select(job, here, group):
                sender.send(record)
    sender.close()


def _select(job, here, ks):
    """Records for the ks; a method that raises gives records too."""
    missing = list(ks)
    clock = _Clock(job.cap)
    try:
        for k, columns in job.method.select(here.X_train, here.y_train, job.data.task, ks):
            clock.stop()
            record = _record(job, here.repeat, here.fold, k) | clock.seconds()
            yield record | _judged(job.data.task, here, np.asarray(columns))
            missing.remove(k)
            clock.go()
    except Exception as failure:
        for k in missing:
            text = f"{type(failure).__name__}: {failure}"[:200]
            yield _record(job, here.repeat, here.fold, k) | {"error": text}
    finally:
        clock.stop()


def _judged(task, here, columns):
    if len(columns) == 0:
        return {"error": "nothing selected"}
    return score(task, here, columns) | {"columns": pack(columns)}


def _record(job, repeat, fold, k):
    return {"set": job.data.name, "method": job.name, "k": k, "repeat": repeat, "fold": fold}


def _warm_up(job):
    """Imports and compilation are paid for on a tiny problem, outside the clock."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    y = rng.integers(0, 2, size=(40, *job.data.y.shape[1:]))
    y = rng.normal(size=40) if job.data.task == NUMBERS else y
    try:
        list(job.method.select(X, y, job.data.task, [3]))
    except Exception:
        return  # the real problem will say what is wrong


class _Clock:
    """CPU and wall seconds of the selection alone; over the cap the system ends the process."""

    def __init__(self, cap):
        self.cap, self.cpu, self.wall = cap, 0.0, 0.0
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        self.go()

    def go(self):
        signal.setitimer(signal.ITIMER_PROF, self.cap)
        self.began = time.process_time(), time.perf_counter()

    def stop(self):
        signal.setitimer(signal.ITIMER_PROF, 0)
        self.cpu += time.process_time() - self.began[0]
        self.wall += time.perf_counter() - self.began[1]

    def seconds(self):
        return {"cpu": round(self.cpu, 3), "wall": round(self.wall, 3)}
