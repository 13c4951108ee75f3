r"""The best coefficients of few dense columns under the l_{2,r} loss: one fit, or many at once.

``fit`` is exact. r = 2 is least squares. For r < 2 the loss is smoothed,
``(|e|**2 + sigma**2)**(r/2)``, and sigma falls to a floor; at every sigma Newton steps

    H D = -gradient,   H = sum_i h_i (I - kappa_i u_i u_i') (x) x_i x_i',   u_i = e_i / |e_i|

bring the point back to the minimum, and the minima at the last two sigmas point to the next one.
``StackedFits`` reweights many small sets of columns together, for comparing them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..numerics.rows import row_squares
from ..numerics.systems import LIFTS, cholesky_solver, conjugate_gradients, lifted_cholesky
from .residual import SMOOTHING_FLOOR, ResidualLoss

# Samples tried as constants where all differ: of 100,000 in .24 s of CPU time at r = .1 and .5. A
# hundred end up to 4e-5 of the loss higher, three thousand 5e-6 lower.
MOST_CONSTANTS = 1000
DIRECT = 400  # unknowns up to which factorising the Newton system beats conjugate gradients


def fit(
    A: np.ndarray,
    Y: np.ndarray,
    loss: ResidualLoss,
    floor: float | None = None,
    ridges: np.ndarray | None = None,
) -> np.ndarray:
    """argmin over B of the loss of ``A B - Y``, for r < 2 smoothed to the floor, plus
    ``1/2 sum_j ridges_j |b_j|**2``.

    Collinear columns do no harm: among equal fits the B of least norm, the columns scaled to unit
    length, is returned.
    """
    lengths = np.sqrt(np.einsum("ij,ij->j", A, A))
    lengths[lengths == 0] = 1.0
    A = A / lengths
    own = np.zeros(len(lengths)) if ridges is None else ridges / lengths**2
    if loss.quadratic:
        return _ridge_regression(A, Y, loss, own) / lengths[:, None]
    # in orthonormal columns Newton systems are as well conditioned as the loss allows
    U, values, Vt = np.linalg.svd(A, full_matrices=False)
    kept = values > 1e-11 * values[0]
    P = np.ascontiguousarray(U[:, kept])
    back = Vt[kept].T / values[kept]  # from their coefficients to those of A
    # in units of Y, so that no square of a square leaves the range of a float
    unit = 2.0 ** np.round(np.log2(np.abs(Y).max(initial=0.0) or 1.0))
    ridge = back.T @ (own[:, None] * back) * unit ** (2 - loss.r)
    if floor is not None:
        floor /= unit
    B = _minimise(P, Y / unit, loss, floor, ridge)
    return back @ B * (unit / lengths[:, None])


def _ridge_regression(
    A: np.ndarray, Y: np.ndarray, loss: ResidualLoss, ridges: np.ndarray
) -> np.ndarray:
    """Squared loss: a ridge is a sample of its own that wants one coefficient to be zero."""
    if loss.sample_weight is not None:
        root = np.sqrt(loss.sample_weight)[:, None]
        A = root * A
        Y = root * Y
    if ridges.any():
        samples = np.diag(np.sqrt(len(Y) * ridges))
        A = np.vstack([A, samples])
        Y = np.vstack([Y, np.zeros((len(samples), Y.shape[1]))])
    return least_squares(A, Y)


def null_fit(
    F: np.ndarray, Y: np.ndarray, loss: ResidualLoss, ridges: np.ndarray | None = None
) -> np.ndarray:
    """``fit`` of the columns that nothing penalises, mostly a column of ones."""
    return fit(*distinct_samples(F, Y, loss), ridges=ridges)


def best_constant(Y: np.ndarray, loss: ResidualLoss) -> np.ndarray:
    """The y of a sample that, predicted for all, gives the lowest loss.

    For r < 1 every sample is a local minimum of the loss of a constant, and reweighting finds any.
    """
    _, Y, loss = distinct_samples(np.ones((len(Y), 1)), Y, loss)
    candidates = Y[np.linspace(0, len(Y) - 1, min(len(Y), MOST_CONSTANTS)).astype(int)]
    return min(candidates, key=lambda y: loss.value_of_residual(y - Y))


def distinct_samples(
    F: np.ndarray, Y: np.ndarray, loss: ResidualLoss
) -> tuple[np.ndarray, np.ndarray, ResidualLoss]:
    """Samples that are equal count once, with the sum of their weights.

    Of a column of ones and classes no more than one per class is left. Where most samples differ
    everything is returned as it was.
    """
    table = np.hstack([F, Y])
    # one number per row: rows that share it are compared, so that chance cannot mislead
    marks = table @ np.cos(np.arange(1.0, table.shape[1] + 1))
    _, first, which = np.unique(marks, return_index=True, return_inverse=True)
    if 2 * first.size > len(table) or not np.array_equal(table[first][which], table):
        return F, Y, loss
    total = np.bincount(which, loss.weights(len(Y)))
    weights = total / total.mean()
    return F[first], Y[first], replace(loss, sample_weight=weights)


def least_squares(A: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """The least-squares solution of least norm; the columns of A have similar lengths.

    Normal equations with refinement where these reach the accuracy of orthogonal methods: pivots
    whose ratio is above 1e-2 lose four digits, and two refinements bring them back.
    """
    try:
        factor = cholesky_solver(A.T @ A)
    except np.linalg.LinAlgError:
        factor = None
    if factor is None:
        return np.linalg.lstsq(A, Y, rcond=1e-11)[0]
    pivots = factor.L.diagonal()
    if pivots.min() <= 1e-2 * pivots.max():
        return np.linalg.lstsq(A, Y, rcond=1e-11)[0]
    B = factor(A.T @ Y)
    for _ in range(2):
        missing = Y - A @ B
        B += factor(A.T @ missing)
    return B


def _minimise(
    P: np.ndarray, Y: np.ndarray, loss: ResidualLoss, floor: float | None, ridge: np.ndarray
) -> np.ndarray:
    """The minimum for orthonormal columns P, by Newton steps under a falling smoothing; a ridge
    adds ``1/2 tr(B' ridge B)``."""
    root = np.sqrt(loss.weights(len(Y)))[:, None]
    B = np.linalg.lstsq(root * P, root * Y, rcond=None)[0]
    size = loss.size_of_residual(P @ B - Y)
    if floor is None:
        floor = SMOOTHING_FLOOR * size
    sigma = max(0.3 * size, floor)  # nearly quadratic still, so that least squares is a good start
    before: tuple[np.ndarray, float] | None = None
    while True:
        B = _Smoothed(P, Y, loss, sigma, ridge).newton(B, precise=sigma <= floor)
        if sigma <= floor:
            return B
        lower = max(0.1 * sigma, floor)
        start = B
        if before is not None:
            # the minima at the last two sigmas lie on a line that leads to the next one
            last, last_sigma = before
            ahead = (sigma - lower) / (last_sigma - sigma)
            guess = B + ahead * (B - last)
            start = _Smoothed(P, Y, loss, lower, ridge).better(guess, B)
        before = B, sigma
        B = start
        sigma = lower


@dataclass(frozen=True)
class _Point:
    """Coefficients, their residual, the smoothed squared norms of its rows and the loss."""

    B: np.ndarray
    E: np.ndarray
    squares: np.ndarray
    value: float


class _Smoothed:
    """The smoothed loss of ``P B - Y`` and the ridge as a function of B."""

    def __init__(
        self, P: np.ndarray, Y: np.ndarray, loss: ResidualLoss, sigma: float, ridge: np.ndarray
    ):
        self.ridge = ridge
        self.P = P
        self.Y = Y
        self.r = loss.r
        self.sigma = sigma
        self.shares = loss.weights(len(Y)) / len(Y)  # of the samples in the loss

    def at(self, B: np.ndarray, E: np.ndarray | None = None) -> _Point:
        """What is known at B."""
        if E is None:
            E = self.P @ B - self.Y
        squares = row_squares(E)
        squares += self.sigma**2
        powers = squares ** (self.r / 2)
        value = float(self.shares @ powers) / self.r
        value += float(np.vdot(B, self.ridge @ B)) / 2
        return _Point(B, E, squares, value)

    def better(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Whichever has the lower loss."""
        return first if self.at(first).value < self.at(second).value else second

    def newton(self, B: np.ndarray, precise: bool) -> np.ndarray:
        """Newton steps, damped towards the reweighted step, which never overshoots."""
        point = self.at(B)
        damping = 0.0
        for _ in range(60):
            h = self._sample_weights(point)
            gradient = self.P.T @ (h[:, None] * point.E) + self.ridge @ point.B
            D = self._direction(point, h, gradient, 1 - damping)
            slope = float(np.vdot(gradient, D))
            # at a smoothing that is left again, an error below the smoothing's own is enough
            enough = 1e-16 * point.value if precise else 1e-2 * self.sigma**self.r / len(self.Y)
            if -slope <= enough:
                break
            found, t = self._line_search(point, D, slope)
            if found is not None:
                point = found
            elif damping == 1:  # not even the reweighted step lowers the loss: rounding is left
                break
            # full steps are the sign of a good model, shorter ones of too much curvature taken off
            damping = damping / 4 if t == 1 else min(1.0, max(4 * damping, 0.1))
        return point.B

    def _sample_weights(self, point: _Point) -> np.ndarray:
        """The h of the majorizer at a point, over n."""
        squares = np.maximum(point.squares, 1e-300)
        return self.shares * squares ** (self.r / 2 - 1)

    def _line_search(
        self, point: _Point, D: np.ndarray, slope: float
    ) -> tuple[_Point | None, float]:
        """The first of the steps 1, 1/2, … 1/32 that lowers the loss enough, and its length."""
        PD = self.P @ D
        t = 1.0
        while t > 0.02:
            trial = self.at(point.B + t * D, point.E + t * PD)
            if trial.value <= point.value + 1e-4 * t * slope:
                return trial, t
            t /= 2
        return None, 0.0

    def _direction(
        self, point: _Point, h: np.ndarray, gradient: np.ndarray, undamped: float
    ) -> np.ndarray:
        """The solution D of ``H D = -gradient``, with kappa times ``undamped``."""
        P = self.P
        m, c = gradient.shape
        kappa = undamped * (2 - self.r) * h / np.maximum(point.squares, 1e-300)
        lost = np.sqrt(kappa)[:, None] * point.E  # what a sample lacks along its own residual
        base = P.T @ (h[:, None] * P) + self.ridge  # the same for every output
        if m * c > DIRECT:

            def times(D: np.ndarray) -> np.ndarray:
                PD = P @ D
                along = np.einsum("ij,ij->i", lost, PD)
                pulled = h[:, None] * PD - lost * along[:, None]
                return P.T @ pulled + self.ridge @ D

            # preconditioned by the system of the reweighted step
            return conjugate_gradients(times, lifted_cholesky(base), -gradient, 1e-3, 50)
        # unknowns are ordered as the entries of B, the outputs of one column side by side
        J = (P[:, :, None] * lost[:, None, :]).reshape(len(P), m * c)
        H = -(J.T @ J)
        blocks = H.reshape(m, c, m, c)
        for output in range(c):
            blocks[:, output, :, output] += base
        try:
            factor = lifted_cholesky(H, lifts=LIFTS[:1])
        except np.linalg.LinAlgError:  # r < 1: not convex; r = 1: flat along some direction
            return -lifted_cholesky(base)(gradient)  # the reweighted step
        return -factor(gradient.ravel()).reshape(m, c)


class StackedFits:
    """Reweighted least squares on many small sets of columns at once: A is t x n x m.

    Every step fits all sets under sample weights that their last residuals gave, with a smoothing
    that fades: ``fading**i`` of the mean square in step i, never below the floor.
    """

    def __init__(
        self,
        A: np.ndarray,
        Y: np.ndarray,
        loss: ResidualLoss,
        fading: float,
        floor: float,
        ridges: np.ndarray | None = None,
    ):
        lengths = np.sqrt(np.einsum("tij,tij->tj", A, A) + 1e-300)
        self.A = A / lengths[:, None, :]
        # of the scaled columns; one for every column of a set
        self.ridges = None if ridges is None else ridges / lengths**2
        self._cost = np.zeros(len(A))  # of the ridge, at the last fit
        self.Y = Y
        self.loss = loss
        self.fading = fading
        self.floor = floor
        self.steps = 0
        self.squares = np.empty(0)  # squared residuals (t x n), once a step was made
        # new memory costs more than the arithmetic on it
        self._weighted = np.empty_like(self.A)
        self._E = np.empty((*A.shape[:2], Y.shape[1]))

    def step(self) -> np.ndarray:
        """Fit once more; the sample weights (t x n) of this fit."""
        h = self._sample_weights()
        weighted = np.multiply(self.A, h[:, :, None], out=self._weighted)
        G = self.A.transpose(0, 2, 1) @ weighted
        diagonal = np.einsum("tjj->tj", G)
        diagonal += 1e-13 * diagonal.max(axis=1, keepdims=True)  # collinear columns share
        if self.ridges is not None:
            diagonal += len(self.Y) * self.ridges
        wanted = weighted.transpose(0, 2, 1) @ self.Y
        try:
            B = np.linalg.solve(G, wanted)
        except np.linalg.LinAlgError:  # weights may leave a column nothing
            B = np.linalg.pinv(G, hermitian=True) @ wanted
        if self.ridges is not None:
            self._cost = np.einsum("tj,tjk,tjk->t", self.ridges, B, B) / 2
        E = np.matmul(self.A, B, out=self._E)
        E -= self.Y
        self.squares = np.einsum("tij,tij->ti", E, E)
        self.steps += 1
        return h

    def values(self) -> np.ndarray:
        """The loss of every set's last fit."""
        n = len(self.Y)
        losses = self.squares ** (self.loss.r / 2) @ self.loss.weights(n) / (self.loss.r * n)
        return losses + self._cost

    def _sample_weights(self) -> np.ndarray:
        s = self.loss.weights(len(self.Y))
        if not self.steps:
            return np.broadcast_to(s, self.A.shape[:2])
        typical = self.squares.mean(axis=1, keepdims=True)
        smoothing = np.maximum(self.fading**self.steps * typical, max(self.floor**2, 1e-300))
        smoothed = self.squares + smoothing
        return s * smoothed ** (self.loss.r / 2) / smoothed  # a root is faster than other powers
