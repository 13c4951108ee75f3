"""``python -m experiments.top_k --quick | --full | --page``."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from ..frame import Options, Study, Task, main
from . import accuracy, recovery, starts
from .claims import claims
from .page import page


def plan(options: Options) -> Iterator[Task]:
    yield from starts.plan(options)
    yield from accuracy.plan(options)
    yield from recovery.plan(options)


STUDY = Study("top_k", plan, page, claims)

if __name__ == "__main__":
    sys.exit(main(STUDY))
