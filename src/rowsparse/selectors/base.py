"""What all selectors of rows share, and the one fit of those that solve a penalised problem."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..designs import NotFinite
from ..inputs import check_k, check_number
from ..losses import ResidualLoss
from ..numerics.rows import largest_first, row_norms
from ..paths import path_to_k
from ..penalties import RowPenalty
from ..problems.penalised import PenalisedProblem
from ..results import Path, Solution
from ..solvers import BlockDescent, Solver, choose, solve
from .data import Data, check_finite
from .feature_selector import FeatureSelector

DEFAULT_FRACTION = 0.1  # of alpha_max, when neither alpha nor k is given


class JointSelector(FeatureSelector, ABC):
    """A selector whose features are rows of a W fitted to all outputs jointly."""

    fit_intercept: bool
    standardize: bool
    solver: Any
    feature_weights: Any
    task: str

    def _solver(self) -> Solver | None:
        if isinstance(self.solver, Solver):
            _check_solver(self.solver)
            return self.solver
        if self.solver == "auto":
            return None
        raise TypeError(
            "Expected solver to be 'auto' or an object from rowsparse.solvers such as "
            f"BlockDescent(tol=1e-8), got solver={self.solver!r}."
        )

    def _data(self, X, y, sample_weight) -> Data:
        _check_parameters(self)
        return Data.of(self, X, y, sample_weight, self._meets_all_of_X_first())

    def _meets_all_of_X_first(self) -> bool:
        """Whether the first thing a fit computes of all of X is ``X'R``, which may look for NaN."""
        return False

    def _set_rows(self, data: Data, solution: Solution, support: np.ndarray) -> None:
        """The fitted attributes that a W and a support give."""
        dtype = data.design.dtype
        W = solution.W / data.scales[:, None]
        self.coef_ = W.T.astype(dtype)
        self.intercept_ = (solution.intercept - data.means @ W).astype(dtype)
        self.scores_ = row_norms(solution.W)
        order = largest_first(self.scores_)
        self.ranking_ = np.empty(order.size, dtype=int)
        self.ranking_[order] = np.arange(1, order.size + 1)
        self.support_ = support
        self.solution_ = solution
        self.n_iter_ = max(solution.n_iter, 1)
        self.output_names_ = data.target.output_names
        if data.target.classes is not None:
            self.classes_ = data.target.classes
        elif hasattr(self, "classes_"):  # of an earlier fit on labels
            del self.classes_


class RowSelector(JointSelector):
    """Selects the features whose rows of W a penalised problem leaves nonzero.

    Subclasses give ``_loss`` and ``_penalty``; constructor parameters are theirs.
    """

    alpha: float | None
    n_features_to_select: int | None
    init: Any

    @abstractmethod
    def _loss(self, sample_weight: np.ndarray | None) -> ResidualLoss:
        """The loss of this selector, given weights of mean one."""

    @abstractmethod
    def _penalty(self, alpha: float, factors: np.ndarray | None) -> RowPenalty:
        """The penalty of this selector at a strength, given the features' factors."""

    def fit(self, X, y, sample_weight=None):
        """Solve the problem and keep the selected features.

        Parameters
        ----------
        X : array, memory map, sparse matrix or data frame, (n_samples, n_features)
        y : labels, a 0/1 label-indicator matrix, or numbers (one or many outputs)
        sample_weight : array of n_samples numbers >= 0; a weight of 2 is a row repeated
        """
        data = self._data(X, y, sample_weight)
        k = check_k(self.n_features_to_select, data.factors)
        problem, solver = self._problem(data), self._solver()
        try:
            alpha, solution, path = self._solve(problem, solver, k)
        except NotFinite:
            check_finite(self, X)
            raise
        if not solution.converged:
            warnings.warn(not_converged(solution), ConvergenceWarning, stacklevel=2)
        self._set_fitted(data, problem, solution, alpha, k, path)
        return self

    def problem_and_solver(self, X, y, sample_weight=None) -> tuple[PenalisedProblem, Solver]:
        """The optimisation problem that ``fit`` would solve, and the solver it would use."""
        data = self._data(X, y, sample_weight)
        problem = self._problem(data)
        solver = self._solver()
        return problem, choose(problem)[0] if solver is None else solver

    def _meets_all_of_X_first(self) -> bool:
        descends = self.solver == "auto" or isinstance(self.solver, BlockDescent)
        return descends and self._penalty(1.0, None).convex and self._loss(None).quadratic

    def _problem(self, data: Data) -> PenalisedProblem:
        penalty = self._penalty(1.0 if self.alpha is None else self.alpha, data.factors)
        loss = self._loss(data.weights)
        problem = PenalisedProblem.build(
            data.design, data.target.Y, loss, penalty, self.fit_intercept
        )
        shape = (data.design.shape[1], data.target.Y.shape[1])
        _check_init(self.init, shape, penalty.starts)
        return problem

    def _solve(self, problem: PenalisedProblem, solver: Solver | None, k: int | None):
        solver = choose(problem)[0] if solver is None else solver
        if self.alpha is None and k is not None:
            return path_to_k(problem, solver, k, self.init)
        alpha = self.alpha
        if alpha is None:
            alpha = DEFAULT_FRACTION * problem.alpha_max()
        return alpha, solve(problem.with_alpha(alpha), solver, self.init), None

    def _set_fitted(
        self,
        data: Data,
        problem: PenalisedProblem,
        solution: Solution,
        alpha: float,
        k: int | None,
        path: Path | None,
    ) -> None:
        self._set_rows(data, solution, _support(problem.with_alpha(alpha), solution, k))
        self.alpha_ = float(alpha)
        n_features = len(solution.W)
        self.entered_alpha_ = np.full(n_features, np.nan) if path is None else path.entered


def _check_parameters(selector: JointSelector) -> None:
    if getattr(selector, "alpha", None) is not None:
        check_number("alpha", selector.alpha, 0.0, np.inf)  # type: ignore[attr-defined]
    for name in ("p", "r"):
        if hasattr(selector, name):
            value, low = getattr(selector, name), 0.0
            check_number(name, value, low, 2.0 if name == "r" else 1.0, low_open=name == "r")
    for name in ("fit_intercept", "standardize"):
        if not isinstance(getattr(selector, name), bool | np.bool_):
            raise TypeError(
                f"Expected {name} to be True or False, got {name}={getattr(selector, name)!r}."
            )


def _check_init(init, shape: tuple[int, int], starts: tuple[str, ...]) -> None:
    if isinstance(init, str):
        if init not in (*starts, "best"):
            names = ", ".join(map(repr, starts))
            raise ValueError(f"Expected init to be {names}, 'best' or an array, got {init!r}.")
        return
    array = np.asarray(init, dtype=float)
    if array.shape != shape:
        raise ValueError(
            f"Expected init as an array of shape {shape} (features × outputs), got {array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError("Expected a finite init array, got NaN or infinity in it.")


def _check_solver(solver: Solver) -> None:
    check_number("solver.tol", solver.tol, 0.0, np.inf, low_open=True)
    if solver.max_iter < 1:
        raise ValueError(f"Expected solver.max_iter >= 1, got {solver.max_iter!r}.")
    if solver.time_limit is not None:
        check_number("solver.time_limit", solver.time_limit, 0.0, np.inf)
    if solver.callback is not None and not callable(solver.callback):
        raise TypeError(f"Expected solver.callback to be callable, got {solver.callback!r}.")


def _support(problem: PenalisedProblem, solution: Solution, k: int | None) -> np.ndarray:
    """The nonzero rows, or exactly k: those always in, then the largest, ties by index."""
    scores = row_norms(solution.W)
    if k is None:
        support = scores > 0
        if not support.any():
            _say(
                f"No feature was selected at alpha={problem.penalty.alpha:g}; "
                "lower alpha or set n_features_to_select."
            )
        return support
    d = len(scores)
    eligible = (problem.sample_curvatures[:d] > 0) & ~problem.penalty.excluded(problem.n_rows)[:d]
    always = problem.penalty.free(problem.n_rows)[:d] & eligible
    order = np.lexsort((np.arange(d), -scores, ~always))
    order = order[eligible[order]][:k]
    if order.size < k:
        _say(
            f"Expected {k} features, got {order.size}: the other columns of X are constant "
            "or excluded."
        )
    elif not scores[order].all():
        _say(
            f"Only {np.count_nonzero(scores)} rows are nonzero at alpha={problem.penalty.alpha:g}; "
            f"the other features up to {k} are the first ones of X. Lower alpha or k."
        )
    support = np.zeros(d, dtype=bool)
    support[order] = True
    return support


def _say(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=5)


def not_converged(solution: Solution) -> str:
    return (
        f"The solver stopped {solution.status} after {solution.n_iter} iterations and "
        f"{solution.seconds:.3g} s: criterion {solution.criterion:.2g}, wanted "
        f"{solution.tol:.2g}. {solution.advice}"
    )
