"""Ranks, differences to the best rival and corrected intervals, from the store's cells alone."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from scipy.stats import rankdata, t

from .data import SETS
from .methods import METHODS, RIVALS
from .splits import FOLDS

FAILED = -np.inf  # ranks last, and is left out of mean differences
TEST_TO_TRAIN = 1 / (FOLDS - 1)


class Table:
    """Scores in points, cell (set, k) by cell; one number per split."""

    def __init__(self, cells: dict, sets, field: str = "score"):
        self.sets = list(sets)
        self.scores: dict[tuple, dict[str, np.ndarray]] = defaultdict(dict)
        for place, splits in _by_place(cells, field).items():
            set_name, k, method = place
            if set_name in self.sets and len(splits) == _count(cells, set_name):
                values = [100 * splits[key] for key in sorted(splits)]
                self.scores[set_name, k][method] = np.array(values)

    @property
    def methods(self) -> list[str]:
        seen = {method for cell in self.scores.values() for method in cell}
        return [name for name in METHODS if name in seen] + sorted(seen - set(METHODS))

    def places(self) -> list[tuple[str, int]]:
        return sorted(self.scores, key=lambda place: (self.sets.index(place[0]), place[1]))

    def mean(self, place, method) -> float | None:
        """None: not run, or not meant for this task. -inf: at least one split failed."""
        values = self.scores[place].get(method)
        return None if values is None else float(np.mean(values))

    def best_rival(self, place) -> tuple[str, float]:
        rivals = {name: self.mean(place, name) for name in RIVALS if name in self.scores[place]}
        return max(rivals.items(), key=lambda item: item[1], default=("none", FAILED))

    def ranks(self, method, against) -> list[float]:
        """1 is best; ties share. Where the method has no score, no rank."""
        found = []
        for place in self.places():
            names = [name for name in self.methods if name in against or name == method]
            names = [name for name in names if self.mean(place, name) is not None]
            if method in names:
                order = rankdata([-round(self.mean(place, name), 6) for name in names])
                found.append(float(order[names.index(method)]))
        return found

    def to_best_rival(self, method) -> list[float]:
        """For a rival too: 0 where it is the best itself."""
        found = []
        for place in self.places():
            ours, best = self.mean(place, method), self.best_rival(place)[1]
            if ours is not None and np.isfinite([ours, best]).all():
                found.append(ours - best)
        return found

    def to_rival_chosen_elsewhere(self, method) -> list[float]:
        """To the rival that is best on the cell's other splits, split by split.

        The best of several means is above what the best method is worth, by luck alone. This rival
        is one that a user could have chosen: by its scores on rows that are not tested.
        """
        found = []
        for place in self.places():
            ours = self.scores[place].get(method)
            rivals = [self.scores[place][name] for name in RIVALS if name in self.scores[place]]
            rivals = [scores for scores in rivals if np.isfinite(scores).all()]
            if ours is None or not np.isfinite(ours).all() or not rivals:
                continue
            scores = np.array(rivals)
            totals = scores.sum(axis=1, keepdims=True)
            # what remains of a sum without one split ranks rivals as their means elsewhere do
            chosen = (totals - scores).argmax(axis=0)
            reached = scores[chosen, np.arange(scores.shape[1])]
            found.append(float(np.mean(ours - reached)))
        return found

    def failures(self, method) -> int:
        return sum(self.mean(place, method) == FAILED for place in self.places())

    def differences(self, place, method, other) -> np.ndarray | None:
        """Split by split, None unless both have all of them."""
        pair = [self.scores[place].get(name) for name in (method, other)]
        if any(values is None or not np.isfinite(values).all() for values in pair):
            return None
        return pair[0] - pair[1]

    def over_sets(self, method, other) -> tuple[float, float, float] | None:
        """Mean difference with its interval: per set the mean over k, then over the sets."""
        per_set = defaultdict(list)
        for place in self.places():
            difference = self.differences(place, method, other)
            if difference is not None:
                per_set[place[0]].append(difference)
        means = [np.mean(several, axis=0) for several in per_set.values()]
        return interval(means) if means else None

    def clear_cells(self, method, other) -> tuple[int, int, int]:
        """Cells where the interval is above zero, holds it, is below it."""
        counts = [0, 0, 0]
        for place in self.places():
            difference = self.differences(place, method, other)
            if difference is not None:
                _, low, high = interval([difference])
                counts[0 if low > 0 else 2 if high < 0 else 1] += 1
        return tuple(counts)


def interval(samples, level: float = 0.95) -> tuple[float, float, float]:
    """The mean of the samples' means, and its corrected resampled interval.

    Nadeau & Bengio: splits share training rows, so the variance of a mean of J differences is
    (1/J + n_test/n_train) s2 and not s2/J. Sets are independent; degrees of freedom by
    Satterthwaite.
    """
    middle = float(np.mean([np.mean(values) for values in samples]))
    variances = np.array([_corrected(values) for values in samples]) / len(samples) ** 2
    total = variances.sum()
    if total == 0:
        return middle, middle, middle
    freedom = total**2 / sum(v**2 / (len(s) - 1) for v, s in zip(variances, samples, strict=True))
    reach = t.ppf(0.5 + level / 2, freedom) * np.sqrt(total)
    return middle, float(middle - reach), float(middle + reach)


def _corrected(values):
    return (1 / len(values) + TEST_TO_TRAIN) * np.var(values, ddof=1)


def _by_place(cells, field):
    """(set, k, method) -> {(repeat, fold): score}; an error counts as -inf."""
    found = defaultdict(dict)
    for (set_name, method, k, repeat, fold), record in cells.items():
        if set_name in SETS and ("error" in record or field in record):
            value = FAILED if "error" in record else record[field]
            found[set_name, k, method][repeat, fold] = value
    return found


def _count(cells, set_name):
    """How many splits the set has: a cell that is still under way is not shown."""
    return len({key[3:] for key in cells if key[0] == set_name})
