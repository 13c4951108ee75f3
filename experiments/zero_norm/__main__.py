"""``python -m experiments.zero_norm --quick | --full | --page``."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from ..frame import Options, Study, Task, main
from . import dual, features, iterates, times
from .claims import claims
from .page import page


def plan(options: Options) -> Iterator[Task]:
    yield from iterates.plan(options)
    yield from times.plan(options)
    yield from features.plan(options)
    yield from dual.plan(options)


STUDY = Study("zero_norm", plan, page, claims)

if __name__ == "__main__":
    sys.exit(main(STUDY))
