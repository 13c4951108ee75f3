r"""One support vector machine whose bias, and other free columns, are not penalised.

    min over u, v of  1/2 |u|**2 - h'v + sum_i c_i max(0, t_i - y_i (b_i'u + f_i'v))

with B (n x m) the penalised columns and F (n x f) the free ones. Its dual is

    max over a of  t'a - 1/2 |B'(y a)|**2   with 0 <= a <= c and F'(y a) = -h;   u = B'(y a).

A plain machine has t = 1 and h = 0. Given the multipliers of some of its samples, those of the
others are a machine again: in t is what the given ones add to the margins, in h to ``F'(y a)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..rounding import NEGLIGIBLE
from .interior_point import Multipliers, solved

DEPENDENT = 1e-7  # of the largest singular value of free columns; less is rounding


@dataclass(frozen=True)
class Machine:
    """The problem above, given ``K = B B'`` (n x n) or, where there are fewer columns, B itself,
    which is ``matrix * scale``. Each may tell how to make the other."""

    matrix: np.ndarray  # K, or B before it is scaled
    is_gram: bool  # whether it is K
    F: np.ndarray  # free columns; the first is one everywhere, for the bias
    y: np.ndarray  # -1 or 1 for every sample
    c: np.ndarray  # what an error of a sample costs, hence the bound of its multiplier
    scale: np.ndarray | float = 1.0  # of the columns of B
    gram: Callable[[], np.ndarray] | None = None  # K, where B is given
    by_columns: Callable[[], Machine] | None = None  # the same given B, but for y
    target: np.ndarray | float = 1.0  # t
    balance: np.ndarray | float = 0.0  # h
    size: float = 0.0  # of the objective that gaps are compared with; 0: its own

    def times(self, s: np.ndarray) -> np.ndarray:
        """K s."""
        if self.is_gram:
            return self.matrix @ s
        pulled = self.matrix.T @ s
        return self.matrix @ (self.scale**2 * pulled)

    def among(self, some: np.ndarray) -> np.ndarray:
        """K of some samples."""
        rows = self.matrix[some]
        if self.is_gram:
            return rows[:, some]
        rows = rows * self.scale
        return rows @ rows.T

    def margins(self, z: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Of ``z = K (y a)`` and the coefficients of F."""
        return self.y * (z + self.F @ v)

    def gap(self, a: np.ndarray, v: np.ndarray, margins: np.ndarray) -> float:
        """Duality gap plus what a lacks of being feasible, as a fraction of the size.

        ``|u|**2 = a'margins - (F'(y a))'v``, where F'(y a) should be -h.
        """
        linear = float(np.sum(self.balance * v))
        unbalanced = self.F.T @ (self.y * a) + self.balance
        squared = float(a @ margins) + linear - float(unbalanced @ v)
        errors = np.maximum(self.target - margins, 0.0)
        primal = squared / 2 - linear + float(self.c @ errors)
        gain = float(np.sum(a * self.target))
        dual = gain - squared / 2
        below = np.maximum(-a, 0.0)
        above = np.maximum(a - self.c, 0.0)
        worth_of_balance = 1 + np.abs(v)
        outside = float(below.sum() + above.sum())
        outside += float(np.abs(unbalanced) @ worth_of_balance)
        size = self.size or max(abs(primal), self.negligible)
        return (abs(primal - dual) + outside) / size

    @property
    def negligible(self) -> float:
        """An objective that is nothing beside that of u = v = 0; separable samples may cost
        nothing at all."""
        return NEGLIGIBLE * float(self.c.sum())

    def best_offset(self, z: np.ndarray) -> float:
        """The best bias at ``z = K (y a)``, where it is the only free column."""
        balance = float(np.sum(self.balance))
        return best_offset(z, self.y, self.c, self.target, balance)

    def interior_point(
        self, tol: float = NEGLIGIBLE, near: np.ndarray | None = None
    ) -> Multipliers:
        """By the form that the matrix has."""
        n, f = self.F.shape
        matrix = self.matrix if self.is_gram else self.matrix * self.scale
        target = np.broadcast_to(self.target, n)
        balance = np.broadcast_to(self.balance, f)
        return solved(
            matrix,
            self.is_gram,
            self.F,
            self.y,
            self.c,
            tol,
            target=target.astype(float),
            balance=balance.astype(float),
            size=self.size,
            least=self.negligible,
            near=near,
        )

    def given(self, a: np.ndarray, some: np.ndarray, size: float) -> Machine:
        """The machine of some samples, the others having the multipliers a; B is given."""
        others = np.where(some, 0.0, self.y * a)
        u = self.scale * (self.matrix.T @ others)  # theirs
        rows = self.matrix[some] * self.scale
        y = self.y[some]
        their_margins = y * (rows @ u)
        return replace(
            self,
            matrix=rows,
            F=self.F[some],
            y=y,
            c=self.c[some],
            scale=1.0,
            gram=None,
            target=1.0 - their_margins,
            balance=self.F.T @ others,
            size=size,
        )


def independent_columns(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Free columns F for the bias and for columns that may depend on each other or outnumber the
    samples, and T such that the coefficients v of F are ``T v`` of the ones and the columns.

    Dependent columns would make every system singular. F is orthogonal, with the ones in front.
    """
    n = len(columns)
    means = columns.mean(axis=0)
    centred = columns - means
    sizes = np.sqrt(np.einsum("ij,ij->j", centred, centred) / n)
    sizes[sizes == 0] = np.inf  # a constant column can do nothing
    left, values, right = np.linalg.svd(centred / sizes, full_matrices=False)
    used = values > DEPENDENT * values.max(initial=0.0)
    length = np.sqrt(n)  # of every column, as of the ones
    ones = np.ones((n, 1))
    F = np.hstack([ones, length * left[:, used]])
    directions = right[used] / values[used, None]
    to_columns = length * (directions / sizes).T
    bias = np.append(1.0, -means @ to_columns)
    without_bias = np.zeros((len(to_columns), 1))
    columns_of_T = np.hstack([without_bias, to_columns])
    return F, np.vstack([bias, columns_of_T])


def best_offset(
    z: np.ndarray,
    y: np.ndarray,
    c: np.ndarray,
    target: np.ndarray | float = 1.0,
    balance: float = 0.0,
) -> float:
    """The b that minimises ``sum_i c_i max(0, t_i - y_i (z_i + b)) - h b``, exactly.

    The sum is piecewise linear in b with kinks at y_i t_i - z_i. Where its minimum is an interval
    the middle is taken, as libsvm does; with both classes present the interval is bounded.
    """
    kinks = y * target - z
    order = np.argsort(kinks)
    sorted_kinks = kinks[order]
    left_of_all = -c[y > 0].sum() - balance
    slopes = np.cumsum(c[order]) + left_of_all  # right of each kink
    flat = 1e-9 * c.sum()  # rounding of the sums
    first = int(np.argmax(slopes >= -flat))
    last = int(np.argmax(slopes > flat))
    return float(sorted_kinks[first] + sorted_kinks[last]) / 2
