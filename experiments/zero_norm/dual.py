"""The dual form: test accuracy with few support vectors, against SVC, the RVM and the probit EM."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from rowsparse import ProbitKernelClassifier, ZeroNormKernelSVC

from ..frame import Options, Task, load
from ..frame.run import HOME
from .times import best_of

SPLITS = {  # training samples (as in IDA; then more, as in the talk), how many random splits
    "Twonorm": (400, 20),
    "Titanic": (150, 100),
    "Titanic 1981": (1981, 10),
}
RVM_SPLITS = 5
RVM_SAMPLES = 1000  # beyond, a fit takes minutes
RVM = "RVM (sklearn-rvm)"


def plan(options: Options) -> Iterator[Task]:
    for name in ["Titanic"] if options.quick else SPLITS:
        n_splits = 2 if options.quick else options.splits or SPLITS[name][1]
        settings = {"part": "dual", "data": name, "splits": n_splits}
        yield Task(settings, lambda n=name, s=n_splits: measure(n, s))


def measure(name: str, n_splits: int) -> dict[str, Any]:
    """Per method mean and deviation of accuracy (%), support vectors, seconds to predict.

    Every method tunes itself by 5-fold accuracy on the training samples of each split alone. The
    machine with a budget may keep a tenth of the support vectors that SVC has there.
    """
    table = load(name.split()[0])
    X, y = table.X, table.y
    n_train = SPLITS[name][0]
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
    if n_train < RVM_SAMPLES and n_splits >= RVM_SPLITS:
        first = slice(RVM_SPLITS)
        results[RVM] = rvm(X, y, splits[first], n_train, widths[first])
    return {label: summary(found) for label, found in results.items() if found}


def summary(found: list) -> list:
    """Means, deviations, how many."""
    return [np.mean(found, axis=0).tolist(), np.std(found, axis=0).tolist(), len(found)]


def sparse_machines(svc: SVC, name: str, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """p = 0 as printed, with a budget of vectors and perhaps a refit, the EM: tuned and fitted."""
    budget = max(len(svc.support_) // 10, 1)
    plain, few = ZeroNormKernelSVC(max_iter=500), ZeroNormKernelSVC(n_vectors_to_select=budget)
    em = ProbitKernelClassifier()
    return {
        "zero norm (p = 0)": tuned(plain, {"C": [0.5, 1, 2, 5, 10]}, name, X, y),
        "a tenth of SVC's": tuned(few, {"refit_C": [None, 0.1, 0.3, 1, 3, 10]}, name, X, y),
        "probit EM": tuned(em, {"prior": [0.1, 0.3, 1, 3], "norm": [0.0, 0.9]}, name, X, y),
    }


def tuned(estimator: Any, grid: dict, name: str, X: np.ndarray, y: np.ndarray) -> Any:
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
    began = time.process_time()
    right = 100 * np.mean(model.predict(z["X"][test]) == z["y"][test])
    out.append([right, len(model.relevance_vectors_), time.process_time() - began])
print(json.dumps(out))
"""


def rvm(X: np.ndarray, y: np.ndarray, splits: list, n_train: int, gammas: list[float]) -> list:
    """With SVC's gamma, in an environment of its own, built on the first run; empty without."""
    sys.path.insert(0, str(HOME.parent / "benchmarks"))
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
