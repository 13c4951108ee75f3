"""Cai, Nie & Huang (2013), exactly k features by l2,0-ALM: ``python -m experiments.top_k``."""
