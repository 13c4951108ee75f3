"""Results as folders: ``result.json`` for words, one .npz for arrays; no pickle, whole or not."""

from __future__ import annotations

import hashlib
import json
import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from ..archives import whole

VERSION = 1
FACTS = "result.json"


def save_result(
    folder: str | os.PathLike[str], kind: str, facts: Any, arrays: dict[str, np.ndarray]
) -> None:
    """Write a result; whoever reads meanwhile sees the old one or the new one."""
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    # named by what is in it: who reads between the two writes below finds the pair that belongs
    archive = home / f"arrays-{digest.hexdigest()[:16]}.npz"
    members: dict[str, Any] = dict(arrays)
    with whole(archive) as stream:
        np.savez_compressed(stream, **members)
    result = {"kind": kind, "version": VERSION, "arrays": archive.name, "facts": facts}
    write_json(home / FACTS, result)
    for other in home.glob("arrays-*.npz"):  # of a result that was replaced
        if other != archive:
            other.unlink(missing_ok=True)


def load_result(folder: str | os.PathLike[str], kind: str) -> tuple[Any, dict[str, np.ndarray]]:
    """What ``save_result`` wrote for a result of this kind."""
    result = read_json(Path(folder) / FACTS)
    if result.get("kind") != kind:
        raise ValueError(f"Expected a saved {kind}, got {result.get('kind')!r} in {str(folder)!r}.")
    if result.get("version") != VERSION:
        raise ValueError(
            f"Expected a result of version {VERSION}, got {result.get('version')!r} in "
            f"{str(folder)!r}; load it with the version of rowsparse that saved it."
        )
    # its name alone: a folder that was tampered with must not lead elsewhere
    archive = Path(folder) / Path(str(result["arrays"])).name
    try:
        with np.load(archive, allow_pickle=False) as arrays:
            return result["facts"], {name: arrays[name] for name in arrays.files}
    except Exception as error:  # zipfile's and zlib's of a damaged archive, too
        raise ValueError(
            f"Expected a result saved by rowsparse, got {str(folder)!r}, whose arrays cannot be "
            f"read ({error}); save it again."
        ) from error


def kind_of(folder: str | os.PathLike[str]) -> str:
    """What kind of result a folder holds."""
    return str(read_json(Path(folder) / FACTS).get("kind"))


def write_json(file: Path, value: Any) -> None:
    """Whole or not at all; numbers that are not finite become null."""
    text = json.dumps(plain(value), allow_nan=False)
    with whole(file) as stream:
        stream.write(text.encode())


def read_json(file: Path) -> dict[str, Any]:
    """A JSON object from a file."""
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(
            f"Expected a result saved by rowsparse, got {str(file.parent)!r}, which has no "
            f"{file.name}."
        ) from None
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"Expected a result saved by rowsparse, got {str(file)!r}, which cannot be read "
            f"({error}); save it again."
        ) from error
    if not isinstance(value, dict):
        raise ValueError(f"Expected a result saved by rowsparse, got {str(file)!r}.")
    return value


def plain(value: Any) -> Any:
    """A value in the words of JSON."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int | bool):
        return value
    # a function, or an estimator among the parameters: a name is enough to read
    return repr(value)


def number(value: float | None) -> float:
    """A number from JSON, where null is NaN."""
    return float("nan") if value is None else float(value)


def pack(lists: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Lists of whole numbers of different lengths as two arrays."""
    sizes = np.array([len(one) for one in lists], dtype=np.int64)
    flat = np.concatenate([np.asarray(one, dtype=np.int64) for one in lists] or [sizes])
    return {"sizes": sizes, "flat": flat if sizes.size else np.zeros(0, dtype=np.int64)}


def unpack(arrays: dict[str, np.ndarray]) -> list[np.ndarray]:
    """What ``pack`` packed."""
    return np.split(arrays["flat"], np.cumsum(arrays["sizes"])[:-1]) if arrays["sizes"].size else []
