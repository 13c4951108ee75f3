"""The compiled loops where numba is missing or cannot write its cache: the same answers."""

import json

import numpy as np
import pytest
from processes import NO_CACHE, run

SCORES = """
import json
import numpy as np
from rowsparse import filters
from rowsparse.numerics import compiling, tables
compiling.WORTH_LOADING = tables.CUTS_COMPILED_FROM = 0
rng = np.random.default_rng(0)
X, y = rng.standard_normal((60, 12)), np.arange(60) % 3
X[:, 4] += y
X[:, 2] = np.round(X[:, 2])
scores = [filters.relieff(X, y), filters.information_gain(X, y), filters.mrmr(X, y, 4)[1]]
print(json.dumps(np.array(scores).tolist()))
"""
NO_NUMBA = "import sys; sys.modules['numba'] = None"


@pytest.fixture(scope="module")
def plainly():
    return json.loads(run(SCORES))


@pytest.mark.parametrize("obstacle", [NO_NUMBA, NO_CACHE], ids=["no numba", "no cache"])
def test_the_answer_is_the_same(plainly, obstacle):
    np.testing.assert_allclose(json.loads(run(obstacle, SCORES)), plainly, atol=1e-12)
