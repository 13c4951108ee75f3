"""Do the shortcuts in rivals.py give what the plain calls give? Prints one line per set.

python -m benchmarks.quality.check Sonar colon_alon
"""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pandas as pd
from mrmr import mrmr_classif, mrmr_regression
from sklearn.feature_selection import RFE

from . import rivals
from .data import NUMBERS, load
from .run import KS
from .splits import split


def main() -> None:
    for name in sys.argv[1:]:
        data = load(name)
        here = split(data, 0, 0)
        problem = here.X_train, here.y_train, data.task
        print(name, "mrmr", _same_mrmr(*problem), "rfe", _same_rfe(*problem), flush=True)


def _same_mrmr(X, y, task) -> bool:
    frame = pd.DataFrame(X, columns=[str(j) for j in range(X.shape[1])])
    run = mrmr_regression if task == NUMBERS else mrmr_classif
    plain = run(frame, pd.Series(y), max(KS), show_progress=False, n_jobs=1)
    answers = dict(rivals.mrmr(X, y, task, KS))
    nested = all(set(answers[a]) <= set(answers[b]) for a, b in pairwise(KS))
    return nested and list(answers[max(KS)]) == [int(name) for name in plain]


def _same_rfe(X, y, task) -> bool:
    return all(
        np.array_equal(columns, _plain_rfe(X, y, task, k))
        for k, columns in rivals.rfe(X, y, task, KS)
    )


def _plain_rfe(X, y, task, k):
    machine = rivals._machine(task)
    return np.flatnonzero(RFE(machine, n_features_to_select=k, step=0.1).fit(X, y).support_)


if __name__ == "__main__":
    main()
