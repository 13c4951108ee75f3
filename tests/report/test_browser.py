"""The page in a real browser: quiet, alone, sortable, and narrow enough for a phone."""

import html
import json
import re
import shutil
import subprocess
import tempfile

import pytest

from rowsparse import L2pSelector
from rowsparse.report import report

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--virtual-time-budget=4000",
    "--dump-dom",
]

# Two frames of one page, as wide as a phone and as a desk; what they do is written into the title.
HARNESS = """<!doctype html><meta charset="utf-8"><title>waiting</title>
<iframe id="phone" style="width:375px;height:800px"></iframe>
<iframe id="desk" style="width:1100px;height:800px"></iframe>
<iframe id="classes" style="width:375px;height:800px"></iframe>
<script>
const pages = PAGES;
const loaded = ["phone", "desk", "classes"].map((id, i) => new Promise((done) => {
  const frame = document.getElementById(id);
  frame.onload = () => done(frame);
  frame.srcdoc = pages[i];
}));
Promise.all(loaded).then(([phone, desk, classes]) => {
  const doc = desk.contentDocument;
  const table = doc.querySelector("table.sortable");
  const name = (row) => row.cells[1].querySelector("bdi").textContent;
  const names = () => [...table.tBodies[0].rows].map(name);
  const heads = [...table.tHead.rows[0].cells];
  const before = names();
  const press = (i) => { heads[i].querySelector("button").click(); return names(); };
  const byName = press(1), sorted = heads[1].getAttribute("aria-sort"), turned = press(1);
  const byScore = press(2);
  const line = doc.querySelector("svg[data-hover] [data-note]");
  const tip = doc.querySelector(".tip");
  const hiddenBefore = tip.hidden;
  line.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: 5, clientY: 5 }));
  const root = phone.contentDocument.documentElement;
  document.title = JSON.stringify({
    phoneWidth: root.scrollWidth, phoneRoom: root.clientWidth, phoneHeight: root.scrollHeight,
    deskWidth: doc.documentElement.scrollWidth, deskRoom: doc.documentElement.clientWidth,
    classesWidth: classes.contentDocument.documentElement.scrollWidth,
    before, byName, sorted, turned, byScore,
    hiddenBefore, tip: tip.textContent, note: line.dataset.note, hidden: tip.hidden,
    loud: line.classList.contains("loud"),
    torn: [...phone.contentDocument.querySelectorAll(".cards td[data-label]")].filter((cell) =>
      [...cell.childNodes].filter((node) => node.textContent.trim()).length > 1).length,
    narrowest: Math.min(...[...phone.contentDocument.querySelectorAll("caption")].filter(
      (caption) => caption.textContent.trim() && caption.getBoundingClientRect().width).map(
      (caption) => caption.getBoundingClientRect().width)),
    asked: [phone, desk, classes].flatMap((frame) =>
      frame.contentWindow.performance.getEntriesByType("resource").map((entry) => entry.name)),
    smallest: Math.min(...[...phone.contentDocument.querySelectorAll("figure svg text")].map(
      (text) => text.getBoundingClientRect().height)),
  });
});
</script>"""

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason=f"no browser: none of {', '.join(BROWSERS)} is installed"
)


@pytest.fixture(scope="module")
def seen(everything, path, wine, fifty, tmp_path_factory):
    page = report([*everything, path], data=wine, title="x" * 200)
    classes = report(L2pSelector(alpha=1e-3, p=1.0).fit(*fifty), data=fifty)
    file = tmp_path_factory.mktemp("browser") / "harness.html"
    text = json.dumps([page, page, classes]).replace("</", "<\\/").replace("<!--", "<\\!--")
    file.write_text(HARNESS.replace("PAGES", text), encoding="utf-8")
    with tempfile.TemporaryDirectory() as profile:
        command = [BROWSER, *QUIET, f"--user-data-dir={profile}", file.as_uri()]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    title = re.search(r"<title>(.*?)</title>", run.stdout, re.S)
    assert title is not None, run.stderr[-2000:]
    assert title.group(1) != "waiting", run.stderr[-2000:]
    return {**json.loads(html.unescape(title.group(1))), "log": run.stderr}


def test_nothing_is_said_on_the_console(seen):
    assert [line for line in seen["log"].splitlines() if "CONSOLE" in line] == []


def test_nothing_is_asked_for(seen):
    assert seen["asked"] == []


def test_no_horizontal_scroll(seen):
    assert seen["phoneWidth"] <= seen["phoneRoom"] <= 375
    assert seen["deskWidth"] <= seen["deskRoom"]
    assert seen["classesWidth"] <= 375
    assert seen["phoneHeight"] > 2000  # it has been laid out


def test_what_a_cell_says_stays_one_text_beside_its_label(seen):
    assert seen["torn"] == 0


def test_captions_are_as_wide_as_a_phone(seen):
    assert seen["narrowest"] > 200  # in a column of its own: a letter per line


def test_letters_of_figures_can_be_read_on_a_phone(seen):
    assert seen["smallest"] >= 10


def test_sorting(seen):
    assert seen["sorted"] == "ascending"
    assert seen["byName"] == sorted(seen["before"], key=str.lower)
    assert seen["turned"] == seen["byName"][::-1]
    assert seen["byScore"] == seen["before"]  # best first, as they were


def test_a_line_says_its_name(seen):
    assert seen["hiddenBefore"]
    assert not seen["hidden"]
    assert seen["loud"]
    assert seen["tip"] == seen["note"] != ""
