"""Which selection predicts best? From the top of the repository, with rowsparse importable:

python -m venv /tmp/rivals && /tmp/rivals/bin/pip install -r benchmarks/quality/requirements.txt
export PYTHONPATH=src
/tmp/rivals/bin/python -m benchmarks.quality run --methods rivals
/tmp/rivals/bin/python -m benchmarks.quality run --methods ours --again     # after a change of src
/tmp/rivals/bin/python -m benchmarks.quality run --methods "L2p,L2p p=1" --sets A
/tmp/rivals/bin/python -m benchmarks.quality page
"""

from __future__ import annotations

import os

for variable in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
    os.environ[f"{variable}_NUM_THREADS"] = "1"  # before NumPy is imported

import argparse  # noqa: E402
from pathlib import Path  # noqa: E402

from .data import SETS, halves  # noqa: E402
from .methods import DEFAULT, METHODS, OURS, RIVALS  # noqa: E402
from .store import RESULTS, Store  # noqa: E402


def main() -> None:
    options = _parser().parse_args()
    store = Store(options.store)
    if options.action == "run":
        from .run import run

        methods = _chosen(options.methods, METHODS, {"ours": OURS, "rivals": RIVALS})
        sets = _chosen(options.sets, SETS, halves())
        run(store, methods, sets, options.again, options.retry, options.cap)
    if options.action == "page":
        from .page import write

        write(store, options.out, options.default)


def _parser():
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("benchmarks.quality", None, __doc__, formatter_class=plain)
    parser.add_argument("action", choices=("run", "page"))
    parser.add_argument("--methods", help="names with commas between, ours or rivals")
    parser.add_argument("--sets", help="names with commas between, A or B")
    parser.add_argument("--store", type=Path, default=RESULTS)
    parser.add_argument("--out", type=Path, default=RESULTS.with_name("RESULTS_quality.md"))
    parser.add_argument("--default", default=DEFAULT, help="the method of ours on the page")
    parser.add_argument("--again", action="store_true", help="also what other source computed")
    parser.add_argument("--retry", action="store_true", help="also what failed")
    parser.add_argument("--cap", type=float, default=60.0, help="CPU seconds per selection")
    return parser


def _chosen(text, known, groups):
    """In the order of the table, whatever the order asked for: cheap and small first."""
    asked = [part.strip() for part in (text or ",".join(known)).split(",")]
    names = {name for part in asked for name in groups.get(part, [part])}
    unknown = names - set(known)
    if unknown:
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    return [name for name in known if name in names]


if __name__ == "__main__":
    main()
