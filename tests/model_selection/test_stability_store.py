"""StabilitySelector with a folder: what is finished is kept, whatever ended the run."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from estimator_checks import toy

from rowsparse import ScoreSelector
from rowsparse.model_selection import Stability, StabilitySelector


def stable(store, score="f", **params):
    given = {"q": 3, "n_pairs": 6, "random_state": 0, "store": store, **params}
    return StabilitySelector(ScoreSelector(score), **given)


def test_a_folder_resumes_and_holds_every_pair_once(tmp_path):
    X, y = toy.labelled()
    whole = stable(tmp_path).fit(X, y)
    files = sorted((tmp_path / "cells").glob("*.json"))
    assert len(files) == 6
    files[2].unlink()
    left = files[4].read_bytes()
    (tmp_path / "cells" / ".left.json.999999999.part").write_text("{")
    again = stable(tmp_path, n_jobs=2).fit(X, y)
    assert again.stability_ == whole.stability_ == stable(None).fit(X, y).stability_
    assert files[4].read_bytes() == left
    assert not list((tmp_path / "cells").glob(".*"))
    assert Stability.load(tmp_path) == whole.stability_


def test_what_is_in_the_folder_is_not_fitted_again(tmp_path, monkeypatch):
    X, y = toy.labelled()
    whole = stable(tmp_path).fit(X, y)
    monkeypatch.setattr(ScoreSelector, "fit", lambda *given, **known: pytest.fail("fitted again"))
    assert stable(tmp_path).fit(X, y).stability_ == whole.stability_


@pytest.mark.parametrize("damage", ["another column", "no cells", "too deep"])
def test_a_part_that_has_changed_is_refused_and_said(tmp_path, damage):
    """What is damaged may still be JSON, and columns."""
    X, y = toy.labelled()
    stable(tmp_path).fit(X, y)
    file = tmp_path / "cells" / "pair%2f0.json"
    kept = json.loads(file.read_text())
    if damage == "another column":
        kept["cells"][0]["columns"] = [5, 6, 7]
    else:
        del kept["cells"]
    file.write_text("[" * 100_000 if damage == "too deep" else json.dumps(kept))
    with pytest.raises(ValueError, match=r"^Expected a .*pair%2f0.json"):
        stable(tmp_path).fit(X, y)


def test_a_folder_of_another_fit_is_refused(tmp_path):
    X, y = toy.labelled()
    weight = np.ones(60)
    weight[3] = 2
    stable(tmp_path).fit(X, y)
    others = [{"score": "fisher"}, {"q": 2}, {"n_pairs": 5}, {"random_state": 1}]
    for other in others:
        with pytest.raises(ValueError, match="holds another one"):
            stable(tmp_path, **other).fit(X, y)
    for given in [(X + 1, y), (X, 1 - y), (X, y, None)]:
        known = {"sample_weight": weight} if len(given) == 3 else {}
        with pytest.raises(ValueError, match="holds another one"):
            stable(tmp_path).fit(*given, **known)


def test_halves_that_are_drawn_anew_cannot_be_resumed(tmp_path):
    with pytest.raises(ValueError, match="integer random_state"):
        stable(tmp_path, random_state=None).fit(*toy.labelled())


PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
from estimator_checks import toy
from rowsparse import ScoreSelector
from rowsparse.model_selection import StabilitySelector
print("ready", flush=True)
StabilitySelector(ScoreSelector("relieff"), q=3, n_pairs=40, random_state=0, store={store!r}).fit(
    *toy.labelled()
)
"""


def test_killed_at_any_moment_it_goes_on_where_it_was(tmp_path):
    tests = os.path.dirname(os.path.dirname(__file__))
    program = PROGRAM.format(tests=tests, store=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    while process.poll() is None and not list((tmp_path / "cells").glob("*.json")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    for file in (tmp_path / "cells").glob("*.json"):  # whole, every one
        json.loads(file.read_text())
    found, fresh = (
        stable(store, "relieff", n_pairs=40).fit(*toy.labelled()) for store in (tmp_path, None)
    )
    assert found.stability_ == fresh.stability_
