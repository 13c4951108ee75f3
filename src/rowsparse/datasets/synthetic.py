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
    noise : standard deviation of the noise, in units of the standard deviation of the signal.
    outliers : fraction of the samples whose outputs have their sign flipped, after the noise.
    task : "regression" gives the outputs themselves; "classification" gives the number of the
        largest output, so that there are `n_outputs` classes (at least 2).

    Returns
    -------
    X : (n_samples, n_features)
    Y : (n_samples, n_outputs), or (n_samples,) for one output and for class labels
    support : indices of the informative features, ascending
    """
    _check(n_samples, n_features, n_informative, n_outputs, noise, outliers, task)
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


def _check(
    n_samples: int,
    n_features: int,
    n_informative: int,
    n_outputs: int,
    noise: float,
    outliers: float,
    task: str,
) -> None:
    if task not in ("regression", "classification"):
        raise ValueError(f"task: expected 'regression' or 'classification', got {task!r}.")
    if n_samples < 1 or n_features < 1:
        raise ValueError(
            f"n_samples, n_features: expected at least 1, got {n_samples} and {n_features}."
        )
    if not 1 <= n_informative <= n_features:
        raise ValueError(
            f"n_informative: expected 1 to n_features={n_features}, got {n_informative}."
        )
    fewest = 2 if task == "classification" else 1
    if n_outputs < fewest:
        raise ValueError(f"n_outputs: expected at least {fewest} for {task}, got {n_outputs}.")
    if not (np.isfinite(noise) and noise >= 0):
        raise ValueError(f"noise: expected a number >= 0, got {noise}.")
    if not 0 <= outliers <= 1:
        raise ValueError(f"outliers: expected a fraction from 0 to 1, got {outliers}.")
