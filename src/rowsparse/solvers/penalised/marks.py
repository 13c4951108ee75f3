"""Steps that change next to nothing, told by a look back over several of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..base import State

STEPS = 10  # of which each may gain a little more than nothing
NEXT_TO_NOTHING = 1e-6  # of the objective, in all of them
UNCHANGED = 0.01  # of the criterion


@dataclass(frozen=True)
class Mark:
    """Where a descent stood some steps ago.

    Where columns are equal but for rounding (20 samples of 1e4 ± 1, weights from 1e-3 to 1e3), each
    step gains some 1e-8 of the objective, and none of 500 leads nearer.
    """

    objective: float
    criterion: float
    steps: int = 1

    def moved_on(self, state: State) -> Mark:
        """The same one step later; after ``STEPS`` of them a new one."""
        if self.steps == STEPS:
            return Mark(state.objective, state.criterion)
        return replace(self, steps=self.steps + 1)

    def says_stuck(self, state: State) -> bool:
        """Whether rounding is in the way."""
        same = abs(state.criterion - self.criterion) <= UNCHANGED * self.criterion
        little = state.objective >= self.objective * (1 - NEXT_TO_NOTHING)
        return self.steps == STEPS and same and little
