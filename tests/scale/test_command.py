"""The command line on folders and large files: in blocks, and with Dask."""

import csv
import json
import multiprocessing

import numpy as np
import pytest
from command import rowsparse
from scale.holders import NAMES, table
from stores.stores import STORES, package_of

X, Y = table(outputs=1)
y = (Y[:, 0] > 0).astype(int)
FOLDERS = ["parquet folder", "zarr v3", "stack"]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """What the same table gives as a csv file in memory."""
    path = tmp_path_factory.mktemp("memory") / "table.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([*NAMES, "y"])
        writer.writerows([*map(repr, row.tolist()), label] for row, label in zip(X, y, strict=True))
    return answer("select", path, "--target", "y", "-k", 4, "--method", "topk")


def answer(*arguments):
    done = rowsparse(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def refused(*arguments):
    done = rowsparse(*arguments)
    assert done.exit_code == 2, done.output
    assert done.stderr.count("\n") == 1
    return done.stderr


def written(kind, folder, target=y):
    if package_of(kind):
        pytest.importorskip(package_of(kind))
    return STORES[kind](folder, X, target, NAMES)


def names(record):
    return [feature["name"] for feature in record["features"]]


@pytest.mark.parametrize("kind", FOLDERS)
def test_a_folder_is_read_in_blocks(kind, expected, tmp_path):
    found = answer("select", written(kind, tmp_path), "--target", "y", "-k", 4, "--method", "topk")
    assert names(found) == names(expected)
    assert found["objective"] == pytest.approx(expected["objective"], rel=1e-9)


def test_the_other_commands(tmp_path):
    path = written("parquet folder", tmp_path)
    of_path = answer("path", path, "--target", "y", "--method", "topk", "-k", "2,4")
    assert [step["features"] for step in of_path["steps"]] == [2, 4]
    tuned = answer("tune", path, "--target", "y", "--method", "topk", "-k", "2,4", "--cv", 3)
    assert {line["k"] for line in tuned["candidates"]} == {2, 4}
    stable = answer("stability", path, "--target", "y", "-k", 3, "--pairs", 3)
    assert {feature["name"] for feature in stable["features"]} <= set(NAMES)


def test_files_beside_the_terminal(tmp_path):
    path = written("parquet folder", tmp_path)
    out, page = tmp_path / "out.csv", tmp_path / "page.html"
    done = rowsparse("select", path, "--target", "y", "-k", 3, "--out", out, "--report", page)
    assert done.exit_code == 0, done.output
    assert len(out.read_text().splitlines()) == 4
    assert "gene" in page.read_text()


def test_y_in_a_file_of_its_own(expected, tmp_path):
    np.save(tmp_path / "other.npy", y)
    path = written("zarr v3", tmp_path, np.zeros(len(X)))
    found = answer("select", path, "--target", tmp_path / "other.npy", "-k", 4, "--method", "topk")
    assert names(found) == names(expected)


def test_a_file_in_blocks_if_asked_for(expected, tmp_path):
    path = written("npy", tmp_path)
    found = answer("select", path, "--engine", "blocks", "-k", 4, "--method", "topk")
    assert names(found) == names(expected)


@pytest.mark.xdist_group("cluster")
def test_on_a_cluster_that_is_there(client, expected, tmp_path):
    path = written("parquet folder", tmp_path)
    arguments = ("select", path, "--target", "y", "-k", 4, "--method", "topk", "--engine", "dask")
    done = rowsparse(*arguments, "--scheduler", client.scheduler.address, "--json")
    assert done.exit_code == 0, done.output
    assert names(json.loads(done.stdout)) == names(expected)
    assert "Dask: 2 workers, dashboard at http" in done.stderr
    assert client.submit(sum, [1, 2]).result(timeout=10) == 3  # and it is there still


@pytest.mark.xdist_group("cluster")
def test_on_workers_of_its_own(expected, tmp_path):
    pytest.importorskip("distributed")
    path = written("npy", tmp_path)
    before = set(multiprocessing.active_children())
    arguments = ("select", path, "-k", 4, "--method", "topk", "--engine", "dask", "--workers", 1)
    done = rowsparse(*arguments, "--json")
    assert done.exit_code == 0, done.output
    assert names(json.loads(done.stdout)) == names(expected)
    assert "Dask: 1 worker, dashboard at http" in done.stderr
    assert set(multiprocessing.active_children()) <= before  # no process is left behind


@pytest.mark.xdist_group("cluster")
def test_a_worker_that_is_slow_to_end_takes_no_answer_away(monkeypatch):
    distributed = pytest.importorskip("distributed")
    from rowsparse.designs.dask_arrays import cluster

    close = distributed.LocalCluster.close

    def close_late(self, *arguments, **options):
        close(self, *arguments, **options)
        raise TimeoutError

    monkeypatch.setattr(distributed.LocalCluster, "close", close_late)
    with cluster(None, 1) as said:
        assert said.startswith("1 worker, ")


def test_refusals_are_one_sentence(tmp_path):
    path = written("parquet folder", tmp_path)
    select = ("select", path, "--target", "y", "-k", 2)
    assert "--engine dask" in refused(*select, "--workers", 2)
    assert "leave one out" in refused(
        *select, "--engine", "dask", "--workers", 2, "--scheduler", "tcp://127.0.0.1:1"
    )
    assert "--impute: expected none" in refused(*select, "--impute", "median")
    assert "--out-data: expected none" in refused(*select, "--out-data", tmp_path / "o.csv")
    assert "for the filter relieff" in refused(*select, "--method", "relieff")
    assert "use r=2" in refused(*select, "--method", "topk", "--r", 1)
    assert "got none; name it with --target" in refused("select", path, "-k", 2)
    (tmp_path / "t.csv").write_text("a,y\n1,0\n2,1\n")
    text = ("select", tmp_path / "t.csv", "--target", "y", "--engine", "blocks")
    assert "can be read in blocks" in refused(*text)


def test_a_scheduler_that_does_not_answer(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    import rowsparse.designs.dask_arrays as dask_arrays

    monkeypatch.setattr(dask_arrays, "ANSWER_SECONDS", 0.5)
    path = written("npy", tmp_path)
    nobody = ("--engine", "dask", "--scheduler", "tcp://127.0.0.1:9")
    assert "Dask scheduler that answers" in refused("select", path, "-k", 2, *nobody)
