"""An interrupted or failed fit leaves the estimator as it was: not fitted, or by the last fit."""

import warnings

import numpy as np
import pytest
from estimator_checks.toy import labelled

from rowsparse import L2pSelector, ScoreSelector, ZeroNormKernelSVC, ZeroNormSVC
from rowsparse.paths import selection_path
from rowsparse.selectors import base, by_score, kernel_machines
from rowsparse.solvers import BlockDescent, LargestNormLP

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


class Press:
    """Ctrl-C at one step of descent, counted over the whole fit."""

    def __init__(self, patch, at=None):
        self.at = at
        self.seen = 0
        whole_step = BlockDescent.step

        def step(solver, problem, state, out_of_time):
            self.seen += 1
            if self.seen == self.at:
                raise KeyboardInterrupt
            return whole_step(solver, problem, state, out_of_time)

        patch.setattr(BlockDescent, "step", step)


WALKS = {
    "to k rows": lambda: L2pSelector(3),
    "to k rows with a bound": lambda: L2pSelector(3, ridge=1.0),
    "several starts": lambda: L2pSelector(alpha=0.05),
    "at most k rows": lambda: L2pSelector(2, alpha=0.01),
    "robust": lambda: L2pSelector(2, r=1.0),
}


@pytest.mark.filterwarnings("ignore::rowsparse.WrongToolWarning")
@pytest.mark.parametrize("name", WALKS)
def test_an_interrupt_of_any_step_is_told(name):
    """By an exception or a warning, whatever becomes of the solution that it came in."""
    X, y = labelled(n=30, d=40)
    X = X + X[:, [1]]  # columns that vie for the same places
    with pytest.MonkeyPatch.context() as patch:
        n_steps = Press(patch)
        WALKS[name]().fit(X, y)
    for at in np.unique(np.linspace(1, n_steps.seen, 60).astype(int)):
        with pytest.MonkeyPatch.context() as patch:
            Press(patch, at)
            assert _told(WALKS[name](), X, y), f"step {at} of {n_steps.seen}"


def _told(model, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(X, y)
        except KeyboardInterrupt:
            return True
    return any("interrupted" in str(one.message) for one in caught)


def test_an_interrupt_on_the_way_back_up_ends_a_path():
    X, y = labelled(n=30, d=40)
    with pytest.MonkeyPatch.context() as patch:
        n_steps = Press(patch)
        selection_path(L2pSelector(p=0.5), X, y, n_alphas=12)
    for at in range(2, n_steps.seen, 7):
        with pytest.MonkeyPatch.context() as patch:
            Press(patch, at)
            try:
                path = selection_path(L2pSelector(p=0.5), X, y, n_alphas=12)
            except KeyboardInterrupt:
                continue
            assert path[-1].status == "interrupted"


def test_an_interrupt_of_the_first_of_two_programs_is_told():
    """The k largest coefficients have a program of their own, which ends well."""
    seen = []

    def press_ctrl_c(step):
        seen.append(step)
        if len(seen) == 1:
            raise KeyboardInterrupt

    solver = LargestNormLP(callback=press_ctrl_c)
    model = ZeroNormSVC(norm=np.inf, n_features_to_select=2, solver=solver)
    assert _told(model, *labelled(c=2))
    assert len(seen) == 2
