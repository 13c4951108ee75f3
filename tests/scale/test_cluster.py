"""On worker processes: the same fits, X stays there, and lost workers and schedulers."""

import contextlib
import functools
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from scale.holders import SELECTORS, assert_same_fit, table, weights
from sklearn.base import clone

from rowsparse import L2pSelector, TopKSelector
from rowsparse.model_selection import SelectorCV, StabilitySelector
from rowsparse.solvers import run

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.xdist_group("cluster")  # one cluster, not one per process of tests

X, Y = table()
ROBUST = L2pSelector(alpha=0.3, r=1, p=1)
SCHEDULER = """
import sys, distributed
with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


def on_workers_alone(home, seconds, block):
    """The block, which must not be made in the process ``home``."""
    if os.getpid() == home:
        raise AssertionError("X was computed on the client")
    time.sleep(seconds)
    return block


def held(chunks=40, seconds=0.0):
    made = functools.partial(on_workers_alone, os.getpid(), seconds)
    return da.from_array(X, chunks=(chunks, -1)).map_blocks(made, meta=X[:0])


@pytest.mark.parametrize(
    "name", ["r=2, p=.5, k", "r=2, as it is", "lpinf", "top k, always in", "r=1, p=1, alpha"]
)
def test_same_as_in_memory(name, client):
    for weight in (None, weights()):
        expected = clone(SELECTORS[name]).fit(X, Y, sample_weight=weight)
        assert_same_fit(clone(SELECTORS[name]).fit(held(), Y, sample_weight=weight), expected)


def test_resampling_on_the_workers(client):
    """By joblib's Dask backend: what one pass has found is sent to them, not X."""
    joblib = pytest.importorskip("joblib")
    stable = StabilitySelector(TopKSelector(4), n_pairs=3, random_state=0)
    expected = clone(stable).fit(X, Y).selection_probabilities_
    with joblib.parallel_config(backend="dask"):
        found = clone(stable).set_params(n_jobs=2).fit(held(), Y)
        search = SelectorCV(TopKSelector(), ks=[2, 4], cv=3, n_jobs=2).fit(held(), Y)
    np.testing.assert_array_equal(found.selection_probabilities_, expected)
    alone = SelectorCV(TopKSelector(), ks=[2, 4], cv=3).fit(X, Y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"]
    )


def counted(make, sizes):
    """The same function of Dask, which notes how many tasks it is given."""

    def counting(*tasks, **options):
        sizes.append(len({key for task in tasks for key in task.dask}))
        return make(*tasks, **options)

    return counting


def test_the_graph_does_not_grow(client, monkeypatch):
    """Every pass has a task or two per chunk, in the first iteration as in the last."""
    import rowsparse.designs.dask_arrays as passes

    sizes = []
    for name in ("compute", "persist"):
        monkeypatch.setattr(passes.dask, name, counted(getattr(passes.dask, name), sizes))
    fitted = clone(ROBUST).fit(held(20), Y)
    # some of them over the columns that are kept on the workers, not over X
    assert len(sizes) > fitted.solution_.n_passes > 10
    half = len(sizes) // 2
    assert set(sizes[half:]) <= set(sizes[:half])
    # chunks: to make one, which old versions of Dask do in several tasks, to work on it, to merge
    assert max(sizes) <= 6 * 8


def test_no_residual_is_sent_for_r_below_2(client, monkeypatch):
    """After Y is on the workers, nothing with a number per sample leaves or reaches the client."""
    import rowsparse.designs.dask_arrays as passes

    n_samples, columns = 3000, 6
    rng = np.random.default_rng(0)
    tall = rng.standard_normal((n_samples, columns))
    y = tall[:, 0] + rng.standard_t(2, n_samples)
    largest = []
    tasks_of, computed = passes.DaskPasses._tasks, passes.DaskPasses._computed

    def sent(self, of_block, shared, by_rows):
        pieces = [values for values in by_rows if isinstance(values, np.ndarray)]
        largest.extend(values.size for values in (*shared, *pieces) if np.ndim(values))
        return tasks_of(self, of_block, shared, by_rows)

    def received(self, tasks):
        found = computed(self, tasks)
        sums = [part for result in found if isinstance(result, tuple) for part in result]
        largest.extend(np.size(part) for part in sums)
        return found

    lazy = da.from_array(tall, chunks=(500, -1))
    problem, solver = clone(ROBUST).problem_and_solver(lazy, y)
    monkeypatch.setattr(passes.DaskPasses, "_tasks", sent)
    monkeypatch.setattr(passes.DaskPasses, "_computed", received)
    found = run(solver, problem)
    assert found.converged
    assert len(largest) > 20
    assert max(largest) < n_samples / 6  # less than a number for every row of a chunk
    expected = clone(ROBUST).fit(tall, y)
    np.testing.assert_allclose(found.objective, expected.solution_.objective, rtol=1e-9)


def test_a_worker_that_is_killed_is_replaced(client):
    expected = clone(ROBUST).fit(X, Y)
    victim = min(client.run(os.getpid).values())
    threading.Timer(0.4, os.kill, (victim, signal.SIGKILL)).start()
    fitted = clone(ROBUST).fit(held(20, seconds=0.01), Y)
    assert_same_fit(fitted, expected)
    client.wait_for_workers(2, timeout=30)
    assert victim not in client.run(os.getpid).values()


@pytest.fixture
def uncollected():
    """Without the collector: in its callbacks, of which Dask has one, Python loses a Ctrl-C."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
def test_ctrl_c_frees_the_workers(client):
    client.wait_for_workers(2, timeout=30)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        TopKSelector(4).fit(held(1, seconds=0.3), Y)  # would take 22 seconds
    assert client.submit(sum, [1, 2]).result(timeout=10) == 3
    assert not any(client.processing().values())
    assert time.monotonic() - began < 10


def test_ctrl_c_in_a_fit_of_many_passes(client):
    """As in memory: what has been found so far, and a warning."""
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the first point may be zero
        with contextlib.suppress(KeyboardInterrupt):
            clone(ROBUST).fit(held(40, seconds=0.2), Y)
    assert client.submit(sum, [1, 2]).result(timeout=10) == 3
    assert time.monotonic() - began < 10


def die(block):
    os.kill(os.getpid(), signal.SIGKILL)  # as the nanny does where the memory is used up


def test_workers_that_die_at_a_chunk(client):
    client.wait_for_workers(2, timeout=30)
    client.run_on_scheduler(fail_at_once)
    began = time.monotonic()
    deadly = da.from_array(X, chunks=(40, -1)).map_blocks(die, meta=X[:0])
    with pytest.raises(RuntimeError, match=r"in chunks that fit .*; use X\.rechunk\(\(20, -1\)\)"):
        TopKSelector(4).fit(deadly, Y)
    assert time.monotonic() - began < 60


def fail_at_once(dask_scheduler):
    dask_scheduler.allowed_failures = 0  # it is three, each of which starts a process


def test_a_scheduler_that_dies():
    # The graph holds functions of this module: who unpacks it must find them where we do.
    modules = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    scheduler = subprocess.Popen(
        [sys.executable, "-c", SCHEDULER],
        env=modules,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with scheduler:
        client = distributed.Client(scheduler.stdout.readline().strip())
        threading.Timer(2.0, scheduler.kill).start()
        began = time.monotonic()
        lost = pytest.raises(RuntimeError, match="Expected a scheduler that goes on, got none")
        with client.as_current(), lost:
            TopKSelector(4).fit(held(1, seconds=0.3), Y)
        assert time.monotonic() - began < 60
        client.close(timeout=2)
