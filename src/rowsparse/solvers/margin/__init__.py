"""Solvers of the problem of a margin loss."""
