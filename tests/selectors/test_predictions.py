"""Selectors that fit a model predict: classes, labels or numbers, with scikit-learn's scores."""

import numpy as np
import pytest
from estimator_checks.toy import labelled, outputs
from sklearn.base import is_classifier, is_regressor
from sklearn.linear_model import LinearRegression, MultiTaskLasso
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rowsparse import L2pSelector, LpInfSelector, ScoreSelector, TopKSelector

MODELS = [L2pSelector(3), LpInfSelector(3), TopKSelector(3), TopKSelector(3, r=2.0)]


@pytest.mark.parametrize("model", MODELS)
def test_classes_are_those_of_the_largest_output(model):
    X, y = labelled()
    names = np.array(["one", "two", "three"])[y]
    model.fit(X, names)
    Z = model.decision_function(X)
    assert Z.shape == (60, 3)
    np.testing.assert_array_equal(model.predict(X), model.classes_[Z.argmax(axis=1)])
    assert model.score(X, names) == accuracy_score(names, model.predict(X)) > 0.7


@pytest.mark.parametrize("model", MODELS)
def test_two_classes_are_told_by_the_sign(model):
    X, y = labelled(c=2)
    model.fit(X, y)
    Z = model.decision_function(X)
    assert Z.shape == (60,)
    np.testing.assert_array_equal(model.predict(X), (Z > 0).astype(int))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("low", [0, -1])
def test_several_labels_at_once_are_zeros_and_ones(model, low):
    X, y = labelled()
    Y = np.where(y[:, None] == np.arange(3), 1, low)
    predicted = model.fit(X, Y).predict(X)
    assert predicted.shape == Y.shape
    assert set(np.unique(predicted)) <= {0, 1}
    assert model.score(X, Y) == np.mean((predicted == (Y > 0)).all(axis=1))


@pytest.mark.parametrize("model", MODELS)
def test_numbers_are_predicted_as_numbers(model):
    X, Y = outputs()
    model.fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert model.score(X, Y) == pytest.approx(r2_score(Y, model.predict(X)))
    assert model.fit(X, Y[:, 0]).predict(X).shape == (60,)
    assert not hasattr(model, "decision_function")


def test_predictions_are_those_of_other_libraries():
    X, Y = outputs()
    ours = L2pSelector.mtfs(alpha=0.1, standardize=False).fit(X, Y)
    theirs = MultiTaskLasso(alpha=0.1, tol=1e-10, max_iter=10_000).fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)
    best = TopKSelector(3, ridge=0.0).fit(X, Y)
    refitted = LinearRegression().fit(best.transform(X), Y)
    np.testing.assert_allclose(best.predict(X), refitted.predict(best.transform(X)), atol=1e-6)


@pytest.mark.parametrize("data", [labelled, outputs])
def test_cross_validation_and_search_work_without_a_score_function(data):
    X, y = data()
    model = make_pipeline(StandardScaler(), L2pSelector(3, p=1.0))
    assert cross_val_score(model, X, y, cv=3).min() > 0.3
    found = GridSearchCV(L2pSelector(p=1.0), {"n_features_to_select": [1, 3]}, cv=3).fit(X, y)
    assert found.best_params_ == {"n_features_to_select": 3}


def test_a_model_of_labels_or_numbers_claims_to_be_neither():
    assert not is_classifier(L2pSelector())
    assert not is_regressor(L2pSelector())


# -- weights of classes ---------------------------------------------------------------------------

WEIGHTS = {0: 3.0, 1: 0.5, 7: 2.0}  # of 7 there is none, which does no harm


@pytest.mark.parametrize(
    "model", [*MODELS, L2pSelector(alpha=0.1, r=1.0, p=1.0), ScoreSelector("f", 3)]
)
@pytest.mark.parametrize("class_weight", [WEIGHTS, "balanced"])
def test_class_weights_are_sample_weights_by_class(model, class_weight):
    X, y = labelled()
    y = np.where(y == 2, 1, y)
    s = np.linspace(0.5, 1.5, y.size)
    by_class = {0: s.sum() / (2 * s[y == 0].sum()), 1: s.sum() / (2 * s[y == 1].sum())}
    factors = by_class if class_weight == "balanced" else class_weight
    of_samples = s * np.where(y == 0, factors[0], factors[1])
    plain = model.set_params(class_weight=None).fit(X, y, sample_weight=of_samples).scores_
    weighted = model.set_params(class_weight=class_weight).fit(X, y, sample_weight=s).scores_
    model.set_params(class_weight=None)
    np.testing.assert_allclose(weighted, plain, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("value", ["equal", 3, [1, 2]])
@pytest.mark.parametrize("model", [*MODELS, ScoreSelector("f", 3)])
def test_bad_class_weights_are_refused_before_the_data_is_read(model, value):
    with pytest.raises(ValueError, match="class_weight"):
        model.__class__(n_features_to_select=3, class_weight=value).fit(None, None)


def test_class_weights_without_classes_are_refused():
    with pytest.raises(ValueError, match=r"class labels in y for class_weight.*got numbers"):
        L2pSelector(3, class_weight="balanced").fit(*outputs())


@pytest.mark.parametrize("model", [*MODELS, L2pSelector(3, r=1.0), TopKSelector(3, r=1.0)])
def test_an_output_that_never_varies_has_coefficients_of_zero(model):
    X, Y = outputs()
    Y[:, 1] = 3.3
    model.fit(X, Y)
    assert not model.coef_[1].any()  # rounding left 1e-17
    assert model.coef_[0].any()
    np.testing.assert_allclose(model.predict(X)[:, 1], 3.3, rtol=1e-12)
