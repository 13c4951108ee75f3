"""Paths against cold solves, and results that survive the disk or say why not."""

import json
import pickle
import zipfile
from dataclasses import fields, replace

import numpy as np
import pytest
from clock import Clock
from conformance.problems import Case
from sklearn.exceptions import ConvergenceWarning

from rowsparse import L2pSelector
from rowsparse import paths as paths_module
from rowsparse import results as results_module
from rowsparse.paths import path_to_k, selection_path
from rowsparse.results import ADVICE, Path, Solution, Status
from rowsparse.solvers import IRLS, BlockDescent, run, solve

CASE = Case(n=50, d=15, c=3)


def selector(p=1.0, r=2.0, **params):
    params = {"standardize": False, "task": "regression", **params}
    return L2pSelector(p=p, r=r, **params)


def path(p=1.0, r=2.0, **options):
    return selection_path(selector(p, r), CASE.X, CASE.Y, **options)


# -- grids ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("r", "p"), [(2.0, 1.0), (2.0, 0.5), (2.0, 0.0), (1.5, 1.0)])
def test_grid_starts_at_alpha_max_with_no_row_and_falls_geometrically(r, p):
    found = path(p, r, n_alphas=8, alpha_min_ratio=0.05)
    assert len(found) == 8
    assert found.n_rows[0] == 0
    ratios = found.alphas[1:] / found.alphas[:-1]
    np.testing.assert_allclose(ratios, 0.05 ** (1 / 7), rtol=1e-12)
    assert found.n_rows[-1] > 0


@pytest.mark.filterwarnings("ignore:No feature was selected")
@pytest.mark.parametrize("r", [2.0, 1.5, 1.0])
def test_convex_path_equals_cold_solves(r):
    found = path(1.0, r, n_alphas=6, alpha_min_ratio=0.02)
    for alpha, solution in zip(found.alphas, found.solutions, strict=True):
        cold = selector(1.0, r, alpha=alpha).fit(CASE.X, CASE.Y).solution_
        assert solution.converged
        assert solution.objective == pytest.approx(cold.objective, rel=1e-7)


@pytest.mark.filterwarnings("ignore:No feature was selected")
@pytest.mark.parametrize("p", [0.5, 0.0])
def test_nonconvex_path_is_no_worse_than_cold_solves_from_zero(p):
    found = path(p, n_alphas=6, alpha_min_ratio=0.02)
    for alpha, solution in zip(found.alphas, found.solutions, strict=True):
        cold = selector(p, alpha=alpha, init="zero").fit(CASE.X, CASE.Y).solution_
        assert solution.converged
        assert solution.objective <= cold.objective * (1 + 1e-8)


@pytest.mark.parametrize("p", [1.0, 0.5])
def test_objectives_fall_with_alpha_and_belong_to_their_alpha(p):
    """The optimal value is nondecreasing in alpha; W and intercept are those of centred columns."""
    X = CASE.X - CASE.X.mean(axis=0)
    found = path(p, n_alphas=8, alpha_min_ratio=0.02)
    assert (np.diff(found.objectives) <= 1e-9).all()
    for alpha, solution in zip(found.alphas, found.solutions, strict=True):
        E = X @ solution.W + solution.intercept - CASE.Y
        norms = np.linalg.norm(solution.W, axis=1)
        value = np.sum(E**2) / (2 * CASE.n) + alpha * np.sum(norms[norms > 0] ** p)
        assert solution.objective == pytest.approx(value, rel=1e-10)


def test_given_alphas_are_sorted_downwards():
    found = path(alphas=[0.1, 1.0, 0.3])
    np.testing.assert_array_equal(found.alphas, [1.0, 0.3, 0.1])


@pytest.mark.parametrize("alphas", [[], [np.nan], [-1.0], [np.inf]])
def test_impossible_alphas_are_refused(alphas):
    with pytest.raises(ValueError, match="Expected alphas that are finite and >= 0"):
        path(alphas=alphas)


@pytest.mark.parametrize(
    "options", [{"n_alphas": 0}, {"alpha_min_ratio": 0}, {"alpha_min_ratio": 2}]
)
def test_impossible_grids_are_refused(options):
    with pytest.raises(ValueError, match="Expected n_alphas >= 1"):
        path(**options)


def test_sample_weights_reach_every_solve():
    counts = 1 + np.arange(CASE.n) % 3
    weighted = path(alphas=[0.5, 0.1], sample_weight=counts)
    X, Y = np.repeat(CASE.X, counts, axis=0), np.repeat(CASE.Y, counts, axis=0)
    repeated = selection_path(selector(), X, Y, alphas=[0.5, 0.1])
    np.testing.assert_allclose(weighted.objectives, repeated.objectives, rtol=1e-8)


def test_entered_is_the_largest_alpha_with_a_nonzero_row():
    found = path(n_alphas=10, alpha_min_ratio=0.05)
    for j, alpha in enumerate(found.entered):
        nonzero = [a for a, s in zip(found.alphas, found.solutions, strict=True) if s.W[j].any()]
        assert (np.isnan(alpha) and not nonzero) or alpha == max(nonzero)


# -- down to k rows -------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 4, 8])
@pytest.mark.parametrize("p", [1.0, 0.5, 0.0])
def test_path_to_k_reaches_k_rows(p, k):
    case = CASE.but(p=p)
    alpha, solution, seen = path_to_k(case.problem, BlockDescent(), k)
    assert solution.rows.size >= k
    at_alpha = case.problem.with_alpha(alpha)
    assert solution.objective == pytest.approx(at_alpha.objective(case.joined(solution)), rel=1e-10)
    assert (np.diff(seen.alphas) < 0).all()
    assert alpha in seen.alphas


@pytest.mark.parametrize("k", [1, 3, 4, 8])
def test_convex_path_to_k_overshoots_by_little(k):
    """At the next larger alpha that was seen there are fewer than k rows."""
    alpha, _, seen = path_to_k(CASE.problem, BlockDescent(), k)
    larger = seen.n_rows[seen.alphas > alpha]
    assert larger.size == 0 or larger[-1] < k


def test_path_to_k_gives_up_with_the_last_solution_where_k_cannot_be_reached():
    factors = np.where(np.arange(15) < 3, 1.0, np.inf)
    penalty = replace(CASE.problem.penalty, factors=np.append(factors, 0.0))
    _, solution, _ = path_to_k(CASE.problem.with_penalty(penalty), BlockDescent(), 5)
    assert solution.rows.size == 3


@pytest.mark.parametrize("p", [1.0, 0.5])
def test_ks_give_one_solution_each(p):
    found = path(p, ks=[5, 2, 2, 3])
    assert len(found) == 3
    assert (found.n_rows >= [2, 3, 5]).all()
    assert (np.diff(found.alphas) <= 0).all()


@pytest.fixture
def solves(monkeypatch):
    """Counts the solves of a walk."""
    count = []

    def counted(function):
        def call(*args, **options):
            count.append(args)
            return function(*args, **options)

        return call

    for name in ("reach", "resume", "search"):
        monkeypatch.setattr(paths_module, name, counted(getattr(paths_module, name)))
    return count


@pytest.mark.parametrize(("p", "most"), [(1.0, 30), (0.5, 60)])
def test_one_walk_serves_all_ks(p, most, solves):
    """Alone, k = 1 … 15 make 124 solves at p = 1 and 201 at p = 0.5, and find the same."""
    together = path(p, ks=range(1, 16))
    np.testing.assert_array_equal(together.ks, np.arange(1, 16))
    assert len(solves) <= most
    problem, solver = selector(p).problem_and_solver(CASE.X, CASE.Y, k=15)
    for k in (1, 4, 9, 15):
        alpha, alone, _ = path_to_k(problem, solver, k)
        assert together.alphas[k - 1] == pytest.approx(alpha, rel=1e-9)
        assert together[k - 1].objective == pytest.approx(alone.objective, rel=1e-8)


def test_the_time_limit_is_for_all_ks_together(monkeypatch):
    clock = Clock.installed(monkeypatch)
    solver = BlockDescent(tol=1e-14, time_limit=0.2)
    found = selection_path(selector(0.5, solver=solver), CASE.X, CASE.Y, ks=range(1, 16))
    assert 0.2 <= clock.now < 0.3
    assert len(found.ks) == len(found) < 15
    assert found[-1].status == Status.TIME_LIMIT


def test_a_fit_down_to_k_tells_the_iterations_and_seconds_of_the_whole_way():
    fitted = selector(0.5, n_features_to_select=4).fit(CASE.X, CASE.Y)
    problem, solver = selector(0.5).problem_and_solver(CASE.X, CASE.Y)
    alone = solve(problem.with_alpha(fitted.alpha_), solver, "zero")
    assert fitted.solution_.n_iter > alone.n_iter
    assert fitted.n_iter_ == fitted.solution_.n_iter


@pytest.mark.parametrize("ks", [[], [0], [16]])
def test_impossible_ks_are_refused(ks):
    with pytest.raises(ValueError, match="Expected ks between 1 and 15"):
        path(ks=ks)


@pytest.mark.parametrize("kind", [list, "frame"])
def test_ks_work_for_everything_that_can_be_fitted(kind):
    pandas = pytest.importorskip("pandas")
    X = CASE.X.tolist() if kind is list else pandas.DataFrame(CASE.X)
    assert (selection_path(selector(), X, CASE.Y, ks=[2]).n_rows >= 2).all()


def test_an_interrupted_path_keeps_what_it_has():
    calls = []

    def press_ctrl_c(step):
        calls.append(step)
        if len(calls) == 4:
            raise KeyboardInterrupt

    found = selection_path(
        selector(solver=BlockDescent(callback=press_ctrl_c)), CASE.X, CASE.Y, n_alphas=10
    )
    assert 1 <= len(found) < 10
    assert len(found.alphas) == len(found)
    assert found[-1].status == Status.INTERRUPTED


@pytest.mark.parametrize("r", [2.0, 1.0])
def test_a_way_to_k_rows_that_is_interrupted_beyond_them_keeps_k(r):
    """Columns that enter all at once: the interrupt comes where more than k rows are nonzero."""
    X = CASE.X[:, :1] + 1e-3 * CASE.X
    model = selector(r=r, n_features_to_select=3, ridge=0.1)

    def press_ctrl_c(step):
        if step.n_rows > 3:
            raise KeyboardInterrupt

    model.set_params(solver=BlockDescent(callback=press_ctrl_c))
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, CASE.Y)
    used = np.any(model.coef_ != 0, axis=0)
    assert used.sum() == 3
    np.testing.assert_array_equal(used, model.support_)
    assert model.solution_.status == Status.INTERRUPTED
    residual = model.predict(X) - CASE.Y
    claimed = np.mean(np.linalg.norm(residual, axis=1) ** r) / r
    claimed += model.alpha_ * np.linalg.norm(model.coef_, axis=0).sum()
    claimed += 0.1 / 2 * np.sum(model.coef_**2)
    assert model.solution_.objective == pytest.approx(claimed, rel=1e-9)


def test_path_with_irls_equals_cold_solves():
    found = selection_path(selector(solver=IRLS()), CASE.X, CASE.Y, alphas=[0.5, 0.1])
    for alpha, solution in zip(found.alphas, found.solutions, strict=True):
        cold = run(IRLS(), CASE.problem.with_alpha(alpha))
        assert solution.objective == pytest.approx(cold.objective, rel=1e-6)


# -- results on disk ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def solution():
    return solve(CASE.but(p=0.5).problem, BlockDescent())


@pytest.fixture
def saved(solution, tmp_path):
    solution.save(tmp_path / "solution.npz")
    return tmp_path / "solution.npz"


def assert_same(a, b):
    for field in fields(Solution):
        left, right = getattr(a, field.name), getattr(b, field.name)
        if isinstance(left, np.ndarray):
            np.testing.assert_array_equal(left, right)
            assert left.dtype == right.dtype
        else:
            assert left == right, field.name


def test_a_solution_comes_back_as_it_was(solution, saved):
    assert_same(Solution.load(saved), solution)
    assert_same(Solution.load(str(saved)), solution)


def test_numbers_that_are_not_finite_come_back_too(solution, tmp_path):
    odd = replace(solution, objective=np.inf, violation=np.nan, gap=None, status=Status.NOT_FINITE)
    odd.save(tmp_path / "odd.npz")
    back = Solution.load(tmp_path / "odd.npz")
    assert back.objective == np.inf
    assert np.isnan(back.violation)
    assert back.status == Status.NOT_FINITE


def test_a_solution_with_a_gap_and_a_solver_history_comes_back(tmp_path):
    for kind in (BlockDescent, IRLS):
        solution = run(kind(), CASE.problem)
        solution.save(tmp_path / "s.npz")
        back = Solution.load(tmp_path / "s.npz")
        assert back.gap == solution.gap
        assert len(back.history) == len(solution.history)


def test_every_file_is_free_of_pickle(saved):
    with zipfile.ZipFile(saved) as archive:
        assert set(archive.namelist()) == {"facts.npy", "W.npy", "intercept.npy", "gradient.npy"}
    with np.load(saved, allow_pickle=False) as archive:
        json.loads(str(archive["facts"]))


@pytest.mark.parametrize("along", [{"n_alphas": 4}, {"ks": [2, 3]}], ids=["alpha", "k"])
def test_a_path_comes_back_as_it_was(tmp_path, along):
    found = path(**along)
    found.save(tmp_path / "path.npz")
    assert Path.load(tmp_path / "path.npz") == found


def _with(file, **changes):
    """The saved file with other facts or arrays."""
    with np.load(file) as archive:
        arrays = dict(archive)
    facts = json.loads(str(arrays.pop("facts")))
    for name, value in changes.items():
        (arrays if isinstance(value, np.ndarray) else facts)[name] = value
    np.savez(file, facts=json.dumps(facts), **arrays)


@pytest.mark.parametrize(
    "changes",
    [
        {"W": np.zeros(3)},
        {"W": np.zeros((2, 2))},
        {"intercept": np.zeros(7)},
        {"intercept": np.zeros(3, dtype=complex)},
        {"gradient": np.zeros((1, 1))},
        {"objective": "low"},
        {"n_iter": True},
        {"status": ["converged"]},
        {"history": 5},
        {"history": [{"iteration": "x"}]},
        {"starts": {"zero": "x"}},
        {"format": 3},
        {"surprise": 1},
    ],
    ids=str,
)
def test_a_file_with_anything_that_is_no_solution_is_refused(saved, changes):
    _with(saved, **changes)
    with pytest.raises(ValueError) as error:
        Solution.load(saved)
    assert one_sentence(error)


def test_a_path_with_another_number_of_alphas_is_refused(tmp_path):
    path(n_alphas=3).save(tmp_path / "path.npz")
    _with(tmp_path / "path.npz", alphas=np.array([1.0]))
    with pytest.raises(ValueError) as error:
        Path.load(tmp_path / "path.npz")
    assert one_sentence(error)


def test_deep_json_is_refused_in_one_sentence(saved):
    _with(saved, W=np.zeros((15, 3)))
    with np.load(saved) as archive:
        arrays = {**archive, "facts": "[" * 100_000}
    np.savez(saved, **arrays)
    with pytest.raises(ValueError) as error:
        Solution.load(saved)
    assert one_sentence(error)


def test_files_of_before_there_was_a_format_are_still_read(solution, saved):
    with np.load(saved) as archive:
        arrays = dict(archive)
    facts = json.loads(str(arrays["facts"]))
    assert facts.pop("format") == 1
    np.savez(saved, **{**arrays, "facts": json.dumps(facts)})
    assert_same(Solution.load(saved), solution)


def one_sentence(error):
    text = str(error.value)
    return text.startswith("Expected") and "\n" not in text and text.endswith("save it again.")


@pytest.mark.parametrize("kept", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file_is_refused_in_one_sentence(saved, kept):
    whole = saved.read_bytes()
    saved.write_bytes(whole[: int(kept * len(whole))])
    with pytest.raises(ValueError) as error:
        Solution.load(saved)
    assert one_sentence(error)
    assert saved.name in str(error.value)


@pytest.mark.parametrize("member", ["facts.npy", "W.npy", "intercept.npy"])
def test_a_damaged_file_is_refused_in_one_sentence(saved, member):
    with zipfile.ZipFile(saved) as archive:
        info = archive.getinfo(member)
    content = bytearray(saved.read_bytes())
    name, extra = content[info.header_offset + 26], content[info.header_offset + 28]
    data = info.header_offset + 30 + name + extra  # what no checksum covers may be changed
    content[data + info.compress_size // 2] ^= 0xFF
    saved.write_bytes(content)
    with pytest.raises(ValueError) as error:
        Solution.load(saved)
    assert one_sentence(error)


class Trap:
    """Unpickling it runs code: it makes a file."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return (open, (str(self.file), "w"))


def test_a_pickle_is_refused_and_not_executed(tmp_path):
    (tmp_path / "trap.npz").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    with pytest.raises(ValueError) as error:
        Solution.load(tmp_path / "trap.npz")
    assert one_sentence(error)
    assert not (tmp_path / "sprung").exists()


def test_a_pickled_array_inside_is_refused_and_not_executed(tmp_path):
    trap = np.array([Trap(tmp_path / "sprung")], dtype=object)
    np.savez(tmp_path / "trap.npz", facts="{}", W=trap, intercept=np.zeros(1), allow_pickle=True)
    with pytest.raises(ValueError) as error:
        Solution.load(tmp_path / "trap.npz")
    assert one_sentence(error)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    "content",
    [
        {"W": np.zeros((2, 1))},
        {"facts": "not json", "W": np.zeros((2, 1)), "intercept": np.zeros(1)},
        {"facts": "{}", "W": np.zeros((2, 1)), "intercept": np.zeros(1)},
        {"facts": '{"status": "fine"}', "W": np.zeros((2, 1)), "intercept": np.zeros(1)},
    ],
    ids=["arrays missing", "not JSON", "facts missing", "unknown status"],
)
def test_another_npz_file_is_refused_in_one_sentence(tmp_path, content):
    np.savez(tmp_path / "other.npz", **content)
    with pytest.raises(ValueError) as error:
        Solution.load(tmp_path / "other.npz")
    assert one_sentence(error)


def test_a_single_array_is_refused_in_one_sentence(tmp_path):
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(ValueError) as error:
        Solution.load(tmp_path / "array.npy")
    assert one_sentence(error)


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        Solution.load(tmp_path / "nowhere.npz")


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failed_save_leaves_the_old_file_and_nothing_else(saved, solution, monkeypatch, error):
    before = saved.read_bytes()

    def fail(stream, **arrays):
        stream.write(b"half of it")
        raise error

    monkeypatch.setattr(results_module.np, "savez_compressed", fail)
    with pytest.raises(type(error)):
        solution.save(saved)
    assert saved.read_bytes() == before
    assert [file.name for file in saved.parent.iterdir()] == [saved.name]


def test_a_save_into_a_missing_folder_fails_with_its_name(solution, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        solution.save(tmp_path / "nowhere" / "s.npz")


def test_saved_files_have_the_permissions_of_ordinary_files(saved, tmp_path):
    (tmp_path / "ordinary").write_text("")
    assert saved.stat().st_mode == (tmp_path / "ordinary").stat().st_mode


# -- plain data -----------------------------------------------------------------------------------


def test_every_status_has_its_advice():
    advice = list(ADVICE.values())
    assert all(text.endswith(".") for text in advice)
    assert len(set(advice)) == len(advice)


def test_a_solution_prints_its_certificate(solution):
    text = str(solution)
    assert "converged" in text
    assert f"{solution.rows.size} of 15 rows" in text
    assert "gap" in str(run(BlockDescent(), CASE.problem))


def test_results_are_equal_by_value(solution, saved):
    again = Solution.load(saved)
    assert again == solution
    assert replace(again, W=again.W + 1.0) != solution
    assert again != replace(again, status=Status.STALLED)
    assert again != "a solution"
    both = Path(np.array([1.0, 0.5]), (solution, again))
    assert both == Path(np.array([1.0, 0.5]), (again, solution))
    assert both != Path(np.array([1.0, 0.6]), (again, solution))


def test_results_are_shown_in_a_line(solution):
    assert len(repr(solution)) < 200
    assert repr(path(n_alphas=5)).startswith("<Path of 5 solutions, alpha from ")
    assert repr(path(ks=[2, 3])).startswith("<Path of 2 solutions, k from 2 to 3, 2 to 3 nonzero")
    assert repr(Path(np.array([]), ())) == "<Path, empty>"


def test_a_path_is_a_sequence_of_solutions(solution):
    both = Path(np.array([1.0, 0.5]), (solution, solution))
    assert len(both) == 2
    assert both[1] is solution
    np.testing.assert_array_equal(both.n_rows, [solution.rows.size] * 2)
