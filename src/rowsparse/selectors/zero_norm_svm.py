"""The zero-norm support vector machine as a classifier that selects features."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..losses import HingeLoss
from ..penalties import MarginNorm
from ..problems.margin import MarginProblem
from ..results import Solution
from ..solvers.base import run
from ..solvers.margin.linear_programs import AbsoluteNormLP, LargestNormLP
from ..solvers.margin.svm import ReweightedSVM
from .base import Data
from .margin import LINEAR_CHECKS, MarginClassifier
from .parameters import infinity_or, number, one_of


class ZeroNormSVC(MarginClassifier):
    r"""A linear support vector machine that uses few features (Huang, King & Lyu 2008).

    For ``norm`` = p in (0, 2] it minimises, on the standardised columns of X,

        C sum_i s_i max(0, 1 - y_i (x_i'w + b)) + (2/p) sum_j f_j |w_j|**p

    by solving ``min C sum_i s_i xi_i + sum_j f_j w_j**2 / |w_j^old|**(2-p)`` again and again, which
    never increases it (small problems of p = 1 are linear programs, exact whatever ``tol`` is);
    p = 0 iterates the same and ends where the second term counts the nonzero w_j. p = 2 is
    ``SVC(kernel="linear", C=C/2)``; p = inf minimises ``C sum_i s_i xi_i + max_j f_j |w_j|``.

    Parameters
    ----------
    n_features_to_select : int, optional
        Exactly this many. The reweighting stops as soon as no more are left; if it ends with more,
        C is lowered step by step (``C_`` is the last one; with two classes and a norm below 1 the
        reweighting begins anew there). The weights that the k features have then are kept, and the
        machine is solved on them.
        With ten samples or more per feature (a norm below 1, and not so many samples that it would
        take long) C stays: the k largest are exchanged one by one for others as long as that lowers
        the value of the plain machine (norm 2) on k features, and this machine is the result.
    C : float > 0
        Weight of the errors; smaller keeps fewer features. Note the factor: C=2 is SVC's C=1.
    norm : float in [0, 2] or inf
        p above; 1 and less selects, the smaller the fewer.
    standardize : bool
        Scale columns to unit variance first; ``coef_`` is in the original scale all the same.
    multi_class : {"joint", "ovr"}
        More than two classes: one-vs-rest machines that share one weight per feature,
        f_j |w_j|_2**p over the classes, so that a feature is in or out for all of them ("joint"),
        or machines of their own, a feature being kept if any class keeps it ("ovr").
    tol : float
        Stop when a further step changes no coefficient by more than tol times the largest
        (on standardised columns).
    max_iter : int
    class_weight : None, "balanced" or mapping from class to weight
    feature_weights : array or mapping from names, optional
        Factor f_j on each feature's penalty: 0 = always in, infinity = never.

    Attributes
    ----------
    coef_ : array (1 or n_classes, n_features), intercept_ : array (1 or n_classes,)
        Two classes have one row, positive for ``classes_[1]``.
    scores_ : array (n_features,)
        Row norms of the coefficients in the standardised scale.
    ranking_ : array (n_features,), 1 = best; ties broken by index.
    support_ : boolean array (n_features,)
    C_ : float
        The C of the fit; smaller than ``C`` if ``n_features_to_select`` needed it.
    solution_ : rowsparse.results.Solution
    n_iter_, classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rowsparse import ZeroNormSVC
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> machine = ZeroNormSVC(n_features_to_select=4).fit(X, y)
    >>> machine.get_feature_names_out().size
    4
    """

    _checks: ClassVar = {
        **LINEAR_CHECKS,
        "C": number(0.0, low_open=True),
        "norm": infinity_or(number(0.0, 2.0)),
        "multi_class": one_of("joint", "ovr"),
    }

    def __init__(
        self,
        n_features_to_select=None,
        *,
        C=1.0,
        norm=0.0,
        standardize=True,
        multi_class="joint",
        tol=1e-3,
        max_iter=100,
        class_weight=None,
        feature_weights=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.C = C
        self.norm = norm
        self.standardize = standardize
        self.multi_class = multi_class
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.feature_weights = feature_weights

    def _margin_problem(self, data: Data, weights: np.ndarray) -> MarginProblem:
        joint = self.multi_class == "joint"
        penalty = MarginNorm(float(self.norm), data.factors, joint)
        return MarginProblem(data.design, data.target.Y, HingeLoss(weights), float(self.C), penalty)

    def _margin_solver(self, keep: int | None) -> ReweightedSVM:
        return ReweightedSVM(tol=float(self.tol), max_iter=int(self.max_iter), keep=keep)

    def _solved(self, problem: MarginProblem, k: int | None) -> tuple[Solution, float]:
        program = LargestNormLP() if np.isinf(problem.norm) else AbsoluteNormLP()
        linear = program.supports(problem) is None and (k is None or np.isinf(problem.norm))
        if not linear:
            return super()._solved(problem, k)
        return run(program, problem, start="linear program"), problem.C

    def _nothing_left(self) -> str:
        return (
            f"No feature was selected: C={self.C:g} is too small, errors cost less than any "
            "feature. All samples are given the majority class; raise C."
        )
