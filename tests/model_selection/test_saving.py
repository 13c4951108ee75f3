"""Results as folders, estimators through skops."""

import json

import numpy as np
import pytest
import skops.io
from estimator_checks import toy
from sklearn.base import clone

from rowsparse import (
    L2pSelector,
    LpInfSelector,
    ProbitKernelClassifier,
    ProbitSelector,
    ScoreSelector,
    TopKSelector,
    ZeroNormKernelSVC,
    ZeroNormSVC,
)
from rowsparse.model_selection import (
    KnockoffSelector,
    SelectorCV,
    StabilitySelector,
    alternatives,
    compare,
    load,
)

FAST = TopKSelector(3, n_init=0, polish=False)


def knockoffs(X, y):
    return KnockoffSelector(L2pSelector(p=1), fdr=0.5, random_state=0).fit(X, y).result_


def comparison(X, y):
    broken = ScoreSelector(lambda X, y: 1 / 0)
    return compare({"a": FAST, "b": broken}, X, y, ks=[1, 2], cv=2)


MAKERS = {
    "tuning": lambda X, y: SelectorCV(FAST, ks=[1, 3], cv=2).fit(X, y).result_,
    "stability": lambda X, y: (
        StabilitySelector(FAST, n_pairs=3, random_state=0).fit(X, y).stability_
    ),
    "knockoffs": knockoffs,
    "comparison": comparison,
    "alternatives": lambda X, y: alternatives(clone(FAST).fit(X, y), X, y, tol=0.1),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_saved_result_is_the_same_value(kind, tmp_path):
    result = MAKERS[kind](*toy.labelled())
    result.save(tmp_path / "new" / "folder")
    again = load(tmp_path / "new" / "folder")
    assert again == result
    assert type(result).load(tmp_path / "new" / "folder") == result
    text = (tmp_path / "new" / "folder" / "result.json").read_text()
    assert json.loads(text)["version"] == 1
    assert "NaN" not in text
    result.save(tmp_path / "new" / "folder")  # over itself: nothing is left of the first
    assert len(list((tmp_path / "new" / "folder").iterdir())) == 2


def test_what_is_damaged_or_of_another_kind_is_refused(tmp_path):
    X, y = toy.labelled()
    stability = StabilitySelector(FAST, n_pairs=2, random_state=0).fit(X, y).stability_
    with pytest.raises(FileNotFoundError, match=r"no result\.json"):
        load(tmp_path)
    stability.save(tmp_path)
    facts = json.loads((tmp_path / "result.json").read_text())
    archive = tmp_path / facts["arrays"]
    whole = archive.read_bytes()
    archive.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="cannot be read"):
        load(tmp_path)
    archive.write_bytes(whole)
    for change, words in (({"version": 99}, "version"), ({"kind": "soup"}, "soup")):
        (tmp_path / "result.json").write_text(json.dumps({**facts, **change}))
        with pytest.raises(ValueError, match=words):
            load(tmp_path)
    (tmp_path / "result.json").write_text("{")
    with pytest.raises(ValueError, match="cannot be read"):
        load(tmp_path)


def test_a_pickle_in_the_place_of_arrays_is_not_loaded(tmp_path):
    X, y = toy.labelled()
    StabilitySelector(FAST, n_pairs=2, random_state=0).fit(X, y).stability_.save(tmp_path)
    facts = json.loads((tmp_path / "result.json").read_text())
    np.savez(tmp_path / facts["arrays"], sizes=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="cannot be read"):
        load(tmp_path)


ESTIMATORS = [
    L2pSelector(3),
    L2pSelector(alpha=0.1),
    LpInfSelector(3),
    TopKSelector(3),
    ScoreSelector("f", 3),
    ZeroNormSVC(),
    ZeroNormKernelSVC(),
    ProbitSelector(),
    ProbitKernelClassifier(),
    SelectorCV(FAST, ks=[1, 3], cv=2),
    StabilitySelector(FAST, n_pairs=2, random_state=0),
    KnockoffSelector(L2pSelector(p=1), fdr=0.5, random_state=0),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_a_fitted_estimator_survives_skops(estimator):
    X, y = toy.labelled(c=2)
    fitted = estimator.fit(X, y)
    data = skops.io.dumps(fitted)
    unknown = skops.io.get_untrusted_types(data=data)
    assert all(name.startswith("rowsparse.") for name in unknown), unknown
    again = skops.io.loads(data, trusted=unknown)
    assert repr(again) == repr(fitted)
    for method in ("transform", "predict"):
        if hasattr(fitted, method):
            np.testing.assert_array_equal(getattr(again, method)(X), getattr(fitted, method)(X))
