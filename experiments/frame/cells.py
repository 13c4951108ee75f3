"""Finished cells as JSON lines: settings are the key, every line is written whole."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .origin import origin


def key_of(settings: dict[str, Any]) -> str:
    """The same text for the same settings, whatever their order."""
    return json.dumps(settings, sort_keys=True)


class CellFile:
    """What has been measured so far, in the order of a file that only grows.

    A line is written by one call, so a process that is killed leaves at most one line in part,
    which the next one reads over. Of two cells with the same settings the later counts.
    """

    def __init__(self, path: Path):
        self.path = path
        self.cells: dict[str, dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                cell = _parsed(line)
                if cell is not None:
                    self.cells[key_of(cell["settings"])] = cell

    def __contains__(self, settings: dict[str, Any]) -> bool:
        return key_of(settings) in self.cells

    def add(self, settings: dict[str, Any], found: dict[str, Any], cpu_seconds: float) -> None:
        """Save one cell, with where and when it was measured."""
        seconds = round(cpu_seconds, 3)
        cell = {"settings": settings, "found": found, "cpu": seconds, "origin": origin()}
        line = json.dumps(cell) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._ends_in_part():
            line = "\n" + line
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)
        self.cells[key_of(settings)] = cell

    def _ends_in_part(self) -> bool:
        if not self.path.exists() or self.path.stat().st_size == 0:
            return False
        with self.path.open("rb") as stream:
            stream.seek(-1, os.SEEK_END)
            return stream.read(1) != b"\n"

    def where(self, **settings: Any) -> list[dict[str, Any]]:
        """The cells whose settings have these values, each as settings and findings in one."""
        found = []
        for cell in self.cells.values():
            own = cell["settings"]
            if all(own.get(name) == value for name, value in settings.items()):
                found.append({**own, **cell["found"], "cpu": cell["cpu"]})
        return found

    def origins(self) -> list[dict[str, Any]]:
        """Where the cells come from, as often as there are cells."""
        return [cell["origin"] for cell in self.cells.values()]


def _parsed(line: str) -> dict[str, Any] | None:
    """The cell of a line; None for a part of one."""
    try:
        cell = json.loads(line)
    except json.JSONDecodeError:
        return None
    whole = isinstance(cell, dict) and {"settings", "found", "cpu", "origin"} <= cell.keys()
    return cell if whole else None
