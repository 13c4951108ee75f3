"""Checks for the recurring bugs of feature-selection packages (P1–P38, see README.md).

Every check takes `make_selector`, which builds an unfitted selector from keyword parameters, and
fails by AssertionError. `ALL_CHECKS` lists them with the pitfall each covers; `checks_for(lacks=…)`
gives those that apply to a selector without some capability.
"""

from __future__ import annotations

from . import pitfalls_data, pitfalls_object  # importing them registers their checks
from .registry import ALL_CHECKS, checks_for

__all__ = ["ALL_CHECKS", "checks_for", "pitfalls_data", "pitfalls_object"]
