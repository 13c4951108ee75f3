"""Makes tests/estimator_checks importable and its asserts readable."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))
pytest.register_assert_rewrite(
    "estimator_checks.pitfalls_data",
    "estimator_checks.pitfalls_object",
    "estimator_checks.shared",
    "estimator_checks.bad_input",
)
