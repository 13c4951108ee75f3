"""What the paper prints, and how our data differ from its."""

from __future__ import annotations

POWERS = (0.1, 0.25, 0.5, 0.75)
STARTS = {"p = 1": "convex", "ridge": "ridge"}  # the paper's: the library's
RESIDUES = {  # Table 2: p = .1, .25, .5, .75 from the p = 1 solution, from ridge; p = 1; l2,1
    "ALLAML": {
        "p = 1": (6.4217, 6.3647, 6.4314, 6.3892),
        "ridge": (6.4141, 6.3841, 6.4054, 6.3672),
        "convex": (6.4487, 6.4257),
    },
    "GLIOMA": {
        "p = 1": (4.5208, 4.7877, 4.7935, 4.7832),
        "ridge": (4.5145, 4.7182, 4.7877, 4.7968),
        "convex": (4.9421, 4.8324),
    },
    "LUNG": {
        "p = 1": (7.6889, 7.5701, 7.7916, 8.3251),
        "ridge": (7.6762, 7.5534, 7.8216, 8.2851),
        "convex": (8.3572, 8.3612),
    },
    "CAR": {
        "p = 1": (8.3947, 8.3837, 8.3687, 8.8135),
        "ridge": (8.3747, 8.3921, 8.3723, 8.7335),
        "convex": (8.9578, 8.9321),
    },
}
DIFFERENCES = {
    "ALLAML": "same",
    "GLIOMA": "same",
    "LUNG": "same samples and genes, made anew, log10",
    "CAR": "same samples and genes, made anew by the published filter, log10",
}
