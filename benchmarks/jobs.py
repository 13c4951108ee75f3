"""Starting workers: data handed over as .npy, thread settings, wall caps, busy cores."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from environments import OWN, Environment

WORKER = Path(__file__).parent / "worker.py"
STARTUP_CAP = 300.0  # seconds for import, loading and warm-up, which are not on the clock
MOST_CAPS = 6  # the worker ends itself long before this many caps have passed
THREAD_VARIABLES = [
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
]


@dataclass(frozen=True)
class Setting:
    threads: str = "default"  # "default": nothing is set, as on a user's machine; or a number
    busy: bool = False

    @property
    def label(self) -> str:
        return f"threads {self.threads}, {'busy' if self.busy else 'idle'}"


@dataclass
class Outcome:
    """What a worker said before it ended."""

    folder: Path
    events: list[dict]
    status: str  # "ok", "capped" or "failed"
    error: str = ""
    cpu: float = 0.0  # seconds of the whole process
    cap: float = 0.0
    fits: dict[float, dict] = field(default_factory=dict)  # tolerance -> best wall, cpu, file

    def __post_init__(self):
        for fit in self.named("fit"):
            best = self.fits.setdefault(fit["tol"], {**fit, "repeats": 0})
            best["wall"] = min(best["wall"], fit["wall"])
            best["cpu"] = min(best["cpu"], fit["cpu"])
            best["repeats"] += 1

    def named(self, event: str) -> list[dict]:
        return [line for line in self.events if line["event"] == event]

    def unfinished(self) -> dict | None:
        """The fit during which the worker was killed, with the CPU seconds it had used."""
        started, finished = self.named("start"), self.named("fit")
        if self.status != "capped" or len(started) == len(finished):
            return None
        last = started[-1]
        return {
            "tol": last["tol"],
            "wall": self.cap,
            "cpu": self.cpu - last["cpu"],
        }


@contextmanager
def handed_over(problem):
    """A folder with the arrays in both memory orders (written when first asked for)."""
    with tempfile.TemporaryDirectory(prefix="rowsparse-bench-") as folder:
        yield Handover(problem, Path(folder))


class Handover:
    def __init__(self, problem, folder: Path):
        self.problem, self.folder = problem, folder
        np.save(folder / "Y.npy", problem.Y)
        if problem.labels is not None:
            np.save(folder / "labels.npy", problem.labels)

    def in_order(self, layout: str) -> str:
        path = self.folder / f"X_{layout}.npy"
        if not path.exists():
            np.save(path, np.asarray(self.problem.X, order=layout))
        return str(self.folder)


def run_job(environment: Environment, job: dict, setting: Setting, *, variables=None) -> Outcome:
    """Runs worker.py on the job in a new folder; the caller reads W files before the next job."""
    folder = Path(tempfile.mkdtemp(prefix="rowsparse-job-"))
    (folder / "job.json").write_text(json.dumps(job))
    if environment.python is None:
        return Outcome(folder, [], "failed", f"environment not built: {environment.error}")
    command = [environment.python, str(WORKER), str(folder / "job.json")]
    with open(folder / "output.txt", "w") as output, _burning(setting.busy):
        before = _children_cpu()
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env=_variables(environment, setting, variables)
        )
        try:
            code = process.wait(timeout=STARTUP_CAP + MOST_CAPS * job.get("cap", 0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = -signal.SIGALRM
        except BaseException:
            process.kill()
            process.wait()
            raise
        cpu = _children_cpu() - before
    status = "ok" if code == 0 else "capped" if code == -signal.SIGALRM else "failed"
    error = ""
    if status == "failed":
        error = _last_line(folder / "output.txt") if code > 0 else f"ended by signal {-code}"
    return Outcome(folder, _events(folder), status, error, cpu, job.get("cap", 0))


def _children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@contextmanager
def _burning(busy: bool):
    """One process per core that does nothing but use it."""
    burners = []
    if busy:
        command = [sys.executable, "-c", "while True: pass"]
        burners = [subprocess.Popen(command) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def _variables(environment, setting, extra):
    variables = {k: v for k, v in os.environ.items() if k not in THREAD_VARIABLES}
    if environment.name != OWN:
        variables.pop("PYTHONPATH", None)
    if setting.threads != "default":
        variables.update(dict.fromkeys(THREAD_VARIABLES, setting.threads))
    return {**variables, **(extra or {})}


def _events(folder):
    log = folder / "log.jsonl"
    if not log.exists():
        return []
    lines = log.read_text().splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


def _last_line(path):
    lines = path.read_text(errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "no message"
