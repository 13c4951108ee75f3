"""The experiments of the five papers, one module each: ``python -m experiments.gsr_fs --quick``."""
