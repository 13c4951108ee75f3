"""Ctrl-C where nothing is half done.

Python answers a signal between any two steps of the interpreter: after the BLAS limit is lowered
and before the block begins that restores it, or while compiled code hands over its result, which
then ends in a SystemError. While the frame of such unbroken code is on the stack the answer is put
off until that code ends. The answer is always the user's own handler's.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, TypeVar

Result = TypeVar("Result")
Code = TypeVar("Code", bound=Callable[..., Any])

_UNBROKEN: set[CodeType] = set()


class _Deferral:
    """The handler in place of the user's, which it calls, now or later."""

    def __init__(self) -> None:
        self.users: Any = None
        self.waiting = False

    def answer(self, number: int, frame: FrameType | None) -> None:
        while frame is not None:
            if frame.f_code in _UNBROKEN:
                self.waiting = True
                return
            frame = frame.f_back
        self.users(number, frame)

    @property
    def installed(self) -> bool:
        """Asked of Python itself: a note of our own could be a step ahead or behind."""
        return signal.getsignal(signal.SIGINT) == self.answer

    def begin(self) -> bool:
        """Install the handler; False where it is there already or of no use."""
        if threading.current_thread() is not threading.main_thread() or self.installed:
            return False
        users = signal.getsignal(signal.SIGINT)
        if not callable(users):  # ignored, or the default of the system: no Python runs
            return False
        self.users = users
        self.waiting = False
        signal.signal(signal.SIGINT, self.answer)
        return True

    def end(self, began: bool) -> None:
        """Restore the user's handler if this is the end of what began it, and answer."""
        if began and self.installed:
            signal.signal(signal.SIGINT, self.users)
        if self.waiting and threading.current_thread() is threading.main_thread():
            self.waiting = False
            self.users(signal.SIGINT, None)


_deferral = _Deferral()
begin = _deferral.begin
end = _deferral.end


def waiting() -> bool:
    """Whether an interrupt has been put off."""
    return _deferral.waiting


def unbroken(function: Code) -> Code:
    """Decorate a function that no interrupt may leave half-way; it calls ``begin`` and ``end``."""
    _UNBROKEN.add(function.__code__)
    return function


@unbroken
def whole(work: Callable[..., Result], *arguments: Any) -> Result:
    """Run to the end; an interrupt meanwhile is answered then."""
    began = begin()
    try:
        return work(*arguments)
    finally:
        end(began)
