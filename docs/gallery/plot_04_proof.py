"""
How far from the best possible subset?
======================================

Choosing k columns exactly is a hard problem. With a ridge a lower bound comes with the fit: no
other k columns can be better than that. Given time, branch and bound closes the gap.
"""

import matplotlib.pyplot as plt
import numpy as np

from rowsparse import TopKSelector
from rowsparse.datasets import make_row_sparse
from rowsparse.solvers import Splice

X, Y, support = make_row_sparse(80, 200, 5, 2, noise=2.0, random_state=0)

ridges = np.geomspace(0.02, 5, 7)
gaps, proved = [], []
for ridge in ridges:
    gaps.append(TopKSelector(5, ridge=ridge).fit(X, Y).solution_.relative_gap)
    solver = Splice(proof_seconds=1.0)
    proved.append(TopKSelector(5, ridge=ridge, solver=solver).fit(X, Y).solution_.relative_gap)

fig, axis = plt.subplots(figsize=(6, 4))
axis.plot(ridges, 100 * np.array(gaps), marker="o", label="with the fit")
axis.plot(ridges, 100 * np.array(proved), marker="s", label="after one second of branch and bound")
axis.set(xscale="log", xlabel="ridge", ylabel="gap to the lower bound, %")
axis.set_title("5 of 200 columns, 80 samples")
axis.legend(frameon=False)
fig.tight_layout()

# %%
# The fit says in words what is known.

print(TopKSelector(5, ridge=ridges[-1], solver=Splice(proof_seconds=1)).fit(X, Y).solution_.proof)
