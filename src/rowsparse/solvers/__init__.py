"""Solvers: Problem in, Solution out."""

from .augmented import ALM
from .base import Solver
from .block_descent import BlockDescent
from .choose import choose
from .irls import IRLS
from .loop import run
from .proximal_gradient import ProximalGradient
from .sfs import SFS
from .starts import solve
from .top_k import Splice

__all__ = [
    "ALM",
    "IRLS",
    "SFS",
    "BlockDescent",
    "ProximalGradient",
    "Solver",
    "Splice",
    "choose",
    "run",
    "solve",
]
