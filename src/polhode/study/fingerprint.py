"""A hash of the code a result depends on, so that the workflow notices an edit to an imported module.

Snakemake sees only its own files. This hash follows the imports of the package from file to file and is computed from the
syntax trees without docstrings: comments, layout and docstrings do not count, executable code does. The values in a YAML file
that has the name of a module and stands beside it count too, and the versions of the numerical libraries. In a notebook every
character counts, since all of it is shown.

To parse the package would take a third of a start of Snakemake. What is in a source is therefore kept beside the compiled code,
under a hash of the source.
"""

import ast
import hashlib
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

from polhode import MOVED
from polhode.compiling.cache import folder
from polhode.interface.reading import load_yaml
from polhode.study.storage import write_text

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
#: The file of what is in sources, in the folder of compiled code, and how many sources it holds at most.
KEPT, MOST = "sources.json", 5000


def fingerprint(*modules: str | Path) -> str:
    """Hash of these modules (dotted names or file paths) and of all modules of the package that they import, at any depth."""
    seen: dict[Path, str] = {}
    known = len(_known())
    waiting = [_file(m) for m in modules]
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen[path], imported = _digest(path)
            waiting.extend(imported)
    if len(_known()) > known and (place := folder()) is not None:
        with suppress(OSError):
            write_text(place / KEPT, json.dumps(_known()))
    text = "\n".join(sorted(seen.values())) + _versions()
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _in_source(source: str) -> tuple[str, list[str]]:
    """Hash of the syntax tree of Python source code without docstrings, and the names of all that it imports of the package."""
    key = hashlib.sha256(f"{_recipe()}{source}".encode()).hexdigest()
    if key not in _known():
        tree = ast.parse(source)
        names = []
        for node in _statements(tree):
            if isinstance(node, ast.Import):
                names += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        # The top-level package imports everything for the user's convenience; no result depends on it.
        names = [name for name in names if name.startswith(f"{PACKAGE}.")]
        _known()[key] = _hash(tree), names
    return _known()[key]


@cache
def _recipe() -> str:
    """All beside a source on which the answers of :func:`_in_source` depend."""
    return sys.version + Path(__file__).read_text()


@cache
def _known() -> dict[str, tuple[str, list[str]]]:
    """The answers of :func:`_in_source` so far, from the disk at first."""
    with suppress(OSError, ValueError):
        if (place := folder()) is not None:
            known: dict[str, tuple[str, list[str]]] = json.loads((place / KEPT).read_text())
            return known if isinstance(known, dict) and len(known) < MOST else {}
    return {}


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
        names = _in_source(source)[1]
    else:
        digest, names = _in_source(path.read_text())
        data = path.with_suffix(".yaml")
        if data.is_file():
            digest += hashlib.sha256(json.dumps(load_yaml(data)).encode()).hexdigest()
    imported = (_locate(name) for name in names if name not in NO_PART)
    return digest, tuple(path for path in imported if path is not None)
