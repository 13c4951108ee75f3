"""One contestant on one case, in its own process and its own environment.

    python worker.py JOB.json

The job names the contestant, the data folder, the task and the mode. Everything that happens is
appended to log.jsonl beside the job at once, so that a killed worker still tells how far it got;
every W is saved as .npy. A fit that takes more than `cap` seconds of wall time is ended by
SIGALRM, and the process with it, even in the middle of compiled code.
"""

from __future__ import annotations

import json
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import objective
import printed_irls
from contestants import CONTESTANTS, Task
from ladder import RUNGS, first_passing_rung
from memory import peak_bytes, reset_peak

REPEATS = 3
BRIEF = 0.2  # seconds: runs shorter than this are repeated three times as often
SHORT = 2.0  # seconds: runs shorter than this are always repeated
LONG = 20.0  # seconds: runs longer than this are never repeated
CAPS_PER_CLIMB = 3  # a climb that has used this many caps starts no further rung


class OutOfTime(Exception):
    pass


class Worker:
    def __init__(self, job_path):
        self.folder = Path(job_path).parent
        self.job = json.loads(Path(job_path).read_text())
        self.contestant = CONTESTANTS[self.job["contestant"]]
        self.task = Task(**self.job["task"])

    def run(self):
        mode = self.job["mode"]
        if mode == "cold":
            self.cold()
            return
        self.load()
        self.warm_up()
        self.log("ready")
        getattr(self, mode)()
        self.log("done")

    # ---------------------------------------------------------------- data and warm-up
    def load(self):
        data = Path(self.job["data"])
        self.X = np.load(data / f"X_{self.contestant.layout}.npy")
        self.Y = np.load(data / "Y.npy")
        self.target = np.load(data / "labels.npy") if self.contestant.takes_labels else self.Y

    def warm_up(self):
        """An unmeasured fit on a tiny problem of the same kind: dtype, memory order, wide or tall,
        number of outputs. It pays for imports and for just-in-time compilation."""
        if self.contestant.solve is None:
            return
        shape = (40, 60) if self.X.shape[0] < self.X.shape[1] else (60, 40)
        X, Y = _tiny(shape, self.Y.shape[1], self.contestant.layout)
        target = np.arange(shape[0]) % 2 if self.contestant.takes_labels else Y
        alpha = 0.3 * objective.alpha_max(X, Y, p=self.task.p)
        task = Task(alpha, self.task.r, self.task.p, self.task.fit_intercept)
        self.contestant.solve(X, target, task, 1e-4)

    # ---------------------------------------------------------------- modes
    def climb(self):
        """The cheapest tolerance whose common relative gap is at most the target."""
        X, Y = self.X, self.Y
        if self.task.fit_intercept:  # the same problem without one
            X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)

        def gap_at(rung):
            if time.perf_counter() > deadline:
                raise OutOfTime
            tol = RUNGS[rung]
            W, wall = self.measure(tol)
            if wall < SHORT:
                self.repeat(tol, wall)
            _, gap = objective.objective_and_gap(X, Y, W, alpha=self.task.alpha)
            walls[rung] = wall
            return gap

        walls = {}
        deadline = time.perf_counter() + CAPS_PER_CLIMB * self.job["cap"]
        try:
            rung = first_passing_rung(gap_at, self.job["target_gap"])
        except OutOfTime:
            return
        if rung is not None and SHORT <= walls[rung] < LONG:
            self.repeat(RUNGS[rung], walls[rung])

    def fixed(self):
        """Each of the given tolerances."""
        for tol in self.job["tolerances"]:
            _, wall = self.measure(tol)
            if wall < LONG:
                self.repeat(tol, wall)

    def peak(self):
        """Memory above what the process held when X was loaded and the library warm."""
        before = reset_peak()
        tol = self.job["tolerances"][0]
        W, _ = self.measure(tol)
        self.log("peak", tol=tol, bytes=peak_bytes() - before, x_bytes=self.X.nbytes)
        del W

    def printed(self):
        """The paper's iteration, each step timed, until it settles or the cap ends it."""
        task, n = self.task, self.X.shape[0]
        iterates = printed_irls.printed(self.X, self.Y, task.alpha * task.r * n, task.r, task.p)

        def value(W):
            now = (time.perf_counter(), time.process_time())
            F = objective.objective(self.X, self.Y, W, alpha=task.alpha, r=task.r, p=task.p)
            elapsed = {"wall": now[0] - began[0], "cpu": now[1] - began[1]}
            self.log("iteration", objective=F, **elapsed)
            return F

        self.arm()
        began = (time.perf_counter(), time.process_time())
        W, _, iterations = printed_irls.until_settled(
            iterates, value, tol=self.job["tolerances"][0]
        )
        self.disarm()
        self.log("settled", iterations=iterations, file=self.save(W))

    def cold(self):
        """Import and first fit; the parent reads the CPU time of the whole process."""
        X, Y = _tiny((60, 30), 3, self.contestant.layout)
        task = Task(0.3 * objective.alpha_max(X, Y))
        began = time.perf_counter()
        self.contestant.solve(X, Y, task, 1e-4)
        self.log("done", wall=time.perf_counter() - began, cpu=time.process_time())

    # ---------------------------------------------------------------- the clock
    def measure(self, tol):
        self.log("start", tol=tol, cpu=time.process_time())
        self.arm()
        wall, cpu = time.perf_counter(), time.process_time()
        W = self.contestant.solve(self.X, self.target, self.task, tol)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        self.disarm()
        W = np.ascontiguousarray(W, dtype=np.float64)
        expected = (self.X.shape[1], self.Y.shape[1])
        if W.shape != expected:
            raise ValueError(f"W has shape {W.shape}, expected {expected}")
        self.log("fit", tol=tol, wall=wall, cpu=cpu, file=self.save(W, tol))
        return W, wall

    def arm(self):
        signal.setitimer(signal.ITIMER_REAL, self.job["cap"])

    def disarm(self):
        signal.setitimer(signal.ITIMER_REAL, 0)

    def repeat(self, tol, wall):
        for _ in range(REPEATS * (3 if wall < BRIEF else 1) - 1):
            self.measure(tol)

    def save(self, W, tol=0.0):
        name = f"W_{tol:.2e}.npy"
        np.save(self.folder / name, W)
        return name

    def log(self, event, **values):
        with open(self.folder / "log.jsonl", "a") as file:
            line = {"event": event, **values}
            file.write(json.dumps(line) + "\n")


def _tiny(shape, outputs, layout):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape)
    Y = X[:, :5] @ rng.standard_normal((5, outputs)) + rng.standard_normal((shape[0], outputs))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.asarray(X, order=layout), Y - Y.mean(axis=0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    Worker(sys.argv[1]).run()
