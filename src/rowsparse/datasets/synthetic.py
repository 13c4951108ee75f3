"""Data with a known answer."""

from __future__ import annotations

from typing import Literal

import numpy as np


def make_row_sparse(
    n_samples: int = 100,
    n_features: int = 200,
    n_informative: int = 10,
    n_outputs: int = 3,
    *,
    noise: float = 0.1,
    outliers: float = 0.0,
    task: Literal["regression", "classification"] = "regression",
    random_state: int | np.random.Generator | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A random linear model in which only some features matter, for all outputs at once.

    X is standard normal. The rows of the true coefficients have random directions and norms
    between 1 and 2, so that no informative feature is too weak to be found in principle.

    Parameters
    ----------
    n_samples, n_features, n_informative, n_outputs : sizes
    noise : standard deviation of the noise, in units of the standard deviation of the signal.
    outliers : fraction of the samples whose outputs have their sign flipped, after the noise.
    task : "regression" gives the outputs themselves; "classification" gives the number of the
        largest output, so that there are `n_outputs` classes (at least 2).
    random_state : int or Generator, optional

    Returns
    -------
    X : (n_samples, n_features)
    Y : (n_samples, n_outputs), or (n_samples,) for one output and for class labels
    support : indices of the informative features, ascending

    Examples
    --------
    >>> from rowsparse.datasets import make_row_sparse
    >>> X, Y, support = make_row_sparse(50, 100, n_informative=5, n_outputs=2, random_state=0)
    >>> X.shape, Y.shape, support.size
    ((50, 100), (50, 2), 5)
    """
    tasks = ("regression", "classification")
    _expect(task in tasks, "task", "'regression' or 'classification'", repr(task))
    _expect(n_samples >= 1, "n_samples", "at least 1", n_samples)
    _expect(n_features >= 1, "n_features", "at least 1", n_features)
    inside = 1 <= n_informative <= n_features
    _expect(inside, "n_informative", f"1 to n_features={n_features}", n_informative)
    fewest = 1 + tasks.index(task)
    _expect(n_outputs >= fewest, "n_outputs", f"at least {fewest} for {task}", n_outputs)
    _expect(0 <= noise < np.inf, "noise", "a number >= 0", noise)
    _expect(0 <= outliers <= 1, "outliers", "a fraction from 0 to 1", outliers)
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((n_samples, n_features))
    support = np.sort(rng.choice(n_features, n_informative, replace=False))
    rows = rng.standard_normal((n_informative, n_outputs))
    rows *= (rng.uniform(1.0, 2.0, n_informative) / np.linalg.norm(rows, axis=1))[:, None]
    # X is white, so the variance of output k is the squared norm of column k of the coefficients.
    spread = np.linalg.norm(rows, axis=0)
    Y = X[:, support] @ rows + noise * spread * rng.standard_normal((n_samples, n_outputs))
    flipped = rng.choice(n_samples, round(outliers * n_samples), replace=False)
    Y[flipped] *= -1.0
    if task == "classification":
        return X, np.argmax(Y, axis=1), support
    return X, (Y[:, 0] if n_outputs == 1 else Y), support


def _expect(holds: bool, name: str, expected: str, got: object) -> None:
    if not holds:
        raise ValueError(f"{name}: expected {expected}, got {got}.")
