"""Feature selection by structured sparsity: few rows of W, found fast and with a certificate."""

from .selectors import (
    GroupedSelector,
    L2pSelector,
    LpInfSelector,
    ProbitKernelClassifier,
    ProbitSelector,
    ScoreSelector,
    TopKSelector,
    ZeroNormKernelSVC,
    ZeroNormSVC,
)
from .selectors.wrong_tool import WrongToolWarning
from .stores import open_rows

__version__ = "0.1.0"

__all__ = [
    "GroupedSelector",
    "L2pSelector",
    "LpInfSelector",
    "ProbitKernelClassifier",
    "ProbitSelector",
    "ScoreSelector",
    "TopKSelector",
    "WrongToolWarning",
    "ZeroNormKernelSVC",
    "ZeroNormSVC",
    "__version__",
    "open_rows",
]
