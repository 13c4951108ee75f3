"""Results are values: plain data about the point that was returned, saved without pickle."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from . import archives
from .numerics.rows import nonzero_rows
from .values import ByValue, ShownInNotebooks

__all__ = ["Path", "Solution", "Status", "Step"]


class Status:
    """How a run ended: plain texts, which every format can hold."""

    CONVERGED = "converged"
    MAX_ITER = "out of iterations"
    TIME_LIMIT = "out of time"
    INTERRUPTED = "interrupted"
    STALLED = "stalled"
    NOT_FINITE = "not finite"


ADVICE = {
    Status.CONVERGED: "Nothing to do.",
    Status.MAX_ITER: "Raise the solver's max_iter, or its tol if this accuracy is enough.",
    Status.TIME_LIMIT: "Raise the solver's time_limit, or its tol if this accuracy is enough.",
    Status.INTERRUPTED: "The best point so far was kept; fit again for the full accuracy.",
    Status.STALLED: "No further progress in this precision; raise tol, or pass float64 data.",
    Status.NOT_FINITE: "Numbers overflowed; rescale X and y, or use standardize=True.",
}


FORMAT = 1  # of the files; a change that older versions would misread raises it
COUNTS_PASSES = 2  # the format of files that say n_passes, which older versions do not know
_ARRAYS = ("W", "intercept", "gradient")
_LINES = ("alphas", "powers", "ks")
_NAMES = ("facts", *_ARRAYS, *_LINES)
_IN_JSON: dict[Any, tuple[type, ...]] = {  # of the annotations of fields; all else are lists
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "float | None": (int, float, type(None)),
    "int | None": (int, type(None)),
    "dict[str, float]": (dict,),
}


@dataclass(frozen=True)
class Step:
    """One line of a history.

    Attributes
    ----------
    iteration, seconds : its number, and the time since the start
    objective : that of the best point so far
    criterion : what the solver compares with its tolerance
    n_rows : nonzero rows of W
    """

    iteration: int
    seconds: float
    objective: float
    criterion: float  # what the solver compares with its tolerance
    n_rows: int


@dataclass(frozen=True, eq=False, repr=False)
class Solution(ByValue, ShownInNotebooks):
    """What a solver returns. Every number is about the returned W and intercept.

    ``violation`` is the certificate: the largest change that exact minimisation over a single row
    would still make, in units of the data, the others held and the constraint kept. It is None for
    margin losses, which have no such map. ``criterion`` is the number that the solver's own rule
    compared with ``tol``: the violation (block descent, proximal gradient, top-k), the relative
    change of the objective (IRLS) or of the coefficients (margin losses, SFS), how far the
    constraints are from holding (ALM); None where nothing was compared (one linear program).
    ``gap`` bounds the distance of the objective to the optimum and is None where nothing does.
    ``n_iter`` counts the steps of the history: iterations, or the starts of a top-k search; where a
    fit followed a path in alpha, ``n_iter`` and ``seconds`` are those of all its solves.
    ``n_passes`` counts how often X in blocks was read, by the whole fit; None for X in memory.

    Attributes
    ----------
    W, intercept : arrays (features x outputs) and (outputs,), of the standardised problem
    objective, lower_bound : what was minimised at W, and what no allowed W falls below
    violation, criterion, gap : as above
    tol, status, n_iter, seconds, history : how the run ended (one of ``Status``), its steps
    solver, start, starts : who solved it, from where, and the objective that each start reached
    proof : what is known about the optimum, in words
    gradient : of the loss at W (features x outputs), where known
    n_passes : as above

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import L2pSelector
    >>> solution = L2pSelector.mtfs(3).fit(X, y).solution_
    >>> solution.status, solution.rows.size, solution.violation < 1e-7
    ('converged', 3, True)
    """

    W: np.ndarray  # features x outputs
    intercept: np.ndarray  # outputs
    objective: float
    violation: float | None
    criterion: float | None
    gap: float | None
    tol: float
    status: str  # one of Status
    n_iter: int
    seconds: float
    history: tuple[Step, ...]
    solver: str
    start: str = "given"
    starts: dict[str, float] = field(default_factory=dict)  # objective reached from each start
    lower_bound: float | None = None  # no W allowed by the problem has a lower objective
    proof: str = ""  # what is known about the optimum, in words, and how
    gradient: np.ndarray | None = None  # of the loss at W (features x outputs), where known
    n_passes: int | None = None

    @property
    def n_best_starts(self) -> int:
        """How many starts reached the returned objective (to six digits)."""
        near = abs(self.objective) * 1e-6
        return sum(value <= self.objective + near for value in self.starts.values())

    @property
    def converged(self) -> bool:
        """Whether the run met its tolerance."""
        return self.status == Status.CONVERGED

    @property
    def advice(self) -> str:
        """One sentence that tells a user what would help."""
        met = self.criterion is not None and self.criterion <= self.tol
        if self.status == Status.STALLED and met and self.relative_gap is not None:
            return (
                f"By the duality gap the objective may still be {self.relative_gap:.2g} of itself "
                "above the optimum; lower the solver's tol, or take another solver."
            )
        return ADVICE[self.status]

    @property
    def rows(self) -> np.ndarray:
        """Indices of the nonzero rows of W."""
        return np.flatnonzero(nonzero_rows(self.W))

    @property
    def relative_gap(self) -> float | None:
        """The gap as a fraction of the objective."""
        if self.gap is None:
            return None
        return self.gap / abs(self.objective) if self.objective else self.gap

    def __repr__(self) -> str:
        return f"<Solution {self}>"

    def __str__(self) -> str:
        known = {"violation": self.violation, "gap": self.gap}
        facts = "".join(f", {k} {v:.2g}" for k, v in known.items() if v is not None)
        return (
            f"{self.status}: objective {self.objective:.8g}{facts}, "
            f"{self.rows.size} of {len(self.W)} rows, {self.n_iter} iterations, "
            f"{self.seconds:.3g} s ({self.solver}, start {self.start})"
        )

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write to a .npz file: arrays and one JSON text, no pickle; whole or not at all."""
        facts = _facts_of(self)
        archives.write(file, {"format": _format_of([facts]), **facts}, _arrays_of(self))

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> Solution:
        """Read what ``save`` wrote."""
        with archives.explained(file):
            facts, arrays = _read_npz(file)
            return _solution(facts, arrays)


@dataclass(frozen=True, eq=False, repr=False)
class Path(ByValue, ShownInNotebooks):
    """Solutions along a decreasing grid of alpha, or of p where ``powers`` names one for each.

    Their W and intercept are those of the problem that was solved, with the columns of X centred
    and scaled as the selector does it.

    Attributes
    ----------
    alphas, powers, ks : what falls or grows along the path; the last two are None where they do not
    solutions : a tuple of ``Solution``

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> from rowsparse import L2pSelector
    >>> from rowsparse.paths import selection_path
    >>> path = selection_path(L2pSelector(), X, y, ks=[2, 4])
    >>> [solution.rows.size for solution in path.solutions]
    [2, 4]
    """

    alphas: np.ndarray
    solutions: tuple[Solution, ...]
    powers: np.ndarray | None = None
    ks: np.ndarray | None = None  # the numbers of rows asked for, where they were

    def __repr__(self) -> str:
        """The ends of the path; the solutions have much to say for themselves."""
        if not self.solutions:
            return "<Path, empty>"
        values = {"k": self.ks, "p": self.powers, "alpha": self.alphas}
        name, along = next((n, v) for n, v in values.items() if v is not None)
        return (
            f"<Path of {len(self)} solutions, {name} from {along[0]:.3g} to {along[-1]:.3g}, "
            f"{self.n_rows[0]} to {self.n_rows[-1]} nonzero rows>"
        )

    def __len__(self) -> int:
        return len(self.solutions)

    def __getitem__(self, i: int) -> Solution:
        return self.solutions[i]

    @property
    def n_rows(self) -> np.ndarray:
        """Number of nonzero rows at every alpha."""
        return np.array([solution.rows.size for solution in self.solutions], dtype=int)

    @property
    def objectives(self) -> np.ndarray:
        """Objective at every alpha."""
        return np.array([solution.objective for solution in self.solutions])

    @property
    def entered(self) -> np.ndarray:
        """For every feature the largest alpha on the grid at which its row is nonzero, else NaN."""
        first = np.full(len(self.solutions[0].W), np.nan)
        for alpha, solution in zip(self.alphas[::-1], self.solutions[::-1], strict=True):
            first[solution.rows] = alpha
        return first

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write to a .npz file, as ``Solution.save`` does."""
        facts = [_facts_of(solution) for solution in self.solutions]
        given = {name: vars(self)[name] for name in _LINES}
        arrays = {name: values for name, values in given.items() if values is not None}
        for i, solution in enumerate(self.solutions):
            arrays |= _arrays_of(solution, f".{i}")
        archives.write(file, {"format": _format_of(facts), "solutions": facts}, arrays)

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> Path:
        """Read what ``save`` wrote."""
        with archives.explained(file):
            facts, arrays = _read_npz(file)
            parts = enumerate(facts["solutions"])
            solutions = tuple(_solution(part, arrays, f".{i}") for i, part in parts)
            given = {name: arrays[name] for name in _LINES if name in arrays}
            for name, values in given.items():
                if values.shape != (len(solutions),) or values.dtype.kind not in "if":
                    raise ValueError(f"{name} that is no array of {len(solutions)} numbers")
            return cls(solutions=solutions, **given)


def _facts_of(solution: Solution) -> dict[str, Any]:
    """All of it but the arrays."""
    facts = {k: v for k, v in vars(solution).items() if k not in _ARRAYS}
    facts["history"] = [asdict(step) for step in solution.history]
    if solution.n_passes is None:
        del facts["n_passes"]
    return facts


def _format_of(solutions: list[dict[str, Any]]) -> int:
    """The oldest that can hold these facts."""
    return COUNTS_PASSES if any("n_passes" in facts for facts in solutions) else FORMAT


def _arrays_of(solution: Solution, suffix: str = "") -> dict[str, np.ndarray]:
    arrays = {name + suffix: vars(solution)[name] for name in _ARRAYS}
    if solution.gradient is None:
        arrays["gradient" + suffix] = np.empty((0, 0))
    return arrays


def _solution(facts: Any, arrays: dict[str, np.ndarray], suffix: str = "") -> Solution:
    """The solution of these facts and arrays, once they have been found to be one's."""
    found: dict[str, Any] = {name: arrays[name + suffix] for name in _ARRAYS}
    shape = found["W"].shape
    if len(shape) != 2:
        raise ValueError(f"W of shape {shape}")
    if not found["gradient"].size:
        found["gradient"] = None
    for name, wanted in zip(_ARRAYS, (shape, shape[1:], shape), strict=True):
        array = found[name]
        if array is not None and (array.shape != wanted or array.dtype.kind != "f"):
            raise ValueError(f"{name} that is no array of floats of shape {wanted}")
    facts = dict(_checked(Solution, facts), **found)
    if facts["status"] not in ADVICE:
        raise ValueError(f"the unknown status {facts['status']!r}")
    facts["history"] = tuple(Step(**_checked(Step, step)) for step in facts["history"])
    return Solution(**facts)


def _checked(kind: type, facts: dict[str, Any]) -> dict[str, Any]:
    """The facts, if each is of the type that the dataclass says."""
    for one in fields(kind):
        if one.name in facts and type(facts[one.name]) not in _IN_JSON.get(one.type, (list,)):
            raise TypeError(f"{one.name} = {facts[one.name]!r:.40}")
    wrong = [value for value in facts.get("starts", {}).values() if type(value) is not float]
    if wrong:
        raise TypeError(f"starts with {wrong[0]!r:.40}")
    return facts


def _read_npz(file: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    with np.load(file, allow_pickle=False) as archive:
        ours = [name for name in archive.files if name.partition(".")[0] in _NAMES]
        arrays = {name: archive[name] for name in ours}
    facts = json.loads(str(arrays.pop("facts")))
    version = facts.pop("format", FORMAT)  # the first files had no such field
    if version not in (FORMAT, COUNTS_PASSES):
        raise ValueError(f"the format {version!r:.40} of another version of rowsparse")
    return facts, arrays
