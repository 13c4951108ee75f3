"""The l_{p,inf} operator of Kong & Ding as an estimator."""

from __future__ import annotations

import numpy as np

from ..losses import ResidualLoss
from ..penalties import LpInf
from .base import RowSelector


class LpInfSelector(RowSelector):
    r"""Select features by squared loss and an l_{p,inf} penalty on the rows of W.

    Minimises, on the standardised columns of X,

        1/(2n) sum_i s_i |x_i'W + b - y_i|_2**2  +  alpha sum_j f_j (max_k |W_jk|)**p

    with sample weights s of mean one and feature weights f. A row pays only for its largest
    coefficient, so a selected feature may serve all outputs at once for the price of one. With one
    output (numbers, or two classes) this is ``L2pSelector`` with r = 2.

    Parameters
    ----------
    alpha : float >= 0, optional
        Strength of the penalty. None with ``n_features_to_select=k``: alpha is lowered until at
        least k rows are nonzero. None alone: a tenth of the smallest alpha that selects nothing.
    p : float in [0, 1]
        Order of the penalty; smaller is sparser and less biased, below 1 it is not convex.
    n_features_to_select : int, optional
        Keep exactly this many, the rows of largest Euclidean norm; ties go to the lower index.
    fit_intercept : bool
        Fit an unpenalised intercept.
    standardize : bool
        Scale columns to unit variance first; ``coef_`` is in the original scale all the same.
    init : {"best", "zero", "ridge", "convex"} or array of shape (n_features, n_outputs)
        Where to start when the problem is not convex: from zero, from ridge regression, or from
        the solution at p = 1 continued down in p; "best" tries all and keeps the lowest.
    solver : "auto" or an object from ``rowsparse.solvers``
        ``BlockDescent`` (which "auto" is) or ``ProximalGradient``.
    feature_weights : array or mapping from names, optional
        Factor on each feature's penalty: 0 = always in, infinity = never.
    task : {"auto", "classification", "regression"}
        How to read y; "auto" follows scikit-learn's ``type_of_target``, for which a vector of
        integers is class labels.

    Attributes
    ----------
    coef_ : array (n_outputs, n_features), intercept_ : array (n_outputs,)
        Of the fit at ``alpha_``; two classes have one output, positive for ``classes_[1]``.
    scores_ : array (n_features,)
        Euclidean row norms of W in the standardised scale.
    ranking_ : array (n_features,), 1 = best; ties broken by index.
    support_ : boolean array (n_features,)
    alpha_ : float
    solution_ : rowsparse.results.Solution, with the certificate
    n_iter_, n_features_in_, feature_names_in_, classes_ (where y has classes)

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from rowsparse import LpInfSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> LpInfSelector(n_features_to_select=3).fit(X, y).get_feature_names_out().tolist()
    ['flavanoids', 'color_intensity', 'proline']
    """

    def __init__(
        self,
        alpha=None,
        *,
        p=0.5,
        n_features_to_select=None,
        fit_intercept=True,
        standardize=True,
        init="best",
        solver="auto",
        feature_weights=None,
        task="auto",
    ):
        self.alpha = alpha
        self.p = p
        self.n_features_to_select = n_features_to_select
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.init = init
        self.solver = solver
        self.feature_weights = feature_weights
        self.task = task

    def _loss(self, sample_weight: np.ndarray | None) -> ResidualLoss:
        return ResidualLoss(2.0, sample_weight)

    def _penalty(self, alpha: float, factors: np.ndarray | None) -> LpInf:
        return LpInf(float(alpha), factors, p=float(self.p))
