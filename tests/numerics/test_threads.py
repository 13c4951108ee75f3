"""The BLAS thread limit: one inside, the user's outside, however blocks nest or overlap."""

import os
import threading

import numpy as np
import pytest
import threadpoolctl
from threadpoolctl import threadpool_info, threadpool_limits

from rowsparse.numerics.threads import (
    N_SLICES,
    WORTH_SLICES,
    WORTH_THREADS,
    blas_threads_for,
    one_blas_thread,
    over_slices,
)

_settable: set[str] = set()  # a BLAS that came with another package may know one thread only


def _blas_libraries():
    return {
        lib["filepath"]: lib["num_threads"]
        for lib in threadpool_info()
        if lib["user_api"] == "blas"
    }


def blas_threads():
    return {threads for file, threads in _blas_libraries().items() if file in _settable}


def forget_who_set_it():
    """threadpoolctl 3.8 lets one Python thread set the limit and ignores all others."""
    forget = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if forget is not None:
        forget(force=True)


@pytest.fixture(autouse=True)
def two_threads():
    """The user's own setting, whatever the machine has and whoever set it."""
    forget_who_set_it()
    before = threadpool_limits(2, user_api="blas")
    forget_who_set_it()
    _settable.update(file for file, threads in _blas_libraries().items() if threads == 2)
    assert _settable
    yield
    forget_who_set_it()
    before.restore_original_limits()
    forget_who_set_it()


def together(*functions):
    """Run the functions in Python threads of their own and wait for all of them."""
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


def test_one_inside_and_restored_after():
    with one_blas_thread():
        assert blas_threads() == {1}
    assert blas_threads() == {2}


def test_restored_after_nesting():
    with one_blas_thread():
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_restored_after_an_exception(error):
    with pytest.raises(error), one_blas_thread(), one_blas_thread():
        raise error
    assert blas_threads() == {2}


def test_the_users_later_setting_is_the_one_restored():
    with one_blas_thread():
        pass
    with threadpool_limits(1, user_api="blas"):
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}


def test_a_python_thread_may_limit_after_the_main_thread_did():
    with one_blas_thread():
        pass
    seen = []

    def work():
        with one_blas_thread():
            seen.append(blas_threads())
        seen.append(blas_threads())

    together(work)
    assert seen == [{1}, {2}]


def test_overlapping_python_threads_restore_only_at_the_last_exit():
    first_inside, second_inside, first_left, done = (threading.Event() for _ in range(4))
    seen = {}

    def first():
        with one_blas_thread():
            first_inside.set()
            second_inside.wait(30)
        first_left.set()
        done.wait(30)  # this thread lives on, like the main thread of a program

    def second():
        first_inside.wait(30)
        with one_blas_thread():
            second_inside.set()
            first_left.wait(30)
            seen["after the first left"] = blas_threads()
        seen["after both left"] = blas_threads()
        done.set()

    together(first, second)
    assert seen == {"after the first left": {1}, "after both left": {2}}
    assert blas_threads() == {2}


def test_many_threads_in_a_hurry_leave_the_setting_as_it_was():
    def work():
        for _ in range(50):
            with one_blas_thread():
                pass

    together(*[work] * 4)
    assert blas_threads() == {2}


def test_only_big_products_get_the_users_threads():
    with blas_threads_for(WORTH_THREADS):
        assert blas_threads() == {2}
    with blas_threads_for(WORTH_THREADS / 2):
        assert blas_threads() == {1}


def _sliced_product(X, R, flops):
    out = np.empty((X.shape[1], R.shape[1]))
    used = set()

    def multiply(part):
        used.add(threading.get_ident())
        assert blas_threads() == {1}
        np.dot(X.T[part], R, out=out[part])

    over_slices(multiply, X.shape[1], flops)
    return out, used


def test_the_number_of_threads_changes_no_bit_of_a_sliced_pass():
    rng = np.random.default_rng(0)
    X, R = np.asfortranarray(rng.standard_normal((300, 101))), rng.standard_normal((300, 3))
    with_two, threads_of_two = _sliced_product(X, R, WORTH_SLICES)
    threadpool_limits(1, user_api="blas")
    with_one, threads_of_one = _sliced_product(X, R, WORTH_SLICES)
    assert np.array_equal(with_two, with_one)
    np.testing.assert_allclose(with_one, X.T @ R, rtol=1e-12, atol=1e-12)
    assert threads_of_one == {threading.get_ident()}
    assert len(threads_of_two) <= 2


@pytest.mark.parametrize(("n_items", "flops"), [(1000, WORTH_SLICES / 2), (7, 10 * WORTH_SLICES)])
def test_little_work_stays_in_one_piece(n_items, flops):
    seen = []
    over_slices(seen.append, n_items, flops)
    assert seen == [slice(0, n_items)]


def test_two_threads_work_at_the_same_time():
    together_inside = threading.Barrier(2, timeout=30)
    met = []

    def meet(part):
        if part.start < 2 * part.stop - 2 * part.start:  # the first two slices
            met.append(together_inside.wait())

    over_slices(meet, 80, WORTH_SLICES)
    assert sorted(met) == [0, 1]


@pytest.mark.parametrize("who", ["caller", "helper"])
def test_an_error_in_a_slice_is_raised_and_the_limit_restored(who):
    caller, both_inside = threading.get_ident(), threading.Barrier(2, timeout=30)

    def fail(part):
        if part.start < 20:  # the first two slices
            both_inside.wait()
        if (threading.get_ident() == caller) == (who == "caller"):
            raise ArithmeticError("no")

    with pytest.raises(ArithmeticError, match="no"):
        over_slices(fail, 100, WORTH_SLICES)
    assert blas_threads() == {2}


def test_slices_inside_of_slices_and_of_python_threads_all_come_to_an_end():
    counted = []

    def outer(part):
        over_slices(counted.append, 16, WORTH_SLICES)

    together(*[lambda: over_slices(outer, 16, WORTH_SLICES)] * 3)
    assert len(counted) == 3 * N_SLICES * N_SLICES


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_helpers_of_its_own():
    seen = []
    over_slices(seen.append, 16, WORTH_SLICES)
    child = os.fork()
    if child == 0:
        inside = []
        threading.Timer(20, os._exit, (1,)).start()  # instead of waiting for ever
        over_slices(inside.append, 16, WORTH_SLICES)
        os._exit(0 if len(inside) == N_SLICES else 1)
    assert os.waitpid(child, 0)[1] == 0


def in_a_forked_child(check):
    """Whether ``check`` holds in a child of this process; it must not wait for ever."""
    child = os.fork()
    if child == 0:
        threading.Timer(20, os._exit, (2,)).start()
        os._exit(0 if check() else 1)
    return os.waitpid(child, 0)[1] == 0


def one_inside_and_two_outside():
    before = blas_threads()
    with one_blas_thread():
        inside = blas_threads()
    return (before, inside, blas_threads()) == ({2}, {1}, {2})


FORKS = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]


class TestForks:
    pytestmark = FORKS

    def test_while_another_thread_is_inside(self):
        inside, forked = threading.Event(), threading.Event()

        def stay():
            with one_blas_thread():
                inside.set()
                forked.wait(60)

        def fork():
            inside.wait(30)
            try:
                assert in_a_forked_child(one_inside_and_two_outside)
            finally:
                forked.set()

        other = threading.Thread(target=stay)
        other.start()
        fork()
        other.join(30)
        assert one_inside_and_two_outside()

    def test_from_inside(self):
        with one_blas_thread():

            def still_one():
                with one_blas_thread():
                    pass
                return blas_threads() == {1}

            assert in_a_forked_child(still_one)
        assert blas_threads() == {2}

    def test_while_other_threads_come_and_go(self):
        over = threading.Event()

        def come_and_go():
            while not over.is_set():
                with one_blas_thread():
                    pass

        others = [threading.Thread(target=come_and_go) for _ in range(3)]
        for other in others:
            other.start()
        try:
            assert all(in_a_forked_child(one_inside_and_two_outside) for _ in range(10))
        finally:
            over.set()
            for other in others:
                other.join(30)
        assert blas_threads() == {2}
