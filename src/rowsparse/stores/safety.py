"""What protects a reader from its file: damage is one sentence, and no size is taken on trust."""

from __future__ import annotations

import errno
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Deflate shrinks zeros a thousandfold; matrices of numbers, also of many zeros, stay below a
# hundred. What small files may become in memory whatever their ratio is the first number.
ALWAYS_ALLOWED = 256 * 2**20
LARGEST_RATIO = 200


class DatasetError(ValueError):
    """The data cannot be used as it is; the message is one sentence that says what to do.

    Examples
    --------
    >>> from rowsparse.datasets import DatasetError, load_dataset
    >>> try:
    ...     load_dataset("irish")
    ... except DatasetError as error:
    ...     print(str(error).split(";")[0])
    'irish': expected a file or the name of a dataset, got neither
    """


def check_file(path: Path) -> None:
    """A plain file with something in it; pipes and devices may never end."""
    if path.is_dir():
        raise DatasetError(f"{path}: expected a file, got a folder; name one file in it.")
    if not path.exists():
        raise FileNotFoundError(f"{path}: expected a file, got nothing there; check the path.")
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise DatasetError(
            f"{path}: expected a file, got a pipe or device; save it as a file, or name - to read "
            f"a text table from standard input."
        )
    if status.st_size == 0:
        raise DatasetError(f"{path}: expected data, got an empty file; write it again.")


@contextmanager
def reading(path: Path | str, kind: str) -> Iterator[None]:
    """Whatever a library raises at a damaged file becomes one sentence about ``kind``.

    Each library has its own family of errors for this; to the person who reads the message they
    are all the same thing. The system's own errors (no permission, and the like) stay.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an error follows, or the data is there
            yield
    except (DatasetError, MemoryError, ImportError):
        raise
    except Exception as error:
        # (an invalid argument is a place in the file that no file has)
        if isinstance(error, OSError) and error.strerror and error.errno != errno.EINVAL:
            raise
        raise damaged(path, kind, type(error).__name__) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # how a library in Rust says it found a bug
            raise
        raise damaged(path, kind, "a panic of its reader") from error


def damaged(path: Path | str, kind: str, why: str) -> DatasetError:
    return DatasetError(
        f"{path}: expected {kind}, got one that cannot be read ({why}); it is damaged, cut off or "
        f"of another kind: write it again."
    )


def check_expansion(path: Path | str, stated: float, held: int) -> None:
    """Refuse what would fill the memory before any of it is allocated."""
    if stated > ALWAYS_ALLOWED + LARGEST_RATIO * held:
        raise DatasetError(
            f"{path}: expected contents in proportion to the {held:,} bytes that hold them, got "
            f"{stated:,.0f} bytes stated; it is damaged or made to fill the memory: save it "
            f"without compression if it is really that large."
        )
