"""What only another process shows: import, first fit, blocked modules, workers."""

import json

import numpy as np
import pytest
from estimator_checks.toy import labelled
from joblib import Parallel, delayed
from processes import NO_CACHE, run

from rowsparse import L2pSelector

FIT = """
import numpy as np
from rowsparse import L2pSelector
rng = np.random.default_rng(0)
X, y = rng.standard_normal((60, 30)), np.arange(60) % 3
X[:, 4] += y
scores = L2pSelector(alpha=0.05).fit(X, y).scores_
"""
SHOW = "import json; print(json.dumps(scores.tolist()))"
BLOCK = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {names!r}:
            raise ImportError(name + " is blocked")
sys.meta_path.insert(0, Blocked())
"""


@pytest.fixture(scope="module")
def scores():
    """Scores of the same fit in an ordinary process (which also fills the compiler's cache)."""
    return json.loads(run(FIT, SHOW))


def test_import_prints_nothing_and_leaves_warnings_and_loggers_alone():
    out = run(
        "import warnings, logging, os, numpy, scipy.sparse, sklearn, json",
        "before = (warnings.filters[:], logging.getLogger().handlers[:], dict(os.environ))",
        "import rowsparse",
        "after = (warnings.filters[:], logging.getLogger().handlers[:], dict(os.environ))",
        "print(before == after)",
    )
    assert out.strip() == "True"


def test_first_fit_of_a_process_stays_within_its_cpu_budget(scores):
    used = float(run(FIT, "import time; print(time.process_time())"))
    assert used < 6.0  # 3 s on an idle machine; twice that where the cores are shared


def test_fit_works_where_the_compiler_cannot_write_a_cache(scores):
    np.testing.assert_allclose(json.loads(run(NO_CACHE, FIT, SHOW)), scores, rtol=1e-9, atol=1e-12)


def test_fit_needs_no_optional_package(scores):
    names = {"pandas", "polars", "dask", "matplotlib", "plotly", "typer", "rich", "pyarrow"}
    alone = json.loads(run(BLOCK.format(names=names), FIT, SHOW))
    np.testing.assert_array_equal(alone, scores)


def test_fit_without_numba_gives_the_same_numbers(scores):
    alone = json.loads(run(BLOCK.format(names={"numba", "llvmlite"}), FIT, SHOW))
    np.testing.assert_allclose(alone, scores, rtol=1e-7, atol=1e-10)


def test_fits_in_worker_processes_equal_fits_at_home():
    X, y = labelled()
    selector = L2pSelector(n_features_to_select=3)
    fits = Parallel(n_jobs=2)(delayed(selector.fit)(X, y) for _ in range(2))
    for fitted in fits:
        np.testing.assert_array_equal(fitted.support_, selector.fit(X, y).support_)
        np.testing.assert_allclose(fitted.scores_, selector.scores_, rtol=1e-9)


def test_cloudpickle_keeps_a_fit():
    cloudpickle = pytest.importorskip("cloudpickle")
    X, y = labelled()
    selector = L2pSelector(alpha=0.05).fit(X, y)
    twin = cloudpickle.loads(cloudpickle.dumps(selector))
    np.testing.assert_array_equal(twin.coef_, selector.coef_)
    np.testing.assert_array_equal(twin.transform(X), selector.transform(X))
