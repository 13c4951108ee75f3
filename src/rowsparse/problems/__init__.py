"""Optimisation problems: what is minimised, and what is known about a point."""
