r"""The loss restricted to a working set of rows, in the form that is cheapest to descend on.

``GramModel`` (r = 2) keeps the Gram matrix of the working set and the gradient ``Q``;
``SampleModel`` (any r) keeps the dense block of columns and the residual, and its Newton systems
are solved in the smaller of the two spaces. Both hold the current rows ``W`` (m x c, Fortran order)
and change them in place; neither knows the penalty beyond what it hands to a sweep. What Newton
steps ask of them is ``penalties.base.LocalModel``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from ...losses.residual import ResidualLoss
from ...numerics.rows import nonzero_rows, row_norms
from ...numerics.systems import lifted_cholesky
from ...penalties.base import LocalModel, Penalty, Solve

# On more rows than this and than samples the radial system has no small form. Factoring it all the
# same (up to 3000 rows, in single precision, kept for several steps) made no case of eight faster.
LARGEST_RADIAL = 500


class Model(LocalModel, ABC):
    """What sweeps and exchanges of rows ask of a model, beside Newton steps."""

    @abstractmethod
    def copy(self) -> Model:
        """A model of its own rows; the data are shared."""

    @abstractmethod
    def loss_value(self) -> float:
        """The loss, up to a constant that copies share."""

    @abstractmethod
    def sweep(self, penalty: Penalty, rows: np.ndarray, n_sweeps: int, tol: float) -> float:
        """Sweeps over the named rows; returns the largest move of the last one."""

    @abstractmethod
    def sweep_flops(self, n_rows: int) -> float:
        """Operations of a sweep over so many rows."""

    @property
    @abstractmethod
    def image(self) -> np.ndarray:
        """What is kept up to date beside W: affine in W, so mixtures of points mix it too."""

    @abstractmethod
    def place(self, W: np.ndarray, image: np.ndarray) -> None:
        """Go to W, whose image is known."""


class GramModel(Model):
    """Squared loss through the Gram matrix G of the working set; Q = gradient at W."""

    rounding = 0.0  # ``along`` computes the difference itself

    def __init__(self, G: np.ndarray, W: np.ndarray, Q: np.ndarray):
        self.G = G
        self.W = np.array(W, order="F")
        self.Q = np.array(Q, order="F")
        self.curvatures = np.ascontiguousarray(np.diagonal(G))
        self.metric = self.curvatures

    def copy(self) -> GramModel:
        return GramModel(self.G, self.W, self.Q)

    def loss_value(self) -> float:
        # the gradient at W = 0, where this value is zero, is Q - G W
        used = nonzero_rows(self.W)
        W = self.W[used]
        return float(np.vdot(W, self.Q[used]) - np.vdot(W, self.G[np.ix_(used, used)] @ W) / 2)

    def sweep(self, penalty: Penalty, rows: np.ndarray, n_sweeps: int, tol: float) -> float:
        return penalty.sweep_gram(self.G, self.Q, self.W, rows, n_sweeps, tol)

    def sweep_flops(self, n_rows: int) -> float:
        return 2.0 * n_rows * self.W.size

    def newton_flops(self, n_rows: int) -> float:
        # two factors and some ten iterations
        return n_rows**2 * (n_rows + 60.0 * self.W.shape[1])

    def gradient(self) -> np.ndarray:
        return self.Q

    def focus(self, support: np.ndarray) -> None:
        self.support = support
        self.G_rows = self.G[support]
        self.G_support = self.G_rows[:, support]

    def gram(self) -> np.ndarray:
        return self.G_support

    def hessian_times(self, D: np.ndarray, undamped: float) -> np.ndarray:
        return self.G_support @ D  # a quadratic lacks no curvature

    def preconditioner(self, diagonal: np.ndarray) -> Solve:
        return lifted_cholesky(self.G_support, diagonal)

    def radial_solver(self, directions: np.ndarray, diagonal: np.ndarray) -> Solve | None:
        return lifted_cholesky(self.G_support * (directions @ directions.T), diagonal)

    @property
    def image(self) -> np.ndarray:
        return self.Q

    def place(self, W: np.ndarray, image: np.ndarray) -> None:
        self.W[:] = W
        self.Q[:] = image

    def along(self, D: np.ndarray) -> float:
        self.GD = self.G_rows.T @ D
        slope = float(np.vdot(self.Q[self.support], D))
        return slope + float(np.vdot(D, self.GD[self.support])) / 2

    def move(self, D: np.ndarray) -> None:
        self.W[self.support] += D
        self.Q += self.GD


class SampleModel(Model):
    """Any l_{2,r} loss through the dense block X of the working set and the residual E.

    Samples are weighted by the quadratic that lies above the loss at E; ``metric_weights`` turns
    these weights into those of the certificate.
    """

    def __init__(
        self,
        X: np.ndarray,
        W: np.ndarray,
        E: np.ndarray,
        loss: ResidualLoss,
        metric_weights: Callable[[np.ndarray], np.ndarray],
    ):
        self.X = X
        self.W = np.array(W, order="F")
        self.E = np.array(E, order="F")
        self.loss = loss
        self.metric_weights = metric_weights
        self.root: np.ndarray | None = None  # square roots of the samples' weights
        self._reweigh()

    def copy(self) -> SampleModel:
        return SampleModel(self.X, self.W, self.E, self.loss, self.metric_weights)

    def loss_value(self) -> float:
        return self.loss.value_of_residual(self.E)

    def _reweigh(self) -> None:
        """Weigh the samples by the majorizer at the current residual."""
        if self.loss.quadratic and self.root is not None:
            self.E_weighted = self.E * self.root
            return
        h = self.loss.residual_weights(self.E)
        self.root = np.sqrt(h / len(h))[:, None]
        self.X_weighted = self.X * self.root
        self.E_weighted = self.E * self.root
        self.curvatures = np.einsum("ij,ij->j", self.X_weighted, self.X_weighted)
        metric = self.metric_weights(h)
        self.metric = self.curvatures if metric is h else metric @ self.X**2 / len(h)

    def sweep(self, penalty: Penalty, rows: np.ndarray, n_sweeps: int, tol: float) -> float:
        W = self.W
        before = W.copy()
        moved = penalty.sweep_samples(
            self.X_weighted, self.E_weighted, W, self.curvatures, rows, n_sweeps, tol
        )
        if self.root is not None and self.root.all():  # the sweep has kept every residual
            np.divide(self.E_weighted, self.root, out=self.E)
        else:
            changed = np.flatnonzero(nonzero_rows(before != W))
            self.E += self.X[:, changed] @ (W[changed] - before[changed])
        self._reweigh()
        return moved

    def sweep_flops(self, n_rows: int) -> float:
        return 4.0 * n_rows * self.E.size

    def newton_flops(self, n_rows: int) -> float:
        n, c = self.E.shape
        small = min(n, n_rows)
        return n_rows**3 / 3 + 2.0 * n * n_rows * (n_rows + small + 40.0 * c)

    def gradient(self) -> np.ndarray:
        return self.X_weighted.T @ self.E_weighted

    def focus(self, support: np.ndarray) -> None:
        self.support = support
        self.X_support = self.X_weighted[:, support]
        self.lost = self.loss.radial_loss_of_curvature(self.E)
        norms = row_norms(self.E)[:, None]
        self.directions = np.divide(self.E, norms, out=np.zeros_like(self.E), where=norms > 0)

    def gram(self) -> np.ndarray:
        return self.X_support.T @ self.X_support

    def hessian_times(self, D: np.ndarray, undamped: float) -> np.ndarray:
        V = self.X_support @ D
        if not self.loss.quadratic:
            along = undamped * self.lost * np.einsum("ij,ij->i", self.directions, V)
            V -= along[:, None] * self.directions
        return self.X_support.T @ V

    def preconditioner(self, diagonal: np.ndarray) -> Solve:
        X = self.X_support
        n, m = X.shape
        if m <= n:
            return lifted_cholesky(X.T @ X, diagonal)
        # the n x n form of the inverse (Woodbury), for which the diagonal must be positive
        floor = 1e-8 * float(np.mean(self.curvatures[self.support]))
        inverse = 1.0 / np.maximum(diagonal, floor)
        solve_samples = lifted_cholesky((X * inverse) @ X.T, np.ones(n))

        def solve(B: np.ndarray) -> np.ndarray:
            scaled = inverse[:, None] * B
            return scaled - inverse[:, None] * (X.T @ solve_samples(X @ scaled))

        return solve

    def radial_solver(self, directions: np.ndarray, diagonal: np.ndarray) -> Solve | None:
        X = self.X_support
        n, m = X.shape
        if m > max(n, LARGEST_RADIAL):
            return None
        return lifted_cholesky((X.T @ X) * (directions @ directions.T), diagonal)

    @property
    def image(self) -> np.ndarray:
        return self.E

    def place(self, W: np.ndarray, image: np.ndarray) -> None:
        self.W[:] = W
        self.E[:] = image
        self._reweigh()

    def along(self, D: np.ndarray) -> float:
        self.XD = self.X[:, self.support] @ D
        before = self.loss.value_of_residual(self.E)
        # of the difference of two values that are nearly equal
        self.rounding = 4 * float(np.finfo(float).eps) * before
        return self.loss.value_of_residual(self.E + self.XD) - before

    def move(self, D: np.ndarray) -> None:
        self.W[self.support] += D
        self.E += self.XD
        self._reweigh()
