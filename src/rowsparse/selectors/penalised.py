"""Selectors by a penalty on the rows of W: the l2,r / l2,p family and the l_{p,inf} operator."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from ..inputs import (
    check_class_weight,
    check_count,
    check_k,
    check_number,
    check_parameters,
    check_switch,
    check_task,
    optional,
)
from ..losses import ResidualLoss
from ..paths import path_to_k
from ..penalties import L2p, LpInf
from ..penalties.families import PowerPenalty
from ..problems.base import PENALTY
from ..problems.penalised import PenalisedProblem
from ..results import Solution
from ..solvers import Solver, choose
from ..solvers.penalised.bounds import bounded
from ..solvers.penalised.exactly_k import at_most_k
from ..warn import say_fewer_than, warn_user
from .automatic_ridge import automatic_ridge
from .base import JointSelector, say_how_it_ended
from .data import (
    Data,
    check_init,
    check_ridge,
    explaining_bad_numbers,
    refuse_bad_squares,
    solver_for,
)
from .rounds import Fitted, fitted_in_rounds

DEFAULT_FRACTION = 0.1  # of alpha_max, when neither alpha nor k is given: a round number


@dataclass(eq=False, repr=False)
class RowSelector(JointSelector):
    """Selects the features whose rows of W a penalised problem leaves nonzero.

    Subclasses give ``_loss`` and ``_penalty``.
    """

    n_features_to_select: int | float | None = None
    _: KW_ONLY
    alpha: float | None = None
    p: float = 0.5
    ridge: float | str = "auto"
    fit_intercept: bool = True
    standardize: bool = True
    init: Any = "best"
    solver: Any = "auto"
    feature_weights: Any = None
    class_weight: Any = None
    task: str = "auto"

    _checks: ClassVar = {
        "n_features_to_select": optional(check_count),
        "alpha": optional(partial(check_number, low=0.0)),
        "p": partial(check_number, low=0.0, high=1.0),
        "ridge": check_ridge,
        "fit_intercept": check_switch,
        "standardize": check_switch,
        "solver": solver_for(PENALTY, "BlockDescent, IRLS or ProximalGradient"),
        "class_weight": check_class_weight,
        "task": check_task,
    }

    @abstractmethod
    def _loss(self, sample_weight: np.ndarray | None) -> ResidualLoss:
        """The loss of this selector, given weights of mean one."""

    @abstractmethod
    def _penalty(self, alpha: float, factors: np.ndarray | None) -> PowerPenalty:
        """The penalty of this selector at a strength, given the features' factors."""

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        data = Data.of(self, X, y, sample_weight, self._loss(None).quadratic, one_fit=True)
        # a fraction is of the columns, and those always in count: both are known now
        k = None
        if self.n_features_to_select is not None:
            k = check_k(self.n_features_to_select, data.factors)
        build = partial(self._problem, data, k)
        solve = partial(self._explained, X, k)
        if data.in_rounds:
            problem, solution, path = fitted_in_rounds(data.X, self._solver, build, solve)
        else:
            problem = build()
            problem, solution, path = solve(problem, self._solver(problem))
        say_how_it_ended(solution)
        self._set_rows(data, solution, problem.entering(solution), problem.may_enter, k)
        self.alpha_ = float(problem.penalty.alpha)
        self.ridge_ = problem.ridge
        self.entered_alpha_ = np.full(self.scores_.size, np.nan) if path is None else path.entered
        self._say_what_is_missing(k)

    def problem_and_solver(
        self, X: Any, y: Any, sample_weight: Any = None, k: int | None = None
    ) -> tuple[PenalisedProblem, Solver]:
        """The optimisation problem that ``fit`` would solve, and the solver it would use; with k
        as if so many features were to be selected."""
        check_parameters(self)
        data = Data.of(self, X, y, sample_weight, self._loss(None).quadratic)
        if k is None and self.n_features_to_select is not None:
            k = check_k(self.n_features_to_select, data.factors)
        problem = self._problem(data, k)
        refuse_bad_squares(self, X, problem)
        return problem, self._solver(problem)

    def _solver(self, problem: PenalisedProblem) -> Solver:
        return self.solver if isinstance(self.solver, Solver) else choose(problem)[0]

    def _problem(self, data: Data, k: int | None) -> PenalisedProblem:
        penalty = self._penalty(1.0 if self.alpha is None else self.alpha, data.factors)
        shape = (data.design.shape[1], data.target.Y.shape[1])
        if not isinstance(self.init, str) and np.shape(self.init) != shape:
            raise ValueError(
                f"Expected init as an array of shape {shape} (features × outputs), "
                f"got {np.shape(self.init)}."
            )
        ridge = self._ridge(data, k)
        return data.problem(self._loss(data.weights), penalty, self.fit_intercept, ridge)

    def _ridge(self, data: Data, k: int | None) -> float:
        if not isinstance(self.ridge, str):
            return float(self.ridge)
        if k is None or self.alpha is not None:
            return 0.0  # without a choice of k there is nothing for a ridge to steady
        return automatic_ridge(data, k, self._loss(None).r, self.fit_intercept)

    def _explained(
        self, X: Any, k: int | None, problem: PenalisedProblem, solver: Solver
    ) -> Fitted:
        with explaining_bad_numbers(self, X, problem):
            return self._solve(problem, solver, k)

    def _solve(self, problem: PenalisedProblem, solver: Solver, k: int | None) -> Fitted:
        if self.alpha is None and k is not None:
            reached, solution, path = path_to_k(problem, solver, k, self.init)
            problem = problem.with_alpha(reached)
            # a bound takes its time, and nobody has asked for this ridge
            if not isinstance(self.ridge, str):
                solution = self._with_bound(problem, solution)
            return Fitted(problem, solution, path)
        # alpha_max takes a pass over X, which who names an alpha need not pay
        alpha = DEFAULT_FRACTION * problem.alpha_max() if self.alpha is None else self.alpha
        problem = problem.with_alpha(alpha)
        return Fitted(problem, self._with_bound(problem, at_most_k(problem, solver, self.init, k)))

    @staticmethod
    def _with_bound(problem: PenalisedProblem, solution: Solution) -> Solution:
        """Who has asked for a ridge gets what it proves."""
        return bounded(problem, solution) if problem.ridge and solution.gap is None else solution

    def _say_what_is_missing(self, k: int | None) -> None:
        found = int(np.count_nonzero(self.support_))
        used = int(np.count_nonzero(self.scores_[self.support_]))
        message = None
        if k is None and not found and self.solution_.converged:
            message = (
                f"No feature was selected at alpha={self.alpha_:g}; "
                "lower alpha or set n_features_to_select."
            )
        elif k is not None and found < k:
            say_fewer_than(k, found)
        elif k is not None and used < k:
            message = (
                f"Only {used} rows are nonzero at alpha={self.alpha_:g}; the other features up to "
                f"{k} are those that would enter next. Lower alpha or k."
            )
        if message is not None:
            warn_user(message)


@dataclass(eq=False, repr=False)
class L2pSelector(RowSelector):
    r"""Select features by a robust l2,r loss and an l2,p penalty on the rows of W.

    Minimises, on the standardised columns of X,

        1/(r n) sum_i s_i |x_i'W + b - y_i|_2**r  +  alpha sum_j f_j |w_j|_2**p  +  ridge/2 |W|**2

    with sample weights s of mean one and feature weights f. At r = 2, p = 1 this is scikit-learn's
    ``MultiTaskLasso`` at the same alpha, with a ridge its ``MultiTaskElasticNet``. A feature is
    selected if its row of W is not zero.

    Parameters
    ----------
    n_features_to_select : int or float, optional
        Exactly this many, or this fraction of all: at ``alpha_``, given or found, the problem is
        solved under the constraint of at most so many rows; support and coefficients are this W's.
    alpha : float >= 0, optional
        Strength of the penalty. None with ``n_features_to_select=k``: alpha is lowered until at
        least k rows are nonzero; given, fewer may be, which a warning says, and the best others
        fill the support. None alone: a tenth of the smallest alpha that selects nothing.
    p : float in [0, 1]
        Order of the penalty; smaller is sparser and less biased, below 1 it is not convex.
    ridge : float >= 0 or "auto"
        Strength of a ridge on the rows (not on the intercept). It makes selections on few samples
        steadier, and with it even problems with p < 1 get a proved gap. 0 is the papers' problem.
        "auto" with ``n_features_to_select=k`` is 3 (k log(e d / k) / n)**2 times the square of the
        noise, from 0 to 1: much where the choice of k among d columns is more than n samples can
        support, unless y is explained far better than chance could; without k, or with an alpha, 0.
    r : float in (0, 2]
        Order of the loss; smaller is more robust to outlying samples.
    fit_intercept : bool
        Fit an unpenalised intercept.
    standardize : bool
        Scale columns to unit variance first; ``coef_`` is in the original scale all the same.
    init : {"best", "zero", "irls", "convex"} or array of shape (n_features, n_outputs)
        Where to start if the problem is not convex; "best" tries several, keeps the lowest. Down
        to k features each fit starts from the last; "best" tries the k no swap improves (r = 2).
    solver : "auto" or an object from ``rowsparse.solvers``
        ``BlockDescent`` (which "auto" is), ``IRLS`` or ``ProximalGradient``, each with ``tol``,
        ``max_iter``, ``time_limit`` and ``callback``.
    feature_weights : array, Series or mapping from names, optional
        Factor on each feature's penalty: 0 = always in, infinity = never.
    class_weight : None, "balanced" or mapping from class to weight
        A factor on the weights of a class's samples.
    task : {"auto", "classification", "regression"}
        How to read y. "auto" follows scikit-learn's ``type_of_target``, for which whole numbers
        are class labels, unless there are many and they rarely repeat: see ``rowsparse.targets``.

    Attributes
    ----------
    coef_ : array (n_outputs, n_features), intercept_ : array (n_outputs,)
        Of the fit at ``alpha_``; two classes have one output, positive for ``classes_[1]``.
    scores_ : array (n_features,)
        Row norms of W in the standardised scale.
    ranking_ : array (n_features,), 1 = best
        Nonzero rows by their norm, the others by the alpha at which they would leave zero if all
        else stayed; ties broken by index.
    support_ : boolean array (n_features,)
    alpha_, ridge_ : float
    solution_ : rowsparse.results.Solution, with the certificate
        After a path in alpha ``n_iter`` and ``seconds`` are of the whole path.
    notes_ : tuple of sentences, empty unless a linear selection seems the wrong tool
    n_iter_, n_features_in_, feature_names_in_, classes_ (where y has classes)

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from rowsparse import L2pSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> L2pSelector(3).fit(X, y).get_feature_names_out().tolist()
    ['flavanoids', 'color_intensity', 'proline']
    """

    _: KW_ONLY
    r: float = 2.0

    _checks: ClassVar = {
        **RowSelector._checks,
        "r": partial(check_number, low=0.0, high=2.0, low_open=True),
        "init": partial(check_init, starts=L2p.starts),
    }

    @classmethod
    def _of_a_paper(cls, n_features_to_select: Any, **parameters: Any) -> Self:
        """No paper has a ridge; who asks for one gets it."""
        return cls(n_features_to_select, **{"ridge": 0.0, **parameters})

    @classmethod
    def mtfs(cls, n_features_to_select: Any = None, **parameters: Any) -> Self:
        """Multi-task feature selection (Obozinski 2006, Argyriou 2007): r = 2, p = 1."""
        return cls._of_a_paper(n_features_to_select, r=2.0, p=1.0, **parameters)

    @classmethod
    def rfs(cls, n_features_to_select: Any = None, **parameters: Any) -> Self:
        """Robust feature selection (Nie et al. 2010): r = p = 1."""
        return cls._of_a_paper(n_features_to_select, r=1.0, p=1.0, **parameters)

    @classmethod
    def erfs(cls, n_features_to_select: Any = None, p: float = 0.5, **parameters: Any) -> Self:
        """Extended RFS, the l2,p method (Wang & Chen 2013): r = p."""
        return cls._of_a_paper(n_features_to_select, r=p, p=p, **parameters)

    @classmethod
    def rk1u(cls, n_features_to_select: Any = None, p: float = 0.5, **parameters: Any) -> Self:
        """RK1U (Zhang et al. 2014): r = 2, any p."""
        return cls._of_a_paper(n_features_to_select, r=2.0, p=p, **parameters)

    @classmethod
    def gsr(
        cls, n_features_to_select: Any = None, r: float = 1.0, p: float = 0.5, **parameters: Any
    ) -> Self:
        """General sparsity-regularised selection (Peng & Fan 2017): any r, any p."""
        return cls._of_a_paper(n_features_to_select, r=r, p=p, **parameters)

    def _loss(self, sample_weight: np.ndarray | None) -> ResidualLoss:
        return ResidualLoss(float(self.r), sample_weight)

    def _penalty(self, alpha: float, factors: np.ndarray | None) -> L2p:
        return L2p(float(alpha), factors, p=float(self.p))


class LpInfSelector(RowSelector):
    r"""Select features by squared loss and an l_{p,inf} penalty on the rows of W (Kong & Ding).

    Minimises, on the standardised columns of X,

        1/(2n) sum_i s_i |x_i'W + b - y_i|_2**2  +  alpha sum_j f_j (max_k |W_jk|)**p
                                                 +  ridge/2 |W|**2

    with sample weights s of mean one and feature weights f. A row pays only for its largest
    coefficient, so a selected feature may serve all outputs at once for the price of one. With one
    output (numbers, or two classes) this is ``L2pSelector`` with r = 2.

    Parameters
    ----------
    init : {"best", "zero", "ridge", "convex"} or array of shape (n_features, n_outputs)
        Where to start when the problem is not convex: from zero, from ridge regression, or from
        the solution at p = 1 continued down in p; "best" tries all and keeps the lowest.
    solver : "auto" or an object from ``rowsparse.solvers``
        ``BlockDescent`` (which "auto" is) or ``ProximalGradient``.
    n_features_to_select, alpha, p, ridge, feature_weights : as in ``L2pSelector``
    fit_intercept, standardize, class_weight, task : as in ``L2pSelector``, whose attributes it has

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from rowsparse import LpInfSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> LpInfSelector(3).fit(X, y).get_feature_names_out().tolist()
    ['flavanoids', 'color_intensity', 'proline']
    """

    _checks: ClassVar = {
        **RowSelector._checks,
        "init": partial(check_init, starts=LpInf.starts),
    }

    def _loss(self, sample_weight: np.ndarray | None) -> ResidualLoss:
        return ResidualLoss(2.0, sample_weight)

    def _penalty(self, alpha: float, factors: np.ndarray | None) -> LpInf:
        return LpInf(float(alpha), factors, p=float(self.p))
