"""Filters that are sums over samples, on X in blocks."""

import numpy as np
import pytest
from scale.holders import HOLDERS, N, table, weights

from rowsparse import ScoreSelector
from rowsparse.filters import f_score, fisher_score, information_gain, relieff

X, Y = table()
TARGETS = {
    "numbers": Y[:, 0],
    "outputs": Y,
    "classes": np.array(["a", "b", "c"])[np.digitize(Y[:, 0], [-1, 1])],
    "labels": (Y > 0).astype(int),
}
FILTERS = {
    "f": f_score,
    "fisher": fisher_score,
    "information gain": lambda X, y, **w: information_gain(X, y, "sigma", **w),
}


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("holder", ["npy", "csr", "dask, uneven"])
def test_scores_of_memory(name, target, holder, tmp_path):
    held = HOLDERS[holder](X, tmp_path)
    for given in ({}, {"sample_weight": weights()}):
        expected = FILTERS[name](X, TARGETS[target], **given)
        np.testing.assert_allclose(FILTERS[name](held, TARGETS[target], **given), expected)


@pytest.mark.parametrize("holder", HOLDERS)
def test_selected_and_never_a_constant_column(holder, tmp_path):
    with_constant = np.hstack([X, np.full((N, 1), 7.0)])[:, [*range(5), 12, *range(5, 11)]]
    held = HOLDERS[holder](with_constant, tmp_path)
    for score, params in (("f", None), ("information_gain", {"n_bins": "sigma"})):
        selector = ScoreSelector(score, 4, score_params=params)
        expected = selector.fit(with_constant, Y).scores_
        fitted = ScoreSelector(score, 4, score_params=params).fit(held, Y)
        np.testing.assert_allclose(fitted.scores_, expected)
        np.testing.assert_array_equal(fitted.support_, selector.support_)
        assert fitted.scores_[5] == 0


def test_other_filters_say_which_can(tmp_path):
    held = HOLDERS["dask"](X, tmp_path)
    for selector in (
        ScoreSelector("relieff", 3),
        ScoreSelector("information_gain", 3),
        ScoreSelector(lambda X, y: X[0], 3),
    ):
        with pytest.raises(TypeError, match="which is for fisher, f and information_gain with"):
            selector.fit(held, Y)
    with pytest.raises(TypeError, match="X in blocks is for fisher, f and"):
        relieff(held, Y)
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(ValueError, match="in column 2"):
        f_score(HOLDERS["npy"](bad, tmp_path), Y)
