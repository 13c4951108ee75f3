"""Archives of results: facts as JSON beside arrays, whole or not there, read without pickle."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


def write(file: str | os.PathLike[str], facts: dict[str, Any], arrays: dict[str, Any]) -> None:
    """An archive under a name of its own until it is whole: what was there stays until then."""
    target = Path(file)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        with open(unfinished, "xb") as stream:
            np.savez_compressed(stream, facts=json.dumps(facts), **arrays)
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


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
