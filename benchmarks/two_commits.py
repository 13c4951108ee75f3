"""Old and new interleaved: every figure of the benchmark pages that is ours, for two clones.

    python benchmarks/two_commits.py OLD/src NEW/src [--rounds 5] [--only mtfs] [--page FILE.md]

One process per clone stays alive and is asked by turns for one fit, so both meet the same machine.
Best of the rounds, wall and CPU; the objectives (or another number of the answer) stand beside.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from objective import alpha_max  # noqa: E402
from problems import DATA, real, standardise, synthetic  # noqa: E402

LONG = 3.0  # seconds: such fits are asked for fewer times


def centred(name: str):
    return synthetic(*map(int, name.split("x"))) if name[0].isdigit() else real(name)


def labelled(name: str):
    with np.load(DATA / f"{name}.npz") as file:
        return np.asarray(file["X"], dtype=float), file["y"]


def l2p(name: str, divisor: float, p=1.0, r=2.0, init="zero", solver="BlockDescent", tol=1e-6):
    from rowsparse import L2pSelector, solvers

    data = centred(name)
    alpha = alpha_max(data.X, data.Y, p=p) / divisor if divisor else 1.0 / len(data.X)
    selector = L2pSelector(
        alpha=alpha, p=p, r=r, fit_intercept=False, standardize=False, init=init,
        solver=getattr(solvers, solver)(tol=tol), task="regression",
    )  # fmt: skip
    X = np.asfortranarray(data.X)
    return lambda: selector.fit(X, data.Y).solution_.objective


def l2p_default(name: str, k: int):
    from rowsparse import L2pSelector

    X, y = labelled(name)
    return lambda: L2pSelector(n_features_to_select=k).fit(X, y).solution_.objective


def lpinf(divisor: float, p: float, tol: float):
    from rowsparse import LpInfSelector
    from rowsparse.solvers import BlockDescent

    data = centred("GLIOMA")
    X = np.asfortranarray(standardise(data.X))
    top = np.abs(X.T @ data.Y).sum(axis=1).max() / len(X)
    selector = LpInfSelector(
        alpha=top / divisor, p=p, fit_intercept=False, standardize=False, task="regression",
        solver=BlockDescent(tol=tol, max_iter=1_000_000),
    )  # fmt: skip
    return lambda: selector.fit(X, data.Y).solution_.objective


def top_k(name: str, k: int, **options):
    from rowsparse import TopKSelector

    data = centred(name)
    X = np.asfortranarray(data.X)
    selector = TopKSelector(k, fit_intercept=False, standardize=False, task="regression", **options)
    return lambda: selector.fit(X, data.Y).solution_.objective


def zero_norm(name: str, **options):
    from rowsparse import ZeroNormSVC

    X, y = labelled(name)
    return lambda: ZeroNormSVC(**options).fit(X, y).solution_.objective


def tall_svm(**options):
    from rowsparse import ZeroNormSVC

    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 40))
    y = X[:, 0] - X[:, 1] + rng.standard_normal(3000) > 0
    return lambda: ZeroNormSVC(**options).fit(X, y).solution_.objective


def probit(name: str, k: int):
    from rowsparse import ProbitSelector

    X, y = labelled(name)
    return lambda: ProbitSelector(n_features_to_select=k).fit(X, y).solution_.objective


def score(name: str, filter_name: str, *arguments, **options):
    from rowsparse import filters

    X, y = labelled(name)
    function = getattr(filters, filter_name)

    def run() -> float:
        answer = function(X, y, *arguments, **options)
        return float(np.sum(answer if isinstance(answer, np.ndarray) else answer[0]))

    return run


def cases() -> dict:
    """Name -> a function that prepares the fit and returns it."""
    found = {}
    for name, divisors in {
        "ISOLET1": (10, 50), "ALLAML": (10, 50), "500x20000x10": (10, 50),
        "100000x500x5": (10,), "2000x1000x5": (10, 50),
    }.items():  # fmt: skip
        for divisor in divisors:
            found[f"mtfs {name} /{divisor}"] = lambda n=name, d=divisor: l2p(n, d)
    for name in ("ALLAML", "GLIOMA", "TOX_171", "ISOLET1", "warpPIE10P"):
        for init in ("best", "zero"):
            found[f"l2half {name} /20 {init}"] = lambda n=name, i=init: l2p(n, 20, 0.5, init=i)
    found["l2half ALLAML /20 IRLS"] = lambda: l2p("ALLAML", 20, 0.5, init="irls", solver="IRLS")
    found["rfs ALLAML"] = lambda: l2p("ALLAML", 0, 1.0, 1.0)
    found["rfs GLIOMA"] = lambda: l2p("GLIOMA", 0, 1.0, 1.0)
    found["default L2p ALLAML k=10"] = lambda: l2p_default("ALLAML", 10)
    found["default L2p ISOLET1 k=10"] = lambda: l2p_default("ISOLET1", 10)
    for divisor in (2, 10, 50):
        found[f"lpinf GLIOMA /{divisor}"] = lambda d=divisor: lpinf(d, 1.0, 1e-4)
    found["lpinf GLIOMA /10 p=.5"] = lambda: lpinf(10, 0.5, 1e-6)
    for name, k in (
        ("ALLAML", 10), ("GLIOMA", 10), ("ISOLET1", 10), ("ISOLET1", 50), ("TOX_171", 10),
        ("TOX_171", 50), ("warpPIE10P", 10), ("warpPIE10P", 50), ("500x20000x10", 50),
    ):  # fmt: skip
        found[f"topk {name} k={k}"] = lambda n=name, k=k: top_k(n, k, r=2.0)
    found["topk ISOLET1 k=50 forward"] = lambda: top_k("ISOLET1", 50, r=2.0, n_init=0, polish=False)
    found["topk GLIOMA k=12 r=1"] = lambda: top_k("GLIOMA", 12, r=1.0)
    found["topk TOX_171 k=12 r=1"] = lambda: top_k("TOX_171", 12, r=1.0)
    for name, k in (
        ("colon_alon", 10), ("ALLAML", 10), ("lymphoma_62", 10), ("Sonar", 10), ("BCW_original", 4),
    ):  # fmt: skip
        found[f"zeronorm {name}"] = lambda n=name: zero_norm(n)
        found[f"zeronorm {name} k={k}"] = lambda n=name, k=k: zero_norm(n, n_features_to_select=k)
        found[f"zeronorm {name} C=10"] = lambda n=name: zero_norm(n, C=10.0)
        found[f"probit {name} k={k}"] = lambda n=name, k=k: probit(n, k)
    found["zeronorm 3000x40"] = lambda: tall_svm()
    found["zeronorm 3000x40 norm=2"] = lambda: tall_svm(C=2.0, norm=2, standardize=False)
    for name in ("ALLAML", "ISOLET1"):
        for filter_name, arguments, options in (
            ("relieff", (), {}), ("mrmr", (50,), {"criterion": "fcq"}), ("mrmr", (50,), {}),
            ("f_score", (), {}), ("fisher_score", (), {}), ("information_gain", (), {}),
            ("svm_rfe", (50,), {}),
        ):  # fmt: skip
            label = " ".join([filter_name, *options.values()])
            prepare = partial(score, name, filter_name, *arguments, **options)
            found[f"filter {label} {name}"] = prepare
    return found


def serve() -> None:
    """Answer requests for one fit, one line of JSON each."""
    warnings.simplefilter("ignore")
    known, label, fit = cases(), None, None
    for line in sys.stdin:
        wanted = line.strip()
        if wanted != label:
            label, fit = wanted, known[wanted]()
            fit()  # pays for imports and compilation
        wall, cpu = time.perf_counter(), time.process_time()
        value = fit()
        facts = [time.perf_counter() - wall, time.process_time() - cpu, float(value)]
        print(json.dumps(facts), flush=True)


class Clone:
    """A process with one clone's package."""

    def __init__(self, source: str):
        environment = os.environ | {"PYTHONPATH": str(Path(source).resolve())}
        command = [sys.executable, str(Path(__file__).resolve()), "serve"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def ask(self, case: str) -> list[float]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(case + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    clones = Clone(options.old), Clone(options.new)
    lines = [
        "| case | old s | new s | new / old wall | CPU | old answer | new answer |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for case in cases():
        if options.only not in case:
            continue
        runs: tuple[list, list] = ([], [])
        for round_ in range(options.rounds):
            for clone, found in zip(clones, runs, strict=True):
                found.append(clone.ask(case))
            if min(found[0] for found in runs[0]) > LONG and round_ >= 1:
                break
        old, new = ([min(run[i] for run in found) for i in (0, 1)] for found in runs)
        lines.append(
            f"| {case} | {old[0]:.4f} | {new[0]:.4f} | {new[0] / old[0]:.2f} | "
            f"{new[1] / old[1]:.2f} | {runs[0][-1][2]:.8g} | {runs[1][-1][2]:.8g} |"
        )
        print(lines[-1], flush=True)
    if options.page:
        options.page.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        serve()
    else:
        main()
