"""Results as plain data: equal by value, and files that come back or say why they cannot."""

import json
import pickle
import zipfile
from dataclasses import fields, replace

import numpy as np
import pytest
from conformance.problems import Case

from rowsparse import L2pSelector
from rowsparse import results as results_module
from rowsparse.paths import selection_path
from rowsparse.results import ADVICE, Path, Solution, Status
from rowsparse.solvers import IRLS, BlockDescent, run, solve

CASE = Case(n=50, d=15, c=3)


def path(**options):
    selector = L2pSelector(p=1.0, standardize=False, task="regression")
    return selection_path(selector, CASE.X, CASE.Y, **options)


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
