"""The filters written out from their formulas, sample by sample; no code of the package."""

from __future__ import annotations

import math

import numpy as np


# -- Fisher ---------------------------------------------------------------------------------------
def fisher(X, y):
    out = []
    for x in X.T:
        between = within = 0.0
        for c in np.unique(y):
            group = x[y == c]
            between += len(group) * (group.mean() - x.mean()) ** 2
            within += len(group) * group.var()
        out.append(between / within)
    return np.array(out)


# -- information ----------------------------------------------------------------------------------
def entropy(labels):
    """In nats, of a list of hashable labels."""
    labels = list(labels)
    counts = [labels.count(value) for value in set(labels)]
    return -sum(c / len(labels) * math.log(c / len(labels)) for c in counts)


def information(a, b):
    a, b = list(a), list(b)
    return entropy(a) + entropy(b) - entropy(list(zip(a, b, strict=True)))


def equal_frequency(x, n_bins):
    """floor(n_bins * share of samples below x); few distinct values stay as they are."""
    values = sorted(set(x))
    if len(values) <= n_bins:
        return [values.index(v) for v in x]
    return [n_bins * sum(u < v for u in x) // len(x) for v in x]


def three_states(x):
    mean, half = x.mean(), x.std() / 2
    return [0 if v <= mean - half else 2 if v > mean + half else 1 for v in x]


def mdlp_cuts(x, y):
    """Fayyad & Irani 1993, in bits, by recursion on lists of (value, label)."""
    pairs = sorted(zip(x, y, strict=True), key=lambda pair: pair[0])
    cuts = []
    _mdlp(pairs, cuts)
    return sorted(cuts)


def _mdlp(S, cuts):
    def ent(part):
        return entropy(label for _, label in part) / math.log(2)

    def kinds(part):
        return len({label for _, label in part})

    best = None
    for i in range(1, len(S)):
        if S[i][0] != S[i - 1][0]:
            value = i * ent(S[:i]) + (len(S) - i) * ent(S[i:])
            if best is None or value < best[0] - 1e-9:
                best = (value, i)
    if best is None:
        return
    left, right = S[: best[1]], S[best[1] :]
    gain = ent(S) - best[0] / len(S)
    delta = math.log2(3 ** kinds(S) - 2) - (
        kinds(S) * ent(S) - kinds(left) * ent(left) - kinds(right) * ent(right)
    )
    if gain > (math.log2(len(S) - 1) + delta) / len(S):
        cuts.append((left[-1][0] + right[0][0]) / 2)
        _mdlp(left, cuts)
        _mdlp(right, cuts)


def mdlp_codes(x, y):
    cuts = mdlp_cuts(x, y)
    return [sum(v > cut for cut in cuts) for v in x]


# -- Relief ---------------------------------------------------------------------------------------
def differences(X, discrete=(), scale=True):
    """diff(j, a, b) of Kira & Rendell."""
    span = X.max(axis=0) - X.min(axis=0)

    def diff(j, a, b):
        if j in discrete:
            return float(X[a, j] != X[b, j])
        return abs(X[a, j] - X[b, j]) / (span[j] if scale else 1.0)

    return diff


def neighbours(i, candidates, diff, d, k, metric="manhattan"):
    """The k nearest other candidates; ties by lower index."""
    power = 1 if metric == "manhattan" else 2

    def distance(other):
        return round(sum(diff(j, i, other) ** power for j in range(d)), 10)

    return sorted((c for c in candidates if c != i), key=lambda c: (distance(c), c))[:k]


def relieff(X, y, k, discrete=(), scale=True, priors="empirical", metric="manhattan", rows=None):
    n, d = X.shape
    diff = differences(X, discrete, scale)
    share = {c: np.mean(y == c) for c in np.unique(y)}
    W = np.zeros(d)
    rows = range(n) if rows is None else rows
    for i in rows:
        for c in share:
            near = neighbours(i, np.flatnonzero(y == c), diff, d, k, metric)
            factor = -1.0
            if c != y[i]:
                prior = share[c] / (1 - share[y[i]])
                factor = {"empirical": prior, "uniform": 1 / (len(share) - 1), "inverse": 1 / prior}
                factor = factor[priors]
            for j in range(d):
                W[j] += factor * sum(diff(j, i, o) for o in near) / max(len(near), 1) / len(rows)
    return W


def rrelieff(X, y, k, sigma=None, discrete=()):
    """Figure 3 of Robnik-Sikonja & Kononenko 2003."""
    n, d = X.shape
    diff = differences(X, discrete)
    N_dC, N_dA, N_dCdA = 0.0, np.zeros(d), np.zeros(d)
    for i in range(n):
        near = neighbours(i, range(n), diff, d, k)
        influence = [
            1.0 if sigma is None else math.exp(-((r / sigma) ** 2)) for r in range(1, k + 1)
        ]
        for r, o in enumerate(near):
            w = influence[r] / sum(influence[: len(near)])
            change = abs(y[i] - y[o]) / (y.max() - y.min())
            N_dC += change * w
            for j in range(d):
                N_dA[j] += diff(j, i, o) * w
                N_dCdA[j] += change * diff(j, i, o) * w
    return N_dCdA / N_dC - (N_dA - N_dCdA) / (n - N_dC)


# -- mRMR -----------------------------------------------------------------------------------------
def mrmr(relevance, redundancy, k, quotient):
    """Greedy picks from a vector and a full matrix, everything computed anew in every round."""
    chosen, values = [], []
    for _ in range(k):
        best, which = -math.inf, None
        for j in range(len(relevance)):
            if j in chosen:
                continue
            value = relevance[j]
            if chosen:
                found = [redundancy[j][s] for s in chosen]
                mean = sum(max(r, 1e-3) for r in found) / len(found)
                value = value / mean if quotient else value - sum(found) / len(found)
            if value > best + 1e-12:
                best, which = value, j
        chosen.append(which)
        values.append(best)
    return chosen, values
