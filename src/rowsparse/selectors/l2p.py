"""The l2,r / l2,p family: GSR-FS, l2,p, MTFS, RFS, E-RFS and RK1U in one estimator."""

from __future__ import annotations

import numpy as np

from ..losses import ResidualLoss
from ..penalties import L2p
from .base import RowSelector


class L2pSelector(RowSelector):
    r"""Select features by a robust l2,r loss and an l2,p penalty on the rows of W.

    Minimises, on the standardised columns of X,

        1/(r n) sum_i s_i |x_i'W + b - y_i|_2**r  +  alpha sum_j f_j |w_j|_2**p

    with sample weights s of mean one and feature weights f. At r = 2, p = 1 this is scikit-learn's
    ``MultiTaskLasso`` at the same alpha. A feature is selected if its row of W is not zero.

    Parameters
    ----------
    alpha : float >= 0, optional
        Strength of the penalty. None with ``n_features_to_select=k``: alpha is lowered until at
        least k rows are nonzero. None alone: a tenth of the smallest alpha that selects nothing.
    p : float in [0, 1]
        Order of the penalty; smaller is sparser and less biased, below 1 it is not convex.
    r : float in (0, 2]
        Order of the loss; smaller is more robust to outlying samples.
    n_features_to_select : int, optional
        Keep exactly this many, the rows of largest norm; ties go to the lower index.
    fit_intercept : bool
        Fit an unpenalised intercept.
    standardize : bool
        Scale columns to unit variance first; ``coef_`` is in the original scale all the same.
    init : {"best", "zero", "irls", "convex"} or array of shape (n_features, n_outputs)
        Where to start when the problem is not convex; "best" tries all and keeps the lowest.
    solver : "auto" or an object from ``rowsparse.solvers``
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
        Row norms of W in the standardised scale.
    ranking_ : array (n_features,), 1 = best; ties broken by index.
    support_ : boolean array (n_features,)
    alpha_ : float
    solution_ : rowsparse.results.Solution, with the certificate
    n_iter_, n_features_in_, feature_names_in_, classes_ (where y has classes)

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from rowsparse import L2pSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> L2pSelector(n_features_to_select=3).fit(X, y).get_feature_names_out().tolist()
    ['flavanoids', 'color_intensity', 'proline']
    """

    def __init__(
        self,
        alpha=None,
        *,
        p=0.5,
        r=2.0,
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
        self.r = r
        self.n_features_to_select = n_features_to_select
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.init = init
        self.solver = solver
        self.feature_weights = feature_weights
        self.task = task

    @classmethod
    def mtfs(cls, alpha=None, **parameters) -> L2pSelector:
        """Multi-task feature selection (Obozinski 2006, Argyriou 2007): r = 2, p = 1."""
        return cls(alpha, r=2.0, p=1.0, **parameters)

    @classmethod
    def rfs(cls, alpha=None, **parameters) -> L2pSelector:
        """Robust feature selection (Nie et al. 2010): r = p = 1."""
        return cls(alpha, r=1.0, p=1.0, **parameters)

    @classmethod
    def erfs(cls, alpha=None, p=0.5, **parameters) -> L2pSelector:
        """Extended RFS, the l2,p method (Wang & Chen 2013): r = p."""
        return cls(alpha, r=p, p=p, **parameters)

    @classmethod
    def rk1u(cls, alpha=None, p=0.5, **parameters) -> L2pSelector:
        """RK1U (Zhang et al. 2014): r = 2, any p."""
        return cls(alpha, r=2.0, p=p, **parameters)

    @classmethod
    def gsr(cls, alpha=None, r=1.0, p=0.5, **parameters) -> L2pSelector:
        """General sparsity-regularised selection (Peng & Fan 2017): any r, any p."""
        return cls(alpha, r=r, p=p, **parameters)

    def _loss(self, sample_weight: np.ndarray | None) -> ResidualLoss:
        return ResidualLoss(float(self.r), sample_weight)

    def _penalty(self, alpha: float, factors: np.ndarray | None) -> L2p:
        return L2p(float(alpha), factors, p=float(self.p))
