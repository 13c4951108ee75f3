"""One table held in every way in which X comes in blocks, and the selectors that take it so."""

import numpy as np
import pytest
from stores.stores import STORES, package_of

import rowsparse
from rowsparse import L2pSelector, LpInfSelector, TopKSelector

N, D = 150, 12
NAMES = [f"gene {j}" for j in range(D)]
BLOCK_BYTES = 5000  # about fifty rows


def table(outputs=2, seed=0):
    """Columns of different units, far from zero or with many zeros, four of which matter."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)) * rng.uniform(0.5, 3, D)
    X[:, ::3] += 40
    X[:, 1::3] *= rng.random((N, 4)) < 0.4
    W = np.zeros((D, outputs))
    W[:4] = rng.standard_normal((4, outputs)) * 2
    Y = (X - X.mean(axis=0)) @ W + rng.standard_normal((N, outputs))
    return X, Y


def weights():
    """Some samples count for nothing, a whole block of them too."""
    s = np.random.default_rng(1).uniform(0.5, 2, N)
    s[:45] = 0
    return s


def store(kind):
    """The table as a store on disk of this kind."""

    def hold(X, folder):
        if package_of(kind):
            pytest.importorskip(package_of(kind))
        path = STORES[kind](folder, X, np.zeros(len(X)), NAMES)
        return rowsparse.open_rows(path, "y", block_bytes=BLOCK_BYTES)

    return hold


def dask_array(chunks, form=None):
    """The table as a Dask array in chunks of so many rows."""

    def hold(X, folder):
        da = pytest.importorskip("dask.array")
        held = da.from_array(X, chunks=(chunks, X.shape[1]))
        return held if form is None else held.map_blocks(form, meta=form(np.zeros((0, 0))))

    return hold


def sparse_form(block):
    from scipy import sparse

    return sparse.csr_array(block)


HOLDERS = {
    "npy": store("npy"),
    "npy by columns": store("npy by columns"),
    "csr": store("csr npz"),
    "zarr": store("zarr v3"),
    "parquet": store("parquet"),
    "h5ad": store("h5ad csr"),
    "dask": dask_array(40),
    "dask, uneven": dask_array((1, 0, 70, 79)),
    "dask, sparse": dask_array(40, sparse_form),
}

# At p < 1 from zero alone: other starts make more passes and lead through the same operations.
SELECTORS = {
    "r=2, p=1, alpha": L2pSelector(alpha=0.2, p=1),
    "r=2, p=.5, alpha": L2pSelector(alpha=0.2, p=0.5),
    "r=2, p=1, k": L2pSelector(4, p=1),
    "r=2, p=.5, k": L2pSelector(4, p=0.5),
    "r=2, as it is": L2pSelector(4, standardize=False, fit_intercept=False),
    "r=2, no intercept": L2pSelector(4, fit_intercept=False),
    "r=1, p=1, alpha": L2pSelector(alpha=0.2, r=1, p=1),
    "r=1, p=.5, k": L2pSelector(4, r=1, p=0.5, init="zero"),
    "r=1, as it is": L2pSelector(3, r=1, init="zero", standardize=False),
    "lpinf": LpInfSelector(4),
    "top k": TopKSelector(4),
    "top k, always in": TopKSelector(4, feature_weights=np.r_[np.ones(D - 1), 0]),
    "ridge": TopKSelector(4, ridge=0.1),
}
SQUARED = [name for name in SELECTORS if not name.startswith("r=1")]


def assert_same_fit(fitted, expected):
    """The same columns, and coefficients that agree beyond what any tolerance explains."""
    np.testing.assert_array_equal(fitted.support_, expected.support_)
    np.testing.assert_allclose(fitted.coef_, expected.coef_, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(fitted.intercept_, expected.intercept_, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(fitted.ranking_, expected.ranking_)
