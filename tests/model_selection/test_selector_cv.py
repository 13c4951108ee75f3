"""SelectorCV against GridSearchCV, MultiTaskLassoCV and its own rules."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from estimator_checks import toy
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, MultiTaskLassoCV, RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rowsparse import L2pSelector, ScoreSelector, TopKSelector, ZeroNormSVC
from rowsparse.model_selection import SelectorCV

LASSO = L2pSelector(p=1)
ALPHAS = [0.5, 0.2, 0.05, 0.01]


def same(a, b):
    np.testing.assert_array_equal(a.support_, b.support_)
    assert a.best_params_ == b.best_params_
    np.testing.assert_array_equal(
        a.cv_results_["mean_test_score"], b.cv_results_["mean_test_score"]
    )


def test_the_scores_are_those_of_a_grid_search_over_a_pipeline():
    X, y = toy.labelled(d=20)
    ours = SelectorCV(LASSO, grid={"alpha": ALPHAS}).fit(X, y)
    whole = make_pipeline(LASSO, StandardScaler(), RidgeClassifier())
    theirs = GridSearchCV(whole, {"l2pselector__alpha": ALPHAS}).fit(X, y)
    for fold in range(5):
        name = f"split{fold}_test_score"
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name])
    for name in ("mean_test_score", "std_test_score", "rank_test_score"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name])
    assert ours.best_score_ == pytest.approx(theirs.best_score_)


@pytest.mark.parametrize("k_name", ["k", "n_features_to_select"])
def test_any_selector_with_a_number_of_features_can_be_tuned(k_name):
    X, y = toy.labelled()
    filters = {"k": SelectKBest(f_classif), "n_features_to_select": ScoreSelector("f")}
    ours = SelectorCV(filters[k_name], ks=[1, 2, 3]).fit(X, y)
    whole = make_pipeline(SelectKBest(f_classif), StandardScaler(), RidgeClassifier())
    theirs = GridSearchCV(whole, {"selectkbest__k": [1, 2, 3]}).fit(X, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )
    assert set(np.flatnonzero(ours.support_)) == set(toy.INFORMATIVE)


def test_own_loss_is_that_of_scikit_learns_multi_task_lasso():
    X, Y = toy.outputs(d=12)
    selector = L2pSelector(p=1, standardize=False)
    cv = KFold(4)
    ours = SelectorCV(selector, grid={"alpha": ALPHAS}, scoring="loss", cv=cv).fit(X, Y)
    theirs = MultiTaskLassoCV(alphas=ALPHAS, cv=cv, tol=1e-10, max_iter=100_000).fit(X, Y)
    for fold in range(4):  # theirs is the mean over outputs, ours half the sum
        np.testing.assert_allclose(
            -ours.cv_results_[f"split{fold}_test_score"], theirs.mse_path_[:, fold] * 3 / 2,
            rtol=1e-4,
        )  # fmt: skip
    assert ours.best_params_["alpha"] == theirs.alpha_


def test_what_is_chosen_is_fitted_on_all_samples():
    X, y = toy.labelled()
    for search in (
        SelectorCV(LASSO, grid={"alpha": 4, "ridge": [0.0, 0.1]}, cv=2),
        SelectorCV(L2pSelector(p=0.5), ks=[1, 3], cv=2),
        SelectorCV(TopKSelector(), ks=[2, 4], grid={"ridge": [0.1, 10]}, cv=2),
        SelectorCV(ZeroNormSVC(), grid={"C": [0.1, 1]}, cv=2),
    ):
        search.fit(X, y)
        again = clone(search.selector).set_params(**search.best_params_).fit(X, y)
        np.testing.assert_array_equal(again.support_, search.support_)
        np.testing.assert_array_equal(search.ranking_, again.ranking_)
        assert search.transform(X).shape[1] == search.support_.sum()


def test_an_automatic_ridge_is_named():
    X, y = toy.labelled()
    search = SelectorCV(TopKSelector(), ks=[1, 3], cv=3).fit(X, y)
    of_the_largest = TopKSelector(3).problem_and_solver(X, y)[0].ridge
    assert of_the_largest > 0
    # from other sums: one pass serves all folds
    assert search.best_params_["ridge"] == pytest.approx(of_the_largest, rel=1e-12)


def test_the_path_runs_along_the_best_combination():
    X, y = toy.labelled()
    search = SelectorCV(L2pSelector(), grid={"alpha": 5, "p": [0.5, 1]}, cv=3).fit(X, y)
    problem = L2pSelector(p=search.best_params_["p"]).problem_and_solver(X, y)[0]
    assert len(search.path_) == 5
    assert search.path_.alphas[0] == pytest.approx(problem.alpha_max())
    assert search.best_params_["alpha"] in search.path_.alphas


def test_the_default_is_fifty_alphas_or_a_ladder_of_k():
    X, y = toy.labelled()
    assert len(SelectorCV(LASSO, cv=2).fit(X, y).cv_results_["params"]) == 50
    ladder = SelectorCV(ScoreSelector("f"), cv=2).fit(X, y).cv_results_["params"]
    assert [params["n_features_to_select"] for params in ladder] == [1, 2, 3, 5, 7]


def test_the_result_does_not_depend_on_n_jobs():
    X, y = toy.labelled()
    search = SelectorCV(LASSO, grid={"alpha": 4, "ridge": [0.0, 0.1]}, cv=3)
    same(clone(search).fit(X, y), clone(search).set_params(n_jobs=2).fit(X, y))


# -- what goes into the folds ---------------------------------------------------------------------


def test_groups_reach_the_splitter_and_labels_are_stratified():
    X, y = toy.labelled()
    groups = np.arange(60) // 6
    given = SelectorCV(LASSO, grid={"alpha": 4}, cv=GroupKFold(3)).fit(X, y, groups=groups)
    splits = list(GroupKFold(3).split(X, y, groups))
    same(given, SelectorCV(LASSO, grid={"alpha": 4}, cv=splits).fit(X, y))
    plain = SelectorCV(LASSO, grid={"alpha": 4}, cv=3).fit(X, y)
    same(plain, SelectorCV(LASSO, grid={"alpha": 4}, cv=StratifiedKFold(3)).fit(X, y))


def test_weights_reach_fit_refit_and_score():
    X, y = toy.labelled()
    weight = 1 + np.arange(60) % 3
    splits = [(np.arange(0, 60, 2), np.arange(1, 60, 2)), (np.arange(30), np.arange(30, 60))]
    repeated = np.repeat(np.arange(60), weight)
    again = [tuple(np.flatnonzero(np.isin(repeated, part)) for part in split) for split in splits]
    search = SelectorCV(LASSO, grid={"alpha": ALPHAS})
    weighted = clone(search).set_params(cv=splits).fit(X, y, sample_weight=weight)
    twice = clone(search).set_params(cv=again).fit(X[repeated], y[repeated])
    same_scores = weighted.cv_results_["mean_test_score"], twice.cv_results_["mean_test_score"]
    np.testing.assert_allclose(*same_scores)
    np.testing.assert_array_equal(weighted.support_, twice.support_)


def test_with_metadata_routing_only_what_was_requested_arrives():
    X, y = toy.labelled()
    weight = np.where(np.arange(60) < 30, 5.0, 0.5)
    groups = np.arange(60) // 6
    with config_context(enable_metadata_routing=True):
        selector = L2pSelector(p=1).set_fit_request(sample_weight=True)
        routed = SelectorCV(selector, grid={"alpha": 4}, cv=GroupKFold(3), scoring="loss")
        routed.fit(X, y, sample_weight=weight, groups=groups)
        deaf = L2pSelector(p=1).set_fit_request(sample_weight=False)
        with pytest.raises(TypeError, match="sample_weight"):
            clone(routed).set_params(selector=deaf).fit(X, y, sample_weight=weight, groups=groups)
    for k, (train, test) in enumerate(GroupKFold(3).split(X, y, groups)):
        alpha = routed.cv_results_["param_alpha"][1]
        fitted = L2pSelector(p=1, alpha=alpha).fit(X[train], y[train], weight[train])
        E = fitted.decision_function(X[test]) - np.where(y[test, None] == np.arange(3), 1, -1)
        loss = 0.5 * np.mean(np.sum(E**2, axis=1))  # no weights: nobody asked for them in a score
        assert -routed.cv_results_[f"split{k}_test_score"][1] == pytest.approx(loss, rel=1e-4)


def test_a_selection_before_the_folds_would_look_too_good():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 400))
    y = rng.permutation(np.arange(60) % 2)
    inside = SelectorCV(ScoreSelector("f"), ks=[10], cv=5).fit(X, y)
    before = SelectorCV(ScoreSelector("f"), ks=[10], cv=5).fit(inside.transform(X), y)
    assert before.best_score_ > 0.75
    assert inside.best_score_ < 0.65


# -- which candidate ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def noisy():
    X, y = toy.labelled(n=90, d=30, seed=2)
    return X + 4 * np.random.default_rng(0).standard_normal(X.shape), y


def by(rule, noisy, **params):
    return SelectorCV(LASSO, grid={"alpha": 10}, rule=rule, **params).fit(*noisy)


def test_one_standard_error_takes_the_fewest_features_within_it(noisy):
    best, smaller = by("best", noisy), by("1se", noisy)
    table = best.cv_results_
    folds = np.array([table[f"split{i}_test_score"] for i in range(5)])
    error = folds[:, best.best_index_].std(ddof=1) / np.sqrt(5)
    near = table["mean_test_score"] >= best.best_score_ - error
    assert smaller.cv_results_["mean_n_features"][smaller.best_index_] == (
        table["mean_n_features"][near].min()
    )


def test_a_tolerance_and_a_function_decide_too(noisy):
    assert by(0.0, noisy).best_index_ == by("best", noisy).best_index_
    loose = by(0.05, noisy)
    table = loose.cv_results_
    near = table["mean_test_score"] >= table["mean_test_score"].max() - 0.05
    assert table["mean_n_features"][loose.best_index_] == table["mean_n_features"][near].min()
    assert by(lambda results: 7, noisy).best_index_ == 7


def test_an_empty_choice_is_said():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((40, 20)), np.arange(40) % 2
    with pytest.warns(UserWarning, match="empty model"):
        SelectorCV(LASSO, grid={"alpha": 6}, rule="1se").fit(X, y)


# -- other models, targets and containers ---------------------------------------------------------


def test_another_model_and_another_score_can_be_asked_for():
    X, y = toy.labelled()
    model = make_pipeline(StandardScaler(), LogisticRegression())
    search = SelectorCV(
        ScoreSelector("f"), ks=[1, 3], estimator=model, scoring="neg_log_loss", cv=3
    ).fit(X, y)
    whole = make_pipeline(SelectKBest(f_classif, k=3), StandardScaler(), LogisticRegression())
    theirs = GridSearchCV(whole, {"selectkbest__k": [1, 3]}, scoring="neg_log_loss", cv=3)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], theirs.fit(X, y).cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize("kind", ["several labels", "numbers", "one number"])
def test_labels_and_numbers_are_tuned_too(kind):
    X, Y = toy.outputs()
    y = {"several labels": (Y > 2).astype(int), "numbers": Y, "one number": Y[:, 0]}[kind]
    search = SelectorCV(TopKSelector(), ks=[1, 3, 8], cv=3).fit(X, y)
    assert search.support_[toy.INFORMATIVE].all()


def test_frames_keep_their_names():
    X, y = toy.labelled()
    names = [f"gene {j}" for j in range(8)]
    plain = SelectorCV(TopKSelector(), ks=[1, 3], cv=3).fit(X, y)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        for selector in (TopKSelector(), SelectKBest(f_classif)):
            search = SelectorCV(selector, ks=[1, 3], cv=3).fit(frame, y)
            assert list(search.best_selector_.feature_names_in_) == names
            assert search.get_feature_names_out()[0] == "gene 1"
        assert search.to_frame().shape[0] == 8
        weighted = TopKSelector(feature_weights={"gene 0": 0.0})
        assert SelectorCV(weighted, ks=[2, 3], cv=3).fit(frame, y).support_[0]
    np.testing.assert_array_equal(plain.support_, search.support_)


def test_sparse_columns_are_the_same_columns():
    X, y = toy.mostly_zero()
    search = SelectorCV(LASSO, grid={"alpha": 4}, cv=3)
    dense = clone(search).fit(X, y)
    thin = clone(search).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(dense.support_, thin.support_)


def test_a_recursive_elimination_has_no_path_but_can_be_tuned():
    X, y = toy.labelled()
    search = SelectorCV(RFE(RandomForestClassifier(5, random_state=0)), ks=[2, 4], cv=2)
    assert search.fit(X, y).path_ is None
    assert search.support_.sum() in (2, 4)


# -- the whole procedure --------------------------------------------------------------------------


def test_nested_scores_repeat_the_search_on_every_outer_part():
    X, y = toy.labelled()
    search = SelectorCV(ScoreSelector("f"), ks=[1, 3], cv=3)
    found = search.nested_score(X, y, cv=4)
    for fold, (train, test) in enumerate(StratifiedKFold(4).split(X, y)):
        inner = clone(search).fit(X[train], y[train])
        columns = inner.support_
        model = make_pipeline(StandardScaler(), RidgeClassifier())
        model.fit(X[train][:, columns], y[train])
        assert found.scores[fold] == pytest.approx(model.score(X[test][:, columns], y[test]))
        assert found.params[fold] == inner.best_params_
    assert found.interval.low < found.mean < found.interval.high


# -- what goes wrong ------------------------------------------------------------------------------


class Fails(ScoreSelector):
    """Fails with one number of features."""

    def fit(self, X, y, sample_weight=None):
        if self.n_features_to_select == 2:
            raise ValueError("two is unlucky")
        return super().fit(X, y, sample_weight)


def test_a_candidate_that_fails_is_said_and_not_chosen():
    X, y = toy.labelled()
    grid = [{"n_features_to_select": [k]} for k in (1, 2)]
    search = SelectorCV(Fails("f"), grid=grid, cv=3)
    with pytest.warns(UserWarning, match="two is unlucky"):
        search.fit(X, y)
    assert search.best_params_ == {"n_features_to_select": 1}
    with pytest.raises(ValueError, match="two is unlucky"):
        SelectorCV(Fails("f"), ks=[2], cv=3).fit(X, y)


class Stops(TopKSelector):
    """Ctrl-C in the fourth fit."""

    fits = 0

    def problem_and_solver(self, *args, **kwargs):
        Stops.fits += 1
        if Stops.fits == 5:  # the first is for the ridge of all samples
            raise KeyboardInterrupt
        return super().problem_and_solver(*args, **kwargs)


def test_an_interrupted_search_keeps_what_is_finished():
    X, y = toy.labelled()
    Stops.fits = 0
    with pytest.warns(UserWarning, match="3 of 5 paths are finished"):
        search = SelectorCV(Stops(), ks=[1, 3]).fit(X, y)
    assert np.isfinite(search.cv_results_["split2_test_score"]).all()
    assert np.isnan(search.cv_results_["split3_test_score"]).all()
    assert set(np.flatnonzero(search.support_)) == set(toy.INFORMATIVE)


BAD = [
    ({"selector": LogisticRegression()}, "feature selector"),
    ({"selector": TopKSelector}, "feature selector"),
    ({"rule": "2se"}, "rule.*2se"),
    ({"rule": -0.1}, "rule"),
    ({"grid": {"alpa": [1]}}, "alpa.*Did you mean 'alpha'"),
    ({"grid": "alpha"}, "grid"),
    ({"grid": {"p": 0.5}}, "list of values for 'p'"),
    ({"grid": {"alpha": 3}, "ks": [1]}, "got both"),
    ({"grid": {"alpha": [-1.0]}}, "alphas"),
    ({"grid": {"alpha": 0}}, "at least one alpha"),
    ({"ks": [0, 2]}, "ks.*1 to 8"),
    ({"ks": [9]}, "ks.*1 to 8"),
    ({"ks": []}, "ks"),
    ({"selector": TopKSelector(), "grid": {"alpha": [1.0]}}, "TopKSelector"),
    ({"grid": {"alpha": 3, "r": [1, 2]}, "scoring": "loss"}, "one r"),
    ({"estimator": RidgeClassifier(), "scoring": "loss"}, "scoring='loss'"),
    ({"estimator": "ridge"}, "estimator"),
    ({"selector": ScoreSelector("f"), "scoring": "loss"}, "scoring='loss'"),
]


@pytest.mark.parametrize(("params", "words"), BAD)
def test_bad_parameters_are_refused_in_one_sentence(params, words):
    X, y = toy.labelled()
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        SelectorCV(**{"selector": LASSO, **params}).fit(X, y)
    assert len(str(caught.value)) < 400


def test_bad_data_are_refused_as_by_the_selectors():
    X, y = toy.labelled()
    search = SelectorCV(LASSO, grid={"alpha": 2}, cv=2)
    with pytest.raises(ValueError, match="NaN"):
        search.fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="sample_weight"):
        search.fit(X, y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="inconsistent"):
        search.fit(X, y, groups=np.ones(3))
    with pytest.raises(ValueError, match="takes sample_weight"):
        SelectorCV(SelectKBest(), ks=[1]).fit(X, y, sample_weight=np.ones(60))


def test_a_score_of_probabilities_asks_for_another_estimator():
    X, y = toy.labelled()
    with pytest.raises(ValueError, match=r"predict_proba.*Set estimator=LogisticRegression"):
        SelectorCV(TopKSelector(), ks=[2], scoring="neg_log_loss").fit(X, y)


def test_one_alpha_is_no_list_of_them():
    X, y = toy.labelled()
    with pytest.raises(ValueError, match="a list of values or how many for 'alpha'"):
        SelectorCV(LASSO, grid={"alpha": 0.1}).fit(X, y)


def test_a_target_that_no_column_goes_along_with_is_told_so():
    X = np.tile([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], (6, 1))
    with pytest.raises(ValueError, match="every coefficient is zero under any penalty"):
        SelectorCV(L2pSelector(task="regression"), cv=3).fit(X, X[:, 0] * X[:, 1])
