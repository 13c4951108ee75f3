"""Whether a descent still leads somewhere, told by a look back over several of its steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..base import State

SEVERAL = 10  # steps, of which each may gain a little more than nothing
LITTLE = 1e-6  # of the objective, in several steps


@dataclass(frozen=True)
class Moves:
    """Where the descent stood some steps ago: at the mark.

    Where columns are equal but for rounding (10 samples of 1e4 ± 1, weights from 1e-3 to 1e3), each
    step gains some 1e-8 of the objective, and none of 500 leads nearer.
    """

    objective: float = float("inf")
    criterion: float = float("inf")
    steps: int = SEVERAL  # since then
    lead_nowhere: bool = False

    def then(self, now: State, same_rows: bool) -> Moves:
        """After one more step; rows that have just joined may lead on."""
        if self.steps < SEVERAL:
            return replace(self, steps=self.steps + 1)
        lower = now.objective < self.objective * (1 - LITTLE)
        nearer = now.criterion <= self.criterion / 2
        nowhere = same_rows and not lower and not nearer
        return Moves(now.objective, now.criterion, steps=1, lead_nowhere=nowhere)


NO_MOVES = Moves()
