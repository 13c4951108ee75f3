"""Which data sets get the note of rowsparse.selectors.wrong_tool, and what it costs.

    ROWSPARSE_DATA=folder python benchmarks/wrong_tool.py            # all sets: one line for each k
    ROWSPARSE_DATA=folder python benchmarks/wrong_tool.py accuracy   # the table of the docs page

Seconds are CPU time: of the rule alone, and of the whole fit of the fastest selector,
TopKSelector(k, r=2, ridge=0).
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.datasets import make_classification, make_friedman1
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rowsparse import L2pSelector, ScoreSelector, TopKSelector
from rowsparse.datasets import load_dataset
from rowsparse.datasets.registry import dataset_names
from rowsparse.selectors.wrong_tool import weigh
from rowsparse.targets import as_target

# The rule was chosen while looking at these; all other sets were run once, afterwards.
CHOSEN_ON = {
    "ALLAML", "BASEHOCK", "GLIOMA", "ISOLET1", "SEMEION", "Sonar", "dexter_train", "madelon",
    "ml_yeast", "xor", "circles", "parity", "squares", "product", "linear", "noise",
}  # fmt: skip
NON_LINEAR = {
    "madelon", "xor", "circles", "parity", "squares",
    "checkerboard", "shell", "difference", "product",
}  # fmt: skip
KS = (5, 10, 20)


def made(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A construction of which the first columns alone decide y; 600 samples, 30 columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 30))
    noise = rng.normal(size=600)
    a, b, c = X[:, :3].T
    targets = {
        "xor": a * b > 0,
        "circles": a**2 + b**2 > 1.4,
        "parity": a * b * c > 0,
        "squares": a**2 + b**2 + 0.3 * noise,
        "linear": X[:, :5].sum(axis=1) + 2 * noise > 0,
        "noise": noise,
        "checkerboard": (np.floor(1.5 * a) + np.floor(1.5 * b)) % 2 > 0,
        "shell": np.abs(a**2 + b**2 + c**2 - 2.5) < 1.2,
        "difference": np.abs(a - b) > 1,
        "product": a * b + 0.3 * noise,
        "weak": 0.3 * a + noise,
        "probit": 0.5 * (a + b) + noise > 0,
        "cubic": a**3 + 2 * noise,
        "ordered": np.digitize(a + b + noise, [-1, 0, 1]),
    }
    if name == "hypercube":
        return make_classification(
            1000, 60, n_informative=5, n_redundant=5, n_clusters_per_class=16, flip_y=0.01,
            class_sep=2.0, shuffle=False, random_state=0,
        )  # fmt: skip
    if name == "friedman":
        return make_friedman1(600, 30, noise=1.0, random_state=0)
    y = targets[name]
    return X, y.astype(int) if y.dtype == bool else y


MADE = (
    "xor", "circles", "parity", "squares", "linear", "noise", "checkerboard", "shell",
    "difference", "product", "hypercube", "weak", "probit", "cubic", "ordered", "friedman",
)  # fmt: skip


def sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    for name in (*MADE, *dataset_names()):
        yield name, *(made(name) if name in MADE else read(name))


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    data = load_dataset(name)
    return data.X.astype(float), data.y


def cpu(function) -> tuple[float, object]:
    began = time.process_time()
    value = function()
    return time.process_time() - began, value


def survey() -> None:
    print(
        "| set | half | n | d | k | linear | selected | rivals | errors | note | rule s | fit s |"
    )
    print("|" + "---|" * 12)
    for name, X, y in sets():
        for k in KS:
            if k < X.shape[1]:
                print(line(name, X, y, k), flush=True)


def line(name: str, X: np.ndarray, y: np.ndarray, k: int) -> str:
    fit_seconds, selector = cpu(lambda: TopKSelector(k, r=2.0, ridge=0.0).fit(X, y))
    Y = as_target(y, "auto").Y
    rule_seconds, found = cpu(lambda: weigh(X, Y, selector.support_, selector.scores_ >= 0))
    facts = ["not asked", "", "", ""]
    if found is not None:
        facts = [f"{share:.2f}" for share in (found.linear, found.selected, found.rivals)]
        facts.append(f"{found.certainty:.1f}")
    cells = [
        f"{name} (non-linear)" if name in NON_LINEAR else name,
        "chosen on" if name in CHOSEN_ON else "held out",
        *map(str, (*X.shape, k)),
        *facts,
        "NOTE" if selector.notes_ else "",
        f"{rule_seconds:.3f}",
        f"{fit_seconds:.3f}",
    ]
    return f"| {' | '.join(cells)} |"


def accuracy() -> None:
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    models = (KNeighborsClassifier(5), LogisticRegression(max_iter=1000))
    print("| data, k | columns from | 5-NN | logistic regression |")
    print("|" + "---|" * 4)
    for name, k in {"madelon": 10, "xor": 5, "circles": 5, "difference": 5, "ISOLET1": 10}.items():
        X, y = made(name) if name in MADE else read(name)
        ways = {
            "`L2pSelector(k, p=1)`": L2pSelector(k, p=1.0, ridge=0.0),
            "`TopKSelector(k, r=2)`": TopKSelector(k, r=2.0, ridge=0.0),
            "`SelectKBest(f_classif)`": SelectKBest(f_classif, k=k),
            '`ScoreSelector("relieff", k)`': ScoreSelector("relieff", k),
        }
        for way, selector in ways.items():
            pipes = [make_pipeline(selector, StandardScaler(), model) for model in models]
            means = [cross_val_score(pipe, X, y, cv=folds).mean() for pipe in pipes]
            print(f"| {name}, {k} | {way} | {means[0]:.1%} | {means[1]:.1%} |", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)
    if sys.argv[1:] == ["accuracy"]:
        accuracy()
    else:
        survey()
