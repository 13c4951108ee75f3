"""Marker panels for single-cell data, in scanpy's manner: results go into ``var`` and ``uns``.

anndata itself is not imported: what is passed in is all that is needed of it.
"""

from .evaluation import PanelEvaluation, evaluate_panel
from .panel import select_genes

__all__ = ["PanelEvaluation", "evaluate_panel", "select_genes"]
