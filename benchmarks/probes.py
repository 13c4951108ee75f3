"""The groups that ask one question each: irls_printed, shift, scaling, coldstart."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace

import numpy as np
import printed_irls
from bench import judge
from contestants import CONTESTANTS, Task
from jobs import handed_over
from objective import alpha_max, objective
from problems import real, synthetic


def irls_printed(bench):
    """The paper's dense d x d iteration against rowsparse's IRLS, stop at 1e-4 relative change."""
    problem = real("ALLAML")
    X, Y = problem.X, problem.Y
    half = alpha_max(X, Y, p=0.5)
    alphas = {"lambda = 1 (paper)": 1 / (2 * len(X)), "alpha_max/20": half / 20}
    for label, alpha in list(alphas.items())[: 1 if bench.quick else None]:
        case, task = f"ALLAML p=1/2, {label}", Task(alpha, p=0.5)
        if not bench.wants(case):
            continue
        with handed_over(problem) as data:
            for name in bench.chosen(["rowsparse IRLS()"]):
                yield from bench.settle("irls_printed", case, name, data, task, [1e-4, 1e-6])
            for name in bench.chosen(["printed d×d"]):
                yield _printed_record(bench, case, name, data, task)


def _printed_record(bench, case, name, data, task):
    """Times as many iterations as the cap allows; the rest is extrapolated, and marked so."""
    X, Y = data.problem.X, data.problem.Y
    cap = 40.0 if bench.quick else bench.cap
    outcome = bench.start(name, data, task, "printed", cap=cap, tolerances=[1e-4])
    record = bench.common("irls_printed", case, name, task)
    timed = outcome.named("iteration")
    if not timed:
        error = outcome.error or "no iteration within the cap"
        record.update(status="failed", error=error)
    else:
        W, _, needed = printed_irls.until_settled(
            printed_irls.small_system(X, Y, task.alpha * task.r * len(X), task.r, task.p),
            lambda W: objective(X, Y, W, alpha=task.alpha, r=task.r, p=task.p),
            tol=1e-4,
        )
        share = needed / len(timed)
        record.update(
            status="ok",
            entry=True,
            tol=1e-4,
            wall=timed[-1]["wall"] * share,
            cpu=timed[-1]["cpu"] * share,
            iterations_timed=len(timed),
            iterations_needed=needed,
            repeats=1,
            **judge(data, task, W),
        )
        print(f"{case:28s} {name:18s} {len(timed)} of {needed} iterations timed", flush=True)
    shutil.rmtree(outcome.folder)
    return record


def shift(bench):
    """X + 0, 5, 1000 with an intercept: neither the answer nor the time should change."""
    sources = [lambda: synthetic(200, 40, 3, informative=10), lambda: real("ISOLET1")]
    for source in sources[: 1 if bench.quick else None]:
        base = source()
        task = Task(alpha_max(base.X, base.Y) / 10, fit_intercept=True)
        if not bench.wants(base.name):
            continue
        for name in bench.chosen(["rowsparse", "sklearn", "skglm"]):
            yield from _shifted(bench, base, name, task)


def _shifted(bench, base, name, task):
    """The tolerance is the one that reaches the gap on unshifted data; it is then kept."""
    reference, tol = None, None
    for offset in (0.0, 5.0, 1000.0):
        problem = replace(base, X=base.X + offset)
        with handed_over(problem) as data:
            case, kept = f"{base.name} X+{offset:g}", []
            if tol is None:
                records = bench.climb("shift", case, name, data, task, keep_w=kept)
            else:
                records = bench.run(
                    "shift", case, name, data, task, "fixed", keep_w=kept, tolerances=[tol]
                )
        chosen = next((i for i, r in enumerate(records) if r.get("entry")), None)
        if offset and records and records[0]["status"] == "ok":
            chosen = 0
        if chosen is not None:
            records[chosen]["entry"] = True
            reference = kept[chosen] if reference is None else reference
            tol = records[chosen]["tol"]
            difference = np.abs(kept[chosen] - reference).max()
            records[chosen]["coefficient_difference"] = float(difference)
        yield from records
        if tol is None:
            return


def scaling(bench):
    """Time and peak memory against d at n = 200, 20 informative rows, 0.3 alpha_max."""
    sizes = [2000, 10_000] if bench.quick else [2000, 6000, 20_000, 60_000, 200_000]
    for d in sizes:
        problem = synthetic(200, d, 5, informative=20)
        task = Task(0.3 * alpha_max(problem.X, problem.Y))
        case = f"d={d}"
        if not bench.wants(case):
            continue
        with handed_over(problem) as data:
            for name in bench.chosen(["rowsparse", "sklearn", "celer"]):
                records = bench.climb("scaling", case, name, data, task)
                for record in (r for r in records if r.get("entry")):
                    record["d"] = d
                    record["memory_over_x"] = _peak(bench, name, data, task, record["tol"])
                yield from records


def _peak(bench, name, data, task, tol):
    """Peak memory during a fit in a fresh process, above X and the warm library, in sizes of X."""
    outcome = bench.start(name, data, task, "peak", cap=bench.cap, tolerances=[tol])
    peaks = outcome.named("peak")
    shutil.rmtree(outcome.folder)
    return peaks[0]["bytes"] / peaks[0]["x_bytes"] if peaks else None


def coldstart(bench):
    """CPU seconds of a new process: import and first fit, 60 x 30 x 3, twice."""
    for name in bench.chosen(["rowsparse", "sklearn", "skglm", "celer", "skein", "adelie"]):
        with tempfile.TemporaryDirectory(prefix="rowsparse-numba-") as cache:
            for case in ("first process", "second process"):
                variables = {"NUMBA_CACHE_DIR": cache}
                outcome = bench.start(name, None, Task(1.0), "cold", variables=variables)
                record = bench.common("coldstart", case, name, Task(1.0))
                record.update(status=outcome.status, error=outcome.error, cpu=outcome.cpu)
                if outcome.named("done"):
                    record["wall"] = outcome.named("done")[0]["wall"]
                print(f"{case:28s} {name:18s} {outcome.cpu:.2f} CPU s {outcome.error}", flush=True)
                shutil.rmtree(outcome.folder)
                yield record
    if bench.chosen(["rowsparse"]):
        yield _import_record(bench)


def _import_record(bench):
    """`import rowsparse` once everything it uses of NumPy, SciPy and scikit-learn is loaded."""
    record = bench.common(
        "coldstart", "import rowsparse beyond NumPy, SciPy, scikit-learn", "rowsparse", Task(1.0)
    )
    python = bench.environments[CONTESTANTS["rowsparse"].environment].python
    listing = (
        "import json, sys, rowsparse\n"
        "roots = ('numpy', 'scipy', 'sklearn', 'joblib', 'threadpoolctl')\n"
        "print(json.dumps([m for m in sys.modules if m.split('.')[0] in roots]))"
    )
    timing = (
        "import contextlib, importlib, json, sys, time\n"
        "for module in json.loads(sys.argv[1]):\n"
        "    with contextlib.suppress(ImportError): importlib.import_module(module)\n"
        "wall, cpu = time.perf_counter(), time.process_time()\n"
        "import rowsparse\n"
        "print(time.perf_counter() - wall, time.process_time() - cpu)"
    )
    try:
        modules = json.loads(_answer(python, listing))
        runs = [_answer(python, timing, json.dumps(modules)).split() for _ in range(3)]
    except subprocess.CalledProcessError as failure:
        error = failure.stderr.strip().splitlines()[-1]
        return {**record, "status": "failed", "error": error}
    wall, cpu = (min(float(run[i]) for run in runs) for i in (0, 1))
    return {**record, "status": "ok", "wall": wall, "cpu": cpu}


def _answer(python, code, *arguments):
    command = [python or sys.executable, "-c", code, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
