"""Writes README.md from the pages and claims that are here: ``python -m experiments.readme``."""

from __future__ import annotations

from .frame.claims import claims_table, read_claims
from .frame.pages import markdown_table, paragraphs
from .frame.run import HOME

PAPERS = {  # module: the paper
    "gsr_fs": "Peng & Fan (2017), GSR-FS",
    "l2p": "Wang & Chen (2013), l2,p",
    "lpinf": "Kong & Ding (2014), l_{p,inf}",
    "top_k": "Cai, Nie & Huang (2013), l2,0-ALM",
    "zero_norm": "Huang, King & Lyu (2008), zero norm",
}
HEAD = """# The papers' experiments

The experiments of the five papers whose methods are in this library, on the public interface, with
the published number beside ours. One page per paper; the algorithms as printed are kept here, line
by line, for comparisons of time and objective, and nowhere in the library.

    export ROWSPARSE_DATA=/folder/with/the/npz/files
    python -m experiments.gsr_fs --quick     # minutes; into experiments/quick
    python -m experiments.gsr_fs --full      # what the page shows; goes on where it was stopped
    python -m experiments.gsr_fs --page      # page and figures from the saved cells alone

`--splits N` asks for more splits than the page has, `--only TEXT` for some cells. Cells are JSON
lines in `cells/`: settings, findings, CPU seconds, and machine, versions, date and commit.
Selection, scaling and tuning happen inside the training part of every split unless a column says
otherwise. Verdicts follow from the cells by rules in each study's `claims.py`; a count of
comparisons is a yes from three quarters and a no up to one quarter."""


def readme() -> str:
    found = [(name, paper) for name, paper in PAPERS.items() if (HOME / f"{name}.md").exists()]
    rows = [(f"[{paper}]({name}.md)", f"`python -m experiments.{name}`") for name, paper in found]
    return paragraphs(
        HEAD,
        markdown_table(("page", "command"), rows),
        "## Claims of the papers that did and did not reproduce",
        claims_table(read_claims(HOME / "claims")),
    )


if __name__ == "__main__":
    (HOME / "README.md").write_text(readme())
