"""results.jsonl: one line per measured fit, replaced group by group."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path


def identity(record):
    return tuple(record[key] for key in ("group", "setting", "case", "contestant"))


def load(path: Path) -> list[dict]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


def save(path: Path, records: list[dict]):
    """Whole or not at all."""
    unfinished = path.with_suffix(".part")
    unfinished.write_text("".join(json.dumps(record) + "\n" for record in records))
    os.replace(unfinished, path)


def merged(old, new, *, whole_group: bool):
    """Old records without those that the new ones replace, then the new ones.

    whole_group: a complete run of a group in a setting replaces all that was known of it;
    otherwise only the same contestant on the same case is replaced.
    """
    key = (lambda r: (r["group"], r["setting"])) if whole_group else identity
    replaced = {key(record) for record in new}
    return [record for record in old if key(record) not in replaced] + new


def machine() -> dict:
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
    }


def _processor():
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"


def _memory_gb():
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (ValueError, OSError):
        return None
