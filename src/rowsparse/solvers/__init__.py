"""Solvers: Problem in, Solution out."""

from .base import Solver, run
from .margin.linear_programs import AbsoluteNormLP, LargestNormLP
from .margin.probit import ProbitEM
from .margin.svm import ReweightedSVM
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
    "AbsoluteNormLP",
    "BlockDescent",
    "LargestNormLP",
    "ProbitEM",
    "ProximalGradient",
    "ReweightedSVM",
    "Solver",
    "Splice",
    "choose",
    "run",
    "solve",
]
