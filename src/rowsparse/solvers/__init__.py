"""Solvers: Problem in, Solution out."""

from .base import Solver
from .block_descent import BlockDescent
from .choose import choose
from .irls import IRLS
from .loop import run
from .starts import solve

__all__ = ["IRLS", "BlockDescent", "Solver", "choose", "run", "solve"]
