"""Takes docs/figures/report.png and report-dark.png, the pictures of a page, in Chromium.

Run: python docs/figures/make_report_figures.py
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from PIL import Image
from sklearn.datasets import load_wine

from rowsparse import L2pSelector, ScoreSelector, TopKSelector
from rowsparse.model_selection import SelectorCV, StabilitySelector, compare
from rowsparse.report import report

HERE = Path(__file__).parent
KS = [1, 2, 3, 5, 8, 12]
# background requests of the browser itself would only be refused
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
DARK = "--blink-settings=preferredColorScheme=0"


def wine_page() -> str:
    X, y = load_wine(return_X_y=True, as_frame=True)
    y = y.map({place: f"Cultivar {place + 1}" for place in range(3)})
    search = SelectorCV(TopKSelector(), ks=KS).fit(X, y)
    stable = StabilitySelector(L2pSelector(p=1), q=4, threshold=0.75, random_state=0).fit(X, y)
    rivals = {"TopKSelector": TopKSelector(), "L2pSelector": L2pSelector()}
    filters = {"mRMR": ScoreSelector("mrmr"), "F test": ScoreSelector("f")}
    comparison = compare({**rivals, **filters}, X, y, ks=KS, cv=5)
    title = "Which measurements tell the wines apart"
    return report([search, stable, comparison], data=(X, y), title=title)


def shoot(page: str, picture: Path, width: int, height: int, *options: str) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    assert browser, "Expected Chromium in the path, got none; install it."
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "page.html"
        file.write_text(page, encoding="utf-8")
        place = [f"--user-data-dir={folder}/profile", f"--screenshot={picture}", file.as_uri()]
        size = [f"--window-size={width},{height}", "--hide-scrollbars"]
        subprocess.run([browser, *QUIET, *size, *options, *place], check=True, timeout=120)
    Image.open(picture).quantize(128).save(picture, optimize=True)  # a third of the bytes


def only(page: str, section: str) -> str:
    """The page with one section alone: a picture begins at the top."""
    style = f"header, nav, footer, main > :not(#{section}) {{ display: none }}"
    assert f'id="{section}"' in page, section
    return re.sub("</head>", f"<style>{style}</style></head>", page, count=1)


def main() -> None:
    page = wine_page()
    shoot(page, HERE / "report.png", 1120, 900)
    shoot(only(page, "comparison"), HERE / "report-dark.png", 840, 905, DARK)


if __name__ == "__main__":
    main()
