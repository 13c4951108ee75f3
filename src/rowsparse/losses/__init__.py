"""Losses: functions of predictions Z and targets Y; they never see X."""

from .base import Loss
from .margin import HingeLoss, MarginLoss, ProbitLoss
from .residual import ResidualLoss

__all__ = ["HingeLoss", "Loss", "MarginLoss", "ProbitLoss", "ResidualLoss"]
