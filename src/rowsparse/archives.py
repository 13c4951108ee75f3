"""Files whole or not there, and archives of results: facts as JSON beside arrays, no pickle."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np


@contextmanager
def whole(file: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """What is written here has another name until the block has ended: what was there stays until
    then, and whoever reads sees the old file or the new one."""
    target = Path(file)
    # of this thread alone: two that save at once do not write into one file; the process last, by
    # which what a killed one has left is told from what another is writing
    unfinished = target.with_name(f".{target.name}.{threading.get_ident()}.{os.getpid()}.part")
    try:
        with open(unfinished, "xb") as stream:
            yield stream
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def write(file: str | os.PathLike[str], facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    """An archive of facts and arrays."""
    with whole(file) as stream:
        np.savez_compressed(stream, facts=json.dumps(facts), **arrays)


@contextmanager
def explained(file: str | os.PathLike[str]) -> Iterator[None]:
    """Whatever is wrong with a file that is there is said in one sentence: what is read may have
    come from anywhere, and each library has its own errors for what it does not expect."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(
            f"Expected a result saved by rowsparse, got {str(file)!r}, which cannot be read "
            f"({what:.200}); save it again."
        ) from error
