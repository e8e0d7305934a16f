"""The user's own methods, tried before anything rests on them: imported, compiled and run for a few steps in a process apart.

A file that calls ``sys.exit``, never ends its import, does not compile, raises in a kernel or never returns from one is then
one message at the start, which names the file and its line, and not a job that hangs. Only another process can be ended when it
does not return: compiled code does not look at signals.

What compiles there is kept on disk (:mod:`polhode.cache`) for the jobs.
"""

import ast
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import FunctionType
from typing import IO, Any

import numba
import numpy as np
from numba import types
from numba.core import config

from polhode.compilation import PACKAGE
from polhode.kernel import float_type, inertia_type, parameters_type, quaternion_type, torque_type, vector_type
from polhode.methods.protocol import Method, OneTorque
from polhode.registry import catalogue, place_in

#: How long a plug-in may take to import, and for its first steps, s.
PATIENCE = 60.0
#: How many times as long the process may take to start, on whatever disk the packages lie, and a method to compile.
LENIENCE = {"start": 15.0, "compile": 10.0}
#: The problem whose first steps are tried: a body with three moments, a torque that depends on the orientation.
PROBLEM, DT, STEPS = "asymmetric_heavy_top", 1e-3, 16
SAMPLES = np.array([0, 1, STEPS])
#: What is said of a plug-in that does not come back.
HANGS = {
    "start": "the process that tries the plug-ins does not start within {0:g} s",
    "import": "plug-in {1} does not end its import within {0:g} s; look for an endless loop outside its functions",
    "compile": "plug-in {1} does not compile within {0:g} s; look for kernels that call each other",
    "run": f"plug-in {{1}} does not return from its first {STEPS} steps within {{0:g}} s; look for an endless loop in a kernel",
}


class PluginError(ValueError):
    """A plug-in that cannot serve; the message names the file and, where there is one, its line."""


def try_out(paths: Sequence[str | Path], patience: float = PATIENCE) -> list[str]:
    """Import, compile and run the methods of these files for a few steps, in a process of their own.

    Parameters
    ----------
    paths : the files
    patience : how long the import may take, and the first steps, s

    Returns
    -------
    What the user should know of those that can serve.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    PluginError
        If a plug-in cannot serve.
    """
    files = [Path(path).resolve() for path in paths]
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"plug-in {file} does not exist")
    remarks: list[str] = []
    done = 0
    with tempfile.TemporaryFile() as printed:
        worker = _worker(files, printed)
        try:
            stage, lines = "start", _lines(worker)
            while done < len(files):
                limit = patience * LENIENCE.get(stage, 1.0)
                try:
                    said = lines.get(timeout=limit)
                except queue.Empty:
                    raise PluginError(HANGS[stage].format(limit, files[done])) from None
                if said is None:
                    raise PluginError(_ended(files[done], stage, worker.wait(), printed))
                if "error" in said:
                    raise PluginError(said["error"])
                stage = said.get("stage", stage)
                remarks += said.get("remarks", [])
                done += bool(said.get("done"))
        finally:
            worker.kill()
            worker.wait()
    return remarks


def _worker(files: Sequence[Path], printed: IO[bytes]) -> subprocess.Popen[str]:
    """A process that does :func:`work`; what it prints besides goes to the file ``printed``."""
    paths = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    worker = subprocess.Popen(
        [sys.executable, "-c", "from polhode.study.plugins import work; work()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=printed,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )
    assert worker.stdin is not None
    with suppress(BrokenPipeError), worker.stdin:
        worker.stdin.write(json.dumps([str(file) for file in files]))
    return worker


def _lines(worker: subprocess.Popen[str]) -> "queue.Queue[dict[str, Any] | None]":
    """What the process says, as it comes; None at its end."""
    said: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def read() -> None:
        assert worker.stdout is not None
        for line in worker.stdout:
            said.put(json.loads(line))
        said.put(None)

    threading.Thread(target=read, daemon=True).start()
    return said


def _ended(file: Path, stage: str, status: int, printed: IO[bytes]) -> str:
    """What to say of a process that has ended without a word."""
    how = f"with status {status}" if status >= 0 else f"by signal {-status}"
    if stage != "start":
        return f"plug-in {file} ends the process ({stage}, {how}); take out what ends Python"
    printed.seek(0)
    last = printed.read().decode(errors="replace").strip().splitlines()[-1:]
    return f"the process that tries the plug-ins ended {how}: {' '.join(last) or 'it said nothing'}"


def work() -> None:
    """What that process does: the stages one by one, each said before it begins, for the files named on standard input."""
    files = [Path(path) for path in json.load(sys.stdin)]
    # What a plug-in prints must not stand between.
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(**what: Any) -> None:
        print(json.dumps(what), file=channel, flush=True)

    for file in files:
        try:
            say(stage="import")
            method = catalogue("polhode.methods").load(file)
            say(stage="compile")
            compile_plugin(method, file)
            say(stage="run")
            say(remarks=run_plugin(method, file), done=True)
        except (FileNotFoundError, TypeError, ValueError) as error:
            say(error=str(error))
            return


def compile_plugin(method: Method, file: Path) -> None:
    """Compile the method of the plug-in ``file``, or say which of its lines is to blame (:class:`PluginError`)."""
    catalogue("polhode.problems")[PROBLEM].compile()
    try:
        method.compile()
    except Exception as error:
        raise PluginError(f"plug-in {file} does not compile: {why(method, file, error)}") from error


def run_plugin(method: Method, file: Path) -> list[str]:
    """Take the first steps with the method of the plug-in ``file``; returns what the user should know of them.

    Raises
    ------
    PluginError
        If a kernel raises.
    """
    try:
        finite = _first_steps(method)
    except Exception as error:
        error = _afresh(method) or error
        said = f"{type(error).__name__}: {error}; a kernel must not raise"
        raise PluginError(f"plug-in {place_in(file, error)} fails in its first steps: {said}") from error
    remarks = []
    same = [other.key for other in catalogue("polhode.methods").values() if other.label == method.label and other is not method]
    if same:
        remarks.append(f"plug-in {file}: {method.key!r} has the label of {same[0]!r}, {method.label!r}; choose another")
    if not finite.all():
        remarks.append(
            f"plug-in {file}: {method.key!r} gives no finite numbers at step {SAMPLES[~finite][0]} of {PROBLEM} with "
            f"dt = {DT:g} s; runs that do so are recorded as diverged"
        )
    return remarks


def _first_steps(method: Method) -> Any:
    """Whether all numbers are finite at each of :data:`SAMPLES`."""
    problem = catalogue("polhode.problems")[PROBLEM]
    body, torque, parameters = problem.body.coefficients(), problem.compiled_torque, problem.parameter_array
    q, omega, stored, _ = method.integrate(problem.q0, problem.omega0, body, torque, parameters, DT, SAMPLES)
    return np.isfinite(np.hstack([q, omega, stored])).all(axis=1)


def _afresh(method: Method) -> Exception | None:
    """The error of the same steps from code compiled now: what the disk keeps may name a file moved or edited since."""
    place = os.environ.get("POLHODE_CACHE_DIR")
    os.environ["POLHODE_CACHE_DIR"] = ""
    method._drivers.clear()
    try:
        _first_steps(method)
    except Exception as error:
        return error
    finally:
        method._drivers.clear()
        if place is None:
            del os.environ["POLHODE_CACHE_DIR"]
        else:
            os.environ["POLHODE_CACHE_DIR"] = place
    return None


# What the compiler says, in terms of the plug-in


def why(method: Method, file: Path, error: Exception) -> str:
    """Why a method does not compile: the reason, and line and text of the file it lies in.

    The compiler quotes every function it came through, ours among them. Where no line of the file is to blame, the kernels do
    not fit each other; which of them does not is found by compiling one after the other.
    """
    return _located(file, error) or _misfit(method, file) or _reason(error)


def _reason(error: Exception) -> str:
    """What the compiler says first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("Failed in", "During"))]
    first = (told or lines or [type(error).__name__])[0]
    plain = re.match(r"Untyped \w+ name '(\w+)'.*<class 'function'>", first)
    if plain:
        return f"{plain[1]} is a plain function; write @kernel before it"
    call = next((line for line in told if line.startswith(">>> ")), "")
    return f"{first.partition(' Raised from ')[0].rstrip(':. ')}{f': {call[4:]}' if call else ''}"


def _located(file: Path, error: Exception) -> str:
    """The reason with the innermost line of ``file`` that the compiler or the traceback names; empty where there is none."""
    number = 0
    for name, line in re.findall(r'(?:File "|at |Raised from )([^"\n]+?)"?(?:, line | \()(\d+)', str(error)):
        with suppress(OSError):
            if (Path.cwd() / name).resolve() == file:
                number = int(line)
                break
    reason = _reason(error)
    unknown = re.search(r"name '(\w+)' is not defined", reason)
    if number and unknown:
        # Of an unknown name the compiler gives the line of the call.
        number = _first_use(file, unknown[1]) or number
    return f"line {number}, {_source(file, number)!r}: {reason}" if number else ""


def _first_use(file: Path, name: str) -> int:
    """The first line in a function of the file that uses this name; 0 if none does."""
    functions = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)]
    inside = (node for function in functions for part in function.body for node in ast.walk(part))
    return min((node.lineno for node in inside if isinstance(node, ast.Name) and node.id == name), default=0)


def _source(file: Path, number: int) -> str:
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _misfit(method: Method, file: Path) -> str:
    """Which kernel of the method does not fit the others; empty where all do."""
    try:
        for remark in _contract(method, file):
            if remark:
                return remark
    except Exception as error:
        return _located(file, error)
    return ""


def _contract(method: Method, file: Path) -> Iterator[str]:
    """What each kernel gives for what it is handed, held against what is wanted; a remark where they differ."""
    for name in method._kernels():
        function = getattr(method, name)
        if isinstance(function, FunctionType) and not config.DISABLE_JIT:
            yield f"{_place(function, file)}: {name} is a plain function; write @kernel before it"

    def given(name: str, *arguments: Any) -> Any:
        compiled = numba.njit(error_model="numpy")(getattr(method, name).py_func)
        compiled.compile(arguments)
        return compiled.overloads[arguments].signature.return_type

    def unlike(name: str, found: Any, wanted: Any, meaning: str) -> str:
        if found == wanted:
            return ""
        place = _place(getattr(method, name).py_func, file)
        return f"{place}: {name} returns {_in_words(found)}, where {_in_words(wanted)} are wanted: {meaning}"

    both = types.Tuple([quaternion_type, vector_type])
    if isinstance(method, OneTorque):
        state = given("start", quaternion_type, vector_type, vector_type, inertia_type, float_type)
        half = given("before_torque", state, inertia_type, float_type)
        whole = types.Tuple([state, quaternion_type, vector_type])
        yield unlike("before_torque", half, whole, "the state as start gives it, q and omega")
        after = given("after_torque", state, vector_type, inertia_type, float_type)
        yield unlike("after_torque", after, state, "the state as start gives it; it keeps its length, all floats")
    else:
        state = given("start", quaternion_type, vector_type, inertia_type)
        after = given("step", state, float_type, float_type, inertia_type, torque_type, parameters_type)
        yield unlike("step", after, state, "the state as start gives it; it keeps its length, all floats")
    yield unlike("read", given("read", state, vector_type, inertia_type, float_type), both, "q and omega")
    yield unlike("stored", given("stored", state, inertia_type, float_type), vector_type, "omega")


def _place(function: FunctionType, file: Path) -> str:
    code = function.__code__
    return f"line {code.co_firstlineno}" if code.co_filename == str(file) else f"{code.co_filename}, line {code.co_firstlineno}"


def _in_words(found: Any) -> str:
    """A type of the compiler as one says it."""
    if not isinstance(found, types.BaseTuple):
        return str(found)
    parts = list(found.types)
    if any(isinstance(part, types.BaseTuple) for part in parts):
        return f"({', '.join(map(_in_words, parts))})"
    kinds = list(dict.fromkeys("float" if part == float_type else str(part) for part in parts))
    return f"{len(parts)} {kinds[0]}s" if len(kinds) == 1 else f"{len(parts)} numbers ({', '.join(kinds)})"
