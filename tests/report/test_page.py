"""The page: whole, small, fast, harmless, readable without script, and true."""

import json
import re
import time

import numpy as np
import pandas as pd
import pytest
from report.reading_html import Page
from sklearn.exceptions import NotFittedError

from rowsparse import L2pSelector, ScoreSelector, TopKSelector
from rowsparse.report import report, report_json, report_markdown
from rowsparse.report.theme import DARK, HEAT_STEPS, LIGHT, colours

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "{{ 7 * 7 }}{% raw %}",
    "a\x00\x1b[31m\nb",
    "\u202egnp.exe",
    "שלום عالم",
    "x" * 5000,
    "```\n</code></pre>",
)


@pytest.fixture
def hostile(wine):
    X, y = wine
    named = X.iloc[:, : len(HOSTILE)].set_axis(list(HOSTILE), axis=1)
    return L2pSelector(len(HOSTILE)).fit(named, y), named, y


def test_every_tag_is_closed_and_every_fact_is_text(everything, wine):
    page = Page(report(everything, data=wine))
    assert page.open == page.wrong == []
    names = everything[0].get_feature_names_out()
    assert all(name in page.text for name in names)
    assert "Cross-validation took" in page.text
    assert "this score <b>fails</b>" in page.text
    assert page.count("b") == 0


def test_nothing_is_asked_of_a_network(everything, wine):
    page = Page(report(everything, data=wine))
    for _, attributes in page.tags:
        for name in ("src", "href", "action", "data", "poster"):
            assert attributes.get(name, "#").startswith(("#", "data:,"))
    html = report(everything, data=wine)
    assert not re.search(r"@import|url\((?!data:)", html)
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|sendBeacon)\b", html)


def test_names_are_text_whatever_they_hold(hostile):
    selector, X, y = hostile
    plain = Page(report(L2pSelector(4).fit(X.to_numpy(), y), data=(X.to_numpy(), y)))
    html = report(selector, data=(X, y), title=HOSTILE[0])
    page = Page(html)
    assert page.open == page.wrong == []
    assert page.count("script") == plain.count("script") == 1
    assert page.count("img") == 0
    assert "<script>alert(1)</script>" in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert "שלום عالم" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", html)
    assert "x" * 61 not in page.text.split("columns = [")[0]  # long names are cut on the page


def test_names_in_markdown_and_json(hostile):
    selector, X, y = hostile
    text = report_markdown(selector, data=(X, y))
    assert "\\<script\\>alert" in text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", text)
    facts = json.loads(report_json(selector, data=(X, y)))
    assert {feature["name"] for feature in facts["features"]} == set(HOSTILE)


def test_a_lone_surrogate_can_be_written(wine, tmp_path):
    X, y = wine
    names = [name.replace("proline", "pro\ud800line") for name in X.columns]
    X = pd.DataFrame(X.to_numpy(), columns=pd.Index(names, dtype=object))  # Arrow's text has none
    selector = L2pSelector(3).fit(X, y)
    for write in (report, report_markdown, report_json):
        write(selector, tmp_path / "page", data=(X, y))
    assert "pro\\ud800line" in (tmp_path / "page").read_text()


@pytest.mark.parametrize("data", ["wide", "fifty"])
def test_size_and_time(data, request):
    X, y = request.getfixturevalue(data)
    selector = L2pSelector(alpha=1e-3, p=1.0) if data == "fifty" else ScoreSelector("f", 20)
    selector.fit(X, y)
    assert selector.support_.sum() >= 20
    report(selector)  # reads the templates
    began = time.process_time()
    html = report(selector, data=(X, y))
    assert time.process_time() - began < 1
    assert len(html.encode()) < (150_000 if data == "wide" else 500_000)
    if data == "fifty":
        assert "class 49" in html or ">49<" in html


def luminance(colour):
    values = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def ratio(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast(theme):
    """AA of WCAG 2: 4.5 for text, 3 for what a figure is made of."""
    shades = colours(theme)
    heat = [f"{letter}{step}" for letter in "pn" for step in range(1, HEAT_STEPS + 1)]
    for ground in ("paper", "surface"):
        for text in ("ink", "muted", "accent", "warm"):
            assert ratio(shades[text], shades[ground]) >= 4.5, (text, ground)
    for ground in heat:
        assert ratio(shades["ink"], shades[ground]) >= 4.5, ground
    assert ratio(shades["paper"], shades["ink"]) >= 4.5  # what a pointer is told


def test_figures_have_words_and_tables(everything, path, wine):
    page = Page(report([*everything, path], data=wine))
    figures = [a for tag, a in page.tags if tag == "svg" and "aria-labelledby" in a]
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(figures) == 4
    assert len(ids) == len(set(ids))
    for figure in figures:
        assert set(figure["aria-labelledby"].split()) <= set(ids)
    small = [a for tag, a in page.tags if tag == "svg" and "aria-labelledby" not in a]
    assert small
    assert all(a["aria-label"] for a in small)
    assert page.count("caption") >= 5
    links = {a["href"][1:] for tag, a in page.tags if tag == "a"}
    assert links <= set(ids)


def test_the_facts_are_those_of_the_selector(selector, wine):
    facts = json.loads(report_json(selector, data=wine))
    frame = selector.to_frame().iloc[:4]
    assert [f["name"] for f in facts["features"]] == frame["name"].tolist()
    np.testing.assert_allclose([f["score"] for f in facts["features"]], frame["score"])
    coefficients = [f["coefficients"] for f in facts["features"]]
    np.testing.assert_allclose(coefficients, frame[["coef_0", "coef_1", "coef_2"]])
    assert facts["data"]["classes"] == [["0", 59], ["1", 71], ["2", 48]]
    assert dict(facts["settings"])["p"] == "0.5"
    assert facts["n_features"] == 13


def test_a_filter_has_a_page_too(wine):
    page = Page(report(ScoreSelector("f", 3).fit(*wine), data=wine))
    assert "flavanoids" in page.text
    assert "What is proved" not in page.text


def test_a_page_without_data_has_no_distributions(selector):
    page = Page(report(selector))
    assert page.open == []
    assert "Moves with" not in page.text
    assert "proline" in page.text


def test_nothing_selected_is_said(wine):
    with pytest.warns(UserWarning, match="No feature"):
        empty = L2pSelector(alpha=1e6).fit(*wine)
    assert "None of 13 columns was selected" in report(empty)


@pytest.mark.parametrize("make", [report, report_markdown, report_json])
def test_what_is_refused(make, selector, wine):
    X, y = wine
    with pytest.raises(NotFittedError):
        make(TopKSelector(3))
    with pytest.raises(TypeError, match=r"Expected a fitted selector.*got int"):
        make(3)
    with pytest.raises(ValueError, match="empty list"):
        make([])
    with pytest.raises(ValueError, match="13 columns"):
        make(selector, data=(X.iloc[:, :5], y))
    with pytest.raises(ValueError, match="one y per row"):
        make(selector, data=(X, y[:-1]))


def test_a_page_is_written_whole_or_not_at_all(selector, tmp_path, monkeypatch):
    target = tmp_path / "page.html"
    html = report(selector, target)
    assert target.read_text(encoding="utf-8") == html
    monkeypatch.setattr("os.replace", _no_replacing)
    with pytest.raises(OSError, match="full"):
        report(selector, target, title="another")
    assert target.read_text(encoding="utf-8") == html
    assert list(tmp_path.iterdir()) == [target]


def _no_replacing(*_):
    raise OSError("disk full")
