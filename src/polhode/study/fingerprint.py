"""A hash of the code a result depends on, so that the workflow notices an edit to an imported module.

Snakemake sees only its own files. This hash follows the imports of the package from file to file and is computed from the
syntax trees without docstrings: comments, layout and docstrings do not count, executable code does. The values in a YAML file
that has the name of a module and stands beside it count too, and the versions of the numerical libraries. In a notebook every
character counts, since all of it is shown.
"""

import ast
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

from polhode import MOVED
from polhode.interface.reading import load_yaml

LIBRARIES = ("mpmath", "numba", "numpy", "scipy", "xarray")
PACKAGE = "polhode"
#: Modules that start, stop and watch jobs; they change no result.
NO_PART = frozenset(
    {
        f"{PACKAGE}.{name}"
        for name in (
            "interface.bars",
            "interface.progress",
            "study.workflow.signals",
            "study.workflow.locks",
            "study.workflow.meters",
            "study.workflow.scheduling",
            "study.workflow.watching",
        )
    }
)
ROOT = Path(__file__).parents[1]
#: The fields of a syntax tree's nodes that are lists of statements, or of handlers and cases with statements.
_HOLD_STATEMENTS = ("body", "orelse", "finalbody", "handlers", "cases")


def fingerprint(*modules: str | Path) -> str:
    """Hash of these modules (dotted names or file paths) and of all modules of the package that they import, at any depth."""
    seen: dict[Path, str] = {}
    waiting = [_file(m) for m in modules]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen[path], imported = _digest(path)
            waiting.extend(imported)
    text = "\n".join(sorted(seen.values())) + _versions()
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def syntax_hash(source: str) -> str:
    """Hash of the syntax tree of Python source code, without docstrings."""
    return _hash(ast.parse(source))


def _hash(tree: ast.Module) -> str:
    for node in _statements(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
                del node.body[0]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """The tree and all statements in it, at any depth. Expressions, by far the most nodes, contain none."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for name in _HOLD_STATEMENTS:
            waiting.extend(getattr(node, name, ()))


def _file(module: str | Path) -> Path:
    if isinstance(module, Path):
        return module
    path = _locate(module)
    if path is None:
        raise ModuleNotFoundError(f"no module {module!r} to hash")
    return path


@cache
def _versions() -> str:
    return "".join(f"{name} {version(name)}\n" for name in LIBRARIES)


@cache
def _locate(name: str) -> Path | None:
    """The file of a module of the package; nothing is imported, unlike in a search by the import system."""
    place = ROOT.joinpath(*MOVED.get(name, name).split(".")[1:])
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)


def _of_notebook(path: Path) -> tuple[str, str]:
    """The hash of the exact text of all cells, and the code without lines that are not Python."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts = [[cell["cell_type"], "".join(cell["source"])] for cell in cells]
    code = [source for kind, source in parts if kind == "code" and not source.startswith("%%")]
    lines = [line for source in code for line in source.splitlines() if not line.startswith(("%", "!"))]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest(), "\n".join(lines)


@cache
def _digest(path: Path) -> tuple[str, tuple[Path, ...]]:
    if path.suffix == ".ipynb":
        digest, source = _of_notebook(path)
        tree = ast.parse(source)
    else:
        tree = ast.parse(path.read_text())
        digest = _hash(tree)
        data = path.with_suffix(".yaml")
        if data.is_file():
            digest += hashlib.sha256(json.dumps(load_yaml(data)).encode()).hexdigest()
    imported = []
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            # The top-level package imports everything for the user's convenience; no result depends on it.
            if name.startswith(f"{PACKAGE}.") and name not in NO_PART:
                module = _locate(name)
                if module is not None:
                    imported.append(module)
    return digest, tuple(imported)
