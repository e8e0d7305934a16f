"""Compile everything before it is needed, in several processes at once; what one of them compiles all find on the disk."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from numba import config

from polhode import cache
from polhode.arguments import whole
from polhode.registry import Catalogue, catalogue

PACKAGE = Path(__file__).resolve().parent
#: Fewer compilations than this are not worth a process of their own, which has to import the package first.
SHARE = 4


def compile_all(
    methods: Sequence[str] | None = None,
    *,
    systems: bool = False,
    forms: Sequence[str] = (),
    processes: int | None = None,
) -> None:
    """Compile the drivers of methods, and the torques of all problems, so that no run waits for them.

    Parameters
    ----------
    methods : keys, optional
        All by default, the user's own included.
    systems : bool
        Whether problems of several bodies are to run, too.
    forms : names of functions, ``module:function``
        Functions that make another method of a method; what they make is compiled as well, for the disk.
    processes : int, optional
        How many processes share the work; by default one for each processor this process may use. One where there is no folder
        for compiled code (:func:`polhode.cache.folder`): it is then compiled here.

    Raises
    ------
    TypeError, ValueError
        If ``processes`` is no positive whole number, or ``methods`` one key and no list of them.
    Exception
        What the compiler says of a method or a torque that does not compile.
    """
    if processes is not None:
        processes = whole("processes", processes, least=1)
    if isinstance(methods, str):
        raise TypeError(f"methods must be a list of keys, got {methods!r}; write [{methods!r}]")
    catalogues = {name: catalogue(f"polhode.{name}") for name in ("methods", "problems")}
    keys = list(catalogues["methods"]) if methods is None else list(methods)
    wanted = [("methods", key, form, systems and not form) for form in ("", *forms) for key in keys]
    wanted += [("problems", key, "", False) for key in catalogues["problems"]]
    missing = [one for one in wanted if not _Item(*one).is_kept()]
    kept = cache.folder() is not None and not config.DISABLE_JIT
    shares = min(processes or _processors(), len(missing) // SHARE) if kept else 1
    if shares > 1:
        plugins = [(name, str(path)) for name, found in catalogues.items() for path in _plugins(found)]
        workers = [_worker({"plugins": plugins, "wanted": missing[share::shares]}) for share in range(shares)]
        for worker in workers:
            worker.wait()
    for one in wanted:
        item = _Item(*one)
        # A form is made anew by whoever uses it; here it matters only that its code is there.
        if not (item.form and item.is_kept()):
            item.compile()


def work() -> None:
    """What a worker does: compile what its standard input names."""
    task = json.load(sys.stdin)
    for name, path in task["plugins"]:
        catalogue(f"polhode.{name}").load(path)
    for one in task["wanted"]:
        _Item(*one).compile()


def _worker(task: dict[str, Any]) -> subprocess.Popen[str]:
    """A process that does :func:`work`. If it fails, its share is left to this process, which then says what is wrong."""
    paths = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    worker = subprocess.Popen(
        [sys.executable, "-c", "from polhode.compilation import work; work()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    assert worker.stdin is not None
    with suppress(BrokenPipeError), worker.stdin:
        worker.stdin.write(json.dumps(task))
    return worker


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _plugins(found: Catalogue) -> set[Path]:
    return {path for key in found if not (path := found.origin(key)).is_relative_to(PACKAGE)}


@dataclass(frozen=True)
class _Item:
    """One method, or what a form of it is, or one problem; ``systems`` for the driver of several bodies too."""

    kind: str
    key: str
    form: str
    systems: bool

    def _object(self) -> Any:
        found = catalogue(f"polhode.{self.kind}")[self.key]
        if not self.form:
            return found
        module, _, name = self.form.partition(":")
        return getattr(import_module(module), name)(found)

    def _arguments(self) -> tuple[bool, ...]:
        return (self.systems,) if self.kind == "methods" else ()

    def is_kept(self) -> bool:
        return bool(self._object().is_kept(*self._arguments()))

    def compile(self) -> None:
        self._object().compile(*self._arguments())
