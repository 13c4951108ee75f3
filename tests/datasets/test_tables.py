"""Tables as people have them: packed, with semicolons, names of samples, categories, gaps, dates.

Every test of what a text table means runs with polars and with the csv module alone.
"""

import gzip
import io
import sys
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer

from rowsparse.datasets import DatasetError, load_file

PLAIN = "a,b,y\n1.5,-2,u\n0.25,1e-7,v\n4,5,u\n"
X = [[1.5, -2], [0.25, 1e-7], [4, 5]]


@pytest.fixture(params=["polars", "csv module"])
def engine(request, monkeypatch):
    if request.param == "csv module":
        monkeypatch.setitem(sys.modules, "polars", None)
    return request.param


def read(folder, text, target="y", name="t.csv", **options):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_file(path, target, **options)


def assert_is_plain(data):
    np.testing.assert_array_equal(data.X, X)
    assert data.feature_names == ("a", "b")
    assert data.y.tolist() == ["u", "v", "u"]
    assert data.notes == ()


def zipped(content, *names):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return packed.getvalue()


FORMS = {
    "gzip": ("t.csv.gz", gzip.compress(PLAIN.encode())),
    "zip": ("t.zip", zipped(PLAIN, "inner.csv")),
    "zip of tabs": ("t.zip", zipped(PLAIN.replace(",", "\t"), "folder/inner.tsv")),
    "semicolons": ("t.csv", PLAIN.replace(",", ";").encode()),
    "bars": ("t.csv", PLAIN.replace(",", "|").encode()),
    "tabs in a csv": ("t.csv", PLAIN.replace(",", "\t").encode()),
    "commas in a tsv": ("t.tsv", PLAIN.encode()),
    "decimal commas": ("t.csv", PLAIN.replace(",", ";").replace(".", ",").encode()),
    "byte order mark": ("t.csv", PLAIN.encode("utf-8-sig")),
    "UTF-16": ("t.csv", PLAIN.encode("utf-16")),
    "UTF-16 the other way": ("t.csv", b"\xfe\xff" + PLAIN.encode("utf-16-be")),
    "quotes": ("t.csv", b'"a","b","y"\n1.5,"-2","u"\n"0.25",1e-7,v\n4,5,"u"\n'),
    "spaces": ("t.csv", b"a , b,y\n 1.5,-2 ,u\n0.25, 1e-7, v\n4,5,u\n"),
    "blank lines at the end": ("t.csv", PLAIN.encode() + b"\n\n"),
    "Windows lines": ("t.csv", PLAIN.replace("\n", "\r\n").encode()),
    "no line at the end": ("t.csv", PLAIN.encode().rstrip()),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_table_in_many_forms(tmp_path, form, engine):
    name, content = FORMS[form]
    assert_is_plain(read(tmp_path, content, name=name))


def test_a_table_on_standard_input(monkeypatch, engine):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PLAIN.encode())))
    assert_is_plain(load_file("-", "y"))
    for content, words in ((b"", "got nothing"), (bytes(100), "binary data")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        with pytest.raises(DatasetError, match=words):
            load_file("-", "y")


@pytest.mark.parametrize("mark", ["#", "tab", ";"])
def test_a_delimiter_may_be_named(tmp_path, mark, engine):
    text = PLAIN.replace(",", {"tab": "\t"}.get(mark, mark))
    assert_is_plain(read(tmp_path, text, delimiter=mark))
    with pytest.raises(DatasetError, match="one character"):
        read(tmp_path, text, delimiter="abc")


def test_a_table_without_names(tmp_path, engine):
    text = "1.5,-2,u\n0.25,1e-7,v\n4,5,u\n"
    data = read(tmp_path, text, "x2", header=False)
    np.testing.assert_array_equal(data.X, X)
    assert data.feature_names == ("x0", "x1")
    with pytest.raises(DatasetError, match="--no-header, which names the columns x0 to x2"):
        read(tmp_path, "1,2,3\n4,5,6\n")


def test_zip_of_several_and_what_can_not_be_packed(tmp_path):
    with pytest.raises(DatasetError, match="one file in it, got 2"):
        read(tmp_path, zipped(PLAIN, "a.csv", "b.csv"), name="t.zip")
    with pytest.raises(DatasetError, match=r"inside it.*got '\.parquet'"):
        read(tmp_path, zipped(PLAIN, "a.parquet"), name="t.zip")


def test_words_beyond_the_rows_that_polars_looks_at(tmp_path, engine):
    lines = [f"{i % 3},{i % 5},u" for i in range(3000)]
    lines[2500] = "1.5,low,u"
    with pytest.raises(DatasetError, match=r"'low' in 'b'"):
        read(tmp_path, "\n".join(["a,b,y", *lines]))
    lines[2500] = "1.5,2,v"
    data = read(tmp_path, "\n".join(["a,b,y", *lines]))
    assert data.X[2500].tolist() == [1.5, 2]
    assert data.y[2500] == "v"


def test_a_short_last_row_is_no_missing_value(tmp_path, engine):
    with pytest.raises(DatasetError, match="expected 3 cells in every row, got 2 in data row 2"):
        read(tmp_path, "a,b,y\n1,2,0\n3,4", impute="median")


# ---------------------------------------------------------------- what is no feature


def test_names_of_samples_are_recognised_and_said(tmp_path, engine):
    lines = [f"p{i:03},{i},{1000 + i * 37 % 501},{i * i % 7},{i % 2}" for i in range(20)]
    data = read(tmp_path, "\n".join(["patient,,visit id,a,y", *lines]))
    assert data.feature_names == ("a",)
    assert list(data.ids) == ["patient", "column 2", "visit id"]
    assert data.ids["patient"][3] == "p003"
    told = " ".join(data.notes)
    for words in ("'patient' (another word in every row)", "'column 2', 'visit id' (running"):
        assert words in told
    kept = read(tmp_path, "\n".join(["patient,,visit id,a,y", *lines]), keep=["visit id"])
    assert kept.feature_names == ("visit id", "a")


def test_short_counts_and_repeated_numbers_are_features(tmp_path, engine):
    data = read(tmp_path, "dose,grade,y\n1,5,0\n2,5,1\n3,6,0\n4,6,1\n")
    assert data.feature_names == ("dose", "grade")
    assert data.ids == {}


def test_columns_left_out_and_named_ids(tmp_path, engine):
    text = "a,name,b,y\n1,u,5,0\n2,u,6,1\n5,w,8,0\n"
    data = read(tmp_path, text, ignore=["b"], ids=["name"])
    assert data.feature_names == ("a",)
    assert data.ids["name"].tolist() == ["u", "u", "w"]
    assert data.notes == ()
    for option in ("ignore", "ids", "keep"):
        with pytest.raises(DatasetError, match=r"'nama'.*Did you mean 'name'\?"):
            read(tmp_path, text, **{option: ["nama"]})


def test_empty_columns_are_left_out_and_said(tmp_path, engine):
    data = read(tmp_path, "a,b,y,\n1,,0,\n2,,1,\n")
    assert data.feature_names == ("a",)
    assert "'b', 'column 4' (no values at all)" in data.notes[0]


def test_a_table_of_names_alone_says_why_nothing_is_left(tmp_path, engine):
    with pytest.raises(DatasetError, match="got none: Left out 'city'"):
        read(tmp_path, "city,y\nRome,0\nOslo,1\n")


# ---------------------------------------------------------------- words, truth, dates


def test_categories_are_coded_as_pandas_codes_them(tmp_path, engine):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "town": rng.choice(["Rome", "Oslo", "Bonn", "são"], 40),
            "a": rng.normal(size=40).round(3),
            "sex": rng.choice(["f", "m"], 40),
            "y": rng.integers(0, 2, 40),
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    data = load_file(tmp_path / "t.csv", "y")
    coded = pd.get_dummies(frame[["town", "sex"]]).to_numpy(float)
    np.testing.assert_array_equal(data.X[:, :4], coded[:, :4])
    np.testing.assert_array_equal(data.X[:, 4], frame["a"])
    np.testing.assert_array_equal(data.X[:, 5], coded[:, 5])
    towns = ("town=Bonn", "town=Oslo", "town=Rome", "town=são")
    assert data.feature_names == (*towns, "a", "sex=m")
    assert "'town' (4), 'sex' (2)" in data.notes[0]


def test_a_coded_column_takes_no_name_that_is_there(tmp_path, engine):
    data = read(tmp_path, "sex,sex=m,y\nf,5,0\nm,7,1\nf,8,0\nm,5,1\n")
    assert data.feature_names == ("sex=m'", "sex=m")
    np.testing.assert_array_equal(data.X, [[0, 5], [1, 7], [0, 8], [1, 5]])
    assert data.X.dtype == np.float64


@pytest.mark.parametrize("spelling", [("True", "False"), ("true", "false"), ("TRUE", "FALSE")])
def test_true_and_false_are_one_and_zero(tmp_path, spelling, engine):
    yes, no = spelling
    data = read(tmp_path, f"a,y\n{yes},0\n{no},1\n{yes},1\n")
    assert data.feature_names == ("a",)
    assert data.X.ravel().tolist() == [1, 0, 1]
    data = read(tmp_path, f"y,a\n{yes},0\n{no},1\n{yes},1\n")
    assert data.y.tolist() == [yes, no, yes]  # labels stay as they are written


def test_free_text_is_refused(tmp_path, engine):
    lines = [f"comment {i // 2 if i < 4 else i},{i % 2},{i % 3}" for i in range(60)]
    with pytest.raises(DatasetError, match=r"58 different words in 'notes'.*--ignore"):
        read(tmp_path, "\n".join(["notes,a,y", *lines]))


@pytest.mark.parametrize(
    "dates",
    [("2024-01-31", "2023-12-01", "2024-01-31"), ("31.1.2024", "1.12.2023", "1.12.2023"),
     ("2024-01-31 12:00:00", "2023-12-01 09:30:00", "2024-01-31 12:00:00"),
     ("12:30", "08:15", "12:30")],
)  # fmt: skip
def test_dates_are_refused_with_what_to_do(tmp_path, dates, engine):
    rows = "".join(f"{date},{i},{i % 2}\n" for i, date in enumerate(dates))
    with pytest.raises(DatasetError, match=r"dates or times in 'visit'.*days since.*--ignore"):
        read(tmp_path, f"visit,a,y\n{rows}")
    assert read(tmp_path, f"visit,a,y\n{rows}", ignore=["visit"]).feature_names == ("a",)


def test_typed_dates_are_refused_too(tmp_path):
    frame = pd.DataFrame(
        {"visit": pd.date_range("2024-01-01", periods=3), "a": 1.0, "y": [0, 1, 0]}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DatasetError, match="dates or times in 'visit'"):
        load_file(tmp_path / "t.parquet", "y")


# ---------------------------------------------------------------- gaps


GAPS = "a,b,town,y\n1,,Rome,0\n,5,,1\n4,5,Rome,0\n5,9,Oslo,1\n6,NA,Bonn,1\n"


def test_gaps_are_refused_with_columns_and_counts(tmp_path, engine):
    with pytest.raises(DatasetError, match=r"'a' \(1\), 'b' \(2\), 'town' \(1\) \(first in data"):
        read(tmp_path, GAPS)
    with pytest.raises(DatasetError, match=r"missing values, got some in 'y' \(1\)"):
        read(tmp_path, "a,y\n1,0\n2,\n", impute="median")


@pytest.mark.parametrize(
    ("impute", "strategy"), [("median", "median"), ("most-frequent", "most_frequent")]
)
def test_gaps_are_filled_as_scikit_learn_fills_them(tmp_path, impute, strategy, engine):
    data = read(tmp_path, GAPS, impute=impute)
    raw = np.array([[1, np.nan], [np.nan, 5], [4, 5], [5, 9], [6, np.nan]])
    np.testing.assert_array_equal(
        data.X[:, :2], SimpleImputer(strategy=strategy).fit_transform(raw)
    )
    assert data.X[:, data.feature_names.index("town=Rome")].tolist() == [1, 1, 1, 0, 0]
    assert f"({impute}) in 'a' (1), 'b' (2), 'town' (1)" in data.notes[-1]


def test_gaps_may_have_a_column_of_their_own(tmp_path, engine):
    data = read(tmp_path, GAPS, impute="indicator")
    columns = dict(zip(data.feature_names, data.X.T.tolist(), strict=True))
    assert columns["a=missing"] == [0, 1, 0, 0, 0]
    assert columns["b=missing"] == [1, 0, 0, 0, 1]
    assert columns["town=missing"] == [0, 1, 0, 0, 0]
    assert columns["town=Rome"] == [1, 0, 1, 0, 0]
    assert columns["a"] == [1, 4.5, 4, 5, 6]


@pytest.mark.parametrize("impute", ["median", "most-frequent"])
def test_gaps_can_be_filled_from_some_of_the_samples(tmp_path, impute, engine):
    lines = [
        "1,,Rome,f,0",
        ",5,,m,1",
        "4,5,Rome,,0",
        "5,9,Oslo,f,1",
        "6,NA,Bonn,f,1",
        "9,9,Oslo,m,0",
    ]
    data = read(tmp_path, "a,b,town,sex,y\n" + "\n".join(lines), impute=impute)
    train = [0, 1, 3, 5]  # without a third town, and with as many f as m
    rest = [2, 4]
    filler = data.filler.fit(data.unfilled[train])
    assert np.isnan(data.unfilled[train]).any()
    filled = filler.transform(data.unfilled)
    raw = np.array([[1, np.nan], [np.nan, 5], [4, 5], [5, 9], [6, np.nan], [9, 9]])
    strategy = impute.replace("-", "_")
    numbers = SimpleImputer(strategy=strategy).fit(raw[train]).transform(raw)
    np.testing.assert_array_equal(filled[:, :2], numbers)
    towns = dict(zip(data.feature_names[2:], filled[:, 2:].T.tolist(), strict=True))
    assert towns["town=Oslo"] == [0, 1, 0, 1, 0, 1]  # twice in the training part, Rome once
    assert towns["town=Rome"] == [1, 0, 1, 0, 0, 0]
    assert towns["sex=m"] == [0, 1, 0, 0, 0, 1]
    assert not np.isnan(filled[rest]).any()
    whole = data.filler.fit(data.unfilled).transform(data.unfilled)
    np.testing.assert_array_equal(data.X, whole)
    assert data.groups == {"town": (2, 3, 4), "sex": (5,)}


def test_the_word_missing_is_not_a_gap(tmp_path, engine):
    data = read(tmp_path, "a,y\nmissing,0\nx,1\n,0\nx,1\nz,0\n", impute="indicator")
    assert data.feature_names == ("a=missing", "a=x", "a=z", "a=missing'")
    assert data.X.sum(axis=0).tolist() == [1, 2, 1, 1]
    assert data.groups == {"a": (0, 1, 2, 3)}


def test_gaps_in_a_matrix(tmp_path):
    X = np.array([[1, np.nan], [2, 3], [4, 7.0]])
    np.savez(tmp_path / "t.npz", X=X, y=[0, 1, 0])
    with pytest.raises(DatasetError, match=r"'x1' \(1\) \(first in data row 1\)"):
        load_file(tmp_path / "t.npz")
    data = load_file(tmp_path / "t.npz", impute="indicator")
    np.testing.assert_array_equal(data.X, [[1, 5, 1], [2, 3, 0], [4, 7, 0]])
    assert data.feature_names == ("x0", "x1", "x1=missing")
    assert load_file(tmp_path / "t.npz", ignore=["x1"]).feature_names == ("x0",)


# ---------------------------------------------------------------- both engines, and other formats


def test_polars_and_the_csv_module_agree_on_messy_tables(tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    pool = ["1", "2.5", "-3", "1e3", " 4", "", "NA", "x", "y", "x", '"a,b"', "true", "False", "+7",
            ".5", "007", "1_0", "99999999999999999999999", "2020-01-02", "é", "nan"]  # fmt: skip
    for _ in range(150):
        n, d = rng.integers(1, 6), rng.integers(1, 4)
        few = rng.choice(pool, size=rng.integers(1, 5))
        rows = [",".join([*rng.choice(few, d), str(i % 2)]) for i in range(n)]
        text = "\n".join([",".join([*(f"c{j}" for j in range(d)), "y"]), *rows]) + "\n"
        answers = []
        for module in ("polars", "csv"):
            with monkeypatch.context() as patch:
                if module == "csv":
                    patch.setitem(sys.modules, "polars", None)
                try:
                    data = read(tmp_path, text)
                    ids = {name: list(map(str, v)) for name, v in data.ids.items()}
                    told = (data.feature_names, data.notes, ids, data.y.tolist())
                    answers.append((data.X.tolist(), *told))
                except DatasetError as error:
                    answers.append(str(error))
        assert answers[0] == answers[1], text


@pytest.mark.parametrize("suffix", ["feather", "arrow", "xlsx", "parquet"])
def test_typed_tables_mean_the_same(tmp_path, suffix):
    frame = pd.DataFrame(
        {"a": [1.5, 0.25, 4], "n": [2, 3, 5], "ok": [True, False, True], "town": list("uvu"),
         "y": ["sick", "well", "sick"]}
    )  # fmt: skip
    path = tmp_path / f"t.{suffix}"
    if suffix == "xlsx":
        frame.to_excel(path, index=False)
    elif suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_feather(path)
    data = load_file(path, "y")
    np.testing.assert_array_equal(data.X, [[1.5, 2, 1, 0], [0.25, 3, 0, 1], [4, 5, 1, 0]])
    assert data.feature_names == ("a", "n", "ok", "town=v")
    assert data.y.tolist() == ["sick", "well", "sick"]


def test_single_precision_stays_where_nothing_is_lost(tmp_path):
    single = pd.DataFrame({"a": np.float32([1, 2, 0.5]), "b": np.int16([5, 6, 9]), "y": [0, 1, 0]})
    single.to_parquet(tmp_path / "t.parquet")
    assert load_file(tmp_path / "t.parquet", "y").X.dtype == np.float32
    single.assign(c=np.int64([1, 2, 2**40])).to_parquet(tmp_path / "t.parquet")
    assert load_file(tmp_path / "t.parquet", "y").X.dtype == np.float64


def test_without_openpyxl_and_anndata(tmp_path, monkeypatch):
    for module, suffix in (("openpyxl", "xlsx"), ("anndata", "h5ad")):
        (tmp_path / f"t.{suffix}").write_bytes(b"x")
        for name in [name for name in sys.modules if name.startswith(module)] + [module]:
            monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(DatasetError, match=f"pip install {module}"):
            load_file(tmp_path / f"t.{suffix}", "y")
