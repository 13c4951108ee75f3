"""The command line of every study: cells first, then the page from the cells."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cells import CellFile, key_of
from .claims import Claim, claims_table, write_claims
from .pages import paragraphs, provenance

HOME = Path(__file__).parents[1]
QUICK = HOME / "quick"  # not committed


@dataclass(frozen=True)
class Options:
    """What a plan may depend on. ``splits`` None is the study's own number."""

    quick: bool
    splits: int | None = None


@dataclass(frozen=True)
class Task:
    """One cell: settings that name it and the function that measures it."""

    settings: dict[str, Any]
    measure: Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Study:
    """A paper: what to measure, most important first; the page and the claims from its cells.

    ``page`` is told the folder it goes to, where it may save figures too.
    """

    name: str
    plan: Callable[[Options], Iterable[Task]]
    page: Callable[[CellFile, Path], str]
    claims: Callable[[CellFile], Sequence[Claim]]


def main(study: Study, arguments: Sequence[str] | None = None) -> int:
    """Run a study; 1 if some cell failed."""
    given = _parser(study).parse_args(arguments)
    out = given.out or (QUICK if given.quick else HOME)
    cells = CellFile(out / "cells" / f"{study.name}.jsonl")
    failed = 0
    if not given.page:
        failed = _measure(study, Options(given.quick, given.splits), cells, given.only)
    (out / f"{study.name}.md").write_text(whole_page(study, cells, out, given.quick))
    write_claims(out / "claims" / f"{study.name}.jsonl", study.claims(cells))
    _say(f"{study.name}: wrote {out / study.name}.md")
    return 1 if failed else 0


def whole_page(study: Study, cells: CellFile, folder: Path, quick: bool = False) -> str:
    """The study's page with what all have: before its first section how much of the plan is
    measured and where, and the paper's claims."""
    head, mark, sections = study.page(cells, folder).partition("\n## ")
    title, _, introduction = head.partition("\n")
    return paragraphs(
        title,
        f"{_standing(study, cells, quick)} {provenance(cells)}",
        introduction,
        "## What the paper claims, and what was seen",
        claims_table(study.claims(cells), names=False),
        mark + sections,
    )


def _standing(study: Study, cells: CellFile, quick: bool) -> str:
    plan = list(study.plan(Options(quick)))
    missing = [task.settings for task in plan if task.settings not in cells]
    command = f"`python -m experiments.{study.name} {'--quick' if quick else '--full'}`"
    if not missing:
        return f"All {len(plan)} cells of {command} are measured."
    names = Counter(f"{one.get('part', '')} {one.get('data', '')}".strip() for one in missing)
    listed = ", ".join(f"{name} ({count})" for name, count in names.items())
    return f"**{len(missing)} of {len(plan)} cells of {command} are missing**: {listed}."


def _parser(study: Study) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{study.name}")
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--quick", action="store_true", help="a small plan, into experiments/quick")
    size.add_argument("--full", action="store_true", help="the plan of the page; goes on")
    size.add_argument("--page", action="store_true", help="page and figures from saved cells")
    parser.add_argument("--splits", type=int, help="so many splits instead of the study's own")
    parser.add_argument("--only", help="cells whose settings contain this text")
    parser.add_argument("--out", type=Path, help="another folder for cells, figures and page")
    return parser


def _measure(study: Study, options: Options, cells: CellFile, only: str | None) -> int:
    """Measure what is missing; Ctrl-C ends it, and what is finished stays."""
    tasks = [task for task in study.plan(options) if not only or only in key_of(task.settings)]
    missing = [task for task in tasks if task.settings not in cells]
    _say(f"{study.name}: {len(tasks)} cells, {len(missing)} to measure")
    failed = 0
    try:
        for i, task in enumerate(missing, start=1):
            began = time.process_time()
            reason = _one(task, cells)
            failed += bool(reason)
            seconds = time.process_time() - began
            text = " ".join(map(str, task.settings.values()))
            _say(f"{study.name}: {i} of {len(missing)}, {seconds:.1f} CPU s, {text}{reason}")
    except KeyboardInterrupt:
        _say(f"{study.name}: interrupted; the same command goes on from here")
    return failed


def _one(task: Task, cells: CellFile) -> str:
    """Empty, or why there is no cell: one failure must not end the others."""
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = task.measure()
    except Exception as error:
        return f": FAILED, {type(error).__name__}: {error}"
    cells.add(task.settings, found, time.process_time() - began)
    return ""


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
