"""One spams fit in its own environment: python rival.py FOLDER alpha tol repeats.

Reads X.npy and Y.npy, writes W.npy, prints wall and CPU seconds of each run as JSON.
"""

import json
import sys
import time

import numpy as np
import spams


def main():
    folder, alpha, tol, repeats = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    X = np.asfortranarray(np.load(f"{folder}/X.npy"))
    Y = np.asfortranarray(np.load(f"{folder}/Y.npy"))
    runs = []
    for _ in range(int(repeats)):
        W0 = np.zeros((X.shape[1], Y.shape[1]), order="F")
        wall, cpu = time.perf_counter(), time.process_time()
        # spams does not divide the loss by n, so lambda1 = n alpha
        W = spams.fistaFlat(
            Y, X, W0, False, loss="square", regul="l1linf", lambda1=len(X) * alpha, tol=tol,
            max_it=10_000_000, numThreads=1, intercept=False,
        )  # fmt: skip
        runs.append((time.perf_counter() - wall, time.process_time() - cpu))
    np.save(f"{folder}/W.npy", W)
    print("RUNS " + json.dumps(runs))


if __name__ == "__main__":
    main()
