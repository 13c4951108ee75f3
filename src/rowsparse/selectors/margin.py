"""Classifiers of a margin loss: what they share, and the zero-norm support vector machine."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import DataConversionWarning

from ..inputs import (
    check_class_weight,
    check_count,
    check_integer,
    check_k,
    check_memory,
    check_name,
    check_number,
    check_positive,
    check_switch,
    optional,
)
from ..losses import HingeLoss, ProbitLoss
from ..numerics.rounding import HALF_THE_DIGITS
from ..numerics.rows import row_norms
from ..penalties import MarginNorm
from ..problems.base import MARGIN
from ..problems.margin import MarginProblem
from ..results import Solution, Status
from ..solvers.base import Solver, run
from ..solvers.margin.linear_programs import AbsoluteNormLP, LargestNormLP
from ..solvers.margin.reweighting import Reweighted
from ..solvers.margin.svm import ReweightedSVM, solve_margin
from ..targets import Target
from ..warn import warn_user
from .base import JointSelector, say_how_it_ended
from .data import Data, solver_for


@dataclass(eq=False, repr=False)
class MarginClassifier(ClassifierMixin, JointSelector):
    """A linear classifier that keeps few features; subclasses give problem and solver."""

    fit_intercept = True
    task = "classification"

    n_features_to_select: int | float | None = None
    _: KW_ONLY
    norm: float = 0.0
    standardize: bool = True
    tol: float = 1e-3
    max_iter: int = 100
    solver: Any = "auto"
    class_weight: Any = None
    feature_weights: Any = None

    _checks: ClassVar = {
        "n_features_to_select": optional(check_count),
        "norm": partial(check_number, low=0.0, high=2.0),
        "standardize": check_switch,
        "tol": check_positive,
        "max_iter": partial(check_integer, low=1),
        "class_weight": check_class_weight,
    }

    @abstractmethod
    def _margin_problem(self, data: Data) -> MarginProblem:
        """The problem on checked data."""

    @abstractmethod
    def _automatic(self, problem: MarginProblem, k: int | None) -> Solver:
        """The solver of this classifier unless one was given."""

    @abstractmethod
    def _nothing_left(self) -> str:
        """The sentence about a solution without features."""

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        data = Data.of(self, X, as_labels(y), sample_weight)
        check_labels(data.target)
        k = None
        if self.n_features_to_select is not None:
            k = check_k(self.n_features_to_select, data.factors)
            reason = "the other columns of X are constant or excluded"
            k = at_most_usable(k, data.factors, "features", reason)
        # after the input was checked: who asks for too much of bad data is told of the data first
        self._check_memory(data)
        problem = check_costs(self._margin_problem(data))
        # an excluded column of any size does no harm
        sizes = problem.sizes_of_columns[np.isfinite(data.factors)]
        check_range(sizes, data.design.dtype, "columns", "use standardize=True")
        solver = self.solver if isinstance(self.solver, Solver) else self._automatic(problem, k)
        solution, self.C_ = solved(problem, solver, k)
        say_how_it_ended(solution)
        eligible = np.isfinite(problem.factors)
        self._set_rows(data, solution, entering(problem, solution), eligible, k)
        if not self.scores_.any():
            self.intercept_ = self.intercept_ + majority(data.target, problem.weights)
            if solution.converged:  # C is not to blame for a search that was stopped
                warn_user(self._nothing_left())

    def _check_memory(self, data: Data) -> None:
        """A dense copy of the columns or the products of all samples; or a linear program, which
        holds every entry of X several times."""
        n = len(data.target.Y)
        m = int(np.count_nonzero(np.isfinite(data.factors)))
        needed = 60.0 * n * m if np.isinf(self.norm) else 8.0 * n * min(n, m)
        instead = "keep fewer columns first, by ScoreSelector('f', k)"
        check_memory(needed, data.X, type(self).__name__, instead)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def solved(
    problem: MarginProblem, solver: Solver, k: int | None, thorough: bool = True
) -> tuple[Solution, float]:
    """The solution with at most k rows, and the C that belongs to it."""
    if isinstance(solver, Reweighted):
        return solve_margin(problem, replace(solver, keep=k), thorough)
    if k is not None and np.isfinite(problem.norm):
        raise ValueError(
            f"Expected a solver that reweights, such as ReweightedSVM, to keep {k} of all, "
            f"got {type(solver).__name__}."
        )
    solution = run(solver, problem, start="linear program")
    if k is not None and problem.places(solution.W) > k:
        # the largest coefficient makes no row zero: the k largest, in a program of their own
        chosen = problem.only(problem.largest_rows(solution.W, k))
        whole = solution
        solution = run(solver, chosen, start="largest rows")
        # Ctrl-C came in the first program: the second one would hide it
        if whole.status == Status.INTERRUPTED:
            solution = replace(solution, status=whole.status)
    return solution, problem.C


def entering(problem: MarginProblem, solution: Solution) -> np.ndarray:
    """How much every column has to do with the samples of low margin, per factor of its penalty:
    the gradient of the probit loss, which unlike the hinge's is not decided by rounding where
    samples lie on the margin."""
    Z = problem.design.matmul(solution.W) + solution.intercept
    slopes = ProbitLoss(problem.weights).gradient(Z, problem.Y)
    sizes = row_norms(problem.design.rmatmul(slopes))
    return np.divide(sizes, problem.factors, out=np.zeros_like(sizes), where=problem.factors > 0)


def as_labels(y: Any) -> Any:
    """A column of labels as a vector, with scikit-learn's warning about it."""
    if y is None or isinstance(y, list | tuple):
        return y
    # a data frame of one column, or a column of a matrix: scikit-learn takes it, and warns
    array = np.asarray(y)
    if array.ndim != 2 or array.shape[1] != 1:
        return y
    warn_user(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples, ), for example using ravel().",
        DataConversionWarning,
    )
    return array[:, 0]


def check_labels(target: Target) -> np.ndarray:
    """The classes, of which every sample has one."""
    if target.classes is None:
        raise ValueError(
            f"Expected y as one class label per sample, got {target.kind} of shape "
            f"{target.Y.shape}; fit one classifier per label (sklearn.multioutput), or use "
            "L2pSelector."
        )
    return target.classes


def check_range(sizes: np.ndarray, dtype: Any, things: str, advice: str) -> None:
    """Refuse what no machine can be solved on: its numbers are products of up to three of these."""
    # the cube root: three of these multiplied stay a number
    largest = np.finfo(dtype).max ** (1 / 3)
    outside = ~((sizes <= largest) & ((sizes >= 1 / largest) | (sizes == 0)))
    if outside.any():
        raise ValueError(
            f"Expected {things} of a size between {1 / largest:.0e} and {largest:.0e} in {dtype}, "
            f"got {sizes[outside][0]:.2g}; {advice}."
        )


def check_costs(problem: MarginProblem) -> MarginProblem:
    """The problem, unless its costs of errors are as far from one as no column may be."""
    with np.errstate(over="ignore"):  # infinity is outside, too
        costs = np.maximum(problem.C * problem.weights, np.finfo(float).tiny)  # none is zero
    advice = "change sample_weight, C or the prior"
    check_range(costs, np.dtype(float), "costs of samples (C, or 2 / prior, times weight)", advice)
    return problem


def majority(target: Target, weights: np.ndarray) -> np.ndarray:
    """What puts intercepts that tie between classes in the order of their weights, where nothing
    else is left: too little to change the objective."""
    shares = weights @ (target.Y > 0) / weights.sum()
    # of a margin: seen by a comparison, not by an objective
    return HALF_THE_DIGITS * (2 * shares - 1.0)


def at_most_usable(k: int, factors: np.ndarray, things: str, reason: str) -> int:
    """k, or all candidates with a warning if there are fewer."""
    n_usable = int(np.count_nonzero(np.isfinite(factors)))
    if k > n_usable:
        warn_user(f"Expected {k} {things}, got {n_usable}: {reason}.")
    return min(k, n_usable)


def check_norm_or_infinity(name: str, value: Any) -> None:
    """From 0 to 2, or infinity."""
    if isinstance(value, float) and value == np.inf:
        return
    try:
        check_number(name, value, 0.0, 2.0)
    except (TypeError, ValueError) as error:
        # one sentence for both: the full stop of the first part goes
        also = f"; infinity ({name}=float('inf')) works too."
        raise type(error)(str(error)[:-1] + also) from None


@dataclass(eq=False, repr=False)
class ZeroNormSVC(MarginClassifier):
    r"""A linear support vector machine that uses few features (Huang, King & Lyu 2008).

    For ``norm`` = p in (0, 2] it minimises, on the standardised columns of X,

        C sum_i s_i max(0, 1 - y_i (x_i'w + b)) + (2/p) sum_j f_j |w_j|**p

    by solving ``min C sum_i s_i xi_i + sum_j f_j w_j**2 / |w_j^old|**(2-p)`` again and again, which
    never increases it (small problems of p = 1 are linear programs, exact whatever ``tol`` is);
    p = 0 iterates the same and ends where the second term counts the nonzero w_j. p = 2 is
    ``SVC(kernel="linear", C=C/2)``; p = inf minimises ``C sum_i s_i xi_i + max_j f_j |w_j|``.

    Parameters
    ----------
    n_features_to_select : int, optional
        Exactly this many. The reweighting stops as soon as no more are left; if it ends with more,
        C is lowered step by step (``C_`` is the last one; with two classes and a norm below 1 the
        reweighting begins anew there). The weights that the k features have then are kept, and the
        machine is solved on them.
        With ten samples or more per feature (a norm below 1, and not so many samples that it would
        take long) C stays: the k largest are exchanged one by one for others as long as that lowers
        the value of the plain machine (norm 2) on k features, and this machine is the result.
    C : float > 0
        Weight of the errors; smaller keeps fewer features. Note the factor: C=2 is SVC's C=1.
    norm : float in [0, 2] or inf
        p above; 1 and less selects, the smaller the fewer.
    standardize : bool
        As in ``L2pSelector``.
    multi_class : {"joint", "ovr"}
        More than two classes: one-vs-rest machines that share one weight per feature,
        ``f_j |w_j|_2**p`` over the classes, so that a feature is in or out for all of them
        ("joint"), or machines of their own, a feature being kept if any class keeps it ("ovr").
    tol : float
        Stop when a further step changes no coefficient by more than tol times the largest
        (on standardised columns).
    max_iter : int
    solver : "auto" or an object from ``rowsparse.solvers``
        ``ReweightedSVM``, or ``AbsoluteNormLP`` (norm 1) and ``LargestNormLP`` (norm inf), each
        with ``tol``, ``max_iter``, ``time_limit`` and ``callback`` of its own; "auto" takes ``tol``
        and ``max_iter`` from here and chooses by the norm and the size of X.
    class_weight, feature_weights : as in ``L2pSelector``, with f_j as above

    Attributes
    ----------
    coef_ : array (1 or n_classes, n_features), intercept_ : array (1 or n_classes,)
        Two classes have one row, positive for ``classes_[1]``.
    C_ : float
        The C of the fit; smaller than ``C`` if ``n_features_to_select`` needed it.
    scores_, ranking_, support_, solution_, n_iter_, classes_, … : as in ``L2pSelector``

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rowsparse import ZeroNormSVC
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> machine = ZeroNormSVC(n_features_to_select=4).fit(X, y)
    >>> machine.get_feature_names_out().size
    4
    """

    _: KW_ONLY
    C: float = 1.0
    multi_class: str = "joint"

    _checks: ClassVar = {
        **MarginClassifier._checks,
        "C": check_positive,
        "norm": check_norm_or_infinity,
        "multi_class": partial(check_name, names=("joint", "ovr")),
        "solver": solver_for(MARGIN, "ReweightedSVM, AbsoluteNormLP or LargestNormLP"),
    }

    def _margin_problem(self, data: Data) -> MarginProblem:
        joint = self.multi_class == "joint"
        # the loss is a sum, so the scale of the weights counts, as C does
        loss = HingeLoss(data.given_weights)
        penalty = MarginNorm(float(self.norm), data.factors, joint)
        return MarginProblem(data.design, data.target.Y, loss, float(self.C), penalty)

    def _automatic(self, problem: MarginProblem, k: int | None) -> Solver:
        if np.isinf(problem.norm):
            return LargestNormLP()
        program = AbsoluteNormLP()
        # for k features C is lowered step by step, and each program would be solved from scratch
        if k is None and program.supports(problem) is None:
            return program
        return ReweightedSVM(tol=float(self.tol), max_iter=int(self.max_iter))

    def _nothing_left(self) -> str:
        return (
            f"No feature was selected: C={self.C:g} is too small, errors cost less than any "
            "feature. All samples are given the majority class; raise C."
        )
