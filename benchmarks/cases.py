"""The groups that compare solutions: mtfs (l2,1), l2half (l2,1/2) and rfs (robust loss)."""

from __future__ import annotations

from contestants import Task
from jobs import handed_over
from objective import alpha_max
from problems import real, synthetic

MTFS_CONTESTANTS = ["rowsparse", "sklearn", "celer", "skglm", "adelie", "skein"]
L2HALF_CONTESTANTS = [
    "rowsparse best",
    "rowsparse zero",
    "rowsparse irls",
    "rowsparse convex",
    "rowsparse IRLS()",
    "skglm fixpoint",
]
RFS_CONTESTANTS = ["rowsparse", "rowsparse IRLS()", "skfeature's iteration", "skfeature RFS"]
RFS_CAPS = {"GLIOMA": 400.0, "ALLAML": 100.0}  # GLIOMA is done by then; ALLAML needs an hour


def mtfs(bench):
    """r = 2, p = 1: time to a relative duality gap of 1e-6."""
    if bench.quick:
        sources = [
            (lambda: real("ALLAML"), [10]),
            (lambda: synthetic(200, 2000, 5, informative=20), [10]),
            (lambda: synthetic(2000, 200, 5, informative=20), [10]),
        ]
    else:
        sources = [
            (lambda: real("ISOLET1"), [10, 50]),
            (lambda: real("ALLAML"), [10, 50]),
            (lambda: synthetic(500, 20_000, 10), [10, 50]),
            (lambda: synthetic(100_000, 500, 5), [10]),
            (lambda: synthetic(2000, 1000, 5), [10, 50]),
        ]
    for source, divisors in sources:
        problem = source()
        with handed_over(problem) as data:
            for divisor in divisors:
                case = f"{problem.name} alpha_max/{divisor}"
                task = Task(alpha_max(problem.X, problem.Y) / divisor)
                if bench.wants(case):
                    for name in bench.chosen(MTFS_CONTESTANTS):
                        yield from bench.climb("mtfs", case, name, data, task)


def l2half(bench):
    """r = 2, p = 1/2, not convex: which objective, in what time."""
    names = ["ALLAML", "GLIOMA", "TOX_171", "ISOLET1", "warpPIE10P"]
    divisors = [5, 10, 20, 50]
    if bench.quick:
        names, divisors = names[:1], [10]
    for problem in map(real, names):
        with handed_over(problem) as data:
            for divisor in divisors:
                case = f"{problem.name} alpha_max/{divisor}"
                task = Task(alpha_max(problem.X, problem.Y, p=0.5) / divisor, p=0.5)
                if bench.wants(case):
                    for name in bench.chosen(L2HALF_CONTESTANTS):
                        yield from bench.settle("l2half", case, name, data, task, [1e-4, 1e-6])


def rfs(bench):
    """r = p = 1 with the paper's gamma = 1: sum_i |e_i| + sum_j |w_j|, targets not centred."""
    for name in ["ALLAML", "GLIOMA"][: 1 if bench.quick else None]:
        problem = real(name, centre_targets=False)
        task = Task(alpha=1.0 / len(problem.X), r=1.0)
        if not bench.wants(name):
            continue
        with handed_over(problem) as data:
            for contestant in bench.chosen(RFS_CONTESTANTS):
                cap = None
                tolerances = [1e-4, 1e-6]
                if contestant.startswith("skfeature"):
                    cap, tolerances = (30.0 if bench.quick else RFS_CAPS[name]), [1e-3]  # its own
                yield from bench.settle("rfs", name, contestant, data, task, tolerances, cap=cap)
