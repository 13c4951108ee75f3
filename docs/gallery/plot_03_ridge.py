"""
One knob from best subset to SelectKBest
========================================

At ridge 0 the exact top-k fit looks for the columns that fit best *together*; as the ridge grows it
approaches the columns that are best one by one. With few samples the lowest loss is often chance,
and a ridge selects better; ``ridge="auto"`` follows from k and the size of the data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rowsparse import TopKSelector

rng = np.random.default_rng(0)
n, d, k = 60, 500, 8
y = np.repeat([0, 1, 2], n // 3)
X = rng.normal(size=(n, d))
X[:, :k] += 0.7 * rng.normal(size=(3, k))[y]  # eight columns know something, each a little

ridges = np.geomspace(1e-3, 1e3, 7)
folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=0)
accuracy = []
for ridge in ridges:
    selector = TopKSelector(k, ridge=ridge, n_init=1)
    model = make_pipeline(selector, StandardScaler(), RidgeClassifier())
    accuracy.append(cross_val_score(model, X, y, cv=folds))

mean = np.mean(accuracy, axis=1)
auto = TopKSelector(k).fit(X, y).ridge_
fig, axis = plt.subplots(figsize=(6, 4))
axis.plot(ridges, mean, marker="o")
axis.axvline(auto, linestyle=":", color="0.4")
axis.annotate('ridge="auto"', (auto, mean.min()), rotation=90, fontsize=8, ha="right")
axis.set(xscale="log", xlabel="ridge", ylabel="accuracy, selection inside the folds")
axis.set_title("60 samples, 500 columns, 8 selected")
fig.tight_layout()
