"""What the kernel classifiers share: candidates, the fit, decisions from few support vectors."""

from __future__ import annotations

import warnings
from abc import abstractmethod

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..designs import Subset, as_design
from ..designs.wrappers import Standardized
from ..inputs import check_k, check_sample_weight
from ..losses import MarginLoss
from ..penalties import MarginNorm
from ..problems.margin import MarginProblem
from ..results import Solution
from ..solvers.margin.reweighting import Reweighted
from ..solvers.margin.svm import solve_margin
from ..targets import as_target, class_factors
from .base import decided, say_how_it_ended, validated
from .kernels import KERNELS, Kernel, KernelColumns, kernel_width
from .margin import COMMON_CHECKS, as_labels, at_most_usable, check_labels, majority
from .parameters import check_parameters, count, name_or, number, optional, otherwise_callable

EXPANSION_CHECKS = {
    **COMMON_CHECKS,
    "kernel": otherwise_callable(*KERNELS),
    "gamma": name_or(("scale", "auto"), number(0.0)),
    "degree": number(0.0),
    "coef0": number(-np.inf),
    "n_vectors_to_select": optional(count),
}


class KernelExpansion(ClassifierMixin, BaseEstimator):
    """``f(x) = sum_i a_i k(x_i, x) + b`` over few training points; subclasses give loss, weight of
    the loss and solver."""

    n_vectors_to_select: int | None

    @abstractmethod
    def _loss(self, weights: np.ndarray) -> tuple[MarginLoss, float]:
        """The loss, and the factor C on it."""

    @abstractmethod
    def _expansion_solver(self, keep: int | None) -> Reweighted:
        """The solver of this classifier."""

    def fit(self, X, y, sample_weight=None):
        """Fit the classifier.

        Parameters
        ----------
        X : array, sparse matrix or data frame, (n_samples, n_features); with
            ``kernel="precomputed"`` the square matrix of kernel values
        y : class labels of any type, two classes or more
        sample_weight : array of n_samples numbers >= 0; a weight of 2 is a row repeated
        """
        check_parameters(self)
        X, y = self._validated(X, as_labels(y))
        given = check_sample_weight(sample_weight, X.shape[0])
        rows = np.arange(X.shape[0]) if given is None else np.flatnonzero(given)
        target = as_target(np.asarray(y)[rows], "classification")
        check_labels(target)
        weights = np.ones(rows.size) if given is None else given[rows]
        weights = weights * class_factors(self.class_weight, target, weights)
        X_used = X if rows.size == X.shape[0] else X[rows]
        precomputed = self.kernel == "precomputed"
        counts = None if given is None else given[rows]
        self._gamma = 1.0 if precomputed else kernel_width(self.gamma, X_used, counts)
        design, points = self._design(X_used, rows, weights)
        loss, C = self._loss(weights)
        factors = np.where(design.constant_columns(), np.inf, 1.0)
        problem = MarginProblem(design, target.Y, loss, C, MarginNorm(float(self.norm), factors))
        k = None
        if self.n_vectors_to_select is not None:
            k = check_k(self.n_vectors_to_select, weights, "n_vectors_to_select", "the samples")
            k = at_most_usable(k, factors, "support vectors", "X has no more distinct points")
        solution, _ = solve_margin(problem, self._expansion_solver(k), thorough=False)
        say_how_it_ended(solution)
        self._set_fitted(X_used, rows, points, target, weights, problem, solution, design.means_)
        return self

    def _validated(self, X, y):
        X, y = validated(self, X, y, accept_sparse="csr", dtype=np.float64)
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Expected a square matrix of kernel values for kernel='precomputed', got shape "
                f"{X.shape}."
            )
        return X, y

    def _design(
        self, X, rows: np.ndarray, weights
    ) -> tuple[KernelColumns | Standardized, np.ndarray]:
        """The kernel's columns, one per candidate, and which sample each candidate is.

        Equal points are one candidate: together they can do no more than one of them, and a point
        that is there twice differs in nothing from one of weight two.
        """
        points = _first_of_equals(X)
        if self.kernel != "precomputed":
            return KernelColumns(self._kernel(), X, X[points], weights), points
        columns = Subset(as_design(X), rows[points])
        return Standardized(columns, columns.means(weights), np.ones(points.size)), points

    def _kernel(self) -> Kernel:
        return Kernel(self.kernel, self._gamma, self.degree, self.coef0)

    def _set_fitted(self, X, rows, points, target, weights, problem, solution, means) -> None:
        codes = target.codes
        kept = points[solution.rows]
        order = np.argsort(codes[kept], kind="stable")  # by class, as SVC does
        chosen = solution.rows[order]
        self.support_ = rows[points[chosen]]
        self.n_support_ = np.bincount(codes[kept], minlength=target.classes.size)
        precomputed = self.kernel == "precomputed"
        empty = np.empty((0, 0))
        self.support_vectors_ = empty if precomputed else X[points[chosen]]
        W, b = self._coefficients(problem, solution, chosen, X[points[chosen]])
        self.dual_coef_ = W.T
        self.intercept_ = b - means[chosen] @ W
        self.classes_ = target.classes
        self.solution_ = solution
        self.n_iter_ = max(solution.n_iter, 1)
        if not chosen.size:
            self.intercept_ = majority(target, weights)
            warnings.warn(
                "No support vector is left: the penalty outweighs the errors. All samples are "
                f"given the majority class; {self._what_to_change()}.",
                UserWarning,
                stacklevel=3,
            )

    def _coefficients(
        self, problem: MarginProblem, solution: Solution, chosen: np.ndarray, vectors
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of the chosen points, whose samples are ``vectors``, and the intercept."""
        return solution.W[chosen], solution.intercept

    @abstractmethod
    def _what_to_change(self) -> str:
        """The advice when nothing is left."""

    def decision_function(self, X):
        """One number per sample for two classes (positive for ``classes_[1]``), else one per
        class; the cost is that of the kernel between X and the support vectors alone."""
        check_is_fitted(self, "dual_coef_")
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        Z = np.tile(self.intercept_, (X.shape[0], 1))
        if self.support_.size:
            Z = Z + self._kernel_to_support(X) @ self.dual_coef_.T
        return Z.ravel() if Z.shape[1] == 1 else Z

    def _kernel_to_support(self, X) -> np.ndarray:
        if self.kernel != "precomputed":
            return self._kernel()(X, self.support_vectors_)
        K = X[:, self.support_]
        return K.toarray() if sparse.issparse(K) else K

    def predict(self, X):
        """The class of every sample."""
        Z = self.decision_function(X)
        return decided(self.classes_, Z)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.allow_nan = False
        return tags


def _first_of_equals(X) -> np.ndarray:
    """Indices of the first of all equal rows, in increasing order."""
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        if not X.has_canonical_format:  # of a copy: the arrays are the caller's
            X = X.copy()
            X.sum_duplicates()
        keys = [
            X.indices[a:b].tobytes() + X.data[a:b].tobytes()
            for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
        ]
    else:
        keys = [row.tobytes() for row in np.ascontiguousarray(X)]
    first: dict[bytes, int] = {}
    for i, key in enumerate(keys):
        first.setdefault(key, i)
    return np.array(list(first.values()))
