"""
Mislabelled samples
===================

With r = 2 a sample counts with the square of its error; with r = 1 with the error itself. When some
targets are wrong, the robust loss keeps finding the right columns.
"""

import matplotlib.pyplot as plt
import numpy as np

from rowsparse import L2pSelector
from rowsparse.datasets import make_row_sparse

shares = (0.0, 0.02, 0.05, 0.1, 0.2)
found = {2.0: [], 1.0: []}
for share in shares:
    hits = {2.0: [], 1.0: []}
    for seed in range(5):
        X, Y, support = make_row_sparse(150, 300, 10, 3, noise=0.5, random_state=seed)
        rng = np.random.default_rng(seed)
        wrong = rng.random(len(Y)) < share
        Y[wrong] += 30 * rng.normal(size=(wrong.sum(), Y.shape[1]))
        for r, recovered in hits.items():
            selector = L2pSelector(10, r=r, p=1.0).fit(X, Y)
            recovered.append(selector.support_[support].mean())
    for r in found:
        found[r].append(np.mean(hits[r]))

fig, axis = plt.subplots(figsize=(6, 4))
percent = 100 * np.array(shares)
for r, marker in ((2.0, "o"), (1.0, "s")):
    axis.plot(percent, 100 * np.array(found[r]), marker=marker, label=f"r = {r:g}")
axis.set(xlabel="samples with a wrong target, %", ylabel="true columns found, %", ylim=(0, 105))
axis.set_title("10 of 300 columns, 3 outputs, 150 samples, mean of 5 draws")
axis.legend(frameon=False)
fig.tight_layout()
