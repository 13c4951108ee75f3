"""Score functions (X, y) -> scores, one number per feature, larger is better.

`mrmr`, `svm_rfe` and `arom` choose features one after the other and return ``(order, scores)``.
"""

from .arom import arom
from .fisher import f_score, fisher_score
from .fsv import fsv
from .information import information_gain
from .mrmr import mrmr
from .relief import relieff
from .svm_rfe import svm_rfe

#: What ``ScoreSelector(score=…)`` knows by name.
BY_NAME = {
    "fisher": fisher_score,
    "f": f_score,
    "information_gain": information_gain,
    "relieff": relieff,
    "mrmr": mrmr,
    "svm_rfe": svm_rfe,
    "arom": arom,
    "fsv": fsv,
}

__all__ = [
    "arom",
    "f_score",
    "fisher_score",
    "fsv",
    "information_gain",
    "mrmr",
    "relieff",
    "svm_rfe",
]
