"""What the estimators of this package are given: tables, weights, groups and where they go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_consistent_length, has_fit_parameter

from ..designs import ChunkedDesign, in_blocks
from ..inputs import check_feature_weights, check_sample_weight
from ..selectors import GroupedSelector, ScoreSelector, TopKSelector
from ..selectors.base import FeatureSelector
from ..selectors.blocks import TAKE_BLOCKS, validated_blocks
from ..selectors.data import validated
from ..selectors.penalised import RowSelector
from ..targets import Target, as_array, as_target, read_target
from .following import K_PARAMETERS


@dataclass(frozen=True)
class Table:
    """X and y, checked once for all folds and subsamples."""

    X: Any  # ndarray, CSR or ChunkedDesign; the data frame itself for selectors not ours
    y: np.ndarray  # as the selector reads it
    target: Target
    names: np.ndarray | None
    imputer: Any = None  # of what is missing in X, fitted on every training part
    design: Any = None  # X by passes: a ChunkedDesign, X itself if it is one

    @property
    def in_blocks(self) -> bool:
        """Whether X is on disk or a Dask array, of which parts are masks."""
        return isinstance(self.X, ChunkedDesign)

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features."""
        return self.X.shape

    @classmethod
    def of(
        cls,
        owner: Any,
        selector: Any,
        X: Any,
        y: Any,
        imputer: Any = None,
        blocks: bool = False,
        **options: Any,
    ) -> Table:
        """Check X and y for the ``owner``, whose ``n_features_in_`` is set; X in ``blocks`` is
        for owners that know what to do with it."""
        # before the data is read, which may take long
        check_imputer(imputer)
        if in_blocks(X) and blocks:
            check_takes_blocks(selector)
            if imputer is not None:
                raise ValueError(
                    "Expected no imputer for X in blocks, whose fits refuse missing values, got "
                    f"{imputer!r}; fill the gaps where X is written."
                )
            design, y = validated_blocks(owner, X, y)
            task = task_of(selector)
            names = vars(owner).get("feature_names_in_")
            target = as_target(y, task)
            return cls(design, _decided(as_array(y), task), target, names, design=design)
        finite: bool | Literal["allow-nan"] = True if imputer is None else "allow-nan"
        checked, y = validated(owner, X, y, finite, **options)
        if sparse.issparse(checked):
            checked = checked.tocsr()  # folds are rows
        names = vars(owner).get("feature_names_in_")
        task = task_of(selector)
        target = as_target(y, task)
        # other people's selectors may ask for columns by their names
        as_array_of_numbers = isinstance(selector, FeatureSelector) or imputer is not None
        kept = checked if as_array_of_numbers or names is None else X
        return cls(kept, _decided(as_array(y), task), target, names, imputer)

    def resolved(self, selector: Any) -> Any:
        """A copy of the selector whose feature weights need no names: folds are plain arrays."""
        copy = clone(selector)
        if isinstance(copy, GroupedSelector):
            return copy.set_params(selector=self.resolved(copy.selector))
        if copy.get_params(deep=False).get("feature_weights") is not None and isinstance(
            selector, FeatureSelector
        ):
            weights = check_feature_weights(copy.feature_weights, self.shape[1], self.names)
            copy.set_params(feature_weights=weights)
        if task_of(copy) == "auto" and "task" in copy.get_params(deep=False):
            # what y is, is decided on all samples: a fold of whole numbers may look otherwise
            numbers = self.target.kind == "numbers"
            copy.set_params(task="regression" if numbers else "classification")
        return copy

    def filled(self, rows: np.ndarray) -> Table:
        """The whole table with its gaps filled by an imputer that knows these samples alone."""
        if self.imputer is None:
            return self
        imputer = self.fitted_imputer(rows)
        X = imputer.transform(self.X)
        # with a column more or less, all numbers of columns after it would be wrong
        if X.shape != self.X.shape:
            raise ValueError(
                f"Expected an imputer that keeps the {self.X.shape[1]} columns of X, got one that "
                f"makes {X.shape[1]}; set keep_empty_features=True and add_indicator=False, and "
                "add columns beforehand."
            )
        return replace(self, X=X, imputer=None)

    def fitted_imputer(self, rows: np.ndarray) -> Any:
        """A copy of the imputer that knows these samples; None where there is none."""
        return None if self.imputer is None else clone(self.imputer).fit(self.rows(rows))

    def everyone(self, selector: Any) -> Any:
        """All samples as a selector is fitted to them, by what is known of them if possible."""
        if self.in_blocks:
            return self.X
        by_moments = self.design is not None and self.design.has_products
        return self.design if by_moments and of_squared_loss(selector) else self.X

    def rows(self, rows: np.ndarray) -> Any:
        """Some samples of X."""
        return _safe_indexing(self.X, rows)


def _decided(y: np.ndarray, task: str) -> np.ndarray:
    """y, with indicators as zeros and ones, which scikit-learn's models know."""
    kind = read_target(y, task)[1]
    return (y > 0).astype(int) if kind == "indicator" else y


def task_of(selector: Any) -> str:
    """How a selector reads y."""
    if isinstance(selector, GroupedSelector):
        return task_of(selector.selector)
    return str(selector.get_params(deep=False).get("task", "auto"))


def of_squared_loss(selector: Any) -> bool:
    """Whether moments are all that it needs."""
    if not isinstance(selector, RowSelector | TopKSelector):
        return False
    return bool(selector.get_params(deep=False).get("r", 2.0) == 2)


def check_selector(selector: Any) -> None:
    """An object that selects columns and can be copied."""
    # a class has these methods, too: its parentheses were forgotten
    if isinstance(selector, type) or not all(
        name in dir(selector) for name in ("fit", "get_support", "get_params")
    ):
        raise TypeError(
            "Expected selector to be a feature selector such as L2pSelector() (with fit, "
            f"get_support and get_params), got {selector!r}."
        )


def check_takes_blocks(selector: Any) -> None:
    """A selector that can be fitted to X in blocks."""
    if not isinstance(selector, RowSelector | TopKSelector | ScoreSelector):
        raise TypeError(
            f"Expected a selector that takes X in blocks ({TAKE_BLOCKS}), got "
            f"{type(selector).__name__}; use one of these, or load X into memory."
        )


def check_imputer(imputer: Any) -> None:
    """None, or an object that can be copied and fills a table."""
    wanted = ("fit", "transform", "get_params")
    if imputer is not None and not all(name in dir(imputer) for name in wanted):
        raise TypeError(
            "Expected imputer to be None or a transformer such as SimpleImputer(), got "
            f"{imputer!r}."
        )


def fit_params_of(selector: Any, weight: np.ndarray | None) -> dict[str, Any]:
    """Sample weights for a selector's fit."""
    if weight is None:
        return {}
    # left out in silence they would count as ones
    if not has_fit_parameter(selector, "sample_weight"):
        raise ValueError(
            "Expected a selector whose fit takes sample_weight when sample_weight is given, got "
            f"{type(selector).__name__}; leave the weights out."
        )
    return {"sample_weight": weight}


@dataclass(frozen=True)
class Metadata:
    """Sample weights and groups, and to whom they go."""

    selector: np.ndarray | None
    model: np.ndarray | None
    score: np.ndarray | None
    groups: Any

    @classmethod
    def of(cls, owner: Any, n: int, sample_weight: Any, groups: Any) -> Metadata:
        """With scikit-learn's metadata routing as requested there, else to all."""
        weight = check_sample_weight(sample_weight, n)
        if groups is not None:
            check_consistent_length(groups, np.zeros(n))
        splits = "cv" in owner.get_params(deep=False)  # else groups are the owner's own
        given = {"sample_weight": weight, "groups": groups if splits else None}
        given = {name: value for name, value in given.items() if value is not None}
        # asked for nothing, process_routing answers with an object that "in" never leaves
        if not given or not get_config()["enable_metadata_routing"]:
            return cls(weight, weight, weight, groups)
        routed = process_routing(owner, "fit", **given)
        return cls(
            routed["selector"]["fit"].get("sample_weight"),
            routed["estimator"]["fit"].get("sample_weight") if "estimator" in routed else None,
            routed["scorer"]["score"].get("sample_weight") if "scorer" in routed else None,
            routed["splitter"]["split"].get("groups") if "splitter" in routed else groups,
        )


def seeded(estimator: Any, seed: int) -> Any:
    """A copy whose open random states, those of its parts included, follow from one seed."""
    copy = clone(estimator)
    rng = np.random.default_rng(seed)
    # sorted: seeds must not depend on the order in which parameters are listed
    for name, value in sorted(copy.get_params(deep=True).items()):
        if value is None and (name == "random_state" or name.endswith("__random_state")):
            # 2**31: NumPy's older generators take no more
            copy.set_params(**{name: int(rng.integers(2**31))})
    return copy


def seeds(random_state: Any, n: int) -> np.ndarray:
    """n whole numbers from a random state; None is one that never repeats."""
    return check_random_state(random_state).randint(2**31 - 1, size=n)


def selects_k(selector: Any) -> int | float | None:
    """How many features a selector was asked for."""
    params = selector.get_params(deep=False)
    return next((params[name] for name in K_PARAMETERS if name in params), None)
