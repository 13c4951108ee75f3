"""The loss on a working set of rows where r < 2 and X comes in blocks: a model by passes.

The columns of the working set are kept beside the blocks. A pass over them at a point gives the
loss, its gradient, the quadratic above it and its Hessian, all small; sweeps go on within the
quadratic, and every step of Newton's is one pass at the point where it leads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...designs import HeldTable
from ...losses.few_columns import DIRECT
from ...losses.residual import ResidualLoss
from ...numerics.rows import nonzero_rows, row_squares
from ...numerics.systems import lifted_cholesky
from ...penalties.base import Penalty
from ...penalties.local_model import LocalModel, Solve
from ...problems.block_sums import cross_sums, model_sums, radial_sums
from ...problems.in_blocks import NO_ROWS, BlockedProblem
from .model import GramModel

# Columns up to which every pass multiplies all of them, as it makes a Hessian of unknowns up to
# ``DIRECT``: more are multiplied where they are asked for.
MOST_PRODUCTS = 100


class _Point(NamedTuple):
    """What a pass says of a point."""

    value: float  # of the loss
    gradient: np.ndarray  # of the loss and the ridge
    curvatures: np.ndarray
    metric: np.ndarray
    products: np.ndarray | None  # under the majorizer's weights, without the ridge
    support: np.ndarray  # rows of the Hessian
    radial: np.ndarray | None  # what it lacks of the products


class BlockedModel(LocalModel):
    """Some rows of W; all others of the working set are held where they are."""

    stuck = False
    enough_rows = np.inf
    rounding = 0.0

    def __init__(
        self,
        table: HeldTable,
        whole: np.ndarray,
        rows: np.ndarray,
        loss: ResidualLoss,
        cap: float,
        ridges: np.ndarray,
    ):
        self.table = table
        self.whole = whole  # W of all columns of the table
        self.rows = rows  # of it, those of this model
        self.loss = loss
        self.cap = cap
        self.ridges = ridges  # of these rows
        self.quadratic = loss.quadratic
        self.W = np.array(whole[rows], order="F")
        self._point: _Point | None = None  # of W, if it is known
        self._above: GramModel | None = None  # a quadratic above the loss, and its W
        self._trial: tuple[np.ndarray, _Point] | None = None

    @classmethod
    def of(
        cls, problem: BlockedProblem, rows: np.ndarray, W: np.ndarray, smoothing: float
    ) -> BlockedModel:
        """The named rows of a problem at W."""
        loss = problem.own_loss.smoothed(smoothing)
        table = problem.table.of_columns(rows)
        every = np.arange(rows.size)
        return cls(table, W[rows], every, loss, problem.cap, problem.ridges[rows])

    def copy(self) -> BlockedModel:
        other = self.take(np.arange(len(self.W)))
        other._point = self._point
        return other

    def take(self, rows: np.ndarray) -> BlockedModel:
        whole = self._whole_with(self.W)
        ridges = self.ridges[rows]
        return BlockedModel(self.table, whole, self.rows[rows], self.loss, self.cap, ridges)

    def absorb(self, rows: np.ndarray, moved: BlockedModel) -> None:
        W = self.W.copy()
        W[rows] = moved.W
        self._go_to(W, None)

    def _whole_with(self, W: np.ndarray) -> np.ndarray:
        whole = self.whole.copy()
        whole[self.rows] = W
        return whole

    def _go_to(self, W: np.ndarray, point: _Point | None) -> None:
        self.W = np.array(W, order="F")
        self._point = point
        self._above = None

    def _here(self, with_products: bool = False) -> _Point:
        """What a pass says of W, if none has said it yet."""
        point = self._point
        if point is None or (with_products and point.products is None):
            point = self._at(self.W, with_products)
            self._go_to(self.W, point)
        return point

    def _at(self, W: np.ndarray, with_products: bool = False) -> _Point:
        few = with_products or self.rows.size <= MOST_PRODUCTS
        support = np.flatnonzero(nonzero_rows(W))
        small = not self.quadratic and support.size * W.shape[1] <= DIRECT
        radial_rows = self.rows[support] if small else NO_ROWS
        shared = (self._whole_with(W), self.rows, self.loss, self.cap, few, radial_rows)
        found = self.table.total(model_sums, shared)
        n = self.table.shape[0]
        value, gradient, squares, metric, products, radial = (part / n for part in found)
        return _Point(
            float(value),
            gradient + self.ridges[:, None] * W,
            np.where(squares > 0, squares + self.ridges, 0.0),
            np.where(squares > 0, metric + self.ridges, 0.0),
            products if few else None,
            support,
            radial if small else None,
        )

    @property
    def curvatures(self) -> np.ndarray:  # type: ignore[override]
        return self._here().curvatures

    @property
    def metric(self) -> np.ndarray:  # type: ignore[override]
        return self._here().metric

    def gradient(self) -> np.ndarray:
        return self._here().gradient

    def loss_value(self) -> float:
        return self._here().value + self._ridge_value(self.W)

    def _ridge_value(self, W: np.ndarray) -> float:
        return float(self.ridges @ row_squares(W)) / 2

    def sweep(self, penalty: Penalty, rows: np.ndarray, n_sweeps: int, tol: float) -> float:
        above = self._above
        if above is None:
            point = self._here(with_products=True)
            assert point.products is not None
            G = self._with_ridges(point.products, self.ridges)
            above = GramModel(G, self.W, point.gradient)
        moved = above.sweep(penalty, rows, n_sweeps, tol)
        self._go_to(above.W, None if (above.W != self.W).any() else self._point)
        # what is swept next goes on within the same quadratic, until the loss itself is asked for
        self._above = above
        return moved

    @staticmethod
    def _with_ridges(products: np.ndarray, ridges: np.ndarray) -> np.ndarray:
        G = products.copy()
        diagonal = np.einsum("ii->i", G)
        diagonal += np.where(diagonal > 0, ridges, 0.0)
        return G

    # passes are what takes time: sweeps and systems between them may be as many as are of use

    def sweep_flops(self, n_rows: int) -> float:
        return 2.0 * n_rows * self.W.size

    def newton_flops(self, n_rows: int) -> float:
        return 0.0

    def focus(self, support: np.ndarray) -> None:
        self.support = support
        point = self._here()
        self._products: np.ndarray | None = None
        if point.products is not None:
            self._products = point.products[support]
        self._radial = self._radial_of(point, support)
        self._gram: np.ndarray | None = None

    def _radial_of(self, point: _Point, support: np.ndarray) -> np.ndarray | None:
        if point.radial is None or not np.isin(support, point.support).all():
            return None
        n_outputs = self.W.shape[1]
        at = np.searchsorted(point.support, support)[:, None] * n_outputs + np.arange(n_outputs)
        return point.radial[np.ix_(at.ravel(), at.ravel())]

    def _cross_with(self, columns: np.ndarray) -> np.ndarray:
        """Products of the rows in focus with some rows, under the majorizer's weights."""
        if self._products is not None:
            return self._products[:, columns]
        own = self.rows[self.support]
        shared = (self._whole_with(self.W), own, self.rows[columns], self.loss)
        return self.table.total(cross_sums, shared)[0] / self.table.shape[0]

    def gram(self) -> np.ndarray:
        if self._gram is None:
            products = self._cross_with(self.support)
            self._gram = self._with_ridges(products, self.ridges[self.support])
        return self._gram

    def cross(self) -> np.ndarray:
        products = self._cross_with(np.arange(len(self.W))).copy()
        products[np.arange(self.support.size), self.support] += self.ridges[self.support]
        return products

    def small_gram(self) -> np.ndarray:
        return self.gram()

    def preconditioner(self, diagonal: np.ndarray) -> Solve:
        return lifted_cholesky(self.gram(), diagonal)

    def hessian_times(self, D: np.ndarray, undamped: float) -> np.ndarray:
        out = self.gram() @ D
        if self.quadratic or not undamped:
            return out
        if self._radial is not None:
            return out - undamped * (self._radial @ D.ravel()).reshape(D.shape)
        own = self.rows[self.support]
        shared = (self._whole_with(self.W), own, self.loss, D)
        return out - undamped * self.table.total(radial_sums, shared)[0] / self.table.shape[0]

    @property
    def image(self) -> np.ndarray:
        return self.W  # a pass knows all else by it

    def place(self, W: np.ndarray, image: np.ndarray) -> None:
        self._go_to(W, None)

    def along(self, D: np.ndarray) -> float:
        before = self.loss_value()
        W = self.W.copy()
        W[self.support] += D
        point = self._at(W)
        self._trial = W, point
        # of the difference of two values that are nearly equal
        self.rounding = 4 * float(np.finfo(float).eps) * before
        return point.value + self._ridge_value(W) - before

    def move(self, D: np.ndarray) -> None:
        assert self._trial is not None
        self._go_to(*self._trial)
