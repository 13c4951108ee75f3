"""Penalties: functions of the rows of W."""

from .base import Penalty, RowPenalty
from .cardinality import Cardinality
from .l2p import L2p
from .lpinf import LpInf
from .row_norms import RowNormPenalty

__all__ = ["Cardinality", "L2p", "LpInf", "Penalty", "RowNormPenalty", "RowPenalty"]
