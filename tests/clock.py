"""A clock that a busy machine does not disturb: it moves on by a fixed time at every look."""

from rowsparse.solvers import base


class Clock:
    """In place of the ``time`` module where solvers look at it."""

    def __init__(self, per_look: float = 1e-3):
        self.per_look = per_look
        self.now = 0.0

    def perf_counter(self) -> float:
        self.now += self.per_look
        return self.now

    @classmethod
    def installed(cls, monkeypatch, per_look: float = 1e-3) -> "Clock":
        clock = cls(per_look)
        monkeypatch.setattr(base, "time", clock)
        return clock
