"""Resident memory of this process. Peaks can be reset on Linux; elsewhere they only grow."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def reset_peak() -> int:
    """Forget earlier peaks where the system allows it; bytes resident now."""
    try:
        CLEAR.write_text("5")
    except OSError:
        return peak_bytes()
    return _kilobytes("VmRSS") * 1024


def peak_bytes() -> int:
    if STATUS.exists():
        return _kilobytes("VmHWM") * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _kilobytes(field: str) -> int:
    for line in STATUS.read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    raise OSError(f"{field} is not in {STATUS}")
