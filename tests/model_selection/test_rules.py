"""Rules of choice on tables made by hand."""

import numpy as np
import pytest

from rowsparse.model_selection.rules import chosen

# three folds; the mean of each candidate, and its standard error 0.06 / sqrt(3)
FOLDS = np.array([-0.06, 0.0, 0.06])
MEANS = np.array([0.50, 0.86, 0.88, 0.90, 0.90, 0.89])
SIZES = np.array([0.0, 3.0, 4.0, 9.0, 7.0, 20.0])


def take(rule, means=MEANS, sizes=SIZES):
    scores = means[:, None] + FOLDS
    return chosen(rule, {"mean_test_score": means, "mean_n_features": sizes}, scores)


def test_of_equal_scores_the_fewest_features_are_best():
    assert take("best") == 4


def test_scores_that_differ_by_rounding_are_equal():
    hits = np.array([[29, 29, 30, 30, 30], [30, 32, 27, 30, 29], [29, 29, 29, 29, 29]])
    means = (hits / 44).mean(axis=1)
    assert means[0] < means[1]  # both are 148 / 220, but for the last bit
    assert take("best", means, np.array([2.0, 5.0, 7.0])) == 0


def test_one_standard_error_is_that_of_the_best():
    assert 0.06 / np.sqrt(3) == pytest.approx(0.0346, abs=1e-4)  # 0.88 is within it, 0.86 is not
    assert take("1se") == 2


def test_a_tolerance_is_in_units_of_the_score():
    assert take(0.0) == 4
    assert take(0.041) == 1
    assert take(1.0) == 0


def test_scores_that_are_missing_are_never_chosen():
    means = np.where(SIZES < 9, np.nan, MEANS)
    assert take("best", means) == 3
    assert take("1se", means) == 3


def test_among_equally_small_ones_the_better_is_taken():
    assert take(0.05, sizes=np.array([0.0, 4.0, 4.0, 9.0, 7.0, 20.0])) == 2


def test_a_function_must_return_an_index():
    assert take(lambda results: int(np.argmin(results["mean_n_features"]))) == 0
    with pytest.raises(ValueError, match="0 to 5"):
        take(lambda results: 6)
    for answer in (1.5, None, "first"):
        with pytest.raises(ValueError, match="an index from 0 to 5"):
            take(lambda results, answer=answer: answer)
