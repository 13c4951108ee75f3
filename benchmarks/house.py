"""Counts what the source is like: lines, density, constants, comments, escapes from the types.

    python benchmarks/house.py [FOLDER] [--files]

FOLDER is the package (default: src/rowsparse of this clone), so two commits are compared by naming
a clone of each. ``--files`` lists the files and functions that are longest and densest.

A constant is a number, or several, that a module names in capitals. Tables of names, dtypes and
empty arrays are none, whatever numbers stand in them. Four kinds are told apart:

- of pages and terminals: how much a person reads, by the folder;
- of files and formats: facts of a format or limits against hostile files, by the folder;
- facts and limits elsewhere, by the names in ``FACTS`` and ``LIMITS``. With another number a fact
  would make the code wrong (the place of a row in an array, the bytes of a header, the default of a
  library whose answer is promised), and a limit would only refuse other input, in words. No number
  belongs there that could make an accepted fit better, worse, faster or slower;
- chosen for results or speed: all others.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

LONGEST_FILE, LONGEST_BODY = 350, 40

# First part of the path of a file whose constants are not tuned.
SHOWN = ("report", "cli")
FORMATS = ("datasets", "anndata", "results.py")
FACTS = {
    "model_selection/readout.py": {"RIDGE"},  # of scikit-learn's Ridge, whose answers are promised
    "model_selection/saving.py": {"VERSION"},
    "numerics/exchanges.py": {"D", "SQUARES", "LEAST", "ROW"},  # rows of an array
    "numerics/sweep.py": {"BATCH"},  # what ``four_rows`` takes
    "stores/npy.py": {"LOCAL_HEADER"},
    "stores/parquet.py": {"ITEM"},
}
LIMITS = {
    "designs/dask_arrays.py": {"ANSWER_SECONDS"},
    "inputs.py": {"MOST_BYTES"},
    "stores/base.py": {"MOST_EMPTY_COLUMNS"},
    "stores/npy.py": {"PAGE", "MOST_BYTES_OF_PAGES"},
    "stores/safety.py": {"ALWAYS_ALLOWED", "LARGEST_RATIO"},
    "stores/tree.py": {"MOST_BYTES_OF_CHUNK"},
}


@dataclass
class Count:
    """What one file, or all of them together, is like."""

    lines: int = 0  # as ``wc -l`` counts them
    code: int = 0  # lines with a statement or a part of one; docstrings are none
    comments: int = 0  # lines with a comment, a tool's instruction not counted
    written: int = 0  # lines that are not blank
    nodes: int = 0  # of the syntax tree, all that ``ast.walk`` meets
    constants: list[str] = field(default_factory=list)  # numbers at module level, in capitals
    ignores: int = 0  # ``type: ignore``
    getattrs: int = 0  # hasattr and getattr
    casts: int = 0
    bodies: list[tuple[int, str]] = field(default_factory=list)

    def add(self, other: Count) -> None:
        for name in vars(self):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def docstring_lines(tree: ast.AST) -> set[int]:
    """The lines that docstrings take up."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = docstring(node)
            if text is not None:
                lines.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    return lines


def docstring(node: ast.AST) -> ast.Expr | None:
    body = getattr(node, "body", [])
    first = body[0] if body else None
    is_text = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    return first if is_text else None


def count(path: Path) -> Count:
    """Everything about one file."""
    source = path.read_text()
    tree = ast.parse(source)
    documented = docstring_lines(tree)
    written = sum(bool(line.strip()) for line in source.splitlines())
    result = Count(lines=source.count("\n"), written=written)
    code: set[int] = set()
    layout = {
        tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
    }  # fmt: skip
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            tool = token.string.startswith(("# noqa", "# type:", "# fmt:", "# pragma"))
            result.comments += not tool
            result.ignores += "type: ignore" in token.string
        elif token.type not in layout:
            code.update(range(token.start[0], token.end[0] + 1))
    result.code = len(code - documented)
    for node in ast.walk(tree):
        result.nodes += 1
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            result.getattrs += node.func.id in ("hasattr", "getattr")
            result.casts += node.func.id == "cast"
        if isinstance(node, ast.FunctionDef):
            result.bodies.append((body_lines(node), f"{path}:{node.lineno} {node.name}"))
    for statement in tree.body:
        result.constants += numbers_named_by(statement)
    return result


def numbers_named_by(statement: ast.stmt) -> list[str]:
    """The capital names that a statement at module level gives to numbers."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return []
    inside = list(ast.walk(statement.value))
    if isinstance(statement.value, ast.Call | ast.Dict) or any(map(is_text, inside)):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    capitals = [name for name in names if name.strip("_").isupper()]
    return capitals if any(map(is_number, inside)) else []


def kind_of(file: Path, name: str) -> str:
    """What a constant of a file, named inside the package, is: see the top of this module."""
    if file.parts[0] in SHOWN:
        return "shown"
    if file.parts[0] in FORMATS:
        return "formats"
    if name in FACTS.get(file.as_posix(), ()):
        return "facts"
    return "limits" if name in LIMITS.get(file.as_posix(), ()) else "chosen"


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def is_number(node: ast.AST) -> bool:
    # type, since True is an int
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def body_lines(node: ast.FunctionDef) -> int:
    """Lines of a function's body without its docstring."""
    text = docstring(node)
    body = node.body[1:] if text is not None else node.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    default = Path(__file__).resolve().parent.parent / "src" / "rowsparse"
    parser.add_argument("folder", nargs="?", type=Path, default=default)
    parser.add_argument("--files", action="store_true", help="list the longest and densest")
    options = parser.parse_args()
    files = {path: count(path) for path in sorted(options.folder.rglob("*.py"))}
    total, solvers = Count(), Count()
    kinds = {"shown": 0, "formats": 0, "facts": 0, "limits": 0, "chosen": 0}
    for path, one in files.items():
        total.add(one)
        inside = path.relative_to(options.folder)
        if inside.parts[0] == "solvers":
            solvers.add(one)
        for name in one.constants:
            kinds[kind_of(inside, name)] += 1
    print(f"source lines                    {total.lines}")
    print(f"code lines                      {total.code}")
    print(f"files                           {len(files)}")
    print(f"syntax nodes per line           {total.nodes / total.written:.2f}")
    print(f"  in solvers/                   {solvers.nodes / solvers.written:.2f}")
    print(f"module constants                {len(total.constants)}")
    print(f"  of pages and the terminal     {kinds['shown']}")
    print(f"  of files and formats          {kinds['formats']}")
    print(f"  facts and limits elsewhere    {kinds['facts'] + kinds['limits']}")
    print(f"  chosen for results or speed   {kinds['chosen']}")
    print(f"    of these in solvers/        {len(solvers.constants)}")
    print(f"type: ignore                    {total.ignores}")
    print(f"hasattr and getattr             {total.getattrs}")
    print(f"cast                            {total.casts}")
    print(f"comments per 100 code lines     {100 * total.comments / total.code:.1f}")
    print(f"files over {LONGEST_FILE} lines             "
          f"{sum(one.lines > LONGEST_FILE for one in files.values())}")  # fmt: skip
    long_bodies = [body for body in total.bodies if body[0] > LONGEST_BODY]
    print(f"bodies over {LONGEST_BODY} lines             {len(long_bodies)}")
    if options.files:
        for size, name in sorted(long_bodies, reverse=True):
            print(f"  body of {size} lines: {name}")
        for path, one in sorted(files.items(), key=lambda item: -item[1].lines):
            density = one.nodes / max(one.written, 1)
            print(f"{one.lines:5d} lines  {density:5.2f} nodes  {len(one.constants):3d} constants  "
                  f"{100 * one.comments / max(one.code, 1):5.1f} comments  {path}")  # fmt: skip


if __name__ == "__main__":
    main()
