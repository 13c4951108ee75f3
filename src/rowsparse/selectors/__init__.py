"""scikit-learn estimators: validation in, fitted attributes out."""

from .by_score import ScoreSelector
from .penalised import L2pSelector, LpInfSelector
from .probit import ProbitKernelClassifier, ProbitSelector
from .top_k import TopKSelector
from .zero_norm_kernel import ZeroNormKernelSVC
from .zero_norm_svm import ZeroNormSVC

__all__ = [
    "L2pSelector",
    "LpInfSelector",
    "ProbitKernelClassifier",
    "ProbitSelector",
    "ScoreSelector",
    "TopKSelector",
    "ZeroNormKernelSVC",
    "ZeroNormSVC",
]
