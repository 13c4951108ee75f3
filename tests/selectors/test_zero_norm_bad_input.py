"""Every bad input is refused in one sentence that names it."""

from functools import partial

import numpy as np
import pytest
from estimator_checks.bad_input import BadInput, cases_for
from estimator_checks.toy import labelled
from sklearn.exceptions import NotFittedError

from rowsparse import ProbitKernelClassifier, ProbitSelector, ZeroNormKernelSVC, ZeroNormSVC

LACKS = {"alpha", "regression"}


def parameter(name, value, *words):
    return BadInput(f"{name}={value}", (rf"\b{name}\b", *words), {name: value})


COMMON = [
    parameter("norm", -0.1, r"-0\.1"),
    parameter("norm", 2.5, r"2\.5"),
    parameter("norm", np.nan, "nan"),
    parameter("norm", "zero", "zero"),
    parameter("tol", 0.0, "0"),
    parameter("tol", -1.0, "-1"),
    parameter("max_iter", 0, "0"),
    parameter("max_iter", 2.5, r"2\.5"),
    parameter("class_weight", "equal", "equal"),
    parameter("class_weight", {0: -1.0}, "-1"),
    parameter("standardize", "perhaps", "perhaps"),
    BadInput("y-indicator", ("label", "multilabel"), y=lambda y: (y[:, None] == [0, 1, 2]) * 1),
    BadInput("y-continuous", ("class", "continuous"), y=lambda y: y + 0.5 * np.arange(len(y))),
]
SVC_CASES = [
    parameter("C", 0.0, r"\b0"),
    parameter("C", -2.0, r"-2"),
    parameter("C", np.inf, "inf"),
    parameter("C", "big", "big"),
    parameter("multi_class", "crammer_singer", "crammer_singer", "joint", "ovr"),
]
PROBIT_CASES = [
    parameter("gamma", 0.0, r"\b0"),
    parameter("gamma", -2.0, r"-2"),
    parameter("norm", np.inf, "inf"),
]


@pytest.mark.parametrize("case", cases_for(lacks=LACKS, extra=[*COMMON, *SVC_CASES]))
@pytest.mark.parametrize("k", [None, 2])
def test_bad_input_of_the_svm(case, k):
    case.check(partial(ZeroNormSVC, n_features_to_select=k))


@pytest.mark.parametrize("case", cases_for(lacks=LACKS, extra=[*COMMON, *PROBIT_CASES]))
def test_bad_input_of_the_probit_model(case):
    case.check(ProbitSelector)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"kernel": "cosine"}, "kernel.*precomputed.*cosine"),
        ({"kernel": 3}, "kernel"),
        ({"gamma": -1.0}, "gamma.*-1"),
        ({"gamma": "wide"}, "gamma.*wide"),
        ({"degree": -2}, "degree"),
        ({"coef0": np.inf}, "coef0"),
        ({"coef0": "one"}, "coef0.*one"),
        ({"degree": "three"}, "degree.*three"),
        ({"gamma": np.array([0.1, 0.2])}, "gamma"),
        ({"norm": np.inf}, "norm.*inf"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": -1}, "max_iter"),
        ({"n_vectors_to_select": 0}, "n_vectors_to_select.*integer >= 1.*got 0"),
        ({"n_vectors_to_select": 61}, "n_vectors_to_select from 1 to 60.*samples.*got 61"),
        ({"n_vectors_to_select": 2.5}, r"n_vectors_to_select.*integer.*2\.5"),
        ({"kernel": "precomputed"}, r"square.*\(60, 8\)"),
        ({"kernel": lambda A, B: np.ones(3)}, r"shape \(60, 60\).*\(3,\)|shape.*got \(3,\)"),
    ],
)
@pytest.mark.parametrize("kind", [ZeroNormKernelSVC, ProbitKernelClassifier])
def test_bad_parameters_of_the_kernel_classifiers(kind, params, words):
    with pytest.raises((ValueError, TypeError), match=words):
        kind(**params).fit(*labelled())


@pytest.mark.parametrize("kind", [ZeroNormKernelSVC, ProbitKernelClassifier])
def test_bad_data_for_the_kernel_classifiers(kind):
    X, y = labelled()
    with pytest.raises(ValueError, match="two classes"):
        kind().fit(X, np.zeros(60))
    with pytest.raises(ValueError, match="NaN"):
        kind().fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="sample_weight"):
        kind().fit(X, y, sample_weight=np.ones(59))
    with pytest.raises(ValueError, match="sample_weight"):
        kind().fit(X, y, sample_weight=-np.ones(60))
    with pytest.raises(ValueError, match="requires y"):
        kind().fit(X, None)
    with pytest.raises(NotFittedError):
        kind().predict(X)


@pytest.mark.parametrize("parameter_", ["C", "refit_C", "prior"])
def test_strength_of_the_kernel_classifiers(parameter_):
    kind = ProbitKernelClassifier if parameter_ == "prior" else ZeroNormKernelSVC
    for value in (0.0, -1.0, "much", np.inf):
        with pytest.raises((ValueError, TypeError), match=rf"\b{parameter_}\b"):
            kind(**{parameter_: value}).fit(*labelled())
