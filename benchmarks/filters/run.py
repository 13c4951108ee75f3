"""The filters against their rivals: time, memory, and whether the answers agree.

python benchmarks/filters/run.py                      # everything, about ten minutes
python benchmarks/filters/run.py --group relief --case ISOLET1
python benchmarks/filters/run.py --report             # write RESULTS_filters.md again
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))
from agreement import answer_file, with_agreement  # noqa: E402
from contestants import CASES, CONTESTANTS, GROUPS  # noqa: E402
from environments import prepare_environments  # noqa: E402
from problems import DATA  # noqa: E402
from processes import children_seconds, own_seconds  # noqa: E402
from report import write_report  # noqa: E402

RECORDS = HERE / "results_filters.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--group", choices=GROUPS)
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--contestant", choices=CONTESTANTS)
    parser.add_argument("--cap", type=float, default=120.0, help="wall seconds per contestant")
    parser.add_argument("--report", action="store_true", help="only write the report again")
    options = parser.parse_args()
    environments = prepare_environments({c.environment for c in CONTESTANTS.values()})
    if not options.report:
        for case in [options.case] if options.case else CASES:
            for name, contestant in CONTESTANTS.items():
                if options.group in (None, contestant.group) and options.contestant in (None, name):
                    python = environments[contestant.environment].python
                    keep(race(name, case, python, options.cap) if python else missing(name, case))
    write([with_agreement(record) for record in read()])
    write_report(read(), {e: environments[e].versions for e in environments})


def race(name: str, case: str, python: str, cap: float) -> dict:
    """One process; killed when the cap is over."""
    load = round(os.getloadavg()[0], 1)  # of the last minute: how idle the machine was
    record = {"contestant": name, "case": case, "cap": cap, "load": load}
    with tempfile.TemporaryDirectory() as folder:
        with np.load(DATA / f"{case}.npz") as file:
            np.save(Path(folder, "X.npy"), file["X"].astype(float))
            np.save(Path(folder, "y.npy"), file["y"].astype(int))
        command = [python, str(HERE / "worker.py"), folder, name]
        environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
        began = time.perf_counter()
        process = subprocess.Popen(command, env=environment, start_new_session=True)
        while process.poll() is None:
            started = Path(folder, "started")
            limit = cap if started.exists() else 2 * cap  # compiling is not counted
            since = time.time() - started.stat().st_mtime if started.exists() else 0.0
            if since > cap or time.perf_counter() - began > limit + cap:
                record |= {"killed": True, "cpu": own_seconds(process.pid)}
                record["cpu"] += children_seconds(process.pid) - float(
                    started.read_text() if started.exists() else 0.0
                )
                os.killpg(process.pid, 9)
            time.sleep(0.05)
        if not record.get("killed") and process.returncode == 0:
            record |= json.loads(Path(folder, "times.json").read_text())
            np.save(answer_file(case, name), np.load(Path(folder, "answer.npy")))
    print(case, name, brief(record), flush=True)
    return record


def brief(record: dict) -> str:
    if "runs" not in record:
        return f"> {record['cap']:g} s" if record.get("killed") else "failed"
    return f"{min(run['wall'] for run in record['runs']):.4f} s"


def missing(name: str, case: str) -> dict:
    return {"contestant": name, "case": case, "cap": 0.0, "missing": True}


def read() -> list[dict]:
    return (
        [json.loads(line) for line in RECORDS.read_text().splitlines()] if RECORDS.exists() else []
    )


def keep(record: dict) -> None:
    """Replace what was known of this contestant on this case."""
    key = (record["contestant"], record["case"])
    others = [r for r in read() if (r["contestant"], r["case"]) != key]
    write([*others, record])


def write(records: list[dict]) -> None:
    RECORDS.write_text("".join(json.dumps(record) + "\n" for record in records))


if __name__ == "__main__":
    main()
