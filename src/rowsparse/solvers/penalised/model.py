r"""The loss restricted to a working set of rows, in the form that is cheapest to descend on.

``GramModel`` (r = 2) keeps the Gram matrix of the working set and the gradient ``Q``;
``SampleModel`` (any r) keeps the dense block of columns and the residual, and its Newton systems
are solved in the smaller of the two spaces. Both hold the current rows ``W`` (m x c, Fortran order)
and change them in place; neither knows the penalty beyond what it hands to a sweep.
``curvatures`` are those of the majorizer along each row, ``metric`` those of the certificate.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...losses.residual import ResidualLoss
from ...numerics.rows import nonzero_rows
from ...numerics.systems import lifted_cholesky
from ...penalties.base import Penalty, Solve

SMALL_RADIAL, LARGEST_RADIAL = 500, 3000  # rows: factored at every step, and at all
REUSE_ABOVE = 0.8  # of the rows must be in a kept factor


class GramModel:
    """Squared loss through the Gram matrix G of the working set; Q = gradient at W."""

    rounding: float = 0.0  # of what ``along`` returns: here a difference computed directly
    support: np.ndarray
    curvatures: np.ndarray
    metric: np.ndarray

    def __init__(self, G: np.ndarray, W: np.ndarray, Q: np.ndarray):
        self.G = G
        self.W = np.array(W, order="F")
        self.Q = np.array(Q, order="F")
        self.curvatures = self.metric = np.ascontiguousarray(np.diagonal(G))

    def copy(self) -> GramModel:
        """A model of its own rows; the Gram matrix is shared."""
        return GramModel(self.G, self.W, self.Q)

    def loss_value(self) -> float:
        """The loss, up to a constant that copies share: its gradient at W = 0 is Q - G W."""
        used = nonzero_rows(self.W)
        W, Q = self.W[used], self.Q[used]
        return float(np.vdot(W, Q) - np.vdot(W, self.G[np.ix_(used, used)] @ W) / 2)

    def sweep_flops(self, n_rows: int) -> float:
        """Operations of a sweep over so many rows."""
        return 2.0 * n_rows * self.W.size

    def newton_flops(self, n_rows: int) -> float:
        """Operations of a Newton step on so many rows: two factors, some ten iterations."""
        return n_rows**2 * (n_rows + 60.0 * self.W.shape[1])

    def gradient(self) -> np.ndarray:
        return self.Q

    def sweep(self, penalty: Penalty, rows: np.ndarray, n_sweeps: int, tol: float):
        """Sweeps over the named rows; returns the largest move of the last one."""
        return penalty.sweep_gram(self.G, self.Q, self.W, rows, n_sweeps, tol)

    def focus(self, support: np.ndarray) -> None:
        """Prepare Newton steps on the named rows."""
        self.support = support
        self.G_rows = self.G[support]
        self.G_support = self.G_rows[:, support]

    def gram(self) -> np.ndarray:
        """The Hessian of the majorizer on the focused rows, the same for every output."""
        return self.G_support

    def hessian_times(self, D: np.ndarray, undamped: float) -> np.ndarray:
        """The loss's Hessian on the focused rows; its damping concerns only r < 2."""
        return self.G_support @ D

    def preconditioner(self, diagonal: np.ndarray) -> Solve:
        """Solve with ``G_SS + diag(diagonal)``."""
        return lifted_cholesky(self.G_support, diagonal)

    def radial_solver(self, directions: np.ndarray, diagonal: np.ndarray) -> Solve | None:
        """Solve with the Hessian restricted to multiples of one direction per row."""
        return lifted_cholesky(self.G_support * (directions @ directions.T), diagonal)

    def forget_radial_solver(self) -> None:
        """Nothing is kept: a factor is cheap here."""

    @property
    def image(self) -> np.ndarray:
        """What is kept up to date beside W: affine in W, so mixtures of points mix it too."""
        return self.Q

    def place(self, W: np.ndarray, image: np.ndarray) -> None:
        """Go to W, whose image is known."""
        self.W[:], self.Q[:] = W, image

    def along(self, D: np.ndarray) -> float:
        """The change of the loss from W to W + D (D on the focused rows)."""
        self.GD = self.G_rows.T @ D
        slope = float(np.vdot(self.Q[self.support], D))
        return slope + float(np.vdot(D, self.GD[self.support])) / 2

    def move(self, D: np.ndarray) -> None:
        """W += D on the focused rows, after ``along(D)``."""
        self.W[self.support] += D
        self.Q += self.GD


class SampleModel:
    """Any l_{2,r} loss through the dense block X of the working set and the residual E."""

    rounding: float
    support: np.ndarray
    curvatures: np.ndarray
    metric: np.ndarray

    def __init__(self, X, W, E, loss: ResidualLoss, metric_weights: Callable):
        self.X = X
        self.metric_weights = metric_weights
        self.W = np.array(W, order="F")
        self.E = np.array(E, order="F")
        self.loss = loss
        self.root: np.ndarray | None = None  # square roots of the samples' weights
        # when S is larger than n, one factor serves several Newton steps: it only preconditions
        self._kept_radial: tuple[np.ndarray, Solve] | None = None
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

    def sweep_flops(self, n_rows: int) -> float:
        return 4.0 * n_rows * self.E.size

    def newton_flops(self, n_rows: int) -> float:
        n, c = self.E.shape
        small = min(n, n_rows)
        return n_rows**3 / 3 + 2.0 * n * n_rows * (n_rows + small + 40.0 * c)

    def gradient(self) -> np.ndarray:
        return self.X_weighted.T @ self.E_weighted

    def sweep(self, penalty: Penalty, rows: np.ndarray, n_sweeps: int, tol: float):
        X, E, W, L = self.X_weighted, self.E_weighted, self.W, self.curvatures
        before = W.copy()
        moved = penalty.sweep_samples(X, E, W, L, rows, n_sweeps, tol)
        if self.root is not None and self.root.all():  # the sweep has kept every residual
            np.divide(E, self.root, out=self.E)
        else:
            changed = np.flatnonzero(nonzero_rows(before != W))
            self.E += self.X[:, changed] @ (W[changed] - before[changed])
        self._reweigh()
        return moved

    def focus(self, support: np.ndarray) -> None:
        self.support = support
        self.X_support = self.X_weighted[:, support]
        self.radial_loss = self.loss.radial_loss_of_curvature(self.E)
        norms = np.sqrt(np.einsum("ij,ij->i", self.E, self.E))[:, None]
        self.directions = np.divide(self.E, norms, out=np.zeros_like(self.E), where=norms > 0)

    def gram(self) -> np.ndarray:
        return self.X_support.T @ self.X_support

    def hessian_times(self, D: np.ndarray, undamped: float) -> np.ndarray:
        V = self.X_support @ D
        if not self.loss.quadratic:
            along = undamped * self.radial_loss * np.einsum("ij,ij->i", self.directions, V)
            V -= along[:, None] * self.directions
        return self.X_support.T @ V

    def preconditioner(self, diagonal: np.ndarray) -> Solve:
        """Solve with ``X_S'X_S + diag(diagonal)``; n x n by Woodbury when S is larger than n."""
        X = self.X_support
        n, m = X.shape
        if m <= n:
            return lifted_cholesky(X.T @ X, diagonal)
        floor = 1e-8 * float(np.mean(self.curvatures[self.support]))
        inverse = 1.0 / np.maximum(diagonal, floor)
        solve_samples = lifted_cholesky((X * inverse) @ X.T, np.ones(n))

        def solve(B: np.ndarray) -> np.ndarray:
            scaled = inverse[:, None] * B
            return scaled - inverse[:, None] * (X.T @ solve_samples(X @ scaled))

        return solve

    def radial_solver(self, directions: np.ndarray, diagonal: np.ndarray) -> Solve | None:
        n, m = self.X_support.shape
        if m > max(n, LARGEST_RADIAL):
            return None  # this system has the size of the support and no small form
        if m <= max(n, SMALL_RADIAL):
            return self._fresh_radial_solver(directions, diagonal)
        kept = self._kept_radial
        known = np.zeros(m, bool) if kept is None else np.isin(self.support, kept[0])
        if kept is None or np.mean(known) < REUSE_ABOVE:
            self._kept_radial = self.support, self._fresh_radial_solver(directions, diagonal)
            return self._kept_radial[1]
        place = np.searchsorted(kept[0], self.support[known])
        own = self.curvatures[self.support[~known]] + np.maximum(diagonal[~known], 0.0)

        def solve(b: np.ndarray) -> np.ndarray:
            spread = np.zeros(len(kept[0]))
            spread[place] = b[known]
            z = np.empty_like(b)
            z[known] = kept[1](spread)[place]
            z[~known] = b[~known] / own
            return z

        return solve

    def _fresh_radial_solver(self, directions: np.ndarray, diagonal: np.ndarray) -> Solve:
        X = self.X_support
        if X.shape[1] > max(X.shape[0], SMALL_RADIAL):  # it only preconditions: half the digits
            X, directions = X.astype(np.float32), directions.astype(np.float32)
        return lifted_cholesky((X.T @ X) * (directions @ directions.T), diagonal)

    def forget_radial_solver(self) -> None:
        """Factor anew next time: conjugate gradients took too long with the kept factor."""
        self._kept_radial = None

    @property
    def image(self) -> np.ndarray:
        return self.E

    def place(self, W: np.ndarray, image: np.ndarray) -> None:
        self.W[:], self.E[:] = W, image
        self._reweigh()

    def along(self, D: np.ndarray) -> float:
        self.XD = self.X[:, self.support] @ D
        before = self.loss.value_of_residual(self.E)
        self.rounding = 4 * np.finfo(float).eps * before
        return self.loss.value_of_residual(self.E + self.XD) - before

    def move(self, D: np.ndarray) -> None:
        self.W[self.support] += D
        self.E += self.XD
        self._reweigh()


Model = GramModel | SampleModel
