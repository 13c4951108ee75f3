"""CPU seconds of processes, from /proc."""

from __future__ import annotations

import os
from pathlib import Path


def children_seconds(pid) -> float:
    """User and system time of all living descendants of a process ("self" or a number)."""
    total = 0.0
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in children.read_text().split():
            total += own_seconds(child) + children_seconds(child)
    return total


def own_seconds(pid) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
