"""The downstream model on the selected columns: fixed, plain, the same for every method."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score, r2_score, root_mean_squared_error
from sklearn.multiclass import OneVsRestClassifier

from .data import CLASSES, LABELS
from .splits import Split


def score(task: str, split: Split, columns: np.ndarray) -> dict[str, float]:
    """`score` is accuracy, micro-F1 or R2; beside it macro-F1 or RMSE."""
    model = _model(task).fit(split.X_train[:, columns], split.y_train)
    told = model.predict(split.X_test[:, columns])
    truth = split.y_test
    if task == CLASSES:
        return _rounded(score=accuracy_score(truth, told), macro_f1=_f1(truth, told, "macro"))
    if task == LABELS:
        return _rounded(score=_f1(truth, told, "micro"), macro_f1=_f1(truth, told, "macro"))
    return _rounded(score=r2_score(truth, told), rmse=root_mean_squared_error(truth, told))


def _model(task: str):
    logistic = LogisticRegression(C=1.0, solver="lbfgs", max_iter=1000)
    if task == CLASSES:
        return logistic
    return OneVsRestClassifier(logistic) if task == LABELS else Ridge(alpha=1.0)


def _f1(truth, told, average):
    return f1_score(truth, told, average=average, zero_division=0)


def _rounded(**scores):
    return {name: round(float(value), 5) for name, value in scores.items()}
