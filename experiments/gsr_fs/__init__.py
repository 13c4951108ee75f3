"""Peng & Fan (2017), "A general framework for sparsity regularized feature selection"."""
