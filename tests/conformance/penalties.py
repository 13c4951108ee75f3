"""Every penalty, for the suites of its values and of its steps; a new one is one line here."""

from dataclasses import replace

import numpy as np
from examples.group_mcp import GroupMCP

from rowsparse.penalties import L2p, LpInf

D, C = 7, 3
FACTORS = np.array([1.0, 0.3, 0.0, 2.0, np.inf, 1.0, 5.0])
POWERS = (0.0, 0.1, 0.25, 0.5, 2 / 3, 0.75, 0.9, 1.0)
PENALTIES = {
    **{f"L2p p={p:.3g}": L2p(p=p) for p in POWERS},
    **{f"LpInf p={p:.3g}": LpInf(p=p) for p in POWERS},
    "GroupMCP gamma=0.12": GroupMCP(gamma=0.12),
    "GroupMCP gamma=1.5": GroupMCP(gamma=1.5),
}


def at(penalty, alpha, factors=None):
    """The penalty at another strength and with other factors."""
    return replace(penalty, alpha=alpha, factors=factors)


def rows(seed=0, d=D, c=C):
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((d, c)) * np.array([0.1, 0.5, 1.0, 2.0, 1.0, 3.0, 5.0])[:d, None]
    W[1] = 0.0
    return W
