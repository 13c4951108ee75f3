"""Files that commands write: never over the data, never half, harmless to open."""

import csv
import os
import signal
import subprocess
import sys

import pytest
from command import IN_A_PROCESS, rowsparse

from rowsparse.cli.output import harmless_text, write_csv

TABLE = "a,b,y\n" + "".join(f"{i % 7},{(i * i) % 11},{i % 2}\n" for i in range(40))
ESCAPES = {
    "colour": "\x1b[31mred\x1b[0m",
    "clipboard": "\x1b]52;c;cm0gLXJmIH4=\x07",
    "link": "\x1b]8;;http://evil.example\x07click\x1b]8;;\x07",
    "eight bits": "\x9b2J",
    "right to left": "user\u202eexe.nosj",
    "backspace": "good\x08\x08\x08\x08evil",
    "line": "two\u2028lines",
}


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(TABLE)
    return path


def refused(data, out, *words, force=True):
    arguments = ["select", data, "--target", "y", "-k", 1, "--out", out]
    result = rowsparse(*arguments, *(["--force"] if force else []))
    assert result.exit_code == 2, result.output
    assert len(result.stderr.strip().splitlines()) == 1
    for word in ("--out", *words):
        assert word in result.stderr


def test_the_data_is_never_replaced(data, tmp_path):
    refused(data, data, "the data would be lost")
    os.link(data, tmp_path / "other-name.csv")
    refused(data, tmp_path / "other-name.csv", "the data would be lost")
    refused(data, tmp_path / "." / "data.csv", "the data would be lost")
    assert data.read_text() == TABLE


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_links_pipes_and_read_only_files_are_refused(data, tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "elsewhere.csv")
    refused(data, tmp_path / "link.csv", "symbolic link")
    os.mkfifo(tmp_path / "pipe.csv")
    refused(data, tmp_path / "pipe.csv", "pipe or device")
    locked = tmp_path / "locked.csv"
    locked.write_text("precious")
    locked.chmod(0o444)
    refused(data, locked, "read-only")
    assert locked.read_text() == "precious"
    assert not (tmp_path / "elsewhere.csv").exists()


def test_a_folder_that_may_not_be_written_to_is_refused_before_the_work(
    data, tmp_path, monkeypatch
):
    folder = tmp_path / "theirs"
    folder.mkdir()
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != folder and allowed(path, mode))
    refused(data, folder / "out.csv", "may be written to")


def test_replacing_needs_force(data, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("precious")
    refused(data, out, "which exists", "--force", force=False)
    assert out.read_text() == "precious"
    result = rowsparse("select", data, "--target", "y", "-k", 1, "--out", out, "--force")
    assert result.exit_code == 0
    assert out.read_text().startswith("rank,name,score")


def test_the_reduced_table_has_names_features_and_target(tmp_path):
    path = tmp_path / "data.csv"
    lines = [f"s{i},{i % 2},{(i * i) % 11},{'sick' if i % 2 else 'well'}" for i in range(40)]
    path.write_text("\n".join(["patient,a,b,state", *lines]))
    out = tmp_path / "reduced.csv"
    result = rowsparse("select", path, "--target", "state", "-k", 1, "--out-data", out)
    assert result.exit_code == 0, result.output
    with out.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["patient", "a", "state"]
    assert [row["patient"] for row in rows] == [f"s{i}" for i in range(40)]
    assert [float(row["a"]) for row in rows] == [i % 2 for i in range(40)]
    assert [row["state"] for row in rows] == ["sick" if i % 2 else "well" for i in range(40)]
    again = rowsparse("select", out, "--target", "state", "-k", 1)
    assert again.exit_code == 0


@pytest.mark.parametrize("name", ESCAPES.values(), ids=ESCAPES.keys())
def test_no_control_character_reaches_the_terminal_or_the_file(tmp_path, name, monkeypatch):
    path = tmp_path / "data.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow([name, f"y{name}"])
        writer.writerows([(i * i) % 11, f"{name}{i % 2}"] for i in range(30))
    out = tmp_path / "out.csv"
    arguments = [path, "--target", f"y{name}"]
    with_the_name = [
        rowsparse("select", *arguments, "-k", 1, "--out", out).output,
        rowsparse("path", *arguments, "--n-alphas", 3).output,
        rowsparse("datasets", "info", *arguments).output,
        rowsparse("select", path, "--target", f"x{name}").output,
        out.read_text(encoding="utf-8"),
    ]
    errors = [
        rowsparse("select", tmp_path / f"no{name}.csv").output,
        rowsparse("select", path, f"--{name}").output,
        rowsparse("select", path, "-k", name).output,
    ]
    for text in with_the_name:
        assert "\\" in text  # the escape is shown
    for text in with_the_name + errors:
        assert all(c.isprintable() or c == "\n" for c in text), repr(text)


def test_markup_of_the_screen_library_is_text(tmp_path):
    (tmp_path / "t.csv").write_text("[bold red]x[/],:smile:,y\n" + "1,2,0\n2,1,1\n5,2,0\n" * 5)
    result = rowsparse("select", tmp_path / "t.csv", "--target", "y", "-k", 2)
    assert "[bold red]x[/]" in result.stdout
    assert ":smile:" in result.stdout


def test_formulas_are_written_as_text_and_said(tmp_path):
    name = "=cmd|' /C calc'!A0"
    (tmp_path / "t.csv").write_text(f'"{name}",+1,@x,y\n' + "1,2,3,0\n2,1,4,1\n5,2,3,0\n" * 5)
    out = tmp_path / "out.csv"
    result = rowsparse("select", tmp_path / "t.csv", "--target", "y", "-k", 3, "--out", out)
    assert result.exit_code == 0, result.output
    assert "a spreadsheet would run" in result.stderr
    assert name in result.stdout  # a terminal runs nothing
    with out.open(newline="") as stream:
        assert {row["name"] for row in csv.DictReader(stream)} == {f"'{name}", "'+1", "'@x"}


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@a", "\t=1", " =1"])
def test_no_text_begins_as_a_formula(text):
    assert harmless_text(text).startswith(("'", "\\"))
    assert harmless_text("a=1") == "a=1"


def test_what_killed_writers_left_is_removed(tmp_path):
    out = tmp_path / "out.csv"
    (tmp_path / ".out.csv.123.partial").write_text("half")
    (tmp_path / ".other.csv.123.partial").write_text("somebody else's")
    write_csv(out, ["a"], [[1]])
    assert sorted(os.listdir(tmp_path)) == [".other.csv.123.partial", "out.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="locks differ on Windows")
def test_what_another_writer_is_writing_stays(tmp_path):
    import fcntl

    busy = tmp_path / ".out.csv.123.partial"
    with busy.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        write_csv(tmp_path / "out.csv", ["a"], [[1]])
        assert busy.exists()


def test_a_full_disk_names_the_file(tmp_path):
    def rows():
        yield [1]
        raise OSError(28, "No space left on device")

    (tmp_path / "out.csv").write_text("old")
    with pytest.raises(OSError, match=r"No space left on device: .*out\.csv"):
        write_csv(tmp_path / "out.csv", ["a"], rows())
    assert os.listdir(tmp_path) == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "old"


SLOW_WRITER = """
import sys, time
from pathlib import Path
from rowsparse.cli import end_like_an_error
from rowsparse.cli.output import write_csv

end_like_an_error()
def rows():
    for i in range(10**9):
        yield [i]
        if i == 10_000:
            print("ready", flush=True)
            time.sleep(60)
write_csv(Path(sys.argv[1]), ["a"], rows())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_ended_while_writing(tmp_path, how):
    out = tmp_path / "out.csv"
    out.write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_WRITER, str(out)], stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(how)
        process.wait(timeout=60)
    assert out.read_text() == "old"
    if how == signal.SIGTERM:
        assert process.returncode == 128 + signal.SIGTERM
        assert os.listdir(tmp_path) == ["out.csv"]
    write_csv(out, ["a"], [[1]])
    assert os.listdir(tmp_path) == ["out.csv"]


def test_python_m_rowsparse_is_the_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "rowsparse", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("rowsparse ")


def test_a_terminal_without_the_letters_shows_escapes(tmp_path):
    (tmp_path / "t.csv").write_text("größe,y\n" + "1,0\n2,1\n5,0\n" * 5, encoding="utf-8")
    done = subprocess.run(
        [*IN_A_PROCESS, "select", str(tmp_path / "t.csv"), "--target", "y", "-k", "1"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0, done.stderr
    assert "gr\\xf6\\xdfe" in done.stdout
