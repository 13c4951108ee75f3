"""Parameters are checked before the data is read, each with one sentence that names it."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from estimator_checks.toy import INFORMATIVE, labelled, outputs
from sklearn.feature_selection import RFE
from sklearn.linear_model import LinearRegression

import rowsparse
from rowsparse import (
    GroupedSelector,
    L2pSelector,
    LpInfSelector,
    ProbitKernelClassifier,
    ProbitSelector,
    ScoreSelector,
    TopKSelector,
    ZeroNormKernelSVC,
    ZeroNormSVC,
)
from rowsparse.paths import power_path, selection_path
from rowsparse.solvers import ALM, IRLS, BlockDescent, ProbitEM, ReweightedSVM

# GroupedSelector has no such parameters of its own, but a selector that has them
ALL = [
    getattr(rowsparse, name) for name in rowsparse.selectors.__all__ if name != "GroupedSelector"
]


class Unreadable:
    """Data that says so when somebody looks at it."""

    def __getattr__(self, name):
        raise AssertionError(f"the data was read: {name}")


WRONG = [
    *[(make, {"alpha": -1.0}) for make in (L2pSelector, LpInfSelector)],
    *[(make, {"n_features_to_select": bad}) for make in (L2pSelector, TopKSelector, ScoreSelector,
      ZeroNormSVC, ProbitSelector) for bad in (0, -1, True, 1.0, 2.5, "ten")],
    *[(make, {"solver": "fast"}) for make in ALL if make is not ScoreSelector],
    *[(make, {"task": "guess"}) for make in (L2pSelector, TopKSelector, ScoreSelector)],
    *[(make, {"class_weight": "equal"}) for make in ALL],
    *[(make, {"init": init}) for make in (L2pSelector, LpInfSelector) for init in ("x", [1.0])],
    *[(make, {"standardize": "yes"}) for make in (L2pSelector, TopKSelector, ZeroNormSVC)],
    *[(make, {"tol": 0.0}) for make in (ZeroNormSVC, ProbitSelector, ZeroNormKernelSVC)],
    *[(make, {"max_iter": bad}) for make in (ZeroNormSVC, ProbitSelector) for bad in ("a", 0)],
    *[(make, {"coef0": "one"}) for make in (ZeroNormKernelSVC, ProbitKernelClassifier)],
    *[(make, {"kernel": "cubic"}) for make in (ZeroNormKernelSVC, ProbitKernelClassifier)],
    (TopKSelector, {"random_state": "seed"}),
    (TopKSelector, {"n_init": 1.5}),
    (TopKSelector, {"polish": 2}),
    (ZeroNormSVC, {"multi_class": "crammer"}),
    (ScoreSelector, {"score": "relif"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "wrong"), WRONG, ids=[f"{make.__name__}-{wrong}" for make, wrong in WRONG]
)
def test_wrong_parameters_are_refused_before_the_data_is_read(make, wrong):
    with pytest.raises((ValueError, TypeError), match=rf"^Expected .*\b{next(iter(wrong))}\b"):
        make(**wrong).fit(Unreadable(), Unreadable())


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("max_iter", "a"), ("max_iter", 2.5), ("tol", "small"), ("callback", 3)],
)
@pytest.mark.parametrize("make", [L2pSelector, LpInfSelector])
def test_parameters_of_the_solver_too(make, parameter, value):
    solver = BlockDescent(**{parameter: value})
    with pytest.raises((ValueError, TypeError), match=rf"^Expected solver.{parameter}"):
        make(solver=solver).fit(Unreadable(), Unreadable())


@pytest.mark.parametrize("make", ALL)
def test_every_parameter_but_the_free_ones_is_declared(make):
    free = {"feature_weights", "score", "score_params"}  # of any kind; checked with X or with y
    assert set(make._checks) == set(make().get_params(deep=False)) - free


def test_a_group_of_columns_hands_wrong_parameters_on_before_the_data_is_read():
    assert set(GroupedSelector._checks) == set(GroupedSelector(None).get_params(deep=False))
    with pytest.raises(TypeError, match=r"^Expected solver"):
        GroupedSelector(TopKSelector(2, solver="fast")).fit(Unreadable(), Unreadable())


# -- how many -------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [L2pSelector, LpInfSelector, TopKSelector, ZeroNormSVC])
@pytest.mark.parametrize(("fraction", "k"), [(0.5, 4), (0.49, 3), (0.01, 1), (np.float32(0.25), 2)])
def test_fractions_are_rounded_as_rfe_does(make, fraction, k):
    X, y = labelled()
    assert make(fraction).fit(X, y).support_.sum() == k
    if k > 1:
        theirs = RFE(LinearRegression(), n_features_to_select=float(fraction)).fit(X, y)
        assert theirs.support_.sum() == k


def test_the_number_of_features_comes_first():
    X, y = labelled()
    presets = [
        L2pSelector.mtfs(3), L2pSelector.rfs(3), L2pSelector.erfs(3, 0.4), L2pSelector.rk1u(3, 0.4),
        L2pSelector.gsr(3, 1.5, 0.4), LpInfSelector(3), TopKSelector(3), ZeroNormSVC(3),
        ProbitSelector(3), ScoreSelector("f", 3),
    ]  # fmt: skip
    for selector in presets:
        assert selector.n_features_to_select == 3
        np.testing.assert_array_equal(np.flatnonzero(selector.fit(X, y).support_), INFORMATIVE)
    with pytest.raises(TypeError, match="positional"):
        L2pSelector(3, 0.1)


# -- solvers of other problems --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (L2pSelector(3, solver=ReweightedSVM()), r"ReweightedSVM.*use BlockDescent, IRLS"),
        (L2pSelector(3, solver=ALM()), r"ALM.*use BlockDescent"),
        (LpInfSelector(3, solver=ALM()), r"ALM.*use BlockDescent"),
        (TopKSelector(3, solver=BlockDescent()), r"BlockDescent.*use Splice, ALM or SFS"),
        (ZeroNormSVC(3, solver=BlockDescent()), r"BlockDescent.*use ReweightedSVM, AbsoluteNormLP"),
        (ProbitSelector(3, solver=IRLS()), r"IRLS.*use ProbitEM"),
        (ZeroNormKernelSVC(solver=IRLS()), r"IRLS.*use ReweightedSVM"),
    ],
)
def test_a_solver_of_another_problem_is_refused_in_one_sentence(selector, words):
    with pytest.raises(ValueError, match=rf"^Expected solver.*{words}"):
        selector.fit(Unreadable(), Unreadable())
    if not isinstance(selector, L2pSelector | LpInfSelector | TopKSelector):
        return  # without a path
    with pytest.raises(ValueError, match=rf"^Expected solver.*{words}"):
        selection_path(selector, Unreadable(), Unreadable(), ks=[1, 2])


@pytest.mark.parametrize("selector", [ZeroNormSVC(), ScoreSelector("f"), LinearRegression()])
def test_a_selector_without_a_path_is_refused_in_one_sentence(selector):
    with pytest.raises(TypeError, match=f"^Expected an L2pSelector.*{type(selector).__name__}"):
        selection_path(selector, Unreadable(), Unreadable())


@pytest.mark.parametrize("selector", [TopKSelector(), ZeroNormSVC()])
def test_a_penalty_without_a_power_is_refused_in_one_sentence(selector):
    with pytest.raises(TypeError, match=f"^Expected an L2pSelector.*{type(selector).__name__}"):
        power_path(selector, Unreadable(), Unreadable())


@pytest.mark.parametrize(
    "selector", [ZeroNormSVC(solver=ProbitEM()), ProbitSelector(solver=ReweightedSVM())]
)
def test_a_solver_of_another_loss_is_refused(selector):
    with pytest.raises(ValueError, match=r"cannot solve this problem: it is for the .* loss"):
        selector.fit(*labelled())


def test_reweighting_of_a_penalty_that_cannot_is_refused():
    with pytest.raises(ValueError, match="IRLS cannot solve"):
        LpInfSelector(3, solver=IRLS()).fit(*labelled())


# -- names ----------------------------------------------------------------------------------------


def test_feature_weights_may_be_a_series_with_names():
    X, y = labelled()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    by_name = L2pSelector(3, feature_weights=pd.Series({"h": 0.0, "b": np.inf})).fit(frame, y)
    assert by_name.support_[7]
    assert not by_name.support_[1]
    plain = pd.Series([1, np.inf, 1, 1, 1, 1, 1, 0.0])
    by_position = L2pSelector(3, feature_weights=plain).fit(frame, y)
    np.testing.assert_array_equal(by_name.scores_, by_position.scores_)


def test_a_typo_in_feature_weights_is_answered_with_the_nearest_name():
    X, y = labelled()
    frame = pd.DataFrame(X).rename(columns=lambda j: f"gene_{j}")
    with pytest.raises(ValueError, match=r"\['gene4'\]. Did you mean 'gene_4'\?"):
        L2pSelector(3, feature_weights={"gene4": 0.0}).fit(frame, y)


def test_names_for_a_sparse_matrix():
    X, Y = outputs()
    selector = L2pSelector(2).fit(sp.csr_array(X), Y)
    assert sorted(selector.to_frame()["name"]) == [f"x{j}" for j in range(8)]
    table = selector.to_frame(list("abcdefgh"))
    assert set(table["name"][table["selected"]]) == {
        "abcdefgh"[j] for j in selector.get_support(True)
    }
    with pytest.raises(ValueError, match=r"one name per column of X \(8\), got 2"):
        selector.to_frame(["a", "b"])


# -- other formats --------------------------------------------------------------------------------


@pytest.mark.parametrize("selector", [L2pSelector(3), TopKSelector(3), ZeroNormSVC(3)])
def test_fitted_selectors_go_through_skops(selector):
    skops = pytest.importorskip("skops.io")
    X, y = labelled()
    data = skops.dumps(selector.fit(X, y))
    back = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    np.testing.assert_array_equal(back.predict(X), selector.predict(X))
    assert back.solution_ == selector.solution_
