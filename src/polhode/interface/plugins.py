"""Trial of the user's own methods, problems and scenes before a study relies on them: a few steps in a separate process.

A file that calls ``sys.exit``, never finishes its import, does not compile, raises in a kernel or never returns from one then
gives one message at the start, with the file and its line, instead of a job that hangs. A separate process is needed because
compiled code ignores signals: only another process can be ended if it does not return.

Code compiled there is kept on disk (:mod:`polhode.compiling.cache`) for the jobs.
"""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FunctionType
from typing import IO, Any

import numba
import numpy as np
import xarray as xr
from numba import types
from numba.core import config

from polhode.compiling.in_advance import worker_of
from polhode.compiling.kernel import float_type, inertia_type, parameters_type, quaternion_type, torque_type, vector_type
from polhode.compiling.trials import TrialError, line_of, reason_of, source_line
from polhode.interface.arguments import regular_file
from polhode.manybody.clump import Clump
from polhode.manybody.engine import driver
from polhode.manybody.fluid import Fluid
from polhode.manybody.forces import FORCES
from polhode.manybody.law import ForceLaw
from polhode.manybody.material import Material
from polhode.manybody.placement import BoxTooFull, State
from polhode.manybody.scene import Scene
from polhode.manybody.scenes import SCENES
from polhode.manybody.simulation import compiled_parts
from polhode.manybody.simulation import simulate as simulate_many
from polhode.methods import METHODS
from polhode.methods.protocol import Method, OneTorque
from polhode.problems import PROBLEMS, single_body
from polhode.problems.problem import Problem
from polhode.problems.system import System
from polhode.registry import Registry, load_file, place_in
from polhode.simulate import simulate

#: Time limit for the import of a plug-in, and for its first steps, s.
PATIENCE = 60.0
#: Factors by which the limit is extended: for starting the process, wherever its packages are stored, for compiling a method,
#: and for the reference.
LENIENCE = {"start": 15.0, "compile": 10.0, "reference": 2.0}
#: The registries to which a plug-in may contribute.
REGISTRIES: tuple[Registry[Any], ...] = (METHODS, PROBLEMS, SCENES, FORCES)
#: The problem for a method's first steps: a body with three different moments, and a torque that depends on the orientation.
PROBLEM, DT, STEPS = "asymmetric_heavy_top", 1e-3, 16
#: The method for the first steps of a problem or a scene; it runs all of them.
METHOD = "spiral_leapfrog"
#: The fraction of its horizon over which a problem is tried, and the digits of the power series.
FRACTION, DIGITS = 1e-3, 20
SAMPLES = np.array([0, 1, STEPS])
#: Messages for a plug-in that does not return.
HANGS = {
    "start": "the process that tries the plug-ins does not start within {0:g} s",
    "import": "plug-in {1} does not end its import within {0:g} s; look for an endless loop outside its functions",
    "try": "the torque of plug-in {1} does not return within {0:g} s; look for an endless loop",
    "compile": "plug-in {1} does not compile within {0:g} s; look for kernels that call each other",
    "reference": "the torque of plug-in {1} does not return within {0:g} s from power series; look for an endless loop",
    "run": f"plug-in {{1}} does not return from its first {STEPS} steps within {{0:g}} s; look for an endless loop in a kernel",
}


class PluginError(ValueError):
    """Error for a plug-in that cannot be used; the message names the file and, if known, its line."""


def try_out(paths: Sequence[str | Path], patience: float = PATIENCE, references: bool = True) -> list[str]:
    """Import, compile and run the definitions of these files for a few steps, in a separate process.

    Parameters
    ----------
    paths : the files
    patience : time limit for the import, and for the first steps, s
    references : whether problems must also run on power series, on which the reference of a study rests

    Returns
    -------
    Remarks for the user on plug-ins that can be used.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, or it is no regular one.
    PluginError
        If a plug-in cannot be used, or does not return in time.
    """
    files = [regular_file("plug-in", Path(path).absolute()).resolve() for path in paths]
    remarks: list[str] = []
    done = 0
    with tempfile.TemporaryFile() as printed:
        task = {"files": list(map(str, files)), "references": references}
        worker = worker_of(__name__, task, subprocess.PIPE, printed)  # what a plug-in prints goes to the file
        try:
            stage, lines = "start", _lines(worker)
            while done < len(files):
                limit = patience * LENIENCE.get(stage, 1.0)
                try:
                    message = lines.get(timeout=limit)
                except queue.Empty:
                    raise PluginError(HANGS[stage].format(limit, files[done])) from None
                if message is None:
                    raise PluginError(_ended(files[done], stage, worker.wait(), printed))
                if "error" in message:
                    raise PluginError(message["error"])
                stage = message.get("stage", stage)
                remarks += message.get("remarks", [])
                done += bool(message.get("done"))
        finally:
            worker.kill()
            worker.wait()
    return remarks


def _lines(worker: subprocess.Popen[str]) -> "queue.Queue[dict[str, Any] | None]":
    """The messages of the process as they arrive; None at its end."""
    messages: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def read() -> None:
        assert worker.stdout is not None
        for line in worker.stdout:
            messages.put(json.loads(line))
        messages.put(None)

    threading.Thread(target=read, daemon=True).start()
    return messages


def _ended(file: Path, stage: str, status: int, printed: IO[bytes]) -> str:
    """The message for a process that has ended without one."""
    how = f"with status {status}" if status >= 0 else f"by signal {-status}"
    if stage != "start":
        return f"plug-in {file} ends the process ({stage}, {how}); take out what ends Python"
    printed.seek(0)
    last = printed.read().decode(errors="replace").strip().splitlines()[-1:]
    return f"the process that tries the plug-ins ended {how}: {' '.join(last) or 'it said nothing'}"


def work() -> None:
    """Try the plug-ins named on standard input, in that process.

    The input is ``{"files": paths, "references": bool}`` as JSON. Each line of the output is an object of JSON: a ``stage``,
    before it begins, ``remarks``, ``done`` after each file, or an ``error``, after which it ends.
    """
    task = json.load(sys.stdin)
    # Output printed by a plug-in must not mix with the messages.
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(**what: Any) -> None:
        print(json.dumps(what), file=channel, flush=True)

    for file in map(Path, task["files"]):
        try:
            say(stage="import")
            for item in load(file):
                if isinstance(item, Problem | System):
                    say(stage="try")
                    try_plugin(item, file)
                say(stage="compile")
                compile_plugin(item, file)
                say(stage="run")
                say(remarks=run_plugin(item, file))
                if isinstance(item, Problem | System) and task["references"]:
                    say(stage="reference")
                    expand_plugin(item, file)
            say(done=True)
        except (FileNotFoundError, TypeError, ValueError) as error:
            say(error=str(error))
            return


def load(file: str | Path) -> list[Any]:
    """The method, problem, scene and law defined in a file, as far as it defines them, each added to its registry.

    Raises
    ------
    FileNotFoundError, TypeError, ValueError
        As :func:`polhode.registry.load_file` does.
    """
    return list(load_file(file, REGISTRIES).values())


def try_plugin(item: Problem | System, file: Path) -> None:
    """Run the torque of a problem, or the loads of a system, in plain Python on a few states.

    Raises
    ------
    PluginError
        If that fails; the message names ``file``, the plug-in, and, if known, the line at fault.
    """
    try:
        item.try_out()
    except TrialError as error:
        raise _unfit(error, file) from error
    except TypeError as error:
        raise PluginError(f"plug-in {file} cannot serve: {error}") from error


def _unfit(error: TrialError, file: Path) -> PluginError:
    place = f"line {error.line}, {source_line(file, error.line)!r}: " if error.line else ""
    return PluginError(f"plug-in {file} cannot serve: {place}{error.reason}")


def compile_plugin(item: Method | Problem | System | Scene | Fluid | ForceLaw, file: Path) -> None:
    """Compile the object defined by the plug-in ``file``; of a scene make the clumps.

    Raises
    ------
    PluginError
        If that fails; the message names the file and, if known, the line at fault.
    """
    single_body(PROBLEM).compile()
    if isinstance(item, Scene | Fluid | ForceLaw):
        driver()  # all scenes and laws share it, and the time limit of the first steps does not allow for it
    try:
        if isinstance(item, Scene | Fluid):
            _ = item.clumps
        elif isinstance(item, ForceLaw):
            method = METHODS[METHOD]
            assert isinstance(method, OneTorque)
            compiled_parts(method, method.normalisation(None), item)
        else:
            item.compile()
    except Exception as error:
        if isinstance(item, Scene | Fluid):
            raise PluginError(f"plug-in {place_in(file, error)} makes no clumps: {_text(error)}") from error
        if isinstance(error, TrialError):
            raise _unfit(error, file) from error
        raise PluginError(f"plug-in {file} does not compile: {why(item, file, error)}") from error


def run_plugin(item: Method | Problem | System | Scene | Fluid | ForceLaw, file: Path) -> list[str]:
    """Run the first steps with the object defined by the plug-in ``file``, which is in its registry.

    Returns
    -------
    Remarks for the user, in sentences: a label that another object has, or numbers that are not finite.

    Raises
    ------
    PluginError
        If an exception is raised, or if a problem or a law gives numbers that are not finite.
    """
    registry = next(registry for registry in REGISTRIES if registry.get(item.key) is item)
    same = [other.key for other in registry.values() if other.label == item.label and other is not item]
    remarks = [f"plug-in {file}: {item.key!r} has the label of {same[0]!r}, {item.label!r}; choose another"] if same else []
    if isinstance(item, Method):
        return remarks + _run_method(item, file)
    if isinstance(item, ForceLaw):
        return remarks + _run_law(item, file)
    return remarks + (_run_scene(item, file) if isinstance(item, Scene | Fluid) else _run_problem(item, file))


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _run_problem(problem: Problem | System, file: Path) -> list[str]:
    """Run the first steps on a problem of one body or of several; returns remarks for the user."""
    try:
        run = _first_motion(problem)
    except Exception as error:
        error = _problem_afresh(problem) or error
        raise PluginError(f"plug-in {place_in(file, error)} fails in the first steps: {_text(error)}") from error
    if "diverged" in run.attrs:
        raise PluginError(
            f"plug-in {file}: the motion of {problem.key!r} has no finite numbers at t = {run.attrs['diverged']:g} s, with "
            f"{METHOD} and dt = {run.attrs['dt']:g} s; see its torque and its initial state"
        )
    if isinstance(problem, Problem):
        _evaluate(problem, run.q.values, run.time.values, file)
    return []


def _first_motion(problem: Problem | System) -> xr.Dataset:
    """The motion over the first part of the horizon."""
    return simulate(problem, METHOD, FRACTION * problem.horizon / STEPS, FRACTION * problem.horizon, STEPS)


def _evaluate(problem: Problem, q: Any, time: Any, file: Path) -> None:
    """Evaluate the other functions that a problem declares at the states of a run: q (n, 4), time (n,) in s."""
    parameters = problem.parameter_array
    wanted: dict[str, Callable[[], Any]] = {}
    if (potential := problem.potential) is not None:
        wanted["potential"] = lambda: potential(tuple(q.T), parameters)
    if (impulse := problem.impulse) is not None:
        wanted["impulse"] = lambda: [np.broadcast_to(x, time.shape) for x in impulse(time, parameters)]
    if (derived := problem.derived) is not None:
        wanted["derived"] = lambda: list(derived(problem).values())
    for name, values in wanted.items():
        try:
            finite = np.isfinite(np.asarray(values(), float)).all()
        except Exception as error:
            raise PluginError(f"plug-in {place_in(file, error)} fails: {name}: {_text(error)}") from error
        if not finite:
            raise PluginError(f"plug-in {file}: {name} gives numbers that are not finite in the first steps")


def expand_plugin(problem: Problem | System, file: Path) -> None:
    """Expand the motion of the problem of the plug-in ``file`` in power series, on which its reference rests.

    Raises
    ------
    PluginError
        If its torque does not run on power series.
    """
    from polhode.references import taylor  # imported here because only studies have references

    try:
        taylor.solver_of(problem)(problem, [FRACTION * problem.horizon], DIGITS)
    except Exception as error:
        raise PluginError(
            f"plug-in {place_in(file, error)} has no reference: its torque does not run on power series ({_text(error)}); use "
            "plain arithmetic and the kernels of polhode, or declare torque_series"
        ) from error


def _run_law(law: ForceLaw, file: Path) -> list[str]:
    """Let two spinning balls, or two molecules, collide under a law of force for some steps; returns no remarks."""
    if law.for_sites:
        fluid = replace(SCENES["trimers"], law=law.with_parameters(cutoff=2.5))
        if "diverged" in simulate_many(fluid, METHOD, fluid.usual_step, 0, STEPS * fluid.usual_step, STEPS).attrs:
            raise PluginError(f"plug-in {file}: the law {law.key!r} gives no finite numbers in a liquid of trimers")
        return []
    balls = ((Clump.sphere(0.01), 2),)
    scene = Scene(
        key="collision",
        label="collision",
        kinds=balls,
        material=Material(density=2500.0, young=1e7, poisson=0.3),
        box=0.2,
        speed=0.0,
        spin=0.0,
        horizon=1.0,
        law=law,
    )
    r, v, spin = [[-0.0099, 0, 0], [0.0099, 0, 0]], [[1.0, 0.3, 0], [-1.0, 0, 0.2]], [[0, 0, 30.0], [20.0, -10.0, 0]]
    state = State(*(np.array(rows, float) for rows in (r, v, [[1, 0, 0, 0]] * 2, spin)))
    dt = scene.contact_time(1.0) / (2 * STEPS)
    if "diverged" in simulate_many(scene, METHOD, dt, 0, STEPS * dt, STEPS, state=state).attrs:
        raise PluginError(f"plug-in {file}: the law {law.key!r} gives no finite numbers in the collision of two balls")
    return []


def _run_scene(scene: Scene | Fluid, file: Path) -> list[str]:
    """Set up a scene and run its first steps; returns remarks for the user."""
    try:
        scene.initial_state(0)
    except BoxTooFull as error:
        raise PluginError(f"plug-in {file}: {error}") from error
    except Exception as error:
        raise PluginError(f"plug-in {place_in(file, error)} has no initial state: {_text(error)}") from error
    dt = scene.usual_step
    run = simulate_many(scene, METHOD, dt, 0, STEPS * dt, 1)
    if "diverged" in run.attrs:
        return [
            f"plug-in {file}: {scene.key!r} gives no finite numbers at t = {run.attrs['diverged']:g} s, with {METHOD} and "
            f"dt = {dt:g} s; runs that do so are recorded as diverged"
        ]
    return []


def _run_method(method: Method, file: Path) -> list[str]:
    try:
        finite = _first_steps(method)
    except Exception as error:
        error = _method_afresh(method) or error
        said = f"{type(error).__name__}: {error}; a kernel must not raise"
        raise PluginError(f"plug-in {place_in(file, error)} fails in its first steps: {said}") from error
    if finite.all():
        return []
    return [
        f"plug-in {file}: {method.key!r} gives no finite numbers at step {SAMPLES[~finite][0]} of {PROBLEM} with "
        f"dt = {DT:g} s; runs that do so are recorded as diverged"
    ]


def _first_steps(method: Method) -> Any:
    """Whether all numbers are finite at each of :data:`SAMPLES`."""
    problem = single_body(PROBLEM)
    body, torque, parameters = problem.body.coefficients(), problem.compiled_torque, problem.parameter_array
    q, omega, stored, _ = method.integrate(problem.q0, problem.omega0, body, torque, parameters, DT, SAMPLES)
    return np.isfinite(np.hstack([q, omega, stored])).all(axis=1)


def _method_afresh(method: Method) -> Exception | None:
    """The error raised by these steps with newly compiled code; None if there is none."""
    with _nothing_kept():
        method.drivers.clear()
        try:
            _first_steps(method)
        except Exception as error:
            return error
        finally:
            method.drivers.clear()
    return None


def _problem_afresh(problem: Problem | System) -> Exception | None:
    """The error raised by this motion with newly compiled code; None if there is none."""
    with _nothing_kept():
        try:
            _first_motion(replace(problem))
        except Exception as error:
            return error
    return None


@contextmanager
def _nothing_kept() -> Iterator[None]:
    """Ignore compiled code on disk: its records may name a file that has been moved or edited."""
    place = os.environ.get("POLHODE_CACHE_DIR")
    os.environ["POLHODE_CACHE_DIR"] = ""
    try:
        yield
    finally:
        if place is None:
            del os.environ["POLHODE_CACHE_DIR"]
        else:
            os.environ["POLHODE_CACHE_DIR"] = place


# Compiler errors, in terms of the plug-in


def why(item: Method | Problem | System | ForceLaw, file: Path, error: Exception) -> str:
    """Why the object of the plug-in ``file`` does not compile: the reason, with line and text of the file.

    ``error`` is what the compiler raised. It quotes every function that it passed through, including ours. If no line of the
    file is at fault, the kernels of a method do not fit together; the faulty one is found by compiling them one after the
    other.
    """
    return _located(file, error) or (_misfit(item, file) if isinstance(item, Method) else "") or reason_of(error)


def _located(file: Path, error: Exception) -> str:
    """The reason with the innermost line of ``file`` named by the compiler or the traceback; empty if there is none."""
    number = line_of(file, error)
    return f"line {number}, {source_line(file, number)!r}: {reason_of(error)}" if number else ""


def _misfit(method: Method, file: Path) -> str:
    """A message about the kernel of the method that does not fit the others; empty if all do."""
    try:
        for remark in _contract(method, file):
            if remark:
                return remark
    except Exception as error:
        return _located(file, error)
    return ""


def _contract(method: Method, file: Path) -> Iterator[str]:
    """Compare the output of each kernel with the required one; yields a remark where they differ."""
    for name in method.kernels():
        function = getattr(method, name)
        if isinstance(function, FunctionType) and not config.DISABLE_JIT:
            yield f"{_place(function, file)}: {name} is a plain function; write @kernel before it"

    def given(name: str, *arguments: Any) -> Any:
        compiled = numba.njit(error_model="numpy")(getattr(method, name).py_func)
        compiled.compile(arguments)
        return compiled.overloads[arguments].signature.return_type

    def unlike(name: str, returned: Any, wanted: Any, meaning: str) -> str:
        if returned == wanted:
            return ""
        place = _place(getattr(method, name).py_func, file)
        return f"{place}: {name} returns {_in_words(returned)}, where {_in_words(wanted)} are expected: {meaning}"

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


def _in_words(kind: Any) -> str:
    """The usual name of a type of the compiler."""
    if not isinstance(kind, types.BaseTuple):
        return str(kind)
    parts = list(kind.types)
    if any(isinstance(entry, types.BaseTuple) for entry in parts):
        return f"({', '.join(map(_in_words, parts))})"
    kinds = list(dict.fromkeys("float" if entry == float_type else str(entry) for entry in parts))
    return f"{len(parts)} {kinds[0]}s" if len(kinds) == 1 else f"{len(parts)} numbers ({', '.join(kinds)})"
