"""Who competes: how each library is called, through its public interface only.

This file is imported by the parent (names, environments) and by the workers (calls), so every
library is imported inside the function that uses it. A `solve` returns W (features x outputs)
and, where the task has one, the intercept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

UNLIMITED = 1_000_000  # iterations: the tolerance and the wall cap decide, never this


@dataclass(frozen=True)
class Task:
    """1/(r n) sum_i |e_i|^r + alpha sum_j |w_j|^p."""

    alpha: float
    r: float = 2.0
    p: float = 1.0
    fit_intercept: bool = False


@dataclass(frozen=True)
class Contestant:
    environment: str
    package: str
    solve: Callable  # (X, Y, task, tol) -> W
    layout: str = "F"  # the memory order it likes, prepared outside the clock
    takes_labels: bool = False


def rowsparse(init="zero", solver="BlockDescent"):
    def solve(X, Y, task, tol):
        from rowsparse import L2pSelector, solvers

        selector = L2pSelector(
            alpha=task.alpha,
            p=task.p,
            r=task.r,
            fit_intercept=task.fit_intercept,
            standardize=False,
            init=init,
            solver=getattr(solvers, solver)(tol=tol),
        ).fit(X, Y)
        return np.asarray(selector.coef_).T

    return Contestant("own", "rowsparse", solve)


def sklearn_multi_task_lasso(X, Y, task, tol):
    from sklearn.linear_model import MultiTaskLasso

    model = MultiTaskLasso(
        alpha=task.alpha, tol=tol, max_iter=UNLIMITED, fit_intercept=task.fit_intercept
    )
    return model.fit(X, Y).coef_.T


def celer_multi_task_lasso(X, Y, task, tol):
    from celer import MultiTaskLasso

    model = MultiTaskLasso(
        alpha=task.alpha, tol=tol, max_iter=1000, fit_intercept=task.fit_intercept
    )
    return model.fit(X, Y).coef_.T


def skglm_block_descent(penalty_name, ws_strategy):
    """The solver itself: skglm.MultiTaskLasso is this call plus validation."""

    def solve(X, Y, task, tol):
        from skglm import penalties
        from skglm.datafits import QuadraticMultiTask
        from skglm.solvers import MultiTaskBCD

        solver = MultiTaskBCD(
            max_iter=1000, tol=tol, ws_strategy=ws_strategy, fit_intercept=task.fit_intercept
        )
        penalty = getattr(penalties, penalty_name)(task.alpha)
        W, *_ = solver.solve(X, Y, QuadraticMultiTask(), penalty)
        return W[: X.shape[1]]

    return Contestant("modern", "skglm", solve)


def adelie_group_lasso(X, Y, task, tol):
    """adelie divides the loss by the number of outputs, so lambda = alpha / outputs."""
    import adelie

    d, outputs = X.shape[1], Y.shape[1]
    state = adelie.grpnet(
        X,
        adelie.glm.multigaussian(Y),
        penalty=np.ones(d),
        lmda_path=np.array([task.alpha / outputs]),
        tol=tol,
        max_iters=UNLIMITED,
        intercept=task.fit_intercept,
        early_exit=False,
        progress_bar=False,
    )
    coefficients = state.betas.toarray()[-1]
    return coefficients[-d * outputs :].reshape(d, outputs)


def skein_multi_task_lasso(X, Y, task, tol):
    """skein divides the loss by the number of outputs, so lambda_ = alpha / outputs."""
    from skein_glm.multitask import MultiTaskLassoRegressor

    model = MultiTaskLassoRegressor(
        lambda_=task.alpha / Y.shape[1],
        tol=tol,
        max_iter=UNLIMITED,
        fit_intercept=task.fit_intercept,
    )
    return model.fit(X, Y).coef_.T


def skfeature_rfs(X, labels, task, tol):
    """Has no tolerance: it stops at an absolute change of 1e-3 of the summed objective."""
    from skfeature.function.sparse_learning_based.RFS import rfs

    return rfs(X, labels, mode="raw", gamma=task.alpha * task.r * X.shape[0])


def rfs_iteration(X, Y, task, tol):
    """What skfeature's RFS computes, its diagonal matrix kept as a vector: the same iterates, start
    and stopping rule without the inverse of a (d + n) x (d + n) matrix. It tells the objective of
    a run that nobody can wait for; its time is that of an algorithm skfeature does not have."""
    n, d = X.shape
    gamma = task.alpha * task.r * n
    A = np.hstack([X, gamma * np.eye(n)])
    inverse, previous = np.ones(n + d), np.inf
    for _ in range(1000):
        U = inverse[:, None] * (A.T @ np.linalg.solve((A * inverse) @ A.T + 1e-6 * np.eye(n), Y))
        W = U[:d]
        objective = row_sum(X @ W - Y) + gamma * row_sum(W)
        if abs(objective - previous) < 1e-3:
            break
        inverse, previous = 2 * np.maximum(np.linalg.norm(U, axis=1), 1e-16), objective
    return W


def row_sum(A):
    return np.linalg.norm(A, axis=1).sum()


CONTESTANTS = {
    "rowsparse": rowsparse(),
    "rowsparse best": rowsparse("best"),
    "rowsparse zero": rowsparse("zero"),
    "rowsparse irls": rowsparse("irls"),
    "rowsparse convex": rowsparse("convex"),
    "rowsparse IRLS()": rowsparse("irls", "IRLS"),
    "sklearn": Contestant("modern", "scikit-learn", sklearn_multi_task_lasso),
    "skglm": skglm_block_descent("L2_1", "subdiff"),
    "skglm fixpoint": skglm_block_descent("L2_05", "fixpoint"),
    "celer": Contestant("celer", "celer", celer_multi_task_lasso),
    "adelie": Contestant("adelie", "adelie", adelie_group_lasso),
    "skein": Contestant("modern", "skein-glm", skein_multi_task_lasso, layout="C"),
    "skfeature RFS": Contestant(
        "modern", "skfeature-chappers", skfeature_rfs, layout="C", takes_labels=True
    ),
    "skfeature's iteration": Contestant("own", "numpy", rfs_iteration, layout="C"),
    # Runs in worker.py's own mode: the algorithm as printed in the paper, NumPy only.
    "printed d×d": Contestant("own", "numpy", solve=None, layout="C"),
}


def is_ours(name: str) -> bool:
    return name.startswith("rowsparse")
