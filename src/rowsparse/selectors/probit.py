"""The probit model with a sparse prior, fitted by EM: linear (selects features) and in a kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_ndtr

from ..inputs import check_positive
from ..losses import MarginLoss, ProbitLoss
from ..penalties import MarginNorm
from ..problems.base import MARGIN
from ..problems.margin import MarginProblem
from ..solvers.base import Solver
from ..solvers.margin.probit import ProbitEM
from .data import Data, solver_for
from .kernel_machines import KernelExpansion
from .margin import MarginClassifier


class Probabilities(ABC):
    """Of a classifier whose decision function is the argument of Phi."""

    @abstractmethod
    def decision_function(self, X: Any) -> np.ndarray:
        """One number per sample for two classes, else one per class."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms, finite however sure the model is."""
        return log_probabilities(self.decision_function(X))


@dataclass(eq=False, repr=False)
class ProbitSelector(MarginClassifier, Probabilities):
    r"""Probit regression that uses few features, by EM (Huang, King & Lyu 2008).

    The model is ``P(y = 1 | x) = Phi(x'w + b)``. For ``norm`` = p in (0, 2] the EM steps minimise,
    on the standardised columns of X,

        - sum_i s_i log Phi(y_i (x_i'w + b)) + (gamma/p) sum_j f_j |w_j|**p

    and p = 0 is the Jeffreys prior 1/|w_j|**gamma. b has no prior. More than two classes:
    one-vs-rest models that share one prior weight per feature, from the norm of its coefficients.

    Parameters
    ----------
    n_features_to_select : int, optional
        Exactly this many: EM stops as soon as no more are left; if it ends with more, gamma is
        raised step by step (``gamma_`` is the last one).
    norm : float in [0, 2]
        p above; 1 and less selects, the smaller the fewer.
    gamma : float > 0
        Strength of the prior; 1 is the paper's.
    solver : "auto" or ``rowsparse.solvers.ProbitEM``
    standardize, tol, max_iter, class_weight, feature_weights : as in ``ZeroNormSVC``

    Attributes
    ----------
    coef_, intercept_, scores_, ranking_, support_, classes_, n_iter_ : as in ``ZeroNormSVC``
    gamma_ : float
    solution_ : rowsparse.results.Solution
        Its objective is the one above times 2 / ``gamma_``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rowsparse import ProbitSelector
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = ProbitSelector(n_features_to_select=4).fit(X, y)
    >>> model.predict_proba(X).shape
    (569, 2)
    """

    _: KW_ONLY
    gamma: float = 1.0
    tol: float = 1e-4
    max_iter: int = 500

    _checks: ClassVar = {
        **MarginClassifier._checks,
        "gamma": check_positive,
        "solver": solver_for(MARGIN, "ProbitEM"),
    }

    @property
    def gamma_(self) -> float:
        """The gamma of the fit."""
        return 2 / self.C_

    def _margin_problem(self, data: Data) -> MarginProblem:
        loss = ProbitLoss(data.given_weights)
        penalty = MarginNorm(float(self.norm), data.factors)
        return MarginProblem(data.design, data.target.Y, loss, 2 / float(self.gamma), penalty)

    def _automatic(self, problem: MarginProblem, k: int | None) -> Solver:
        return ProbitEM(tol=float(self.tol), max_iter=int(self.max_iter))

    def _nothing_left(self) -> str:
        return (
            f"No feature was selected: the prior of gamma={self.gamma:g} outweighs the data. All "
            "samples are given the majority class; lower gamma."
        )


@dataclass(eq=False, repr=False)
class ProbitKernelClassifier(KernelExpansion, Probabilities):
    r"""The same model in a kernel: ``P(y = 1 | x) = Phi(sum_j a_j k(x_j, x) + b)``, few a_j != 0.

    Parameters
    ----------
    prior : float > 0
        The gamma of ``ProbitSelector``.
    solver : "auto" or ``rowsparse.solvers.ProbitEM``
    kernel, gamma, degree, coef0, n_vectors_to_select : as in ``ZeroNormKernelSVC``
    norm, tol, max_iter, class_weight : as in ``ZeroNormKernelSVC``

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, n_support_ : as in ``ZeroNormKernelSVC``
    solution_, n_iter_, classes_, n_features_in_, feature_names_in_ : as in ``ZeroNormKernelSVC``

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rowsparse import ProbitKernelClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = ProbitKernelClassifier(n_vectors_to_select=10)
    >>> model = make_pipeline(StandardScaler(), machine).fit(X, y)
    >>> model[-1].support_.size, model.score(X, y) > 0.9
    (10, True)
    """

    _: KW_ONLY
    prior: float = 1.0
    tol: float = 1e-4
    max_iter: int = 500

    _checks: ClassVar = {
        **KernelExpansion._checks,
        "prior": check_positive,
        "solver": solver_for(MARGIN, "ProbitEM"),
    }

    def _loss(self, weights: np.ndarray) -> tuple[MarginLoss, float]:
        return ProbitLoss(weights), 2 / float(self.prior)

    def _automatic(self) -> Solver:
        return ProbitEM(tol=float(self.tol), max_iter=int(self.max_iter))

    def _what_to_change(self) -> str:
        return f"lower prior, now {self.prior:g}"


def log_probabilities(Z: np.ndarray) -> np.ndarray:
    """``log Phi(±z)`` for two classes; for more, one-vs-rest probabilities scaled to sum one."""
    if Z.ndim == 1:
        return np.column_stack([log_ndtr(-Z), log_ndtr(Z)])
    logs = log_ndtr(Z)
    # from the largest on, whose exponential is one: all others may underflow
    logs = logs - logs.max(axis=1, keepdims=True)
    totals = np.exp(logs).sum(axis=1, keepdims=True)
    return logs - np.log(totals)
