"""SIGINT at random moments of a fit: KeyboardInterrupt or a kept best point, and nothing else.

A child process fits again and again; the parent sends one SIGINT to each fit after a random part
of the time that the fit takes. The child then looks at what is left behind.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import rowsparse as rs
from rowsparse import solvers

from . import fits
from .driver import ROOT

WANTED = ("KeyboardInterrupt", "kept", "before_the_fit", "after_the_fit")

MODELS: dict[str, Callable[[], Any]] = {
    "l2p": lambda: rs.L2pSelector(8),
    "robust": lambda: rs.L2pSelector(8, r=1.0),
    "irls": lambda: rs.L2pSelector(alpha=0.01, r=1.0, solver=solvers.IRLS()),
    "gradient": lambda: rs.L2pSelector(alpha=0.01, p=1.0, solver=solvers.ProximalGradient()),
    "lpinf": lambda: rs.LpInfSelector(8),
    "topk": lambda: rs.TopKSelector(8),
    "topk robust": lambda: rs.TopKSelector(4, r=1.0, n_init=1),
    "alm": lambda: rs.TopKSelector(4, r=1.0, n_init=1, solver=solvers.ALM()),
    "sfs": lambda: rs.TopKSelector(4, solver=solvers.SFS()),
    "svc": lambda: rs.ZeroNormSVC(),
    "svc k": lambda: rs.ZeroNormSVC(n_features_to_select=5),
    "svc 1": lambda: rs.ZeroNormSVC(norm=1.0),
    "svc inf": lambda: rs.ZeroNormSVC(norm=np.inf),
    "probit": lambda: rs.ProbitSelector(),
    "kernel svc": lambda: rs.ZeroNormKernelSVC(),
    "kernel probit": lambda: rs.ProbitKernelClassifier(),
    **{
        name: lambda name=name: rs.ScoreSelector(name, 8)
        for name in ("f", "relieff", "mrmr", "information_gain", "svm_rfe", "arom", "fsv")
    },
}


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 300))
    y = np.arange(90) % 3
    X[:, :6] += y[:, None] * rng.standard_normal(6)
    return X, y


def work(names: list[str], rounds: int) -> None:
    """The child: announces each fit with a line, and says in the next what came of it."""
    came = Signals()
    X, y = data()
    threads = fits.threads()
    for name in names:
        model = MODELS[name]()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = MODELS[name]().fit(X, y)  # everything is compiled
            began = time.perf_counter()
            MODELS[name]().fit(X, y)
        took = time.perf_counter() - began
        for _ in range(rounds):
            parameters = set(vars(model))
            words = "fit", name.replace(" ", "_"), took
            outcome = came.during(words, lambda model=model: model.fit(X, y))
            if fits.threads() != threads:
                outcome = "threads left limited"
            elif outcome in WANTED and set(vars(model)) != parameters:
                outcome = _usable(model, X) or outcome
            print("was", outcome.replace(" ", "_"), flush=True)
            model = MODELS[name]()
        again = _quietly(lambda model=model: model.fit(X, y))
        if not np.array_equal(again.support_, expected.support_):
            print("was", "another_result_afterwards", flush=True)


class Signals:
    """Counts the interrupts; each round must get exactly one."""

    def __init__(self) -> None:
        self.count = 0
        self.seen = 0
        self.armed = False  # outside of a round an interrupt is counted and ends nothing
        signal.signal(signal.SIGINT, self._count)

    def _count(self, *_: object) -> None:
        self.count += 1
        if self.armed:
            raise KeyboardInterrupt

    def during(self, words: tuple[Any, ...], fit: Callable[[], Any]) -> str:
        """Announce a fit, carry it out, and say how it ended."""
        outcome = "before_the_fit"  # the parent may be as quick as that
        try:
            self.armed = True
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                print(*words, flush=True)
                outcome = "KeyboardInterrupt"
                fit()
            if self.count == self.seen:
                outcome = "after_the_fit"
            else:
                told = any(issubclass(one.category, ConvergenceWarning) for one in caught)
                outcome = "kept" if told else "swallowed"
        except KeyboardInterrupt:
            pass
        except BaseException as error:
            outcome = f"{type(error).__name__} {str(error)[:60]}"
        self.armed = False
        while self.count == self.seen:
            time.sleep(0.01)
        if signal.getsignal(signal.SIGINT) != self._count:
            outcome = "handler not restored"
        self.seen = self.count
        return outcome


def _quietly(fit: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit()


def _usable(model: Any, X: np.ndarray) -> str:
    """Nothing if the estimator is not fitted, or fitted wholly."""
    try:
        _quietly(lambda: model.predict(X) if hasattr(model, "predict") else model.transform(X))
    except NotFittedError:
        return "attributes without a fit"
    except Exception as error:
        return f"half fitted: {type(error).__name__}"
    return ""


def attack(names: list[str], rounds: int, seed: int = 0) -> Counter[str]:
    """Send the interrupts, count what came of them by model."""
    chance = random.Random(seed)
    command = [sys.executable, "-m", "tests.fuzz", "interrupted", str(rounds), *names]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    found: Counter[str] = Counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment)
    name = ""
    assert child.stdout is not None
    with child:
        for line in child.stdout:
            kind, what, *seconds = line.split()
            if kind == "was":
                found[what if what in WANTED else f"{name}: {what}"] += 1
                continue
            name = what
            time.sleep(chance.random() * float(seconds[0]))
            child.send_signal(signal.SIGINT)
    if child.returncode:
        found[f"{name}: child ended with {child.returncode}"] += 1
    return found


def failures(found: Counter[str]) -> dict[str, int]:
    return {what: count for what, count in found.items() if what not in WANTED}
