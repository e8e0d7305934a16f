"""A hash of the code a result depends on, so that the workflow notices an edit to an imported module.

Snakemake sees only its own files. This hash follows the imports of our packages from file to file and is computed from the
syntax trees without docstrings: comments, layout and docstrings do not count, executable code does. The values in a YAML file
that has the name of a module and stands beside it count too, and the versions of the numerical libraries. In a notebook every
character counts, since all of it is shown.

If one function of a module is asked for, ``module:function``, only the definitions count that this function needs, and what the
module imports for them. No import shows which methods, problems, scenes, laws of force and molecules code asks for by name;
with ``members`` the file of each counts that an experiment names, or a file which imports their registry.

To parse them would take a third of a start of Snakemake. What is in a source is therefore kept beside the compiled code,
under a hash of the source.
"""

import ast
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from polhode import MOVED
from polhode.compiling.place import folder
from polhode.interface.reading import load_yaml
from polhode.interface.storage import write_text

LIBRARIES = ("mpmath", "numba", "numpy", "scipy", "xarray")
#: The packages whose code counts. The first imports everything for the convenience of users: only its modules count.
PACKAGES = "polhode.", "polhode_engines", "polhode_study"
#: Modules that start, stop and watch jobs, and one that writes tables, which chapters name; they change no result.
NO_PART = frozenset(
    {
        "polhode.interface.bars",
        "polhode.interface.progress",
        "polhode.interface.table",
        "polhode_study.workflow.signals",
        "polhode_study.workflow.locks",
        "polhode_study.workflow.scheduling",
        "polhode_study.workflow.starting",
        "polhode_study.workflow.watching",
    }
)
#: The folder of the packages.
ROOT = Path(__file__).parents[1]
#: The fields of a syntax tree's nodes that are lists of statements, or of handlers and cases with statements.
_HOLD_STATEMENTS = ("body", "orelse", "finalbody", "handlers", "cases")
#: Folders whose members are asked for by name, each in a file of this name.
REGISTRIES = tuple(
    f"polhode/{name}" for name in ("methods", "problems", "manybody/scenes", "manybody/forces", "manybody/molecules")
)
#: Modules of which a function that is asked for needs only what it imports: what jobs run, and the experiments of chapters.
EXPERIMENTS = re.compile(r"/?polhode_study[./](run[./]|chapters[./]\w+[./]run)")
#: The file of what is in sources, in the folder of compiled code, and how many sources it holds at most.
KEPT, MOST = "sources.json", 5000


class CountedCode(NamedTuple):
    """What counts of a source: the hash of its code, the names of all that it imports of our packages, and the words in it."""

    digest: str
    imports: list[str]
    words: list[str]


def fingerprint(*modules: str | Path, members: bool = False) -> str:
    """Hash of some modules and of all modules of our packages that they import, at any depth.

    Parameters
    ----------
    modules : dotted names, ``module:function`` for what one function needs of a module, or file paths
    members : whether the files count of methods, problems, scenes, laws and molecules that the code names
    """
    digests = _behind(modules, members)
    text = "\n".join(sorted(digests.values())) + _versions()
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def named_methods(*modules: str | Path) -> list[str]:
    """The methods that this code names, at any depth: the file names of those in the package."""
    paths = [Path(path) for path, _ in _behind(modules, members=True)]
    return sorted(path.stem for path in paths if path.parent == ROOT / REGISTRIES[0])


@cache
def _behind(modules: tuple[str | Path, ...], members: bool) -> dict[tuple[str, str], str]:
    """The digests of these modules and of all behind them, by file and the function asked for."""
    seen: dict[tuple[str, str], str] = {}
    known = len(_known())
    waiting = [_file(m) for m in modules]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen[node], imported, words = _digest(*node)
            waiting.extend(imported)
            if members:
                is_experiment = EXPERIMENTS.match(node[0].removeprefix(str(ROOT)))
                registries = (
                    _members() if is_experiment else {os.path.dirname(path) for path, _ in imported} & _members().keys()
                )
                waiting.extend((path, "") for place in registries for word in words if (path := _members()[place].get(word)))
    if len(_known()) > known and (place := folder()) is not None:
        with suppress(OSError):
            write_text(place / KEPT, json.dumps(_known()))
    return seen


@cache
def _members() -> dict[str, dict[str, str]]:
    """The files of all members of each registry, by its folder and their names."""
    return {str(ROOT / name): {path.stem: str(path) for path in (ROOT / name).glob("[a-z]*.py")} for name in REGISTRIES}


def _in_source(source: str, function: str = "") -> CountedCode:
    """What counts of Python source code, or of what a function in it needs."""
    key = hashlib.sha256(f"{_recipe()}{function}\0{source}".encode()).hexdigest()
    if key not in _known():
        tree = ast.parse(source)
        if function:
            tree.body = _needed(tree, function)
        names = []
        for node in _statements(tree):
            if isinstance(node, ast.Import):
                names += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                of_functions = function and EXPERIMENTS.match(node.module)
                names += [f"{node.module}:{alias.name}" if of_functions else node.module for alias in node.names]
                names += [f"{node.module}.{alias.name}" for alias in node.names]
        names = [name for name in names if name.startswith(PACKAGES)]
        digest = _hash(tree)  # takes the docstrings out of the tree
        constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        words = sorted({text for text in constants if isinstance(text, str) and text.isidentifier()})
        _known()[key] = [digest, names, words]
    return CountedCode(*_known()[key])


def _needed(tree: ast.Module, function: str) -> list[ast.stmt]:
    """The statements of a module that a function in it needs, in their order: definitions by name, and all that define none.

    Raises
    ------
    ValueError
        If nothing in the module has this name.
    """
    definitions: dict[str, list[ast.stmt]] = {}
    waiting: list[ast.stmt] = []
    for statement in tree.body:
        names = _defined(statement)
        for name in names:
            definitions.setdefault(name, []).append(statement)
        if not names and not isinstance(statement, ast.Import | ast.ImportFrom):
            waiting.append(statement)
    if function not in definitions:
        raise ValueError(f"nothing is called {function!r} in this module")
    waiting += definitions[function]
    needed: set[ast.stmt] = set()
    used: set[str] = set()
    while waiting:
        statement = waiting.pop()
        if statement not in needed:
            needed.add(statement)
            if not isinstance(statement, ast.Import | ast.ImportFrom):
                uses = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
                waiting += [definition for name in uses for definition in definitions.get(name, ())]
                used |= uses
    for statement in needed:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            statement.names = [alias for alias in statement.names if (alias.asname or alias.name).split(".")[0] in used]
    return [statement for statement in tree.body if statement in needed]


def _defined(statement: ast.stmt) -> list[str]:
    """The names that a statement of a module defines."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).split(".")[0] for alias in statement.names]
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return []


@cache
def _recipe() -> str:
    """All beside a source on which the answers of :func:`_in_source` depend."""
    return sys.version + Path(__file__).read_text()


@cache
def _known() -> dict[str, list[Any]]:
    """The answers of :func:`_in_source` so far, from the disk at first."""
    with suppress(OSError, ValueError):
        if (place := folder()) is not None:
            known: dict[str, list[Any]] = json.loads((place / KEPT).read_text())
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


def _file(module: str | Path) -> tuple[str, str]:
    """The file of a module, and the function asked for."""
    if isinstance(module, Path):
        return str(module), ""
    name, _, function = module.partition(":")
    path = _locate(name)
    if path is None:
        raise ModuleNotFoundError(f"no module {name!r} to hash")
    return path, function


@cache
def _versions() -> str:
    return "".join(f"{name} {version(name)}\n" for name in LIBRARIES)


@cache
def _locate(name: str) -> str | None:
    """The file of a module of our packages; nothing is imported, unlike in a search by the import system."""
    place = os.path.join(ROOT, *MOVED.get(name, name).split("."))
    return next((path for path in (f"{place}.py", os.path.join(place, "__init__.py")) if os.path.isfile(path)), None)


def _of_notebook(path: Path) -> tuple[str, str]:
    """The hash of the exact text of all cells, and the code without lines that are not Python."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    parts = [[cell["cell_type"], "".join(cell["source"])] for cell in cells]
    code = [source for kind, source in parts if kind == "code" and not source.startswith("%%")]
    lines = [line for source in code for line in source.splitlines() if not line.startswith(("%", "!"))]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest(), "\n".join(lines)


@cache
def _digest(name: str, function: str = "") -> tuple[str, tuple[tuple[str, str], ...], tuple[str, ...]]:
    """The digest of a file, or of what a function in it needs; the files that it imports, and the words in it.

    Files have their names, not paths: as keys these cost a start of Snakemake more time than all else here.
    """
    path = Path(name)
    if path.suffix == ".ipynb":
        digest, code = _of_notebook(path)
        source = _in_source(code)
    else:
        source = _in_source(path.read_text(), function)
        digest = source.digest
        data = path.with_suffix(".yaml")
        if data.is_file():
            digest += hashlib.sha256(json.dumps(load_yaml(data)).encode()).hexdigest()
    imported = ((_locate(name), of) for name, _, of in (text.partition(":") for text in source.imports) if name not in NO_PART)
    return digest, tuple((path, of) for path, of in imported if path is not None), tuple(source.words)
