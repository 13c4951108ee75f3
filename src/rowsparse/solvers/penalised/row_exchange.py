r"""Exchanges of rows, by which a local minimum is left for a lower one.

A minimum reached by descent is optimal in every single row, yet a better one is often only an
exchange away: a member of the support becomes zero, an outsider enters, the others adapt. All of it
happens on a working set of the most promising rows, so no exchange passes over X.

Where a quadratic with the matrix M = G + diag(q) lies above the objective on the members (the one
of reweighting), all pairs are judged at once. With N = M^-1, C the products of members with
outsiders and V = N C, the member j leaves for at most

    |w_j|**2 / (2 N_jj) - (penalty_j - q_j/2 |w_j|**2),

and then an outsider k, with the others adapting, gains at least what a single row does whose
gradient is ``g_k - V_jk / N_jj w_j`` and whose curvature ``L_k - c_k'N c_k + V_jk**2 / N_jj``. The
best pair is carried out, and descent on the members goes on from there. Penalties without such a
quadratic have one member after the other removed to see what comes of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics.compiling import for_many
from ...numerics.memory import COPY_BYTES
from ...numerics.rounding import NEGLIGIBLE
from ...numerics.rows import largest, nonzero_rows, row_norms, row_squares
from ...numerics.systems import lifted_cholesky
from ...penalties.base import Penalty
from ...penalties.local_model import LocalModel
from ...problems.penalised import PenalisedProblem
from ..base import OutOfTime
from .block_descent import (
    MOST_SWEEPS,
    ROUGH,
    ROUNDS,
    affordable_sweeps,
    descend,
    objective,
    violation,
)
from .working_set import WorkingSet

# Pairs, each with another member, that are judged not to help and tried all the same: with none,
# 3 of 20 fits (synthetic, TOX_171, digits, GLIOMA, singh, USPS) end .1 to .2 % higher. For r < 2
# the quadratic lies farther above the loss: with 5 of them 14 fits (r = 1, seven sets) end .5 %
# higher on average than by sixty trials of whole descents, with 25 they end .2 % lower.
HOPES = 25
TRIALS = 60  # of single members, where pairs cannot be judged
# Those that the gradient pulls most: with 2000 BASEHOCK takes three times as long and ends .06 %
# lower, with 500 GLIOMA ends up to 1.8 % higher.
MOST_OUTSIDERS = 1000


def exchange_rows(
    problem: PenalisedProblem,
    W: np.ndarray,
    out_of_time: OutOfTime,
    limit: int | None = None,
) -> np.ndarray:
    """A W of lower objective than the given one, or an equal copy if no exchange helped.

    ``limit`` is the most rows, those that are free counted, that may be nonzero.
    """
    in_pairs = problem.penalty.judges_pairs
    n_members = int(np.count_nonzero(nonzero_rows(W)))
    with for_many(n_members, 1 if in_pairs else TRIALS):
        exchange = _Exchange(problem, W, limit, out_of_time)
        better = exchange.best_pair if in_pairs else exchange.first_trial
        while not out_of_time() and better():
            pass  # every exchange lowers the objective by more than rounding
        return exchange.reached(W)


class _Patience:
    """Ends trials that do not settle: on nearly equal columns each takes rounds without number,
    and hardly one helps. All trials between two exchanges together have the rounds of one descent:
    ordinary ones leave one or none unsettled in sixty trials of two, those on 20 x 15 columns equal
    up to 1e-2 four to seven."""

    def __init__(self, out_of_time: OutOfTime):
        self.out_of_time = out_of_time
        self.left = ROUNDS

    def another_round(self) -> bool:
        """Count a round of descent that has not settled; whether it should be the last."""
        self.left -= 1
        return self.over()

    def over(self) -> bool:
        return self.left <= 0 or self.out_of_time()


class _Exchange:
    """The model on the promising rows, and the objective that it has reached."""

    def __init__(
        self,
        problem: PenalisedProblem,
        W: np.ndarray,
        limit: int | None,
        out_of_time: OutOfTime,
    ):
        evaluation = problem.evaluate(W)
        self.rows = _promising_rows(problem, W, evaluation.gradient)
        self.penalty = problem.penalty.take(self.rows)
        self.limit = limit
        self.tol = ROUGH * problem.violation_scale
        # What trials that end early leave open of an objective. It lacks a constant and may be
        # negative: decreases are absolute.
        self.enough = ROUGH**2 * problem.residual_scale**problem.loss.r
        self.patience = _Patience(out_of_time)
        self.trials = TRIALS
        self.model = WorkingSet.of(problem, self.rows).model(problem, W, evaluation)
        self._adapt(self.model, np.flatnonzero(self._members()))
        self.value = objective(self.model, self.penalty)

    def reached(self, W: np.ndarray) -> np.ndarray:
        """The given W with the rows where they are now."""
        W = W.copy()
        W[self.rows] = self.model.W
        return W

    def best_pair(self) -> bool:
        """Carry out the exchange that lowers the objective most; whether there was one."""
        members = np.flatnonzero(self._members())
        self.model.focus(members)
        try:
            pairs = _Pairs.of(self.model, self.penalty)
        except np.linalg.LinAlgError:  # members that depend on each other, and p = 0
            return False
        if self.limit is not None:  # a row for a row, once there are so many
            pairs.changes[:, -1] = np.inf
            if not self._has_room():
                pairs.changes[-1] = np.inf
        # what is judged not to help may do so all the same, once descent goes on from there
        for number, (leaving, entering) in enumerate(pairs.best_of_each_member()):
            helps = pairs.changes[leaving, entering] < -self.enough
            if number >= HOPES and not helps:
                break
            change = pairs.step(self.model, self.penalty, leaving, entering)
            if self._lower_after(change):
                return True
        return False

    def first_trial(self) -> bool:
        """Carry out the first exchange found to help, the weakest member tried first."""
        model = self.model
        members = self._members() & ~self.penalty.free(self.rows.size)
        size = np.sqrt(model.curvatures) * row_norms(model.W)
        weakest = [j for j in np.argsort(size, kind="stable").tolist() if members[j]]
        nobody = [None] if self._has_room() else []
        for leaving in nobody + weakest:
            if self.trials == 0 or self.patience.over():
                return False
            self.trials -= 1
            if self._lower_after(self._without(leaving)):
                self.patience.left = ROUNDS
                return True
        return False

    def _has_room(self) -> bool:
        """Whether one more row may enter; a free row has its place even while it is zero."""
        places = self._members() | self.penalty.free(self.rows.size)
        return self.limit is None or int(np.count_nonzero(places)) < self.limit

    def _members(self) -> np.ndarray:
        return nonzero_rows(self.model.W) & (self.model.curvatures > 0)

    def _without(self, leaving: int | None) -> np.ndarray:
        """The change of all rows where this one becomes zero, the others adapt, and the outsider
        that then gains most enters."""
        others = self._members()
        model = self.model.copy()
        outside = ~others
        if leaving is not None:
            others[leaving] = False
            _moved(model, leaving, -model.W[[leaving]])
            self._adapt(model, np.flatnonzero(others))
        gains, targets = _gains(model, self.penalty)
        gains[~outside] = -np.inf
        entering = int(np.argmax(gains))
        change = model.W - self.model.W
        if gains[entering] > 0:
            change[entering] = targets[entering]
        return change

    def _lower_after(self, change: np.ndarray) -> bool:
        """Go where descent leads from there, if that is lower; rows that are left stay zero."""
        rows = np.flatnonzero(nonzero_rows(change) | self._members())
        trial = self.model.take(rows)
        _moved(trial, np.arange(rows.size), change[rows])
        kept = np.flatnonzero(nonzero_rows(trial.W))
        self._adapt(trial, kept, self.penalty.take(rows))
        value = objective(trial, self.penalty.take(rows))
        if not value < self.value - self.enough:
            return False
        self.model.absorb(rows, trial)
        self.value = value
        return True

    def _adapt(self, model: LocalModel, rows: np.ndarray, penalty: Penalty | None = None) -> None:
        """Descend on these rows of the model alone."""
        own = model.take(rows)
        penalty = (self.penalty if penalty is None else penalty).take(rows)
        # none is zero, so Newton steps will mostly do; sweeps over few rows cost more
        # (USPS, k = 50: 4.0 s with sweeps first, 1.5 s like this), but not where such a step is
        # dear (l(p,inf), p = .5, ISOLET1 /50: 5.1 s of exchanges like this, 2.0 s without it)
        if affordable_sweeps(own, penalty, rows.size) < MOST_SWEEPS:
            penalty.newton(own, self.tol, finishing=False)
        if violation(own, penalty) > self.tol:
            descend(own, penalty, self.tol, self.patience.another_round)
        model.absorb(rows, own)


@dataclass
class _Pairs:
    """What exchanges change, at most: one line for every member that leaves and one for none, one
    column for every outsider that may enter and one for none."""

    changes: np.ndarray
    members: np.ndarray
    outsiders: np.ndarray
    inverse: np.ndarray  # N
    products: np.ndarray  # C: members x all rows

    @classmethod
    def of(cls, model: LocalModel, penalty: Penalty) -> _Pairs:
        """Of the model with the members in focus."""
        members = model.support
        C = model.cross()
        W = model.W[members]
        own = penalty.take(members)
        q = own.quadratic_above(W)
        inverse = lifted_cholesky(C[:, members], q).inverse()
        costs = _costs_of_leaving(own, W, q, inverse)
        pulls, curvatures = _after_leaving(model, W, inverse, C)
        # who does not even enter with the strongest pull and the least curvature need not be tried
        strongest = pulls.max(axis=0)
        least = curvatures.min(axis=0)
        hopeful = penalty.gains(strongest, least) > 0
        hopeful[members] = False
        outsiders = np.flatnonzero(hopeful)
        of_outsiders = penalty.take(outsiders)
        gains = of_outsiders.gains(pulls[:, outsiders], curvatures[:, outsiders])
        of_nobody = np.zeros(costs.size)
        changes = costs[:, None] - np.column_stack([gains, of_nobody])
        return cls(changes, members, outsiders, inverse, C)

    def best_of_each_member(self) -> list[tuple[int, int]]:
        """For every member that leaves, and for none, whom to take in: the best such pair first."""
        entering = np.argmin(self.changes, axis=1)
        change = self.changes[np.arange(len(entering)), entering]
        order = np.argsort(change, kind="stable")
        possible = order[np.isfinite(change[order])]
        return [(int(i), int(entering[i])) for i in possible]

    def step(self, model: LocalModel, penalty: Penalty, leaving: int, entering: int) -> np.ndarray:
        """The change of all rows that was judged."""
        N = self.inverse
        D = np.zeros_like(model.W)
        left = np.zeros(len(N))  # how the members move for one unit of who leaves
        somebody_leaves = leaving < len(N)
        if somebody_leaves:
            left = N[leaving] / N[leaving, leaving]
            w = model.W[self.members[leaving]]
            D[self.members] = -np.outer(left, w)
        if entering < self.outsiders.size:
            k = self.outsiders[[entering]]
            c = self.products[:, k[0]]
            pull = model.gradient()[k] + c @ D[self.members]
            adapted = N @ c  # and for one unit of who enters
            if somebody_leaves:
                adapted -= left * adapted[leaving]
            own = model.curvatures[k]
            L = np.maximum(own - c @ adapted, NEGLIGIBLE * own)
            D[k] = penalty.take(k).prox(-pull / L[:, None], 1 / L)
            D[self.members] -= np.outer(adapted, D[k])
        return D


def _costs_of_leaving(
    own: Penalty, W: np.ndarray, q: np.ndarray, inverse: np.ndarray
) -> np.ndarray:
    """What the objective grows by, at most, when each member leaves, the others adapting; nothing
    when none does, which is the last entry."""
    squares = row_squares(W)
    of_loss = squares / (2 * inverse.diagonal())
    saved = own.row_values(W) - q * squares / 2  # of the penalty, beyond its quadratic
    costs = of_loss - saved
    costs[own.free(len(W))] = np.inf
    return np.append(costs, 0.0)


def _after_leaving(
    model: LocalModel, W: np.ndarray, inverse: np.ndarray, C: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The norm of every row's gradient, and its curvature with the members adapting, after each
    member has left (one line for each), and after none has (the last one)."""
    Q = model.gradient()
    V = inverse @ C
    left = V / inverse.diagonal()[:, None]
    # |g_k - left_jk w_j|**2, without forming a row of it
    before = row_squares(Q)
    inner = W @ Q.T
    lengths = row_squares(W)[:, None]
    after = before + left * (left * lengths - 2 * inner)
    squares = np.vstack([after, before])
    pulls = np.sqrt(np.maximum(squares, 0.0))  # rounding may go below zero
    with_all = model.curvatures - np.einsum("ij,ij->j", V, C)
    curvatures = np.vstack([with_all + V * left, with_all])
    # an outsider that members explain to this part is no news
    return pulls, np.maximum(curvatures, NEGLIGIBLE * model.curvatures)


def _promising_rows(problem: PenalisedProblem, W: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """The support, and the rows outside it that the gradient pulls most."""
    inside = nonzero_rows(W) | problem.penalty.free(len(W))
    flat = problem.sample_curvatures == 0
    closed = inside | problem.penalty.excluded(len(W)) | flat
    L = np.where(closed, 1.0, problem.sample_curvatures)
    pulls = row_norms(gradient) / np.sqrt(L)
    pulls[closed] = -1.0
    n_open = int(np.count_nonzero(~closed))
    fitting = COPY_BYTES // (8 * len(problem.Y))  # a model holds their columns, dense
    outside = largest(pulls, min(MOST_OUTSIDERS, fitting, n_open))
    return np.union1d(np.flatnonzero(inside), outside)


def _gains(model: LocalModel, penalty: Penalty) -> tuple[np.ndarray, np.ndarray]:
    """What every zero row would take from the objective alone, and where it would go."""
    G = model.gradient()
    curved = model.curvatures > 0
    L = np.where(curved, model.curvatures, 1.0)
    targets = penalty.prox(-G / L[:, None], 1 / L)
    slopes = np.einsum("ij,ij->i", targets, G)
    bends = L * row_squares(targets) / 2
    of_penalty = penalty.row_values(targets)
    gains = -(slopes + bends + of_penalty)
    return np.where(curved, gains, -np.inf), targets


def _moved(model: LocalModel, rows: np.ndarray | int, step: np.ndarray) -> LocalModel:
    """The model with some rows moved by a step."""
    model.focus(np.atleast_1d(rows))
    model.along(step)
    model.move(step)
    return model
