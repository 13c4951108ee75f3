"""One recipe carried out: the fit, its twins, and all that does not hold."""

from __future__ import annotations

import linecache
import re
import time
import traceback
import warnings
from typing import Any

import numpy as np
import threadpoolctl
from scipy import sparse

import rowsparse
from rowsparse import solvers

from . import checks, recipes, tables
from .formulas import Claim, Table, claim_of

SMALL = 300  # entries of X (20 x 15): such fits take seconds at most
SECONDS = 5.0
MODEST = 1e100  # scales up to here have objectives that a double can hold
ALL_TWINS = (
    600  # entries of X up to which a fit mostly takes so little time that every twin is made
)
QUICK = 1.0  # seconds of CPU: where the fit took more, one twin must do

# What scikit-learn says about bad input, which is as deliberate as our own "Expected …".
DELIBERATE = re.compile(
    r"Expected |[\w ]+: expected |Found array with|Found input variables|Input [Xy] contains|X has "
)


def estimator(recipe: dict[str, Any]) -> Any:
    params = dict(recipe["params"])
    if params.get("norm") == "inf":
        params["norm"] = np.inf
    if params.get("solver", "auto") != "auto":
        params["solver"] = getattr(solvers, params["solver"])()
    if isinstance(params.get("init"), dict):
        shape = recipe["data"]["d"], _n_columns(recipe)
        scale = params["init"]["random"]
        params["init"] = scale * np.random.default_rng(0).standard_normal(shape)
    if recipe["feature_weights"] is not None:
        params["feature_weights"] = np.array(recipe["feature_weights"], dtype=float)
    return getattr(rowsparse, recipe["estimator"])(**params)


def _n_columns(recipe: dict[str, Any]) -> int:
    """Of Y."""
    X = tables.table(recipe["data"])
    y = tables.target(recipe, X)
    s = tables.sample_weights(recipe)
    return Table.of(recipe, X, y, s).Y.shape[1]


class Outcome:
    """What came of a recipe."""

    def __init__(self) -> None:
        self.findings: list[checks.Finding] = []
        self.refusal = ""
        self.cpu = 0.0
        self.fits = 0
        self.checks = 0
        self.fit: Any = None
        self.claim: Claim | None = None  # where points may be judged by it
        self.null = ("no feature", np.inf)

    @property
    def status(self) -> str:
        if self.findings:
            return "failed"
        return "refused" if self.refusal else "fitted"


def carried_out(recipe: dict[str, Any]) -> Outcome:
    """Fit, look at everything, and where the recipe says so compare with a twin."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        X = tables.table(recipe["data"])
        y = tables.target(recipe, X)
        s = tables.sample_weights(recipe)
    outcome = _fitted(recipe, tables.stored(X, recipe["data"]["storage"]), y, s)
    if outcome.fit is None:
        return outcome
    with np.errstate(all="ignore"):
        _look_at(recipe, outcome, X, y, s)
        for twin in _twins(recipe, outcome.cpu):
            if not outcome.findings:
                _compare(dict(recipe, twin=twin), outcome, X, y, s)
    return outcome


def _twins(recipe: dict[str, Any], cpu: float) -> tuple[str, ...]:
    if recipe["data"]["n"] * recipe["data"]["d"] <= ALL_TWINS and cpu <= QUICK:
        return (*recipes.TWINS, "again")
    return (recipe["twin"],) if recipe["twin"] else ()


def _fitted(recipe: dict[str, Any], X: Any, y: Any, s: Any) -> Outcome:
    """The fit itself: what it raises, warns of, changes and takes."""
    outcome = Outcome()
    model = estimator(recipe)
    before = [_bytes(X), _bytes(y), _bytes(s)]
    before_it = threads()
    began = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome.fits += 1
            outcome.fit = model.fit(X, y, sample_weight=s)
            outcome.fit.predict(X) if hasattr(model, "predict") else outcome.fit.transform(X)
        except Exception as error:
            outcome.fit = None
            outcome.refusal, finding = _judged(error)
            outcome.findings += finding
    outcome.cpu = time.process_time() - began
    if outcome.cpu > SECONDS and outcome.fit is not None:  # some loops were compiled in it
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome.fits += 1
            estimator(recipe).fit(X, y, sample_weight=s)
        outcome.cpu = time.process_time() - began
    outcome.checks += 5  # an answer or a sentence, quiet, inputs, threads, time
    outcome.findings += sorted(set(checks.loud(caught)))
    if [_bytes(X), _bytes(y), _bytes(s)] != before:
        outcome.findings.append(("input changed", ""))
    if threads() != before_it:
        outcome.findings.append(("threads", f"{before_it} before, {threads()} after"))
    if outcome.cpu > SECONDS and recipe["data"]["n"] * recipe["data"]["d"] <= SMALL:
        outcome.findings.append(("slow", f"{outcome.cpu:.1f} s"))
    return outcome


def _judged(error: Exception) -> tuple[str, list[checks.Finding]]:
    """A deliberate refusal in a sentence, or a finding."""
    text = str(error)
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    where = f"{last.filename.rpartition('/')[2]}:{last.lineno} {last.name}"
    if isinstance(error, ValueError | TypeError) and DELIBERATE.match(text):
        return text.split(", got")[0][:120], []
    ours = [f for f in frames if "/rowsparse/" in f.filename][-1:]
    at = f"{ours[0].filename.rpartition('/')[2]}:{ours[0].lineno}" if ours else ""
    line = linecache.getline(last.filename, last.lineno or 0).strip()[:60]
    detail = f"{type(error).__name__}: {text[:100]} [{at}; {where}: {line}]"
    return type(error).__name__, [("error", detail)]


def _look_at(recipe: dict[str, Any], outcome: Outcome, X: Any, y: Any, s: Any) -> None:
    """At the fit by itself, and at its claim beside points that the solver has not seen."""
    claim = _claimed(recipe, outcome, X, y, s)
    if claim is None:
        return
    points = checks.points(recipe, outcome.fit, claim)
    outcome.claim, outcome.null = claim, points[0]
    outcome.checks += len(points)
    outcome.findings += checks.claims(outcome.fit, claim, outcome.null[1])
    outcome.findings += checks.bounds(outcome.fit, claim, points)


def _claimed(recipe: dict[str, Any], outcome: Outcome, X: Any, y: Any, s: Any) -> Claim | None:
    """The claim of a fit in which nothing is wrong so far, where there is one to judge."""
    outcome.checks += 1
    outcome.findings += checks.finite(outcome.fit)
    if "KernelSVC" in recipe["estimator"] or "KernelClassifier" in recipe["estimator"]:
        return None
    table = Table.of(recipe, X, y, s)
    outcome.checks += 2
    outcome.findings += checks.support(outcome.fit, recipe, table)
    if outcome.findings or not _modest(recipe):
        return None
    return claim_of(recipe, outcome.fit, table)


def _modest(recipe: dict[str, Any]) -> bool:
    """Whether no square of X or y comes near what a double can hold."""
    scales = recipe["data"]["scale"], recipe["target"]["scale"]
    return all(1 / MODEST <= scale <= MODEST for scale in scales)


def _compare(recipe: dict[str, Any], outcome: Outcome, X: Any, y: Any, s: Any) -> None:
    """The same problem told in another way."""
    # it keeps the name of the storage, by which the data are drawn and with them the classes of y
    other = dict(recipe, twin=None)
    params = other["params"] = dict(recipe["params"])
    order = np.arange(X.shape[1])
    factor = 1.0  # of the columns
    match recipe["twin"]:
        case "repetition":
            if recipe["sample_weight"] not in ("integers", "zeros"):
                return
            counts = s.astype(int)
            X, y, s = np.repeat(X, counts, axis=0), np.repeat(y, counts, axis=0), None
        case "permutation":
            if isinstance(params.get("init"), dict):
                return
            order = np.random.default_rng(1).permutation(order)
            X = X[:, order]
            if recipe["feature_weights"] is not None:
                other["feature_weights"] = [recipe["feature_weights"][j] for j in order]
        case "scaling":
            if not params.get("standardize", "kernel" not in params):
                return  # a kernel sees the unit of X
            if X.dtype.kind != "f" or X.dtype.itemsize < 8:
                return
            factor = 2.0**7
            X = X * factor
        case "start":
            if "init" not in params:
                return
            params["init"] = "zero"
    again = recipe["twin"] == "again"
    twin = _fitted(other, tables.stored(X, recipe["data"]["storage"]) if again else X, y, s)
    if twin.fit is None and not twin.findings and _modest(recipe):
        twin.findings += [("", f"{recipe['twin']}: refused, {twin.refusal}")]
    elif twin.fit is not None:
        claim = _claimed(other, twin, X, y, s)
        if claim is not None:
            twin.findings += checks.claims(twin.fit, claim, np.inf)
    outcome.fits += twin.fits
    outcome.checks += twin.checks + 1
    outcome.findings += [(f"twin {what}".strip(), detail) for what, detail in twin.findings]
    if twin.findings or twin.fit is None:
        return
    if again:
        outcome.findings += _same_bits(outcome.fit, twin.fit)
        return
    # below this part of the objective without features "converged" promises nothing
    noise = 0.0
    if outcome.claim is not None:
        noise = checks.NOTHING * abs(outcome.null[1])
        noise += outcome.claim.rounding(outcome.fit.coef_, outcome.fit.intercept_)
    table = Table.of(recipe, X, y, s)
    outcome.findings += _differences(recipe, outcome.fit, twin.fit, table, noise)
    if outcome.claim is not None:
        coef = twin.fit.coef_[:, np.argsort(order)] * factor
        point = f"twin {recipe['twin']}", outcome.claim.objective(coef, twin.fit.intercept_)
        outcome.findings += checks.bounds(outcome.fit, outcome.claim, [outcome.null, point])


def _same_bits(fit: Any, twin: Any) -> list[checks.Finding]:
    """The same call gives the same numbers, to the last digit."""
    found: list[checks.Finding] = []
    for name in ("coef_", "intercept_", "scores_", "support_", "dual_coef_"):
        ours, its = vars(fit).get(name), vars(twin).get(name)
        if ours is not None and not np.array_equal(ours, its):
            found.append(("twin", f"again: another {name}"))
    return found


def _differences(
    recipe: dict[str, Any], fit: Any, twin: Any, table: Table, noise: float
) -> list[checks.Finding]:
    """Convex problems have one optimum; others may end elsewhere, but not in anything at all."""
    if "solution_" not in vars(fit) or recipe["data"]["columns"] != "normal":
        return []
    ours, its = fit.solution_, twin.solution_
    if not (ours.converged and its.converged):
        return []
    claim = claim_of(recipe, fit, table)
    same_problem = claim is not None and claim == claim_of(recipe, twin, table)
    exact = recipe["twin"] == "storage" and recipe["data"]["dtype"] == "float64"
    if not (claim is not None and claim.convex) and not exact:
        return []
    if claim is not None and not same_problem and not exact:
        return []
    tolerance = 1e-4 if recipe["estimator"] in ("ZeroNormSVC", "ProbitSelector") else 1e-6
    if recipe["data"]["dtype"] in ("float32", "float16"):
        tolerance = 1e-3
    tolerance = max(tolerance, 100 * ours.tol)  # for small r it is more than 1e-8
    if abs(ours.objective - its.objective) > tolerance * max(abs(ours.objective), 1e-9) + noise:
        return [("twin", f"{recipe['twin']}: {ours.objective!r} against {its.objective!r}")]
    return []


def _bytes(thing: Any) -> Any:
    if thing is None:
        return None
    if sparse.issparse(thing):
        parts = ("data", "row", "col", "indices", "indptr", "has_sorted_indices")
        return [_bytes(vars(thing)[part]) for part in parts if part in vars(thing)]
    return thing.tobytes() if isinstance(thing, np.ndarray) else thing


_CONTROLLER: list[Any] = []


def threads() -> list[int]:
    """That each BLAS may use now."""
    if not _CONTROLLER:
        _CONTROLLER.append(threadpoolctl.ThreadpoolController())
    return [lib["num_threads"] for lib in _CONTROLLER[0].info() if lib["user_api"] == "blas"]
