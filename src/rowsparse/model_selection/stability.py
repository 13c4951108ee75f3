"""Which columns are selected again and again: stability selection with error control."""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from ..inputs import (
    check_integer,
    check_name,
    check_number,
    check_parameters,
    is_integer,
    optional,
)
from ..selectors.base import FeatureSelector, all_or_nothing
from ..selectors.grouped import features_of
from ..warn import warn_user
from .error_bounds import BOUNDS, completed
from .following import with_k
from .half_samples import Half, PairTask, all_halves, folder_of, with_parts
from .intake import Metadata, Table, check_selector, seeds, selects_k
from .interchangeable import CorrelatedGroup, correlated_groups, correlations_between
from .parts import by_passes
from .progress import CallbackSupportMixin, Progress, with_callbacks
from .stability_result import Stability, check_threshold
from .subsamples import complementary_pairs

# What is missing of the three when fewer than two are given: 0.75 is where Shah & Samworth's
# unimodal bound changes its form, and one false column is what their examples allow.
USUAL_THRESHOLD = 0.75
USUAL_PFER = 1.0


class StabilitySelector(CallbackSupportMixin, FeatureSelector):
    """Select the columns that a selector chooses on most of many half-samples.

    The samples are cut into two halves ``n_pairs`` times (complementary pairs, Shah & Samworth
    2013); on every half the selector chooses exactly ``q`` columns. Selected are those chosen on
    at least a ``threshold`` of all halves. Two of threshold, q and ``pfer``, a bound on the
    expected number of false columns, give the third.

    Parameters
    ----------
    selector : a feature selector with a number of features
        It is fitted 2 ``n_pairs`` times: see docs/model-selection.md for which are fast.
    n_pairs : int
    threshold : float in (0.5, 1], optional
    q : int, optional
        None with no two others: the selector's own number of features, if it has one.
    pfer : float > 0, optional
        If fewer than two are given, the others are threshold=0.75 and then pfer=1.
    bound : {"unimodal", "r-concave", "worst-case"}
        By which pfer follows; the formulas are in ``rowsparse.model_selection.error_bounds``.
    random_state : int, RandomState or None
    imputer : transformer, optional
        X may have NaN then; a copy is fitted on every half-sample and fills it. It must keep the
        columns, as ``SimpleImputer(keep_empty_features=True)`` does.
    n_jobs : int, optional
        Half-samples at the same time; the result does not depend on it.
    store : folder, optional
        Keeps every pair as it is finished. The same fit goes on from there after any end, a kill
        included; it needs a random_state, by which the halves are the same again.

    Attributes
    ----------
    selection_probabilities_ : array (n_features,), which ``scores_`` is too
        With a ``GroupedSelector`` the columns of a group share that of the group, and what is
        counted, bounded and found in ``stability_`` are features, not columns.
    support_, ranking_
    threshold_, q_, pfer_
    stability_ : Stability
        All selections as plain values, with Nogueira's, Kuncheva's and Jaccard's index,
        ``probability_of_any(columns)``, ``explanation()``, ``save`` and ``load``.
    n_features_in_, feature_names_in_, classes_ (where y has classes)

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.model_selection import StabilitySelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> stable = StabilitySelector(TopKSelector(), q=3, n_pairs=20, random_state=0).fit(X, y)
    >>> stable.get_feature_names_out().tolist()
    ['flavanoids', 'color_intensity', 'proline']
    """

    _checks: ClassVar = {
        "n_pairs": partial(check_integer, low=2),
        "threshold": optional(check_threshold),
        "q": optional(partial(check_integer, low=1)),
        "pfer": optional(partial(check_number, low=0.0, low_open=True)),
        "bound": partial(check_name, names=BOUNDS),
    }

    def __init__(
        self,
        selector: Any,
        *,
        n_pairs: int = 50,
        threshold: float | None = None,
        q: int | None = None,
        pfer: float | None = None,
        bound: str = "unimodal",
        random_state: Any = None,
        imputer: Any = None,
        n_jobs: int | None = None,
        store: Any = None,
    ) -> None:
        self.selector = selector
        self.n_pairs = n_pairs
        self.threshold = threshold
        self.q = q
        self.pfer = pfer
        self.bound = bound
        self.random_state = random_state
        self.imputer = imputer
        self.n_jobs = n_jobs
        self.store = store

    @with_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any, groups: Any = None, **fit_params: Any) -> Self:
        """Select on every half-sample and count.

        Parameters
        ----------
        X, y : as for the selector
        groups : array of n_samples, whose groups go to one half as a whole
        **fit_params : ``sample_weight``
            For the fits on the halves. Halves are drawn among samples, so a weight of 2 is not a
            sample given twice; a weight of 0 is a sample that is not there.
        """
        check_parameters(self)
        check_selector(self.selector)
        unknown = sorted(set(fit_params) - {"sample_weight"})
        if unknown:
            raise TypeError(f"Expected sample_weight and groups alone, got {unknown}.")
        if self.store is not None and not is_integer(self.random_state):
            raise ValueError(
                "Expected an integer random_state with a store, by which the half-samples are the "
                f"same when the fit goes on, got {self.random_state!r}."
            )
        weight = fit_params.get("sample_weight")
        table = Table.of(self, self.selector, X, y, self.imputer, blocks=True)
        if table.in_blocks and self.store is not None:
            raise ValueError(
                "Expected no store for X in blocks, whose halves are found in one pass, got "
                f"{str(self.store)!r}; leave it out."
            )
        metadata = Metadata.of(self, table.shape[0], weight, groups)
        # a category is one feature, and so the bound counts it
        self._features = features_of(self.selector, table.shape[1], table.names)
        threshold, q, pfer = self._numbers(self._features.count)
        # a sample that is not there must not be dealt to a half
        there = metadata.selector is None or metadata.selector > 0
        used = np.flatnonzero(np.broadcast_to(there, table.shape[0]))
        found, interrupted = self._selections(X, y, table, metadata, used, q)
        self._set(found, table, used, threshold, q, pfer)
        self._say(found, interrupted)
        if self.store is not None:
            self.stability_.save(self.store)
        return self

    def _numbers(self, d: int) -> tuple[float, int, float]:
        """Threshold, q and pfer."""
        threshold, q, pfer = self.threshold, self.q, self.pfer
        if threshold is not None and q is not None and pfer is not None:
            raise ValueError(
                "Expected two of threshold, q and pfer, which give the third, got all of them; "
                "leave one out."
            )
        if q is None and (threshold is None or pfer is None):
            # the number that the selector was given is what one fit of it selects
            wanted = selects_k(self.selector)
            if wanted is not None and (is_integer(wanted) or 0 < wanted < 1):
                q = int(wanted) if is_integer(wanted) else max(int(d * wanted), 1)
        if threshold is None and (q is None or pfer is None):
            threshold = USUAL_THRESHOLD
        if q is None and pfer is None:
            pfer = USUAL_PFER
        if q is not None and q > d:
            raise ValueError(f"Expected q from 1 to {d} (the columns of X), got {q}.")
        return completed(threshold, q, pfer, d, self.n_pairs, self.bound)

    def _selections(
        self, X: Any, y: Any, table: Table, metadata: Metadata, used: np.ndarray, q: int
    ) -> tuple[list[Half], bool]:
        groups = None if metadata.groups is None else np.asarray(metadata.groups)[used]
        rng = check_random_state(self.random_state)
        target = replace(table.target, Y=table.target.Y[used])
        pairs = complementary_pairs(target, groups, self.n_pairs, rng)
        plain = with_k(table.resolved(self.selector), q)
        table = by_passes(table, plain, [half for pair in pairs for half in pair])
        tasks = []
        drawn = seeds(rng, self.n_pairs)
        for number, ((first, second), seed) in enumerate(zip(pairs, drawn, strict=True)):
            halves = (used[first], used[second])
            tasks.append(PairTask(number, plain, table, metadata.selector, halves, int(seed)))
        folder = None if self.store is None else folder_of(self.store, tasks)
        tasks = with_parts(tasks, self.n_jobs)
        with Progress(self, X, y, len(tasks), "pair of half-samples") as progress:
            found, interrupted = all_halves(tasks, folder, self.n_jobs, progress.step)
            progress.end()
        return found, interrupted

    def _set(
        self,
        found: list[Half],
        table: Table,
        used: np.ndarray,
        threshold: float,
        q: int,
        pfer: float,
    ) -> None:
        features = self._features
        named = table.names is not None or features.count < table.shape[1]
        stability = Stability(
            tuple(features.touched(half.columns) for half in found), features.count, threshold, q,
            pfer, self.bound, features.names if named else (),
        )  # fmt: skip
        if len(found) < 2 * self.n_pairs:  # the bound depends on the number of pairs
            stability = stability.at(threshold=threshold)
        if not table.in_blocks and features.count == table.shape[1]:
            # those that a threshold can select: it is above one half
            frequent = np.flatnonzero(stability.probabilities > 0.5)
            known = correlations_between(table.filled(used).X, used, frequent)
            stability = replace(stability, frequent=frequent, correlations=known)
        self._read(stability)
        self._set_classes(table.target.classes)

    def _read(self, stability: Stability) -> None:
        """The fitted attributes of a result."""
        self.stability_ = stability
        of_column = self._features.of_column
        self.selection_probabilities_ = stability.probabilities[of_column]
        self.scores_ = self.selection_probabilities_
        self.threshold_ = stability.threshold
        self.q_ = stability.q
        self.pfer_ = stability.pfer
        self.support_ = self._features.columns(stability.support)
        best_first = np.argsort(-stability.probabilities, kind="stable")
        self._set_ranking(best_first)
        self.ranking_ = self.ranking_[of_column]  # the columns of a feature share its rank

    def _say(self, found: list[Half], interrupted: bool) -> None:
        sentences = []
        if interrupted and len(found) < 2 * self.n_pairs:
            sentences.append(
                f"Interrupted: {len(found) // 2} of {self.n_pairs} pairs are finished, and the "
                "probabilities rest on these."
            )
        unfinished = sum(half.not_converged for half in found)
        if unfinished:
            sentences.append(
                f"{unfinished} of {len(found)} fits on half-samples did not converge; raise the "
                "solver's max_iter, or its tol if this accuracy is enough."
            )
        short = sum(one.size != self.q_ for one in self.stability_.selections)
        if short:
            sentences.append(
                f"On {short} of {len(found)} half-samples there were not q={self.q_} columns to "
                "select; the bound holds for the others."
            )
        if not self.support_.any():
            sentences.append(self.stability_.explanation())
        for sentence in sentences:
            warn_user(sentence)

    def at(self, *, threshold: float | None = None, pfer: float | None = None) -> Self:
        """A copy with another threshold, or with the smallest that keeps a pfer; nothing is
        fitted again, so q stays."""
        check_is_fitted(self, "stability_")
        # shallow: the selections are the same, and nobody changes them
        other = copy.copy(self)
        other._read(self.stability_.at(threshold=threshold, pfer=pfer))
        return other

    def interchangeable(
        self, X: Any, *, correlation: float = 0.9, least: float = 0.05
    ) -> list[CorrelatedGroup]:
        """Groups of columns that are correlated and share their selections between them.

        Parameters
        ----------
        X : the table that was fitted, or another with the same columns
        correlation : float in (0, 1]
            Columns of a group are correlated with its most frequent one by at least so much.
        least : float
            Columns selected on a smaller share of the half-samples are left out.

        Returns
        -------
        list of CorrelatedGroup, most probable first: ``columns``, ``probabilities`` and
        ``probability``, the share of half-samples on which at least one of them was selected
        """
        check_is_fitted(self, "stability_")
        if self.imputer is not None:
            X = clone(self.imputer).fit_transform(X)
        features = self._features
        # selections count features, and correlations are between columns
        by_column = replace(
            self.stability_,
            selections=tuple(
                np.flatnonzero(features.columns(one)) for one in self.stability_.selections
            ),
            n_features=self.support_.size,
            names=tuple(map(str, vars(self).get("feature_names_in_", ()))),
        )
        return correlated_groups(by_column, X, correlation, least)

    def get_metadata_routing(self) -> MetadataRouter:
        """Sample weights go to the selector, groups stay here: see scikit-learn's guide to
        metadata routing."""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(selector=self.selector, method_mapping=to_fit)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.selector)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = self.imputer is not None
        tags.target_tags.multi_output = inner.target_tags.multi_output
        tags.non_deterministic = self.random_state is None
        return tags
