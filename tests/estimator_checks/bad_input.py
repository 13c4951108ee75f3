"""Bad input, and the words that the refusal must contain.

Use in one line per selector:

    @pytest.mark.parametrize("case", cases_for(lacks={"feature_weights"}))
    def test_bad_input(case):
        case.check(make_selector)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from . import toy
from .registry import CAPABILITIES

N, D = 60, 8
LEARNED_FROM_X = {"n_features_in_", "feature_names_in_"}  # set by scikit-learn's own validation


@dataclass(frozen=True)
class BadInput:
    """One bad input: what is changed, and regular expressions that the message must match."""

    id: str
    words: tuple[str, ...]
    params: dict[str, Any] = field(default_factory=dict)
    X: Callable[[np.ndarray], Any] = lambda X: X
    y: Callable[[np.ndarray], Any] = lambda y: y
    sample_weight: Callable[[int], Any] | None = None
    needs: frozenset[str] = frozenset()
    regression: bool = False

    def check(self, make_selector) -> None:
        """Fit, expect a refusal that names the matter, and nothing half-fitted left behind."""
        X, y = toy.labelled(N, D)
        if self.regression:
            X, y = toy.outputs(N, D)
        weights = {} if self.sample_weight is None else {"sample_weight": self.sample_weight(N)}
        with pytest.raises((ValueError, TypeError)) as caught:  # noqa: PT012
            selector = make_selector(**self.params)
            selector.fit(self.X(X), self.y(y), **weights)
        self._check_message(str(caught.value))
        assert_not_fitted(selector, X)

    def _check_message(self, message: str) -> None:
        first_line = message.strip().splitlines()[0]
        assert 10 < len(first_line) < 400, f"not a sentence: {first_line!r}"
        for word in self.words:
            assert re.search(word, message, re.IGNORECASE), f"{word!r} is not in {message!r}"


def assert_not_fitted(selector, X) -> None:
    """No attribute of a fit is set, and using the selector says that it is not fitted."""
    learned = {a for a in vars(selector) if a.endswith("_") and not a.startswith("_")}
    assert learned <= LEARNED_FROM_X
    with pytest.raises(NotFittedError):
        selector.transform(X)


def put(value, where=(3, 2)):
    """A function that writes one value into a copy of an array."""

    def change(array):
        changed = np.array(array)
        changed[where] = value
        return changed

    return change


def _mixed_labels(y):
    return np.array([f"c{label}" if label else 0 for label in y], dtype=object)


BAD_X = [
    BadInput("X-nan", ("X", "nan"), X=put(np.nan)),
    BadInput("X-inf", ("X", "inf"), X=put(np.inf)),
    BadInput("X-too-large-for-float64", ("inf|large",), X=put(-np.inf)),
    BadInput("X-no-rows", ("0 sample|empty|no rows",), X=lambda X: X[:0], y=lambda y: y[:0]),
    BadInput("X-no-columns", ("0 feature|empty|no columns",), X=lambda X: X[:, :0]),
    BadInput("X-1d", ("2D|two|dimension",), X=lambda X: X[:, 0]),
    BadInput("X-3d", ("dim",), X=lambda X: X[:, :, None]),
    BadInput("X-complex", ("complex",), X=lambda X: X + 1j),
    BadInput("X-strings", ("string|numeric|convert",), X=lambda X: np.array([["a"] * D] * N)),
    BadInput(
        "X-object-column",
        ("string|numeric|convert", "'?seven"),
        X=lambda X: pd.DataFrame(X).assign(word=["seven"] * N).rename(columns=str),
    ),
    BadInput("X-shorter-than-y", (str(N - 1), str(N)), X=lambda X: X[:-1]),
    BadInput("y-shorter-than-X", (str(N - 1), str(N)), y=lambda y: y[:-1]),
]

CLASSES, NUMBERS = frozenset({"classification"}), frozenset({"regression"})
BAD_Y = [
    BadInput("y-none", ("y", "none|requires"), y=lambda y: None),
    BadInput("y-one-class", ("class", "1|one|single"), y=lambda y: 0 * y, needs=CLASSES),
    BadInput("y-mixed-labels", ("str", "int"), y=_mixed_labels, needs=CLASSES),
    BadInput(
        "y-missing-label", ("y|label", "nan|none|missing"), y=lambda y: put(np.nan, 3)(1.0 * y)
    ),
    BadInput("y-nan", ("y", "nan"), y=put(np.nan), regression=True, needs=NUMBERS),
    BadInput("y-inf", ("y", "inf"), y=put(np.inf), regression=True, needs=NUMBERS),
    BadInput("y-3d", ("y|dim", "3"), y=lambda y: y[:, :, None], regression=True, needs=NUMBERS),
    BadInput("y-complex", ("complex",), y=lambda y: y + 1j, regression=True, needs=NUMBERS),
    BadInput(
        "y-constant",
        ("constant|var|same", "y|target"),
        y=lambda y: np.full(len(y), 2.5),
        regression=True,
        needs=NUMBERS,
    ),
]

WEIGHTS = frozenset({"sample_weight"})
BAD_SAMPLE_WEIGHT = [
    BadInput(id_, words, sample_weight=weights, needs=WEIGHTS)
    for id_, words, weights in (
        ("sample_weight-short", ("sample_weight", str(N - 1), str(N)), lambda n: np.ones(n - 1)),
        ("sample_weight-2d", ("sample.weight",), lambda n: np.ones((n, 2))),
        ("sample_weight-negative", ("weight", "negative|-1"), lambda n: put(-1.0, 0)(np.ones(n))),
        ("sample_weight-all-zero", ("weight", "zero|positive|non-null"), np.zeros),
        ("sample_weight-nan", ("weight", "nan|finite"), lambda n: put(np.nan, 0)(np.ones(n))),
        ("sample_weight-inf", ("weight", "inf"), lambda n: put(np.inf, 0)(np.ones(n))),
    )
]


def _parameter(name, value, *words, needs=()) -> BadInput:
    """A bad value of one parameter; its name must appear in the message."""
    label = re.sub(r"\W+", "-", str(value)).strip("-")[:20]
    params = {name: value}
    return BadInput(f"{name}={label}", (rf"\b{name}\b", *words), params, needs=frozenset(needs))


def _k(value, *words) -> BadInput:
    return _parameter("n_features_to_select", value, *words, needs=("k",))


BAD_COUNT = [
    _k(D + 1, str(D + 1), rf"\b{D}\b"),
    _k(0, "0"),
    _k(-2, "-2"),
    _k(2.5, r"2\.5"),
    _k("all", "all"),
]


def _feature_weights(id_, words, value, X=lambda X: X) -> BadInput:
    needs, params = frozenset({"feature_weights"}), {"feature_weights": value}
    return BadInput(f"feature_weights-{id_}", ("feature.weights", *words), params, X, needs=needs)


def _frame(X):
    return pd.DataFrame(X, columns=list("abcdefgh"))


BAD_FEATURE_WEIGHTS = [
    _feature_weights("short", (str(D - 1), str(D)), np.ones(D - 1)),
    _feature_weights("2d", ("shape|dim",), np.ones((D, 2))),
    _feature_weights("negative", ("-1|negative",), put(-1.0, 0)(np.ones(D))),
    _feature_weights("nan", ("nan",), put(np.nan, 0)(np.ones(D))),
    _feature_weights("all-inf", ("inf",), np.full(D, np.inf)),
    _feature_weights("unknown-name", ("zebra",), {"zebra": 0.0}, _frame),
    _feature_weights("names-without-a-frame", ("name|frame",), {"a": 0.0}),
    _feature_weights("mapping-negative", ("-3|negative",), {"a": -3.0}, _frame),
    _feature_weights("words", ("numeric|number|string|float",), ["much"] * D),
]

ALPHA = ("alpha",)
BAD_ALPHA = [
    _parameter("alpha", -0.5, r"-0\.5", needs=ALPHA),
    _parameter("alpha", np.nan, "nan", needs=ALPHA),
    _parameter("alpha", "big", "big|str", needs=ALPHA),
]

ALL_CASES = [*BAD_X, *BAD_Y, *BAD_SAMPLE_WEIGHT, *BAD_COUNT, *BAD_FEATURE_WEIGHTS, *BAD_ALPHA]

# Parameters of the l2,p family; other selectors list their own.
L2P_CASES = [
    _parameter("p", -0.1, r"-0\.1"),
    _parameter("p", 1.5, r"1\.5"),
    _parameter("p", np.nan, "nan"),
    _parameter("p", "half", "half|str"),
    _parameter("r", 0.0, r"\b0"),
    _parameter("r", 2.5, r"2\.5"),
    _parameter("r", np.nan, "nan"),
    _parameter("init", "banana", "banana"),
    _parameter("init", np.zeros((3, 3)), "shape", r"3, 3"),
    _parameter("init", np.full((D, 3), np.nan), "nan|finite"),
    _parameter("solver", "banana", "banana"),
    _parameter("solver", 3, "3|int"),
    _parameter("task", "banana", "banana"),
    _parameter("fit_intercept", "perhaps", "perhaps"),
    _parameter("standardize", "perhaps", "perhaps"),
    BadInput(
        "task=regression-words",
        ("regression|numeric|number|float|string",),
        {"task": "regression"},
        y=lambda y: np.array(["a", "b", "c"])[y],
    ),
]


def cases_for(lacks: Iterable[str] = (), extra: Iterable[BadInput] = ()) -> list:
    """Parameters for `pytest.mark.parametrize("case", …)`."""
    lacks = set(lacks)
    assert lacks <= CAPABILITIES
    return [pytest.param(c, id=c.id) for c in [*ALL_CASES, *extra] if not c.needs & lacks]
