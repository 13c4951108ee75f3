"""The study of the GSR-FS paper."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ..frame import Options, Study, Task
from . import accuracy, order, reading, synthetic, times
from .claims import claims
from .page import page


def plan(options: Options) -> Iterator[Task]:
    """First what fills every table and figure once, then the folds and splits that are left."""
    folds = synthetic.plan(options)
    splits = accuracy.plan(options)
    yield from islice(folds, synthetic.PER_FOLD)
    yield from order.plan(options)
    yield from islice(splits, accuracy.per_split(options))
    yield from times.plan(options)
    yield from folds
    yield from splits
    yield from reading.plan(options)


STUDY = Study("gsr_fs", plan, page, claims)
