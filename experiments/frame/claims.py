"""What a paper claims, and whether it was seen here: lines of the README's last table."""

from __future__ import annotations

import json
from collections.abc import Sequence
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


def claims_table(claims: Sequence[Claim]) -> str:
    rows = [(one.paper, one.claim, one.verdict, one.evidence) for one in claims]
    return markdown_table(("paper", "claim", "reproduced", "what was seen"), rows)
