"""Classifiers in a kernel: what they share, and the zero-norm machine that keeps few vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ..designs import Subset, as_design, canonical
from ..designs.wrappers import Standardized
from ..inputs import (
    check_class_weight,
    check_count,
    check_integer,
    check_k,
    check_memory,
    check_name,
    check_number,
    check_parameters,
    check_positive,
    check_sample_weight,
    optional,
)
from ..losses import HingeLoss, MarginLoss
from ..penalties import MarginNorm
from ..problems.base import MARGIN
from ..problems.margin import MarginProblem
from ..results import Solution
from ..solvers.base import Solver, run
from ..solvers.margin.svm import ReweightedSVM
from ..targets import Target, as_target, class_factors
from ..warn import warn_user
from .base import decided, say_how_it_ended
from .data import new_samples, solver_for, validated
from .kernels import KERNELS, Kernel, KernelColumns, first_of_equals, kernel_width
from .margin import as_labels, at_most_usable, check_costs, check_labels, majority, solved


def check_kernel(name: str, value: Any) -> None:
    """A known kernel, or a function of two matrices."""
    if not callable(value) and not (isinstance(value, str) and value in KERNELS):
        known = ", ".join(KERNELS)
        raise ValueError(
            f"Expected {name} to be one of {known} or a callable, got {name}={value!r}."
        )


def check_gamma(name: str, value: Any) -> None:
    """A width, or how to choose it."""
    if isinstance(value, str):
        check_name(name, value, ("scale", "auto"))
    else:
        check_number(name, value, 0.0)


@dataclass(eq=False, repr=False)
class KernelExpansion(ClassifierMixin, BaseEstimator, ABC):
    """``f(x) = sum_i a_i k(x_i, x) + b`` over few training points; subclasses give loss, weight of
    the loss and solver."""

    _: KW_ONLY
    kernel: Any = "rbf"
    gamma: Any = "scale"
    degree: float = 3
    coef0: float = 0.0
    norm: float = 0.0
    n_vectors_to_select: int | float | None = None
    tol: float = 1e-3
    max_iter: int = 100
    solver: Any = "auto"
    class_weight: Any = None

    _checks: ClassVar = {
        "kernel": check_kernel,
        "gamma": check_gamma,
        "degree": partial(check_number, low=0.0),
        "coef0": partial(check_number, low=-np.inf),
        "norm": partial(check_number, low=0.0, high=2.0),
        "n_vectors_to_select": optional(check_count),
        "tol": check_positive,
        "max_iter": partial(check_integer, low=1),
        "class_weight": check_class_weight,
    }

    @abstractmethod
    def _loss(self, weights: np.ndarray) -> tuple[MarginLoss, float]:
        """The loss, and the factor C on it."""

    @abstractmethod
    def _automatic(self) -> Solver:
        """The solver of this classifier unless one was given."""

    @abstractmethod
    def _what_to_change(self) -> str:
        """The advice when nothing is left."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array, sparse matrix or data frame, (n_samples, n_features); with
            ``kernel="precomputed"`` the square matrix of kernel values
        y : class labels of any type, two classes or more
        sample_weight : array of n_samples numbers >= 0; a weight of 2 is a row repeated
        """
        check_parameters(self)
        before = vars(self).copy()
        try:
            self._fit(X, y, sample_weight)
        except BaseException:  # Ctrl-C too: no classifier is left fitted in part
            self.__dict__ = before
            raise
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        X, y = self._validated(X, as_labels(y))
        given = check_sample_weight(sample_weight, X.shape[0])
        counts = np.ones(X.shape[0]) if given is None else given
        rows = np.flatnonzero(counts)  # a sample of weight zero is no candidate either
        counts = counts[rows]
        X_used = X if rows.size == X.shape[0] else X[rows]
        target = as_target(np.asarray(y)[rows], "classification")
        self.classes_ = check_labels(target)
        weights = counts * class_factors(self.class_weight, target, counts)
        self._gamma = 1.0
        if self.kernel != "precomputed":
            self._gamma = kernel_width(self.gamma, X_used, counts)
        design, points = self._design(X_used, rows, weights)
        factors = np.where(design.constant_columns(), np.inf, 1.0)
        if np.isinf(factors).all():
            raise ValueError(
                "Expected points that the kernel tells apart, got a kernel whose columns are all "
                "constant; scale X or choose another kernel or gamma."
            )
        loss, C = self._loss(weights)
        penalty = MarginNorm(float(self.norm), factors)
        problem = check_costs(MarginProblem(design, target.Y, loss, C, penalty))
        k = None
        if self.n_vectors_to_select is not None:
            k = check_k(self.n_vectors_to_select, weights, "n_vectors_to_select", "the samples")
            k = at_most_usable(k, factors, "support vectors", "X has no more distinct points")
        solver = self.solver if isinstance(self.solver, Solver) else self._automatic()
        solution, _ = solved(problem, solver, k, thorough=False)
        say_how_it_ended(solution)
        self._set_fitted(X_used, rows, points, target, problem, solution, design.means_)

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = validated(self, X, y, accept_sparse="csr", dtype=np.float64)
        X = canonical(X)  # widths and equal points are told by the entries
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Expected a square matrix of kernel values for kernel='precomputed', got shape "
                f"{X.shape}."
            )
        return X, y

    def _design(
        self, X: Any, rows: np.ndarray, weights: np.ndarray
    ) -> tuple[KernelColumns | Standardized, np.ndarray]:
        """The kernel's columns, one per candidate, and which sample each candidate is.

        Equal points are one candidate: together they can do no more than one of them, and a point
        that is there twice differs in nothing from one of weight two.
        """
        points = first_of_equals(X)
        needed = 8.0 * X.shape[0] * points.size
        check_memory(needed, X, type(self).__name__, "fit it to fewer samples")
        if self.kernel != "precomputed":
            return KernelColumns(self._kernel(), X, X[points], weights), points
        columns = Subset(as_design(X), rows[points])
        return Standardized(columns, columns.means(weights), np.ones(points.size)), points

    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self._gamma, self.degree, self.coef0)

    def _set_fitted(
        self,
        X: Any,
        rows: np.ndarray,
        points: np.ndarray,
        target: Target,
        problem: MarginProblem,
        solution: Solution,
        means: np.ndarray,
    ) -> None:
        """Of the samples ``rows`` in X; the candidates are ``points`` of them."""
        codes = target.codes
        kept = points[solution.rows]  # candidates are some of the samples
        order = np.argsort(codes[kept], kind="stable")  # by class, as SVC does
        chosen = solution.rows[order]
        vectors = X[kept[order]]
        self.support_ = rows[kept[order]]
        self.n_support_ = np.bincount(codes[kept], minlength=self.classes_.size)
        # rows of a matrix of kernel values are no points
        self.support_vectors_ = np.empty((0, 0)) if self.kernel == "precomputed" else vectors
        W, b = self._coefficients(problem, solution, chosen, vectors)
        self.dual_coef_ = W.T
        self.intercept_ = b - means[chosen] @ W  # the solver saw centred columns
        self.solution_ = solution
        self.n_iter_ = max(solution.n_iter, 1)
        if not chosen.size:
            self.intercept_ = b + majority(target, problem.weights)
            if solution.converged:  # the penalty is not to blame for a search that was stopped
                warn_user(
                    "No support vector is left: the penalty outweighs the errors. All samples are "
                    f"given the majority class; {self._what_to_change()}."
                )

    def _coefficients(
        self, problem: MarginProblem, solution: Solution, chosen: np.ndarray, vectors: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of the chosen points, whose samples are ``vectors``, and the intercept."""
        return solution.W[chosen], solution.intercept

    def decision_function(self, X: Any) -> np.ndarray:
        """One number per sample for two classes (positive for ``classes_[1]``), else one per
        class; the cost is that of the kernel between X and the support vectors alone."""
        check_is_fitted(self, "dual_coef_")
        X = new_samples(self, X, np.float64)
        Z = np.tile(self.intercept_, (X.shape[0], 1))
        if self.support_.size:
            Z = Z + self._kernel_to_support(X) @ self.dual_coef_.T
        return Z.ravel() if Z.shape[1] == 1 else Z

    def _kernel_to_support(self, X: Any) -> np.ndarray:
        if self.kernel != "precomputed":
            return self._kernel()(X, self.support_vectors_)
        K = X[:, self.support_]
        return K.toarray() if sparse.issparse(K) else K

    def predict(self, X: Any) -> np.ndarray:
        """The class of every sample."""
        decisions = self.decision_function(X)
        return decided(self.classes_, decisions)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.allow_nan = False
        return tags


@dataclass(eq=False, repr=False)
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
    gamma, degree, coef0 : {"scale", "auto"} or float, int, float
        Of the kernel, as in scikit-learn's SVC.
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
    solver : "auto" or ``rowsparse.solvers.ReweightedSVM``, with ``time_limit`` and ``callback``
    norm, max_iter, class_weight : as in ``ZeroNormSVC``

    Attributes
    ----------
    support_ : array of the kept training points' indices, by class as in SVC
    support_vectors_ : array (n_SV, n_features); empty for a precomputed kernel
    dual_coef_ : array (1 or n_classes, n_SV), intercept_ : array (1 or n_classes,)
        More than two classes: one-vs-rest machines that share their support vectors.
    n_support_ : array (n_classes,)
    solution_ : rowsparse.results.Solution, of the problem that chose the vectors
    n_iter_, classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from rowsparse import ZeroNormKernelSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = ZeroNormKernelSVC(n_vectors_to_select=10)
    >>> model = make_pipeline(StandardScaler(), machine).fit(X, y)
    >>> model[-1].support_.size, model.score(X, y) > 0.9
    (10, True)
    """

    C: float = 1.0
    _: KW_ONLY
    refit_C: float | None = None

    _checks: ClassVar = {
        **KernelExpansion._checks,
        "C": check_positive,
        "refit_C": optional(check_positive),
        "solver": solver_for(MARGIN, "ReweightedSVM"),
    }

    def _loss(self, weights: np.ndarray) -> tuple[MarginLoss, float]:
        return HingeLoss(weights), float(self.C)

    def _automatic(self) -> Solver:
        return ReweightedSVM(tol=float(self.tol), max_iter=int(self.max_iter))

    def _coefficients(
        self, problem: MarginProblem, solution: Solution, chosen: np.ndarray, vectors: Any
    ) -> tuple[np.ndarray, np.ndarray]:
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
    usable = values > 1e-10 * largest  # others would be divided by the root of rounding
    return vectors[:, usable] / np.sqrt(values[usable])
