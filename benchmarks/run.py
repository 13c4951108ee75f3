"""rowsparse against its rivals, in one command:  python benchmarks/run.py

Builds the rivals' environments, measures, and writes results.jsonl, RESULTS.md and
time_vs_accuracy.png beside this file (with --quick: in .quick/). See README.md.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import cases
import probes
import report
import results
from bench import Bench
from contestants import CONTESTANTS
from environments import prepare_environments
from jobs import Setting

HERE = Path(__file__).parent
GROUPS = {
    "mtfs": cases.mtfs,
    "l2half": cases.l2half,
    "rfs": cases.rfs,
    "irls_printed": probes.irls_printed,
    "shift": probes.shift,
    "scaling": probes.scaling,
    "coldstart": probes.coldstart,
}


def main():
    options = _options()
    output = HERE / ".quick" if options.quick else HERE
    output.mkdir(exist_ok=True)
    environments = prepare_environments({c.environment for c in CONTESTANTS.values()})
    bench = Bench(
        environments,
        Setting(options.threads, options.busy),
        cap=options.cap or (20.0 if options.quick else 120.0),
        quick=options.quick,
        case_filter=options.case,
        contestant_filter=options.contestant,
    )
    whole_group = not (options.case or options.contestant)
    for group in options.only or GROUPS:
        print(f"\n=== {group} ({bench.setting.label}, cap {bench.cap:g} s)", flush=True)
        began = time.perf_counter()
        _measure(bench, group, output / "results.jsonl", whole_group=whole_group)
        print(f"=== {group}: {time.perf_counter() - began:.0f} s", flush=True)
    report.write(output, environments)
    print(f"results.jsonl, RESULTS.md and the picture are in {output.name}/")


def _measure(bench, group, path, *, whole_group):
    """What was measured is kept even when the run is interrupted."""
    measured, finished = [], False
    try:
        for record in GROUPS[group](bench):
            measured.append(record)
        finished = True
    finally:
        known = results.load(path)
        results.save(path, results.merged(known, measured, whole_group=whole_group and finished))


def _options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=GROUPS, help="group; repeatable")
    parser.add_argument("--case", default="", help="only cases whose name contains this")
    parser.add_argument("--contestant", default="", help="only contestants with this in the name")
    parser.add_argument("--quick", action="store_true", help="small cases, cap 20 s: does it run?")
    parser.add_argument("--cap", type=float, help="wall seconds after which a fit is killed [120]")
    parser.add_argument("--threads", default="default", choices=["default", "1"])
    parser.add_argument("--busy", action="store_true", help="burn every core while timing")
    return parser.parse_args()


if __name__ == "__main__":
    main()
