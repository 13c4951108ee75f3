"""The fast ridge readout is scikit-learn's ridge on standardised columns."""

import numpy as np
import pytest
from estimator_checks import toy
from scipy import sparse
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.preprocessing import StandardScaler

from rowsparse.model_selection import readout as module
from rowsparse.model_selection.following import Step
from rowsparse.model_selection.readout import EstimatorReadout, RidgeReadout, Split
from rowsparse.targets import as_target

COLUMNS = [np.array([1, 4, 6]), np.arange(8), np.array([0]), np.zeros(0, int)]
RNG = np.random.default_rng(0)
KINDS = {
    "binary": toy.labelled(c=2),
    "multiclass": toy.labelled(c=3),
    "multilabel": (toy.labelled()[0], (toy.outputs()[1] > 2).astype(int)),
    "numbers": toy.outputs(),
    "one number": (toy.outputs()[0], toy.outputs()[1][:, 0]),
}


def split_of(weighted):
    order = np.random.default_rng(1).permutation(60)
    train, test = np.sort(order[:45]), np.sort(order[45:])
    if not weighted:
        return Split(train, test, {})
    weight = np.random.default_rng(2).uniform(0.2, 3.0, 60)
    return Split(train, test, {}, weight[train], weight[test])


def by_scikit_learn(X, y, target, split, columns):
    A, B = X[split.train][:, columns], X[split.test][:, columns]
    scaler = StandardScaler().fit(A, sample_weight=split.train_weight)
    model = Ridge() if target.kind == "numbers" else RidgeClassifier()
    model.fit(scaler.transform(A), y[split.train], sample_weight=split.train_weight)
    return model.score(scaler.transform(B), y[split.test], sample_weight=split.test_weight)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_scores_are_those_of_scikit_learn(kind, weighted, shared, monkeypatch):
    if not shared:
        monkeypatch.setattr(module, "CACHE_BYTES", 0)
    X, y = KINDS[kind]
    target = as_target(y, "auto")
    split = split_of(weighted)
    steps = [Step(columns) for columns in COLUMNS]
    found = RidgeReadout().scores(X, y, target, split, steps)
    for score, columns in zip(found[:3], COLUMNS[:3], strict=True):
        assert score == pytest.approx(by_scikit_learn(X, y, target, split, columns), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_without_columns_it_predicts_the_majority_or_the_mean(kind):
    X, y = KINDS[kind]
    target = as_target(y, "auto")
    split = split_of(False)
    steps = [Step(np.zeros(0, int))]
    fast = RidgeReadout().scores(X, y, target, split, steps)
    slow = EstimatorReadout(RidgeClassifier(), None, "ridge").scores(X, y, target, split, steps)
    if kind == "multiclass":  # classes of equal size: any of them is the majority
        assert fast[0] == pytest.approx(slow[0], abs=0.15)
    else:
        assert fast == pytest.approx(slow)


def test_a_class_that_training_lacks_is_never_predicted():
    X, y = toy.labelled(c=3)
    target = as_target(y, "auto")
    split = Split(np.flatnonzero(y != 2), np.flatnonzero(y == 2), {})
    assert RidgeReadout().scores(X, y, target, split, [Step(np.arange(8))]) == [0.0]


def test_sparse_columns_are_the_same_columns():
    X, y = toy.mostly_zero()
    target = as_target(y, "auto")
    steps = [Step(columns) for columns in COLUMNS]
    dense = RidgeReadout().scores(X, y, target, split_of(True), steps)
    thin = RidgeReadout().scores(sparse.csr_array(X), y, target, split_of(True), steps)
    assert thin == pytest.approx(dense)


@pytest.mark.parametrize("estimator", [None, RidgeClassifier()])
def test_an_unknown_score_is_refused_before_anything_is_fitted(estimator):
    target = as_target(np.array([0, 1, 0, 1]), "auto")
    with pytest.raises(ValueError, match=r"'acuracy'\. Did you mean 'accuracy'"):
        module.readout_for(estimator, "acuracy", target)
