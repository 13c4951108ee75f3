"""``python -m experiments.lpinf --quick | --full | --page``."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from ..frame import Options, Study, Task, main
from . import accuracy, algorithm_1, residues
from .claims import claims
from .page import page


def plan(options: Options) -> Iterator[Task]:
    """Cheap parts first."""
    yield Task({"part": "algorithm 1"}, algorithm_1.measure)
    yield from residues.plan(options)
    yield from accuracy.plan(options)


STUDY = Study("lpinf", plan, page, claims)

if __name__ == "__main__":
    sys.exit(main(STUDY))
