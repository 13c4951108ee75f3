"""RESULTS.md and the picture from results.jsonl:  python benchmarks/report.py  renders again."""

from __future__ import annotations

from pathlib import Path

import picture
import results
import tables
from contestants import CONTESTANTS
from environments import prepare_environments
from tables import by

#: At least this many times faster than the fastest rival, by the start of the case's name.
GOALS = {
    "ISOLET1": 15,
    "ALLAML": 1,
    "500x20000x10": 3,
    "100000x500x5": 5,
    "2000x1000x5": 0.67,
}
SECTIONS = {
    "mtfs": (
        "Squared loss, l2,1 penalty: seconds to a relative duality gap of 1e-6",
        tables.per_case,
    ),
    "l2half": ("Squared loss, l2,1/2 penalty: objective and time", tables.l2half),
    "rfs": ("Robust loss, l2,1 penalty (RFS, gamma = 1)", tables.per_case),
    "irls_printed": ("IRLS against the algorithm as printed (dense d×d)", tables.per_case),
    "shift": ("Shifted X with an intercept", tables.shift),
    "scaling": ("Growth with the number of features (n = 200)", tables.scaling),
    "coldstart": ("A new process: import and first fit, 60×30×3", tables.coldstart),
}


def write(folder: Path, environments):
    records = results.load(folder / "results.jsonl")
    parts = ["# Benchmark results", _preface(records), _versions(environments)]
    conditions = folder / "CONDITIONS.md"  # written by whoever measured: what no table can show
    if conditions.exists():
        parts.append(conditions.read_text().strip())
    if any(r["group"] == "mtfs" for r in records):
        parts.append(_summary([r for r in records if r["group"] == "mtfs"]))
    drawn = picture.draw(
        _in_first_setting([r for r in records if r["group"] == "mtfs"]),
        folder / "time_vs_accuracy.png",
    )
    if drawn:
        parts.append("![Relative duality gap against wall seconds](time_vs_accuracy.png)")
    for group, (title, render) in SECTIONS.items():
        own = [r for r in records if r["group"] == group]
        if own:
            parts.append(f"## {title}")
        for setting, measured in by(own, "setting").items():
            dates = sorted(r["date"] for r in measured)
            caps = "/".join(f"{cap:g}" for cap in sorted({r["cap"] for r in measured}))
            when = f"*{setting}; measured {dates[0]} to {dates[-1]}, cap {caps} s*"
            parts += [f"### {group}: {setting}", when, render(measured)]
    (folder / "RESULTS.md").write_text("\n\n".join(parts) + "\n")


def _preface(records):
    machine = results.machine()
    return (
        f"Written by `python benchmarks/run.py`; how it measures is in README.md. Machine: "
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB, "
        f"{machine['system']}. {len(records)} measured fits."
    )


def _versions(environments):
    rows = [
        [name, ", ".join(f"{k} {v}" for k, v in e.versions.items()) or f"not built: {e.error}"]
        for name, e in environments.items()
    ]
    return tables.table(["environment", "versions"], rows)


def _summary(records):
    """Case by setting: our seconds, the fastest rival's, and the ratio, wall and CPU."""
    settings = list(by(records, "setting"))
    rows = []
    for case, own in by(records, "case").items():
        goal = GOALS.get(case.split()[0])
        cells = [case, "-" if goal is None else f"{goal}×"]
        for setting in settings:
            measured = [r for r in own if r["setting"] == setting]
            cells.append(_duel(measured))
        rows.append(cells)
    title = "## Summary: rowsparse against the fastest rival that reached the gap"
    note = (
        "Wall seconds of rowsparse, of the fastest rival, and their ratio (CPU ratio in brackets)."
    )
    return f"{title}\n\n{note}\n\n" + tables.table(["case", "goal", *settings], rows)


def _duel(records):
    ours = next((r for r in records if r["ours"] and r.get("entry")), None)
    rival = tables.fastest_rival(records)
    rival_cpu = tables.fastest_rival(records, "cpu")
    left = tables.seconds(ours["wall"]) if ours else "-"
    right = f"{tables.seconds(rival['wall'])} ({rival['contestant']})" if rival else "-"
    if not (ours and rival):
        return f"{left} : {right}"
    wall, cpu = rival["wall"] / ours["wall"], rival_cpu["cpu"] / ours["cpu"]
    return f"{left} : {right} = **{tables.ratio(wall)}×** [{tables.ratio(cpu)}×]"


def _in_first_setting(records):
    return next(iter(by(records, "setting").values()), [])


if __name__ == "__main__":
    here = Path(__file__).parent
    write(here, prepare_environments({c.environment for c in CONTESTANTS.values()}))
