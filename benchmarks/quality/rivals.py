"""What users would take instead. Every function yields (k, columns) for the ks asked for.

X comes standardised by its training rows. Where a ranking is greedy or one number per column, the
k best are a prefix of the 50 best and one run serves all k.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFE, f_classif, f_regression
from sklearn.linear_model import LogisticRegression, MultiTaskLasso
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import LabelBinarizer
from sklearn.svm import LinearSVC, LinearSVR, l1_min_c

from .data import CLASSES, LABELS, NUMBERS

TREES = 300


def select_k_best(X, y, task, ks):
    yield from _prefixes(_largest(_relevance(X, y, task), max(ks)), ks)


def forest(X, y, task, ks):
    kind = RandomForestRegressor if task == NUMBERS else RandomForestClassifier
    model = kind(TREES, random_state=0, n_jobs=1).fit(X, y)
    yield from _prefixes(_largest(model.feature_importances_, max(ks)), ks)


def fastcan(X, y, task, ks):
    """Greedy by the sum of squared canonical correlations; it stops at the rank of X."""
    from fastcan import FastCan

    Y = _targets(y, task)
    most = min(max(ks), len(X) - 1)
    order = FastCan(most, verbose=0).fit(X, Y).indices_
    yield from _prefixes(_filled(order, X, y, task, max(ks)), ks)


def mrmr(X, y, task, ks):
    """F over mean correlation; several labels have their mean F.

    The package takes both as functions, and here they get vectorised ones: its own go through the
    columns one by one in Python and need a minute for 5,000. "sum" instead of the mean over the
    columns chosen so far changes no order. check.py compares with the plain call.
    """
    import pandas as pd
    from mrmr import mrmr_classif, mrmr_regression

    frame = pd.DataFrame(X, columns=[str(j) for j in range(X.shape[1])])
    target = pd.Series(y if task != LABELS else y[:, 0])
    relevance = pd.Series(_relevance(X, y, task), index=frame.columns)
    run = mrmr_regression if task == NUMBERS else mrmr_classif
    order = run(
        frame,
        target,
        max(ks),
        relevance=lambda X, y: relevance,
        redundancy=_correlations(X),
        denominator="sum",
        show_progress=False,
    )
    yield from _prefixes(_filled(np.array(order, dtype=int), X, y, task, max(ks)), ks)


def _correlations(X):
    """What mrmr-selection asks for, from columns that are centred already."""
    import pandas as pd

    lengths = np.linalg.norm(X, axis=0)
    unit = X / np.where(lengths > 0, lengths, 1.0)

    def redundancy(target_column, features, X):
        values = unit.T @ unit[:, int(target_column)]
        return pd.Series(values[np.array(features, dtype=int)], index=features)

    return redundancy


def rfe(X, y, task, ks):
    """scikit-learn's RFE removes a tenth of *all* columns at a time.

    The rounds down to the last count above every k are the same for all k and run once.
    """
    step = max(1, X.shape[1] // 10)
    shared = X.shape[1] - step * ((X.shape[1] - max(ks)) // step)
    kept = _eliminate(X, y, task, shared, step)
    for k in ks:
        yield k, kept[_eliminate(X[:, kept], y, task, k, step)]


def multitask_lasso(X, y, task, ks):
    """Down the path until at least k rows are nonzero, then the k of largest norm."""
    Y = _targets(y, task)
    Y = (Y - Y.mean(axis=0)) / Y.std()
    X = np.asfortranarray(X)
    marginal = np.linalg.norm(X.T @ Y, axis=1) / len(X)
    model = MultiTaskLasso(warm_start=True)

    def norms(strength):
        model.set_params(alpha=marginal.max() / strength).fit(X, Y)
        return np.linalg.norm(model.coef_, axis=0)

    yield from _along(norms, marginal, ks)


def logistic_lasso(X, y, task, ks):
    """One l1 model per class or label (liblinear) with one C, bisected to about k rows."""
    Y = _targets(y, task)
    X = np.asfortranarray(X)
    smallest = min(l1_min_c(X, column, loss="log") for column in Y.T)

    def norms(strength):
        lasso = LogisticRegression(
            C=smallest * strength, l1_ratio=1, solver="liblinear", random_state=0
        )
        return np.linalg.norm([lasso.fit(X, column).coef_[0] for column in Y.T], axis=0)

    yield from _along(norms, _relevance(X, y, task), ks)


def _along(norms, marginal, ks):
    """The weakest penalty tried so far is where the next k starts."""
    strength = 1.0
    for k in sorted(ks):
        strength, found = _about_k_rows(norms, strength, k)
        spare = 1e-12 * found.max() * marginal / marginal.max()  # only if the path never has k rows
        yield k, _largest(found + spare, k)


def _about_k_rows(norms, low, k, step=1.5, tolerance=1.1, furthest=1e4):
    """The strength (of the data against the penalty) at which k to 1.1 k rows are nonzero."""
    high = low
    found = norms(high)
    while np.count_nonzero(found) < k and high < furthest:
        low, high = high, high * step
        found = norms(high)
    best = found
    for _ in range(6):
        if np.count_nonzero(best) <= tolerance * k:
            break
        middle = np.sqrt(low * high)
        found = norms(middle)
        if np.count_nonzero(found) < k:
            low = middle
        else:
            high, best = middle, found
    return high, best


def _eliminate(X, y, task, k, step):
    model = RFE(
        _machine(task), n_features_to_select=k, step=step, importance_getter=_squared_weights
    )
    return np.flatnonzero(model.fit(X, y).support_)


def _machine(task):
    if task == NUMBERS:
        return LinearSVR(random_state=0)
    machine = LinearSVC(random_state=0)
    return OneVsRestClassifier(machine) if task == LABELS else machine


def _squared_weights(model):
    """RFE sums squares over outputs; the parts of OneVsRest have to be put together first."""
    parts = [getattr(part, "coef_", None) for part in getattr(model, "estimators_", [model])]
    return np.vstack([np.atleast_2d(part) for part in parts if part is not None])


def _relevance(X, y, task):
    """F of every column, the mean over labels; a column that does not vary in this fold has 0."""
    with np.errstate(all="ignore"):
        if task == LABELS:
            scores = np.mean([np.nan_to_num(f_classif(X, column)[0]) for column in y.T], axis=0)
        else:
            scores = (f_regression if task == NUMBERS else f_classif)(X, y)[0]
    return np.nan_to_num(scores)


def _targets(y, task):
    """A matrix: one column per class (one for two classes), label or output."""
    if task == CLASSES:
        return LabelBinarizer().fit_transform(y).astype(float)
    return y.reshape(len(y), -1).astype(float)


def _largest(scores, k):
    return np.argsort(-scores, kind="stable")[:k]


def _filled(order, X, y, task, k):
    """A method that ends early is completed by the largest F among the rest."""
    rest = np.setdiff1d(_largest(_relevance(X, y, task), k + len(order)), order)
    rest = rest[np.argsort(-_relevance(X, y, task)[rest], kind="stable")]
    return np.concatenate([order, rest])[:k]


def _prefixes(order, ks):
    for k in ks:
        yield k, order[:k]
