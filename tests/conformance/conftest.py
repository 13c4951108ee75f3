"""Designs of every storage and wrapper."""

import numpy as np
import pytest
from conformance.storages import STORAGES, WRAPPERS, Pair, numbers


@pytest.fixture(params=WRAPPERS)
def wrapper(request):
    return request.param


@pytest.fixture(params=STORAGES)
def pair(request, wrapper, tmp_path):
    X = numbers()
    if "float32" in request.param:
        X = X.astype(np.float32).astype(float)
    return Pair(STORAGES[request.param](X, tmp_path), X, wrapper)
