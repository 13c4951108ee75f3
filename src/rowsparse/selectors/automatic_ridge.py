r"""``ridge="auto"``: how much of a ridge the choice of k among d columns needs on n samples.

    ridge  =  3 t**2 * s**2,        t = k log(e d / k) / n

``k log(e d / k)`` is the logarithm of the number of supports, up to a constant. Where it is small
against n, the samples can tell these supports apart, and the ridge hardly matters; where it is
large, the best fit is the best by chance, and the ridge draws the choice towards that of each
column alone.

s is the noise. Of pure noise the best k columns would still leave some ``exp(-2 t n / (n - k))`` of
y unexplained: the largest of ``exp(n t)`` correlations. With u the share that k columns, chosen one
after another without a ridge, do leave,

    s  =  min(1, u / exp(-2 t n / (n - k))),

so that columns which explain y far better than chance could are not drawn apart by a ridge.
"""

from __future__ import annotations

import math

import numpy as np

from ..designs import ChunkedDesign
from ..losses import ResidualLoss
from ..numerics.rows import n_distinct
from ..penalties import Cardinality
from ..solvers.top_k.search import unexplained
from .data import Data
from .rounds import know

# The factor of t**2 and the power of s: chosen on half A of the sets of benchmarks/quality,
# reported on half B.
STRENGTH = 3.0
# In units of the columns' variance: a ridge below shrinks the coefficient of a lone column by less
# than a hundredth. Whether there is noise is then not worth the passes over X that it takes.
NEGLIGIBLE = 0.01


def automatic_ridge(data: Data, k: int, r: float, fit_intercept: bool) -> float:
    """The rule, in the units of the data: times v s**(r - 2).

    v is the median variance of the columns that may be selected, as the problem sees them, and s
    the spread of Y (with standardised columns and r = 2 both fall out). n counts samples that
    differ: one given twice tells no more than one of twice the weight.
    """
    eligible = np.isfinite(data.factors)
    d = int(eligible.sum())
    # the logarithm of d / k must not be negative
    k = min(max(k, 1), d)
    variances = _variances(data)
    if not np.isfinite(variances[eligible]).all():
        return 0.0  # NaN in X, which the problem's own sums will say
    # A mean would follow one column of large units, or one wrong entry, to a ridge under which
    # all others vanish. The lower of two in the middle: too little of a ridge does less harm.
    variance = np.sort(variances[eligible])[(d - 1) // 2]
    n = _n_distinct(data, variances)
    price = k * np.log(math.e * d / k) / n
    ridge = STRENGTH * price**2
    if ridge > NEGLIGIBLE:
        ridge *= noise(data, k, n, price, fit_intercept) ** 2
    with np.errstate(over="ignore"):  # columns of such a size are refused, with their size
        return float(ridge * variance * _spread(data) ** (r - 2))


def noise(data: Data, k: int, n: int, price: float, fit_intercept: bool) -> float:
    """What k columns leave of Y, as a share of what k columns of pure noise would; at most one."""
    if k >= n - 1:
        return 1.0  # any columns leave nothing
    always = data.factors == 0
    penalty = Cardinality(max(k - int(always.sum()), 0), data.factors)
    loss = ResidualLoss(2.0, data.weights)
    left, rows = unexplained(data.problem(loss, penalty, fit_intercept))
    while data.in_rounds and know(data.X, rows):
        left, rows = unexplained(data.problem(loss, penalty, fit_intercept))
    if left <= 0:
        return 0.0
    # in logarithms: the exponential alone may leave the range of floats
    return math.exp(min(math.log(left) + 2 * price * n / (n - k), 0.0))


def _n_distinct(data: Data, variances: np.ndarray) -> int:
    """Samples that differ in X or Y, told apart by their products with one random direction.

    Columns count alike in it: a large entry would leave no digits to tell the others by.
    """
    if isinstance(data.X, ChunkedDesign):
        return data.X.n_distinct(data.target.Y)
    rng = np.random.default_rng(0)
    d = data.design.shape[1]
    Y = data.target.Y
    roots = np.sqrt(np.where(np.isfinite(variances) & (variances > 0), variances, 1.0))
    products = data.design.matmul(rng.standard_normal((d, 1)) / roots[:, None])[:, 0]
    products = products + Y @ rng.standard_normal(Y.shape[1])
    return n_distinct(products)


def _variances(data: Data) -> np.ndarray:
    """Mean squares of the columns of the design."""
    n = data.design.shape[0]
    weights = np.ones(n) if data.weights is None else data.weights
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(data.design.squares(weights) / n)


def _spread(data: Data) -> float:
    """Root mean square of what a constant leaves of Y."""
    Y = data.target.Y
    rest = Y - np.average(Y, axis=0, weights=data.weights)
    spread = np.sqrt(np.average(np.sum(rest**2, axis=1), weights=data.weights))
    # a constant Y has no spread, and no ridge would be one for it
    return float(spread) or 1.0
