"""Draws docs/figures/digits.png, the first picture of the README and the site.

Run: python docs/figures/make_readme_figure.py
"""

from __future__ import annotations

import runpy
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent


def main() -> None:
    runpy.run_path(str(HERE.parent / "gallery" / "plot_01_digits_pixels.py"))
    plt.savefig(HERE / "digits.png", dpi=110)


if __name__ == "__main__":
    main()
