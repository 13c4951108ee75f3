"""What a paper claims, and whether it was seen here: lines of the README's last table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from .pages import markdown_table


@dataclass(frozen=True)
class Claim:
    """``verdict`` is "yes", "no", "in part" or "not tested"; ``evidence`` has the numbers."""

    paper: str
    claim: str
    verdict: str
    evidence: str


def verdict(held: int, asked: int) -> str:
    """One rule for all claims that are counted: three quarters are a yes, a quarter is a no."""
    if asked == 0:
        return "not tested"
    share = held / asked
    if share >= 0.75:
        return "yes"
    return "no" if share <= 0.25 else "in part"


def counted(paper: str, claim: str, gains: Mapping[str, Sequence[float]]) -> Claim:
    """From mean differences in points, by data set, that the claim says are positive."""
    every = [gain for own in gains.values() for gain in own]
    higher, lower = sum(gain > 0 for gain in every), sum(gain < 0 for gain in every)
    by_set = [f"{name} {sum(own) / len(own):+.1f}" for name, own in gains.items() if own]
    text = (
        f"higher in {higher}, lower in {lower}, equal in {len(every) - higher - lower} of "
        f"{len(every)} comparisons; mean difference in points: {', '.join(by_set)}"
    )
    return Claim(paper, claim, verdict(higher, higher + lower), text if every else "")


def write_claims(path: Path, claims: Sequence[Claim]) -> None:
    """One line each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(asdict(claim), ensure_ascii=False) for claim in claims]
    path.write_text("".join(line + "\n" for line in lines))


def read_claims(folder: Path) -> list[Claim]:
    """Those of every paper, by file name."""
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        found += [Claim(**json.loads(line)) for line in path.read_text().splitlines()]
    return found


def claims_table(claims: Sequence[Claim], names: bool = True) -> str:
    """With or without the names of the papers."""
    rows = [(one.paper, one.claim, one.verdict, one.evidence) for one in claims]
    head = ("paper", "claim", "reproduced", "what was seen")
    first = 0 if names else 1
    return markdown_table(head[first:], [row[first:] for row in rows])
