"""Exactly k features: the l_{2,0} constraint of Cai, Nie & Huang, with better local optima."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ..inputs import check_k, say_fewer_than
from ..losses import ResidualLoss
from ..numerics.rows import row_norms
from ..penalties import Cardinality
from ..problems.base import AT_MOST_K
from ..problems.penalised import PenalisedProblem
from ..results import Solution
from ..solvers import Solver, Splice
from ..solvers.top_k.solve import solve_top_k
from .base import (
    Data,
    JointSelector,
    best_first,
    exactly_k,
    refuse_bad_squares,
    say_how_it_ended,
)
from .parameters import (
    check_parameters,
    class_weight,
    count,
    integer,
    number,
    seed,
    solver_for,
    task,
    true_or_false,
)


class TopKSelector(JointSelector):
    r"""Select exactly k features: the best fit with at most k nonzero rows of W.

    Minimises, on the standardised columns of X,

        1/(r n) sum_i s_i |x_i'W + b - y_i|_2**r     subject to at most k nonzero rows of W

    k is all there is to choose. The problem is NP-hard and has many local minima: several starts
    are polished by swaps of rows under the true loss and the lowest objective is kept. The
    solution says what every start reached, and what is proved about the optimum.

    Parameters
    ----------
    n_features_to_select : int or float
        k, from 1 to the number of columns of X, or a fraction of them. Features that are always in
        count.
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
    feature_weights : array, Series or mapping from names, optional
        0 = always in, infinity = never; other numbers have no effect on a constraint.
    class_weight, task : as in ``L2pSelector``

    Attributes
    ----------
    coef_ : array (n_outputs, n_features), intercept_ : array (n_outputs,)
        The fit on the selected features, without shrinkage.
    scores_ : array (n_features,)
        Row norms of W in the standardised scale.
    ranking_ : array (n_features,), 1 = best
        Nonzero rows by their norm, the others by what adding them would gain; ties broken by index.
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

    _checks: ClassVar = {
        "n_features_to_select": count,
        "r": number(0.0, 2.0, low_open=True),
        "fit_intercept": true_or_false,
        "standardize": true_or_false,
        "n_init": integer(0),
        "polish": true_or_false,
        "random_state": seed,
        "solver": solver_for(AT_MOST_K, "Splice, ALM or SFS"),
        "class_weight": class_weight,
        "task": task,
    }

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
        class_weight=None,
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
        self.class_weight = class_weight
        self.task = task

    def fit(self, X, y, sample_weight=None):
        """Find the best k features.

        Parameters
        ----------
        X : array, memory map, sparse matrix or data frame, (n_samples, n_features)
        y : labels, a 0/1 label-indicator matrix, or numbers (one or many outputs)
        sample_weight : array of n_samples numbers >= 0; a weight of 2 is a row repeated
        """
        check_parameters(self)
        data = Data.of(self, X, y, sample_weight)
        problem = self._problem(data)
        refuse_bad_squares(self, X, problem)
        solver = self._solver()
        solution = solve_top_k(problem, solver, self.n_init, self.polish, self._rng())
        say_how_it_ended(solution)
        self._say_if_nothing_helps(problem, solution)
        self._set_fitted(data, problem, solution)
        return self

    def problem_and_solver(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[PenalisedProblem, Solver]:
        """The optimisation problem that ``fit`` would solve, and the solver it would use."""
        check_parameters(self)
        return self._problem(Data.of(self, X, y, sample_weight)), self._solver()

    def _solver(self) -> Solver:
        return self.solver if isinstance(self.solver, Solver) else Splice()

    def _problem(self, data: Data) -> PenalisedProblem:
        """At most k rows, those always in included: they are free in the problem itself."""
        k = check_k(self.n_features_to_select, data.factors)
        penalty = Cardinality(k - int(np.sum(data.factors == 0)), data.factors)
        loss = ResidualLoss(float(self.r), data.weights)
        return PenalisedProblem.build(data.design, data.target.Y, loss, penalty, self.fit_intercept)

    def _rng(self) -> np.random.Generator:
        if self.random_state is None or isinstance(self.random_state, Integral):
            return np.random.default_rng(int(self.random_state or 0))
        drawn = check_random_state(self.random_state).randint(2**31)
        return np.random.default_rng(drawn)

    def _set_fitted(self, data: Data, problem: PenalisedProblem, solution: Solution) -> None:
        always = data.factors == 0
        k = problem.limit + int(np.sum(always))
        scores = row_norms(solution.W)
        order = best_first(scores, problem.entering(solution))
        support = exactly_k(order, always, problem.may_enter, k)
        self._set_rows(data, solution, order, support)
        found = int(np.sum(support))
        filled = int(np.sum(support & ~always & (scores == 0)))
        if found < k:
            say_fewer_than(k, found, stacklevel=3)
        elif filled:
            warnings.warn(
                f"{k - filled} features fit as well as {k}: the others depend on them or nothing "
                f"is left to explain. The {filled} missing ones are the next of ranking_; lower k.",
                UserWarning,
                stacklevel=3,
            )

    def _say_if_nothing_helps(self, problem: PenalisedProblem, solution: Solution) -> None:
        null = problem.objective(problem.null_point)
        if solution.objective < null * (1 - 1e-7) or problem.limit == 0:
            return
        warnings.warn(
            f"No feature lowers the loss below that of a constant ({null:.4g}); the selection "
            "means little. For r < 2 a small class counts as outlying samples: use r=2.",
            UserWarning,
            stacklevel=3,
        )
