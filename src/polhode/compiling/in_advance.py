"""Compilation in advance, in several processes at once; code compiled by one of them is found on disk by all."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import chain, groupby
from math import inf
from pathlib import Path
from time import monotonic
from typing import IO, Any

from numba import config

from polhode.compiling import cache
from polhode.interface.arguments import flag, is_ordered, number, shown, whole
from polhode.methods import METHODS
from polhode.problems import PROBLEMS
from polhode.registry import Registry

PACKAGE = Path(__file__).resolve().parents[1]
REGISTRIES: dict[str, Registry[Any]] = {"methods": METHODS, "problems": PROBLEMS}
#: With fewer compilations than this a separate process is not worthwhile, since it has to import the package first.
SHARE = 4


def compile_all(
    methods: Sequence[str] | None = None,
    *,
    systems: bool = False,
    problems: bool = True,
    forms: Sequence[str] = (),
    processes: int | None = None,
    seconds: float | None = None,
) -> list[str]:
    """Compile the drivers of methods and the torques of all problems, so that no run has to wait for them.

    Parameters
    ----------
    methods : keys, optional
        All by default, including the user's own.
    systems : bool
        Whether the drivers for several bodies are needed too.
    problems : bool
        Whether the torques of the registered problems are compiled.
    forms : names of functions, ``module:function``
        Functions that make one method from another; the methods they make are compiled too, for the cache on disk. They raise
        ValueError for a method of which there is no such form.
    processes : int, optional
        Number of processes that share the work; by default one for each processor available to this process. If there is no
        folder for compiled code (:func:`polhode.compiling.cache.folder`), everything is compiled in this process.
    seconds : float, optional
        Time limit, s; by default none. When it is over, compilations in other processes are ended and no further one is
        begun. Methods are compiled in the order in which they are given.

    Returns
    -------
    list of str
        Keys of the methods that are not compiled because the time was over.

    Raises
    ------
    TypeError, ValueError
        If ``processes`` is not a positive integer or ``seconds`` no number from 0, if ``systems`` or ``problems`` is not True
        or False, or if ``methods`` is a single key instead of a list of keys.
    KeyError
        If a key is not registered.
    Exception
        The compiler's error for a method or a torque that does not compile.
    """
    if processes is not None:
        processes = whole("processes", processes, least=1)
    if isinstance(methods, str):
        raise TypeError(f"methods must be a list of keys, got {shown(methods)}; write [{shown(methods)}]")
    if methods is not None and not (is_ordered(methods) and all(isinstance(key, str) for key in methods)):
        raise TypeError(f"methods must be a list of keys, got {shown(methods)}")
    flag("systems", systems)
    flag("problems", problems)
    end = inf if seconds is None else monotonic() + number("seconds", seconds, least=0.0)
    keys = list(METHODS) if methods is None else list(methods)
    if unknown := [str(key) for key in keys if key not in METHODS]:
        raise KeyError(f"methods: unknown method {shown(unknown[0])}; {METHODS.nearest(unknown[0])}")
    wanted = [("methods", key, form, systems and not form) for key in keys for form in ("", *forms)]
    wanted += [("problems", key, "", False) for key in PROBLEMS if problems]
    wanted = [names for names in wanted if _Item(*names).exists()]
    missing = [names for names in wanted if not _Item(*names).is_kept()]
    # The forms of a method go to one process, which compiles the kernels that they share once.
    together = [list(items) for _, items in groupby(missing, lambda names: names[:2])]
    on_disk = cache.folder() is not None and not config.DISABLE_JIT
    shares = min(processes or processors_here(), len(missing) // SHARE, len(together)) if on_disk else 1
    if shares > 1:
        plugins = [(name, str(path)) for name, registry in REGISTRIES.items() for path in registry.plugins().values()]
        tasks = ({"plugins": plugins, "wanted": list(chain.from_iterable(together[share::shares]))} for share in range(shares))
        # If one fails, its share is left to this process, which then reports the error.
        workers = [worker_of(__name__, task, subprocess.DEVNULL, subprocess.DEVNULL) for task in tasks]
        for worker in workers:
            try:
                worker.wait(None if seconds is None else max(0.0, end - monotonic()))
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
    late: list[str] = []
    for names in wanted:
        item = _Item(*names)
        if monotonic() > end and not item.is_kept():
            late += [item.key] if item.kind == "methods" else []
        # A form is made again by each of its users; here only its code on disk matters.
        elif not (item.form and item.is_kept()):
            item.compile()
    return list(dict.fromkeys(late))


def work() -> None:
    """The task of a worker: compile the items named on its standard input.

    The input is a JSON object: ``plugins``, registry and path of each to load, and ``wanted``, of each item the registry, the
    key, the form ("" for none) and whether the driver of several bodies is needed.
    """
    task = json.load(sys.stdin)
    for name, path in task["plugins"]:
        REGISTRIES[name].load(path)
    for names in task["wanted"]:
        _Item(*names).compile()


def worker_of(module: str, task: dict[str, Any], stdout: int, stderr: int | IO[bytes]) -> subprocess.Popen[str]:
    """A process that runs the function ``work`` of a module with a task, which it reads from its standard input.

    ``task``: an object for JSON; ``stdout`` and ``stderr``: where its output goes, as :class:`subprocess.Popen` takes them.
    """
    paths = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    worker = subprocess.Popen(
        [sys.executable, "-c", f"from {module} import work; work()"],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=stderr,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    assert worker.stdin is not None
    with suppress(BrokenPipeError), worker.stdin:
        worker.stdin.write(json.dumps(task))
    return worker


def processors_here() -> int:
    """The number of processors available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class _Item:
    """One method, or a form of it, or one problem; ``systems`` asks for the driver of several bodies too."""

    kind: str
    key: str
    form: str
    systems: bool

    def _object(self) -> Any:
        registered = REGISTRIES[self.kind][self.key]
        if not self.form:
            return registered
        module, _, name = self.form.partition(":")
        return getattr(import_module(module), name)(registered)

    def exists(self) -> bool:
        """Whether there is such a form of the method."""
        try:
            return not self.form or self._object() is not None
        except ValueError:
            return False

    def _arguments(self) -> tuple[bool, ...]:
        return (self.systems,) if self.kind == "methods" else ()

    def is_kept(self) -> bool:
        return bool(self._object().is_kept(*self._arguments()))

    def compile(self) -> None:
        self._object().compile(*self._arguments())
