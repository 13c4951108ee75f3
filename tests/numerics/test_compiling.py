"""Compiled loops follow their sources: what is cached on disk is never older than these."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from processes import NO_CACHE, run

import rowsparse
from rowsparse.numerics import compiling
from rowsparse.numerics.compiling import LazyKernel, compiled_as

SWEEP = """
import numpy as np
from rowsparse.numerics import sweep
sweep.COMPILED_FROM = 0
W, Q = np.zeros((3, 2), order="F"), np.asfortranarray(-np.ones((3, 2)))
sweep.sweep_gram(np.eye(3), Q, W, np.full(3, 0.5), 1.0, np.arange(3), 1, 0.0, True)
print(W[0, 0])
"""
FIRST_LINE = "    top = 0.0\n"  # of clip_level


@pytest.fixture
def package(tmp_path):
    """The folder of a copy of the package."""
    folder = tmp_path / "rowsparse"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(rowsparse.__file__).parent, folder, ignore=ignored)
    return folder


def test_an_edited_helper_of_another_file_is_compiled_anew(package):
    """The sweep inlines ``clip_level``, whose file numba does not look at."""
    path = {"PYTHONPATH": str(package.parent)}
    assert float(run(SWEEP, **path)) == pytest.approx(0.75)
    clip = package / "numerics" / "clip.py"
    source = clip.read_text()
    assert source.count(FIRST_LINE) == 1
    clip.write_text(source.replace(FIRST_LINE, "    return 0.125\n" + FIRST_LINE))
    assert float(run(SWEEP, **path)) == 0.125


def test_a_cache_that_cannot_be_read_is_no_failure(package):
    path = {"PYTHONPATH": str(package.parent)}
    run(SWEEP, **path)
    files = [*package.rglob("*.nbi"), *package.rglob("*.nbc")]
    assert len(files) >= 2
    for file in files:
        file.write_bytes(b"no pickle")
    assert float(run(SWEEP, **path)) == pytest.approx(0.75)
    for file in package.rglob("*.nbc"):
        file.write_bytes(b"")
    assert float(run(SWEEP, **path)) == pytest.approx(0.75)


def test_a_cache_that_cannot_be_written_is_no_failure():
    assert float(run(NO_CACHE, SWEEP)) == pytest.approx(0.75)


FULL_DISK = """
from numba.core.caching import IndexDataCacheFile
def full(*_, **__):
    raise OSError(28, "No space left on device")
IndexDataCacheFile._save_data = full
"""


def test_a_disk_without_space_for_the_cache_is_no_failure(package):
    path = {"PYTHONPATH": str(package.parent)}
    assert float(run(FULL_DISK, SWEEP, **path)) == pytest.approx(0.75)
    assert not list(package.rglob("*.nbc"))


def _doubled_loops(values):
    for i in range(values.size):
        values[i] *= 2.0


@compiled_as(_doubled_loops)
def _doubled(values):
    values *= 2.0


def _twice(values):
    _doubled(values)
    _doubled(values)
    return values.sum()


def test_a_kernel_is_compiled_with_what_it_calls_or_runs_as_it_is(monkeypatch):
    kernel = LazyKernel(_twice)
    values = np.arange(3.0)
    assert kernel(values) == 12.0
    np.testing.assert_array_equal(values, [0.0, 4.0, 8.0])
    assert kernel.compiled.signatures
    monkeypatch.setattr(compiling, "_numba", lambda: None)
    assert kernel(np.arange(3.0)) == 12.0


def test_errors_of_a_kernel_are_its_own():
    def fails(values):
        raise ValueError("this is wrong")

    with pytest.raises(ValueError, match="this is wrong"):
        LazyKernel(fails)(np.arange(3.0))
