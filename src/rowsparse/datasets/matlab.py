"""MATLAB files of version 5 to 7: numbers, sparse or not, and rows of text.

Not through scipy.io.loadmat, whose compiled code follows what a damaged file says to wherever it
points. A file is a header and elements: a type, a number of bytes, and these bytes, which hold a
matrix, perhaps compressed: its class, shape, name and values, each an element again. Cells and
structures are left alone.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from rowsparse.datasets.base import DatasetError
from rowsparse.stores.safety import check_expansion

HEADER = 128  # bytes
HDF5 = b"\x89HDF"
MATRIX, COMPRESSED = 14, 15
STORED = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
    16: "u1", 17: "u2", 18: "u4",
}  # fmt: skip
TEXT, SPARSE = 4, 5
CLASSES = {
    TEXT: "u4", SPARSE: "f8", 6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4",
    13: "u4", 14: "i8", 15: "u8",
}  # fmt: skip
IMAGINARY = 0x0800  # a flag of the class
Order = Literal["<", ">"]
BEGINNING = 512  # bytes of a matrix in which its name stands; names have at most 63


@dataclass(frozen=True)
class Element:
    """The bytes of one element, or its beginning, and what they are."""

    kind: int
    content: memoryview
    order: Order

    def values(self) -> np.ndarray:
        kind = np.dtype(STORED[self.kind]).newbyteorder(self.order)
        if len(self.content) % kind.itemsize:
            raise ValueError
        return np.frombuffer(self.content, kind)


def matlab_arrays(path: Path) -> dict[str, Callable[[], Any]]:
    """What there is to read, by name."""
    content = path.read_bytes()
    if HDF5 in content[:1024]:
        raise DatasetError(
            f"{path}: expected a MATLAB file up to version 7, got one of version 7.3; save it with "
            f"save('name.mat', ..., '-v7')."
        )
    orders: dict[bytes, Order] = {b"IM": "<", b"MI": ">"}
    order = orders[content[HEADER - 2 : HEADER]]
    found: dict[str, Callable[[], Any]] = {}
    for element in _elements(memoryview(content)[HEADER:], order):
        whole = partial(_matrix, path, element)
        if element.kind == COMPRESSED:
            element = _unpacked(path, element, BEGINNING)
        if element.kind == MATRIX:
            flags, _, name, *_ = _parts(element)
            if int(flags.values()[0]) & 0xFF in CLASSES:
                found[bytes(name.content).decode("ascii")] = whole
    return found


def _elements(content: memoryview, order: Order, cut: bool = False) -> Iterator[Element]:
    """One after the other; ``cut``: the last one may be a beginning."""
    at = 0
    while at + 8 <= len(content):
        kind, size = struct.unpack(f"{order}II", content[at : at + 8])
        start = at + 8
        if kind >> 16:  # a short one: both numbers in the first four bytes
            kind, size = kind & 0xFFFF, kind >> 16
            start = at + 4
            at = at + 8
        else:
            at = start + size
            if kind != COMPRESSED:
                at += -size % 8
        if start + size > len(content) and not cut:
            raise EOFError
        yield Element(kind, content[start : start + size], order)


def _unpacked(path: Path, element: Element, most: int = 0) -> Element:
    """The element in a compressed one; with ``most`` only so many bytes of it."""
    unpacker = zlib.decompressobj()
    start = unpacker.decompress(element.content, most or 8)
    kind, size = struct.unpack(f"{element.order}II", start[:8])
    check_expansion(path, size, len(element.content))
    rest = b"" if most else unpacker.decompress(unpacker.unconsumed_tail, size + 8)
    content = memoryview(start + rest)[8:]
    if not most and (len(content) != size or not unpacker.eof):
        raise EOFError  # at its end the checksum was checked
    return Element(kind, content, element.order)


def _parts(matrix: Element) -> list[Element]:
    """Class, shape and name, and the values as far as they are there."""
    return list(_elements(matrix.content, matrix.order, cut=True))


def _matrix(path: Path, element: Element) -> Any:
    """The array, its parts checked against each other."""
    if element.kind == COMPRESSED:
        element = _unpacked(path, element)
    flags, lengths, _, *parts = _elements(element.content, element.order)
    flag = int(flags.values()[0])
    kind = flag & 0xFF
    shape = tuple(lengths.values().astype(np.int64).tolist())
    if flag & IMAGINARY or min(shape) < 0:
        raise ValueError
    if kind == SPARSE:
        rows, starts, values = (part.values() for part in parts)
        n = int(starts[-1])
        given = (values[:n].astype(float), rows[:n].astype(np.int64), starts.astype(np.int64))
        return sparse.csc_matrix(given, shape=shape)
    array = parts[0].values().astype(CLASSES[kind]).reshape(shape, order="F")
    if kind != TEXT:
        return array
    return np.array(
        ["".join(map(chr, row)).strip() for row in array.reshape(shape[0], -1).tolist()]
    )
