"""One measuring session: runs a contestant on a case and judges what it returns."""

from __future__ import annotations

import datetime as dt
import shutil
from dataclasses import asdict, dataclass

import numpy as np
from contestants import CONTESTANTS, Task, is_ours
from environments import Environment
from jobs import Handover, Outcome, Setting, run_job
from objective import count_rows, objective_and_gap

TARGET_GAP = 1e-6
SAME_OBJECTIVE = 1e-6  # relative: two objectives closer than this count as one


@dataclass
class Bench:
    environments: dict[str, Environment]
    setting: Setting
    cap: float = 120.0
    quick: bool = False
    case_filter: str = ""
    contestant_filter: str = ""

    def wants(self, case: str) -> bool:
        return self.case_filter in case

    def chosen(self, names) -> list[str]:
        return [name for name in names if self.contestant_filter in name]

    # ---------------------------------------------------------------- running
    def climb(self, group, case, name, data: Handover, task: Task, **options) -> list[dict]:
        """Records of all rungs tried; the cheapest one within the target gap is the entry."""
        options["target_gap"] = TARGET_GAP
        records = self.run(group, case, name, data, task, "climb", **options)
        passed = [r for r in records if r["status"] == "ok" and r["relative_gap"] <= TARGET_GAP]
        if passed:
            min(passed, key=lambda record: record["wall"])["entry"] = True
        return records

    def settle(self, group, case, name, data, task, tolerances, **options) -> list[dict]:
        """Records of given tolerances; the cheapest within 1e-6 of its own best is the entry."""
        options["tolerances"] = tolerances
        records = self.run(group, case, name, data, task, "fixed", **options)
        done = [r for r in records if r["status"] == "ok"]
        if done:
            best = min(r["objective"] for r in done)
            good = [r for r in done if r["objective"] <= best * (1 + SAME_OBJECTIVE)]
            min(good, key=lambda record: record["wall"])["entry"] = True
        return records

    def run(self, group, case, name, data, task, mode, *, keep_w=None, cap=None, **options):
        cap = cap or self.cap
        outcome = self.start(name, data, task, mode, cap=cap, **options)
        common = {**self.common(group, case, name, task), "cap": cap}
        records = []
        for tol, fit in outcome.fits.items():
            W = np.load(outcome.folder / fit["file"])
            if keep_w is not None:
                keep_w.append(W)
            times = {key: fit[key] for key in ("wall", "cpu", "repeats")}
            records.append({**common, "status": "ok", "tol": tol, **times, **judge(data, task, W)})
        if outcome.status != "ok":
            records.append({**common, **_how_it_ended(outcome)})
        if records:
            _say(records)
        shutil.rmtree(outcome.folder)
        return records

    def start(self, name, data, task, mode, *, variables=None, **options) -> Outcome:
        contestant = CONTESTANTS[name]
        job = {"contestant": name, "task": asdict(task), "mode": mode, **options}
        if data is not None:
            job["data"] = data.in_order(contestant.layout)
        environment = self.environments[contestant.environment]
        return run_job(environment, job, self.setting, variables=variables)

    def common(self, group, case, name, task) -> dict:
        """The fields every record carries."""
        contestant = CONTESTANTS[name]
        versions = self.environments[contestant.environment].versions
        return {
            "group": group,
            "case": case,
            "contestant": name,
            "ours": is_ours(name),
            "version": versions.get(contestant.package, "?"),
            "setting": self.setting.label,
            "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "cap": self.cap,
            **asdict(task),
        }


def judge(data: Handover, task: Task, W) -> dict:
    """Objective, gap and rows of a returned W, by the one common function."""
    X, Y = data.problem.X, data.problem.Y
    if task.fit_intercept:  # the best intercept makes it the same problem on centred data
        X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    F, gap = objective_and_gap(X, Y, W, alpha=task.alpha, r=task.r, p=task.p)
    return {"objective": F, "relative_gap": gap, "rows": count_rows(W)}


def _how_it_ended(outcome: Outcome) -> dict:
    ending = {"status": outcome.status, "error": outcome.error}
    unfinished = outcome.unfinished()
    if unfinished:
        ending.update(unfinished)
    return ending


def _say(records):
    """One line on the terminal per contestant and case."""
    last = records[-1]
    done = [record for record in records if record["status"] == "ok"]
    figures = ""
    if done:
        best = min(done, key=lambda r: (r["relative_gap"] or 0.0, r["objective"]))
        figures = (
            f"wall={best['wall']:.3g} cpu={best['cpu']:.3g} objective={best['objective']:.6g} "
        )
        figures += f"rows={best['rows']}"
        if best["relative_gap"] is not None:
            figures += f" gap={best['relative_gap']:.1e}"
    ended = "" if last["status"] == "ok" else f" [{last['status']}] {last.get('error', '')}"
    print(f"{last['case']:28s} {last['contestant']:18s} {figures}{ended}", flush=True)
