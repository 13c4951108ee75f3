"""Figures as files, in notebooks and on matplotlib."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import matplotlib
import matplotlib.pyplot
import numpy as np
import pytest

from rowsparse import L2pSelector, ScoreSelector
from rowsparse.report import (
    AccuracyDisplay,
    CoefficientDisplay,
    PathDisplay,
    StabilityDisplay,
    save_figures,
)
from rowsparse.report.page import _environment
from rowsparse.report.scales import Scale, round_values, scale_of, spread
from rowsparse.results import Path


@pytest.fixture(autouse=True)
def closed():
    yield
    matplotlib.pyplot.close("all")


def test_svg_files_are_whole(everything, path, tmp_path, wine):
    files = save_figures([*everything, path], tmp_path / "new", data=wine)
    assert [f.name for f in files] == ["tuning.svg", "comparison.svg", "stability.svg", "path.svg"]
    for file in files:
        root = ET.parse(file).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(" not in file.read_text()


@pytest.mark.parametrize("format", ["png", "pdf"])
def test_pictures(format, selector, path, tmp_path, wine):
    files = save_figures([selector, path], tmp_path, data=wine, format=format)
    start = {"png": b"\x89PNG", "pdf": b"%PDF"}[format]
    assert [file.read_bytes()[:4] for file in files] == [start, start]


def test_a_strange_format_is_refused(selector, tmp_path):
    with pytest.raises(ValueError, match=r"'svg', 'png' or 'pdf', got 'gif'"):
        save_figures(selector, tmp_path, format="gif")


def test_results_show_themselves_in_notebooks(selector, path, search, stable, comparison):
    results = (path, search.result_, stable.stability_, comparison)
    for result in results:
        assert "<svg" in result._repr_html_()
        assert "<script" not in result._repr_html_()
    assert "objective" in selector.solution_._repr_html_().lower()
    assert isinstance(Path(np.array([]), ())._repr_html_(), str)


def test_without_jinja_a_notebook_shows_the_text(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    _environment.cache_clear()
    assert path._repr_html_() is None
    _environment.cache_clear()


def test_styles_of_a_cell_stay_inside_it(path):
    style = re.search("<style>(.*?)</style>", path._repr_html_(), re.S).group(1)
    for rule in re.findall(r"(?:^|\})\s*([^{}@]+)\{", style):
        assert all(one.strip().startswith((".rs", ".rsf")) for one in rule.split(",")), rule


def test_reports_load_no_plotting_until_it_is_asked_for():
    program = "import sys, rowsparse.report; assert not {'matplotlib', 'jinja2'} & set(sys.modules)"
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


def test_path_display(wine):
    X, y = wine
    display = PathDisplay.from_estimator(L2pSelector(), X, y, n_alphas=6)
    lines = {line.get_label(): line.get_ydata() for line in display.ax_.lines}
    trace = display.path.traces[0]
    np.testing.assert_allclose(lines[trace.name], trace.values)
    assert display.ax_.get_xlim()[0] > display.ax_.get_xlim()[1]  # weaker penalties to the right


def test_displays_draw_on_given_axes(selector, wine):
    _, ax = matplotlib.pyplot.subplots()
    display = CoefficientDisplay.from_estimator(selector, data=wine, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    shown = ax.images[0].get_array()
    coef = selector.coef_[:, [f.index for f in display.features]].T
    np.testing.assert_allclose(shown, coef / np.abs(coef).max(axis=1, keepdims=True))


def test_coefficients_of_one_output(wine):
    X, y = wine
    selector = L2pSelector(3).fit(X, y == 0)
    display = CoefficientDisplay.from_estimator(selector)
    widths = [bar.get_width() for bar in display.ax_.patches]
    expected = selector.coef_[0, [f.index for f in display.features]]
    np.testing.assert_allclose(widths, expected)


def test_accuracy_display(comparison):
    display = AccuracyDisplay.from_estimator(comparison)
    for line in display.ax_.lines:
        means = [comparison.interval(line.get_label(), k, "ridge").estimate for k in (1, 3)]
        np.testing.assert_allclose(line.get_ydata(), means)


def test_stability_display(stable):
    display = StabilityDisplay.from_estimator(stable)
    widths = [bar.get_width() for bar in display.ax_.patches]
    probabilities = np.sort(stable.selection_probabilities_)[::-1]
    np.testing.assert_allclose(widths, probabilities[probabilities > 0])


def test_displays_refuse_what_they_cannot_draw(selector, wine):
    with pytest.raises(TypeError, match="Expected a fitted SelectorCV or a Comparison"):
        AccuracyDisplay.from_estimator(selector)
    with pytest.raises(TypeError, match="Expected a StabilitySelector"):
        StabilityDisplay.from_estimator(selector)
    with pytest.raises(ValueError, match="with coefficients"):
        CoefficientDisplay.from_estimator(ScoreSelector("f", 2).fit(*wine))
    with pytest.raises(ValueError, match="at least one solution"):
        PathDisplay.from_path(Path(np.array([]), ()))


def test_ticks_are_inside_and_round():
    rng = np.random.default_rng(0)
    for _ in range(200):
        low = float(rng.normal() * 10 ** rng.uniform(-4, 5))
        high = low + float(10 ** rng.uniform(-5, 5))
        values = round_values(low, high)
        slack = 1e-6 * (high - low)
        assert all(low - slack <= v <= high + slack for v in values)
        assert 2 <= len(values) <= 8


def test_scales_end_where_they_should():
    for scale in (Scale(2.0, 7.0, 10, 90), scale_of([1e-3, 1.0], 0, 100, reverse=True)):
        assert scale(scale.low) == scale.start
        assert scale(scale.high) == scale.end
    assert scale_of([1e-3, 1.0], 0, 100).logarithmic
    assert not scale_of([0.0, 1.0], 0, 100).logarithmic
    assert scale_of([3.0], 0, 100)(3.0) == 50


def test_labels_do_not_stand_on_each_other():
    rng = np.random.default_rng(0)
    places = spread(rng.uniform(0, 100, size=6), 15, 0, 100)
    gaps = np.diff(np.sort(places))
    assert gaps.min() >= 15 - 0.2
    assert max(places) <= 100
