"""Steps of a descent that change nothing, or next to nothing over several of them."""

from __future__ import annotations

from dataclasses import dataclass

from ..base import State

IDLE = 1e-9  # of the objective: a step gained less. 7 x 61 (r = 1): 64 such, 7 s, with 1e-10
MOST_IDLE = 2  # steps in a row
SEVERAL = 10  # steps, of which each may gain a little more than nothing
LITTLE = 1e-6  # of the objective, in several steps
UNCHANGED = 0.01  # of the criterion


@dataclass(frozen=True)
class Moves:
    """What the last steps have changed, and where the descent stood some of them ago.

    Where columns are equal but for rounding (10 samples of 1e4 ± 1, weights from 1e-3 to 1e3), each
    step gains some 1e-8 of the objective, and none of 500 leads nearer.
    """

    n_idle: int = 0  # steps in a row that changed nothing
    objective: float = float("inf")  # at the mark
    criterion: float = float("inf")
    since: int = 0  # steps
    lead_nowhere: bool = False

    def then(self, before: State, now: State, same_rows: bool) -> Moves:
        """After one more step."""
        no_lower = now.objective >= before.objective * (1 - IDLE)
        no_nearer = now.criterion > 0.5 * before.criterion
        n_idle = self.n_idle + 1 if same_rows and no_lower and no_nearer else 0
        stuck = same_rows and self.since == SEVERAL and self._next_to_nothing(now)
        nowhere = n_idle > MOST_IDLE or stuck
        if self.since in (0, SEVERAL):
            return Moves(n_idle, now.objective, now.criterion, 1, nowhere)
        return Moves(n_idle, self.objective, self.criterion, self.since + 1, nowhere)

    def _next_to_nothing(self, now: State) -> bool:
        """Whether rounding is in the way."""
        same = abs(now.criterion - self.criterion) <= UNCHANGED * self.criterion
        return same and now.objective >= self.objective * (1 - LITTLE)


NO_MOVES = Moves()
