"""A bar for work in many steps: on a terminal, never in a pipe.

Whatever makes many fits says "name: 3 of 10" in the log; the bar listens to that.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rowsparse.cli.terminal import messages, plain

STEP = "%s: %d of %d"


class _Listener(logging.Handler):
    """Moves a bar along with the steps in the log."""

    def __init__(self, bar: Progress) -> None:
        super().__init__(logging.INFO)
        self.bar = bar
        self.task = bar.add_task("", total=None)

    def emit(self, record: logging.LogRecord) -> None:
        if record.msg == STEP and isinstance(record.args, tuple):
            done = int(str(record.args[1]))
            total = int(str(record.args[2]))
            self.bar.update(self.task, completed=done, total=total)


@contextmanager
def bar(sentence: str) -> Iterator[None]:
    """A bar with a sentence before it as long as the work goes on."""
    console = messages()
    if not console.is_terminal:
        yield
        return
    logger = logging.getLogger("rowsparse")
    level = logger.level
    columns = (TextColumn(plain(sentence), markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as shown:
        listener = _Listener(shown)
        logger.addHandler(listener)
        logger.setLevel(logging.INFO)  # steps are told at this level, and nobody may be listening
        try:
            yield
        finally:
            logger.removeHandler(listener)
            logger.setLevel(level)
