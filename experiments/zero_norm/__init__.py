"""Huang, King & Lyu (2008), direct zero-norm optimisation: ``python -m experiments.zero_norm``."""
