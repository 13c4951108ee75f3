"""A folder that holds the finished parts of a long computation, one file each."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .saving import VERSION, plain, read_json, write_json

MANIFEST = "manifest.json"
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # of functions, other ones in every process


class CellStore:
    """Files written whole under a temporary name and then renamed: a process that is killed
    leaves a part finished or not there."""

    def __init__(self, folder: Any, fingerprint: str, what: str):
        self.home = Path(folder)
        self.cells = self.home / "cells"
        self.cells.mkdir(parents=True, exist_ok=True)
        for part in [*self.cells.glob(".*.part"), *self.home.glob(".*.part")]:
            if not _alive(part):  # left by a process that was killed
                part.unlink(missing_ok=True)
        manifest = self.home / MANIFEST
        # data, settings and seed in one mark: parts of two computations would mix unseen
        mine = {"version": VERSION, "fingerprint": fingerprint}
        if manifest.exists() and read_json(manifest) != mine:
            raise ValueError(
                f"Expected store to be a new folder or one of the same {what}, got "
                f"{str(folder)!r}, which holds another one (other data, settings or seed); "
                "choose another folder."
            )
        write_json(manifest, mine)

    def write(self, key: str, cells: list[dict[str, Any]]) -> None:
        """Save the cells of one part, which are in the words of JSON."""
        facts = {"key": key, "cells": cells}
        whole = {**facts, "check": _digest(plain(facts))}
        write_json(self.cells / f"{file_name(key)}.json", whole)

    def read(self) -> dict[str, list[dict[str, Any]]]:
        """The cells of every finished part."""
        found = {}
        for file in sorted(self.cells.glob("*.json")):
            facts = read_json(file)
            if facts.pop("check", None) != _digest(facts):
                raise ValueError(
                    f"Expected a part of a computation as it was written, got {str(file)!r}, which "
                    "has changed since; delete it, and this part is computed again."
                )
            found[facts["key"]] = facts["cells"]
        return found


class Fingerprint:
    """Of all that a computation depends on: what is stored belongs to one fingerprint alone."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def add_table(self, X: Any, y: np.ndarray) -> None:
        """The values of a table and its target."""
        # the three arrays say all that a sparse matrix holds
        parts = [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]
        for part in [*parts, y]:
            values = np.ascontiguousarray(part)
            # an array of objects holds addresses, other ones in every process
            by_value = values.dtype == object
            self.digest.update(repr(values.tolist()).encode() if by_value else values.data)
        self.add_words([X.shape])

    def add_words(self, words: Iterable[object]) -> None:
        """Names, settings and estimators, by what they show of themselves."""
        for word in words:
            self.digest.update(f"{ADDRESS.sub('', repr(word))};".encode())

    def add_rows(self, rows: np.ndarray) -> None:
        """Which samples a part rests on."""
        self.digest.update(rows.tobytes())

    def text(self) -> str:
        """Of everything that was added so far."""
        return self.digest.hexdigest()


def _digest(facts: Any) -> str:
    """Of values as JSON gives them back: a number with one bit changed is a number as well."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def file_name(key: str) -> str:
    """A name that every file system takes, different for different keys."""
    # methods are named by the user, and a slash in a name would be a folder
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_") else f"%{ord(c):x}" for c in key)


def _alive(part: Path) -> bool:
    """Whether the process that writes this temporary file still runs."""
    try:
        process = int(part.name.rsplit(".", 2)[1])
        os.kill(process, 0)
    except (ValueError, IndexError, ProcessLookupError):
        return False
    # it runs and belongs to somebody else
    except OSError:
        return True
    # this process has only begun: a file under its number is of an earlier one
    return process != os.getpid()
