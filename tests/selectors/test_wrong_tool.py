"""The note on a linear selection that is the wrong tool: where it comes, and where it does not."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from rowsparse import (
    L2pSelector,
    LpInfSelector,
    ScoreSelector,
    TopKSelector,
    WrongToolWarning,
    ZeroNormSVC,
)
from rowsparse.selectors import wrong_tool
from rowsparse.selectors.wrong_tool import Evidence, weigh
from rowsparse.solvers import BlockDescent

N = 600


def columns(seed=0, n=N, d=30):
    return np.random.default_rng(seed).normal(size=(n, d))


NON_LINEAR = {
    "xor": lambda X: (X[:, 0] * X[:, 1] > 0).astype(int),
    "circles": lambda X: (X[:, 0] ** 2 + X[:, 1] ** 2 > 1.4).astype(int),
    "difference": lambda X: np.where(np.abs(X[:, 0] - X[:, 1]) > 1, "far", "near"),
    "product": lambda X: X[:, 0] * X[:, 1],
    "two products": lambda X: np.column_stack([X[:, 0] * X[:, 1], X[:, 0] * X[:, 1] + X[:, 0]]),
    "two labels": lambda X: np.column_stack([X[:, 0] * X[:, 1] > 0, X[:, 0] * X[:, 1] > 1]) * 1,
}


@pytest.mark.parametrize("name", NON_LINEAR)
@pytest.mark.parametrize(
    "selector",
    [L2pSelector(5, p=1.0), LpInfSelector(5, p=1.0), TopKSelector(5, r=2.0, n_init=0)],
    ids=lambda selector: type(selector).__name__,
)
def test_neighbours_know_better(name, selector):
    X = columns()
    with pytest.warns(WrongToolWarning, match="wrong tool") as caught:
        selector.fit(X, NON_LINEAR[name](X))
    assert len(caught) == 1
    assert caught[0].filename == __file__  # the line that called fit
    assert selector.notes_ == (str(caught[0].message),)
    for word in ("ScoreSelector('relieff', 5)", "SelectKBest", "when-not-to-use"):
        assert word in selector.notes_[0]


def test_what_the_note_advises_is_better():
    X = columns()
    y = NON_LINEAR["xor"](X)
    with pytest.warns(WrongToolWarning):
        linear = L2pSelector(5, p=1.0).fit(X, y)
    assert not linear.support_[:2].all()
    assert ScoreSelector("relieff", 5).fit(X, y).support_[:2].all()


@pytest.mark.filterwarnings("error::rowsparse.WrongToolWarning")
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_diabetes, load_digits])
def test_silent_where_linear_selection_works(load):
    X, y = load(return_X_y=True)
    for k in (2, 5, 9):
        assert TopKSelector(k, r=2.0, n_init=0).fit(X, y).notes_ == ()


def test_silent_on_noise_and_on_weak_or_noisy_linear_data():
    """One seed in a hundred may be wrong: the rule takes every doubt for the selection."""
    accused = 0
    for seed in range(100):
        X = columns(seed, n=200, d=20)
        noise = np.random.default_rng(1000 + seed).normal(size=200)
        y = [noise > 0, noise, X[:, 0] + 3 * noise, X[:, :3].sum(axis=1) + 2 * noise > 0][seed % 4]
        chosen = np.zeros(20, dtype=bool)
        covariances = np.abs(X.T @ (y - y.mean()))
        chosen[np.argsort(-covariances)[:3]] = True
        evidence = weigh(X, y.reshape(-1, 1) * 1.0, chosen, np.ones(20, dtype=bool))
        accused += evidence.is_wrong_tool
    assert accused <= 1


def test_the_columns_of_the_neighbours_are_not_accused():
    X = columns()
    y = NON_LINEAR["xor"](X).reshape(-1, 1) * 2.0 - 1.0
    informative = np.arange(30) < 5
    evidence = weigh(X, y, informative, np.ones(30, dtype=bool))
    assert not evidence.is_wrong_tool
    assert evidence.linear < 0.1


@pytest.mark.parametrize("storage", [sparse.csc_matrix, sparse.csr_array, np.float32, "F"])
def test_storage_does_not_matter(storage):
    X = columns()
    y = NON_LINEAR["xor"](X)
    stored = np.asfortranarray(X) if storage == "F" else storage(X)
    with pytest.warns(WrongToolWarning):
        first = L2pSelector(5, p=1.0).fit(X, y)
    with pytest.warns(WrongToolWarning):
        second = L2pSelector(5, p=1.0).fit(stored, y)
    assert first.notes_ == second.notes_


def test_excluded_columns_are_no_rivals():
    X = columns()
    weights = np.ones(30)
    weights[:2] = np.inf  # those that decide y
    assert L2pSelector(5, p=1.0, feature_weights=weights).fit(X, NON_LINEAR["xor"](X)).notes_ == ()


@pytest.mark.filterwarnings("error::rowsparse.WrongToolWarning")
def test_nothing_is_asked_where_nothing_can_be_said():
    X = columns()
    y = NON_LINEAR["xor"](X)
    everything = np.ones(30, dtype=bool)
    few = everything.copy()
    few[5:] = False
    numbers = y.reshape(-1, 1) * 1.0
    assert weigh(X[:99], numbers[:99], few, everything) is None
    assert weigh(X, numbers, everything, everything) is None
    assert weigh(X, numbers, ~everything, everything) is None
    assert weigh(X, numbers * 0, few, everything) is None
    wide = sparse.csc_matrix((N, 50_000))
    assert weigh(wide, numbers, np.arange(50_000) < 5, np.ones(50_000, dtype=bool)) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert not weigh(X, numbers * 1e200, few, everything).is_wrong_tool


def test_a_fit_that_did_not_finish_is_not_judged():
    X = columns()
    selector = L2pSelector(5, p=1.0, solver=BlockDescent(time_limit=0.0))
    with pytest.warns(UserWarning, match="stopped"):
        selector.fit(X, NON_LINEAR["xor"](X))
    assert selector.notes_ == ()


def test_a_later_fit_takes_the_note_back():
    X = columns()
    selector = L2pSelector(5, p=1.0)
    with pytest.warns(WrongToolWarning):
        selector.fit(X, NON_LINEAR["xor"](X))
    assert selector.fit(X, X[:, 0]).notes_ == ()


def test_linear_classifiers_have_the_note_too():
    X = columns()
    with pytest.warns(WrongToolWarning):
        ZeroNormSVC(5).fit(X, NON_LINEAR["xor"](X))


def test_the_rule_needs_certainty_and_more_than_the_linear_model():
    assert Evidence(0.1, 0.0, 0.4, 5.0).is_wrong_tool
    assert not Evidence(0.1, 0.0, 0.4, wrong_tool.CERTAIN).is_wrong_tool
    assert not Evidence(0.45, 0.0, 0.4, 5.0).is_wrong_tool


def test_neighbour_scores_are_sums_over_pairs():
    """The Laplacian against the definition, pair by pair."""
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(40, 6))
    alike = np.equal.outer(*[rng.integers(0, 3, 40)] * 2)
    expected = np.zeros(6)
    for i in range(40):
        distances = np.sum((Z - Z[i]) ** 2, axis=1)
        for sign, group in ((1, ~alike[i]), (-1, alike[i])):
            others = np.flatnonzero(group & (np.arange(40) != i))
            near = others[np.argsort(distances[others])[: wrong_tool.N_PAIRS]]
            expected += sign * np.mean((Z[near] - Z[i]) ** 2, axis=0)
    np.testing.assert_allclose(wrong_tool._neighbour_scores(Z, alike), expected, atol=1e-10)
