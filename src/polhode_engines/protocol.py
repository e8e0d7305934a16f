"""What is declared of an engine, what its adapter does, and how both are found.

An engine has two files in ``adapters/``. ``KEY.yaml`` declares it (:class:`Engine`). ``KEY.py`` defines one class ``Adapter``,
which the Python of the engine executes, in an environment of its own without polhode (:mod:`polhode_engines.worker`). It may
therefore import nothing but the standard library, numpy, what adapters share (``polhode_rotations``:
:mod:`polhode_engines.rotations`, and ``polhode_sampling``: :mod:`polhode_engines.sampling`) and, inside its functions, the
engine. The class has these methods:

``version()``
    The version of the engine, as a text.
``run(option, case, dt, samples)``
    Spin one body from rest in translation: returns q (samples, 4) and omega (samples, 3) after the numbers of steps
    ``samples``, in the conventions of polhode (body to lab, scalar first; omega in the body frame, rad/s). ``case`` has
    ``inertia`` (principal moments, kg m^2), ``q0``, ``omega0``, ``load`` (``free``, ``constant``, ``lab`` or ``velocity``) and
    ``value``: the torque in N m in the body or lab frame, or the coefficient c of the torque -c omega, N m s. (Basilisk's
    adapter also knows the load ``wheel``, :mod:`polhode_engines.wheels`.) Where
    ``case.is_shipped``, of an engine that declares ``shipped``, sleeping, limits and whatever else the option leaves alone stay
    as the engine has them (:mod:`polhode_engines.shipped`). An option that the installed release lacks raises
    ``polhode_sampling.NotInRelease``; it is left out, and the row of a release that has it stays.
``collide(option, case, dt, samples)``
    Only of an engine that declares ``contacts``: move bodies in a box, with the contacts of ``case``, which has the fields of
    :class:`polhode_engines.contacts.Collision`. Returns r, v, q and omega of all bodies, each (samples, bodies, 3 or 4). Where
    the engine does not follow the orientation of a sphere, q is that of the start, and omega is given in that frame.
``flow(option, case, dt, samples)``
    Only of an engine that declares ``liquids``, for each option declared there: move molecules at constant energy. ``case`` has
    the fields of :class:`polhode_engines.liquids.Flow`. Returns the potential and the kinetic energy and the CPU time in s,
    each (samples,).

The adapter of an engine of the web is ``KEY.mjs``, which node executes with ``worker.mjs``; the head of that
file says what the adapter exports. It answers ``run`` and also ``shipped``, which is the same with sleeping and limits as the
engine has them (:mod:`polhode_engines.shipped`).
"""

import re
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from pydantic.dataclasses import dataclass

from polhode.interface.declared import STRICT, declared
from polhode.interface.reading import ConfigurationError, load_yaml, shown
from polhode_engines.sources import Source

FOLDER = Path(__file__).parent / "adapters"
#: How the files of adapters end: in Python, and for node.
SUFFIXES = (".py", ".mjs")
#: The loads of the atlas, each with the class of torque of :data:`polhode.problems.problem.TORQUE_CLASSES` that it has.
LOADS = ("free", "constant", "lab", "velocity")
#: Those of them that are a torque.
Torque = Literal["constant", "lab", "velocity"]
Precision = Literal["float64", "float32"]
#: What stands for a declaration that an adapter of one's own leaves out.
UNSAID = "as the adapter has it"


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Option:
    """What chooses an integrator of an engine; each option becomes a row of the atlas.

    Parameters
    ----------
    chosen_by : str
        How it is chosen, in a few words.
    damping : float
        The rate at which the engine damps the angular velocity in it, 1/s, for candidates that damp as well.
    excluded : mapping
        Load -> why this option cannot be run under a load that the others take.
    advice : str
        What a user should do, in one sentence.
    sources : tuple of Source
        Where the engine integrates the rotation.
    """

    chosen_by: str
    damping: float = 0.0
    excluded: Mapping[Torque, str] = field(default_factory=dict)
    advice: str = ""
    sources: tuple[Source, ...] = ()

    @property
    def citation(self) -> str:
        """The places of the source in one text; empty if there are none."""
        return "; ".join(place.text for place in self.sources)

    @property
    def is_read(self) -> bool:
        """Whether every place was read; False if there is none."""
        return bool(self.sources) and all(place.read for place in self.sources)

    @property
    def notes(self) -> str:
        """What else is said of the places."""
        return " ".join(dict.fromkeys(place.note for place in self.sources if place.note))


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Contacts:
    """What an engine does in a contact with friction, in our words.

    Parameters
    ----------
    chosen_by : str
        The commands or classes, in a few words.
    law, bookkeeping : str
        The law of :data:`polhode.manybody.forces` and its choices (:data:`polhode.manybody.law.AS_IN`) that imitate it.
    method : str
        The method that moves its bodies.
    left : str
        What the imitation leaves out.
    sources : tuple of Source
        Where the engine computes contacts.
    """

    chosen_by: str
    law: str
    bookkeeping: str
    method: str
    left: str = ""
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Liquids:
    """How an engine holds the sites of a rigid molecule together.

    Parameters
    ----------
    chosen_by : str
        The commands that all options share, in a few words.
    options : mapping
        Name of an option of the adapter -> the method that it is.
    sources : tuple of Source
        Where the engine has them.
    """

    chosen_by: str
    options: Mapping[str, str]
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Engine:
    """The declarations of one engine.

    Parameters
    ----------
    label : str
        Name in tables.
    requirements : tuple of str
        What pip installs, each pinned (``mujoco==3.3.7``); empty for an engine from Debian.
    debian : tuple of str
        Debian packages, for an engine that comes from there; it then runs under the Python of the system.
    npm : tuple of str
        What npm installs for an engine of the web, each pinned: ``oimo@1.0.9``, of a second release ``NAME@npm:oimo@1.0.8``.
    python : str
        The Python that runs an adapter of one's own, a path from the folder of the adapter; that of polhode if it is empty.
    python_version : str
        The Python in which pip installs ``requirements``, as in 3.10, where they need another one than polhode has.
    module : str
        The module that must be importable for the engine to count as installed.
    libraries : tuple of str
        Folders below the environment in which the engine finds shared libraries.
    paths : tuple of str
        Patterns of folders outside the usual ones that have the module.
    options : mapping
        Name -> option; its names are those of the adapter.
    default : str
        The option that a user gets who chooses none; empty if there is no such thing.
    precision : "float64" or "float32"
        The arithmetic of the engine.
    turn : float
        The angle in a step, rad, at which the method is identified; 0: the usual one.
    turn_limit : float
        The angle in a step, rad, above which the engine shortens it and no step is judged; 0: there is none.
    switched_off : str
        What is switched off for the comparison.
    releases : str
        For which releases what is measured holds, and what others do, each with how it is known: in sentences.
    torques : mapping
        Load -> where the torque goes in; loads that are not listed are not run.
    contacts : Contacts
        Its contacts with friction, if its adapter runs them.
    liquids : Liquids
        How it holds rigid molecules, if its adapter runs liquids.
    repository : str
        Owner and name of the repository in which the engine is developed.
    most_steps : int
        Largest number of steps of a run, for engines of which a step takes long.
    shipped : bool
        Whether its adapter can leave on what the engine has by default; all adapters of the web can.
    reads : str
        The angular velocity that a user reads: its frame and its time.
    switch : str
        What switches the gyroscopic term on or off in this interface; empty: nothing does.
    path : Path
        The file of the adapter.
    """

    label: str
    requirements: tuple[str, ...] = ()
    debian: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    python: str = ""
    python_version: str = ""
    module: str = "numpy"
    libraries: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    options: Mapping[str, Option]
    default: str = ""
    precision: Precision = "float64"
    turn: float = 0.0
    turn_limit: float = 0.0
    switched_off: str
    releases: str = ""
    torques: Mapping[Torque, str] = field(default_factory=dict)
    contacts: Contacts | None = None
    liquids: Liquids | None = None
    repository: str = ""
    most_steps: int = 100_000
    shipped: bool = False
    reads: str = "lab, after the step"
    switch: str = ""
    path: Path

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.key):
            raise ValueError("the name of the file must consist of small letters, digits and underscores")
        origins = [name for name in ("requirements", "debian", "npm") if getattr(self, name)]
        if len(origins) > 1 or not (origins or self.is_own):
            raise ValueError("declare one of requirements (pip), debian (packages) and npm (packages of the web)")
        if self.npm and not self.is_web:
            raise ValueError(f"npm belongs to an adapter that node executes, {self.key}.mjs")
        if self.is_web and origins not in ([], ["npm"]):
            raise ValueError(f"{self.path.name} is executed by node: declare npm instead of {origins[0]}")
        if self.python and (origins or self.is_web or not self.is_own):
            raise ValueError("python belongs to an adapter of one's own in Python without requirements or debian")
        if self.python_version and not (self.requirements and re.fullmatch(r"3\.\d+", self.python_version)):
            raise ValueError("python_version belongs to requirements and is written as '3.10'")
        for package in self.npm:
            if not re.fullmatch(r"(@[\w.-]+/)?[\w.-]+@(npm:(@[\w.-]+/)?[\w.-]+@)?\d[\w.+-]*", package):
                raise ValueError(f"package {package!r} must be pinned, as in cannon-es@0.20.0")
        for requirement in self.requirements:
            if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!-]+", requirement):
                raise ValueError(f"requirement {requirement!r} must be pinned, as in mujoco==3.3.7")
        if not self.options:
            raise ValueError("declare at least one option")
        if self.default and self.default not in self.options:
            raise ValueError(f"default {self.default!r} is none of its options: {', '.join(self.options)}")
        for name, option in self.options.items():
            for load in option.excluded:
                if load not in self.torques:
                    raise ValueError(f"excluded names {load!r} for {name!r}; torques has: {', '.join(self.torques)}")

    @property
    def key(self) -> str:
        """Name in commands and files: the name of the adapter's file without its end."""
        return self.path.stem

    @property
    def is_web(self) -> bool:
        """Whether node executes the adapter."""
        return self.path.suffix == ".mjs"

    @property
    def is_measured_as_shipped(self) -> bool:
        """Whether the row of the engine says what it does with nothing switched off."""
        return self.is_web or self.shipped

    @property
    def packages(self) -> tuple[str, ...]:
        """What is installed for the engine, by whichever installer, with the versions where they are pinned."""
        return self.requirements or self.debian or self.npm

    @property
    def pins(self) -> dict[str, str]:
        """Name -> version of each package that pip or npm installs; of npm the name of its folder in node_modules."""
        folders = {re.sub(r"(?<=.)@.*", "", package): package.rpartition("@")[2] for package in self.npm}
        return folders or dict(requirement.split("==") for requirement in self.requirements)

    @property
    def is_own(self) -> bool:
        """Whether the adapter is not one of polhode."""
        return self.path.parent.resolve() != FOLDER

    def loads(self, option: str) -> tuple[str, ...]:
        """The keys of the loads under which an option is run."""
        excluded = self.options[option].excluded
        return ("free", *(load for load in LOADS[1:] if load in self.torques and load not in excluded))


def read(path: Path) -> Engine:
    """The engine with the adapter at ``path``, as the YAML file beside it declares it.

    Raises
    ------
    ConfigurationError
        If the file declares something impossible or unknown.
    """
    return declared(Engine, path.with_suffix(".yaml"), path=path)


def own_engine(path: Path) -> Engine:
    """The engine of an adapter of one's own at ``path``; what no YAML file beside it declares is taken as usual.

    Afterwards :func:`known_engines` has it, too.

    Raises
    ------
    ConfigurationError
        As for :func:`read`.
    ValueError
        If its name is that of an engine of polhode.
    """
    path = path.resolve()
    if path.stem in all_engines():
        raise ValueError(f"{path.name}: {path.stem} is an engine of polhode; choose another name")
    usual: dict[str, Any] = {
        "label": path.stem,
        "options": {"usual": Option(chosen_by=UNSAID)},
        "switched_off": UNSAID,
        "torques": {"constant": UNSAID, "lab": UNSAID, "velocity": UNSAID},
    }
    if (declaration := path.with_suffix(".yaml")).is_file():
        keys = _keys_of_declaration(declaration, path.name)
        usual = {key: value for key, value in usual.items() if key not in keys}
        engine = declared(Engine, declaration, **usual, path=path)
    else:
        engine = Engine(**usual, path=path)
    _engines_of_users[engine.key] = engine
    return engine


def _keys_of_declaration(file: Path, adapter: str) -> list[str]:
    """The keys of the YAML file beside an adapter of one's own, all of which an engine has.

    Raises
    ------
    ConfigurationError
        If it has none, or others: it may belong to something else. The message is one line that names both files.
    """
    known = [name for name in Engine.__dataclass_fields__ if name != "path"]
    try:
        values = load_yaml(file)
    except UnicodeDecodeError:
        values = None
    others = [str(key) for key in values if key not in known] if isinstance(values, dict) else []
    if isinstance(values, dict) and values and not others:
        return [*values]
    what = f"has no key {', '.join(map(repr, others[:3]))}{' ...' * (len(others) > 3)}" if others else "is no list of keys"
    raise ConfigurationError(
        f"{shown(file)} is read as the declaration of the adapter {adapter} beside it, and such a file "
        f"{what}; if it belongs to something else, rename one of the two (a declaration has {', '.join(known[:8])} and so on)"
    )


@cache
def all_engines() -> Mapping[str, Engine]:
    """Key -> engine, of every engine with an adapter in the package, in alphabetical order."""
    files = (path for suffix in SUFFIXES for path in FOLDER.glob(f"*{suffix}") if path.stem != "__init__")
    return MappingProxyType({path.stem: read(path) for path in sorted(files, key=lambda path: path.stem)})


def known_engines() -> Mapping[str, Engine]:
    """Key -> engine: those of the package, and the adapters of one's own that this process has read."""
    return {**all_engines(), **_engines_of_users}


def option_of(key: str, option: str) -> Option:
    """The declaration of a row of the atlas, from the keys of engine and option; :data:`NOTHING` if either is not known."""
    engine = known_engines().get(key)
    return engine.options.get(option, NOTHING) if engine else NOTHING


NOTHING = Option(chosen_by="")
_engines_of_users: dict[str, Engine] = {}
