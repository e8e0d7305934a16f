"""What test files share: the tiers, one run of a tiny study, and problems of every torque class with references of their own.

Tiers are markers. ``slow`` is on what runs the workflow or whole studies or compiles for minutes, ``thorough`` on what checks
every member of a registry or waits for compilers. All else gets ``quick`` here: what one runs while working, ``-m quick``.
"""

import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import mpmath
import numpy as np
import pytest
import scipy.integrate
from numba.core.runtime import _nrt_python
from scipy.spatial.transform import Rotation

import polhode
from polhode import manybody
from polhode.compiling.plain import plain_copy
from polhode.problems.problem import Problem
from polhode.references import axial_torque, defect, taylor
from polhode_study.workflow import locks

# What pytest makes of the tests before it runs them takes a third of a start; the next one reads it, whatever the shell says.
sys.dont_write_bytecode = False

# Compiled code of the tests, and of the processes that they start, stays in the folder of pytest.
os.environ.setdefault("POLHODE_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "compiled"))

# What checks notebooks imports it for two seconds and does without (issue 1428 of jsonschema).
sys.modules.setdefault("rfc3987_syntax", None)

# A suite in the background of a shell, or under nohup, would hand ignored signals on to the programs that the tests start and
# stop; a handler that does nothing is not handed on.
for _number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda number, frame: None)

HOME = Path(__file__).parents[1]
LOOKS = defect.LOOKS

#: Files that take long, the longest first, so that none of them is left over when all others are done (``pytest -n 2``).
#: The first runs the tiny study; those that wait for it come when it is done, and others compile meanwhile what many find.
LONG = (
    "test_workflow",
    "test_documentation",
    "test_advice",
    "test_export",
    "test_identify_engines",
    "test_cache",
    "test_identify",
    "test_explorer",
    "test_notebooks",
    "test_interruptions",
    "test_c_version",
    "test_forces",
    "test_report",
    "test_impacts",
    "test_grains",
    "test_own_study",
    "test_archive_workflow",
    "test_changing_steps",
    "test_free_tops",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is quick, and put the long files first."""
    for item in items:
        if not any(item.get_closest_marker(name) for name in ("slow", "thorough")):
            item.add_marker("quick")
    places = {name: place for place, name in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path.stem, len(LONG)))


@pytest.fixture(autouse=True, scope="module")
def few_looks(request) -> Iterator[None]:
    """Torques are looked at in 4096 places along a reference, except by the tests of those that are easily missed."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.path.stem.startswith("test_advice"):
            patch.setattr(defect, "LOOKS", 2**12)
        yield


@pytest.fixture
def every_look(monkeypatch) -> None:
    """Torques are looked at in as many places as outside the tests."""
    monkeypatch.setattr(defect, "LOOKS", LOOKS)


@pytest.fixture(autouse=True, scope="module")
def read_once(request) -> Iterator[None]:
    """What answers are read from is read once by the tests of a file, as long as it stays as it is on the disk."""
    with pytest.MonkeyPatch.context() as patch:
        if request.path.stem.startswith(("test_advice", "test_one_step")):
            from polhode.advice import evidence, from_contacts

            for module, name in ((from_contacts, "_read"), (evidence, "read")):
                patch.setattr(module, name, remembered(getattr(module, name)))
        yield


def remembered(read: Callable[..., Any]) -> Callable[..., Any]:
    contents: dict[Any, Any] = {}

    def look(path: Path, *group: str) -> Any:
        state = path.stat()
        key = path.resolve(), state.st_mtime_ns, state.st_size, *group
        if key not in contents:
            contents[key] = read(path, *group)
        return copy(contents[key])

    return look


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Only one of the processes that share the tests at a time."""
    with open(path, "w") as file:
        if locks.fcntl is not None:
            locks.fcntl.flock(file, locks.fcntl.LOCK_EX)
        yield


def run_once(tmp_path_factory, name: str, run: Callable[[Path], object]) -> Path:
    """The folder in which a study has run, once for all files and processes. It stays as it is: who changes it copies it."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    folder, ended = base / name, base / f"{name}.ended"
    with only_one(base / f"{name}.lock"):
        if not ended.exists():
            folder.mkdir()
            ended.write_text("failed")
            run(folder)
            ended.write_text("well")
    assert ended.read_text() == "well", f"{name} failed, see the first test that asked for it"
    return folder


#: What ``./reproduce`` has said, in the folder of the tiny study.
SAID = Path(".snakemake") / "said.txt"


@pytest.fixture(scope="session")
def tiny_study(tmp_path_factory) -> Path:
    """The checkout in which ``./reproduce`` has run the tiny study of tests/test_workflow.py to its report."""
    from test_workflow import House

    def run(folder: Path) -> None:
        house = House(folder).committed()
        house.make_environment()
        process = house.reproduce("--configfile", "tiny.yaml")
        said = process.communicate(timeout=1800)[0]
        assert process.returncode == 0, said
        (folder / SAID).write_text(said)

    return run_once(tmp_path_factory, "tiny_study", run)


hypothesis.settings.register_profile("polhode", derandomize=True, deadline=None, database=None, max_examples=60)
hypothesis.settings.load_profile("polhode")


def thorough(*values: Any) -> list[Any]:
    """Values of a parameter that only the thorough tests take."""
    return [pytest.param(value, marks=pytest.mark.thorough) for value in values]


#: One method of each kind of step. Tests of all methods are thorough for the others, which take a minute to compile.
FEW = ("adams_bashforth3", "buss2000", "fincham1992", "no_squish", "pcdm2016", "rk4", "spiral_leapfrog", "verlet_delvalle2024")
every_method = pytest.mark.parametrize("key", [key if key in FEW else thorough(key)[0] for key in polhode.methods])

BODY = polhode.Body((1.0, 1.7, 2.3), mass=2.0)
OMEGA0 = (0.9, -0.7, 1.1)
Q0 = (0.5, -0.1, 0.7, 0.5)
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
HEAVY = {"x": 0.31, "y": -0.22, "z": 0.54, "g": 9.0}


def prescribed_torque(t, q, omega, parameters):
    """A smooth body torque that depends on the time alone."""
    return (
        parameters[0] + t * (1.3 - 2.1 * t),
        -0.7 + t * (0.9 + 1.1 * t * t),
        0.4 - t * (1.7 - 0.6 * t * t),
    )


def constant_torque(t, q, omega, parameters):
    return (0.5, -0.7, 0.4)


def heavy_torque(t, q, omega, parameters):
    """m r x (A^T (0, 0, -g)), r in the body frame, with A^T from the quaternion; times |q|^2, as the kernels have it."""
    gx = -parameters[3] * 2.0 * (q[1] * q[3] - q[0] * q[2])
    gy = -parameters[3] * 2.0 * (q[2] * q[3] + q[0] * q[1])
    gz = -parameters[3] * (q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3])
    x, y, z = parameters[0], parameters[1], parameters[2]
    return (y * gz - z * gy, z * gx - x * gz, x * gy - y * gx)


def damping_torque(t, q, omega, parameters):
    """Friction, not parallel to the angular velocity."""
    return (
        -parameters[0] * omega[0] + 0.3 * omega[1],
        -2.0 * parameters[0] * omega[1],
        -1.5 * parameters[0] * omega[2] - 0.2 * omega[0],
    )


def lab_torque(t, q, omega, parameters):
    """A^T (torque of time in the lab frame), with A^T from the quaternion; times |q|^2, as the kernels have it."""
    x, y, z = 1.1 - 1.9 * t, parameters[0] + 0.7 * t * t, -1.4 + 0.6 * t
    a, b, c, d = q
    return (
        (a * a + b * b - c * c - d * d) * x + 2.0 * (b * c + a * d) * y + 2.0 * (b * d - a * c) * z,
        2.0 * (b * c - a * d) * x + (a * a - b * b + c * c - d * d) * y + 2.0 * (c * d + a * b) * z,
        2.0 * (b * d + a * c) * x + 2.0 * (c * d - a * b) * y + (a * a - b * b - c * c + d * d) * z,
    )


def no_torque(t, q, omega, parameters):
    return (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Case:
    """A problem and its exact state: ``exact(t) -> (q, omega)`` as arrays."""

    problem: Problem
    exact: Callable[[float], tuple[np.ndarray, np.ndarray]]


def make(key, torque, torque_class, parameters=None, **changes) -> Problem:
    values = {"body": BODY, "omega0": OMEGA0, "q0": Q0, "horizon": 1.0} | changes
    return Problem(
        key=key,
        label=key,
        source="tests",
        torque=torque,
        torque_class=torque_class,
        parameters=parameters or {},
        **values,
    )


def right_hand_side(problem: Problem):
    """dq/dt and domega/dt with matrices, written without the package's kernels."""
    inertia = np.diag(problem.body.inertia)
    inverse = np.linalg.inv(inertia)
    parameters = np.array([*problem.parameters.values(), 0.0])

    def rate(t, y):
        q, omega = y[:4], y[4:]
        wx, wy, wz = omega
        turning = np.array([[0, -wx, -wy, -wz], [wx, 0, wz, -wy], [wy, -wz, 0, wx], [wz, wy, -wx, 0]])
        torque = np.array(problem.torque(t, q, omega, parameters))
        return np.concatenate([turning @ q / 2, inverse @ (torque - np.cross(omega, inertia @ omega))])

    return rate


def runge_kutta_reference(problem: Problem) -> Case:
    """DOP853 at its tightest tolerance, dense over one horizon."""
    start = np.concatenate([problem.q0, problem.omega0])
    solution = {}

    def exact(t: float) -> tuple[np.ndarray, np.ndarray]:
        if t not in solution:
            run = scipy.integrate.solve_ivp(
                right_hand_side(problem), (0.0, t), start, method="DOP853", rtol=3e-14, atol=1e-16, max_step=0.02
            )
            solution[t] = run.y[:4, -1], run.y[4:, -1]
        return solution[t]

    return Case(problem, exact)


def closed_form(problem: Problem) -> Case:
    def exact(t: float) -> tuple[np.ndarray, np.ndarray]:
        ((q, omega),) = axial_torque.solve(problem, [t], 25)
        return np.array(q, dtype=float), np.array(omega, dtype=float)

    return Case(problem, exact)


@pytest.fixture(scope="session")
def cases() -> dict[str, Case]:
    """One problem of each torque class: none, constant in the body, of time in the body, of time in the lab, of q, of omega."""
    return {
        # Fast, so that the errors of the fourth-order methods are above round-off for a few steps.
        "free": runge_kutta_reference(make("free", no_torque, "free", omega0=(2.7, -2.1, 3.3))),
        "constant": closed_form(polhode.problems["spiral_cylinder"]),
        "constant_asymmetric": runge_kutta_reference(make("constant", constant_torque, "constant")),
        "time": runge_kutta_reference(make("prescribed", prescribed_torque, "time", {"x": 0.5})),
        "lab": runge_kutta_reference(make("lab", lab_torque, "lab", {"y": 0.8})),
        "orientation": runge_kutta_reference(make("heavy", heavy_torque, "state", HEAVY)),
        "velocity": runge_kutta_reference(make("damped", damping_torque, "velocity", {"c": 0.8})),
    }


@pytest.fixture(scope="session")
def free_problem():
    """A torque-free body of given moments: ``free_problem(inertia, omega0)``."""

    def build(inertia, omega0=OMEGA0, **changes) -> Problem:
        return make("free", no_torque, "free", body=polhode.Body(inertia), omega0=omega0, **changes)

    return build


@pytest.fixture
def forget_plugins():
    """Take out again what a test adds to the methods, problems and scenes."""
    with polhode.methods.restored(), polhode.problems.restored(), manybody.scenes.restored():
        yield


def surroundings(**more: str) -> dict[str, str]:
    """For a process that no Snakemake has started, which imports what is installed unless told otherwise."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("SNAKEMAKE") and k != "PYTHONPATH"}
    return variables | {"PYTHONDONTWRITEBYTECODE": "1"} | more


def said_by(program: str, *words: object, source: Path = HOME / "src", cwd: Path | None = None, **variables: str) -> str:
    """What a fresh Python prints, which imports the library of ``source`` and these tests; with these words and variables."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(source), str(HOME / "tests")])} | variables
    command = [sys.executable, "-c", program, *map(str, words)]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def checkout_said(*words: object, folder: Path = HOME, status: int = 0) -> str:
    """What Python says in a checkout with these words, which imports the library of that checkout; its exit status is this."""
    command, environment = [sys.executable, *map(str, words)], surroundings(PYTHONPATH=str(folder / "src"))
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def rotation(q) -> Rotation:
    """The scipy rotation of a scalar-first quaternion."""
    q = np.asarray(q, float)
    return Rotation.from_quat(np.concatenate([q[..., 1:], q[..., :1]], axis=-1))


def product(p, q) -> np.ndarray:
    """Hamilton's product p q, written without the package's kernels."""
    p, q = np.asarray(p), np.asarray(q)
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


def plain(function):
    """A kernel as plain Python."""
    return plain_copy(function, {math.sqrt: math.sqrt}, "")


def unit(*q) -> tuple[float, ...]:
    return tuple(float(x) for x in np.array(q) / np.linalg.norm(q))


def distance(a, b):
    """The distance of two vectors of mpmath numbers."""
    return mpmath.sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))


def worst_agreement(problem: Problem, times, digits):
    """The digits that the closed form of a problem and its Taylor series share, at the worst of the times."""
    closed, series = problem.closed_form(problem, times, digits), taylor.solve(problem, times, digits)
    return min(taylor.agreement(a, b, digits + 15) for a, b in zip(closed, series, strict=True))


@pytest.fixture
def counted_allocations():
    """Numba's own count of the memory it asks for; off by default."""
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()
