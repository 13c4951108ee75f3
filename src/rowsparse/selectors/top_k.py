"""Exactly k features: the l_{2,0} constraint of Cai, Nie & Huang, with better local optima."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, cast

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..inputs import check_k
from ..losses import ResidualLoss
from ..penalties import Cardinality
from ..problems.penalised import PenalisedProblem
from ..results import Solution
from ..solvers import Solver, Splice
from ..solvers.top_k.solve import solve_top_k
from .base import JointSelector, not_converged
from .data import Data


class TopKSelector(JointSelector):
    r"""Select exactly k features: the best fit with at most k nonzero rows of W.

    Minimises, on the standardised columns of X,

        1/(r n) sum_i s_i |x_i'W + b - y_i|_2**r     subject to at most k nonzero rows of W

    k is all there is to choose. The problem is NP-hard and has many local minima: several starts
    are polished by swaps of rows under the true loss and the lowest objective is kept. The
    solution says what every start reached, and what is proved about the optimum.

    Parameters
    ----------
    n_features_to_select : int
        k, from 1 to the number of columns of X. Features that are always in count.
    r : float in (0, 2]
        Order of the loss. 1 resists outlying samples (the paper's loss); 2 is squared loss, the
        fastest, for which every swap is scored exactly.
    fit_intercept : bool
        Fit an unpenalised intercept.
    standardize : bool
        Scale columns to unit variance first; without a penalty this changes ``scores_`` only.
    n_init : int >= 0
        Number of random starts, beside greedy forward selection and the l_{2,1} path. With 0 and
        ``polish=False`` only forward selection is done.
    polish : bool
        Swap rows until no swap lowers the objective, and (if ``n_init`` > 0) try exchanges of
        several rows of the best support.
    random_state : int, RandomState or None
        Of the random starts; None means 0, so that a fit can be repeated.
    solver : "auto" or an object from ``rowsparse.solvers``: Splice, ALM or SFS
        "auto" is Splice. ALM is the paper's algorithm from random points, SFS projected gradient
        from the l_{2,1} solution; ``polish`` improves what they find.
    feature_weights : array or mapping from names, optional
        0 = always in, infinity = never; other numbers have no effect on a constraint.
    task : {"auto", "classification", "regression"}
        How to read y; "auto" follows scikit-learn's ``type_of_target``.

    Attributes
    ----------
    coef_ : array (n_outputs, n_features), intercept_ : array (n_outputs,)
        The fit on the selected features, without shrinkage.
    scores_ : array (n_features,)
        Row norms of W in the standardised scale.
    ranking_ : array (n_features,), 1 = best; ties broken by index.
    support_ : boolean array (n_features,)
    solution_ : rowsparse.results.Solution
        With ``starts`` (objective per start), ``n_best_starts``, ``lower_bound``, ``gap`` and
        ``proof``.
    n_iter_, n_features_in_, feature_names_in_, classes_ (where y has classes)

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from rowsparse import TopKSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = TopKSelector(3, r=2.0).fit(X, y)
    >>> selector.get_feature_names_out().tolist()
    ['flavanoids', 'color_intensity', 'proline']
    >>> selector.solution_.proof
    'proved optimal: branch and bound, 39 nodes'
    """

    def __init__(
        self,
        n_features_to_select=10,
        *,
        r=1.0,
        fit_intercept=True,
        standardize=True,
        n_init=5,
        polish=True,
        random_state=None,
        solver="auto",
        feature_weights=None,
        task="auto",
    ):
        self.n_features_to_select = n_features_to_select
        self.r = r
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.n_init = n_init
        self.polish = polish
        self.random_state = random_state
        self.solver = solver
        self.feature_weights = feature_weights
        self.task = task

    def fit(self, X, y, sample_weight=None):
        """Find the best k features.

        Parameters
        ----------
        X : array, memory map, sparse matrix or data frame, (n_samples, n_features)
        y : labels, a 0/1 label-indicator matrix, or numbers (one or many outputs)
        sample_weight : array of n_samples numbers >= 0; a weight of 2 is a row repeated
        """
        data, problem, k = self._prepared(X, y, sample_weight)
        solution = solve_top_k(problem, self._solver(), self.n_init, self.polish, self._rng())
        if not solution.converged:
            warnings.warn(not_converged(solution), ConvergenceWarning, stacklevel=2)
        self._say_if_nothing_helps(problem, solution)
        self._set_rows(data, solution, self._chosen(problem, solution, k))
        return self

    def problem_and_solver(self, X, y, sample_weight=None) -> tuple[PenalisedProblem, Solver]:
        """The optimisation problem that ``fit`` would solve, and the solver it would use."""
        _, problem, _ = self._prepared(X, y, sample_weight)
        solver = self._solver()
        return problem, Splice() if solver is None else solver

    def _prepared(self, X, y, sample_weight) -> tuple[Data, PenalisedProblem, int]:
        self._check_search()
        data = self._data(X, y, sample_weight)
        k = check_k(self.n_features_to_select, data.factors)
        if k is None:
            raise TypeError(
                "Expected n_features_to_select to be an integer, got None; "
                f"pass a number from 1 to {data.factors.size}."
            )
        return data, self._problem(data, k), k

    def _problem(self, data: Data, k: int) -> PenalisedProblem:
        """At most k rows, those always in included: they are free in the problem itself."""
        penalty = Cardinality(k - int(np.sum(data.factors == 0)), data.factors)
        loss = ResidualLoss(float(self.r), data.weights)
        return PenalisedProblem.build(
            data.design, data.target.Y, loss, cast(Any, penalty), self.fit_intercept
        )

    def _check_search(self) -> None:
        if not isinstance(self.n_init, Integral) or isinstance(self.n_init, bool):
            raise TypeError(f"Expected n_init to be an integer >= 0, got n_init={self.n_init!r}.")
        if self.n_init < 0:
            raise ValueError(f"Expected n_init >= 0, got n_init={self.n_init!r}.")
        if not isinstance(self.polish, bool | np.bool_):
            raise TypeError(f"Expected polish to be True or False, got polish={self.polish!r}.")

    def _rng(self) -> np.random.Generator:
        if self.random_state is None or isinstance(self.random_state, Integral):
            return np.random.default_rng(int(self.random_state or 0))
        drawn = check_random_state(self.random_state).randint(2**31)
        return np.random.default_rng(drawn)

    def _chosen(self, problem: PenalisedProblem, solution: Solution, k: int) -> np.ndarray:
        """Exactly k: nonzero rows and those always in, then the first that may be selected."""
        d = len(solution.W)
        excluded = problem.penalty.excluded(problem.n_rows)[:d]
        eligible = (problem.sample_curvatures[:d] > 0) & ~excluded
        support = np.zeros(d, dtype=bool)
        support[solution.rows] = True
        support |= problem.penalty.free(problem.n_rows)[:d] & eligible
        missing = k - int(support.sum())
        if missing > 0:
            others = np.flatnonzero(eligible & ~support)[:missing]
            support[others] = True
            self._say_missing(k, int(support.sum()), others.size)
        return support

    def _say_if_nothing_helps(self, problem: PenalisedProblem, solution: Solution) -> None:
        null = problem.objective(problem.null_point)
        chosen = problem.limit
        if solution.objective < null * (1 - 1e-7) or chosen == 0:
            return
        warnings.warn(
            f"No feature lowers the loss below that of a constant ({null:.4g}); the selection "
            "means little. For r < 2 a small class counts as outlying samples: use r=2.",
            UserWarning,
            stacklevel=3,
        )

    @staticmethod
    def _say_missing(k: int, found: int, filled: int) -> None:
        if found < k:
            message = (
                f"Expected {k} features, got {found}: the other columns of X are constant "
                "or excluded."
            )
        else:
            message = (
                f"{k - filled} features fit as well as {k}: the others depend on them or nothing "
                f"is left to explain. The {filled} missing ones are the first of X; lower k."
            )
        warnings.warn(message, UserWarning, stacklevel=4)
