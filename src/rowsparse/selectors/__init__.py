"""scikit-learn estimators: validation in, fitted attributes out."""

from .by_score import ScoreSelector
from .grouped import GroupedSelector
from .kernel_machines import ZeroNormKernelSVC
from .margin import ZeroNormSVC
from .penalised import L2pSelector, LpInfSelector
from .probit import ProbitKernelClassifier, ProbitSelector
from .top_k import TopKSelector

__all__ = [
    "GroupedSelector",
    "L2pSelector",
    "LpInfSelector",
    "ProbitKernelClassifier",
    "ProbitSelector",
    "ScoreSelector",
    "TopKSelector",
    "ZeroNormKernelSVC",
    "ZeroNormSVC",
]
