"""Ctrl-C at any moment: the user's handler answers, and nothing is left half done."""

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from rowsparse.numerics import threads
from rowsparse.numerics.compiling import LazyKernel

NUMERICS = str(Path(threads.__file__).parent)


@pytest.fixture(autouse=True)
def answered():
    """The times that a handler of the user's was called; it raises as Python's own does."""
    times = []

    def handler(number, frame):
        times.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handler)
    yield times
    assert signal.getsignal(signal.SIGINT) is handler
    signal.signal(signal.SIGINT, before)


def interrupt():
    signal.raise_signal(signal.SIGINT)


def test_whole_work_is_done_before_the_answer(answered):
    done = []

    def work():
        interrupt()
        done.append(list(answered))

    with pytest.raises(KeyboardInterrupt):
        threads.whole(work)
    assert done == [[]]
    assert answered == [signal.SIGINT]


def test_a_handler_that_does_not_raise_changes_nothing():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append("seen"))
    try:
        assert threads.whole(lambda: (interrupt(), 7)[1]) == 7
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == ["seen"]


def test_an_error_of_the_work_is_not_lost_without_an_interrupt():
    with pytest.raises(ArithmeticError):
        threads.whole(lambda: 1 / 0)


def test_a_compiled_loop_ends_before_the_answer(answered):
    def loops(values):
        for i in range(values.size):
            values[i] += 1

    kernel = LazyKernel(loops)
    kernel.__dict__["compiled"] = lambda *_: interrupt()
    with pytest.raises(KeyboardInterrupt):
        kernel(None)
    assert len(answered) == 1


def test_other_threads_leave_the_handler_alone(answered):
    seen = []
    user = signal.getsignal(signal.SIGINT)

    def work():
        with threads.one_blas_thread():
            seen.append(signal.getsignal(signal.SIGINT) is user)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert seen == [True]


def test_an_ignored_signal_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with threads.one_blas_thread():
            assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
            interrupt()
    finally:
        signal.signal(signal.SIGINT, before)


class InterruptAt:
    """A trace function: Ctrl-C before the step of this number, counted over our own frames."""

    def __init__(self, number):
        self.number = number
        self.steps = 0

    def __call__(self, frame, event, argument):
        if not frame.f_code.co_filename.startswith(NUMERICS):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.steps += 1
            if self.steps == self.number:
                interrupt()
        return self


def _block_interrupted_at(number):
    """How many steps were traced, and whether the interrupt was answered."""
    tracer = InterruptAt(number)
    before = sys.gettrace()
    answer = False
    sys.settrace(tracer)
    try:
        with threads.one_blas_thread(), threads.one_blas_thread():
            pass
    except KeyboardInterrupt:
        answer = True
    finally:
        sys.settrace(before)
    return tracer.steps, answer


def test_an_interrupt_at_any_step_leaves_no_limit_behind():
    steps, _ = _block_interrupted_at(0)
    assert steps > 100
    for number in range(1, steps + 1, 3):
        _, answer = _block_interrupted_at(number)
        assert answer, number
        assert threads._limit.open_blocks == 0, number
        assert not threads._limit.lock.locked(), number


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_of_a_fork_inside_a_block_has_the_users_handler_after_it():
    user = signal.getsignal(signal.SIGINT)
    with threads.one_blas_thread():
        child = os.fork()
    if child == 0:
        os._exit(0 if signal.getsignal(signal.SIGINT) is user else 1)
    assert os.waitpid(child, 0)[1] == 0


class Shared:
    barrier = threading.Barrier(2, timeout=30)

    @threads.cached_property
    def value(self):
        return self.barrier.wait()


def test_two_threads_compute_values_of_one_class_at_the_same_time():
    """With a lock for the class the first would wait for the second in vain, and so would a child
    that is forked meanwhile."""
    objects = [Shared(), Shared()]
    workers = [threading.Thread(target=lambda one=one: one.value) for one in objects]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert sorted(vars(one)["value"] for one in objects) == [0, 1]
