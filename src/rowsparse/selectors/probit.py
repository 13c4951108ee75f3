"""The probit model with a sparse prior, fitted by EM: linear (selects features) and in a kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from scipy.special import log_ndtr

from ..losses import MarginLoss, ProbitLoss
from ..penalties import MarginNorm
from ..problems.margin import MarginProblem
from ..solvers.margin.probit import ProbitEM
from ..solvers.margin.reweighting import Reweighted
from .base import Data
from .kernel_expansion import EXPANSION_CHECKS, KernelExpansion
from .margin import LINEAR_CHECKS, MarginClassifier
from .parameters import number


class Probabilities(ABC):
    """Of a classifier whose decision function is the argument of Phi."""

    @abstractmethod
    def decision_function(self, X):
        """One number per sample for two classes, else one per class."""

    def predict_proba(self, X):
        """Probabilities of the classes, in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X):
        """Their logarithms, finite however sure the model is."""
        return log_probabilities(self.decision_function(X))


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
    standardize : bool
        Scale columns to unit variance first; ``coef_`` is in the original scale all the same.
    tol : float
        Stop when a further step changes no coefficient by more than tol times the largest.
    max_iter : int
    class_weight : None, "balanced" or mapping from class to weight
    feature_weights : array or mapping from names, optional
        Factor f_j on each feature's penalty: 0 = always in, infinity = never.

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

    _checks: ClassVar = {**LINEAR_CHECKS, "gamma": number(0.0, low_open=True)}

    def __init__(
        self,
        n_features_to_select=None,
        *,
        norm=0.0,
        gamma=1.0,
        standardize=True,
        tol=1e-4,
        max_iter=500,
        class_weight=None,
        feature_weights=None,
    ):
        self.n_features_to_select = n_features_to_select
        self.norm = norm
        self.gamma = gamma
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.feature_weights = feature_weights

    @property
    def gamma_(self) -> float:
        """The gamma of the fit."""
        return 2 / self.C_

    def _margin_problem(self, data: Data, weights: np.ndarray) -> MarginProblem:
        loss = ProbitLoss(weights)
        penalty = MarginNorm(float(self.norm), data.factors)
        return MarginProblem(data.design, data.target.Y, loss, 2 / float(self.gamma), penalty)

    def _margin_solver(self, keep: int | None) -> ProbitEM:
        return ProbitEM(tol=float(self.tol), max_iter=int(self.max_iter), keep=keep)

    def _nothing_left(self) -> str:
        return (
            f"No feature was selected: the prior of gamma={self.gamma:g} outweighs the data. All "
            "samples are given the majority class; lower gamma."
        )


class ProbitKernelClassifier(KernelExpansion, Probabilities):
    r"""The same model in a kernel: ``P(y = 1 | x) = Phi(sum_j a_j k(x_j, x) + b)``, few a_j != 0.

    Parameters and attributes as in ``ZeroNormKernelSVC``, with ``prior`` (the gamma of
    ``ProbitSelector``) in place of C and without ``refit_C``; ``gamma`` is the kernel's.
    """

    _checks: ClassVar = {**EXPANSION_CHECKS, "prior": number(0.0, low_open=True)}

    def __init__(
        self,
        *,
        norm=0.0,
        prior=1.0,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=0.0,
        n_vectors_to_select=None,
        tol=1e-4,
        max_iter=500,
        class_weight=None,
    ):
        self.norm = norm
        self.prior = prior
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_vectors_to_select = n_vectors_to_select
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight

    def _loss(self, weights: np.ndarray) -> tuple[MarginLoss, float]:
        return ProbitLoss(weights), 2 / float(self.prior)

    def _expansion_solver(self, keep: int | None) -> Reweighted:
        return ProbitEM(tol=float(self.tol), max_iter=int(self.max_iter), keep=keep)

    def _what_to_change(self) -> str:
        return f"lower prior, now {self.prior:g}"


def log_probabilities(Z: np.ndarray) -> np.ndarray:
    """``log Phi(±z)`` for two classes; for more, one-vs-rest probabilities scaled to sum one."""
    if Z.ndim == 1:
        return np.column_stack([log_ndtr(-Z), log_ndtr(Z)])
    logs = log_ndtr(Z)
    largest = logs.max(axis=1, keepdims=True)
    return logs - largest - np.log(np.exp(logs - largest).sum(axis=1, keepdims=True))
