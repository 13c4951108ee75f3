"""Penalties: functions of the rows of W."""

from .base import Penalty, RowPenalty
from .cardinality import Cardinality
from .families import L2p, LpInf, RowNormPenalty
from .margin_norm import MarginNorm

__all__ = ["Cardinality", "L2p", "LpInf", "MarginNorm", "Penalty", "RowNormPenalty", "RowPenalty"]
