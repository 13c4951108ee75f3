"""What is known about how well a problem was solved, in words that claim no more than it."""

from __future__ import annotations

from ..results import Solution
from .words import count, number, percent

MEANINGLESS = 0.999  # a relative gap from which the bound says no more than "not negative"


def proof_of(solution: Solution) -> tuple[tuple[str, str], ...]:
    """Lines of a table: what was asked, and what is known."""
    ended = solution.status if solution.converged else f"{solution.status}. {solution.advice}"
    lines = [("How the run ended", ended)]
    lines.append(("Objective", number(solution.objective, 8)))
    if solution.violation is not None:
        lines.append(("Certificate", _certificate(solution)))
    if solution.lower_bound:
        bound = number(solution.lower_bound, 8)
        lines.append(("Lower bound", f"{bound}: nothing that the problem allows is lower."))
    if solution.gap is not None:
        lines.append(("Gap", _gap(solution)))
    if solution.proof:
        lines.append(("Proof", solution.proof))
    if len(solution.starts) > 1:
        reached = f"{solution.n_best_starts} of {len(solution.starts)} reached this objective."
        lines.append(("Starts", reached))
    work = f"{count(solution.n_iter, 'iteration')}, {number(solution.seconds)} s, {solution.solver}"
    lines.append(("Work", work))
    return tuple(lines)


def _certificate(solution: Solution) -> str:
    value = number(solution.violation)
    if solution.violation == 0:
        return "violation 0: solving again for any single row changes nothing."
    return (
        f"violation {value} (tolerance {number(solution.tol)}): solving again for any single row, "
        "the others held, would change it by no more than this, in units of the data."
    )


def _gap(solution: Solution) -> str:
    relative = solution.relative_gap
    if relative is None or relative > MEANINGLESS:
        return f"{number(solution.gap)}: the bound says little here."
    return (
        f"{number(solution.gap)}: the objective is at most {percent(relative)} above the optimum."
    )


def verdict(solution: Solution) -> tuple[str, str]:
    """The shortest true words: a figure and what it is."""
    if not solution.converged:
        return solution.status, "the run did not converge"
    relative = solution.relative_gap
    closed = relative is not None and relative < 1e-6  # as branch and bound counts it
    if closed or solution.proof.startswith("proved optimal"):
        return "optimal", "proved: no selection has a lower objective"
    # a bound of half the objective and less is no news
    if relative is not None and relative < 0.5:
        return f"≤ {percent(relative)}", "above the optimum, proved"
    if solution.violation is not None:
        return "converged", "no single row can be improved"
    return "converged", "to the solver's tolerance"
