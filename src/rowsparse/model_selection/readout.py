"""How good selected columns are: a model refitted on them alone, scored on samples kept apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics import check_scoring, get_scorer_names, r2_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from ..inputs import column_names, did_you_mean
from ..numerics.memory import CACHE_BYTES
from ..targets import Target

RIDGE = 1.0  # the default of scikit-learn's Ridge and RidgeClassifier, which the fast form equals


@dataclass(frozen=True)
class Split:
    """The samples of one fold, and what goes along with them. A weight of zero is no sample."""

    train: np.ndarray
    test: np.ndarray
    fit_params: dict[str, Any]  # of the selector, for the training samples
    train_weight: np.ndarray | None = None  # for the model on the selected columns
    test_weight: np.ndarray | None = None  # for its score


@dataclass(frozen=True)
class FoldPath:
    """What one path on one fold gave: a score and a number of features per candidate."""

    scores: list[float]
    sizes: list[int]
    fit_seconds: float
    score_seconds: float
    not_converged: int
    failure: str = ""


def columns_of(X: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """A part of a table as a dense array."""
    if sparse.issparse(X):
        return X[rows][:, columns].toarray().astype(float)
    if column_names(X) is not None:  # a data frame is read by its columns
        names = [X.columns[j] for j in columns]
        return np.asarray(X[names], dtype=float)[rows] if names else np.zeros((len(rows), 0))
    return np.asarray(X[np.ix_(rows, columns)], dtype=float)


class RidgeReadout:
    """Ridge classifier or regression on the standardised selected columns: the default.

    The same predictions as ``make_pipeline(StandardScaler(), RidgeClassifier())`` (or ``Ridge()``),
    without its checks; accuracy, subset accuracy for several labels, or R².
    """

    name = "ridge"

    def scores(self, X: Any, y: np.ndarray, target: Target, split: Split, steps: Any) -> list[Any]:
        """One score per step."""
        fold = _RidgeFold(X, target, split, steps)
        known: dict[bytes, float] = {}
        found = []
        for step in steps:
            # neighbours on a path often select the same columns
            key = step.columns.tobytes()
            if key not in known:
                known[key] = self._score(fold.predict(step.columns), y, target, split)
            found.append(known[key])
        return found

    @staticmethod
    def _score(Z: np.ndarray, y: np.ndarray, target: Target, split: Split) -> float:
        weight = split.test_weight
        if target.kind == "numbers":
            return float(r2_score(target.Y[split.test], Z, sample_weight=weight))
        truth = target.Y[split.test] > 0
        if target.kind == "multiclass":
            hit = truth[np.arange(len(Z)), Z.argmax(axis=1)]
        else:
            hit = ((Z > 0) == truth).all(axis=1)
        return float(np.average(hit, weights=weight))


class _RidgeFold:
    """Standardised columns of one fold, and the products that all supports share."""

    def __init__(self, X: Any, target: Target, split: Split, steps: Any):
        self.union = np.unique(np.concatenate([s.columns for s in steps] + [np.zeros(0, int)]))
        self.union = self.union.astype(int)
        A = columns_of(X, split.train, self.union)
        B = columns_of(X, split.test, self.union)
        Y = target.Y[split.train]
        weight = split.train_weight
        weight = np.ones(len(A)) if weight is None else weight
        means = np.average(A, axis=0, weights=weight)
        spread = np.sqrt(np.average((A - means) ** 2, axis=0, weights=weight))
        # as StandardScaler: what is left of a constant column is rounding
        spread[spread <= 10 * np.finfo(float).eps * np.abs(means)] = 1.0
        # weighted least squares is the plain one on rows times the roots of their weights
        self.root = np.sqrt(weight)[:, None]
        self.A = (A - means) / spread * self.root
        self.B = (B - means) / spread
        self.offset = np.average(Y, axis=0, weights=weight)
        self.R = (Y - self.offset) * self.root
        # a class that this fold does not train on is never predicted
        if target.kind == "multiclass":
            self.offset = np.where((Y == -1).all(axis=0), -np.inf, self.offset)
        # products of few columns with each other are computed once for all supports
        shared = 8 * self.union.size**2 <= CACHE_BYTES
        self.gram = self.A.T @ self.A if shared else None
        self.correlations = self.A.T @ self.R

    def predict(self, columns: np.ndarray) -> np.ndarray:
        """The outputs for the test samples of a ridge fit on these columns."""
        at = np.searchsorted(self.union, columns)
        if at.size == 0:
            return np.tile(self.offset, (len(self.B), 1))
        if self.gram is not None:
            system = self.gram[np.ix_(at, at)]
            W = ridge_solve(system, self.correlations[at])
        else:
            A = self.A[:, at]
            # the same W through the samples, which are fewer than so many columns mostly are
            W = A.T @ ridge_solve(A @ A.T, self.R)
        return self.B[:, at] @ W + self.offset


def ridge_solve(gram: np.ndarray, right: np.ndarray) -> np.ndarray:
    system = gram + RIDGE * np.eye(len(gram))
    return linalg.cho_solve(linalg.cho_factor(system, check_finite=False), right)


class EstimatorReadout:
    """Any scikit-learn estimator on the selected columns, scored as scikit-learn scores it."""

    def __init__(self, estimator: Any, scoring: Any, name: str):
        self.estimator = estimator
        self.scoring = scoring
        self.name = name

    def scores(self, X: Any, y: np.ndarray, target: Target, split: Split, steps: Any) -> list[Any]:
        """One score per step."""
        known: dict[bytes, float] = {}
        found = []
        for step in steps:
            key = step.columns.tobytes()
            if key not in known:
                known[key] = self._score(X, y, target, split, step.columns)
            found.append(known[key])
        return found

    def _score(
        self, X: Any, y: np.ndarray, target: Target, split: Split, columns: np.ndarray
    ) -> float:
        model = clone(self.estimator)
        if columns.size == 0:  # what is known without any column: the classes' shares, the mean
            model = DummyRegressor() if target.kind == "numbers" else DummyClassifier()
        A = columns_of(X, split.train, columns)
        B = columns_of(X, split.test, columns)
        if columns.size == 0:
            A = np.zeros((len(split.train), 1))
            B = np.zeros((len(split.test), 1))
        model.fit(A, y[split.train], **weights_for(model, split.train_weight))
        scorer = check_scoring(model, scoring=self.scoring)
        given = {} if split.test_weight is None else {"sample_weight": split.test_weight}
        try:
            return float(scorer(model, B, y[split.test], **given))
        except AttributeError as error:  # of a method that the model does not have
            raise ValueError(
                f"Expected an estimator that can be scored by {self.scoring!r}, got {self.name}: "
                f"{error} Set estimator=LogisticRegression(), say, or another scoring."
            ) from error


class LossReadout:
    """Minus the loss of the selector's own W on the test samples: no model is refitted."""

    name = "loss"

    def __init__(self, selector: Any):
        self.selector = selector

    def scores(self, X: Any, y: np.ndarray, target: Target, split: Split, steps: Any) -> list[Any]:
        """One score per step."""
        solutions = [step.solution for step in steps]
        if any(solution is None for solution in solutions):
            raise TypeError(
                "Expected an L2pSelector, an LpInfSelector or a TopKSelector for scoring='loss', "
                f"got {type(self.selector).__name__}; leave scoring out."
            )
        rows = np.unique(np.concatenate([s.rows for s in solutions] + [np.zeros(0, int)]))
        rows = rows.astype(int)
        B = self._test_columns(X, split, rows)
        Y, known = _outputs_of_training(target, split)
        r = self.selector.get_params().get("r", 2.0)
        return [self._score(s, B, rows, Y, known, r, split.test_weight) for s in solutions]

    def _test_columns(self, X: Any, split: Split, rows: np.ndarray) -> np.ndarray:
        """The columns of ``rows`` of the test samples, centred and scaled as in training."""
        A = columns_of(X, split.train, rows)
        B = columns_of(X, split.test, rows)
        weight = split.fit_params.get("sample_weight")
        centre = np.zeros(rows.size)
        scale = np.ones(rows.size)
        if self.selector.fit_intercept:
            centre = np.average(A, axis=0, weights=weight)
        if self.selector.standardize:
            scale = np.sqrt(np.average((A - centre) ** 2, axis=0, weights=weight))
            scale = np.where(scale > 0, scale, 1.0)
        return (B - centre) / scale

    @staticmethod
    def _score(
        solution: Any,
        B: np.ndarray,
        rows: np.ndarray,
        Y: np.ndarray,
        known: np.ndarray,
        r: float,
        weight: np.ndarray | None,
    ) -> float:
        mine = solution.rows
        Z = np.full(Y.shape, -1.0)  # a class that training did not have: nobody is in it
        Z[:, known] = B[:, np.searchsorted(rows, mine)] @ solution.W[mine] + solution.intercept
        residuals = np.linalg.norm(Z - Y, axis=1)
        return -float(np.average(residuals**r, weights=weight)) / r


def _outputs_of_training(target: Target, split: Split) -> tuple[np.ndarray, np.ndarray]:
    """Y of the test samples, and which of its columns the training samples have."""
    Y = target.Y[split.test]
    if target.kind != "multiclass":
        return Y, np.ones(Y.shape[1], dtype=bool)
    known = (target.Y[split.train] > 0).any(axis=0)
    if known.sum() == 2:  # two classes have one output, positive for the second
        raise ValueError(
            "Expected at least three classes in every training part for scoring='loss' on more "
            "than two classes; use fewer folds."
        )
    return Y, known


Readout = RidgeReadout | EstimatorReadout | LossReadout


def readout_for(estimator: Any, scoring: Any, target: Target, selector: Any = None) -> Readout:
    """The way to score that belongs to ``estimator`` and ``scoring``."""
    if isinstance(scoring, str) and scoring == "loss":
        if estimator is not None:
            raise ValueError(
                "Expected no estimator with scoring='loss', which is the selector's own, got "
                f"{estimator!r}; leave one of them out."
            )
        return LossReadout(selector)
    if isinstance(scoring, str) and scoring not in get_scorer_names():  # else every fold says so
        raise ValueError(
            f"Expected scoring to be 'loss' or a name of scikit-learn's, got {scoring!r}."
            f"{did_you_mean(scoring, get_scorer_names())}"
        )
    usual = "r2" if target.kind == "numbers" else "accuracy"
    if estimator is None and scoring in (None, usual):
        return RidgeReadout()
    if estimator is None:
        return EstimatorReadout(default_estimator(target.kind), scoring, "ridge")
    if "fit" not in dir(estimator):
        raise TypeError(f"Expected estimator with a method fit, got {estimator!r}.")
    return EstimatorReadout(estimator, scoring, type(estimator).__name__)


def default_estimator(kind: str) -> Pipeline:
    """Ridge on standardised columns, for a target of this kind."""
    model = Ridge(RIDGE) if kind == "numbers" else RidgeClassifier(RIDGE)
    return make_pipeline(StandardScaler(), model)


def weights_for(model: Any, weight: np.ndarray | None) -> dict[str, np.ndarray]:
    """Sample weights under the names by which a model, or the steps of a pipeline, take them."""
    if weight is None:
        return {}
    if isinstance(model, Pipeline):
        # a step that takes no weights would refuse them for the whole pipeline
        steps = [name for name, step in model.steps if has_fit_parameter(step, "sample_weight")]
        return {f"{name}__sample_weight": weight for name in steps}
    return {"sample_weight": weight} if has_fit_parameter(model, "sample_weight") else {}
