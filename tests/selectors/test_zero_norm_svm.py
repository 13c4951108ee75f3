"""ZeroNormSVC as a classifier and as a selector."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from estimator_checks.toy import INFORMATIVE, labelled, thin
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rowsparse import ZeroNormSVC


def test_it_selects_the_informative_columns_and_classifies_with_them_alone():
    X, y = labelled(n=150, d=40)
    machine = ZeroNormSVC(n_features_to_select=3).fit(X, y)
    assert set(np.flatnonzero(machine.support_)) == set(INFORMATIVE)
    np.testing.assert_array_equal(np.any(machine.coef_ != 0, axis=0), machine.support_)
    scrambled = X.copy()
    scrambled[:, ~machine.support_] = 99.0
    np.testing.assert_array_equal(machine.predict(X), machine.predict(scrambled))
    assert machine.score(X, y) > 0.9


def test_a_long_way_is_announced_once(caplog, monkeypatch):
    monkeypatch.setattr("rowsparse.solvers.margin.svm.WORTH_SAYING", 0.0)
    X, y = labelled(n=60, d=40, c=3)
    ZeroNormSVC(n_features_to_select=3).fit(X, y)  # C is lowered, from solution to solution
    assert [record.message for record in caplog.records if "may take" in record.message][1:] == []
    assert "may take" in caplog.text


def test_without_k_few_are_kept_and_all_of_them_have_coefficients():
    X, y = labelled(n=150, d=40)
    machine = ZeroNormSVC().fit(X, y)
    assert 1 <= machine.support_.sum() <= 8
    np.testing.assert_array_equal(machine.scores_ > 0, machine.support_)
    assert machine.solution_.converged
    assert machine.C_ == 1.0


def test_decisions_are_affine_and_predictions_follow_them():
    X, y = labelled()
    machine = ZeroNormSVC(n_features_to_select=4).fit(X, y)
    Z = machine.decision_function(X)
    np.testing.assert_allclose(Z, X @ machine.coef_.T + machine.intercept_)
    np.testing.assert_array_equal(machine.predict(X), machine.classes_[Z.argmax(axis=1)])
    two = ZeroNormSVC().fit(X, np.where(y > 0, "rest", "first"))
    Z = two.decision_function(X)
    assert Z.shape == (60,)
    np.testing.assert_array_equal(two.predict(X), np.where(Z > 0, "rest", "first"))
    np.testing.assert_array_equal(two.predict(sp.csr_array(X)), two.predict(X))


def test_standardising_first_is_the_same_as_standardising_inside():
    X, y = labelled()
    X = X * np.logspace(-3, 3, 8) + 5.0
    inside = ZeroNormSVC(C=0.5).fit(X, y)
    outside = make_pipeline(StandardScaler(), ZeroNormSVC(C=0.5, standardize=False)).fit(X, y)
    np.testing.assert_allclose(
        inside.decision_function(X), outside.decision_function(X), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("c", [2, 3])
def test_C_too_small_is_said_and_predicts_the_majority(c):
    X, _ = labelled(n=70)
    y = np.array(["many", "few", "some"])[np.repeat([0, 1, 2], [35, 10, 25])]
    y = np.where(y == "some", "few", y) if c == 2 else y
    y = np.where(np.arange(70) < 36, "many", y)
    with pytest.warns(UserWarning, match=r"C=1e-05 is too small.*majority.*raise C"):
        machine = ZeroNormSVC(C=1e-5).fit(X, y)
    assert not machine.support_.any()
    assert set(machine.predict(X)) == {"many"}


def test_joint_and_one_vs_rest_agree_for_two_classes_and_differ_for_three():
    X, y = labelled(c=2)
    joint, ovr = (ZeroNormSVC(multi_class=m).fit(X, y) for m in ("joint", "ovr"))
    np.testing.assert_allclose(joint.coef_, ovr.coef_, atol=1e-6)
    X, y = labelled(n=120, d=20)
    joint, ovr = (ZeroNormSVC(multi_class=m).fit(X, y) for m in ("joint", "ovr"))
    rows = joint.coef_[:, joint.support_]
    assert np.all(rows != 0)  # a kept feature is kept for every class
    np.testing.assert_array_equal(np.any(ovr.coef_ != 0, axis=0), ovr.support_)
    assert np.any(ovr.coef_[:, ovr.support_] == 0)


def test_one_vs_rest_is_a_machine_per_class():
    X, y = labelled(n=90, d=10)
    together = ZeroNormSVC(norm=0.5, multi_class="ovr", tol=1e-7, max_iter=1000).fit(X, y)
    for k in range(3):
        alone = ZeroNormSVC(norm=0.5, tol=1e-7, max_iter=1000).fit(X, y == k)
        np.testing.assert_allclose(together.coef_[k], alone.coef_[0], atol=1e-4)


def test_class_weights_are_sample_weights():
    X, y = labelled()
    weights = {0: 3.0, 2: 0.5}
    for norm in (0.0, 1.0, 2.0):
        machine = ZeroNormSVC(norm=norm, standardize=False, tol=1e-6, max_iter=1000)
        by_sample = clone(machine).fit(X, y, sample_weight=np.array([3.0, 1.0, 0.5])[y])
        by_class = machine.set_params(class_weight=weights).fit(X, y)
        np.testing.assert_array_equal(by_class.support_, by_sample.support_)
        np.testing.assert_allclose(by_class.coef_, by_sample.coef_, atol=1e-4)
    for k in range(3):  # norm 2: SVC's own machines of one class against the rest
        theirs = SVC(kernel="linear", C=0.5, tol=1e-8)
        theirs.fit(X, y == k, sample_weight=np.array([3.0, 1.0, 0.5])[y])
        np.testing.assert_allclose(by_class.coef_[[k]], theirs.coef_, atol=1e-4)


def test_balanced_weights_are_those_of_svc():
    X, _ = labelled(n=90)
    y = (np.arange(90) < 20).astype(int)
    X[y == 1, 4] += 1.0
    ours = ZeroNormSVC(C=2.0, norm=2, standardize=False, class_weight="balanced").fit(X, y)
    theirs = SVC(kernel="linear", class_weight="balanced", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_sample_weights_scale_like_C():
    X, y = labelled()
    heavy = ZeroNormSVC(C=0.5).fit(X, y, sample_weight=np.full(60, 4.0))
    np.testing.assert_allclose(heavy.coef_, ZeroNormSVC(C=2.0).fit(X, y).coef_, atol=1e-7)


@pytest.mark.parametrize("norm", [0.0, 1.0, 2.0, np.inf])
def test_k_is_exact_for_every_norm(norm):
    X, y = labelled(n=60, d=12)
    for k in (1, 5, 12):
        machine = ZeroNormSVC(norm=norm, n_features_to_select=k, max_iter=500).fit(X, y)
        assert machine.support_.sum() == k


def test_k_rows_cut_out_of_more_are_not_measured_against_all_rows():
    # the squared norm has no zero rows: its optimum is no bound for k of them
    X, y = labelled(n=60, d=12)
    solution = ZeroNormSVC(norm=2.0, n_features_to_select=1).fit(X, y).solution_
    assert solution.converged
    assert solution.gap is None
    assert ZeroNormSVC(norm=2.0).fit(X, y).solution_.gap is not None


def test_features_that_are_always_in_or_never():
    X, y = labelled()
    weights = np.ones(8)
    weights[0], weights[1] = 0.0, np.inf
    for k in (None, 3):
        machine = ZeroNormSVC(n_features_to_select=k, feature_weights=weights).fit(X, y)
        assert machine.support_[0]
        assert not machine.support_[1]
    assert machine.support_.sum() == 3


def test_separable_and_hopeless_data():
    X, y = labelled(c=2)
    X[:, 3] += 20.0 * y
    separable = ZeroNormSVC(C=100.0).fit(X, y)
    assert separable.score(X, y) == 1.0
    assert separable.ranking_[3] == 1
    noise = np.random.default_rng(0).standard_normal((60, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isfinite(ZeroNormSVC().fit(noise, np.arange(60) % 2).coef_).all()


def test_too_few_iterations_are_said():
    X, y = labelled(n=100, d=30)
    with pytest.warns(ConvergenceWarning, match=r"after 1 iterations.*wanted 1e-09.*max_iter"):
        ZeroNormSVC(norm=0.9, tol=1e-9, max_iter=1).fit(X, y)


def test_it_can_be_searched_and_tabulated():
    X, y = labelled()
    search = GridSearchCV(ZeroNormSVC(), {"C": [0.5, 2.0], "norm": [0.0, 1.0]}, cv=3).fit(X, y)
    frame = search.best_estimator_.to_frame()
    assert {"name", "rank", "score", "selected", "coef_0", "coef_1", "coef_2"} <= set(frame.columns)
    assert len(frame) == 8


def test_wide_sparse_data_equal_dense():
    rng = np.random.default_rng(0)
    X = thin(40, 400, 0.1, rng)
    y = np.arange(40) % 2
    X[:, [7]] = sp.csc_array((y + 0.2 * rng.standard_normal(40))[:, None])
    ours, dense = (ZeroNormSVC(n_features_to_select=5).fit(A, y) for A in (X, X.toarray()))
    np.testing.assert_array_equal(ours.support_, dense.support_)
    np.testing.assert_allclose(ours.coef_, dense.coef_, atol=1e-7)
    assert ours.support_[7]
