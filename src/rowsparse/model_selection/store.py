"""A folder that holds the finished paths of a comparison, one file each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .comparison import Cell
from .saving import VERSION, read_json, write_json

MANIFEST = "manifest.json"


class CellStore:
    """Files written whole under a temporary name and then renamed: a process that is killed
    leaves a path finished or not there."""

    def __init__(self, folder: Any, fingerprint: str):
        self.home = Path(folder)
        self.cells = self.home / "cells"
        self.cells.mkdir(parents=True, exist_ok=True)
        for part in [*self.cells.glob(".*.part"), *self.home.glob(".*.part")]:
            if not _alive(part):  # left by a process that was killed
                part.unlink(missing_ok=True)
        manifest = self.home / MANIFEST
        mine = {"version": VERSION, "fingerprint": fingerprint}
        if manifest.exists() and read_json(manifest) != mine:
            raise ValueError(
                f"Expected store to be a new folder or one of the same comparison, got "
                f"{str(folder)!r}, which holds another one (other data, methods, ks or folds); "
                "choose another folder."
            )
        write_json(manifest, mine)

    def write(self, key: str, cells: list[Cell]) -> None:
        """Save the cells of one path."""
        facts = {"key": key, "cells": [cell.facts() for cell in cells]}
        write_json(self.cells / f"{file_name(key)}.json", facts)

    def read(self) -> dict[str, list[Cell]]:
        """The cells of every finished path."""
        found = {}
        for file in sorted(self.cells.glob("*.json")):
            facts = read_json(file)
            found[facts["key"]] = [Cell.of_facts(cell) for cell in facts["cells"]]
        return found


def file_name(key: str) -> str:
    """A name that every file system takes, different for different keys."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_") else f"%{ord(c):x}" for c in key)


def _alive(part: Path) -> bool:
    """Whether the process that writes this temporary file still runs."""
    try:
        process = int(part.name.rsplit(".", 2)[1])
        os.kill(process, 0)
    except (ValueError, IndexError, ProcessLookupError):
        return False
    except OSError:
        return True
    return process != os.getpid()
