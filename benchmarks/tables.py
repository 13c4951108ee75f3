"""Markdown tables, one function per group: list of records of one setting -> text."""

from __future__ import annotations

import math


def table(header, rows) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def by(records, key) -> dict:
    """Records grouped by a field, in the order of first appearance."""
    groups = {}
    for record in records:
        groups.setdefault(record[key], []).append(record)
    return groups


def entry_of(records):
    """The record that counts, or None: the cheapest one that reached the goal."""
    return next((record for record in records if record.get("entry")), None)


#: Written here to learn the objective of a run that nobody can wait for; no library has it.
NO_RIVALS = {"skfeature's iteration"}


def fastest_rival(records, clock="wall"):
    others = [r for r in records if not r["ours"] and r["contestant"] not in NO_RIVALS]
    rivals = [r for r in others if r.get("entry")]
    return min(rivals, key=lambda r: r[clock], default=None)


def seconds(value) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if value < 0.1 else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def ratio(value) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def compared(records) -> str:
    """Per contestant: times, objective, gap, rows, and how it stands to the fastest rival."""
    gaps = any(r.get("relative_gap") is not None for r in records)
    header = ["contestant", "version", "tolerance", "wall s", "CPU s", "objective"]
    header += ["relative gap"] if gaps else []
    header += ["rows", "fastest rival / this, wall", "same, CPU"]
    rows = []
    for name, own in by(records, "contestant").items():
        entry = entry_of(own)
        if entry is None:
            rows.append([name, own[0]["version"], *_without_entry(own, gaps)])
            continue
        cells = [name, entry["version"], f"{entry['tol']:.0e}", *_times(entry)]
        cells += [f"{entry['objective']:.9g}"]
        cells += [f"{entry['relative_gap']:.1e}"] if gaps else []
        rows.append([*cells, entry["rows"], *_standing(records, entry)])
    return table(header, rows)


def _times(entry):
    mark = "\\*" if entry.get("iterations_timed", 0) < entry.get("iterations_needed", 0) else ""
    return [seconds(entry["wall"]) + mark, seconds(entry["cpu"]) + mark]


def _standing(records, entry):
    """fastest rival's seconds / this one's; where every rival was killed, at least the cap's."""
    cells = []
    for clock in ("wall", "cpu"):
        rival = fastest_rival(records, clock)
        killed = [r[clock] for r in records if r["status"] == "capped" and clock in r]
        if rival:
            cells.append(ratio(rival[clock] / entry[clock]))
        elif killed and entry["ours"]:
            cells.append("> " + ratio(min(killed) / entry[clock]))
        else:
            cells.append("-")
    return cells


def _without_entry(own, gaps):
    """What there is to say of a contestant none of whose runs counts."""
    last = own[-1]
    done = [r for r in own if r["status"] == "ok" and r.get("relative_gap") is not None]
    best = min(done, key=lambda r: r["relative_gap"], default=None)
    blank = ["-", "-"]
    if last["status"] == "failed":
        return ["-", f"failed: {last['error']}", "-", "-", *(["-"] if gaps else []), "-", *blank]
    if best:
        cells = [f"{best['tol']:.0e}", seconds(best["wall"]), seconds(best["cpu"])]
        cells += [f"{best['objective']:.9g}", f"{best['relative_gap']:.1e} (not reached)"]
        return [*cells, best["rows"], *blank]
    wall, cpu = (f"> {seconds(last[c])}" if c in last else "> cap" for c in ("wall", "cpu"))
    return ["-", wall, cpu, "-", *(["-"] if gaps else []), "-", *blank]


def per_case(records) -> str:
    parts = [f"#### {case}\n\n{compared(own)}" for case, own in by(records, "case").items()]
    if any("iterations_needed" in r for r in records):
        counts = [
            f"{r['case']}: {r['iterations_timed']} of {r['iterations_needed']} iterations timed"
            for r in records
            if "iterations_needed" in r
        ]
        parts.append("\\* extrapolated from the iterations timed. " + "; ".join(counts) + ".")
    return "\n\n".join(parts)


def l2half(records) -> str:
    """Objectives side by side (lowest in bold), then wall and CPU seconds."""
    names = list(by(records, "contestant"))
    objectives, times, comparisons = [], [], {name: [0, 0, 0] for name in names}
    for case, own in by(records, "case").items():
        entries = {name: entry_of(r) for name, r in by(own, "contestant").items()}
        known = {n: e["objective"] for n, e in entries.items() if e}
        lowest = min(known.values(), default=math.nan)
        cells, clocks = [case], [case]
        for name in names:
            value, entry = known.get(name), entries.get(name)
            text = "-" if value is None else f"{value:.6g} ({entry['rows']})"
            cells.append(f"**{text}**" if value and value <= lowest * (1 + 1e-6) else text)
            clocks.append(f"{seconds(entry['wall'])} / {seconds(entry['cpu'])}" if entry else "-")
            if value and "rowsparse best" in known:
                comparisons[name][_rank(known["rowsparse best"], value)] += 1
        objectives.append(cells)
        times.append(clocks)
    parts = [
        "Objective (rows); lowest in bold:\n\n" + table(["case", *names], objectives),
        "Wall / CPU seconds:\n\n" + table(["case", *names], times),
    ]
    for name, (below, level, above) in comparisons.items():
        if below + level + above and name != "rowsparse best":
            parts.append(
                f'- `init="best"` against {name}: lower on {below}, level (1e-6) on {level}, '
                f"higher on {above}."
            )
    return "\n\n".join(parts[:2]) + "\n\n" + "\n".join(parts[2:])


def _rank(ours, theirs):
    if abs(ours - theirs) <= 1e-6 * abs(theirs):
        return 1
    return 0 if ours < theirs else 2


def shift(records) -> str:
    """Seconds and coefficient change for X + 0, 5, 1000."""
    offsets = ["X+0", "X+5", "X+1000"]
    header = ["data", "contestant", "tolerance"]
    header += [f"wall / CPU s at {offset}" for offset in offsets]
    header += [f"largest coefficient change (gap) at {offset}" for offset in offsets[1:]]
    groups = {}
    for record in records:
        data, offset = record["case"].rsplit(" ", 1)
        groups.setdefault((data, record["contestant"]), {}).setdefault(offset, []).append(record)
    rows = []
    for (data, name), found in groups.items():
        entries = [entry_of(found.get(offset, [])) for offset in offsets]
        cells = [data, name, f"{entries[0]['tol']:.0e}" if entries[0] else "-"]
        for offset, entry in zip(offsets, entries, strict=True):
            if entry:
                cells.append(f"{seconds(entry['wall'])} / {seconds(entry['cpu'])}")
            else:
                cells.append(_ending(found.get(offset)))
        rows.append(cells + [_change(entry) for entry in entries[1:]])
    return table(header, rows)


def _change(entry):
    if entry is None or "coefficient_difference" not in entry:
        return "-"
    return f"{entry['coefficient_difference']:.1e} ({entry['relative_gap']:.1e})"


def _ending(records):
    if not records:
        return "not run"
    last = records[-1]
    if last["status"] == "failed":
        return f"failed: {last['error']}"
    if last["status"] == "capped":
        return f"> {seconds(last.get('wall', last['cap']))}"
    return "gap not reached"


def scaling(records) -> str:
    """Seconds and memory per d, and the slope of log seconds on log d."""
    entries = [r for r in records if r.get("entry")]
    header = ["contestant", "d", "rows", "wall s", "CPU s", "peak memory above X, in sizes of X"]
    rows, slopes = [], []
    for name, own in by(entries, "contestant").items():
        for r in own:
            memory = "-" if r["memory_over_x"] is None else f"{r['memory_over_x']:.2f}"
            rows.append([name, r["d"], r["rows"], seconds(r["wall"]), seconds(r["cpu"]), memory])
        if len(own) > 1:
            steep = ", ".join(f"{_slope(own, clock):.2f} ({clock})" for clock in ("wall", "cpu"))
            slopes.append(f"- {name}: time grows as d to the power {steep}.")
    missing = [name for name, own in by(records, "contestant").items() if not entry_of(own)]
    slopes += [f"- {name}: {_ending(by(records, 'contestant')[name])}." for name in missing]
    return table(header, rows) + "\n\n" + "\n".join(slopes)


def _slope(records, clock):
    x = [math.log(r["d"]) for r in records]
    y = [math.log(r[clock]) for r in records]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    covariance = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    return covariance / sum((a - mx) ** 2 for a in x)


def coldstart(records) -> str:
    rows = [
        [r["contestant"], r["version"], r["case"]]
        + ([seconds(r["cpu"])] if r["status"] == "ok" else [f"{r['status']}: {r['error']}"])
        for r in records
    ]
    return table(["contestant", "version", "what", "CPU s"], rows)
