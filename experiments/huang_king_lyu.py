"""Huang, King & Lyu (2008): the zero-norm SVM against AROM, FSV, SVM ranking, SVC and the RVM.

    python experiments/huang_king_lyu.py                  # all tables -> huang_king_lyu.md
    python experiments/huang_king_lyu.py features Sonar   # one part (features, times, dual) and set

Parts are kept in huang_king_lyu.json as they finish; the page is written from it. Data come from
the folder ROWSPARSE_DATA (default: ../shared/data). The RVM is sklearn-rvm's EMRVC, in an
environment of its own that is built on the first run (benchmarks/environments.py).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from huang_king_lyu_page import page
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rowsparse import ProbitKernelClassifier, ZeroNormKernelSVC, ZeroNormSVC
from rowsparse.filters import arom, fsv

HERE = Path(__file__).parent
DATA = Path(os.environ.get("ROWSPARSE_DATA", HERE.parents[1] / "shared" / "data"))
RECORDS = HERE / "huang_king_lyu.json"
KS = {
    "colon_alon": (2, 5, 10, 20, 50, 100),
    "lymphoma_62": (2, 5, 10, 20, 50, 100),
    "Sonar": (2, 5, 10, 20, 30, 40),
    "BCW_original": (1, 2, 3, 4, 6, 8),
}
REPEATS = {"lymphoma_62": 5}  # of 5 folds; three classes of 4026 genes take FSV a minute per fold
MANY_REPEATS = 20  # for the others: with five, methods trade places from seed to seed
ZERO_NORM_CS = (0.3, 1.0, 3.0, 10.0)
AROM_CS = (1.0, 10.0, 100.0)
LAMS = (0.3, 0.1, 0.05, 0.02, 0.01, 0.003)  # of FSV, from few features to many
# Training samples (as in IDA; then more, as in the paper) and how many random splits (IDA: 100).
SPLITS = {
    "Twonorm": (400, 20),
    "Titanic": (150, 100),
    "Titanic 1981": (1981, 10),
}


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(DATA / f"{name}.npz") as file:
        return np.asarray(file["X"], dtype=float), file["y"]


# -- accuracy against the number of features -----------------------------------------------------


def rankings(X: np.ndarray, y: np.ndarray, ks) -> dict[str, dict[int, np.ndarray]]:
    """The features that each method chooses for every k, from standardised training data."""
    machine = SVC(kernel="linear", C=1.0).fit(X, y)
    weights = np.sqrt((np.asarray(machine.coef_) ** 2).sum(axis=0))
    order = np.argsort(-weights, kind="stable")
    found = {"SVM ranking": {k: order[:k] for k in ks}}
    for C in (1.0, 100.0):
        found[f"AROM C={C:g}"] = arom_choices(X, y, ks, C)
    found["AROM, C by CV"] = choices_by_cv(arom_choices, AROM_CS, X, y, ks)
    found["FSV"] = fsv_choices(X, y, ks)
    for C in (1.0, 10.0):
        found[f"zero norm C={C:g}"] = zero_norm_choices(X, y, ks, C)
    found["zero norm, C by CV"] = choices_by_cv(zero_norm_choices, ZERO_NORM_CS, X, y, ks)
    return found


def arom_choices(X, y, ks, C: float) -> dict[int, np.ndarray]:
    _, scores = arom(X, y, min(ks), C=C)
    order = np.argsort(-scores, kind="stable")
    return {k: order[:k] for k in ks}


def zero_norm_choices(X, y, ks, C: float) -> dict[int, np.ndarray]:
    fits = {k: ZeroNormSVC(k, C=C).fit(X, y) for k in ks}
    return {k: np.flatnonzero(fit.support_) for k, fit in fits.items()}


def choices_by_cv(choices, Cs, X, y, ks) -> dict[int, np.ndarray]:
    """For every k the features at the C whose choice did best in 5 folds of the training data."""
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    hits = np.zeros((len(Cs), len(ks)))
    for row, C in zip(hits, Cs, strict=True):
        for train, test in folds:
            chosen = choices(X[train], y[train], ks, C)
            row += [accuracy(X, y, train, test, chosen[k]) for k in ks]
    best = [Cs[i] for i in hits.argmax(axis=0)]
    return {k: choices(X, y, [k], C)[k] for k, C in zip(ks, best, strict=True)}


def accuracy(X, y, train, test, chosen: np.ndarray) -> float:
    """Of a linear SVM on the chosen features; NaN if there are none."""
    if not chosen.size:
        return np.nan
    machine = SVC(kernel="linear", C=1.0).fit(X[np.ix_(train, chosen)], y[train])
    return machine.score(X[np.ix_(test, chosen)], y[test])


def fsv_choices(X, y, ks) -> dict[int, np.ndarray]:
    """The k largest coefficients at the largest lam that leaves k; fewer if no lam does."""
    chosen, wanted = {}, list(ks)
    for lam in LAMS:
        scores = fsv(X, y, lam=lam)
        order = np.argsort(-scores, kind="stable")[: np.count_nonzero(scores)]
        for k in [k for k in wanted if k <= order.size or lam == LAMS[-1]]:
            chosen[k] = order[:k]
            wanted.remove(k)
        if not wanted:
            break
    return chosen


def features(name: str) -> dict:
    """5-fold accuracy, repeated: scaling, selection and a linear SVM inside the folds."""
    X, y = load(name)
    repeats = REPEATS.get(name, MANY_REPEATS)
    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=0)
    results: dict[str, dict[int, list]] = {}
    for train, test in folds.split(X, y):
        scaler = StandardScaler().fit(X[train])
        S = scaler.transform(X)
        for method, choices in rankings(S[train], y[train], KS[name]).items():
            for k, chosen in choices.items():
                hits = accuracy(S, y, train, test, chosen)
                results.setdefault(method, {}).setdefault(k, []).append((hits, chosen.size))
    return {
        method: {k: (np.mean(v, axis=0).tolist(), [hits for hits, _ in v]) for k, v in by_k.items()}
        for method, by_k in results.items()
    }


# -- time ----------------------------------------------------------------------------------------


def best_of(function, repeats: int = 5) -> float:
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - began)
        if seconds[-1] > 5:
            break
    return min(seconds)


def times(name: str) -> dict:
    """Seconds to choose k features (k = 10, for Breast 4) from all samples, best of five."""
    X, y = load(name)
    S, k = StandardScaler().fit_transform(X), 4 if name == "BCW_original" else 10
    return {
        "zero norm, C = 10": best_of(lambda: ZeroNormSVC(C=10.0).fit(X, y)),
        "k, C = 1": best_of(lambda: ZeroNormSVC(k, C=1.0).fit(X, y)),
        "k, C = 10": best_of(lambda: ZeroNormSVC(k, C=10.0).fit(X, y)),
        "AROM, all features": best_of(lambda: printed_arom(S, y, k)),
        "AROM, dropping": best_of(lambda: arom(X, y, k)),
        "FSV": best_of(lambda: fsv(X, y)),
        "SVM": best_of(lambda: SVC(kernel="linear").fit(S, y)),
    }


def printed_arom(S: np.ndarray, y: np.ndarray, k: int, C: float = 100.0, rounds: int = 100) -> None:
    """AROM as printed: every round trains on all features; one machine per class if several."""
    labels = np.unique(y)
    targets = [y == labels[-1]] if labels.size == 2 else [y == label for label in labels]
    z = np.ones(S.shape[1])
    for _ in range(rounds):
        before = z
        w = [SVC(kernel="linear", C=C, max_iter=100_000).fit(S * z, t).coef_[0] for t in targets]
        z = z * np.sqrt(np.mean(np.square(w), axis=0))
        left = z > 1e-6 * z.max()
        if left.sum() <= k or np.abs(z[left] / before[left] - 1).max() < 1e-3:
            return


# -- few support vectors -------------------------------------------------------------------------


def dual(name: str) -> dict:
    """Test accuracy, support vectors and seconds to predict, over random splits.

    Every method tunes itself by 5-fold accuracy on the training samples of each split alone. The
    machine with a budget may keep a tenth of the support vectors that SVC has there.
    """
    warnings.simplefilter("ignore")
    X, y = load(name.split()[0])
    n_train, n_splits = SPLITS[name]
    splits = [np.random.default_rng(2000 + i).permutation(len(y)) for i in range(n_splits)]
    results: dict[str, list] = {}
    widths = []
    for split in splits:
        train, test = split[:n_train], split[n_train:]
        svc = tuned(SVC(), {"C": [0.1, 0.3, 1, 3, 10, 100]}, name, X[train], y[train])
        widths.append(svc.gamma)
        machines = {"SVC": svc} | sparse_machines(svc, name, X[train], y[train])
        for label, model in machines.items():
            seconds = best_of(lambda model=model, test=test: model.predict(X[test]), 3)
            right = 100 * model.score(X[test], y[test])
            results.setdefault(label, []).append((right, len(model.support_), seconds))
    if n_train < 1000:  # beyond, it takes minutes per fit
        results["RVM (sklearn-rvm)"] = rvm(X, y, splits[:5], n_train, widths[:5])
    return {
        label: [np.mean(v, axis=0).tolist(), np.std(v, axis=0).tolist(), len(v)]
        for label, v in results.items()
        if v
    }


def sparse_machines(svc: SVC, name: str, X, y) -> dict:
    """Ours, tuned and fitted: p = 0 as printed, with a budget of vectors and perhaps a refit, the
    EM."""
    budget = max(len(svc.support_) // 10, 1)
    plain, few = ZeroNormKernelSVC(max_iter=500), ZeroNormKernelSVC(n_vectors_to_select=budget)
    em = ProbitKernelClassifier()
    return {
        "zero norm (p = 0)": tuned(plain, {"C": [0.5, 1, 2, 5, 10]}, name, X, y),
        "a tenth of SVC's": tuned(few, {"refit_C": [None, 0.1, 0.3, 1, 3, 10]}, name, X, y),
        "probit EM": tuned(em, {"prior": [0.1, 0.3, 1, 3], "norm": [0.0, 0.9]}, name, X, y),
    }


def tuned(estimator, grid: dict, name: str, X, y):
    """Fitted with the parameters of the best 5-fold accuracy."""
    widths = [0.03, 0.1, 0.3, 1.0] if name.startswith("Titanic") else [0.005, 0.01, 0.02, 0.05]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return GridSearchCV(estimator, grid | {"gamma": widths}, cv=folds).fit(X, y).best_estimator_


RVM_WORKER = """
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
from sklearn_rvm import EMRVC
z = np.load(sys.argv[1])
out = []
for split, gamma in zip(z["splits"], z["gammas"]):
    train, test = split[: int(z["n"])], split[int(z["n"]) :]
    model = EMRVC(kernel="rbf", gamma=float(gamma)).fit(z["X"][train], z["y"][train])
    began = time.perf_counter()
    right = 100 * np.mean(model.predict(z["X"][test]) == z["y"][test])
    out.append([right, len(model.relevance_vectors_), time.perf_counter() - began])
print(json.dumps(out))
"""


def rvm(X, y, splits, n_train: int, gammas: list[float]) -> list:
    sys.path.insert(0, str(HERE.parent / "benchmarks"))
    from environments import prepare_environments

    python = prepare_environments(["rvm"])["rvm"].python
    if python is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "data.npz")
        np.savez(file, X=X, y=y, splits=np.array(splits), n=n_train, gammas=gammas)
        command = [python, "-c", RVM_WORKER, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=True)
    return json.loads(done.stdout)


# -- records -------------------------------------------------------------------------------------


def one_per_line(records: dict) -> str:
    """As json, a line for each table."""
    lines = [f"{json.dumps(key)}: {json.dumps(record)}" for key, record in records.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")
    parts = {"features": (features, KS), "times": (times, KS), "dual": (dual, SPLITS)}
    records = json.loads(RECORDS.read_text()) if RECORDS.exists() else {}
    for part, (function, names) in parts.items():
        for name in names:
            if (not arguments or part in arguments) and (
                len(arguments) < 2 or name in arguments[1:]
            ):
                records[f"{part} {name}"] = json.loads(json.dumps(function(name)))
                RECORDS.write_text(one_per_line(records))
                print(part, name, "done", flush=True)
    (HERE / "huang_king_lyu.md").write_text(page(records))


if __name__ == "__main__":
    main(sys.argv[1:])
