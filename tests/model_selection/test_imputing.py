"""Missing values are filled in by what the training part knows, and by nothing else."""

import numpy as np
import pandas as pd
import pytest
from estimator_checks import toy
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rowsparse import L2pSelector, ScoreSelector, TopKSelector
from rowsparse.model_selection import SelectorCV, StabilitySelector, compare
from rowsparse.model_selection.subsamples import complementary_pairs
from rowsparse.targets import as_target

FAST = TopKSelector(n_init=0, polish=False)
# not the mean: a sample without any value would be tied between the classes
MEDIAN = SimpleImputer(strategy="median", keep_empty_features=True)


def with_gaps(share=0.2):
    X, y = toy.labelled()
    rng = np.random.default_rng(0)
    X = X * rng.uniform(1, 5, X.shape[1]) + 3
    X[rng.random(X.shape) < share] = np.nan
    return X, y


def by_hand(X, y, train, test, k):
    """The score of a selection and a model that saw the training part alone."""
    filler = SimpleImputer(strategy="median").fit(X[train])
    A, B = filler.transform(X[train]), filler.transform(X[test])
    chosen = ScoreSelector("f", k).fit(A, y[train]).support_
    model = make_pipeline(StandardScaler(), RidgeClassifier()).fit(A[:, chosen], y[train])
    return model.score(B[:, chosen], y[test])


def test_compare_fills_from_the_training_part():
    X, y = with_gaps()
    found = compare({"F": ScoreSelector("f")}, X, y, ks=[2, 3], cv=4, imputer=MEDIAN)
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    for cell in found.cells:
        assert cell.score == pytest.approx(by_hand(X, y, *folds[cell.fold], cell.k))


def test_a_search_fills_from_the_training_part_and_at_last_from_all():
    X, y = with_gaps()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(8)])
    search = SelectorCV(ScoreSelector("f"), ks=[2, 3], cv=4, imputer=MEDIAN).fit(frame, y)
    folds = list(StratifiedKFold(4).split(X, y))
    for fold, (train, test) in enumerate(folds):
        scores = search.cv_results_[f"split{fold}_test_score"]
        np.testing.assert_allclose(scores, [by_hand(X, y, train, test, k) for k in (2, 3)])
    np.testing.assert_array_equal(search.imputer_.statistics_, np.nanmedian(X, axis=0))
    k = search.best_params_["n_features_to_select"]
    expected = ScoreSelector("f", k).fit(SimpleImputer(strategy="median").fit_transform(X), y)
    np.testing.assert_array_equal(search.support_, expected.support_)
    assert search.get_feature_names_out().tolist() == frame.columns[expected.support_].tolist()
    assert np.isnan(search.transform(frame)).any()
    assert 0.3 < search.nested_score(X, y, cv=3).mean <= 1


def test_a_path_in_alpha_is_that_of_the_filled_table():
    X, y = with_gaps()
    search = SelectorCV(L2pSelector(p=1), grid={"alpha": 5}, cv=3, imputer=MEDIAN).fit(X, y)
    filled = SimpleImputer(strategy="median").fit_transform(X)
    top = L2pSelector(p=1).problem_and_solver(filled, y)[0].alpha_max()
    assert search.path_.alphas[0] == pytest.approx(top)


def test_half_samples_are_filled_from_themselves():
    X, y = with_gaps()
    found = StabilitySelector(
        ScoreSelector("f"), q=3, n_pairs=4, imputer=MEDIAN, random_state=0
    ).fit(X, y)
    pairs = complementary_pairs(as_target(y, "auto"), None, 4, np.random.RandomState(0))
    halves = [half for pair in pairs for half in pair]
    for half, columns in zip(halves, found.stability_.selections, strict=True):
        one = ScoreSelector("f", 3).fit(
            SimpleImputer(strategy="median").fit_transform(X[half]), y[half]
        )
        np.testing.assert_array_equal(columns, np.flatnonzero(one.support_))
    found.interchangeable(X)


def test_a_column_without_values_in_a_training_part_is_left_alone():
    X, y = with_gaps()
    halves = complementary_pairs(as_target(y, "auto"), None, 1, np.random.RandomState(0))[0]
    X[halves[0], 0] = np.nan
    found = StabilitySelector(FAST, q=2, n_pairs=2, imputer=MEDIAN, random_state=0)
    found.fit(X, y)
    assert 0 not in found.stability_.selections[0]
    assert all(columns.size == 2 for columns in found.stability_.selections)


def test_gaps_without_an_imputer_and_strange_imputers_are_refused():
    X, y = with_gaps()
    with pytest.raises(ValueError, match="NaN"):
        SelectorCV(FAST, ks=[2]).fit(X, y)
    with pytest.raises(TypeError, match="SimpleImputer"):
        SelectorCV(FAST, ks=[2], imputer="median").fit(X, y)
    X[:, 0] = np.nan
    with pytest.raises(ValueError, match="keep_empty_features"):
        SelectorCV(FAST, ks=[2], imputer=SimpleImputer()).fit(X, y)
