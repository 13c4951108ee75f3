"""Datasets from the network: fetched from a server in this process, checked, kept once."""

import hashlib
import http.server
import threading

import numpy as np
import pytest
import scipy.io

from rowsparse.datasets import DatasetError, fetch_dataset, load_dataset, remote

pooch = pytest.importorskip("pooch")


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A folder that a server offers, and a cache of its own; the names of what was asked for."""
    offered = tmp_path / "offered"
    offered.mkdir()
    scipy.io.savemat(offered / "tiny.mat", {"X": np.eye(4), "Y": [[0], [1], [0], [1]]})
    checksum = hashlib.sha256((offered / "tiny.mat").read_bytes()).hexdigest()
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(offered))

        def log_message(self, _format, *arguments):
            asked.append(arguments[0])

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    monkeypatch.setattr(remote, "SOURCE", f"http://127.0.0.1:{running.server_port}/")
    monkeypatch.setitem(remote.REMOTE, "tiny", remote.Remote(checksum, "four rows"))
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache" / name)
    monkeypatch.delenv("ROWSPARSE_DATA", raising=False)
    yield offered, asked
    running.shutdown()
    thread.join()
    running.server_close()


def test_fetched_once_and_known_by_name(server):
    _, asked = server
    with pytest.raises(DatasetError, match="rowsparse datasets fetch tiny"):
        load_dataset("tiny")
    assert fetch_dataset("tiny") == fetch_dataset("tiny")
    assert len(asked) == 1
    data = load_dataset("tiny")
    np.testing.assert_array_equal(data.X, np.eye(4))
    assert data.y.tolist() == [0, 1, 0, 1]


def test_another_file_is_not_kept(server, tmp_path):
    offered, _ = server
    (offered / "tiny.mat").write_bytes(b"something else")
    with pytest.raises(DatasetError, match=r"known checksum.*not kept"):
        fetch_dataset("tiny")
    assert not list(tmp_path.glob("cache/rowsparse/*"))


def test_no_network_is_one_sentence(server, monkeypatch):
    monkeypatch.setattr(remote, "SOURCE", "http://127.0.0.1:9/")
    with pytest.raises(DatasetError, match=r"got no answer \(.*\); check the network") as error:
        fetch_dataset("tiny")
    assert "\n" not in str(error.value)


def test_names_that_cannot_be_fetched():
    with pytest.raises(DatasetError, match=r"Did you mean 'ALLAML'\?"):
        fetch_dataset("ALLAMM")
    assert all(len(entry.sha256) == 64 for entry in remote.REMOTE.values())
