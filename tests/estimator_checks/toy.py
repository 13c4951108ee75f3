"""Small data with a known truth: the columns INFORMATIVE carry the signal, the rest is noise."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

INFORMATIVE = np.array([1, 4, 6])


def labelled(n: int = 60, d: int = 8, c: int = 3, seed: int = 0):
    """X, y with c classes of nearly equal size whose centres differ on the informative columns."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % c
    X = rng.standard_normal((n, d))
    centres = rng.standard_normal((c, INFORMATIVE.size))
    centres -= centres.mean(axis=0)
    X[:, INFORMATIVE] += 2.5 * centres[y] / np.abs(centres).max(axis=0)
    return X, y


def outputs(n: int = 60, d: int = 8, c: int = 3, seed: int = 0, noise: float = 0.3):
    """X, Y with c real outputs that are linear in the informative columns, plus an offset."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.5, 2.0, d) + rng.uniform(-1, 1, d)
    W = np.zeros((d, c))
    W[INFORMATIVE] = np.sign(rng.standard_normal((3, c))) * rng.uniform(0.7, 1.5, (3, c))
    return X, X @ W + 2.0 + noise * rng.standard_normal((n, c))


def mostly_zero(n: int = 60, d: int = 8, seed: int = 0):
    """X, y as a dense array with about 60 % zeros, three classes."""
    X, y = labelled(n, d, 3, seed)
    keep = np.random.default_rng(seed + 1).random(X.shape) < 0.4
    return np.where(keep, X + 1.0, 0.0), y


def thin(n: int, d: int, density: float, rng: np.random.Generator) -> sp.csc_array:
    """Uniform numbers in a few random places."""
    return sp.csc_array(np.where(rng.random((n, d)) < density, rng.random((n, d)), 0.0))


def sparse_versions(X: np.ndarray) -> dict[str, object]:
    """The same matrix in every shape a user may bring it."""
    csr, coo = sp.csr_array(X), sp.coo_array(X)
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    return {
        "csr_array": csr,
        "csc_array": sp.csc_array(X),
        "coo_array": coo,
        "csr_matrix": sp.csr_matrix(X),
        "csc_matrix": sp.csc_matrix(X),
        "coo_matrix": sp.coo_matrix(X),
        "int64 indices": wide,
        "unsorted": _reversed_rows(csr),
        "duplicate entries": _halved_twice(csr),
        "stored zeros": sp.csr_array((np.r_[coo.data, 0.0], _with_zero_entry(X, coo)), X.shape),
    }


def _reversed_rows(csr):
    rows = [slice(a, b) for a, b in zip(csr.indptr[:-1], csr.indptr[1:], strict=True)]
    indices = np.concatenate([csr.indices[r][::-1] for r in rows])
    data = np.concatenate([csr.data[r][::-1] for r in rows])
    return sp.csr_array((data, indices, csr.indptr.copy()), csr.shape)


def _halved_twice(csr):
    twice = np.repeat(csr.data / 2.0, 2)
    return sp.csr_array((twice, np.repeat(csr.indices, 2), 2 * csr.indptr), csr.shape)


def _with_zero_entry(X, coo):
    i, j = np.argwhere(X == 0.0)[0]
    return np.r_[coo.row, i], np.r_[coo.col, j]
