"""How many features, which penalty: a selector that chooses its own parameters by resampling."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from ..inputs import check_parameters
from ..selectors import TopKSelector
from ..selectors.base import FeatureSelector, all_or_nothing
from ..selectors.paths import selection_path
from ..selectors.penalised import RowSelector
from ..warn import warn_user
from .grids import Combination, combinations
from .intake import Metadata, Table, check_selector, fit_params_of
from .parts import by_passes
from .progress import CallbackSupportMixin, Progress, with_callbacks
from .readout import default_estimator, readout_for
from .rules import check_rule, chosen, standard_errors
from .search import evaluate_all, results_table, say_what_went_wrong, splits_of
from .search_blocks import parts_of_folds, refuse_other_readouts
from .tuning_result import Tuning


class SelectorCV(CallbackSupportMixin, FeatureSelector):
    """Choose the parameters of a selector by cross-validation, and select with them.

    On every fold, and for every combination of the other parameters, one path is followed in alpha
    or in the number of features; selection and scaling see the training part alone. What is
    scored is a model refitted on the selected columns, so that candidates are compared by the use
    of their columns and not by how much their penalty shrinks.

    Parameters
    ----------
    selector : a feature selector
        ``L2pSelector`` and ``LpInfSelector`` are followed along alpha or k, ``TopKSelector`` along
        k; filters are ranked once; any other selector is fitted for every candidate.
    grid : mapping from parameter to values, or a list of such
        Under "alpha" either values or their number, counted from the alpha_max of all samples
        down to a hundredth of it. Without grid and ks: 50 alphas where the selector has a free
        alpha, else 1, 2, 3, 5, 7, 10, 20, … features.
    ks : numbers of features to compare
        For them ``ridge="auto"`` means that of the largest; ``best_params_`` names it.
    estimator : scikit-learn estimator, optional
        Refitted on the selected columns. None is a ridge classifier or regression on them,
        standardised.
    scoring : None, a name or function as in scikit-learn, or "loss"
        None is accuracy (several labels: all of them right) or R²; "loss" is minus the selector's
        own loss of its own coefficients, without refitting.
    cv : int, splitter or splits
        Stratified for class labels; ``groups`` of ``fit`` reach the splitter.
    rule : "best", "1se", a number or a function
        "1se" takes the fewest features whose mean score is within one standard error of the best,
        a number those within this tolerance of it, a function of ``cv_results_`` gives an index.
    imputer : transformer, optional
        X may have NaN then; a copy is fitted on every training part and fills both parts. It must
        keep the columns, as ``SimpleImputer(keep_empty_features=True)`` does.
    n_jobs : int, optional
        Paths at the same time; the result does not depend on it.

    Attributes
    ----------
    cv_results_ : dict of arrays as in GridSearchCV, with ``mean_n_features``
    best_index_, best_params_, best_score_
    best_selector_ : the selector with ``best_params_``, fitted on all samples
    imputer_ : the imputer fitted on all samples, or None; ``transform`` leaves gaps as they are
    path_ : rowsparse.results.Path on all samples along the best combination, or None
    support_, ranking_, scores_ : those of ``best_selector_``
    result_ : Tuning, the same as plain values that can be saved
    n_splits_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.model_selection import SelectorCV
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> search = SelectorCV(TopKSelector(), ks=[1, 2, 4, 8], rule="1se").fit(X, y)
    >>> search.best_params_["n_features_to_select"]
    8
    """

    _checks: ClassVar = {"rule": check_rule}

    def __init__(
        self,
        selector: Any,
        *,
        grid: Any = None,
        ks: Any = None,
        estimator: Any = None,
        scoring: Any = None,
        cv: Any = 5,
        rule: Any = "best",
        imputer: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.selector = selector
        self.grid = grid
        self.ks = ks
        self.estimator = estimator
        self.scoring = scoring
        self.cv = cv
        self.rule = rule
        self.imputer = imputer
        self.n_jobs = n_jobs

    @with_callbacks
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Compare all candidates and fit the chosen one on all samples.

        Parameters
        ----------
        X, y, sample_weight : as for the selector
        groups : array of n_samples, for splitters such as ``GroupKFold``
        """
        check_parameters(self)
        check_selector(self.selector)
        table = Table.of(self, self.selector, X, y, self.imputer, blocks=True)
        metadata = Metadata.of(self, table.shape[0], sample_weight, groups)
        given = fit_params_of(self.selector, metadata.selector)
        plain = table.resolved(self.selector)
        everyone = np.arange(table.shape[0])
        self.imputer_ = table.fitted_imputer(everyone)
        readout = readout_for(self.estimator, self.scoring, table.target, plain)
        refuse_other_readouts(table, readout)
        splits = splits_of(self.cv, table, metadata)
        table = by_passes(table, plain, [split.train for split in splits])
        parts = parts_of_folds(table, plain, splits, metadata.selector)
        whole = table.filled(everyone)
        combos = combinations(plain, self.grid, self.ks, whole, given)
        _refuse_incomparable(self.scoring, combos)
        n_paths = len(combos) * len(splits)
        with Progress(self, X, y, n_paths, "path on a fold", ("fold", len(combos))) as progress:
            found = evaluate_all(table, readout, combos, splits, self.n_jobs, progress.step, parts)
        say_what_went_wrong(found)
        self.cv_results_ = results_table(found)
        self.n_splits_ = len(splits)
        self._choose(found.scores)
        # the names of a data frame reach the best selector, unless its gaps had to be filled
        as_given = self.imputer is None and not table.in_blocks
        named = (X, y) if as_given else (whole.X, whole.y)
        self._fit_best(named[0], named[1], whole, given, combos)
        self._set_result(found.scores)
        progress.end()
        if not self.support_.any():
            warn_user(
                f"The choice by rule={self.rule!r} is the empty model: no selection is better than "
                "none beyond what the folds can tell. Use rule='best', more samples, or take it "
                "as the answer.",
            )
        return self

    def _choose(self, scores: np.ndarray) -> None:
        self.best_index_ = chosen(self.rule, self.cv_results_, scores)
        self.best_params_ = dict(self.cv_results_["params"][self.best_index_])
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])

    def _fit_best(
        self, X: Any, y: Any, table: Table, given: dict[str, Any], combos: list[Combination]
    ) -> None:
        # candidates are numbered through all combinations, each with a path of its own
        position = self.best_index_
        for combo in combos:
            if position < len(combo.candidates):
                break
            position -= len(combo.candidates)
        selector = self.selector if self.imputer is None else table.resolved(self.selector)
        best = clone(selector).set_params(**self.best_params_)
        if isinstance(best, RowSelector) and combo.ks is not None:
            # under an alpha of its own it might select fewer than k
            best.set_params(alpha=None)
        if combo.alphas is not None:
            best.set_params(n_features_to_select=None)
        self.best_selector_ = best.fit(X, y, **given)
        # of an earlier fit with another selector
        self.path_ = None
        if isinstance(best, RowSelector | TopKSelector) and (combo.alphas is not None or combo.ks):
            weight = given.get("sample_weight")
            self.path_ = selection_path(
                combo.selector, table.everyone(combo.selector), table.y,
                alphas=combo.alphas, ks=combo.ks, sample_weight=weight,
            )  # fmt: skip
        self.support_ = best.get_support()
        fitted = vars(best)
        self.scores_ = np.asarray(fitted.get("scores_", self.support_), dtype=float)
        if self.scores_.shape != self.support_.shape:  # RFECV's are no scores of columns
            self.scores_ = self.support_.astype(float)
        # the selected ones first: scores of some selectors say nothing of the order
        order = np.lexsort((np.arange(self.support_.size), -self.scores_, ~self.support_))
        self._set_ranking(order)
        if "ranking_" in fitted:
            self.ranking_ = np.asarray(fitted["ranking_"])
        self._set_classes(fitted.get("classes_"))

    def _set_result(self, scores: np.ndarray) -> None:
        table = self.cv_results_
        self.result_ = Tuning(
            params=tuple(table["params"]),
            scores=scores,
            means=table["mean_test_score"],
            errors=standard_errors(scores),
            sizes=table["mean_n_features"],
            seconds=table["mean_fit_time"],
            best_index=self.best_index_,
            rule=self.rule if isinstance(self.rule, str | float | int) else repr(self.rule),
            selector=repr(self.best_selector_),
            scoring="default" if self.scoring is None else str(self.scoring),
            support=np.flatnonzero(self.support_),
            n_features=self.support_.size,
            names=self.get_feature_names_out().astype(str),
        )

    def nested_score(
        self, X: Any, y: Any, *, cv: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Any:
        """An outer cross-validation of the whole procedure: what to expect on new samples.

        Every outer training part is searched anew, as by ``fit``, and the model refitted on the
        columns that it selects is scored on the outer test part. ``best_score_`` is the score of
        the candidate that looked best, which is better than what it will be worth.

        Parameters
        ----------
        cv : as the parameter of the same name, which it is by default
        """
        from .nested import nested_score

        return nested_score(self, X, y, cv, sample_weight, groups)

    def get_metadata_routing(self) -> MetadataRouter:
        """Where sample weights and groups go: see scikit-learn's guide to metadata routing."""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=type(self).__name__)
        router.add(selector=self.selector, method_mapping=to_fit)
        splitter = check_cv(self.cv)
        to_split = MethodMapping().add(caller="fit", callee="split")
        router.add(splitter=splitter, method_mapping=to_split)
        if self.estimator is not None:
            router.add(estimator=self.estimator, method_mapping=to_fit)
        if self.scoring != "loss":
            model = self.estimator or default_estimator("binary")
            scorer = check_scoring(model, scoring=self.scoring)
            to_score = MethodMapping().add(caller="fit", callee="score")
            router.add(scorer=scorer, method_mapping=to_score)
        return router

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.selector)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = self.imputer is not None
        tags.target_tags.multi_output = inner.target_tags.multi_output
        return tags

    def _columns(self, input_features: Any) -> dict[str, np.ndarray]:
        check_is_fitted(self, "support_")
        if isinstance(self.best_selector_, FeatureSelector):
            return self.best_selector_._columns(input_features)
        return super()._columns(input_features)


def _refuse_incomparable(scoring: Any, combos: list[Combination]) -> None:
    """Losses of different orders r are numbers of different units."""
    orders = {combo.selector.get_params(deep=False).get("r") for combo in combos}
    if isinstance(scoring, str) and scoring == "loss" and len(orders) > 1:
        raise ValueError(
            f"Expected one r in grid with scoring='loss', got {sorted(orders)}, whose losses "
            "cannot be compared; leave scoring out."
        )
