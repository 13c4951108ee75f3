"""How alike selections are: the indices of Nogueira, of Kuncheva and of Jaccard."""

from __future__ import annotations

import numpy as np
from scipy import stats

from .intervals import Interval


def chosen_matrix(selections: list[np.ndarray]) -> np.ndarray:
    """One row per selection, true where a column was chosen; columns never chosen are left out."""
    none = np.zeros(0, dtype=int)  # there may be no selection at all
    chosen = np.concatenate([*selections, none])
    # of 20,000 columns a few are ever chosen, and only they make products
    used = np.unique(chosen).astype(int)
    shape = (len(selections), used.size)
    Z = np.zeros(shape, dtype=bool)
    for row, columns in zip(Z, selections, strict=True):
        place = np.searchsorted(used, columns)
        row[place] = True
    return Z


def nogueira(selections: list[np.ndarray], n_features: int, level: float = 0.95) -> Interval:
    r"""The index of Nogueira, Sechidis & Brown (2018) with its normal interval.

        1 - (1/d) sum_f M/(M-1) p_f (1 - p_f)  /  ((k/d) (1 - k/d))

    p_f is how often column f was chosen in M selections and k their mean size: 1 for the same
    columns always, 0 on average for columns drawn at random, whatever k is.
    """
    Z = chosen_matrix(selections).astype(float)
    M = len(Z)
    if M < 2:
        return _unknown(level)
    sizes = Z.sum(axis=1)
    shares = sizes / n_features
    share = shares.mean()
    chance = share * (1 - share)
    # with nothing chosen, or everything, selections cannot differ: the index is 0 / 0
    if chance == 0:
        return _unknown(level)
    p = Z.mean(axis=0)
    variances = p * (1 - p)
    # unbiased: of M draws the plain variance is too small by this factor
    variances *= M / (M - 1)
    observed = float(variances.sum()) / n_features
    value = 1 - observed / chance
    # their theorem: the index is asymptotically normal, by the influence of every selection on it
    agreement = Z @ p / n_features - shares * share
    size = 2 * shares * share - shares - share + 1
    influence = agreement + value / 2 * size
    influence /= chance
    error = 2 * influence.std() / np.sqrt(M)
    return _interval(value, error, level)


def kuncheva(selections: list[np.ndarray], n_features: int, level: float = 0.95) -> Interval:
    """The mean over pairs of (|A ∩ B| d - k²) / (k (d - k)); for selections of one size k only."""
    sizes = {len(one) for one in selections}
    # of different sizes chance gives different overlaps, and no one number corrects them
    if len(selections) < 2 or len(sizes) > 1:
        return _unknown(level)
    k = sizes.pop()
    if k in (0, n_features):
        return _unknown(level)
    Z = chosen_matrix(selections).astype(float)
    common = Z @ Z.T
    # two selections drawn at random have k**2 / d columns in common
    beyond_chance = common * n_features - k**2
    most = k * (n_features - k)
    return _of_pairs(beyond_chance / most, level)


def jaccard(selections: list[np.ndarray], n_features: int, level: float = 0.95) -> Interval:
    """The mean over pairs of |A ∩ B| / |A ∪ B|; two empty selections are alike. It is not
    corrected for chance: larger selections look more stable."""
    if len(selections) < 2:
        return _unknown(level)
    Z = chosen_matrix(selections).astype(float)
    common = Z @ Z.T
    k = Z.sum(axis=1)
    # |A ∪ B| = |A| + |B| - |A ∩ B|
    either = np.add.outer(k, k) - common
    alike = np.ones_like(common)
    np.divide(common, either, out=alike, where=either > 0)
    return _of_pairs(alike, level)


def _of_pairs(alike: np.ndarray, level: float) -> Interval:
    """The mean of a symmetric table off its diagonal; its error by leaving out one selection."""
    M = len(alike)
    with_others = alike.sum(axis=1) - np.diag(alike)
    total = float(with_others.sum())
    n_pairs = M * (M - 1)
    value = total / n_pairs
    # leaving out one of two leaves no pair
    if M < 3:
        return Interval(value, float("nan"), float("nan"), level)
    # the jackknife: pairs that share a selection are not independent of each other
    n_left = (M - 1) * (M - 2)
    without_one = (total - 2 * with_others) / n_left
    error = without_one.std() * np.sqrt(M - 1)
    return _interval(value, error, level)


def _interval(value: float, error: float, level: float) -> Interval:
    normal = stats.norm.ppf((1 + level) / 2)
    reach = float(normal * error)
    low = float(value) - reach
    # no index is above one; a lower bound may well be below that of chance
    high = min(float(value) + reach, 1.0)
    return Interval(float(value), low, high, level)


def _unknown(level: float) -> Interval:
    nan = float("nan")
    return Interval(nan, nan, nan, level)
