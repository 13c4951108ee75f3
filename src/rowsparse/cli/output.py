"""Files that commands write: never over the input, never half, and harmless to open."""

from __future__ import annotations

import contextlib
import csv
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, Any

from rowsparse.cli.terminal import plain, say, show_notes

# A spreadsheet takes a cell that begins so for a formula, and some formulas run programs.
FORMULA = ("=", "+", "-", "@")


def check_output(option: str, path: Path, endings: Sequence[str], data: str, force: bool) -> None:
    """Refuse before the work starts, not after it."""

    def refuse(expected: str, got: str, advice: str) -> None:
        raise ValueError(f"{option}: expected {expected}, got {got}; {advice}.")

    if path.suffix.lower() not in endings:
        refuse(f"a file ending in {' or '.join(endings)}", repr(str(path)), "rename it")
    if not path.parent.is_dir():
        refuse("an existing folder", f"{str(path.parent)!r}, which is none", "create it first")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        refuse("a folder that may be written to", repr(str(path.parent)), "name another")
    if path.is_symlink():
        refuse("a file", f"the symbolic link {str(path)!r}", "name the file it points to")
    if not path.exists():
        return
    if path.is_dir():
        refuse("a file", f"the folder {str(path)!r}", "name a file in it")
    if not path.is_file():
        refuse("a file", f"the pipe or device {str(path)!r}", "name a file")
    if Path(data).exists() and path.samefile(data):
        refuse("another file than the data", repr(str(path)), "the data would be lost")
    # by the mode too: root may write to what its owner has protected
    if not path.stat().st_mode & 0o222 or not os.access(path, os.W_OK):
        refuse("a file that may be written", f"the read-only {str(path)!r}", "name another")
    if not force:
        refuse("a new file", f"{str(path)!r}, which exists", "add --force to replace it")


def check_folder(option: str, folder: Path | None, may_hold: str | None = None) -> None:
    """A new or empty folder, or one with the file ``may_hold``, which its owner replaces."""
    if folder is None or not folder.exists():
        return
    if not folder.is_dir():
        raise ValueError(
            f"{option}: expected a folder, got the file {str(folder)!r}; name another."
        )
    if any(folder.iterdir()) and not (may_hold and (folder / may_hold).exists()):
        raise ValueError(
            f"{option}: expected a new folder, got {str(folder)!r}, which has files in it; name "
            f"another, or add --force to replace a result."
        )


def write_whole(path: Path, write: Callable[[IO[str]], object]) -> None:
    """Whole or not at all: a reader sees the old file or the new one, never half of one."""
    _remove_abandoned(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("x", newline="", encoding="utf-8") as stream:
            _lock(stream)
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())  # before it has the name: a crash leaves no empty file
            os.replace(partial, path)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:  # a full disk names no file
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """Write a table, and say which names had to be changed to make it harmless."""
    changed: dict[str, None] = {}  # in their order, each once

    def harmless(cell: Any) -> Any:
        if not isinstance(cell, str):
            return cell
        written = harmless_text(cell)
        if written != cell:
            changed[cell] = None
        return written

    def write(stream: IO[str]) -> None:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(harmless, header))
        writer.writerows(map(harmless, row) for row in rows)

    write_whole(path, write)
    if not changed:
        return []
    shown = ", ".join(repr(name) for name in list(changed)[:4])
    return [
        f"{path} has ' before names that a spreadsheet would run, and escapes for control "
        f"characters: {shown}{' and others' if len(changed) > 4 else ''}."
    ]


def write_table(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], what: str
) -> None:
    """Write a table and say so; ``what`` is in it."""
    show_notes(write_csv(path, header, rows))
    say(f"Wrote {what} to {path}.")


def harmless_text(text: str) -> str:
    """The text as a terminal and a spreadsheet can show it without doing what it says."""
    text = plain(text)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text


def _remove_abandoned(path: Path) -> None:
    """What writers of this file left behind that were killed: nobody holds its lock."""
    # by their beginning, not as a pattern: a name may hold letters that mean something there
    for partial in path.parent.iterdir():
        if partial.name.startswith(f".{path.name}.") and partial.name.endswith(".partial"):
            with contextlib.suppress(OSError), partial.open("r+") as stream:
                _lock(stream)
                partial.unlink()


def _lock(stream: IO[str]) -> None:
    """Hold the file as long as it is open; an OSError if somebody else does."""
    try:
        import fcntl
    except ImportError:  # Windows lets nobody remove a file that is open
        return
    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
