"""The zero-norm support vector machine in a kernel: few support vectors."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..designs import as_design
from ..losses import HingeLoss, MarginLoss
from ..penalties import MarginNorm
from ..problems.margin import MarginProblem
from ..results import Solution
from ..solvers.base import run
from ..solvers.margin.reweighting import Reweighted
from ..solvers.margin.svm import ReweightedSVM
from .kernel_expansion import EXPANSION_CHECKS, KernelExpansion
from .parameters import number, optional


class ZeroNormKernelSVC(KernelExpansion):
    r"""A kernel support vector machine that keeps few support vectors (Huang, King & Lyu 2008).

    The zero-norm machine (``ZeroNormSVC``) with the kernel matrix in place of X and one coefficient
    per training point: for ``norm`` = p in (0, 2] it minimises

        C sum_i s_i max(0, 1 - y_i f(x_i)) + (2/p) sum_j |a_j|**p,   f(x) = sum_j a_j k(x_j, x) + b

    and p = 0 ends where the last sum counts the points kept. The kernel need not be positive
    definite. Points that die leave the memory, which begins with n x n numbers and shrinks.

    Parameters
    ----------
    C : float > 0
        Weight of the errors; smaller keeps fewer support vectors.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable (A, B) -> matrix
    gamma : {"scale", "auto"} or float, degree : int, coef0 : float
        Of the kernel, as in scikit-learn's SVC.
    norm : float in [0, 2]
    n_vectors_to_select : int, optional
        Exactly this many support vectors: the reweighting stops when no more are left, with a
        smaller C where it would end with more. Choose C = 1 and let this number decide.
    refit_C : float > 0, optional
        Let the norm only choose the vectors; their coefficients are those of the plain machine
        in their span, ``min 1/2 |f|_K**2 + refit_C sum_i s_i max(0, 1 - y_i f(x_i))`` over
        ``f = sum of the kept a_j k(x_j, .) + b``: SVC(C=refit_C) with few vectors. Needs a
        positive semidefinite kernel.
    tol : float
        Stop when a further step changes no point's part in f by more than tol times the largest.
    max_iter : int
    class_weight : None, "balanced" or mapping from class to weight

    Attributes
    ----------
    support_ : array of the kept training points' indices, by class as in SVC
    support_vectors_ : array (n_SV, n_features); empty for a precomputed kernel
    dual_coef_ : array (1 or n_classes, n_SV), intercept_ : array (1 or n_classes,)
        More than two classes: one-vs-rest machines that share their support vectors.
    n_support_ : array (n_classes,)
    solution_ : rowsparse.results.Solution, of the problem that chose the vectors
    n_iter_, classes_, n_features_in_, feature_names_in_
    """

    _checks: ClassVar = {
        **EXPANSION_CHECKS,
        "C": number(0.0, low_open=True),
        "refit_C": optional(number(0.0, low_open=True)),
    }

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        gamma="scale",
        degree=3,
        coef0=0.0,
        norm=0.0,
        n_vectors_to_select=None,
        refit_C=None,
        tol=1e-3,
        max_iter=100,
        class_weight=None,
    ):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.norm = norm
        self.n_vectors_to_select = n_vectors_to_select
        self.refit_C = refit_C
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight

    def _loss(self, weights: np.ndarray) -> tuple[MarginLoss, float]:
        return HingeLoss(weights), float(self.C)

    def _expansion_solver(self, keep: int | None) -> Reweighted:
        return ReweightedSVM(tol=float(self.tol), max_iter=int(self.max_iter), keep=keep)

    def _coefficients(self, problem: MarginProblem, solution: Solution, chosen, vectors):
        if self.refit_C is None or not chosen.size:
            return super()._coefficients(problem, solution, chosen, vectors)
        T = whitening(self._kernel_to_support(vectors))
        B = problem.design.take(chosen) @ T  # |f|_K is the Euclidean norm of its coefficients
        euclidean = MarginNorm(2.0, np.ones(B.shape[1]))
        C = 2 * float(self.refit_C)
        plain = MarginProblem(as_design(B), problem.Y, problem.loss, C, euclidean)
        found = run(ReweightedSVM(), plain, start="plain machine")
        return T @ found.W, found.intercept

    def _what_to_change(self) -> str:
        return f"raise C, now {self.C:g}"


def whitening(K: np.ndarray) -> np.ndarray:
    """T with ``T'K T = I`` on the range of K: ``a = T u`` has ``a'K a = |u|**2``."""
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    largest = values.max(initial=0.0)
    if values.min() < -1e-8 * largest or largest <= 0:
        raise ValueError(
            "Expected a positive semidefinite kernel for refit_C, got one whose matrix on the "
            f"support vectors has the eigenvalue {values.min():.3g}; use refit_C=None."
        )
    usable = values > 1e-10 * largest
    return vectors[:, usable] / np.sqrt(values[usable])
