"""What would not fit in memory is refused before it is asked for, with its size."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from rowsparse import ProbitSelector, ZeroNormKernelSVC, ZeroNormSVC
from rowsparse.filters import arom, f_score, fsv, mrmr, svm_rfe

N = 100_000  # samples, and columns: dense 80 GB


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(0)
    where = rng.integers(0, N, (2, 300_000))
    return sparse.coo_array((rng.random(300_000) + 0.1, where), shape=(N, N)).tocsc(), np.arange(
        N
    ) % 2


def peak(call):
    tracemalloc.start()
    try:
        return call(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "method",
    [
        lambda X, y: ZeroNormSVC(5).fit(X, y),
        lambda X, y: ZeroNormSVC(norm=np.inf).fit(X, y),
        lambda X, y: ProbitSelector(5).fit(X, y),
        lambda X, y: ZeroNormKernelSVC().fit(X, y),
        lambda X, y: svm_rfe(X, y, 5),
        lambda X, y: arom(X, y, 5),
        lambda X, y: mrmr(X, y, 5),
        fsv,
    ],
    ids=["zero norm", "norm inf", "probit", "kernel", "svm_rfe", "arom", "mrmr", "fsv"],
)
def test_refused_with_the_size(large, method):
    def refused():
        with pytest.raises(ValueError, match=r"would need \d+(\.\d+)?(e\+\d+)? GB; "):
            method(*large)

    assert peak(refused)[1] < 60 * large[0].data.nbytes


@pytest.mark.parametrize("method", [f_score, lambda X, y: mrmr(X, y, 3, criterion="fcq")[1]])
def test_what_stays_sparse_stays_small(large, method):
    scores, most = peak(lambda: method(*large))
    assert np.isfinite(scores).all()
    assert most < 60 * large[0].data.nbytes


def test_programs_of_fsv_grow_with_the_entries_of_x_only():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((1500, 4)), np.arange(1500) % 2
    assert peak(lambda: fsv(X, y, max_iter=1))[1] < 60 * X.nbytes  # 1500 x 1500 are 375 times
