"""Who takes part in which race: a group, an environment, and a function of (X, y)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

OWN, RIVALS = "own", "filters"
K = 50  # features asked of mRMR and RFE


@dataclass(frozen=True)
class Contestant:
    group: str
    environment: str
    run: Callable  # (X, y) -> scores or order
    note: str = ""
    same_as: str = ""  # ours in that rival's definition: the answers must agree
    prepare: Callable = lambda X: X  # outside the clock


def _ours(name, *arguments, pick=None, **params):
    def run(X, y):
        from rowsparse import filters

        answer = getattr(filters, name)(X, y, *arguments, **params)
        return answer if pick is None else answer[pick]

    return run


def _skrebate(label_type):
    def run(X, y):
        from skrebate import ReliefF

        model = ReliefF(n_neighbors=10, n_jobs=-1, label_type=label_type)
        return model.fit(X, y).feature_importances_

    return run


def _skfeature_relief(X, y):
    from skfeature.function.similarity_based.reliefF import reliefF

    return reliefF(X, y, mode="raw", k=10)


def _mrmr_selection(n_jobs):
    def run(X, y):
        import mrmr

        order = mrmr.mrmr_classif(X, y, K, show_progress=False, n_jobs=n_jobs)
        return np.array(order, dtype=int)

    return run


def _as_frame(X):
    import pandas as pd

    return pd.DataFrame(X, columns=[str(j) for j in range(X.shape[1])])


def _skfeature_mrmr(X, y):
    from skfeature.function.information_theoretical_based.MRMR import mrmr

    return mrmr(X, y, mode="index", n_selected_features=K)


def _fifths(X):
    """Five equal-frequency bins: scikit-feature wants discrete data."""
    ranks = np.argsort(np.argsort(X, axis=0, kind="stable"), axis=0)
    return (5 * ranks // len(X)).astype(float)


def _f_classif(X, y):
    from sklearn.feature_selection import f_classif

    return f_classif(X, y)[0]


def _skfeature_fisher(X, y):
    from skfeature.function.similarity_based.fisher_score import fisher_score

    return fisher_score(X, y, mode="index")


def _mutual_info(X, y):
    from sklearn.feature_selection import mutual_info_classif

    return mutual_info_classif(X, y, random_state=0, n_jobs=-1)


def _rfe(**params):
    def run(X, y):
        from sklearn.feature_selection import RFE
        from sklearn.svm import SVC

        Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        model = RFE(SVC(kernel="linear", **params), n_features_to_select=K, step=0.1)
        return np.flatnonzero(model.fit(Z, y).support_)

    return run


def _svm_rfe_as_rfe(X, y):
    """Our elimination with scikit-learn's meaning of step=0.1: a tenth of all features."""
    from rowsparse.filters import svm_rfe

    return np.sort(svm_rfe(X, y, K, step=max(1, X.shape[1] // 10))[0])


UNIFORM = {"priors": "uniform"}
INVERSE = {"priors": "inverse", "scaling": "none", "discrete_features": None}
CONTESTANTS = {
    "relieff": Contestant("relief", OWN, _ours("relieff"), "default"),
    "relieff, 2 threads": Contestant("relief", OWN, _ours("relieff", n_jobs=2), "n_jobs=2"),
    "relieff, euclidean": Contestant("relief", OWN, _ours("relieff", metric="euclidean")),
    "relieff as skrebate": Contestant(
        "relief", OWN, _ours("relieff", **UNIFORM), "priors='uniform'", "skrebate"
    ),
    "relieff as skfeature": Contestant(
        "relief", OWN, _ours("relieff", **INVERSE), "priors='inverse', scaling='none'", "skfeature"
    ),
    "skfeature": Contestant("relief", RIVALS, _skfeature_relief, "k=10"),
    "skrebate": Contestant("relief", RIVALS, _skrebate("multiclass"), "n_jobs=-1, multiclass"),
    "skrebate, default": Contestant(
        "relief", RIVALS, _skrebate(None), "n_jobs=-1; over ten classes it takes y for numbers"
    ),
    "mrmr fcq": Contestant(
        "mrmr", OWN, _ours("mrmr", K, criterion="fcq", pick=0), "F, correlation", "mrmr-selection"
    ),
    "mrmr miq": Contestant("mrmr", OWN, _ours("mrmr", K, pick=0), "mutual information, 5 bins"),
    "mrmr mid": Contestant("mrmr", OWN, _ours("mrmr", K, criterion="mid", pick=0), "5 bins"),
    "mrmr-selection": Contestant(
        "mrmr", RIVALS, _mrmr_selection(1), "F, correlation; n_jobs=1", prepare=_as_frame
    ),
    "mrmr-selection, default": Contestant(
        "mrmr", RIVALS, _mrmr_selection(-1), "F, correlation; n_jobs=-1", prepare=_as_frame
    ),
    "skfeature mrmr": Contestant(
        "mrmr", RIVALS, _skfeature_mrmr, "mutual information, 5 bins", prepare=_fifths
    ),
    "f_score": Contestant("one by one", OWN, _ours("f_score"), same_as="f_classif"),
    "fisher_score": Contestant("one by one", OWN, _ours("fisher_score")),
    "information_gain": Contestant("one by one", OWN, _ours("information_gain"), "mdlp"),
    "information_gain, 10 bins": Contestant("one by one", OWN, _ours("information_gain", 10)),
    "f_classif": Contestant("one by one", RIVALS, _f_classif, "scikit-learn"),
    "skfeature fisher": Contestant("one by one", RIVALS, _skfeature_fisher),
    "mutual_info_classif": Contestant(
        "one by one", RIVALS, _mutual_info, "scikit-learn, nearest neighbours, n_jobs=-1"
    ),
    "svm_rfe": Contestant("rfe", OWN, _ours("svm_rfe", K, pick=0), "10 % of the remaining"),
    "svm_rfe as RFE": Contestant("rfe", OWN, _svm_rfe_as_rfe, "10 % of all", "RFE(SVC, exact)"),
    "RFE(SVC)": Contestant("rfe", RIVALS, _rfe(), "scikit-learn, 10 % of all, tol=1e-3"),
    "RFE(SVC, exact)": Contestant("rfe", RIVALS, _rfe(tol=1e-5), "the same, tol=1e-5 as ours"),
}
CASES = ("ALLAML", "ISOLET1")
GROUPS = {
    "relief": "ReliefF, 10 neighbours",
    "mrmr": f"mRMR, {K} features",
    "one by one": "One feature at a time",
    "rfe": f"SVM-RFE down to {K} features",
}
