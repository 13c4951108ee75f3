"""A cluster of two worker processes, started by the tests and gone with them."""

import pytest

SETTINGS = {"dashboard_address": ":0", "threads_per_worker": 1}


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    # Lost workers are part of the tests; what their ends have to say about it is not.
    quiet = distributed.LocalCluster(n_workers=2, silence_logs=50, memory_limit="1GB", **SETTINGS)
    with quiet as cluster, distributed.Client(cluster) as client:
        yield client
