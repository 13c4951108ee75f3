"""Writes the generated table of the benchmarks block by block: X as float32 .npy, Y beside it.

    python benchmarks/scale/generate.py /tmp/scale/tall.npy --rows 2000000 --columns 3000

Columns share ten factors, so that they are correlated as real ones are; Y is linear in 50 columns
that are spread evenly, with as much noise as signal. The same arguments give the same file.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

BLOCK_BYTES = 64 << 20
N_FACTORS = 10
N_TRUE = 50


def generate(path: Path, rows: int, columns: int, outputs: int, seed: int = 0) -> None:
    """Write X to ``path`` and Y to NAME.y.npy beside it; only a block is ever in memory."""
    rng = np.random.Generator(np.random.SFC64(seed))
    loadings = rng.standard_normal((N_FACTORS, columns), dtype=np.float32)
    loadings *= np.float32(0.3)
    truth = true_columns(columns)
    W = rng.standard_normal((truth.size, outputs))
    Y = np.empty((rows, outputs), dtype=np.float32)
    size = max(1, BLOCK_BYTES // (4 * columns))
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (rows, columns)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, rows, size):
            stop = min(start + size, rows)
            block = rng.standard_normal((stop - start, columns), dtype=np.float32)
            factors = rng.standard_normal((stop - start, N_FACTORS), dtype=np.float32)
            block += factors @ loadings
            file.write(block.data)
            signal = block[:, truth] @ W
            noise = rng.standard_normal(signal.shape) * np.sqrt(truth.size)
            Y[start:stop] = signal + noise
    np.save(path.with_name(f"{path.stem}.y.npy"), Y)


def true_columns(columns: int) -> np.ndarray:
    """The columns that Y depends on."""
    return np.linspace(0, columns - 1, min(N_TRUE, columns)).astype(int)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--columns", type=int, required=True)
    parser.add_argument("--outputs", type=int, default=5)
    arguments = parser.parse_args()
    began = time.process_time()
    generate(arguments.path, arguments.rows, arguments.columns, arguments.outputs)
    print(f"{arguments.path}: {time.process_time() - began:.0f} s of CPU")


if __name__ == "__main__":
    main()
