"""What ``fit`` is given, checked: X and y, the weights of samples and features."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_array, validate_data

from ..designs import (
    ChunkedDesign,
    Design,
    SearchedDesign,
    Standardized,
    View,
    as_design,
    in_blocks,
)
from ..inputs import (
    Check,
    as_numbers,
    check_feature_weights,
    check_integer,
    check_number,
    check_positive,
    check_sample_weight,
    column_names,
    error_of,
    explain_no_table,
    is_real,
    name_columns_with_gaps,
    refuse_strange_table,
)
from ..losses import ResidualLoss
from ..numerics.rounding import largest_with
from ..penalties import Penalty
from ..problems.in_blocks import blocked
from ..problems.penalised import PenalisedProblem
from ..solvers.base import Solver
from ..targets import (
    SMALLEST_SQUARE,
    Target,
    as_array,
    as_target,
    class_factors,
    refuse_strange_target,
)
from .blocks import first_pass, refuse_bad_blocks, refuse_blocks, validated_blocks

FLOATS = [np.float64, np.float32]
LARGEST = largest_with(3)  # of a start's coefficients
LARGEST_COLUMN = largest_with(5)  # that is not standardised
NOTHING_VARIES = (
    "Expected some column of X that varies and may be selected, got only constant "
    "or excluded columns."
)


@dataclass(frozen=True)
class Samples:
    """X and y, weights of samples and features as ``fit`` was given them, all checked."""

    X: Any  # ndarray, memory map, CSC or ChunkedDesign; samples of weight zero are left out
    y: np.ndarray
    target: Target
    weights: np.ndarray | None  # as given, times those of the classes
    factors: np.ndarray  # one per feature

    @classmethod
    def of(cls, selector: Any, X: Any, y: Any, sample_weight: Any, finite: bool = True) -> Samples:
        """Check all input of a fit; without ``finite`` NaN in X is for the caller to find."""
        names = column_names(y)
        if in_blocks(X):
            X, y = validated_blocks(selector, X, y)
        else:
            X, y = validated(selector, X, y, finite)
        s = check_sample_weight(sample_weight, X.shape[0])
        factors = check_feature_weights(
            selector.feature_weights, X.shape[1], vars(selector).get("feature_names_in_")
        )
        if s is not None and not s.all():
            used = s > 0  # a weight of zero is a row that is not there
            X = X.only(used) if isinstance(X, ChunkedDesign) else X[used]
            y = y[used]
            s = s[used]
        y = as_array(y)
        target = as_target(y, selector.task, names)
        if selector.class_weight is not None:
            s = np.ones(X.shape[0]) if s is None else s
            s = s * class_factors(selector.class_weight, target, s)
        return cls(X, y, target, s, np.ones(X.shape[1]) if factors is None else factors)


@dataclass(frozen=True)
class Data:
    """The design as a penalty sees it: columns centred and scaled as the selector asks."""

    design: Design
    target: Target
    weights: np.ndarray | None  # of the samples, mean one
    given_weights: np.ndarray  # as they were given, times those of the classes
    means: np.ndarray
    scales: np.ndarray
    factors: np.ndarray  # of the features; infinite for constant columns
    X: Any  # the table itself, ndarray, memory map, CSC or ChunkedDesign

    @property
    def in_rounds(self) -> bool:
        """Whether fits learn in rounds what they need of X; of a table in memory they know all."""
        return isinstance(self.X, SearchedDesign)

    @classmethod
    def of(
        cls,
        selector: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
        squared_loss: bool = False,
        one_fit: bool = False,
    ) -> Data:
        """Check everything that ``fit`` was given and standardise the columns. With squared loss
        the first pass over X in blocks may be the only one; what it has to tell depends on whether
        it is for ``one_fit`` or for many."""
        samples = Samples.of(selector, X, y, sample_weight, finite=False)
        design = as_design(samples.X)
        n, d = design.shape
        given = np.ones(n) if samples.weights is None else samples.weights
        weights = given / given.mean()
        if isinstance(design, ChunkedDesign):
            design = first_pass(design, weights, samples.target.Y, squared_loss, one_fit)
            samples = replace(samples, X=design)
        constant = design.constant_columns()
        means = np.zeros(d)
        scales = np.ones(d)
        flat = constant
        squares = np.ones(d)
        if selector.fit_intercept or selector.standardize:
            # means are needed anyway, and show NaN: no pass over X only to look for it
            with np.errstate(over="ignore", invalid="ignore"):  # said in words
                centers = refuse_bad_numbers(selector, samples.X, design.means(weights))
                squares = design.squares(weights, centers)
            refuse_bad_numbers(selector, samples.X, squares)
            spread = np.sqrt(squares / n)
            # far from zero, rounding alone is a spread: divided by it, noise would be a column
            flat = spread <= 10 * np.finfo(design.dtype).eps * np.abs(centers)
            if selector.standardize:
                scales = np.where(constant | flat, 1.0, spread)
            if selector.fit_intercept:
                means = centers
        factors = np.where(constant | flat, np.inf, samples.factors)
        if np.isinf(factors).all():
            raise ValueError(_nothing_to_select(squares[~constant]))
        if means.any() or selector.standardize:
            # squares about the means are those of the design only where it is centred
            known = (weights, squares) if selector.fit_intercept else None
            design = Standardized(design, means, scales, known)
        s = None if samples.weights is None else weights
        return cls(design, samples.target, s, given, means, scales, factors, samples.X)

    def problem(
        self, loss: ResidualLoss, penalty: Penalty, fit_intercept: bool, ridge: float = 0.0
    ) -> PenalisedProblem:
        """The problem on this data; of X in blocks in the form that takes the fewest passes."""
        build = PenalisedProblem.build
        problem = build(self.design, self.target.Y, loss, penalty, fit_intercept, ridge)
        if not isinstance(self.X, ChunkedDesign):
            return problem
        return blocked(problem, self.X, View(self.means, self.scales, fit_intercept))


def check_init(name: str, value: Any, starts: tuple[str, ...]) -> None:
    """A named start, "best", or an array of finite numbers with two dimensions."""
    if isinstance(value, str):
        if value not in (*starts, "best"):
            known = ", ".join(map(repr, starts))
            raise ValueError(f"Expected {name} to be {known}, 'best' or an array, got {value!r}.")
        return
    array = as_numbers(value, name)
    if array.ndim != 2:
        raise ValueError(
            f"Expected {name} as an array of shape (features × outputs), got {array.shape}."
        )
    if not (np.abs(array) <= LARGEST).all():
        raise ValueError(
            f"Expected {name} with finite numbers up to {LARGEST:g}, got NaN, infinity or larger "
            "ones in it."
        )


def check_ridge(name: str, value: Any) -> None:
    """A number >= 0 or "auto"."""
    if isinstance(value, str) and value == "auto":
        return
    if not is_real(value):
        raise error_of(isinstance(value, str))(
            f"Expected {name} to be a number >= 0 or 'auto', got {name}={value!r}."
        )
    check_number(name, value, 0.0)


def solver_for(kind: str, known: str) -> Check:
    """The word "auto", or a solver for this kind of problem whose own parameters are in range."""

    def check(name: str, value: Any) -> None:
        if isinstance(value, str) and value == "auto":
            return
        if not isinstance(value, Solver):
            raise TypeError(
                f"Expected {name} to be 'auto' or an object from rowsparse.solvers ({known}), "
                f"got {name}={value!r}."
            )
        if kind not in value.solves:
            raise ValueError(
                f"Expected {name} to be one for {kind}, got {type(value).__name__}, which is for "
                f"{' or '.join(value.solves)}; use {known}."
            )
        check_positive(f"{name}.tol", value.tol)
        check_integer(f"{name}.max_iter", value.max_iter, 1)
        if value.time_limit is not None:
            check_number(f"{name}.time_limit", value.time_limit, 0.0)
        if value.callback is not None and not callable(value.callback):
            raise TypeError(f"Expected {name}.callback to be callable, got {value.callback!r}.")

    return check


@contextmanager
def explaining_bad_numbers(selector: Any, X: Any, problem: PenalisedProblem) -> Iterator[None]:
    """Around a fit that may be the first to read all of X: NaN in it ends the fit, and its sums of
    squares, which the fit has needed, tell without another pass."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    except (ValueError, np.linalg.LinAlgError):
        refuse_bad_squares(selector, X, problem)
        raise
    refuse_bad_squares(selector, X, problem)


def refuse_bad_squares(selector: Any, X: Any, problem: PenalisedProblem) -> None:
    """The same by the sums of squares of a problem's columns, which may be too small as well."""
    squares = refuse_bad_numbers(selector, X, problem.sample_curvatures)
    if not squares.any():
        raise ValueError(_nothing_to_select(squares))
    largest = np.sqrt(squares[~problem.penalty.excluded(problem.n_rows)].max(initial=0.0))
    if largest > LARGEST_COLUMN:
        raise ValueError(
            f"Expected columns of X of a size up to {LARGEST_COLUMN:.0e} without standardize, got "
            f"{largest:.2g}; use standardize=True or rescale X."
        )


def refuse_bad_numbers(selector: Any, X: Any, sums: np.ndarray) -> np.ndarray:
    """Raise if sums over the columns of X, which are needed anyway, show NaN or too large numbers.

    The one place where NaN in X is looked for.
    """
    if np.isfinite(sums).all():
        return sums
    if in_blocks(X):
        refuse_bad_blocks(sums)
    name_columns_with_gaps(X, vars(selector).get("feature_names_in_"))
    # scikit-learn's words about infinity; else single entries are finite
    with np.errstate(invalid="ignore"):
        check_array(X, accept_sparse="csc", input_name="X", estimator=selector)
    raise ValueError(
        "Expected X whose sums of squares are finite, got too large numbers in column "
        f"{int(np.argmin(np.isfinite(sums)))}; rescale X, for example by "
        "sklearn.preprocessing.MaxAbsScaler."
    )


def _nothing_to_select(squares: np.ndarray) -> str:
    """Of the columns that hold more than one value: they may be too small to be seen."""
    if squares.size and squares.max() < SMALLEST_SQUARE:
        return (
            "Expected X whose sums of squares can be told from zero, got too small numbers in all "
            "columns; rescale X, for example by sklearn.preprocessing.MaxAbsScaler."
        )
    return NOTHING_VARIES


def validated(
    selector: Any, X: Any, y: Any, finite: bool | Literal["allow-nan"] = True, **options: Any
) -> Any:
    """X and y as scikit-learn reads them, NaN in X refused if ``finite``."""
    if in_blocks(X):
        refuse_blocks(selector, X)
    if y is None:
        raise ValueError(
            f"{type(selector).__name__} requires y to be passed, but the target y is None."
        )
    refuse_strange_table(X)
    refuse_strange_target(y)
    options = {"accept_sparse": "csc", "dtype": FLOATS, **options}
    try:
        with np.errstate(invalid="ignore"):  # of 1e308 - 1e308, in the look for NaN
            return validate_data(
                selector,
                X,
                y,
                multi_output=True,
                ensure_min_samples=2,
                ensure_all_finite=finite,
                **options,
            )
    except (TypeError, ValueError) as error:
        explain_no_table(X)
        if "X contains NaN" in str(error):
            with_gaps = check_array(
                X, accept_sparse="csc", dtype=FLOATS, ensure_all_finite="allow-nan"
            )
            name_columns_with_gaps(with_gaps, column_names(X))
        raise


def new_samples(selector: Any, X: Any, dtype: Any) -> Any:
    """X as scikit-learn reads samples for a fitted selector."""
    refuse_strange_table(X)
    try:
        return validate_data(selector, X, accept_sparse="csr", dtype=dtype, reset=False)
    except (TypeError, ValueError):
        explain_no_table(X)
        raise
