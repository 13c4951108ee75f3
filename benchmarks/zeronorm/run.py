"""Times of the zero-norm classifiers and their rivals, in one run.

    python benchmarks/zeronorm/run.py            # everything -> RESULTS_zeronorm.md
    python benchmarks/zeronorm/run.py Colon      # one case, prints only

Best of fifteen (five, where they take over a second of CPU; one, where it takes over five), after
one that compiles.
Data come from the folder ROWSPARSE_DATA or where `rowsparse datasets fetch` put them.
"""

from __future__ import annotations

import os
import platform
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))
from experiments.frame import load  # noqa: E402
from experiments.zero_norm import printed  # noqa: E402
from rowsparse import ProbitSelector, ZeroNormKernelSVC, ZeroNormSVC  # noqa: E402
from rowsparse.filters import arom, fsv  # noqa: E402


def measured(function, repeats: int = 15) -> tuple[float, float]:
    """Wall and CPU seconds, the fewest of each: on a busy machine CPU is the one to compare."""
    function()  # compiles what is not yet compiled
    runs = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        function()
        runs.append((time.perf_counter() - wall, time.process_time() - cpu))
        if runs[-1][1] > 5 or (len(runs) >= 5 and sum(cpu for _, cpu in runs) > 1):
            break
    walls, cpus = zip(*runs, strict=True)
    return min(walls), min(cpus)


def selection(name: str, k: int) -> dict:
    """Ours, AROM (as printed, and dropping features), FSV and a plain SVM on one data set."""
    table = load(name)
    X, y = table.X, table.y
    S = StandardScaler().fit_transform(X)
    return {
        "ZeroNormSVC()": lambda: ZeroNormSVC().fit(X, y),
        f"ZeroNormSVC(k={k})": lambda: ZeroNormSVC(n_features_to_select=k).fit(X, y),
        "ZeroNormSVC(C=10)": lambda: ZeroNormSVC(C=10.0).fit(X, y),
        f"ZeroNormSVC(C=10, k={k})": lambda: ZeroNormSVC(k, C=10.0).fit(X, y),
        f"ProbitSelector(k={k})": lambda: ProbitSelector(n_features_to_select=k).fit(X, y),
        f"AROM as printed, k={k}": lambda: printed.arom(S, y, k),
        f"AROM of rowsparse, k={k}": lambda: arom(X, y, k),
        "FSV": lambda: fsv(X, y),
        'SVC(kernel="linear")': lambda: SVC(kernel="linear").fit(S, y),
    }


def tall(n: int) -> dict:
    """One plain machine on n x 40: the interior point is linear in n, libsvm is not."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 40))
    y = X[:, 0] - X[:, 1] + rng.standard_normal(n) > 0
    return {
        "ZeroNormSVC(C=2, norm=2)": lambda: ZeroNormSVC(C=2.0, norm=2, standardize=False).fit(X, y),
        "ZeroNormSVC()": lambda: ZeroNormSVC().fit(X, y),
        'SVC(kernel="linear")': lambda: SVC(kernel="linear").fit(X, y),
    }


def prediction() -> dict:
    """Decisions of 7000 samples by two fitted kernel machines."""
    table = load("Twonorm")
    X, y = table.X, table.y
    theirs = SVC(C=0.3, gamma=0.005).fit(X[:400], y[:400])
    tenth = theirs.support_.size // 10
    ours = ZeroNormKernelSVC(gamma=0.005, n_vectors_to_select=tenth, refit_C=0.1)
    ours.fit(X[:400], y[:400])
    return {
        f"ZeroNormKernelSVC, {ours.support_.size} vectors": lambda: ours.predict(X[400:]),
        f"SVC, {theirs.support_.size} vectors": lambda: theirs.predict(X[400:]),
    }


CASES = {
    "Colon 62 x 2000": lambda: selection("colon_alon", 10),
    "ALLAML 72 x 7129": lambda: selection("ALLAML", 10),
    "Lymphoma 62 x 4026, 3 classes": lambda: selection("lymphoma_62", 10),
    "Sonar 208 x 60": lambda: selection("Sonar", 10),
    "Breast 683 x 9": lambda: selection("BCW_original", 4),
    "tall, 3000 x 40": lambda: tall(3000),
    "Twonorm, predict 7000": prediction,
}


def main(wanted: list[str]) -> None:
    warnings.simplefilter("ignore")
    lines = [
        "# Zero-norm classifiers: times",
        "",
        f"Written by `python benchmarks/zeronorm/run.py`; {platform.platform()}, {os.cpu_count()} "
        f"cores, numpy {np.__version__}, scikit-learn {sklearn.__version__}. "
        "Best of five to fifteen.",
    ]
    for case, make in CASES.items():
        if wanted and not any(word.lower() in case.lower() for word in wanted):
            continue
        lines += ["", f"## {case}", "", "| what | wall, ms | CPU, ms |", "|---|---|---|"]
        for label, function in make().items():
            wall, cpu = measured(function)
            lines.append(f"| {label} | {1e3 * wall:.2f} | {1e3 * cpu:.2f} |")
            print(case, lines[-1], flush=True)
    if not wanted:
        (HERE / "RESULTS_zeronorm.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
