"""Recipes in worker processes: a fit that hangs or kills the interpreter is one more finding."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import psutil

from . import fits, recipes

LIMIT = 30.0  # seconds of CPU for one recipe
LOOK = 2.0  # seconds between looks at what has been used
ROOT = Path(__file__).resolve().parents[2]


def recipe_of(seed: int, i: int) -> dict[str, Any]:
    return recipes.draw(np.random.default_rng([seed, i]))


def work() -> None:
    """A worker: reads recipes, one per line, writes what came of each."""
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=False)
    answers = os.fdopen(os.dup(1), "w")  # what a library prints goes elsewhere
    os.dup2(2, 1)
    for line in sys.stdin:
        outcome = fits.carried_out(json.loads(line))
        answer = {
            "status": outcome.status, "findings": outcome.findings,
            "refusal": outcome.refusal, "fits": outcome.fits, "checks": outcome.checks,
        }  # fmt: skip
        print(json.dumps(answer), file=answers, flush=True)


class Worker:
    """A process that carries out recipes, started anew when it has died."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def carried_out(self, recipe: dict[str, Any]) -> dict[str, Any]:
        process = self._alive()
        assert process.stdin is not None
        assert process.stdout is not None
        began = _cpu(process.pid)
        process.stdin.write(json.dumps(recipe).encode() + b"\n")
        process.stdin.flush()
        killed = self._killed_at_its_limit(began)
        line = process.stdout.readline()
        if line:
            return {**json.loads(line), "cpu": _cpu(process.pid) - began}
        process.wait()
        what = "timeout" if killed else f"crash {process.returncode}"
        findings = [(what, self._last_words())]
        return {"status": "failed", "findings": findings, "fits": 1, "checks": 1, "cpu": LIMIT}

    def _killed_at_its_limit(self, began: float) -> bool:
        """Wait for an answer; a process that uses too much CPU says where it is and is killed."""
        assert self.process is not None
        answer = [self.process.stdout]
        while not select.select(answer, [], [], LOOK)[0]:
            if _cpu(self.process.pid) - began > LIMIT:
                self.process.send_signal(signal.SIGUSR1)
                time.sleep(0.5)
                self.process.kill()
                return True
        return False

    def _alive(self) -> subprocess.Popen[bytes]:
        if self.process is None or self.process.poll() is not None:
            self.errors = tempfile.TemporaryFile()  # noqa: SIM115, as long as the process
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz", "work"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, cwd=ROOT,
                start_new_session=True,  # Ctrl-C ends the attack, after what is being carried out
            )  # fmt: skip
        return self.process

    def _last_words(self) -> str:
        """Where the worker was, from the traceback that faulthandler has written."""
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace")
        lines = [line.strip() for line in text.rpartition("most recent call first")[2].splitlines()]
        ours = [line.rpartition("/")[2] for line in lines if "/rowsparse/" in line]
        return " < ".join(ours[:3]) or text[-200:]

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


def _cpu(pid: int) -> float:
    with contextlib.suppress(psutil.Error):
        times = psutil.Process(pid).cpu_times()
        return times.user + times.system
    return 0.0


@dataclass
class Tally:
    """What the recipes of a seed have shown so far; kept in a file, so that a run can go on."""

    next: int = 0  # recipe
    fits: int = 0  # of the recipes and their twins
    checks: int = 0  # statements about these fits that were compared with something
    cpu: float = 0.0  # seconds of the worker: data, fits and checks
    counts: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    commits: Counter[str] = field(default_factory=Counter)  # recipes carried out by each

    @classmethod
    def of(cls, kept: dict[str, Any]) -> Tally:
        numbers = {name: kept[name] for name in ("next", "fits", "checks", "cpu")}
        counters = {name: Counter(kept[name]) for name in set(kept) - set(numbers)}
        return cls(**numbers, **counters)

    def add(self, recipe: dict[str, Any], answer: dict[str, Any], commit: str = "") -> None:
        self.counts[answer["status"]] += 1
        self.fits += answer["fits"]
        self.checks += answer["checks"]
        self.cpu += answer["cpu"]
        self.commits[commit] += 1
        for what, _ in answer["findings"]:
            self.kinds[f"{what} ({recipe['estimator']})"] += 1
        if answer.get("refusal"):
            self.refusals[f"{recipe['estimator']}: {answer['refusal']}"] += 1

    def __str__(self) -> str:
        recipes = f"{sum(self.counts.values())} recipes {dict(self.counts)}"
        lines = [f"{recipes}, {self.fits} fits, {self.checks} checks, {self.cpu:.0f} s CPU"]
        lines += [f"{count:6d}  {kind}" for kind, count in self.kinds.most_common()]
        return "\n".join(lines)


class Summary:
    """The tallies of all seeds in one JSON file; None keeps them nowhere."""

    def __init__(self, path: Path | None):
        self.path = path
        known = json.loads(path.read_text()) if path is not None and path.exists() else {}
        self.tallies = {seed: Tally.of(kept) for seed, kept in known.items()}

    def of(self, seed: int) -> Tally:
        return self.tallies.setdefault(str(seed), Tally())

    def write(self) -> None:
        if self.path is None:
            return
        partial = self.path.with_suffix(".partial")
        kept = {seed: vars(tally) for seed, tally in self.tallies.items()}
        partial.write_text(json.dumps(kept, indent=1) + "\n")
        partial.replace(self.path)


def commit() -> str:
    """Of the code under attack; with a plus where it has been changed since."""
    command = ["git", "describe", "--always", "--dirty=+"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return told.stdout.strip()


class Attack:
    """Recipes of one seed, carried out side by side until the time or their number is over."""

    def __init__(self, seed: int, summary: Summary, out: TextIO, seconds: float, most: int):
        self.seed = seed
        self.summary = summary
        self.tally = summary.of(seed)
        self.out = out
        self.ends = time.monotonic() + seconds
        self.left = most
        self.commit = commit()
        self.lock = threading.Lock()

    def run(self, jobs: int, only: str = "") -> None:
        with ThreadPoolExecutor(jobs) as pool:
            try:
                for running in [pool.submit(self._work, only) for _ in range(jobs)]:
                    running.result()
            except KeyboardInterrupt:  # by the person who has seen enough
                self.left = 0

    def _work(self, only: str) -> None:
        worker = Worker()
        try:
            while (drawn := self._next(only)) is not None:
                i, recipe = drawn
                self._note(i, recipe, worker.carried_out(recipe))
        finally:
            worker.close()

    def _next(self, only: str) -> tuple[int, dict[str, Any]] | None:
        with self.lock:
            while self.left > 0 and time.monotonic() < self.ends:
                i = self.tally.next
                self.tally.next += 1
                recipe = recipe_of(self.seed, i)
                if only in ("", recipe["estimator"]):
                    self.left -= 1
                    return i, recipe
        return None

    def _note(self, i: int, recipe: dict[str, Any], answer: dict[str, Any]) -> None:
        with self.lock:
            self.tally.add(recipe, answer, self.commit)
            self.summary.write()
            if answer["findings"]:
                line = {"seed": self.seed, "i": i, "findings": answer["findings"]}
                self.out.write(json.dumps({**line, "recipe": recipe}) + "\n")
                self.out.flush()


def attack(
    seed: int, seconds: float, most: int, out: TextIO, only: str = "",
    summary: Summary | None = None, jobs: int = 1,
) -> Tally:  # fmt: skip
    """Recipes of a seed, after those that the summary knows."""
    run = Attack(seed, summary or Summary(None), out, seconds, most)
    run.run(jobs, only)
    return run.tally
