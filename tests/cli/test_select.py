"""rowsparse select: the table, the file, JSON, warnings and interruption."""

import csv
import json
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from command import IN_A_PROCESS, rowsparse
from sklearn.exceptions import ConvergenceWarning

from rowsparse import L2pSelector
from rowsparse.cli import main, options
from rowsparse.cli import select as select_module
from rowsparse.datasets import load_dataset, make_row_sparse
from rowsparse.solvers import BlockDescent


def test_finds_the_features_and_writes_them(table, tmp_path):
    path, truth = table
    out = tmp_path / "selected.csv"
    result = rowsparse("select", path, "--target", "kind", "-k", 4, "--out", out)
    assert result.exit_code == 0, result.output
    with out.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["name"] for row in rows} == truth
    assert [row["rank"] for row in rows] == ["1", "2", "3", "4"]
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert list(rows[0]) == ["rank", "name", "score", "coef_blue", "coef_green", "coef_red"]
    assert all(name in result.stdout for name in truth)
    assert f"Wrote 4 features to {out}" in " ".join(result.stderr.split())


def test_last_line_says_how_well_it_was_solved(table):
    path, _ = table
    arguments = ("select", path, "--target", "kind", "-k", 4, "--ridge", 0)
    last = rowsparse(*arguments).stdout.splitlines()[-1]
    for word in ("4 of 12 features", "alpha ", "objective ", "violation ", " s · ", "converged"):
        assert word in last
    assert "gap" not in last  # p = 0.5 is not convex
    assert "ridge" not in last
    convex = rowsparse("select", path, "--target", "kind", "--method", "mtfs", "--alpha", 0.1)
    assert "gap " in convex.stdout.splitlines()[-1]


def test_json_is_the_fitted_selector():
    result = rowsparse("select", "wine", "-k", 5, "--json")
    record = json.loads(result.stdout)
    wine = load_dataset("wine")
    selector = L2pSelector(n_features_to_select=5).fit(wine.X, wine.y)
    assert record["alpha"] == pytest.approx(selector.alpha_)
    assert record["objective"] == pytest.approx(selector.solution_.objective)
    assert record["outputs"] == ["class_0", "class_1", "class_2"]
    assert record["status"] == "converged"
    assert [f["rank"] for f in record["features"]] == [1, 2, 3, 4, 5]
    for feature in record["features"]:
        j = feature["index"]
        assert feature["name"] == wine.feature_names[j]
        assert feature["coefficients"] == pytest.approx(selector.coef_[:, j].tolist())
    assert {f["index"] for f in record["features"]} == set(np.flatnonzero(selector.support_))


def test_two_classes_show_one_coefficient_for_the_second():
    record = json.loads(rowsparse("select", "breast_cancer", "-k", 3, "--json").stdout)
    assert record["outputs"] == ["benign"]
    assert all(len(feature["coefficients"]) == 1 for feature in record["features"])


def test_many_classes_show_the_largest_coefficient_and_its_class():
    result = rowsparse("select", "digits", "-k", 3)
    assert result.stdout.split()[:6] == ["rank", "name", "score", "largest", "coef", "for"]


def test_narrow_terminals_get_the_short_table(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    assert "largest coef" in rowsparse("select", "wine", "-k", 3).stdout
    monkeypatch.setenv("COLUMNS", "120")
    assert "coef_class_2" in rowsparse("select", "wine", "-k", 3).stdout


def test_named_regression_stays_a_regression():
    record = json.loads(rowsparse("select", "diabetes", "-k", 3, "--json").stdout)
    assert record["outputs"] == ["target"]


def test_numbers_have_one_column_of_coefficients(tmp_path, monkeypatch):
    header = rowsparse("select", "diabetes", "-k", 3).stdout.splitlines()[0]
    assert header.split() == ["rank", "name", "score", "coef"]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "10")
    assert "largest" not in rowsparse("select", "diabetes", "-k", 3).stdout


def test_integer_target_can_be_called_numbers(tmp_path):
    path = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    pairs = zip(rng.poisson(5, 60), rng.normal(size=60), strict=True)
    rows = "".join(f"{c + 0.1 * e:.4f},{e:.4f},{c}\n" for c, e in pairs)
    path.write_text(f"a,b,count\n{rows}")
    arguments = ("select", path, "--target", "count", "-k", 1, "--task", "regression", "--json")
    record = json.loads(rowsparse(*arguments).stdout)
    assert record["outputs"] == ["target"]
    assert record["features"][0]["name"] == "a"


def test_whole_numbers_are_numbers_unless_the_task_says_otherwise(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "houses.csv"
    rows = [
        (f"{area:.4f}", f"{noise:.4f}", int(9000 * area)) for area, noise in rng.random((80, 2))
    ]
    path.write_text("\n".join(["area,noise,price", *(",".join(map(str, row)) for row in rows)]))
    arguments = ("select", path, "--target", "price", "-k", 1)
    result = rowsparse(*arguments)
    assert result.stdout.splitlines()[0].split() == ["rank", "name", "score", "coef"]
    assert "read as numbers" in result.stderr
    record = json.loads(rowsparse(*arguments, "--task", "classification", "--json").stdout)
    assert len(record["outputs"]) == len({row[2] for row in rows})
    info = json.loads(rowsparse("datasets", "info", path, "--target", "price", "--json").stdout)
    assert info["target"] == "numbers"
    assert "counts" not in info


def test_several_targets_share_their_features(tmp_path):
    X, Y, support = make_row_sparse(60, 8, 2, 2, random_state=1)
    path = tmp_path / "t.csv"
    lines = [",".join(map(str, (*x, *y))) for x, y in zip(X, Y, strict=True)]
    path.write_text("\n".join([",".join([*(f"f{j}" for j in range(8)), "u", "v"]), *lines]))
    result = rowsparse("select", path, "--target", "u", "--target", "v", "-k", 2, "--json")
    record = json.loads(result.stdout)
    assert record["outputs"] == ["u", "v"]
    assert {f["index"] for f in record["features"]} == set(support)


@pytest.mark.parametrize(
    ("arguments", "p", "r"),
    [
        ((), 0.5, 2),
        (("--p", 0.25, "--r", 1), 0.25, 1),
        (("--method", "mtfs"), 1, 2),
        (("--method", "rfs"), 1, 1),
        (("--method", "erfs", "--p", 0.75), 0.75, 0.75),
        (("--method", "rk1u", "--p", 0.75), 0.75, 2),
        (("--method", "gsr", "--p", 0.75, "--r", 1), 0.75, 1),
    ],
)
def test_methods_are_their_exponents(arguments, p, r):
    record = json.loads(rowsparse("select", "iris", "-k", 2, "--json", *arguments).stdout)
    assert (record["p"], record["r"]) == (p, r)


def test_options_reach_the_selector(monkeypatch):
    seen = {}

    def fit(self, X, y):
        seen.update(self.get_params(deep=False))
        raise ValueError("enough")

    monkeypatch.setattr(L2pSelector, "fit", fit)
    arguments = ("--no-standardize", "--no-intercept", "--init", "zero", "--time-limit", 7)
    rowsparse("select", "iris", "--alpha", 0.5, *arguments)
    assert seen["alpha"] == 0.5
    assert seen["n_features_to_select"] is None
    assert (seen["standardize"], seen["fit_intercept"]) == (False, False)
    assert seen["init"] == "zero"
    assert seen["solver"].time_limit == 7


def test_empty_selection_is_said():
    result = rowsparse("select", "iris", "--method", "mtfs", "--alpha", 1e6)
    assert result.exit_code == 0
    assert "No feature was selected" in result.stdout


def test_an_empty_selection_of_a_stopped_search_blames_no_parameter():
    limit = ("--time-limit", 1e-9)
    result = rowsparse("select", "iris", "--method", "zero-norm-svm", "--C", 1, *limit)
    assert "No feature was selected before the search was stopped." in result.stdout
    assert "raise C" not in result.stdout + result.stderr


def test_long_selections_are_cut_on_the_terminal_only(tmp_path):
    X, y, _ = make_row_sparse(80, 70, 60, 1, random_state=0)
    np.savez(tmp_path / "t.npz", X=X, y=y)
    out = tmp_path / "all.csv"
    result = rowsparse("select", tmp_path / "t.npz", "-k", 60, "--out", out)
    assert "… and 10 more" in result.stdout
    assert len(out.read_text().splitlines()) == 61


def test_nothing_is_folded_or_coloured_in_a_pipe(tmp_path):
    long_name = "a very long feature name " * 8
    (tmp_path / "t.csv").write_text(f"{long_name},y\n1,0\n2,1\n3,0\n4,1\n5,1\n")
    result = rowsparse("select", tmp_path / "t.csv", "--target", "y", "-k", 1)
    assert long_name.strip() in result.stdout
    assert "\x1b" not in result.output


def test_warnings_become_notes(monkeypatch):
    fit = L2pSelector.fit

    def fit_with_a_warning(self, X, y):
        warnings.warn("not there yet:\n  raise max_iter", ConvergenceWarning, stacklevel=2)
        return fit(self, X, y)

    monkeypatch.setattr(L2pSelector, "fit", fit_with_a_warning)
    result = rowsparse("select", "iris", "-k", 2, "--json")
    assert result.exit_code == 0
    assert "Note: not there yet: raise max_iter\n" in result.stderr
    assert "not there yet: raise max_iter" in json.loads(result.stdout)["notes"]


def test_time_limit_gives_the_best_so_far_and_a_note():
    result = rowsparse("select", "digits", "--alpha", 1e-6, "--time-limit", 1e-9, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["status"] == "out of time"
    assert "Note: " in result.stderr


def test_interrupt_inside_the_solver_shows_what_there_is(monkeypatch, tmp_path):
    def interrupt(_step):
        raise KeyboardInterrupt

    def with_interrupt(*arguments, **options):
        selector = build(*arguments, **options)
        return selector.set_params(solver=BlockDescent(callback=interrupt))

    build = select_module.build_selector
    monkeypatch.setattr(select_module, "build_selector", with_interrupt)
    out = tmp_path / "selected.csv"
    result = rowsparse("select", "digits", "--alpha", 0.01, "--json", "--out", out)
    assert result.exit_code == 130
    assert json.loads(result.stdout)["status"] == "interrupted"
    assert out.exists()


def test_interrupt_before_there_is_a_result(monkeypatch, tmp_path):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(options, "load_any", interrupted)
    out = tmp_path / "selected.csv"
    result = rowsparse("select", "digits", "--out", out)
    assert result.exit_code == 130
    assert "Interrupted" in result.stderr
    assert "Traceback" not in result.output
    assert not out.exists()


# ---------------------------------------------------------------- the real program


def run(*arguments, **options):
    return subprocess.run(
        [*IN_A_PROCESS, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_in_a_process_of_its_own(tmp_path):
    good = run("select", "breast_cancer", "-k", 4, "--json", cwd=tmp_path)
    assert good.returncode == 0, good.stderr
    assert len(json.loads(good.stdout)["features"]) == 4
    assert good.stderr == ""  # no progress in a pipe
    bad = run("select", "nothing.csv", "--target", "y", cwd=tmp_path)
    assert bad.returncode == 2
    assert bad.stdout == ""
    assert bad.stderr.count("\n") == 1


STUCK_IN_THE_SOLVER = """
import signal, sys, time
from rowsparse.cli import main, select
from rowsparse.solvers import BlockDescent

signal.signal(signal.SIGINT, signal.default_int_handler)  # pytest-xdist has it ignored

def stuck(step):
    print("ready", file=sys.stderr, flush=True)
    time.sleep(60)

build = select.build_selector
slow = BlockDescent(callback=stuck)
select.build_selector = lambda *options: build(*options).set_params(solver=slow)
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("how_many", [("-k", "5"), ("--alpha", "0.01")])
def test_ctrl_c_shows_what_there_is(tmp_path, how_many):
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK_IN_THE_SOLVER, "select", "digits", *how_many, "--json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "ready" not in errors  # one Ctrl-C ends all starts and the whole path
    assert json.loads(output)["status"] == "interrupted"


def test_a_reader_that_leaves_early_is_no_error(tmp_path):
    command = " ".join(f"'{part}'" for part in [*IN_A_PROCESS, "datasets", "list"])
    result = subprocess.run(
        f"{command} | head -c 1", shell=True, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in result.stderr
    assert "BrokenPipe" not in result.stderr


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_cli_extra_it_says_what_to_install(monkeypatch, missing):
    for name in [name for name in sys.modules if name.startswith(("rowsparse.cli.", "rich."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit) as stopped:
        main()
    assert "pip install typer rich" in str(stopped.value)
    assert "pip install '.[cli]'" in str(stopped.value)  # no package index has rowsparse yet
    assert missing in str(stopped.value)


def test_version_and_help():
    from rowsparse import __version__

    assert rowsparse("--version").stdout.strip() == f"rowsparse {__version__}"
    for arguments in (["--help"], ["select", "--help"], ["datasets", "list", "--help"]):
        assert rowsparse(*arguments).exit_code == 0
    text = rowsparse("select", "--help").stdout
    for option in ("--target", "--alpha", "--ridge", "--method", "--out", "--json", "--time-limit"):
        assert option in text
