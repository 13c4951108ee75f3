"""Things given as X, weights or scores that were taken for what they are not, or answered with a
riddle, a flood of warnings or a crash of a library."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import rowsparse as rs
from rowsparse import filters
from rowsparse.model_selection import KnockoffSelector, SelectorCV, StabilitySelector
from rowsparse.solvers import ALM, SFS

RNG = np.random.default_rng(0)
N, D = 24, 5
X = RNG.standard_normal((N, D))
Y = np.arange(N) % 3
X[:, 0] += Y

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def structured():
    return np.array([tuple(row) for row in X], dtype=[(f"f{j}", float) for j in range(D)])


NO_TABLES = {
    "masked": (np.ma.masked_array(X, mask=np.eye(N, D, dtype=bool)), "masked entries"),
    "times": (X.astype("timedelta64[s]"), "dates or times"),
    "structured": (structured(), r"as one \(ndarray\)"),
    "words": (np.array([["a"] * D] * N, dtype=object), "could not convert string to float: 'a'"),
    "ragged": ([[1.0, 2.0], [3.0]], r"as one \(list\)"),
    "a mapping": ({"a": 1.0}, r"as one \(dict\)"),
    "no columns": (pd.DataFrame(X).iloc[:, :0], r"got a data frame of shape \(24, 0\)"),
    "complex columns": (pd.DataFrame(X + 1j, columns=list("abcde")), "in the columns"),
}
if sparse.coo_array(X[:, 0]).ndim == 1:  # older SciPy makes one row of it
    NO_TABLES["one-dimensional sparse"] = (sparse.coo_array(X[:, 0]), "two dimensions, got 1")


@pytest.mark.parametrize(("given", "said"), NO_TABLES.values(), ids=NO_TABLES)
@pytest.mark.parametrize(
    "fit",
    [
        rs.L2pSelector(2).fit,
        rs.ZeroNormSVC().fit,
        rs.ZeroNormKernelSVC().fit,
        rs.ScoreSelector("f", 2).fit,
        filters.f_score,
    ],
    ids=["l2p", "svc", "kernel", "score", "filter"],
)
def test_what_is_no_table_of_numbers_is_refused_in_a_sentence(fit, given, said):
    with pytest.raises((TypeError, ValueError), match=f"^Expected .*{said}"):
        fit(given, Y)


def test_a_masked_array_without_masked_entries_is_an_array():
    plain = rs.L2pSelector(2).fit(X, Y)
    masked = rs.L2pSelector(2).fit(np.ma.masked_array(X), Y)
    assert np.array_equal(plain.coef_, masked.coef_)


@pytest.mark.parametrize(
    "weights",
    [
        "balanced",
        {0: 1.0},
        np.ones(N) + 1j,
        np.ma.masked_array(np.ones(N), mask=np.arange(N) == 3),
        np.ones(N).astype("datetime64[s]"),
    ],
    ids=["word", "mapping", "complex", "masked", "dates"],
)
def test_weights_that_are_no_numbers_are_refused_in_a_sentence(weights):
    with pytest.raises(TypeError, match=r"^Expected sample_weight as real numbers, got"):
        rs.L2pSelector(2).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e300])
@pytest.mark.parametrize(
    "model",
    [
        rs.L2pSelector(2),
        rs.ZeroNormSVC(),
        rs.ZeroNormKernelSVC(),
        rs.ScoreSelector("relieff", 2),
        rs.ScoreSelector("svm_rfe", 2),
    ],
    ids=["l2p", "svc", "kernel", "relieff", "svm_rfe"],
)
def test_weights_whose_products_leave_the_doubles_are_refused(model, size):
    with pytest.raises(ValueError, match=r"^Expected sample_weight as 0 or between"):
        model.fit(X, Y, sample_weight=np.full(N, size))


@pytest.mark.parametrize(
    "model",
    [
        rs.ZeroNormSVC(C=1e-300),
        rs.ZeroNormSVC(C=1e200),
        rs.ProbitSelector(gamma=1e-300),
        rs.ZeroNormKernelSVC(C=1e300),
        rs.ProbitKernelClassifier(prior=1e-300),
    ],
    ids=repr,
)
def test_costs_whose_products_leave_the_doubles_are_refused(model):
    with pytest.raises(ValueError, match=r"^Expected costs of samples"):
        model.fit(X, Y, sample_weight=np.full(N, 1e-50))


@pytest.mark.parametrize("factor", ["a", None, 1j, [1.0, 2.0]])
def test_a_factor_by_name_that_is_no_number_is_refused_by_its_name(factor):
    frame = pd.DataFrame(X, columns=list("abcde"))
    with pytest.raises(TypeError, match=r"^Expected feature_weights\['b'\] to be"):
        rs.L2pSelector(2, feature_weights={"b": factor}).fit(frame, Y)


@pytest.mark.parametrize("unit", [1e308, 1e200, 1e-200, 1e-300])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "score",
    ["fisher", "f", "information_gain", "relieff", "mrmr", "svm_rfe", "arom", "fsv"],
)
def test_filters_do_not_see_the_unit_of_a_column(score, storage, unit):
    scaled = X.copy()
    scaled[:, 2] *= unit / np.abs(X[:, 2]).max()
    scaled[:, 0] *= unit / 10 / np.abs(X[:, 0]).max()
    plain = rs.ScoreSelector(score, 2).fit(storage(X), Y).scores_
    assert np.allclose(rs.ScoreSelector(score, 2).fit(storage(scaled), Y).scores_, plain, rtol=1e-6)


def test_the_whole_range_of_doubles_in_one_column():
    wide = X.copy()
    wide[:, 2] = 1.7e308 * np.sign(X[:, 2])
    assert filters.f_score(wide, Y)[2] == pytest.approx(filters.f_score(np.sign(X), Y)[2])
    for model in (
        rs.L2pSelector(2),
        rs.TopKSelector(2, standardize=False, fit_intercept=False),
        rs.ZeroNormKernelSVC(),
        KnockoffSelector(rs.ScoreSelector("f", 2)),
    ):
        with pytest.raises(ValueError, match=r"^Expected .*scale X"):
            model.fit(wide, Y)


def test_knockoffs_of_equal_samples_have_no_columns():
    with pytest.raises(ValueError, match=r"^Expected some column of X that varies"):
        KnockoffSelector(rs.ScoreSelector("f", 2)).fit(np.repeat(X[:1], N, axis=0), Y)


def test_scores_that_are_no_numbers_are_refused_in_a_sentence():
    with pytest.raises(TypeError, match=r"^Expected one number per column of X from the score"):
        rs.ScoreSelector(lambda X, y: ["a"] * D, 2).fit(X, Y)
    with pytest.raises(TypeError, match=r"^Expected a score function of X and y"):
        rs.ScoreSelector(lambda X: np.ones(D), 2).fit(X, Y)


def test_complex_weights_raise_no_warning_on_the_way():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TypeError, match=r"^Expected feature_weights as real numbers"):
            rs.L2pSelector(2, feature_weights=np.ones(D) + 1j).fit(X, Y)


@pytest.mark.parametrize("unit", [1e308, 1e160, 1e-160, 1e-320])
@pytest.mark.parametrize(
    "model",
    [rs.L2pSelector(2), rs.TopKSelector(2, r=1.0), rs.ScoreSelector("svm_rfe", 2)],
    ids=["l2p", "top-k", "svm_rfe"],
)
def test_numbers_in_y_whose_squares_are_none_are_refused(model, unit):
    with pytest.raises(ValueError, match=r"^Expected y whose .*rescale y"):
        model.fit(X, unit * np.clip(X[:, 0], -1, 1))


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (pd.DataFrame({"a": ["u", "v"] * (N // 2), "b": X[:, 0]}), "of one type, got a mix of"),
        (np.ma.masked_array(X[:, 0], mask=np.arange(N) == 2), "got masked entries"),
        (1.0, "one label or number per sample, got 1.0"),
        ("abc", "one label or number per sample, got 'abc'"),
    ],
    ids=["words and numbers", "masked", "a number", "a word"],
)
def test_a_strange_y_is_refused_in_a_sentence(y, said):
    with pytest.raises(ValueError, match=f"^Expected .*{said}"):
        rs.L2pSelector(2).fit(X, y)


@pytest.mark.parametrize("name", ["alpha", "ridge"])
def test_an_integer_beyond_every_double_is_refused_in_a_sentence(name):
    with pytest.raises(ValueError, match=f"^Expected {name} to be a finite number"):
        rs.L2pSelector(2, **{name: 10**400}).fit(X, Y)


@pytest.mark.parametrize("start", [{0: 1.0}, np.full((D, 3), 1e300), np.full((D, 3), np.nan)])
def test_a_start_of_no_use_is_refused_in_a_sentence(start):
    with pytest.raises((TypeError, ValueError), match=r"^Expected init (as|with)"):
        rs.L2pSelector(2, init=start).fit(X, Y)


def test_a_kernel_that_returns_no_numbers_is_refused_in_a_sentence():
    with pytest.raises(TypeError, match=r"^Expected the values of a callable kernel as real num"):
        rs.ZeroNormKernelSVC(kernel=lambda A, B: {}).fit(X, Y)


@pytest.mark.parametrize("given", [[[1.0, 2.0], [3.0]], "abc", {"a": 1.0}, pd.DataFrame(X)[[]]])
def test_new_samples_of_a_kernel_machine_are_tables_too(given):
    machine = rs.ZeroNormKernelSVC().fit(X, Y)
    with pytest.raises((TypeError, ValueError), match=r"^Expected "):
        machine.predict(given)


@pytest.mark.parametrize("name", ["dates", "ragged", "no columns"])
def test_what_cannot_be_transformed_is_refused_in_a_sentence(name):
    given = {
        "dates": pd.DataFrame(X).assign(when=pd.Timestamp("2020-01-01")).iloc[:, 1:],
        "ragged": [[1.0, 2.0], [3.0]],
        "no columns": pd.DataFrame(X)[[]],
    }[name]
    with pytest.raises((TypeError, ValueError), match=r"^Expected "):
        rs.ScoreSelector("f", 2).fit(X, Y).transform(given)


def test_lists_without_numbers_have_gaps_in_all_columns():
    with pytest.raises(ValueError, match="NaN in 5 of 5 columns"):
        rs.ScoreSelector("f", 2).fit([[None] * D] * N, Y)


@pytest.mark.parametrize("strange", ["masked", "times", "structured", "words"])
def test_predictions_are_for_tables_of_numbers(strange):
    fitted = rs.L2pSelector(2).fit(X, Y)
    with pytest.raises((TypeError, ValueError), match=r"^Expected"):
        fitted.predict(NO_TABLES[strange][0])


@pytest.mark.parametrize(
    "model",
    [
        rs.L2pSelector(2),
        rs.ZeroNormKernelSVC(),
        SelectorCV(rs.ScoreSelector("f", 2), ks=[1, 2], cv=2),
        StabilitySelector(rs.ScoreSelector("f", 2), n_pairs=2),
        KnockoffSelector(rs.ScoreSelector("f", 2), fdr=0.9),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_fit_that_is_refused_changes_nothing(model):
    model.fit(X, Y)
    before = vars(model).copy()
    frame = pd.DataFrame(X, columns=list("abcde"))  # its names would be kept
    with pytest.raises(ValueError, match=r"^Expected"):
        model.fit(frame, np.zeros(N, dtype=int))
    assert vars(model) == before


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"grid": 3}, "Expected grid as a mapping"),
        ({"rule": lambda results: None}, "Expected rule to return an index"),
        ({"scoring": "neg_log_loss"}, "Expected .*an estimator that can be scored by"),
    ],
    ids=["grid", "rule", "scoring"],
)
def test_a_search_says_what_it_was_given(parameters, said):
    search = SelectorCV(rs.ScoreSelector("f", 2), ks=[1, 2], cv=2, **parameters)
    with pytest.raises((TypeError, ValueError), match=f"^{said}"):
        search.fit(X, Y)


@pytest.mark.parametrize(
    "solver", ["auto", rs.solvers.ALM(), rs.solvers.SFS()], ids=lambda s: type(s).__name__
)
@pytest.mark.parametrize("size", [1e100, 1e150])
def test_columns_whose_products_overflow_are_refused_unless_standardised(solver, size):
    """They were an OverflowError, an IndexError and a ZeroDivisionError."""
    with pytest.raises(ValueError, match=r"^Expected columns of X of a size up to 1e\+60"):
        rs.TopKSelector(2, standardize=False, solver=solver).fit(size * X, Y)
    kept = rs.TopKSelector(2, solver=solver).fit(size * X, Y).support_
    assert np.array_equal(kept, rs.TopKSelector(2, solver=solver).fit(X, Y).support_)


def test_an_excluded_column_of_any_size_does_no_harm():
    huge = np.append(X, 1e150 * X[:, :1], axis=1)
    factors = np.append(np.ones(D), np.inf)
    fitted = rs.TopKSelector(2, standardize=False, feature_weights=factors).fit(huge, Y)
    plain = rs.TopKSelector(2, standardize=False).fit(X, Y)
    assert np.array_equal(fitted.support_[:D], plain.support_)


def test_coefficients_near_the_end_of_the_doubles_raise_no_warning():
    """Columns that are not standardised, and a y of another size."""
    model = rs.TopKSelector(2, r=1.0, solver=ALM(), standardize=False)
    assert np.isfinite(model.fit(1e-150 * X, 1e60 * X[:, 0]).coef_).all()
    squared = rs.TopKSelector(2, solver=SFS(), standardize=False)
    with pytest.raises(ValueError, match=r"^Expected X and y whose products are finite"):
        squared.fit(1e-100 * X, 1e60 * X[:, 0])


def test_an_automatic_ridge_of_columns_beyond_all_sizes_raises_no_warning():
    model = rs.TopKSelector(2, r=1.0, standardize=False)
    with pytest.raises(ValueError, match=r"^Expected columns of X of a size up to"):
        model.fit(1e150 * X, 1e-60 * (X[:, 0] + RNG.standard_normal(N)))


@pytest.mark.parametrize("number", [np.float16(0.5), np.float32(0.5), np.longdouble(0.5), True])
def test_numbers_of_other_types_are_parameters_without_a_warning(number):
    if number is True:
        with pytest.raises(TypeError, match=r"^Expected C to be a finite number > 0"):
            rs.ZeroNormSVC(C=number).fit(X, Y)
    else:
        assert rs.ZeroNormSVC(C=number).fit(X, Y).C_ == 0.5
