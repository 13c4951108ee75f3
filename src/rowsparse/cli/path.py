"""rowsparse path: which features enter, in which order, as the penalty falls or k grows."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Annotated, Any

import numpy as np
from typer import Option

from rowsparse.cli.engine import Engine, EngineOptions, in_blocks
from rowsparse.cli.fit import FitOfSteps
from rowsparse.cli.methods import build_selector, known_method
from rowsparse.cli.opening import at_most, grouped, opened
from rowsparse.cli.options import DataOptions, Method, OutputOptions, ProblemOptions, Seed
from rowsparse.cli.select import complete
from rowsparse.cli.terminal import (
    finite,
    plain_table,
    print_json,
    said_plainly,
    terminal,
    warnings_as_notes,
    working,
)
from rowsparse.datasets import Dataset
from rowsparse.paths import selection_path
from rowsparse.results import Path
from rowsparse.selectors import GroupedSelector
from rowsparse.selectors.grouped import features_of

MOST_NAMES = 4  # that a line of the table still holds


def path(
    data: DataOptions,
    problem: ProblemOptions,
    output: OutputOptions,
    engine: EngineOptions,
    k: Annotated[
        str | None, Option("-k", metavar="K,K,…", help="At these numbers of features, not alphas.")
    ] = None,
    n_alphas: Annotated[int, Option(help="How many alphas.", min=1)] = 20,
    smallest: Annotated[
        float, Option(help="The last alpha, as a share of the first, at which all is zero.")
    ] = 0.01,
    method: Method = "l2p",
    seed: Seed = None,
) -> None:
    """Follow the solutions along falling alpha, or along numbers of features.

    Prints for every step how many features there are, how well they fit the data itself (not new
    data: that is what tune is for), and which came in.
    """
    with said_plainly(), closing(Engine(engine)) as reader:
        known = known_method("--method", method)
        if "alpha" not in known.options and method != "topk":
            raise ValueError(
                f"--method: expected a method that has a path, got {method!r}; "
                f"such are l2p, lpinf and topk."
            )
        selector = build_selector(method, problem.given(seed=seed))
        ks = None if k is None else whole_numbers(k)
        dataset = opened(data, output, {method: selector}, reader=reader)
        with (
            warnings_as_notes([*dataset.notes]) as notes,
            working(f"Following a path through {dataset.n_features} features"),
        ):
            # a number, so that nothing is said of a default: the path has its own
            complete(selector, method, 1, problem.task, dataset)
            if known.default_k is not None and ks is None:
                ks = [n for n in (1, 2, 5, 10, 20, 50) if n <= dataset.n_features]
            # one path of columns would take the words of a category one by one
            if ks is not None and grouped(selector, dataset) is not selector:
                followed = _along_features(selector, dataset, ks)
            else:
                followed = selection_path(
                    selector, dataset.X, dataset.y, ks=ks, n_alphas=n_alphas,
                    alpha_min_ratio=smallest,
                )  # fmt: skip
        steps = _steps(dataset, selector, followed)
        if output.as_json:
            print_json({"dataset": dataset.name, "method": method, "steps": steps, "notes": notes})
        else:
            _show(steps)
        # names of columns may hold commas, which end a cell
        rows = [[*list(step.values())[:-1], "; ".join(step["entered"])] for step in steps]
        output.write_table(list(steps[0]), rows, f"{len(steps)} steps")
        output.write_report(followed, dataset)


def whole_numbers(text: str) -> list[int]:
    """What ``-k`` was given as ``5,10,20``, each once, ascending."""
    try:
        numbers = sorted({int(part) for part in text.split(",")})
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < 1:
        raise ValueError(
            "-k: expected whole numbers above 0 with commas between them, such as 5,10,20, "
            f"got {text!r}."
        )
    return numbers


def _along_features(selector: Any, dataset: Dataset, ks: Sequence[int]) -> Path:
    """One fit per number of features: the columns of a category are one."""
    fits = []
    for k in at_most(dataset, ks):
        fits.append(GroupedSelector(selector, dataset.groups, k).fit(dataset.X, dataset.y))
    alphas = [vars(fit.selector_).get("alpha_", np.nan) for fit in fits]
    solutions = tuple(fit.solution_ for fit in fits)
    return Path(np.array(alphas), solutions, ks=np.array([fit.n_selected_ for fit in fits]))


def _steps(dataset: Dataset, selector: Any, followed: Path) -> list[dict[str, Any]]:
    """One record per solution; the fit is that to the data it was made from."""
    # how well steps fit would take more passes over X in blocks than the path itself
    fit = None if in_blocks(dataset) else FitOfSteps(dataset, selector)
    features = features_of(grouped(selector, dataset), dataset.n_features, dataset.feature_names)
    seen: set[int] = set()
    steps = []
    for alpha, solution in zip(followed.alphas, followed.solutions, strict=True):
        rows = features.touched(solution.rows).tolist()
        steps.append(
            {
                "alpha": finite(alpha),
                "features": len(rows),
                "objective": finite(solution.objective),
                **({} if fit is None else {fit.name: finite(fit.of(solution))}),
                "entered": [features.names[j] for j in rows if j not in seen],
            }
        )
        seen.update(rows)
    return steps


def _show(steps: Sequence[dict[str, Any]]) -> None:
    rows = []
    for step in steps:
        *numbers, entered = step.values()
        more = len(entered) - MOST_NAMES
        names = ", ".join(entered[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
        rows.append([*("" if n is None else f"{n:.4g}" for n in numbers), names])
    terminal().print(plain_table(list(steps[0]), rows, words=("entered",)))
