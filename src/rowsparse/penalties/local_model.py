"""What penalties and solvers ask of the loss on a working set of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self

import numpy as np

Solve = Callable[[np.ndarray], np.ndarray]


class LocalModel(Protocol):
    """The loss on a working set of rows, as sweeps, Newton steps and exchanges of rows see it.

    ``W`` are the rows; ``curvatures`` those of a quadratic above the loss along each of them,
    ``metric`` those in which the violation is measured.
    """

    W: np.ndarray
    curvatures: np.ndarray
    metric: np.ndarray
    support: np.ndarray  # the rows in focus
    quadratic: bool  # the loss is: ``gram`` is its Hessian
    stuck: bool  # rounds of sweeps and steps have not settled it
    enough_rows: float  # a minimum for one output needs no more nonzero ones, where that is known
    rounding: float  # of what ``along`` returns

    def copy(self) -> Self:
        """A model of its own rows; the data are shared."""

    def take(self, rows: np.ndarray) -> Self:
        """A model of the named rows alone, all others held where they are."""

    def absorb(self, rows: np.ndarray, moved: Self) -> None:
        """Put these rows where the model that was taken of them has moved."""

    def loss_value(self) -> float:
        """The loss, up to a constant that copies share."""

    def gradient(self) -> np.ndarray:
        """Of the loss, in all rows."""

    def sweep(self, penalty: Any, rows: np.ndarray, n_sweeps: int, tol: float) -> float:
        """Minimise over one of the named rows after the other.

        Ends after ``n_sweeps``, or when a sweep moves no row by more than ``tol`` in the scale
        ``sqrt(L_j) |dw_j|``; returns that largest move of the last sweep.
        """

    @property
    def image(self) -> np.ndarray:
        """What is kept up to date beside W: affine in W, so mixtures of points mix it too."""

    def place(self, W: np.ndarray, image: np.ndarray) -> None:
        """Go to W, whose image is known."""

    def sweep_flops(self, n_rows: int) -> float:
        """Operations of a sweep over so many rows."""

    def newton_flops(self, n_rows: int) -> float:
        """Operations of a Newton step on so many rows."""

    def focus(self, support: np.ndarray) -> None:
        """Prepare Newton steps on the named rows; what follows is about these."""

    def gram(self) -> np.ndarray:
        """The Hessian of a quadratic above the loss, the same for every output."""

    def cross(self) -> np.ndarray:
        """That Hessian between the rows in focus and all rows."""

    def hessian_times(self, D: np.ndarray, undamped: float) -> np.ndarray:
        """The loss's Hessian (``undamped`` = 1), or that of the quadratic above it (0)."""

    def preconditioner(self, diagonal: np.ndarray) -> Solve:
        """Solves with ``gram() + diag(diagonal)``, for all outputs."""

    def small_gram(self) -> np.ndarray | None:
        """``gram()``, or None where systems of that size would be too large."""

    def along(self, D: np.ndarray) -> float:
        """The change of the loss from W to W + D."""

    def move(self, D: np.ndarray) -> None:
        """W += D, after ``along(D)``."""
