"""The compiled loops where numba is missing or cannot write its cache: the same answers."""

import json
import subprocess
import sys

import numpy as np
import pytest

SCORES = """
import json
import numpy as np
from rowsparse import filters
from rowsparse.numerics import differences, tables
differences.COMPILED_FROM = tables.COMPILED_FROM = tables.CUTS_COMPILED_FROM = 0
rng = np.random.default_rng(0)
X, y = rng.standard_normal((60, 12)), np.arange(60) % 3
X[:, 4] += y
X[:, 2] = np.round(X[:, 2])
scores = [filters.relieff(X, y), filters.information_gain(X, y), filters.mrmr(X, y, 4)[1]]
print(json.dumps(np.array(scores).tolist()))
"""
NO_NUMBA = "import sys; sys.modules['numba'] = None"
NO_CACHE = """
import numba.core.caching as caching
def refuse(*_, **__):
    raise OSError("read-only file system")
def all_subclasses(cls):
    return {cls}.union(*(all_subclasses(sub) for sub in cls.__subclasses__()))
for locator in all_subclasses(caching._CacheLocator):
    locator.ensure_cache_path = refuse
    locator.check_cachable_path = refuse
"""


def scores(*code):
    command = [sys.executable, "-c", "\n".join([*code, SCORES])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("obstacle", [NO_NUMBA, NO_CACHE])
def test_the_answer_is_the_same(obstacle):
    np.testing.assert_allclose(scores(obstacle), scores(), atol=1e-12)
