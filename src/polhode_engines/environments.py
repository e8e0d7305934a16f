"""The environment of each engine: a virtual environment of its own under the cache folder, and the process that runs there.

The dependencies of engines exclude each other and those of polhode, so that each has its own environment,
``engines/KEY`` in the folder of the cache (``POLHODE_CACHE_DIR``). Engines from Debian packages run under the Python of the
system, engines of the web under node, with the packages that npm has put into their folder.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache as remembered
from pathlib import Path
from typing import Any

import numpy as np

from polhode.compiling import cache
from polhode_engines.protocol import Engine

WORKER = Path(__file__).parent / "worker.py"
WEB_WORKER = WORKER.with_suffix(".mjs")
#: The oldest node that runs it, and how to get one.
NODE = 18
GET_NODE = f"install Node.js {NODE} or newer with npm (on Debian: apt-get install nodejs npm)"
#: The Python of the system, which has the modules of Debian packages.
SYSTEM = Path("/usr/bin/python3")
#: Seconds that one run, and the installation of an engine, may take.
RUN_LIMIT, INSTALL_LIMIT = 600.0, 1800.0
#: How much of what a failed process said is shown.
TAIL = 400


class EngineError(RuntimeError):
    """An engine cannot be installed or started; the message says why and what to do."""


class NotInReleaseError(EngineError):
    """The installed release of an engine lacks an option; the message says which release, and what it has instead."""


def place(engine: Engine) -> Path:
    """The folder of the environment of an engine, whether it exists or not.

    Raises
    ------
    EngineError
        If the cache is switched off or its folder cannot be used.
    """
    folder = cache.folder()
    if folder is None:
        raise EngineError("engines are installed below the cache folder, and there is none: set POLHODE_CACHE_DIR to a folder")
    return folder / "engines" / engine.key


def python_of(engine: Engine) -> Path:
    """The path of the Python that runs the engine, whether it exists or not.

    An adapter of one's own that needs nothing else runs under the Python of polhode, or under the Python that it declares.

    Raises
    ------
    EngineError
        If the engine has an environment of its own and the cache is switched off or its folder cannot be used.
    """
    if engine.is_own and not (engine.requirements or engine.debian):
        return engine.path.parent / engine.python if engine.python else Path(sys.executable)
    return SYSTEM if engine.debian else place(engine) / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


@remembered
def node_version(node: str) -> int:
    """The first number of the version of the program ``node``; 0 if it does not run or says none."""
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 0
    number = re.match(r"v(\d+)\.", said)
    return int(number[1]) if number else 0


def node() -> str:
    """The path of node, the program that runs engines of the web.

    Raises
    ------
    EngineError
        If there is none, or it is too old.
    """
    program = shutil.which("node")
    if program is None:
        raise EngineError(f"engines of the web run in node, and there is none: {GET_NODE}")
    if (version := node_version(program)) < NODE:
        raise EngineError(f"engines of the web run in node {NODE} or newer, and {program} is {version}: {GET_NODE}")
    return program


def packages_of(engine: Engine) -> Path:
    """The folder in which npm has installed an engine of the web; without packages the folder of its adapter.

    Raises
    ------
    EngineError
        If it has packages, and the cache is switched off or its folder cannot be used.
    """
    return place(engine) if engine.npm else engine.path.parent


def command_of(engine: Engine, folder: Path, python: Path | None = None) -> list[str]:
    """The command, word by word, that runs the worker of an engine on a folder with a request.

    ``python`` is the Python to use, by default the Python of the engine's environment.

    Raises
    ------
    EngineError
        For an engine of the web without node, and if the folder of the cache cannot be used.
    """
    if engine.is_web:
        return [node(), str(WEB_WORKER), str(engine.path), str(folder), str(packages_of(engine))]
    return [str(python or python_of(engine)), "-I", "-B", str(WORKER), str(engine.path), str(folder)]


def environment_of(engine: Engine) -> dict[str, str]:
    """The environment variables, name -> value, of the process of an engine.

    They have nothing of this Python or of node, allow one thread and name the libraries that the engine needs.

    Raises
    ------
    EngineError
        If the engine needs libraries of its environment, and the cache is switched off or its folder cannot be used.
    """
    others = ("PYTHON", "VIRTUAL_ENV", "SNAKEMAKE", "NODE_")
    variables = {name: value for name, value in os.environ.items() if not name.startswith(others)}
    variables |= {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    if engine.libraries:
        folders = [str(place(engine) / name) for name in engine.libraries]
        variables["LD_LIBRARY_PATH"] = os.pathsep.join([*folders, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])
    return variables


def how_to_install(engine: Engine) -> str:
    """The command that installs an engine, or in words what is missing before one can."""
    if engine.is_web:
        try:
            node()
        except EngineError as error:
            return str(error)
        return f"polhode atlas {engine.path if engine.is_own else engine.key} --install"
    if engine.is_own and not (engine.requirements or engine.debian):
        modules = " and ".join(dict.fromkeys(["numpy", engine.module]))
        return f"{python_of(engine)} cannot import {modules}: see python, module and paths in its YAML file"
    return f"apt-get install {' '.join(engine.debian)}" if engine.debian else f"polhode atlas {engine.key} --install"


def is_installed(engine: Engine) -> bool:
    """Whether the Python of the engine has numpy and the engine, in the pinned version if it has one; nothing is imported.

    An engine of the web is installed if there is a node that can run it and its packages have the pinned versions.
    """
    if engine.is_web:
        return _is_installed_for_node(engine)
    try:
        python = python_of(engine)
    except EngineError:
        return False
    if not python.exists():
        return False
    code = (
        "import sys, json, glob, importlib.util as u, importlib.metadata as m\n"
        "module, pins, paths = json.loads(sys.argv[1])\n"
        "sys.path += [place for pattern in paths for place in glob.glob(pattern)]\n"
        "here = all(u.find_spec(name) is not None for name in (module.partition('.')[0], 'numpy'))\n"
        "try: here = here and all(m.version(name) == pin for name, pin in pins.items())\n"
        "except m.PackageNotFoundError: here = False\n"
        "sys.exit(0 if here else 3)"
    )
    try:
        answer = subprocess.run(
            [python, "-I", "-c", code, json.dumps([engine.module, engine.pins, engine.paths])],
            capture_output=True,
            timeout=120,
            check=False,
            env=environment_of(engine),
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def _is_installed_for_node(engine: Engine) -> bool:
    try:
        node()
        folder = packages_of(engine) / "node_modules"
        return all(
            json.loads((folder / name / "package.json").read_text(encoding="utf-8"))["version"] == pin
            for name, pin in engine.pins.items()
        )
    except (EngineError, OSError, ValueError, KeyError):
        return False


def install(engine: Engine) -> None:
    """Make the environment of an engine, with uv if that is installed, otherwise with pip; engines of the web with npm.

    Raises
    ------
    EngineError
        For an engine from Debian packages, which only the administrator of the machine installs, for one of the web without
        node and npm, if the cache is switched off, and if the installer fails or takes longer than :data:`INSTALL_LIMIT`.
    """
    if engine.debian:
        raise EngineError(f"{engine.label} comes with Debian; as administrator: {how_to_install(engine)}")
    folder, uv = place(engine), shutil.which("uv")
    wanted = list(engine.npm) or ["numpy", *engine.requirements]
    if engine.is_web:
        node()
        npm = shutil.which("npm")
        if npm is None:
            raise EngineError(f"{engine.label} is installed with npm, and there is none: {GET_NODE}")
        shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "package.json").write_text('{"private": true}\n')
        except OSError as error:
            raise EngineError(f"{engine.label} could not be installed: {error}") from None
        quiet = ("--save-exact", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        make, fill = [], [npm, "install", "--prefix", str(folder), *quiet, *wanted]
    elif uv:
        make = [uv, "venv", "--quiet", "--clear", "--python", engine.python_version or sys.executable, str(folder)]
        fill = [uv, "pip", "install", "--quiet", "--python", str(python_of(engine)), *wanted]
    else:
        make = [_interpreter(engine), "-m", "venv", "--clear", str(folder)]
        fill = [str(python_of(engine)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]
    for command in filter(None, (make, fill)):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_LIMIT, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise EngineError(f"{engine.label} could not be installed: {error}") from None
        if done.returncode:
            said = end_of((done.stderr or done.stdout).strip())
            raise EngineError(f"{engine.label} could not be installed ({' '.join(wanted)}): {said}")


def _interpreter(engine: Engine) -> str:
    """The Python that makes the environment of an engine.

    Raises
    ------
    EngineError
        If the engine needs another version than polhode has, and there is none.
    """
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    if engine.python_version in ("", running):
        return sys.executable
    name = f"python{engine.python_version}"
    # A shim of pyenv is there for every version that pyenv has, and runs the one that this variable names.
    variables = os.environ | {"PYENV_VERSION": engine.python_version}
    with suppress(OSError, subprocess.SubprocessError):
        command = [shutil.which(name) or name, "-c", "import sys; print(sys.executable)"]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=variables).stdout.strip()
    raise EngineError(f"{engine.label} needs Python {engine.python_version}: install it as {name}, or uv")


def end_of(text: str) -> str:
    """What a process said, on one line: "..." in place of each address (a word with ``://``), and the end of a long text alone.

    Of more than :data:`TAIL` characters it is "... " and the last :data:`TAIL`.
    """
    line = " ".join(re.sub(r"\S+://\S+", "...", text).split())
    return line if len(line) <= TAIL else f"... {line[-TAIL:]}"


@dataclass(frozen=True)
class Run:
    """One run of one body.

    Parameters
    ----------
    load : "free", "constant", "lab" or "velocity"
    value : the torque in N m, in the body or the lab frame, or the coefficient c of the torque -c omega, N m s
    inertia : principal moments, kg m^2
    q0, omega0 : the start: orientation, body to lab, scalar first, and angular velocity in the body frame, rad/s
    dt : step, s
    samples : numbers of the steps after which it is read, ascending
    steps : the steps from each sample to the next, s, where they are not equal
    """

    load: str
    value: tuple[float, ...]
    inertia: tuple[float, float, float]
    q0: tuple[float, float, float, float]
    omega0: tuple[float, float, float]
    dt: float
    samples: tuple[int, ...]
    steps: tuple[float, ...] = ()


@dataclass(frozen=True)
class Spun:
    """What an engine returned: q (samples, 4), omega (samples, 3), or the reason why there is nothing.

    q is body to lab, scalar first, omega in the body frame, rad/s; both are NaN if there is an ``error``. ``is_single`` says
    whether all numbers were of single precision, where the worker has looked.
    """

    q: np.ndarray
    omega: np.ndarray
    error: str = ""
    is_single: bool | None = None


def spin(
    engine: Engine,
    option: str,
    runs: Sequence[Run],
    progress: Callable[[], object] = lambda: None,
    limit: float = RUN_LIMIT,
    python: Path | None = None,
    function: str = "run",
) -> tuple[str, list[Spun]]:
    """Run an engine in a process of its own.

    A run that fails, takes longer than ``limit`` seconds or takes the process down is recorded as such; the others go on.

    Parameters
    ----------
    option : a key of the engine's options
    progress : called after each run
    limit : seconds that one run may take
    python : the Python to use, by default that of the engine's environment
    function : function of the adapter; ``shipped`` leaves on what the engine has on by default

    Returns
    -------
    The version of the engine (empty if it cannot be started), and a result for each run.

    Raises
    ------
    NotInReleaseError
        If the installed release lacks the option.
    """
    requests = [_as_json(run) for run in runs]
    version, outcomes = answers(engine, function, option, requests, progress, limit, python)
    spun = []
    for run, outcome in zip(runs, outcomes, strict=True):
        if isinstance(outcome, str):
            spun.append(Spun(np.full((len(run.samples), 4), np.nan), np.full((len(run.samples), 3), np.nan), outcome))
        else:
            single = outcome.get("isSingle")
            spun.append(Spun(outcome["q"], outcome["omega"], is_single=None if single is None else bool(single)))
    return version, spun


def answers(
    engine: Engine,
    function: str,
    option: str,
    runs: Sequence[Mapping[str, Any]],
    progress: Callable[[], object] = lambda: None,
    limit: float = RUN_LIMIT,
    python: Path | None = None,
) -> tuple[str, list[dict[str, np.ndarray] | str]]:
    """The version of an engine, and what a function of its adapter returns for each run.

    That is name -> array, or a text that says why there is nothing; for the other arguments see :func:`spin`.

    Parameters
    ----------
    function : name of the function: ``run``, ``shipped``, ``collide`` or ``flow``
    runs : the fields of each run by name, as JSON can hold them, among them ``samples``

    Raises
    ------
    NotInReleaseError
        If the installed release lacks the option.
    """
    with tempfile.TemporaryDirectory(prefix="polhode-atlas-") as name:
        folder = Path(name)
        paths = (*engine.paths, *([str(engine.path.parent)] if engine.is_own else []))
        request = {"function": function, "option": option, "paths": paths, "runs": runs}
        (folder / "request.json").write_text(json.dumps(request))
        while True:
            failure, at = _process(engine, folder, python, progress, limit)
            if lacking := _text(folder / "lacking.txt"):
                raise NotInReleaseError(lacking)
            if not failure:
                break
            if at is None:
                return _text(folder / "version.txt"), [failure for _ in runs]
            (folder / f"{at}.txt").write_text(failure)
            progress()
        return _text(folder / "version.txt"), [_recorded(folder, number) for number in range(len(runs))]


def _process(
    engine: Engine, folder: Path, python: Path | None, progress: Callable[[], object], limit: float
) -> tuple[str, int | None]:
    """One process until its end: what went wrong (empty: nothing), and in which run."""
    at: int | None = None
    try:
        command = command_of(engine, folder, python)
    except EngineError as error:
        return str(error), None
    with open(folder / "stderr", "wb") as errors:
        try:
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=None if engine.is_own else folder,
                env=environment_of(engine),
            )
        except OSError as error:
            return f"{command[0]} cannot be started: {error.strerror or error}", None
        late = False

        def stop() -> None:
            nonlocal late
            late = True
            process.kill()

        watch = threading.Timer(limit, stop)
        watch.daemon = True
        watch.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                watch.cancel()
                watch = threading.Timer(limit, stop)
                watch.daemon = True
                watch.start()
                word, _, number = line.strip().partition(" ")
                if word == "started":
                    at = int(number)
                elif word == "done":
                    at = None
                    progress()
            status = process.wait()
        finally:
            watch.cancel()
            process.kill()
            process.wait()
    if status == 0:
        return "", None
    said = end_of((folder / "stderr").read_text(errors="replace"))
    if late:
        return f"stopped after {limit:g} s", at
    how = f"crashed ({signal.Signals(-status).name})" if status < 0 else f"ended with status {status}"
    return f"{how}: {said}" if said else how, at


def _as_json(run: Run) -> Mapping[str, Any]:
    return {name: getattr(run, name) for name in ("load", "value", "inertia", "q0", "omega0", "dt", "samples")}


def _text(path: Path) -> str:
    return path.read_text().strip() if path.is_file() else ""


def _recorded(folder: Path, number: int) -> dict[str, np.ndarray] | str:
    path = folder / f"{number}.npz"
    if (written := folder / f"{number}.json").is_file():
        # What is not finite is null there.
        return {name: np.array(values, dtype=float) for name, values in json.loads(written.read_text()).items()}
    if not path.is_file():
        return _text(folder / f"{number}.txt") or "the process ended before this run"
    with np.load(path) as data:
        return dict(data)
