"""What an adapter declares, and how adapters are found.

An adapter is a file in ``adapters/`` that defines one class ``Adapter``. It is read by two programs: polhode reads what it
declares; the Python of the engine, in an environment of its own without polhode, executes it (:mod:`polhode.engines.worker`).
It may therefore import nothing but the standard library, numpy, what adapters share (``polhode_rotations``:
:mod:`polhode.engines.rotations`, and ``polhode_sampling``: :mod:`polhode.engines.sampling`) and, inside its functions, the
engine.

Attributes of the class (all are declared below as fields of :class:`Engine`), and two methods:

``version()``
    The version of the engine, as a text.
``run(option, case, dt, samples)``
    Spin one body from rest in translation: returns q (samples, 4) and omega (samples, 3) after the numbers of steps
    ``samples``, in the conventions of polhode (body to lab, scalar first; omega in the body frame, rad/s). ``case`` has
    ``inertia`` (principal moments, kg m^2), ``q0``, ``omega0``, ``load`` (``free``, ``constant``, ``lab`` or ``velocity``) and
    ``value``: the torque in N m in the body or lab frame, or the coefficient c of the torque -c omega, N m s.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from polhode.engines import worker

FOLDER = Path(__file__).parent / "adapters"
#: The loads of the atlas, each with the class of torque of :data:`polhode.problems.problem.TORQUE_CLASSES` that it has.
LOADS = ("free", "constant", "lab", "velocity")
PRECISIONS = ("float64", "float32")


@dataclass(frozen=True, kw_only=True)
class Engine:
    """The declarations of one engine.

    Parameters
    ----------
    key, label : str
        Name in commands and files; name in tables.
    requirements : tuple of str
        What pip installs, each pinned (``mujoco==3.3.7``); empty for an engine from Debian.
    debian : tuple of str
        Debian packages, for an engine that comes from there; it then runs under the Python of the system.
    module : str
        The module that must be importable for the engine to count as installed.
    libraries : tuple of str
        Folders below the environment in which the engine finds shared libraries.
    paths : tuple of str
        Patterns of folders outside the usual ones that have the module.
    options : mapping
        Option -> how it is chosen, in a few words. An option chooses an integrator; each becomes a row of the atlas.
    default : str
        The option that a user gets who chooses none; empty if there is no such thing.
    sources : mapping
        Option -> file and function of the engine that integrate the rotation, for what :mod:`polhode.engines.sources` lacks.
    precision : "float64" or "float32"
        The arithmetic of the engine.
    switched_off : str
        What is switched off for the comparison.
    torques : mapping
        Load -> where the torque goes in; loads that are not listed are not run.
    excluded : mapping
        Option -> load -> why this option cannot be run under a load that the others take.
    damping : mapping
        Option -> the rate at which the engine damps the angular velocity in it, 1/s, for candidates that damp as well.
    advice : mapping
        Option -> what a user should do, in one sentence.
    repository : str
        Owner and name of the repository in which the engine is developed.
    most_steps : int
        Largest number of steps of a run, for engines of which a step takes long.
    """

    key: str
    label: str
    requirements: tuple[str, ...] = ()
    debian: tuple[str, ...] = ()
    module: str
    libraries: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    options: Mapping[str, str]
    default: str = ""
    precision: str = "float64"
    switched_off: str
    torques: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    excluded: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    damping: Mapping[str, float] = field(default_factory=dict)
    advice: Mapping[str, str] = field(default_factory=dict)
    repository: str = ""
    most_steps: int = 100_000
    path: Path

    def __post_init__(self) -> None:
        where = f"engine {self.key!r}:"
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.key):
            raise ValueError(f"{where} the key must consist of small letters, digits and underscores")
        if bool(self.requirements) == bool(self.debian):
            raise ValueError(f"{where} declare either requirements (pip) or debian (packages)")
        for requirement in self.requirements:
            if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!-]+", requirement):
                raise ValueError(f"{where} requirement {requirement!r} must be pinned, as in mujoco==3.3.7")
        if not self.options:
            raise ValueError(f"{where} declare at least one option")
        if self.default and self.default not in self.options:
            raise ValueError(f"{where} default {self.default!r} is none of its options: {', '.join(self.options)}")
        for name in ("sources", "excluded", "damping", "advice"):
            for option in getattr(self, name):
                if option not in self.options:
                    raise ValueError(
                        f"{where} {name} names {option!r}, which is none of its options: {', '.join(self.options)}"
                    )
        for load in self.torques:
            if load not in LOADS[1:]:
                raise ValueError(f"{where} torques names {load!r}; known are: {', '.join(LOADS[1:])}")
        for option, loads in self.excluded.items():
            for load in loads:
                if load not in self.torques:
                    raise ValueError(f"{where} excluded names {load!r} for {option!r}; torques has: {', '.join(self.torques)}")
        if self.precision not in PRECISIONS:
            raise ValueError(f"{where} precision must be one of {', '.join(PRECISIONS)}, got {self.precision!r}")

    def loads(self, option: str) -> tuple[str, ...]:
        """The loads under which an option is run."""
        return ("free", *(load for load in LOADS[1:] if load in self.torques and load not in self.excluded.get(option, {})))


def read(path: Path) -> Engine:
    """The declarations of an adapter.

    Raises
    ------
    ValueError
        If the file has no class ``Adapter``, or the class declares something impossible or unknown.
    """
    adapter = loaded(path)
    known = {f.name for f in fields(Engine)} - {"path"}
    given = {name: value for name, value in vars(adapter).items() if not name.startswith("_") and not callable(value)}
    for name in set(given) - known:
        raise ValueError(f"{path}: unknown declaration {name!r}; known are: {', '.join(sorted(known))}")
    for name in ("version", "run"):
        if not callable(getattr(adapter, name, None)):
            raise ValueError(f"{path}: the class Adapter needs a method {name}")
    frozen: dict[str, Any] = {
        name: MappingProxyType(dict(value)) if isinstance(value, dict) else value for name, value in given.items()
    }
    return Engine(**frozen, path=path)


def loaded(path: Path) -> Callable[[], Any]:
    """The class ``Adapter`` of a file."""
    module = worker.load(path)
    if not isinstance(getattr(module, "Adapter", None), type):
        raise ValueError(f"{path}: an adapter defines a class Adapter")
    found: Callable[[], Any] = module.Adapter
    return found


@cache
def all_engines() -> Mapping[str, Engine]:
    """Every engine with an adapter, by key, in alphabetical order."""
    found = (read(path) for path in sorted(FOLDER.glob("*.py")) if path.stem != "__init__")
    return MappingProxyType({engine.key: engine for engine in found})
