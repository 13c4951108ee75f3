"""Penalties: functions of the rows of W."""

from .base import Penalty, RowPenalty
from .cardinality import Cardinality
from .families import RowNormPenalty
from .l2p import L2p
from .lpinf import LpInf
from .margin_norm import MarginNorm

__all__ = ["Cardinality", "L2p", "LpInf", "MarginNorm", "Penalty", "RowNormPenalty", "RowPenalty"]
