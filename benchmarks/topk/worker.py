"""One contestant on one case, in its own environment: python worker.py CONTESTANT FOLDER K REPEATS.

Reads X.npy and Y.npy from the folder and prints one line of JSON: the columns chosen, and the best
wall and CPU time of the repeats. A first fit on a few columns pays for imports and compilation.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np

warnings.filterwarnings("ignore")


def fastcan(X, Y, k):
    from fastcan import FastCan

    return FastCan(k, verbose=0).fit(X, Y).indices_


def abess(X, Y, k, sizes=None, **options):
    from abess import LinearRegression, MultiTaskRegression

    many = Y.shape[1] > 1
    model = (MultiTaskRegression if many else LinearRegression)(support_size=sizes or k, **options)
    model.fit(X, Y if many else Y[:, 0])
    coef = np.atleast_2d(model.coef_)
    coef = coef if coef.shape[0] == X.shape[1] else coef.T
    return np.flatnonzero(np.abs(coef).sum(axis=1))


def abess_path(X, Y, k):
    """Sizes 1 to k, warm-started; no penalty on the size, so that the last one is returned."""
    return abess(X, Y, k, sizes=range(1, k + 1), ic_coef=1e-9)


def omp(X, Y, k):
    """scikit-learn's for one output; its many-output form gives every output its own columns, so
    that the simultaneous algorithm is written out here (one Cholesky-free QR update per step)."""
    if Y.shape[1] == 1:
        from sklearn.linear_model import OrthogonalMatchingPursuit

        model = OrthogonalMatchingPursuit(n_nonzero_coefs=k).fit(X, Y[:, 0])
        return np.flatnonzero(model.coef_)
    chosen, R, Q = [], Y.copy(), np.zeros((len(X), 0))
    for _ in range(k):
        scores = np.linalg.norm(X.T @ R, axis=1)
        scores[chosen] = -1
        j = int(np.argmax(scores))
        q = X[:, j] - Q @ (Q.T @ X[:, j])
        Q = np.column_stack([Q, q / np.linalg.norm(q)])
        R = Y - Q @ (Q.T @ Y)
        chosen.append(j)
    return np.array(chosen)


def skscope(X, Y, k):
    import jax.numpy as jnp
    from skscope import ScopeSolver

    d, c = X.shape[1], Y.shape[1]
    A, B = jnp.array(X), jnp.array(Y)

    def objective(w):
        return 0.5 * jnp.sum((B - A @ w.reshape(d, c)) ** 2)

    solver = ScopeSolver(d * c, k, group=np.repeat(np.arange(d), c).tolist())
    w = np.asarray(solver.solve(objective, jit=True)).reshape(d, c)
    return np.flatnonzero(np.abs(w).sum(axis=1))


def rowsparse(X, Y, k, **options):
    from rowsparse import TopKSelector

    selector = TopKSelector(k, r=2.0, ridge=0.0, task="regression", **options).fit(X, Y)
    return np.flatnonzero(selector.support_)


def rowsparse_forward(X, Y, k):
    return rowsparse(X, Y, k, n_init=0, polish=False)


CONTESTANTS = {
    "fastcan": fastcan,
    "abess": abess,
    "abess path": abess_path,
    "OMP": omp,
    "skscope": skscope,
    "rowsparse": rowsparse,
    "rowsparse forward": rowsparse_forward,
}


def main(name: str, folder: str, k: int, repeats: int) -> None:
    X = np.asfortranarray(np.load(Path(folder, "X.npy")))
    Y = np.load(Path(folder, "Y.npy"))
    select = CONTESTANTS[name]
    select(np.asfortranarray(X[:, :60]), Y, 3)
    wall, cpu = [], []
    for _ in range(repeats):
        began, used = time.perf_counter(), time.process_time()
        chosen = select(X, Y, k)
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - used)
        if wall[-1] > 20:
            break
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    facts = {"wall": min(wall), "cpu": min(cpu), "memory": memory}
    print(json.dumps({"chosen": np.asarray(chosen).tolist(), **facts}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
