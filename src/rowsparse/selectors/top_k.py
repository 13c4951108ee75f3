"""Exactly k features: the l_{2,0} constraint of Cai, Nie & Huang, with better local optima."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from ..designs import in_blocks
from ..inputs import (
    check_class_weight,
    check_count,
    check_integer,
    check_k,
    check_number,
    check_parameters,
    check_switch,
    check_task,
)
from ..losses import ResidualLoss
from ..penalties import Cardinality
from ..problems.base import AT_MOST_K
from ..problems.penalised import PenalisedProblem
from ..solvers import Solver, Splice
from ..solvers.top_k.solve import solve_top_k
from ..warn import say_fewer_than, warn_user
from .automatic_ridge import automatic_ridge
from .base import JointSelector, say_how_it_ended
from .blocks import refuse_passes
from .data import Data, check_ridge, refuse_bad_squares, solver_for
from .rounds import Fitted, fitted_in_rounds


def check_seed(name: str, value: Any) -> None:
    """What scikit-learn takes for a source of randomness."""
    try:
        check_random_state(value)
    except ValueError:
        raise ValueError(
            f"Expected {name} to be None, an integer >= 0 or a RandomState, got {name}={value!r}."
        ) from None


@dataclass(eq=False, repr=False)
class TopKSelector(JointSelector):
    r"""Select exactly k features: the best fit with at most k nonzero rows of W.

    Minimises, on the standardised columns of X,

        1/(r n) sum_i s_i |x_i'W + b - y_i|_2**r  +  ridge/2 |W|**2

    subject to at most k nonzero rows of W.

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
    ridge : float >= 0 or "auto"
        On few samples the best fit interpolates and selects by chance; a ridge selects better, and
        lets the solver prove how near to the optimum it is: with r = 2 and
        ``solver=Splice(proof_seconds=60)`` by branch and bound. 0 is the paper's problem. "auto"
        is 3 (k log(e d / k) / n)**2 times the square of the noise, from 0 to 1: little where
        samples are many or y is explained far better than chance could, much where the choice of k
        among d columns is more than n samples can support.
    standardize : bool
        Scale columns to unit variance first; without a ridge this changes ``scores_`` only.
    n_init : int >= 0
        Number of rounds of exchanges after greedy forward selection (ALM: of random points). With
        0 and ``polish=False`` only forward selection is done.
    polish : bool
        Swap rows until no swap lowers the objective, and (if ``n_init`` > 0) try exchanges of
        several rows of the best support.
    random_state : int, RandomState or None
        Of the exchanges and of ALM's points; None means 0, so that a fit can be repeated.
    solver : "auto" or an object from ``rowsparse.solvers``: Splice, ALM or SFS
        "auto" is Splice. ALM is the paper's algorithm from random points, SFS projected gradient
        from the l_{2,1} solution; ``polish`` improves what they find.
    feature_weights : array, Series or mapping from names, optional
        0 = always in, infinity = never; other numbers have no effect on a constraint.
    fit_intercept, class_weight, task : as in ``L2pSelector``

    Attributes
    ----------
    coef_, intercept_ : the fit on the selected features, under the ridge
    ranking_ : array (n_features,), 1 = best
        Nonzero rows by their norm, the others by what adding them would gain; ties broken by index.
    solution_ : rowsparse.results.Solution
        With ``starts`` (objective per start), ``n_best_starts``, ``lower_bound``, ``gap`` and
        ``proof``.
    scores_, support_, ridge_, notes_, n_iter_, n_features_in_, feature_names_in_, classes_ :
        as in ``L2pSelector``

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

    n_features_to_select: int | float = 10
    _: KW_ONLY
    r: float = 2.0
    ridge: float | str = "auto"
    fit_intercept: bool = True
    standardize: bool = True
    n_init: int = 5
    polish: bool = True
    random_state: Any = None
    solver: Any = "auto"
    feature_weights: Any = None
    class_weight: Any = None
    task: str = "auto"

    _checks: ClassVar = {
        "n_features_to_select": check_count,
        "r": partial(check_number, low=0.0, high=2.0, low_open=True),
        "ridge": check_ridge,
        "fit_intercept": check_switch,
        "standardize": check_switch,
        "n_init": partial(check_integer, low=0),
        "polish": check_switch,
        "random_state": check_seed,
        "solver": solver_for(AT_MOST_K, "Splice, ALM or SFS"),
        "class_weight": check_class_weight,
        "task": check_task,
    }

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        data = self._data(X, y, sample_weight, one_fit=True)
        solve = partial(self._solve, X, self._rng())
        if data.in_rounds:
            build = partial(self._problem, data)
            problem, solution, _ = fitted_in_rounds(data.X, lambda _: self._solver(), build, solve)
        else:
            problem, solution, _ = solve(self._problem(data), self._solver())
        say_how_it_ended(solution)
        self.ridge_ = problem.ridge
        k = check_k(self.n_features_to_select, data.factors)
        self._set_rows(data, solution, problem.entering(solution), problem.may_enter, k)
        self._say_if_nothing_helps(problem)
        self._say_what_is_missing(k, data.factors == 0)

    def _solve(
        self, X: Any, rng: np.random.Generator, problem: PenalisedProblem, solver: Solver
    ) -> Fitted:
        refuse_bad_squares(self, X, problem)
        # a copy: every round draws the same
        rng = deepcopy(rng)
        # coefficients that leave the doubles end in a refusal, not in words about our arithmetic
        with np.errstate(over="ignore", invalid="ignore"):
            return Fitted(problem, solve_top_k(problem, solver, self.n_init, self.polish, rng))

    def problem_and_solver(
        self, X: Any, y: Any, sample_weight: Any = None, k: int | None = None
    ) -> tuple[PenalisedProblem, Solver]:
        """The optimisation problem that ``fit`` would solve, and the solver it would use; with k
        under the ridge that goes with so many features."""
        check_parameters(self)
        return self._problem(self._data(X, y, sample_weight), k), self._solver()

    def _data(self, X: Any, y: Any, sample_weight: Any, one_fit: bool = False) -> Data:
        """The columns as the problem sees them. Swaps of rows need many passes: X in blocks is for
        squared loss, and along a path of as many columns as can be multiplied with each other."""
        if in_blocks(X):
            refuse_passes(self.r, X, one_fit)
        return Data.of(self, X, y, sample_weight, squared_loss=True, one_fit=one_fit)

    def _solver(self) -> Solver:
        return self.solver if isinstance(self.solver, Solver) else Splice()

    def _problem(self, data: Data, k_of_ridge: int | None = None) -> PenalisedProblem:
        """At most k rows, those always in included: they are free in the problem itself."""
        k = check_k(self.n_features_to_select, data.factors)
        ridge = self.ridge
        if isinstance(ridge, str):
            ridge = automatic_ridge(data, k_of_ridge or k, self.r, self.fit_intercept)
        # those always in are not counted: they cost nothing and compete with nobody
        penalty = Cardinality(k - int(np.sum(data.factors == 0)), data.factors)
        loss = ResidualLoss(float(self.r), data.weights)
        return data.problem(loss, penalty, self.fit_intercept, float(ridge))

    @classmethod
    def paper(cls, n_features_to_select: Any = 10, **parameters: Any) -> Self:
        """The problem of Cai, Nie & Huang (2013): r = 1 and no ridge."""
        return cls(n_features_to_select, **{"r": 1.0, "ridge": 0.0, **parameters})

    def _rng(self) -> np.random.Generator:
        if self.random_state is None or isinstance(self.random_state, Integral):
            # None is zero: a fit that selects otherwise each time cannot be discussed
            return np.random.default_rng(int(self.random_state or 0))
        # drawn from the user's state, which moves on: the next fit differs, as elsewhere
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _say_what_is_missing(self, k: int, always: np.ndarray) -> None:
        found = int(np.sum(self.support_))
        # of rows that are zero none was chosen by the solver: ranking_ filled them up
        filled = int(np.sum(self.support_ & ~always & (self.scores_ == 0)))
        if found < k:
            say_fewer_than(k, found)
        elif filled:
            warn_user(
                f"{k - filled} features fit as well as {k}: the others depend on them or nothing "
                f"is left to explain. The {filled} missing ones are the next of ranking_; lower k.",
            )

    def _say_if_nothing_helps(self, problem: PenalisedProblem) -> None:
        null = problem.objective(problem.null_point)
        # 1e-7 is what is left of the smoothing at the end: a smaller gain cannot be told from none
        if self.solution_.objective < null * (1 - 1e-7) or problem.limit == 0:
            return
        warn_user(
            f"No feature lowers the loss below that of a constant ({null:.4g}); the selection "
            "means little. For r < 2 a small class counts as outlying samples: use r=2.",
        )
