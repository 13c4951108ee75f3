"""Files of NumPy and packed files, read with nothing taken on trust."""

from __future__ import annotations

import gzip
import io
import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from rowsparse.stores.npy import read_header
from rowsparse.stores.safety import DatasetError, check_expansion, reading

CHUNK = 2**20


def read_npy(path: Path | str, stream: IO[bytes], n_bytes: int) -> np.ndarray:
    """The array of an npy file of ``n_bytes``, which its shape has to account for exactly."""
    # checked against the size of the file before so much memory is asked for
    shape, by_columns, dtype = read_header(path, stream, n_bytes)
    array = np.empty(math.prod(shape), dtype)
    room = array.view(np.uint8)
    filled = 0
    while filled < room.size:
        chunk = stream.read(min(CHUNK, room.size - filled))
        if not chunk:
            raise EOFError
        room[filled : filled + len(chunk)] = np.frombuffer(chunk, np.uint8)
        filled += len(chunk)
    stream.read(1)  # at its end a member of a zip file checks its sum
    return array.reshape(shape, order="F" if by_columns else "C")


def read_member(path: Path, name: str) -> np.ndarray:
    """One array of an npz file."""
    with zipfile.ZipFile(path) as archive:
        # what an archive says of its sizes is all that is known before it is unpacked
        info = archive.getinfo(name)
        check_expansion(path, info.file_size, info.compress_size)
        with archive.open(info) as stream:
            return read_npy(path, stream, info.file_size)


def unpacked(path: Path) -> tuple[str, bytes | None]:
    """The name and the bytes of what a .gz, or a .zip of one file, holds; else no bytes."""
    if path.suffix.lower() == ".gz":
        with reading(path, "a gzip file"), gzip.open(path) as stream:
            return path.stem, _all_of(path, stream, path.stat().st_size)
    if path.suffix.lower() != ".zip":
        return path.name, None
    with reading(path, "a zip file"), zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if not info.is_dir()]
        if len(members) != 1:
            raise DatasetError(
                f"{path}: expected a zip file with one file in it, got {len(members)}; unpack it "
                f"and name the file."
            )
        with archive.open(members[0]) as stream:
            return members[0].filename, _all_of(path, stream, members[0].compress_size)


def _all_of(path: Path, stream: Any, held: int) -> bytes:
    """Everything, unless it turns out to be more than the file should hold."""
    content = io.BytesIO()
    while chunk := stream.read(CHUNK):
        # counted as it comes: what a packed file says of its size is not believed
        content.write(chunk)
        check_expansion(path, content.tell(), held)
    return content.getvalue()
