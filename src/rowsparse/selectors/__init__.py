"""scikit-learn estimators: validation in, fitted attributes out."""

from .l2p import L2pSelector

__all__ = ["L2pSelector"]
