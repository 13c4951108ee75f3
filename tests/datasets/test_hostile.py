"""Files made or damaged to crash a reader: one sentence each, and no memory that they only claim.

tests/fuzz/damaged_files.py makes thousands of them; here is each that was once found.
"""

import gzip
import io
import os
import struct
import sys
import time
import zipfile
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from fuzz import damaged_files
from fuzz.whole_files import write_h5ad
from numpy.lib import format as npy_format

from rowsparse.datasets import DatasetError, load_file
from rowsparse.stores import safety

X = np.array([[1.5, -2.0, 0.0], [0.25, 1e-7, 3.0], [4.0, 5.0, 6e10], [7.0, 8.0, 9.0]])
Y = np.array([0, 1, 0, 1])


def refused(path, target=None, match="expected"):
    with pytest.raises(DatasetError, match=match) as error:
        load_file(path, target)
    assert "\n" not in str(error.value)


def save_parts(path, **changed):
    """A sparse matrix as scipy writes it, with some of its parts exchanged."""
    matrix = scipy.sparse.csr_array(X)
    parts = {
        "format": b"csr", "shape": matrix.shape, "data": matrix.data, "indices": matrix.indices,
        "indptr": matrix.indptr, "_is_array": True,
    }  # fmt: skip
    np.savez(path, **(parts | changed))
    np.save(path.with_name("w.y.npy"), Y)


HOSTILE_PARTS = {
    "a column beyond the shape": {"indices": np.full(10, 2**30)},
    "a negative column": {"indices": np.full(10, -5)},
    "a row pointer beyond the data": {"indptr": np.array([0, 10**6, 5, 7, 10])},
    "row pointers that fall": {"indptr": np.array([0, 9, 2, 7, 10])},
    "too few row pointers": {"indptr": np.array([0, 10])},
    "too few values": {"data": np.ones(2)},
    "pointers of floats": {"indptr": np.array([0.0, 2, 5, 7, 10])},
    "values of text": {"data": np.array(["x"] * 10)},
    "values that are complex": {"data": np.ones(10, complex)},
    "a shape of one number": {"shape": (4,)},
    "a shape of three numbers": {"shape": (4, 3, 2)},
    "a negative shape": {"shape": (4, -3)},
    "more rows than the target": {"shape": (2**40, 3)},
    "an unknown format": {"format": b"lil"},
    "a format that is a list": {"format": np.array([b"csr", b"csc"])},
    "coordinates beyond the shape": {
        "format": b"coo", "row": np.full(10, 99), "col": np.zeros(10, int),
    },
    "more diagonals than data": {
        "format": b"dia", "offsets": np.array([0, 1]), "data": np.ones((1, 3)),
    },
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE_PARTS)
@pytest.mark.parametrize("name", ["w.X.npz", "w.npz"])
def test_sparse_parts_are_checked_before_compiled_code_follows_them(tmp_path, case, name):
    save_parts(tmp_path / name, **HOSTILE_PARTS[case])
    refused(tmp_path / name)


def test_names_and_labels_of_strange_shapes_and_kinds(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=X, y=Y, feature_names=np.array("abc"))
    refused(path, match="'feature_names' to be a list of names")
    np.savez(path, X=X, y=np.array(3))
    refused(path, match="one column or a matrix")
    np.savez(path, X=X, y=Y + 1j)
    refused(path, match="labels or numbers")
    np.savez(path, X=X, y=np.array([b"no", b"yes", b"no", b"\xff"]))
    refused(path)
    np.savez(path, X=X, y=np.array([b"no", b"yes", b"no", b"yes"]), class_names=[b"a", b"b"])
    data = load_file(path)
    assert data.y.tolist() == ["no", "yes", "no", "yes"]
    assert data.target_names == ("a", "b")


def zip_of_one(content):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", content)
    return packed.getvalue()


def npy_with(shape, dtype="<f8", content=b""):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    header = header.ljust(117) + "\n"
    return npy_format.magic(1, 0) + struct.pack("<H", len(header)) + header.encode() + content


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ("(1000000000, 1000000000)", "<f8"),
        ("(-1, -3)", "<f8"),
        ("(4, 2)", "<f8"),
        ("(18446744073709551617, 3)", "<f8"),
        ("(10**9,)", "<f8"),
        ("(1000000000000,)", "<U0"),
        ("(3,)", "O"),
        ("(True, 3)", "<f8"),
    ],
)
def test_shapes_have_to_account_for_the_bytes(tmp_path, shape, dtype):
    (tmp_path / "t.npy").write_bytes(npy_with(shape, dtype, bytes(96)))
    np.save(tmp_path / "t.y.npy", Y)
    refused(tmp_path / "t.npy")
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("X.npy", npy_with(shape, dtype, bytes(96)))
        archive.write(tmp_path / "t.y.npy", "y.npy")
    refused(tmp_path / "t.npz")


@pytest.fixture
def small_room(monkeypatch):
    """The same rule for smaller files: the real ones take seconds to make."""
    monkeypatch.setattr(safety, "ALWAYS_ALLOWED", 2**20)


def test_a_bomb_is_refused_before_it_goes_off(tmp_path, small_room):
    n = 2**21
    path = tmp_path / "bomb.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("y.npy", npy_with("(4,)", content=bytes(32)))
        archive.writestr("X.npy", npy_with(f"(4, {n // 4})", content=bytes(8 * n)))
    assert 8 * n > 200 * path.stat().st_size
    refused(path, match="made to fill the memory")


@pytest.mark.parametrize("pack", [gzip.compress, zip_of_one])
def test_packed_text_that_never_ends(tmp_path, small_room, pack):
    suffix = {gzip.compress: ".csv.gz", zip_of_one: ".zip"}[pack]
    path = tmp_path / f"t{suffix}"
    path.write_bytes(pack(b"a,b,y\n" + b"1,2,0\n" * 2**22))
    refused(path, "y", match="made to fill the memory")


def test_encrypted_members(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, X=X, y=Y)
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(mark)
        while at >= 0:
            content[at + place] |= 1
            at = content.find(mark, at + 1)
    path.write_bytes(bytes(content))
    refused(path)


@pytest.mark.parametrize("index", [2**31, 2**32 + 1, 2**63, 10**30])
def test_svmlight_numbers_that_no_index_can_be(tmp_path, index):
    (tmp_path / "t.svm").write_text(f"1 {index}:1\n0 3:2\n")
    refused(tmp_path / "t.svm", match="svmlight lines")


def test_svmlight_claims_of_width_cost_nothing(tmp_path):
    (tmp_path / "t.svm").write_text("1 7:1 100000000:5\n0 3:2\n")
    data = load_file(tmp_path / "t.svm")
    assert data.feature_names == ("x3", "x7", "x100000000")
    np.testing.assert_array_equal(data.X.toarray(), [[0, 1, 5], [2, 0, 0]])
    assert "100,000,001 columns" in data.notes[0]


def test_svmlight_labels_beyond_integers_stay_as_they_are(tmp_path):
    (tmp_path / "t.svm").write_text("1e300 1:1\n-1e300 1:2\n")
    assert load_file(tmp_path / "t.svm").y.tolist() == [1e300, -1e300]


def test_twenty_thousand_copies_of_names_are_found_at_once(tmp_path):
    names = [f"g{j // 2}" for j in range(20_000)]
    (tmp_path / "t.csv").write_text(",".join([*names, "y"]) + "\n" + "1," * 20_000 + "0\n")
    began = time.process_time()
    refused(tmp_path / "t.csv", "y", match="more than once")
    assert time.process_time() - began < 2  # 14 s where it was quadratic


def test_a_text_file_without_lines(tmp_path, monkeypatch):
    monkeypatch.setattr("rowsparse.datasets.text.LONGEST_LINE", 1000)
    (tmp_path / "t.csv").write_bytes(bytes(100_000))
    refused(tmp_path / "t.csv", "y", match="lines of text")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_pipes_and_devices_are_refused(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    refused(tmp_path / "t.csv", "y", match="pipe or device")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    refused(tmp_path / "zero.csv", "y", match="pipe or device")


def mat_element(kind, content):
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def mat_matrix(flags, shape, name, *values):
    parts = [struct.pack("<II", flags, 0), np.array(shape, "<i4").tobytes(), name]
    kinds = (6, 5, 1)
    head = b"".join(mat_element(k, p) for k, p in zip(kinds, parts, strict=True))
    return mat_element(14, head + b"".join(mat_element(k, v) for k, v in values))


def test_matlab_files_do_not_lead_anywhere(tmp_path):
    """loadmat of SciPy 1.17 dies of a signal at some sparse matrices whose parts disagree."""
    start = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    y = mat_matrix(6, (4, 1), b"y", (9, np.arange(4.0).tobytes()))
    bad = {
        "rows beyond": ((4, 2), [9, 9], [0, 1, 2], [1.0, 2.0]),
        "pointers beyond": ((4, 2), [0, 1], [0, 1, 2**30], [1.0, 2.0]),
        "pointers that fall": ((4, 2), [0, 1], [0, 2, 1], [1.0, 2.0]),
        "too many rows": ((2**30, 2), [0, 1], [0, 1, 2], [1.0, 2.0]),
        "negative": ((-4, 2), [0, 1], [0, 1, 2], [1.0, 2.0]),
    }
    for shape, rows, pointers, values in bad.values():
        parts = [(5, np.array(rows, "<i4")), (5, np.array(pointers, "<i4")), (9, np.array(values))]
        X = mat_matrix(5, shape, b"X", *((k, v.tobytes()) for k, v in parts))
        (tmp_path / "t.mat").write_bytes(start + X + y)
        refused(tmp_path / "t.mat")
    claimed = mat_matrix(6, (4, 2**28), b"X", (9, bytes(64)))
    (tmp_path / "t.mat").write_bytes(start + claimed + y)
    refused(tmp_path / "t.mat")
    packed = zlib.compress(struct.pack("<II", 14, 2**31) + bytes(1000))
    (tmp_path / "t.mat").write_bytes(start + struct.pack("<II", 15, len(packed)) + packed + y)
    refused(tmp_path / "t.mat")
    scipy.io.savemat(tmp_path / "t.mat", {"X": np.eye(4), "y": Y})
    assert load_file(tmp_path / "t.mat").X.shape == (4, 4)


def test_a_heap_without_end_in_an_h5ad_file(tmp_path):
    """HDF5 itself looks for the end of the first one for ever, and Ctrl-C does not reach it."""
    pytest.importorskip("anndata")
    path = tmp_path / "t.h5ad"
    write_h5ad(path)
    whole = path.read_bytes()
    first_object = whole.index(b"GCOL") + 16
    path.write_bytes(whole[:first_object] + bytes(16) + whole[first_object + 16 :])
    refused(path, "y", match="a heap without end")
    path.write_bytes(whole[: whole.index(b"GCOL") + 10])
    refused(path, "y", match="cannot be read")
    path.write_bytes(whole)
    assert load_file(path, "y").X.shape == (60, 8)


def test_a_short_run_of_damaged_files():
    """The long run is ``python tests/fuzz/damaged_files.py``."""
    found = list(damaged_files.failures(range(25)))
    assert found[:-1] == []
    assert sum(found[-1]["outcomes"].values()) == 25


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_a_short_run_of_kills(tmp_path):
    assert damaged_files.kills(tmp_path, 20, seed=0) == []


def test_the_driver_notices_faults(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x")
    good = (2, "one sentence\n", "", 0)
    assert damaged_files.fault(path, good) == ""
    for wrong in (
        (1, "", "ZeroDivisionError()", 0),
        (2, "two\nsentences\n", "", 0),
        (2, "Traceback (most recent call last)\n", "", 0),
        (0, "not json", "", 0),
        (-11, "", damaged_files.DIED, 0),
        (2, "one sentence\n", "", 2**31),
    ):
        assert damaged_files.fault(path, wrong)
