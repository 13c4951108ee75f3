"""Penalties: functions of the rows of W."""

from .base import RowNormPenalty
from .l2p import L2p

__all__ = ["L2p", "RowNormPenalty"]
