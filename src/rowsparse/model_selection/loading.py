"""Any saved result, by what its folder says it is."""

from __future__ import annotations

import os
from typing import Any

from .alternatives import Alternatives
from .comparison import Comparison
from .knockoffs import Knockoffs
from .saving import kind_of
from .stability_result import Stability
from .tuning_result import Tuning

Result = Alternatives | Comparison | Knockoffs | Stability | Tuning
KINDS: dict[str, Any] = {
    "alternatives": Alternatives,
    "comparison": Comparison,
    "knockoffs": Knockoffs,
    "stability": Stability,
    "tuning": Tuning,
}


def load(folder: str | os.PathLike[str]) -> Result:
    """The result that was saved in a folder.

    Parameters
    ----------
    folder : what the ``save`` of a result was given

    Returns
    -------
    Tuning, Stability, Comparison, Knockoffs or Alternatives

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> import tempfile
    >>> from rowsparse import TopKSelector
    >>> from rowsparse.model_selection import alternatives, load
    >>> found = alternatives(TopKSelector(3).fit(X, y), X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found.save(folder + "/wine")
    ...     again = load(folder + "/wine")
    >>> again == found
    True
    """
    kind = kind_of(folder)
    if kind not in KINDS:
        raise ValueError(
            f"Expected a saved {', '.join(KINDS)}, got {kind!r} in {str(folder)!r}; load it with "
            "the version of rowsparse that saved it."
        )
    return KINDS[kind].load(folder)
