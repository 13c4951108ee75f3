"""ScoreSelector passes scikit-learn's checks and every shared check, with each of its filters."""

from functools import partial

import pytest
from estimator_checks.bad_input import BadInput, _parameter, cases_for
from estimator_checks.pitfalls import checks_for
from sklearn.utils.estimator_checks import parametrize_with_checks

from rowsparse import ScoreSelector
from rowsparse.filters import f_score

VARIANTS = {
    "fisher": {"score": "fisher"},
    "f": {"score": "f"},
    "mdlp": {"score": "information_gain"},
    "bins": {"score": "information_gain", "score_params": {"n_bins": 4}},
    "relieff": {"score": "relieff"},
    "miq": {"score": "mrmr"},
    "fcq": {"score": "mrmr", "score_params": {"criterion": "fcq"}},
    "svm_rfe": {"score": "svm_rfe", "score_params": {"step": 0.5}},
    "function": {"score": f_score},
}


NAMED = [v for name, v in VARIANTS.items() if name != "function"]  # its id would hold an address


@parametrize_with_checks([ScoreSelector(n_features_to_select=1, **v) for v in NAMED])
def test_scikit_learn_check(estimator, check):
    check(estimator)


LACKS = {"alpha", "coef", "solution", "standardize"}
# Weights are counts here, as in the F statistic, and other filters count neighbours or description
# lengths with them: twice the weights are twice the samples.
SCALE_OF_WEIGHTS = "check_the_scale_of_the_weights_does_not_matter"
FREE_OF_SCALE = {"fisher", "bins", "miq"}
# Two other columns of that data separate the classes as well; by information they tie, and the
# lowest index is first. tests/filters/test_common.py plants a single perfect column instead.
PERFECT = "check_a_perfect_separator_ranks_first"
TIES = {"mdlp", "bins", "miq"}


def applies(check, variant):
    name = check.run.__name__
    if name == SCALE_OF_WEIGHTS:
        return variant in FREE_OF_SCALE
    return not (name == PERFECT and variant in TIES)


PITFALLS = [
    pytest.param(param.values[0], variant, id=f"{variant}-{param.id}")
    for variant in VARIANTS
    for param in checks_for(lacks=LACKS)
    if applies(param.values[0], variant)
]


@pytest.mark.parametrize(("check", "variant"), PITFALLS)
def test_pitfall(check, variant):
    check.run(partial(ScoreSelector, **{"n_features_to_select": 3, **VARIANTS[variant]}))


OWN_CASES = [
    _parameter("score", "banana", "banana", "relieff"),
    _parameter("score", 3, "3|int"),
    _parameter("score_params", "k=3", "mapping"),
    _parameter("score_params", {"banana": 3}, "banana", "n_neighbors"),
    _parameter("score_params", {"task": "regression"}, "task"),
    _parameter("n_features_to_select", None, "None"),
    _parameter("task", "banana", "banana"),
    BadInput("n_neighbors", ("n_neighbors=0",), {"score_params": {"n_neighbors": 0}}),
    BadInput(
        "task=regression-words",
        ("regression|numeric|number|float|string",),
        {"task": "regression"},
        y=lambda y: [f"c{label}" for label in y],
    ),
    BadInput("only constant columns", ("constant",), X=lambda X: 0 * X + 1.0),
]


@pytest.mark.parametrize("case", cases_for(lacks=LACKS, extra=OWN_CASES))
def test_bad_input_is_refused_with_its_name(case):
    case.check(partial(ScoreSelector, n_features_to_select=3))
