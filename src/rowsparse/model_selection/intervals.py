"""Means of resampled scores and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

# How the names of scikit-learn's scores begin that are shares, or means of shares.
SHARES = (
    "accuracy", "average_precision", "balanced_accuracy", "f1", "jaccard", "precision", "recall",
    "roc_auc", "top_k_accuracy",
)  # fmt: skip


@dataclass(frozen=True)
class Interval:
    """An estimate between two bounds that cover the truth with probability ``level``.

    Attributes
    ----------
    estimate, low, high, level : floats

    Examples
    --------
    >>> from rowsparse.model_selection import Interval
    >>> print(Interval(0.9, 0.87, 0.93))
    0.900 [0.870, 0.930]
    """

    estimate: float
    low: float
    high: float
    level: float = 0.95

    def __str__(self) -> str:
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"


def score_limits(scoring: str) -> tuple[float, float]:
    """What a score of this name in scikit-learn cannot be below and above."""
    if scoring.startswith("neg_"):
        return -np.inf, 0.0
    if scoring.startswith(("r2", "explained_variance", "d2_")):
        return -np.inf, 1.0
    if scoring == "matthews_corrcoef":
        return -1.0, 1.0
    return (0.0, 1.0) if scoring.startswith(SHARES) else (-np.inf, np.inf)


def corrected_interval(
    values: np.ndarray,
    test_share: float,
    level: float = 0.95,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> tuple[Interval, float]:
    """The interval of Nadeau & Bengio (2003) for a mean over resamplings, and the p-value of zero.

        mean ± t  sqrt((1/J + n_test/n_train) s**2),   t of J - 1 degrees of freedom

    Training sets overlap, so J scores tell less than J independent ones: the variance s²/J of a
    plain t interval is far too small. ``test_share`` is n_test / n_train. Scores that are missing
    (NaN) are left out; fewer than two give an interval without bounds. Bounds beyond the ``limits``
    of the score are at these: the truth is nowhere else.
    """
    known = values[np.isfinite(values)]
    if known.size < 2:
        estimate = float(known.mean()) if known.size else float("nan")
        return Interval(estimate, float("nan"), float("nan"), level), float("nan")
    mean = float(known.mean())
    error = float(np.sqrt((1 / known.size + test_share) * known.var(ddof=1)))
    reach = error * float(stats.t.ppf((1 + level) / 2, known.size - 1))
    if error == 0:
        p_value = 1.0 if mean == 0 else 0.0
    else:
        p_value = float(2 * stats.t.sf(abs(mean) / error, known.size - 1))
    low = max(mean - reach, limits[0])
    high = min(mean + reach, limits[1])
    return Interval(mean, low, high, level), p_value
