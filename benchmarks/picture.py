"""time_vs_accuracy.png: relative duality gap against time, one panel per case."""

from __future__ import annotations

from bench import TARGET_GAP
from tables import by

COLOURS = {
    "rowsparse": "#d62728",
    "sklearn": "#1f77b4",
    "celer": "#2ca02c",
    "skglm": "#9467bd",
    "adelie": "#ff7f0e",
    "skein": "#7f7f7f",
}
COLUMNS = 3
SMALLEST_GAP = 1e-10  # anything below is drawn here


def draw(records, path):
    """Nothing is drawn when there is nothing to show, or no matplotlib to show it with."""
    fits = [r for r in records if r["status"] == "ok" and r.get("relative_gap") is not None]
    if not fits:
        return False
    try:
        import matplotlib as mpl
    except ImportError:
        return False
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    panels = by(fits, "case")
    columns = min(COLUMNS, len(panels))
    lines = -(-len(panels) // columns)
    size = (4.6 * columns, 3.5 * lines + 0.7)
    figure, axes = plt.subplots(lines, columns, figsize=size, squeeze=False)
    for axis, (case, own) in zip(axes.flat, panels.items(), strict=False):
        _panel(axis, case, own)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis in axes[:, 0]:
        axis.set_ylabel("relative duality gap")
    handles = {}
    for axis in axes.flat:
        handles.update(
            {line.get_label(): line for line in axis.lines if line.get_label()[0] != "_"}
        )
    names = [name for name in COLOURS if name in handles]
    figure.legend(
        [handles[name] for name in names], names, loc="upper center", ncols=6, frameon=False
    )
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.45 / size[1]))
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return True


def _panel(axis, case, records):
    """Every rung is a dot; the line joins those that no looser rung of the same library beats."""
    for name, own in by(records, "contestant").items():
        points = sorted((r["wall"], max(r["relative_gap"], SMALLEST_GAP)) for r in own)
        ours = name == "rowsparse"
        style = {"color": COLOURS.get(name), "zorder": 3 if ours else 2}
        axis.plot(
            *zip(*_front(points), strict=True),
            marker="o",
            markersize=6 if ours else 4,
            linewidth=2.4 if ours else 1.4,
            label=name,
            **style,
        )
        axis.plot(*zip(*points, strict=True), "o", markersize=3, alpha=0.35, **style)
    axis.axhline(TARGET_GAP, color="black", linewidth=0.9, linestyle=":")
    axis.set(xscale="log", yscale="log", title=case, xlabel="wall seconds")
    axis.tick_params(axis="x", which="minor", labelsize=6)  # a narrow range has no major ticks
    axis.set_ylim(SMALLEST_GAP / 3, 3)
    axis.grid(alpha=0.25, which="major")


def _front(points):
    """Points in order of time, each with a smaller gap than all before it."""
    front = []
    for seconds, gap in points:
        if not front or gap < front[-1][1]:
            front.append((seconds, gap))
    return front
