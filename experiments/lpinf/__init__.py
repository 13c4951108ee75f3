"""Kong & Ding (2014), the l_{p,inf} operator: ``python -m experiments.lpinf``."""
