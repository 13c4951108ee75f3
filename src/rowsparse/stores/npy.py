"""Arrays in .npy files, and in npz files that are not compressed, read in ranges."""

from __future__ import annotations

import os
import struct
import sys
import zipfile
from dataclasses import dataclass, replace
from io import FileIO
from pathlib import Path
from typing import IO

import numpy as np

from rowsparse.stores.safety import DatasetError, check_file, damaged, reading

KIND = "a NumPy file"
PAGE = 4096  # bytes that a disk gives at the least
# A column-major file is read in pieces of a column. Shorter than a page they would read the file
# several times; this is what a block of whole pages may take.
MOST_BYTES_OF_PAGES = 256 << 20
LOCAL_HEADER = 30  # bytes of the fixed part of a header inside a zip file


@dataclass(frozen=True)
class NpyLines:
    """An array inside a file, at ``offset``; by columns if it is in Fortran order."""

    path: Path
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype
    by_columns: bool

    def read(self, start: int, stop: int) -> np.ndarray:
        if stop <= start or 0 in self.shape:
            return np.empty((max(stop - start, 0), *self.shape[1:]), self.dtype)
        with reading(self.path, KIND):
            if self.by_columns:
                return self._pieces_of_columns(start, stop)
            return self._window(start, stop)

    def _window(self, start: int, stop: int) -> np.ndarray:
        """A map of these lines alone: a map of the whole file would count against limits on
        memory, and what was read through it would stay in it."""
        line_bytes = self.dtype.itemsize * int(np.prod(self.shape[1:], dtype=np.int64))
        where = self.offset + int(start) * line_bytes
        shape = (int(stop - start), *self.shape[1:])
        with self.path.open("rb") as file:
            _announce(file.fileno(), where, shape[0] * line_bytes)
            lines = np.asarray(np.memmap(file, self.dtype, "r", where, shape))
        return np.require(lines, requirements="A")  # arrays in a zip file begin anywhere

    def _pieces_of_columns(self, start: int, stop: int) -> np.ndarray:
        n, d = self.shape
        out = np.empty((int(stop - start), d), self.dtype, order="F")
        with self.path.open("rb", buffering=0) as file:
            for j in range(d):
                file.seek(self.offset + (j * n + int(start)) * self.dtype.itemsize)
                fill(file, out[:, j])
        return out


def fill(file: FileIO, out: np.ndarray) -> None:
    """Read into a contiguous array until it is full."""
    room = out.view(np.uint8).data
    filled = 0
    while filled < room.nbytes:
        count = file.readinto(room[filled:])
        if not count:
            raise EOFError
        filled += count


def _announce(descriptor: int, offset: int, length: int) -> None:
    """Have the system read what will be mapped; a reading thread is there to wait for it."""
    if sys.platform == "linux":
        os.posix_fadvise(descriptor, offset, length, os.POSIX_FADV_WILLNEED)


def npy_lines(path: Path, offset: int = 0, n_bytes: int | None = None) -> NpyLines:
    """The array of an .npy file; its shape has to account for its bytes exactly."""
    check_file(path)
    with reading(path, KIND), path.open("rb") as stream:
        stream.seek(offset)
        end = path.stat().st_size if n_bytes is None else offset + n_bytes
        shape, by_columns, dtype = read_header(path, stream, end)
        begin = stream.tell()
    return NpyLines(path, begin, shape, dtype, by_columns and len(shape) > 1)


def read_header(
    path: Path | str, stream: IO[bytes], end: int
) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether by columns, and dtype of the array that begins here and has to end there."""
    version = np.lib.format.read_magic(stream)
    header = {(1, 0): np.lib.format.read_array_header_1_0,
              (2, 0): np.lib.format.read_array_header_2_0}[version]  # fmt: skip
    shape, by_columns, dtype = header(stream)
    if dtype.hasobject:
        raise DatasetError(
            f"{path}: expected arrays of numbers or text, got pickled Python objects, which "
            f"are never loaded because they can run code; save names with dtype=str and "
            f"numbers as numbers."
        )
    count = 1
    for length in shape:  # of Python's integers, which do not wrap
        count *= length
    there = end - stream.tell()
    # texts without letters have no bytes, and any number of them would fit
    if min(shape, default=0) < 0 or dtype.itemsize == 0 or count * dtype.itemsize != there:
        raise damaged(path, KIND, f"shape {shape} of {dtype} in {there} bytes")
    return shape, by_columns, dtype


def columns_at_once(lines: NpyLines, block_bytes: int) -> int:
    """How many bytes a block of a column-major matrix takes, or a sentence if far too many."""
    n, d = lines.shape
    whole_pages = min(n * lines.dtype.itemsize, PAGE) * d
    if whole_pages > max(block_bytes, MOST_BYTES_OF_PAGES):
        raise DatasetError(
            f"{lines.path}: expected rows one after the other, got columns (Fortran order), and "
            f"{d:,} of them, too many to read rows from; save it by rows, with "
            f"numpy.save(path, numpy.ascontiguousarray(X))."
        )
    return max(block_bytes, whole_pages)


def everything(lines: NpyLines) -> np.ndarray:
    """The whole array, as a copy; single values as well."""
    if not lines.shape:
        return replace(lines, shape=(1,)).read(0, 1).reshape(()).copy()
    return lines.read(0, lines.shape[0]).copy()


def members(path: Path) -> dict[str, NpyLines]:
    """The arrays of an npz file that is not compressed, each where it lies in the file."""
    check_file(path)
    places = _places(path)
    return {name: npy_lines(path, *place) for name, place in places.items()}


def _places(path: Path) -> dict[str, tuple[int, int]]:
    """Where each array begins, and how many bytes it has."""
    found = {}
    with reading(path, "an npz file"), zipfile.ZipFile(path) as archive, path.open("rb") as file:
        for info in archive.infolist():
            if not info.filename.endswith(".npy"):
                continue
            if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
                raise DatasetError(
                    f"{path}: expected arrays that are not compressed, so that they can be read "
                    f"in parts, got compressed ones; save it with "
                    f"scipy.sparse.save_npz(path, X, compressed=False) or numpy.savez."
                )
            file.seek(info.header_offset)
            # the lengths in the directory at the end of the file need not be those found here
            fixed = file.read(LOCAL_HEADER)
            name_length, extra_length = struct.unpack("<HH", fixed[26:LOCAL_HEADER])
            begin = info.header_offset + LOCAL_HEADER + name_length + extra_length
            if begin + info.file_size > path.stat().st_size:
                raise EOFError
            found[info.filename.removesuffix(".npy")] = (begin, info.file_size)
    return found
