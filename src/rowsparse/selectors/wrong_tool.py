"""Whether a linear joint selection is the wrong tool for the data: one rule, one warning.

The columns that a linear model selects mean little where y depends on X as in XOR. The rule asks
whether near neighbours know better, and decides every doubt for the selection:

1. Neither least squares on the selected columns, judged by the rows of its fit, nor the 5 nearest
   neighbours in them (each row left out in turn) explain half of the variance of Y. Y is coded as
   for the fit, so that one rule serves labels and numbers.
2. On up to 500 rows all columns are scored by neighbours, as in ReliefF: does the column differ
   more between a row and the 10 nearest whose Y differs by more than the mean than between it and
   the 10 nearest whose Y differs by less? The worse two thirds are dropped and the rest is scored
   anew, until as many are left as were selected (the loop of TuRF, Moore & White 2007).
3. On as many other rows, which these rivals have not seen and the selection has, the 5 nearest in
   the rivals predict with squared errors that are lower by more than 3 standard errors of the
   paired differences, and explain more of Y than the linear model of 1.

Nothing is asked of fewer than 100 rows, of more than 40,000 columns (too few rows would fit the
time), of a fit that did not converge, nor where all columns are selected or none. Rows are drawn
with a fixed seed. Sample weights count only where they are zero; sparse X is made dense in the
drawn rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics.threads import one_blas_thread

# Measured on madelon, k = 10, six draws of 450 rows: the rivals lead by 8 to 15 standard errors, by
# 2 to 11 if the 22 nearest are sought without regard to Y, and by -1 to 8 if the rivals are the
# columns of largest F. On no other of 57 real sets is their lead above 1.4.
FEWEST_ROWS = 50  # for scores as for errors: the standard error of fewer is itself in doubt
MOST_ROWS = 500  # the same: madelon takes 65 ms of CPU time
MOST_PRODUCTS = 1e8  # in the distances over all columns, which take 10 ms of that
FINE = 0.5  # share of the variance; whoever explains half of it is not helpless
KEPT = 1 / 3  # in a round of the loop: four rounds from madelon's 500 columns to 10
N_PAIRS = 10  # as in ReliefF
N_NEAREST = 5  # as in scikit-learn's neighbours
CERTAIN = 3.0  # one in 740 by chance, and more than twice the lead on any other real set


class WrongToolWarning(UserWarning):
    """Neighbours explain y much better from other columns than from those selected.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from rowsparse import TopKSelector, WrongToolWarning
    >>> X = np.random.default_rng(0).normal(size=(600, 30))
    >>> y = (X[:, 0] * X[:, 1] > 0).astype(int)  # a product: no column says anything alone
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = TopKSelector(5).fit(X, y)
    >>> [warning.category.__name__ for warning in caught]
    ['WrongToolWarning']
    """


@dataclass(frozen=True)
class Evidence:
    """Shares of the variance of Y that are explained, and how sure the comparison is."""

    linear: float  # by least squares on the selected columns, on the rows of its fit
    selected: float = 0.0  # by the nearest neighbours in the selected columns
    rivals: float = 0.0  # by those in the columns that neighbours choose
    certainty: float = 0.0  # standard errors between the two

    @property
    def is_wrong_tool(self) -> bool:
        return self.certainty > CERTAIN and self.rivals > self.linear

    def sentence(self, k: int) -> str:
        """What to tell the user about k selected features."""
        linear = max(self.linear, 0.0)
        selected = max(self.selected, 0.0)
        return (
            "A linear selection seems the wrong tool for this data: nearest neighbours explain "
            f"{self.rivals:.0%} of the variance of y from {k} columns of their own choice, "
            f"{selected:.0%} from the {k} selected, a linear model on these {linear:.0%}. Try "
            f"ScoreSelector('relieff', {k}) or scikit-learn's SelectKBest, and a non-linear "
            "model; see docs/when-not-to-use.md."
        )


def weigh(X: Any, Y: np.ndarray, chosen: np.ndarray, eligible: np.ndarray) -> Evidence | None:
    """The rule of this module on the chosen columns, a mask; None where it asks nothing."""
    n, d = X.shape
    selected = np.flatnonzero(chosen)
    candidates = np.flatnonzero(eligible)
    n_scoring = int(min(n // 2, MOST_ROWS, np.sqrt(MOST_PRODUCTS / d)))
    n_judging = min(n // 2, MOST_ROWS)
    if n_scoring < FEWEST_ROWS or not 0 < selected.size < candidates.size:
        return None
    drawn = np.random.default_rng(0).choice(n, n_scoring + n_judging, replace=False)
    scoring = slice(None, n_scoring)
    judging = slice(n_scoring, None)
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        # of all drawn rows: both halves are measured in one unit
        T = _in_units_of_spread(Y[drawn])
        Z = _block(X, drawn, selected)
        if not (np.isfinite(T).all() and np.isfinite(Z).all()):  # a constant, or an overflow
            return None
        linear = _explained(_least_squares_errors(Z, T))
        # on the rows of the rivals: the same samples for both, whose errors are compared in pairs
        by_selected = _neighbour_errors(Z[judging], T[judging])
        if max(linear, _explained(by_selected)) >= FINE:
            return Evidence(linear, _explained(by_selected))
        everything = _block(X, drawn[scoring], candidates)
        rivals = candidates[_choice_of_neighbours(everything, T[scoring], selected.size)]
        by_rivals = _neighbour_errors(_block(X, drawn[judging], rivals), T[judging])
    better = by_selected - by_rivals
    doubt = better.std() / np.sqrt(better.size)
    # no doubt at all: the two sets of columns are the same
    certainty = float(better.mean() / doubt) if doubt else 0.0
    return Evidence(linear, _explained(by_selected), _explained(by_rivals), certainty)


def _block(X: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Some rows of some columns, standardised, in half the digits, which doubles the speed."""
    if sparse.issparse(X):
        block = X[:, columns][rows].toarray()
    else:
        block = X[np.ix_(rows, columns)]
    Z = block - block.mean(axis=0, dtype=float)
    spread = Z.std(axis=0)
    Z /= np.where(spread > 0, spread, 1.0)
    return Z.astype(np.float32)


def _in_units_of_spread(Y: np.ndarray) -> np.ndarray:
    """Centred, and such that the mean over rows of their squares is one."""
    centred = Y - Y.mean(axis=0)
    return (centred / np.sqrt(np.mean(np.sum(centred**2, axis=1)))).astype(np.float32)


def _explained(errors: np.ndarray) -> float:
    """The share of Y's variance, which is one, that these squared errors leave."""
    return 1.0 - float(errors.mean())


def _least_squares_errors(Z: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return np.sum((Y - Z @ np.linalg.lstsq(Z, Y, rcond=None)[0]) ** 2, axis=1)


def _squared_distances(Z: np.ndarray) -> np.ndarray:
    """Between all rows; infinite from a row to itself."""
    squares = np.einsum("ij,ij->i", Z, Z)
    D = Z @ Z.T
    D *= -2.0
    D += squares
    D += squares[:, None]
    np.fill_diagonal(D, np.inf)
    return D


def _neighbour_errors(Z: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Squared errors of predicting every row by the mean of its nearest ones."""
    near = np.argpartition(_squared_distances(Z), N_NEAREST - 1, axis=1)[:, :N_NEAREST]
    return np.sum((Y - Y[near].mean(axis=1)) ** 2, axis=1)


def _choice_of_neighbours(Z: np.ndarray, Y: np.ndarray, k: int) -> np.ndarray:
    """The k columns left when those that neighbours value least are dropped again and again."""
    changes = _squared_distances(Y)
    np.fill_diagonal(changes, 0.0)
    alike = changes < changes.mean()
    left = np.arange(Z.shape[1])
    while left.size > k:
        scores = _neighbour_scores(Z[:, left], alike)
        best_first = np.argsort(-scores, kind="stable")
        left = left[best_first[: max(k, int(KEPT * left.size))]]
    return left


def _neighbour_scores(Z: np.ndarray, alike: np.ndarray) -> np.ndarray:
    """Per column: its squared differences over the nearest pairs that differ in Y, less those over
    the nearest that are alike. The pairs make a graph, and the sums come from its Laplacian."""
    D = _squared_distances(Z)
    weights = _near_pairs(np.where(alike, np.inf, D)) - _near_pairs(np.where(alike, D, np.inf))
    weights += weights.T
    squares = weights.sum(axis=1) @ (Z * Z)
    return squares - np.einsum("ij,ij->j", Z, weights @ Z)


def _near_pairs(D: np.ndarray) -> np.ndarray:
    """One shared among the nearest of every row; ties all count, infinite distances never."""
    farthest = np.partition(D, N_PAIRS - 1, axis=1)[:, [N_PAIRS - 1]]
    near = (farthest >= D) & (D < np.inf)
    return near / np.maximum(near.sum(axis=1, keepdims=True, dtype=D.dtype), 1.0)
