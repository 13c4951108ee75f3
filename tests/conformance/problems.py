"""Small problems of every kind, and the explicit matrices behind them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from conformance import plain

from rowsparse.designs import as_design
from rowsparse.losses import ResidualLoss
from rowsparse.penalties import L2p, LpInf
from rowsparse.problems.penalised import PenalisedProblem
from rowsparse.solvers import BlockDescent, run


@dataclass(frozen=True)
class Case:
    """One problem; the same fields give the same numbers."""

    r: float = 2.0
    p: float = 1.0
    n: int = 60
    d: int = 12
    c: int = 3
    intercept: bool = True
    weighted: bool = False
    factored: bool = False
    fraction: float = 0.1  # alpha in units of the data
    seed: int = 0
    size: str = "l2"  # of a row: its Euclidean norm, or "max", its largest magnitude

    def __str__(self) -> str:
        parts = [f"r={self.r:g} p={self.p:g}", f"{self.n}x{self.d}x{self.c}"]
        parts += ["intercept"] * self.intercept + ["weighted"] * self.weighted
        return " ".join(parts + ["factors"] * self.factored + ["max"] * (self.size == "max"))

    def but(self, **changes) -> Case:
        return replace(self, **changes)

    @cached_property
    def X(self) -> np.ndarray:
        return self._data[0]

    @cached_property
    def Y(self) -> np.ndarray:
        return self._data[1]

    @cached_property
    def _data(self):
        rng = np.random.default_rng(self.seed)
        X = rng.standard_normal((self.n, self.d))
        true = np.zeros((self.d, self.c))
        true[:4] = rng.standard_normal((4, self.c)) + 1.0
        Y = X @ true + 0.5 * rng.standard_normal((self.n, self.c)) + 1.5 * self.intercept
        Y[::9] += 4.0 * rng.standard_normal((len(Y[::9]), self.c))  # outliers: r matters
        return X, Y

    @cached_property
    def s(self) -> np.ndarray:
        if not self.weighted:
            return np.ones(self.n)
        s = np.random.default_rng(self.seed + 1).uniform(0.2, 3, self.n)
        return s / s.mean()

    @cached_property
    def factors(self) -> np.ndarray:
        f = np.ones(self.d)
        if self.factored:
            f[[0, 1, 5, 6]] = 0.5, np.inf, 0.0, 2.0
        return f

    @cached_property
    def A(self) -> np.ndarray:
        """The explicit matrix, the constant column included."""
        return np.hstack([self.X, np.ones((self.n, 1))]) if self.intercept else self.X

    @cached_property
    def problem(self) -> PenalisedProblem:
        kind = {"l2": L2p, "max": LpInf}[self.size]
        penalty = kind(1.0, self.factors.copy() if self.factored else None, p=self.p)
        loss = ResidualLoss(self.r, self.s.copy() if self.weighted else None)
        design, Y = as_design(self.X.copy()), self.Y.copy()
        return PenalisedProblem.build(design, Y, loss, penalty, self.intercept).with_alpha(
            self.alpha
        )

    @property
    def alpha(self) -> float:
        """The columns have unit size, so the size of Y says what a strong penalty is."""
        return self.fraction * float(np.sqrt(np.mean(self.Y**2))) ** (self.r - self.p)

    @cached_property
    def strength(self) -> np.ndarray:
        """Of every row of A; the intercept's is zero."""
        f = np.append(self.factors, 0.0) if self.intercept else self.factors
        return np.where(np.isinf(f), np.inf, self.alpha * np.where(np.isinf(f), 0.0, f))

    def joined(self, solution) -> np.ndarray:
        return np.vstack([solution.W, solution.intercept]) if self.intercept else solution.W

    def objective(self, solution) -> float:
        return self.objective_of(self.joined(solution))

    def objective_of(self, W) -> float:
        return plain.objective(self.A, self.Y, W, self.r, self.p, self.s, self.strength, self.size)

    @cached_property
    def scale(self) -> float:
        """Root mean square residual of the null model."""
        if self.r < 2:  # no closed form: its own test compares it with scipy
            return self.problem.residual_scale
        free = self.strength == 0
        root = np.sqrt(self.s)[:, None]
        E = self.Y.copy()
        if free.any():
            F = self.A[:, free]
            E -= F @ np.linalg.lstsq(root * F, root * self.Y, rcond=None)[0]
        return float(np.sqrt(np.mean(self.s * plain.norms(E) ** 2)))

    def violation(self, solution) -> float:
        W = self.joined(solution)
        E = self.A @ W - self.Y
        floor = self.scale * max(1e-7, (1e6 * np.finfo(float).eps) ** (1 / (2 - min(self.r, 1.0))))
        h = self.s * (plain.norms(E) ** 2 + floor**2) ** ((self.r - 2) / 2)
        G = self.A.T @ (h[:, None] * E) / self.n
        metric = np.minimum(h, self.scale ** (self.r - 2) * self.s) if self.p == 1 else h
        L = metric @ self.A**2 / self.n
        moved = plain.violation(W, G, L, self.strength, self.p, self.size)
        return moved / self.scale ** (self.r / 2)


SHAPES = [
    Case(n=60, d=12, c=1),
    Case(n=60, d=12, c=3, weighted=True, factored=True),
    Case(n=20, d=90, c=1, intercept=False, weighted=True),
    Case(n=20, d=90, c=3, factored=True),
]


def grid(orders, powers, size="l2") -> list[Case]:
    return [shape.but(r=r, p=p, size=size) for r in orders for p in powers for shape in SHAPES]


@cache
def tight(case):
    """What a run to the last digits finds: the optimum where there is one."""
    return run(BlockDescent(tol=1e-10, max_iter=2000, time_limit=60), case.problem)
