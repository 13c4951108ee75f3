"""Which columns, with a bound on the share of false ones: row knockoffs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from ..inputs import check_integer, check_number, check_parameters
from ..selectors.base import FeatureSelector, all_or_nothing
from ..values import ByValue
from ..warn import warn_user
from .following import refuse_interrupted
from .intake import Table, check_selector, seeded, seeds
from .knockoff_copies import KnockoffSampler, checked_covariance, standardised
from .knockoff_filter import e_values, knockoff_threshold, largest_e_values
from .progress import CallbackSupportMixin, Progress, finished, with_callbacks
from .saving import load_result, save_result

# of fdr, the level of each of several draws: Ren & Barber's choice
LEVEL_OF_A_DRAW = 0.5


@dataclass(frozen=True, eq=False)
class Knockoffs(ByValue):
    """The statistics of every draw (draws x columns), ``support`` and how it was reached.

    ``e_values`` are means over the draws; ``threshold`` is that of the statistics for one draw,
    of the e-values for several, and infinite where nothing is selected.

    Attributes
    ----------
    statistics, e_values, support, threshold : as above
    fdr : the rate that was asked for
    names : of the columns, or empty

    Examples
    --------
    >>> import numpy as np
    >>> from rowsparse import L2pSelector
    >>> from rowsparse.datasets import make_row_sparse
    >>> from rowsparse.model_selection import KnockoffSelector
    >>> X, y, truth = make_row_sparse(200, 30, 10, random_state=0)
    >>> found = KnockoffSelector(L2pSelector(alpha=0.01, p=1), random_state=0).fit(X, y).result_
    >>> float(np.isin(truth, found.support).mean())
    1.0
    """

    statistics: np.ndarray
    e_values: np.ndarray
    support: np.ndarray
    threshold: float
    fdr: float
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"<Knockoffs: {self.support.size} of {self.e_values.size} columns selected at "
            f"fdr={self.fdr:g}, {len(self.statistics)} draws>"
        )

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write to a folder: JSON and npz, no pickle."""
        arrays = {name: vars(self)[name] for name in ("statistics", "e_values", "support")}
        arrays["threshold"] = np.array(self.threshold)  # JSON has no infinity
        save_result(folder, "knockoffs", {"fdr": self.fdr, "names": self.names}, arrays)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Knockoffs:
        """Read what ``save`` wrote."""
        facts, arrays = load_result(folder, "knockoffs")
        threshold = float(arrays.pop("threshold"))
        names = tuple(facts["names"])
        return cls(**arrays, threshold=threshold, fdr=facts["fdr"], names=names)


class KnockoffSelector(CallbackSupportMixin, FeatureSelector):
    """Select columns so that at most a share ``fdr`` of them is false on average.

    Every column gets a knockoff copy, drawn without looking at y; the selector is fitted once to
    columns and copies together, and a column's statistic is its score minus that of its copy:
    |w_j| - |w~_j| for rows of W, one fit for all outputs. The copies of false columns win as often
    as they lose, which tells how many of the winners are false.

    Parameters
    ----------
    selector : a feature selector whose ``scores_`` (or ``coef_``) grade all columns
        One that keeps rows for many more columns than are true, such as
        ``L2pSelector(alpha=..., p=1)`` with a small alpha.
    fdr : float in (0, 1)
        Nothing can be selected below 1/fdr columns: ten at 0.1.
    covariance : array (n_features, n_features), optional
        Of the columns, where it is known. None estimates it by Ledoit & Wolf, for which there
        may be at most half as many columns as samples.
    n_draws : int
        With several, e-values are averaged over draws of copies (Ren & Barber 2024), so that the
        selection depends less on chance; each draw is then more cautious.
    random_state : int, RandomState or None

    Attributes
    ----------
    statistics_ : array (n_features,), mean over draws; ``scores_`` too
    threshold_ : float, of the statistics for one draw, of ``e_values_`` for several
    e_values_, support_, ranking_
    result_ : Knockoffs, the same as plain values that can be saved
    n_features_in_, feature_names_in_, classes_ (where y has classes)

    Examples
    --------
    >>> from rowsparse import L2pSelector
    >>> from rowsparse.datasets import make_row_sparse
    >>> from rowsparse.model_selection import KnockoffSelector
    >>> X, Y, truth = make_row_sparse(300, 40, 15, 3, random_state=0)
    >>> found = KnockoffSelector(L2pSelector(p=1, alpha=0.1), fdr=0.2, random_state=0).fit(X, Y)
    >>> int(found.support_.sum()), int(found.support_[truth].sum())
    (15, 15)
    """

    _checks: ClassVar = {
        "fdr": partial(check_number, low=0.0, high=1.0, low_open=True),
        "n_draws": partial(check_integer, low=1),
    }

    def __init__(
        self,
        selector: Any,
        *,
        fdr: float = 0.1,
        covariance: Any = None,
        n_draws: int = 1,
        random_state: Any = None,
    ) -> None:
        self.selector = selector
        self.fdr = fdr
        self.covariance = covariance
        self.n_draws = n_draws
        self.random_state = random_state

    @with_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any) -> KnockoffSelector:
        """Draw copies, fit columns and copies together, and compare.

        Parameters
        ----------
        X : array or data frame, (n_samples, n_features)
        y : as for the selector
        """
        check_parameters(self)
        check_selector(self.selector)
        self._refuse_feature_weights()
        table = Table.of(self, self.selector, X, y, accept_sparse=False)
        values = np.asarray(table.X, dtype=float)
        with np.errstate(over="ignore", invalid="ignore"):  # infinity is said in words
            spread = values.std(axis=0)
        if not np.isfinite(spread).all():
            raise ValueError(
                "Expected X whose sums of squares are finite, got too large numbers in column "
                f"{int(np.argmin(np.isfinite(spread)))}; rescale X."
            )
        # a constant column has no copy that could differ from it; far from zero, rounding alone is
        # a spread
        rounding = 10 * np.finfo(float).eps * np.abs(values).max(axis=0)
        varying = np.flatnonzero(spread > rounding)
        covariance = self._covariance(values.shape, varying)
        Z, correlation = standardised(values[:, varying], covariance)
        sampler = KnockoffSampler(correlation)
        selector = table.resolved(self.selector)
        rng = check_random_state(self.random_state)
        tasks = [(sampler, selector, Z, table.y, int(s)) for s in seeds(rng, self.n_draws)]
        with Progress(self, X, y, len(tasks), "draw of knockoffs") as progress:
            found, interrupted = finished(_statistics, tasks, None, progress.step)
            if not found:
                raise KeyboardInterrupt
            progress.end()
        statistics = np.zeros((len(found), values.shape[1]))
        statistics[:, varying] = found
        self._set(statistics, table)
        self._say(interrupted)
        return self

    def _refuse_feature_weights(self) -> None:
        if self.selector.get_params(deep=False).get("feature_weights") is not None:
            raise ValueError(
                "Expected a selector without feature_weights, under which columns and their "
                "copies would not be treated alike; leave them out."
            )

    def _covariance(self, shape: tuple[int, int], varying: np.ndarray) -> np.ndarray | None:
        n, d = shape
        if self.covariance is not None:
            return checked_covariance(self.covariance, d)[np.ix_(varying, varying)]
        # columns and copies are fitted together: 2 d of them
        if 2 * varying.size > n:
            raise ValueError(
                f"Expected at most n/2 = {n / 2:g} columns, whose covariance {n} samples can "
                f"estimate, got {varying.size}; use StabilitySelector, which needs none, or give "
                "covariance where it is known."
            )
        if not varying.size:
            raise ValueError("Expected some column of X that varies, got only constant columns.")
        return None

    def _set(self, statistics: np.ndarray, table: Table) -> None:
        names = () if table.names is None else tuple(map(str, table.names))
        several = len(statistics) > 1
        level = self.fdr * LEVEL_OF_A_DRAW if several else self.fdr
        values = np.mean([e_values(one, level) for one in statistics], axis=0)
        self.support_, threshold = largest_e_values(values, self.fdr)
        if not several:  # the same columns, in the units of the statistics
            threshold = knockoff_threshold(statistics[0], self.fdr)
        self.result_ = Knockoffs(
            statistics, values, np.flatnonzero(self.support_), threshold, float(self.fdr), names
        )
        self.statistics_ = statistics.mean(axis=0)
        self.e_values_ = values
        self.threshold_ = threshold
        self.scores_ = self.statistics_
        # e-values of one draw are all equal: the statistics order them
        order = np.lexsort((-self.statistics_, -values, ~self.support_))
        self._set_ranking(order)
        self._set_classes(table.target.classes)

    def _say(self, interrupted: bool) -> None:
        done = len(self.result_.statistics)
        if interrupted and done < self.n_draws:
            warn_user(
                f"Interrupted: {done} of {self.n_draws} draws are finished, and the selection "
                "rests on these.",
            )
        if not self.support_.any():
            # the threshold counts one false column before any: (1 + 0) / k <= fdr
            least = int(np.ceil(1 / self.fdr))
            warn_user(
                f"No column is selected: at fdr={self.fdr:g} at least {least} columns must beat "
                f"their copies, {np.count_nonzero(self.statistics_ > 0)} of {self.support_.size} "
                "did. Raise fdr, give more samples, or use StabilitySelector.",
            )

    def get_metadata_routing(self) -> MetadataRouter:
        """Nothing is routed: fit takes X and y alone."""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=type(self).__name__).add(
            selector=self.selector, method_mapping=to_fit
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.target_tags.multi_output = get_tags(self.selector).target_tags.multi_output
        tags.non_deterministic = self.random_state is None
        return tags


def _statistics(
    sampler: KnockoffSampler, selector: Any, Z: np.ndarray, y: np.ndarray, seed: int
) -> np.ndarray:
    """Scores of the columns minus those of their copies, of one draw.

    Every column changes places with its copy or not, at random: whatever a solver prefers by
    position, the lower index of a tie say, favours neither.
    """
    rng = np.random.RandomState(seed)
    d = Z.shape[1]
    copies = sampler.draw(Z, rng)
    swapped = rng.random_sample(d) < 0.5
    left = np.where(swapped, copies, Z)
    right = np.where(swapped, Z, copies)
    fitted = seeded(selector, seed).fit(np.hstack([left, right]), y)
    scores = scores_of(fitted)
    if "solution_" in vars(fitted):
        refuse_interrupted([fitted.solution_])
    return np.where(swapped, -1.0, 1.0) * (scores[:d] - scores[d:])


def scores_of(fitted: Any) -> np.ndarray:
    """How much a fitted selector thinks of every column."""
    known = vars(fitted)
    if "scores_" in known:
        scores = np.asarray(known["scores_"], dtype=float)
        return np.where(np.isfinite(scores), scores, 0.0)
    inner = vars(known["estimator_"]) if "estimator_" in known else known
    if "coef_" in inner:
        return np.linalg.norm(np.atleast_2d(inner["coef_"]), axis=0)
    raise TypeError(
        f"Expected a selector with scores_ or coef_ after fit, got {type(clone(fitted)).__name__}."
    )
