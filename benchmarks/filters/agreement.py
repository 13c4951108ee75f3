"""Whether ours, in a rival's definition, gives that rival's answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from contestants import CONTESTANTS

ANSWERS = Path(__file__).parent / ".answers"  # one array per contestant and case; not committed


def answer_file(case: str, name: str) -> Path:
    ANSWERS.mkdir(exist_ok=True)
    return ANSWERS / f"{case}-{name}.npy"


def with_agreement(record: dict) -> dict:
    """The record with a sentence about its answer, if both answers are at hand."""
    rival = CONTESTANTS[record["contestant"]].same_as
    files = [answer_file(record["case"], name) for name in (record["contestant"], rival)]
    if not rival or not all(file.exists() for file in files):
        return record
    a, b = map(np.load, files)
    return record | {"agreement": _sentence(a, b, CONTESTANTS[record["contestant"]].group, rival)}


def _sentence(a: np.ndarray, b: np.ndarray, group: str, rival: str) -> str:
    if group == "rfe":
        return f"{np.intersect1d(a, b).size} of {a.size} features as {rival}"
    if a.dtype.kind == "i":
        same = int(np.argmin(np.append(a == b, False)))
        return f"same {same} of {a.size} picks in order as {rival}"
    if rival == "skfeature":  # it does not divide by the number of samples
        b = b * (np.linalg.norm(a) / np.linalg.norm(b))
    apart = np.max(np.abs(a - b)) / np.max(np.abs(b))
    return f"{apart:.0e} from {rival}'s (relative to the largest)"
