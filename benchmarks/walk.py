"""Which files of the package a fit runs through, in the order in which it first enters them.

    python benchmarks/walk.py

Compiled kernels and what happens at import are not seen; a file counts once a function of it runs.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Any

from sklearn.datasets import load_breast_cancer

import rowsparse
from rowsparse import L2pSelector, TopKSelector, ZeroNormSVC

PACKAGE = Path(rowsparse.__file__).parent
NO_FUNCTION = ("<module>", "<lambda>")


def files_of(call: Any) -> list[str]:
    """The files that a call enters, each once."""
    seen: dict[str, None] = {}

    def enter(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        named = frame.f_code.co_name not in NO_FUNCTION
        if event == "call" and named and path.is_relative_to(PACKAGE):
            seen.setdefault(str(path.relative_to(PACKAGE)))

    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(seen)


def main() -> None:
    warnings.simplefilter("ignore")
    X, y = load_breast_cancer(return_X_y=True)
    for estimator in (
        L2pSelector(n_features_to_select=10),
        TopKSelector(n_features_to_select=10),
        ZeroNormSVC(),
    ):
        # The first fit compiles and fills caches: only the second is the walk.
        estimator.fit(X, y)
        files = files_of(lambda fitted=estimator: fitted.fit(X, y))
        print(f"{len(files):3d} files  {type(estimator).__name__}")
        for name in files:
            print(f"       {name}")


if __name__ == "__main__":
    main()
