"""l_{p,inf}: the prox against sorting, and p = 1 on GLIOMA against spams.

    python benchmarks/lpinf/run.py            # about five minutes; writes RESULTS_lpinf.md
    python benchmarks/lpinf/run.py --prox     # the prox alone, printed

Both solvers get the same standardised X (no intercept) and climb their own tolerance; the objective
and the duality gap of every returned W are computed here, by one formula for both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # one thread for everybody
    os.environ[name] = "1"

import numpy as np  # noqa: E402

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from environments import prepare_environments  # noqa: E402

from rowsparse import LpInfSelector  # noqa: E402
from rowsparse.numerics.clip import clip_rows  # noqa: E402
from rowsparse.solvers import BlockDescent, ProximalGradient  # noqa: E402

DATA = Path(os.environ.get("ROWSPARSE_DATA", HERE.parents[2] / "shared" / "data"))
FRACTIONS = (0.5, 0.1, 0.02)
TOLERANCES = {"spams": (1e-3, 1e-4, 1e-5), "rowsparse": (1e-2, 1e-3, 1e-4, 1e-8)}
CAP = 100.0
REPEATS = 3


def best_of(function, repeats):
    runs = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        result = function()
        runs.append((time.perf_counter() - wall, time.process_time() - cpu))
    return result, min(wall for wall, _ in runs), min(cpu for _, cpu in runs)


# -- the prox -------------------------------------------------------------------------------------


def prox_table() -> str:
    Z = np.random.default_rng(0).standard_normal((100_000, 26))
    _, _, sorting = best_of(lambda: np.sort(Z, axis=1), 9)
    lines = [
        "100,000 rows × 26, standard normal, ms of CPU; `np.sort` of the same rows: "
        f"{1e3 * sorting:.1f} ms.",
        "",
        "| p | rho | rows kept | ms | times np.sort |",
        "| --- | --- | --- | --- | --- |",
    ]
    for p in (0.5, 0.25, 2 / 3, 1.0, 0.0):
        for rho in (0.01, 1.0, 5.0, 8.0, 10.0, 100.0):
            U, _, cpu = best_of(lambda p=p, rho=rho: clip_rows(Z, rho, p), 7)
            kept = np.mean(U.any(axis=1))
            lines.append(
                f"| {p:.3g} | {rho:g} | {kept:.0%} | {1e3 * cpu:.0f} | {cpu / sorting:.1f} |"
            )
    return "\n".join(lines)


# -- GLIOMA, p = 1 --------------------------------------------------------------------------------


def glioma() -> tuple[np.ndarray, np.ndarray]:
    with np.load(DATA / "GLIOMA.npz") as file:
        X, y = np.asarray(file["X"], dtype=float), file["y"]
    X = X[:, X.std(axis=0) > 0]
    Y = np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    return np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0)), Y - Y.mean(axis=0)


def objective_and_gap(X, Y, W, alpha):
    """1/(2n)|XW - Y|**2 + alpha sum_j max_k |W_jk|, and its distance to the best scaled dual."""
    n = len(X)
    E = X @ W - Y
    value = np.vdot(E, E) / (2 * n) + alpha * np.abs(W).max(axis=1).sum()
    excess = np.abs(X.T @ E).sum(axis=1).max() / (n * alpha)
    scale = min(1 / excess, -np.vdot(E, Y) / np.vdot(E, E))
    dual = -(scale * np.vdot(E, Y) + scale**2 / 2 * np.vdot(E, E)) / n
    return value, value - dual


def ours(solver):
    def solve(X, Y, alpha, tol):
        def fit():
            return LpInfSelector(
                alpha=alpha, p=1.0, fit_intercept=False, standardize=False, task="regression",
                solver=solver(tol=tol, max_iter=1_000_000),
            ).fit(X, Y)  # fmt: skip

        selector, wall, cpu = best_of(fit, REPEATS)
        return np.asarray(selector.coef_).T, wall, cpu

    return solve


def spams(python):
    def solve(X, Y, alpha, tol):
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/X.npy", X)
            np.save(f"{folder}/Y.npy", Y)
            command = [python, str(HERE / "rival.py"), folder, repr(alpha), repr(tol)]
            runs = _runs([*command, "1"])
            if runs[0][0] < 5:
                runs += _runs([*command, str(REPEATS - 1)])
            W = np.load(f"{folder}/W.npy")
        return W, min(wall for wall, _ in runs), min(cpu for _, cpu in runs)

    return solve


def _runs(command) -> list:
    done = subprocess.run(command, capture_output=True, text=True, timeout=CAP, check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("RUNS "))
    return json.loads(line[5:])


def glioma_table() -> str:
    spams_env = prepare_environments(["spams"])["spams"]
    X, Y = glioma()
    top = np.abs(X.T @ Y).sum(axis=1).max() / len(X)
    contestants = {"rowsparse BlockDescent": (ours(BlockDescent), TOLERANCES["rowsparse"])}
    contestants["rowsparse ProximalGradient"] = (ours(ProximalGradient), (1e-3, 1e-5))
    if spams_env.python is not None:
        version = spams_env.versions.get("spams-bin", "?")
        name = f"spams-bin {version} fistaFlat"
        contestants[name] = (spams(spams_env.python), TOLERANCES["spams"])
    lines = [
        "| fraction | contestant | tol | wall s | CPU s | objective | relative gap | rows |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    LpInfSelector(alpha=0.5 * top, p=1.0, task="regression").fit(X, Y)  # compile or load
    for fraction in FRACTIONS:
        for name, (solve, tolerances) in contestants.items():
            for tol in tolerances:
                lines.append(_line(fraction, name, tol, X, Y, fraction * top, solve))
                print(lines[-1], flush=True)
                if "> " in lines[-1]:
                    break
    return "\n".join(lines)


def _line(fraction, name, tol, X, Y, alpha, solve) -> str:
    try:
        W, wall, cpu = solve(X, Y, float(alpha), tol)
    except subprocess.TimeoutExpired:
        return f"| {fraction:g} | {name} | {tol:.0e} | > {CAP:g} | - | - | - | - |"
    value, gap = objective_and_gap(X, Y, W, alpha)
    rows = np.count_nonzero(W.any(axis=1))
    cells = f"{wall:.3f} | {cpu:.3f} | {value:.9f} | {gap / value:.1e} | {rows}"
    return f"| {fraction:g} | {name} | {tol:.0e} | {cells} |"


def main() -> None:
    prox = prox_table()
    print(prox, flush=True)
    if "--prox" in sys.argv:
        return
    load = os.getloadavg()[2]  # on a busy machine CPU seconds are the ones to compare
    page = (
        "# l_{p,inf}\n\nWritten by `python benchmarks/lpinf/run.py`; one thread, best of "
        f"{REPEATS} (a spams fit over 5 s: one); load {load:.0f}.\n\n## The prox\n\n{prox}\n\n"
        "## GLIOMA (50 × 4434, 4 classes), p = 1\n\nfraction = alpha / alpha_max\n\n"
        f"{glioma_table()}\n"
    )
    (HERE / "RESULTS_lpinf.md").write_text(page)


if __name__ == "__main__":
    main()
