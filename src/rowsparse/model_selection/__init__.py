"""How many features, which, and how sure: tuning, stability with error control, comparison.

Estimators and functions: ``SelectorCV``, ``StabilitySelector``, ``KnockoffSelector``, ``compare``,
``alternatives``. Each has a result of plain values with ``save(folder)`` and ``load(folder)``
(``result.json`` and one .npz, no pickle; ``load`` of this module reads any of them):

``Tuning`` (``SelectorCV.result_``)
    params (one mapping per candidate), scores (candidates x folds), means, errors, sizes, seconds,
    best_index, best_params, rule, selector, scoring, support, n_features, names (of the support);
    to_frame()
``NestedScore`` (``SelectorCV.nested_score``)
    scores, sizes, params, supports (one per outer fold), interval, mean
``Stability`` (``StabilitySelector.stability_``)
    selections (columns per half-sample), n_features, threshold, q, pfer, bound, names, n_pairs,
    probabilities, support, nogueira, kuncheva, jaccard (each an Interval), at(threshold=...),
    probability_of_any(columns), explanation()
``Comparison`` (``compare``)
    cells (each: method, repeat, fold, k, estimator, score, seconds, columns, failure), methods,
    ks, estimators, n_features, names, test_share, scoring, n_cells, finished, failures;
    to_frame(), intervals(), summary(), differences(), not_separable(), stability(method, k)
``Knockoffs`` (``KnockoffSelector.result_``)
    statistics (draws x columns), e_values, support, threshold, fdr, names
``Alternatives`` (``alternatives``)
    selected, columns and changes (one array per selected column), tol, names; to_frame()
``Interval``
    estimate, low, high, level
"""

from .alternatives import Alternatives, alternatives
from .compare import compare
from .comparison import Cell, Comparison, Difference
from .interchangeable import CorrelatedGroup
from .intervals import Interval
from .knockoffs import Knockoffs, KnockoffSelector
from .loading import load
from .stability import StabilitySelector
from .stability_result import Stability
from .tuning import SelectorCV
from .tuning_result import NestedScore, Tuning

__all__ = [
    "Alternatives",
    "Cell",
    "Comparison",
    "CorrelatedGroup",
    "Difference",
    "Interval",
    "KnockoffSelector",
    "Knockoffs",
    "NestedScore",
    "SelectorCV",
    "Stability",
    "StabilitySelector",
    "Tuning",
    "alternatives",
    "compare",
    "load",
]
