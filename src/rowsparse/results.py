"""Results are values: plain data about the point that was returned, saved without pickle."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import asdict, dataclass, field
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from .numerics.rows import nonzero_rows
from .values import ByValue, ShownInNotebooks


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


@dataclass(frozen=True)
class Step:
    """One line of a history."""

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
        facts = {k: v for k, v in vars(self).items() if k not in ("W", "intercept", "gradient")}
        facts["history"] = [asdict(step) for step in self.history]
        arrays = {"W": self.W, "intercept": self.intercept}
        arrays["gradient"] = np.empty((0, 0)) if self.gradient is None else self.gradient
        _write_npz(file, facts=json.dumps(facts), **arrays)

    @classmethod
    def load(cls, file: str | os.PathLike[str]) -> Solution:
        """Read what ``save`` wrote."""
        arrays = _read_npz(file, ("facts", "W", "intercept", "gradient"))
        gradient = arrays["gradient"] if arrays["gradient"].size else None
        try:
            facts = json.loads(str(arrays["facts"]))
            if facts["status"] not in ADVICE:
                raise ValueError(f"unknown status {facts['status']!r}")
            facts["history"] = tuple(Step(**step) for step in facts["history"])
            return cls(arrays["W"], arrays["intercept"], **facts, gradient=gradient)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"Expected a result saved by rowsparse, got {str(file)!r}, whose facts cannot be "
                f"understood ({type(error).__name__}); save it again."
            ) from error


@dataclass(frozen=True, eq=False, repr=False)
class Path(ByValue, ShownInNotebooks):
    """Solutions along a decreasing grid of alpha, or of p where ``powers`` names one for each.

    Their W and intercept are those of the problem that was solved, with the columns of X centred
    and scaled as the selector does it.
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


def _write_npz(file: str | os.PathLike[str], **arrays: Any) -> None:
    target = FilePath(file)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        with open(unfinished, "xb") as stream:
            np.savez_compressed(stream, **arrays)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def _read_npz(file: str | os.PathLike[str], names: tuple[str, ...]) -> dict[str, np.ndarray]:
    problem = f"Expected a result saved by rowsparse, got {str(file)!r}, which"
    try:
        with np.load(file, allow_pickle=False) as archive:
            missing = [name for name in names if name not in archive.files]
            if missing:
                raise ValueError(f"{problem} lacks {', '.join(missing)}; save it again.")
            return {name: archive[name] for name in names}
    except (OSError, EOFError, ValueError) as error:
        if isinstance(error, FileNotFoundError) or str(error).startswith("Expected"):
            raise
        raise ValueError(f"{problem} cannot be read ({error}); save it again.") from error
    except Exception as error:  # zipfile.BadZipFile and zlib errors of a truncated archive
        raise ValueError(f"{problem} is damaged ({error}); save it again.") from error
