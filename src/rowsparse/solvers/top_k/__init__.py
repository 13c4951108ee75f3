"""Solvers of the problem with at most k nonzero rows."""
