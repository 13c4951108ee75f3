"""The best k rows for squared loss: objective and time of ours and of the rivals, in one run.

    python benchmarks/topk/run.py                       # all cases -> RESULTS_topk.md
    python benchmarks/topk/run.py --case ALLAML --repeats 3
    python benchmarks/topk/run.py --path                # only the path over k (few seconds)
    python benchmarks/topk/run.py --report              # write the tables again

Every contestant runs in a process of its own with data from .npy files; the objective of what it
chose is ``1/2 |XW - Y|**2`` after least squares on those columns, computed here for all alike.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # one thread for everybody
    os.environ[name] = "1"

import numpy as np  # noqa: E402

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from environments import prepare_environments  # noqa: E402
from problems import real, synthetic  # noqa: E402

CASES = [
    ("ALLAML", 10), ("GLIOMA", 10), ("ISOLET1", 10), ("ISOLET1", 50), ("TOX_171", 10),
    ("TOX_171", 50), ("warpPIE10P", 10), ("warpPIE10P", 50), ("500x20000x10", 50),
]  # fmt: skip
RIVALS = ["fastcan", "abess", "abess path", "OMP", "skscope"]
OURS = ["rowsparse forward", "rowsparse"]
PATHS = [
    ("ISOLET1", 50, 2.0), ("TOX_171", 50, 2.0), ("warpPIE10P", 50, 2.0),
    ("GLIOMA", 12, 1.0), ("ALLAML", 12, 1.0), ("TOX_171", 12, 1.0),
]  # fmt: skip
RESULTS = HERE / "results.jsonl"
PATH_RESULTS = HERE / "results_path.jsonl"
PAGE = HERE / "RESULTS_topk.md"
CAP = 120  # wall seconds of one contestant on one case


def problem(name: str):
    return synthetic(500, 20_000, 10) if name[0].isdigit() else real(name)


def objective(X, Y, chosen) -> float:
    A = X[:, chosen]
    E = Y - A @ np.linalg.lstsq(A, Y, rcond=None)[0]
    return 0.5 * float(np.vdot(E, E))


def measure(case, k, contestants, pythons, repeats: int, busy: bool = False) -> list[dict]:
    data = problem(case)
    records = []
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "X.npy"), data.X)
        np.save(Path(folder, "Y.npy"), data.Y)
        for name in contestants:
            python = pythons["own" if name in OURS else "topk"]
            command = [python, str(HERE / "worker.py"), name, folder, str(k), str(repeats)]
            record = {"case": case, "k": k, "contestant": name, "busy": busy}
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=CAP, check=True
                )
                facts = json.loads(done.stdout.strip().splitlines()[-1])
                chosen = facts.pop("chosen")
                record |= facts | {"objective": objective(data.X, data.Y, chosen)}
                record["size"] = len(chosen)
            except subprocess.TimeoutExpired:
                record["error"] = f"> {CAP} s"
            except subprocess.CalledProcessError as failure:
                lines = failure.stderr.strip().splitlines() or ["died"]
                record["error"] = lines[-1][:80]
            records.append(record)
            print(record, flush=True)
    return records


def measure_path(case: str, k: int, r: float, python: str, repeats: int, busy: bool) -> dict:
    """The path over 1..k against k alone, by turns in one process."""
    data = problem(case)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "X.npy"), data.X)
        np.save(Path(folder, "Y.npy"), data.Y)
        command = [python, str(HERE / "path_worker.py"), folder, str(k), str(r), str(repeats)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    record = {"case": case, "k": k, "r": r, "busy": busy} | json.loads(done.stdout)
    print(record, flush=True)
    return record


def path_table() -> list[str]:
    """CPU seconds of the path over k beside those of its largest k."""
    if not PATH_RESULTS.exists():
        return []
    lines = [
        "",
        "## The path over k",
        "",
        "`selection_path(TopKSelector(k, r=r, ridge=0), X, y, ks=range(1, k + 1))` against the "
        "fit of the largest k alone, CPU seconds, best of the repeats; written by `run.py --path`. "
        "Of the path's time, the proof is that of its two smallest k (k = 2: all pairs, r = 2). "
        "Objectives are those of the largest k: 1/(r n) times the sum.",
        "",
        "| data, k, r | k alone | path 1…k | ratio | proof | objective alone | objective, path |",
        "|" + " --- |" * 7,
    ]
    for record in map(json.loads, PATH_RESULTS.read_text().splitlines()):
        alone, path, proof = record["alone"], record["path"], record["proof"]
        mark = " (busy)" if record["busy"] else ""
        lines.append(
            f"| {record['case']}, {record['k']}, {record['r']:g} | {alone:.2f} | {path:.2f}{mark} "
            f"| {path / alone:.2f} | {proof:.2f} | {record['objective_alone']:.5f} "
            f"| {record['objective_path']:.5f} |"
        )
    return lines


def merged(new: list[dict]) -> list[dict]:
    old = []
    if RESULTS.exists():
        old = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    again = {(r["case"], r["k"], r["contestant"]) for r in new}
    return [r for r in old if (r["case"], r["k"], r["contestant"]) not in again] + new


def page(records: list[dict], versions: dict) -> str:
    table = {(r["case"], r["k"], r["contestant"]): r for r in records}
    names = [*RIVALS, *OURS]
    lines = [
        "# Top-k rows, squared loss",
        "",
        "Written by `python benchmarks/topk/run.py`. Objective 1/2 |XW - Y|² after least squares "
        "on the chosen columns, below it CPU seconds (best of the repeats, warm, one thread; other "
        "work ran on the machine). Targets are the ±1 one-hot matrix, centred; two classes have "
        "two columns. X standardised, float64 in Fortran order. `rowsparse` is `TopKSelector(k, "
        "r=2, ridge=0)`, so that all minimise the same; `rowsparse forward` has `n_init=0, "
        "polish=False` too. abess path: sizes 1…k, no penalty on the size. OMP: simultaneous OMP "
        "in NumPy (scikit-learn's gives every output its own columns). skscope was not run again: "
        "its times are older, on two threads.",
        "",
        "Versions: " + ", ".join(f"{n} {v}" for n, v in sorted(versions.items())) + ".",
        "",
        "| data, k | "
        + " | ".join(names)
        + " | best rival − ours | time ÷ fastcan (forward, default) |",
        "|" + " --- |" * (len(names) + 3),
    ]
    for case, k in CASES:
        row = [table.get((case, k, name)) for name in names]
        if any(row):
            lines.append(f"| {case}, {k} | " + " | ".join(map(_cell, row)) + _verdict(row) + " |")
    return "\n".join(lines + path_table()) + "\n"


def _cell(record: dict | None) -> str:
    if record is None:
        return "–"
    if "error" in record:
        return record["error"].replace("|", "/")
    mark = " (busy)" if record.get("busy") else ""
    return f"{record['objective']:.4f}<br>{record['cpu']:.3f}{mark}"


def _verdict(row) -> str:
    fine = [r for r in row[: len(RIVALS)] if r and "error" not in r]
    ours, forward, fast = row[-1], row[-2], row[0]
    if not fine or not ours or "error" in ours:
        return " | – | –"
    best = min(r["objective"] for r in fine)
    ratio = "–"
    if fast and forward and "error" not in fast:
        ratio = f"{forward['cpu'] / fast['cpu']:.2f}, {ours['cpu'] / fast['cpu']:.2f}"
    return f" | {best - ours['objective']:+.4f} | {ratio}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--case", action="append", help="e.g. ALLAML; may be repeated")
    parser.add_argument("--contestant", action="append")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--busy", action="store_true", help="mark times of a busy machine")
    parser.add_argument("--path", action="store_true", help="only the path over k")
    parser.add_argument("--report", action="store_true", help="only write the page again")
    options = parser.parse_args()
    environments = prepare_environments(["topk"])
    pythons = {name: e.python for name, e in environments.items()}
    records = merged([])
    if options.path or not (options.report or options.case or options.contestant):
        own = pythons["own"], options.repeats, options.busy
        paths = [measure_path(*case, *own) for case in PATHS]
        PATH_RESULTS.write_text("".join(json.dumps(r) + "\n" for r in paths))
    if not options.report and not options.path:
        for case, k in CASES:
            if options.case and case not in options.case:
                continue
            names = options.contestant or [*RIVALS, *OURS]
            found = measure(case, k, names, pythons, options.repeats, options.busy)
            records = merged(found)
            RESULTS.write_text("".join(json.dumps(r) + "\n" for r in records))
    versions = {"python": platform.python_version(), "cores": str(os.cpu_count())}
    for environment in environments.values():
        versions |= {n: v for n, v in environment.versions.items() if n not in versions}
    PAGE.write_text(page(records, versions))


if __name__ == "__main__":
    main()
