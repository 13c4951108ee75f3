"""The BLAS thread limit: one inside, the user's outside, however blocks nest or overlap."""

import threading

import pytest
import threadpoolctl
from threadpoolctl import threadpool_info, threadpool_limits

from rowsparse.numerics.threads import WORTH_THREADS, blas_threads_for, one_blas_thread

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
