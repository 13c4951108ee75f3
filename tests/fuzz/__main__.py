"""``python -m tests.fuzz attack|replay|work``: see CONTRIBUTING.md."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from . import driver, interrupts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    attack = commands.add_parser("attack", help="random fits; failures as JSON lines")
    attack.add_argument("--seed", type=int, default=0)
    attack.add_argument("--seconds", type=float, default=60.0)
    attack.add_argument("--jobs", type=int, default=1, help="worker processes")
    attack.add_argument("--most", type=int, default=10**9, help="recipes")
    attack.add_argument("--only", default="", help="one estimator")
    attack.add_argument("--summary", type=Path, help="counts by seed; a later run goes on there")
    attack.add_argument("--out", type=Path, default=Path("fuzz-failures.jsonl"))
    replay = commands.add_parser("replay", help="the failures of a file once more")
    replay.add_argument("file", type=Path)
    replay.add_argument("lines", type=int, nargs="*", help="which (from 1); default all")
    interrupting = commands.add_parser("interrupts", help="SIGINT at random moments of fits")
    interrupting.add_argument("--rounds", type=int, default=10, help="interrupts for each model")
    interrupting.add_argument("--seed", type=int, default=0)
    interrupting.add_argument("--models", nargs="*", default=list(interrupts.MODELS))
    interrupted = commands.add_parser("interrupted", help="what is then interrupted")
    interrupted.add_argument("rounds", type=int)
    interrupted.add_argument("models", nargs="+")
    commands.add_parser("work", help="what a worker process runs")
    given = parser.parse_args()
    if given.command == "work":
        driver.work()
        return 0
    if given.command == "interrupted":
        interrupts.work(given.models, given.rounds)
        return 0
    if given.command == "interrupts":
        return _interrupt(given.models, given.rounds, given.seed)
    if given.command == "replay":
        return _replay(given.file, given.lines)
    with open(given.out, "a") as out:
        tally = driver.attack(
            given.seed, given.seconds, given.most, out, given.only,
            driver.Summary(given.summary), given.jobs,
        )  # fmt: skip
    print(tally)
    for refusal, count in tally.refusals.most_common():
        print(f"{count:6d}  refused: {refusal}")
    return 1 if tally.kinds else 0


def _interrupt(models: list[str], rounds: int, seed: int) -> int:
    found = interrupts.attack(models, rounds, seed)
    for what, count in found.most_common():
        print(f"{count:6d}  {what}")
    return 1 if interrupts.failures(found) else 0


def _replay(file: Path, lines: list[int]) -> int:
    worker = driver.Worker()
    still = 0
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if lines and number not in lines:
            continue
        answer = worker.carried_out(json.loads(line)["recipe"])
        still += bool(answer["findings"])
        print(number, answer["status"], *answer["findings"][:3])
    worker.close()
    return 1 if still else 0


sys.exit(main())
