"""What is public is what docs/api.md lists, no more and no less; what was announced is there."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import rowsparse

PAGE = Path(__file__).parent.parent / "docs" / "api.md"
# Packages with an __all__ for the layers above them; docs/api.md says that they may change.
INNER = {
    "rowsparse.selectors",  # shown by rowsparse itself
    "rowsparse.designs",
    "rowsparse.losses",
    "rowsparse.penalties",
    "rowsparse.stores",  # open_rows is shown by rowsparse itself
}

# The names and parameters that were announced before they were built, and outside checks use.
ANNOUNCED = {
    "L2pSelector": "n_features_to_select alpha p r ridge fit_intercept standardize init solver",
    "LpInfSelector": "n_features_to_select alpha p ridge fit_intercept standardize init solver",
    "TopKSelector": "n_features_to_select r ridge fit_intercept standardize n_init polish "
    "random_state solver",
    "ZeroNormSVC": "C norm n_features_to_select standardize multi_class tol max_iter",
    "ZeroNormKernelSVC": "C kernel gamma degree coef0 norm tol max_iter",
    "ProbitSelector": "norm gamma n_features_to_select standardize tol max_iter",
    "ScoreSelector": "score n_features_to_select",
    "L2pSelector.mtfs": "alpha",
    "L2pSelector.rfs": "alpha",
    "L2pSelector.erfs": "alpha p",
    "L2pSelector.rk1u": "alpha p",
    "L2pSelector.gsr": "alpha r p",
    "L2pSelector.to_frame": "",
    "TopKSelector.paper": "",
    "filters.fisher_score": "X y",
    "filters.f_score": "X y",
    "filters.information_gain": "X y n_bins",
    "filters.relieff": "X y n_neighbors n_samples",
    "filters.mrmr": "X y n_features_to_select criterion",
    "filters.svm_rfe": "X y n_features_to_select step C",
    "filters.fsv": "X y",
    "filters.arom": "X y",
    "paths.selection_path": "selector X y alphas n_alphas alpha_min_ratio ks",
    "model_selection.SelectorCV": "selector grid ks estimator scoring cv rule n_jobs",
    "model_selection.SelectorCV.nested_score": "X y",
    "model_selection.StabilitySelector": "selector n_pairs threshold q pfer bound random_state "
    "n_jobs",
    "model_selection.StabilitySelector.at": "threshold",
    "model_selection.KnockoffSelector": "selector fdr covariance n_draws random_state",
    "model_selection.compare": "methods X y ks cv repeats estimators scoring store n_jobs "
    "random_state",
    "model_selection.Comparison.to_frame": "",
    "model_selection.Comparison.intervals": "",
    "model_selection.Comparison.save": "",
    "model_selection.Comparison.load": "",
    "report.report": "result path data title",
    "anndata.select_genes": "adata groupby n_genes",
    "solvers.IRLS": "tol max_iter time_limit callback",
    "solvers.BlockDescent": "tol max_iter time_limit callback",
    "solvers.ProximalGradient": "tol max_iter time_limit callback",
    "solvers.ALM": "tol max_iter time_limit callback",
    "results.Solution": "W intercept objective violation gap tol status n_iter seconds history "
    "solver",
}


def documented():
    """Every (module, name) of the tables of docs/api.md, in their order."""
    module = ""
    for line in PAGE.read_text().splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            yield module, line.strip()


DOCUMENTED = list(documented())
PUBLIC = sorted({module for module, _ in DOCUMENTED})


def test_nothing_is_documented_twice():
    assert len(set(DOCUMENTED)) == len(DOCUMENTED)


@pytest.mark.parametrize("module", PUBLIC)
def test_documented_is_what_a_module_declares(module):
    declared = set(importlib.import_module(module).__all__) - {"__version__"}
    assert declared == {name for home, name in DOCUMENTED if home == module}


@pytest.mark.parametrize(("module", "name"), DOCUMENTED)
def test_what_is_documented_can_be_imported(module, name):
    namespace = {}
    exec(f"from {module} import {name}", namespace)
    assert namespace[name].__doc__


def test_no_package_declares_names_on_the_quiet():
    names = [f"rowsparse.{one.name}" for one in pkgutil.iter_modules(rowsparse.__path__)]
    quiet = [n for n in names if not n.endswith(("cli", "__main__")) and n not in PUBLIC]
    modules = [importlib.import_module(name) for name in quiet]
    assert {module.__name__ for module in modules if "__all__" in vars(module)} == INNER


@pytest.mark.parametrize("path", ANNOUNCED)
def test_what_was_announced_is_there(path):
    *folder, name = path.split(".")
    found = rowsparse
    if folder and folder[0].islower():
        found = importlib.import_module(f"rowsparse.{folder.pop(0)}")
    for part in [*folder, name]:
        found = getattr(found, part)
    parameters = inspect.signature(found).parameters
    takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    missing = set(ANNOUNCED[path].split()) - set(parameters)
    assert takes_all or not missing
