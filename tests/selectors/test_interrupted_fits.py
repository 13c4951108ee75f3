"""An interrupted or failed fit leaves the estimator as it was: not fitted, or by the last fit."""

import numpy as np
import pytest
from estimator_checks.toy import labelled

from rowsparse import L2pSelector, ScoreSelector, ZeroNormKernelSVC, ZeroNormSVC
from rowsparse.selectors import base, by_score, kernel_machines
from rowsparse.solvers import BlockDescent

CASES = [
    (L2pSelector(alpha=0.05), base, "weigh"),  # the last that a fit calls, or nearly
    (ZeroNormSVC(), base, "weigh"),
    (ScoreSelector("f", 2), by_score.np, "setdiff1d"),
    (ZeroNormKernelSVC(), kernel_machines.np, "bincount"),
]


def interrupted(*_, **__):
    raise KeyboardInterrupt


@pytest.fixture(params=CASES, ids=lambda case: type(case[0]).__name__)
def case(request):
    return request.param


def test_no_attribute_of_an_interrupted_fit_stays(case, monkeypatch):
    model, module, late = case
    before = dict(vars(model))
    monkeypatch.setattr(module, late, interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*labelled())
    assert vars(model) == before


def test_a_failed_second_fit_leaves_the_first():
    X, y = labelled()
    model = L2pSelector(alpha=0.05).fit(X, y)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="constant"):
        model.fit(np.ones((6, 3)), [0, 1] * 3)
    assert vars(model) == before


@pytest.mark.parametrize("calls", [1, 3])
def test_an_interrupt_on_the_way_of_squared_loss_is_not_swallowed(calls):
    """For r < 2 a walk to k rows is led by one of squares, whose solves keep what they have."""
    X, y = labelled()
    seen = []

    def step(self, problem, state, out_of_time):
        if problem.loss.quadratic:
            seen.append(1)
            if len(seen) == calls:
                raise KeyboardInterrupt
        return whole_step(self, problem, state, out_of_time)

    whole_step = BlockDescent.step
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BlockDescent, "step", step)
        with pytest.raises(KeyboardInterrupt):
            L2pSelector(2, r=1.0).fit(X, y)
    assert len(seen) == calls
