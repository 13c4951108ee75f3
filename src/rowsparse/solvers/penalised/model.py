r"""A working set of rows, and the loss restricted to it in the form that is cheapest to descend on.

``GramModel`` (r = 2) keeps the Gram matrix of the working set and the gradient ``Q``;
``SampleModel`` (any r) keeps the dense block of columns and the residual, and its Newton systems
are solved in the smaller of the two spaces. Both hold the current rows ``W`` (m x c, Fortran order)
and change them in place; what they offer is ``penalties.local_model.LocalModel``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...losses.residual import ResidualLoss
from ...numerics.rows import nonzero_rows, row_norms, row_squares
from ...numerics.sweep import sweep_gram, sweep_samples
from ...numerics.systems import lifted_cholesky
from ...penalties.base import Penalty
from ...penalties.local_model import LocalModel, Solve

# On more rows than this and than samples no system of one unknown per row is formed. Factoring it
# all the same (up to 3000 rows, in single precision) made no case of eight faster.
LARGEST_GRAM = 500


class GramModel(LocalModel):
    """Squared loss and ridge through the Gram matrix G of the working set; Q = gradient at W."""

    stuck = False
    quadratic = True
    enough_rows = np.inf
    rounding = 0.0  # ``along`` computes the difference itself

    def __init__(self, G: np.ndarray, W: np.ndarray, Q: np.ndarray):
        self.G = G
        self.W = np.array(W, order="F")
        self.Q = np.array(Q, order="F")
        self.curvatures = np.ascontiguousarray(np.diagonal(G))
        self.metric = self.curvatures

    def copy(self) -> GramModel:
        return GramModel(self.G, self.W, self.Q)

    def take(self, rows: np.ndarray) -> GramModel:
        among = self.G[np.ix_(rows, rows)]
        return GramModel(among, self.W[rows], self.Q[rows])

    def absorb(self, rows: np.ndarray, moved: GramModel) -> None:
        change = moved.W - self.W[rows]
        self.Q += self.G[:, rows] @ change
        self.W[rows] = moved.W

    def loss_value(self) -> float:
        used = nonzero_rows(self.W)
        W = self.W[used]
        Q = self.Q[used]
        G = self.G[np.ix_(used, used)]
        # the gradient at W = 0, where this value is zero, is Q - G W
        linear = np.vdot(W, Q)
        bend = np.vdot(W, G @ W)
        return float(linear - bend / 2)

    def gradient(self) -> np.ndarray:
        return self.Q

    def row_gradient(self, j: int) -> np.ndarray:
        return self.Q[j]

    def shift(self, j: int, change: np.ndarray) -> None:
        self.Q += np.outer(self.G[:, j], change)

    def sweep(self, penalty: Penalty, rows: np.ndarray, n_sweeps: int, tol: float) -> float:
        if penalty.compiled is None:
            return _sweep_rows(self, penalty, rows, n_sweeps, tol)
        p, clipped = penalty.compiled
        strength = penalty.strength(len(self.W))
        return sweep_gram(self.G, self.Q, self.W, strength, p, rows, n_sweeps, tol, clipped)

    def sweep_flops(self, n_rows: int) -> float:
        return 2.0 * n_rows * self.W.size

    def newton_flops(self, n_rows: int) -> float:
        n_outputs = self.W.shape[1]
        factors = n_rows**3  # two of them
        iterations = 60.0 * n_rows**2 * n_outputs  # some ten
        return factors + iterations

    def focus(self, support: np.ndarray) -> None:
        self.support = support
        self.G_rows = self.G[support]
        self.G_support = self.G_rows[:, support]

    def gram(self) -> np.ndarray:
        return self.G_support

    def cross(self) -> np.ndarray:
        return self.G_rows

    def hessian_times(self, D: np.ndarray, undamped: float) -> np.ndarray:
        return self.G_support @ D  # a quadratic lacks no curvature

    def preconditioner(self, diagonal: np.ndarray) -> Solve:
        return lifted_cholesky(self.G_support, diagonal)

    def small_gram(self) -> np.ndarray:
        return self.G_support

    @property
    def image(self) -> np.ndarray:
        return self.Q

    def place(self, W: np.ndarray, image: np.ndarray) -> None:
        self.W[:] = W
        self.Q[:] = image

    def along(self, D: np.ndarray) -> float:
        self.GD = self.G_rows.T @ D
        slope = float(np.vdot(self.Q[self.support], D))
        bend = float(np.vdot(D, self.GD[self.support]))
        return slope + bend / 2

    def move(self, D: np.ndarray) -> None:
        self.W[self.support] += D
        self.Q += self.GD


class SampleModel(LocalModel):
    """Any l_{2,r} loss through the dense block X of the working set and the residual E.

    Samples are weighted by the quadratic that lies above the loss at E; ``metric_weights`` turns
    these weights into those of the certificate. The ridge belongs to the model.
    """

    stuck = False

    def __init__(
        self,
        X: np.ndarray,
        W: np.ndarray,
        E: np.ndarray,
        loss: ResidualLoss,
        metric_weights: Callable[[np.ndarray], np.ndarray],
        ridges: np.ndarray,
    ):
        self.enough_rows = len(E)
        self.quadratic = loss.quadratic
        self.X = X
        self.W = np.array(W, order="F")
        self.E = np.array(E, order="F")
        self.loss = loss
        self.metric_weights = metric_weights
        self.ridges = ridges
        self._weigh()

    def copy(self) -> SampleModel:
        return SampleModel(self.X, self.W, self.E, self.loss, self.metric_weights, self.ridges)

    def take(self, rows: np.ndarray) -> SampleModel:
        X = self.X[:, rows]
        ridges = self.ridges[rows]
        return SampleModel(X, self.W[rows], self.E, self.loss, self.metric_weights, ridges)

    def absorb(self, rows: np.ndarray, moved: SampleModel) -> None:
        self.W[rows] = moved.W
        self.E[:] = moved.E
        self._residual_has_moved()

    def loss_value(self) -> float:
        return self.loss.value_of_residual(self.E) + self._ridge_value(self.W)

    def _ridge_value(self, W: np.ndarray) -> float:
        squares = row_squares(W)
        return float(self.ridges @ squares) / 2

    def gradient(self) -> np.ndarray:
        of_loss = self.X_weighted.T @ self.E_weighted
        return of_loss + self.ridges[:, None] * self.W

    def _weigh(self) -> None:
        """Weigh the samples by the majorizer at the current residual."""
        h = self.loss.residual_weights(self.E)
        self.root = np.sqrt(h / len(h))[:, None]
        self.X_weighted = self.X * self.root
        self.E_weighted = self.E * self.root
        squares = np.einsum("ij,ij->j", self.X_weighted, self.X_weighted)
        self.curvatures = np.where(squares > 0, squares + self.ridges, 0.0)
        metric = self.metric_weights(h)
        self.metric = self.curvatures
        if metric is not h:
            self.metric = metric @ self.X**2 / len(h) + self.ridges

    def _residual_has_moved(self) -> None:
        if self.loss.quadratic:  # its weights stay
            self.E_weighted = self.E * self.root
        else:
            self._weigh()

    def row_gradient(self, j: int) -> np.ndarray:
        of_loss = self.X_weighted[:, j] @ self.E_weighted
        return of_loss + self.ridges[j] * self.W[j]

    def shift(self, j: int, change: np.ndarray) -> None:
        self.E_weighted += np.outer(self.X_weighted[:, j], change)

    def sweep(self, penalty: Penalty, rows: np.ndarray, n_sweeps: int, tol: float) -> float:
        X = self.X_weighted
        E = self.E_weighted
        W = self.W
        before = W.copy()
        if penalty.compiled is None:
            moved = _sweep_rows(self, penalty, rows, n_sweeps, tol)
        else:
            p, clipped = penalty.compiled
            strength = penalty.strength(len(W))
            moved = sweep_samples(
                X, E, W, self.curvatures, strength, p, rows, n_sweeps, tol, clipped, self.ridges
            )
        if self.root.all():  # the sweep has kept every residual
            np.divide(E, self.root, out=self.E)
        else:  # a sample of no weight is out of the sweep's sight
            changed = np.flatnonzero(nonzero_rows(before != W))
            change = W[changed] - before[changed]
            self.E += self.X[:, changed] @ change
        self._residual_has_moved()
        return moved

    def sweep_flops(self, n_rows: int) -> float:
        return 4.0 * n_rows * self.E.size

    def newton_flops(self, n_rows: int) -> float:
        n, n_outputs = self.E.shape
        factor = n_rows**3 / 3
        pass_over_X = 2.0 * n * n_rows
        # two Gram matrices, of which the preconditioner's is in the smaller space, and iterations
        n_passes = n_rows + min(n, n_rows) + 40.0 * n_outputs
        return factor + n_passes * pass_over_X

    def focus(self, support: np.ndarray) -> None:
        self.support = support
        self.X_support = self.X_weighted[:, support]
        # of each sample, along the direction of its residual
        self.lost = self.loss.radial_loss_of_curvature(self.E)
        norms = row_norms(self.E)[:, None]
        nothing = np.zeros_like(self.E)  # a sample that is fitted exactly has no direction
        self.directions = np.divide(self.E, norms, out=nothing, where=norms > 0)

    def gram(self) -> np.ndarray:
        G = self.X_support.T @ self.X_support
        G[np.diag_indices_from(G)] += self.ridges[self.support]
        return G

    def cross(self) -> np.ndarray:
        products = self.X_support.T @ self.X_weighted
        own = np.arange(self.support.size), self.support
        products[own] += self.ridges[self.support]
        return products

    def hessian_times(self, D: np.ndarray, undamped: float) -> np.ndarray:
        V = self.X_support @ D
        if not self.loss.quadratic:
            along = np.einsum("ij,ij->i", self.directions, V)
            missing = undamped * self.lost * along
            V -= missing[:, None] * self.directions
        ridges = self.ridges[self.support]
        return self.X_support.T @ V + ridges[:, None] * D

    def preconditioner(self, diagonal: np.ndarray) -> Solve:
        X = self.X_support
        n, m = X.shape
        if m <= n:
            return lifted_cholesky(self.gram(), diagonal)
        # the n x n form of the inverse (Woodbury), for which the diagonal must be positive
        curvatures = self.curvatures[self.support]
        floor = 1e-8 * float(np.mean(curvatures))
        whole = diagonal + self.ridges[self.support]
        inverse = 1.0 / np.maximum(whole, floor)
        outer = (X * inverse) @ X.T
        solve_samples = lifted_cholesky(outer, np.ones(n))

        def solve(B: np.ndarray) -> np.ndarray:
            scaled = inverse[:, None] * B
            through_samples = X.T @ solve_samples(X @ scaled)
            return scaled - inverse[:, None] * through_samples

        return solve

    def small_gram(self) -> np.ndarray | None:
        n, m = self.X_support.shape
        return None if m > max(n, LARGEST_GRAM) else self.gram()

    @property
    def image(self) -> np.ndarray:
        return self.E

    def place(self, W: np.ndarray, image: np.ndarray) -> None:
        self.W[:] = W
        self.E[:] = image
        self._residual_has_moved()

    def along(self, D: np.ndarray) -> float:
        self.XD = self.X[:, self.support] @ D
        W = self.W.copy()
        W[self.support] += D
        before = self.loss_value()
        after = self.loss.value_of_residual(self.E + self.XD) + self._ridge_value(W)
        # of the difference of two values that are nearly equal
        self.rounding = 4 * float(np.finfo(float).eps) * before
        return after - before

    def move(self, D: np.ndarray) -> None:
        self.W[self.support] += D
        self.E += self.XD
        self._residual_has_moved()


def _sweep_rows(
    model: GramModel | SampleModel, penalty: Penalty, rows: np.ndarray, n_sweeps: int, tol: float
) -> float:
    """Sweeps through the prox, for a penalty that the compiled ones do not know."""
    curved = rows[model.curvatures[rows] > 0]
    # taken once: a penalty of one row costs more to make than to apply
    alone = {j: penalty.take(np.array([j])) for j in curved}
    largest = 0.0
    for _ in range(n_sweeps):
        largest = 0.0
        for j, own in alone.items():
            L = model.curvatures[j]
            target = model.W[[j]] - model.row_gradient(j) / L
            change = own.prox(target, 1 / L)[0] - model.W[j]
            if not change.any():
                continue
            model.W[j] += change
            model.shift(j, change)
            moved = float(np.sqrt(L) * np.linalg.norm(change))
            largest = max(largest, moved)
        if largest <= tol:
            break
    return largest
