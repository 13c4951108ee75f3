"""Losses: functions of predictions Z and targets Y; they never see X."""

from .base import Loss
from .residual import ResidualLoss

__all__ = ["Loss", "ResidualLoss"]
