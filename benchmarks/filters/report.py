"""RESULTS_filters.md from the records."""

from __future__ import annotations

from pathlib import Path

from contestants import CASES, CONTESTANTS, GROUPS, OWN

TARGET = Path(__file__).parents[1] / "RESULTS_filters.md"
HEAD = """# Filters: time, memory, agreement

Made by `python benchmarks/filters/run.py`. Best of five in one process per contestant (no
further run once 20 s are used), after one run on small data that pays for imports and compilation;
wall and CPU seconds, joblib's workers included; every library's own thread settings.
"factor" is the rival's time over that of the first line of ours: wall, then CPU. Memory is the peak
above that of the process with X loaded (float64; ALLAML 72 × 7129, ISOLET1 1560 × 617). "load" is
the load average of the two cores in the minute before: well above 1 the wall times are those of a
busy machine, and the CPU times are the ones to compare.
"""

COLUMNS = "| contestant | setting | wall s | CPU s | factor wall, CPU | memory MB | load | answer |"


def write_report(records: list[dict], versions: dict) -> None:
    lines = [HEAD, _versions(versions)]
    for group, title in GROUPS.items():
        for case in CASES:
            found = [r for r in records if r["case"] == case and _of(r).group == group]
            if found:
                lines += [f"\n## {title}: {case}\n", *_table(group, case, found)]
    TARGET.write_text("\n".join(lines) + "\n")


def _of(record):
    return CONTESTANTS[record["contestant"]]


def _versions(versions: dict) -> str:
    return "\n".join(
        f"- environment `{name}`: " + ", ".join(f"{k} {v}" for k, v in found.items())
        for name, found in versions.items()
    )


def _table(group, case, records):
    records = sorted(records, key=lambda r: list(CONTESTANTS).index(r["contestant"]))
    own = [r for r in records if _of(r).environment == OWN and "runs" in r]
    base, base_cpu = (_wall(own[0]), _cpu(own[0])) if own else (None, None)
    yield COLUMNS
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for r in records:
        c, wall = _of(r), _wall(r)
        name = f"**{r['contestant']}**" if c.environment == OWN else r["contestant"]
        if wall is None:
            told = f"> {r['cap']:g}" if r.get("killed") else "failed"
            factor = f"> {r['cap'] / base:.0f}" if base and r.get("killed") else ""
            cpu = f"> {r['cpu']:.0f}" if "cpu" in r else ""
            yield f"| {name} | {c.note} | {told} | {cpu} | {factor} | | {r.get('load', '')} | |"
            continue
        cpu = _cpu(r)
        told = f"{wall / base:.1f}, {cpu / base_cpu:.1f}" if base else ""
        factor = "" if c.environment == OWN else told
        memory = f"{r['memory'] / 2**20:.0f}"
        times = f"{wall:.4f} | {cpu:.4f} | {factor}"
        last = f"{memory} | {r.get('load', '')} | {r.get('agreement', '')}"
        yield f"| {name} | {c.note} | {times} | {last} |"


def _wall(record):
    return min(run["wall"] for run in record["runs"]) if "runs" in record else None


def _cpu(record):
    return min(run["cpu"] for run in record["runs"])
