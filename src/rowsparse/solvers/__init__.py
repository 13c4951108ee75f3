"""Solvers: Problem in, Solution out."""

from .base import Solver, run
from .penalised.block_descent import BlockDescent
from .penalised.irls import IRLS
from .penalised.proximal_gradient import ProximalGradient
from .penalised.starts import choose, solve
from .top_k.alm import ALM
from .top_k.sfs import SFS
from .top_k.solve import Splice

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
