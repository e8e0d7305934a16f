"""Advice: which method and which step, as four questions: of a motion, of a class of torque, of contacts, of a liquid.

Each question has a function; :func:`recommend` finds out which one is asked. An answer is a
:class:`~polhode.advice.answer.Recommendation`; a question without one raises :class:`AdviceError`.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from polhode.advice.arguments import MATERIAL, RUBBING, WALLS
from polhode.advice.arguments import PURPOSES as PURPOSES
from polhode.advice.errors import AdviceError, Angle, BeyondLaws, TimeOver, checked, in_radians
from polhode.interface.arguments import flag, number, positive, shown
from polhode.registry import nearest

if TYPE_CHECKING:
    from polhode.advice.answer import Recommendation
    from polhode.advice.budget import Budget
    from polhode.advice.cases import BodyCase
    from polhode.advice.from_contacts import ContactTime
    from polhode.manybody import Clump, Fluid, Scene
    from polhode.problems.problem import Problem

__all__ = [
    "AdviceError",
    "Options",
    "for_class",
    "for_contacts",
    "for_liquid",
    "for_motion",
    "for_spacecraft",
    "problem_in_file",
    "recommend",
]

#: What a motion is made of that is no problem and no file.
BODY = ("inertia", "omega", "orientation", "torque", "strength", "triangle")
#: What every question about single bodies takes besides.
OF_METHODS = ("error", "torque_price", "one_torque", "limit")
#: The four questions: what each is about, what it needs, and its arguments. Those of :data:`COMMON` belong to all.
QUESTIONS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "motion": ("a motion", "`case`, or `inertia`, `omega`, `torque` and `time`", ("case", *BODY, "time", *OF_METHODS)),
    "class": ("a class of torque", "`torque` and `omega`", ("torque", "laws", "omega", "strength", "time", *OF_METHODS)),
    "contacts": (
        "contacts",
        "`contact_time`, or `young` and so on, or a scene",
        ("case", "contact_time", *MATERIAL, *WALLS, "scale", *RUBBING, "contacts", "error"),
    ),
    "liquid": (
        "a liquid",
        "`liquid`, or `molecule`, a file",
        ("case", "liquid", "molecule", "liquid_density", "drift", "length", "bath", "gamma", "bias", "code"),
    ),
}
COMMON = ("everything", "results", "progress")
#: The arguments of a question about random satellites, which is one about a class.
SPACECRAFT = ("spacecraft", "case", "inertia", "triangle", "wheels", "omega", "every", "time")
#: What of :data:`SPACECRAFT` only a file says of a motion.
IN_FILE = {"wheels": "`wheels:`", "every": "`controller:`"}
#: The smallest error, and the highest price of a torque, that may be asked for.
SMALLEST_ERROR, HIGHEST_PRICE = 1e-15, 1e12
#: The stages of an answer from runs, and what their bars are called.
STAGES = {"compiling": "compiling", "motion": "exact motion", "methods": "running the methods", "interval": "other starts"}


@dataclass(frozen=True)
class Options:
    """How an answer is found.

    Parameters
    ----------
    everything : bool
        List all methods, including the variants that reproduce publications' code; for a motion also run them all.
    limit : float
        Time limit of an answer from runs, s, compilation included. Without it the search may take 60 s of processor time after
        the compilation, which takes up to a minute or two the first time.
    results : path, optional
        Folder of a run whose measurements are to be used; by default ``results`` or the released data: for contacts and laws
        whichever have more initial states or bodies, for liquids the released data, else ``results`` if there is one.
    progress : bool
        Show bars meanwhile.

    Raises
    ------
    AdviceError
        If a value is of another type, or ``limit`` is not positive.
    """

    everything: bool = False
    limit: float | None = None
    results: str | Path | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        for name in ("everything", "progress"):
            checked(flag, name, getattr(self, name))
        if self.limit is not None:
            checked(positive, "limit", self.limit, "s")
        if self.results is not None and not isinstance(self.results, str | Path):
            raise AdviceError(f"results must be the path of a folder, got {shown(self.results)}")

    @property
    def folder(self) -> Path | None:
        """The folder of the run that is named; None if none is."""
        return None if self.results is None else Path(self.results)

    def budget(self) -> "Budget | None":
        """The time that an answer may take from now on; None without a limit."""
        from polhode.advice.budget import Budget

        return None if self.limit is None else Budget(float(self.limit), monotonic)

    @contextmanager
    def bars(self) -> Iterator[Callable[[str, float], None]]:
        """Context in which a function (stage, done) shows bars, or does nothing without ``progress``.

        ``stage`` is a key of :data:`STAGES`, ``done`` the part of it that is done, 0 to 1.
        """
        if not self.progress:
            yield lambda stage, done: None
            return
        from polhode.interface.progress import Stage, watched

        stages = {key: Stage(name, 100.0, "%") for key, name in STAGES.items()}
        with watched(*stages.values()):
            yield lambda stage, done: stages[stage].reach(100.0 * done)


AS_USUAL = Options()


def for_motion(
    case: "str | Path | Mapping[str, Any] | Problem | BodyCase",
    error: float | None = None,
    time: float | None = None,
    torque_price: float | None = None,
    one_torque: bool | None = None,
    options: Options = AS_USUAL,
) -> "Recommendation":
    """The method and the step for a body under a torque: the methods that can win are run on this very problem.

    If the time is over before a step is confirmed, the answer is the best one known and says so (``confirmed`` is False).

    Parameters
    ----------
    case : str, path, mapping, Problem or BodyCase
        A test problem by its key, a problem of your own, a ``.yaml`` or ``.py`` file with one, or the contents of the former:

        * ``inertia``: (Ix, Iy, Iz), or an inertia tensor as in :meth:`polhode.Body.from_tensor`, kg m^2, whose axes are those
          of ``omega`` and ``orientation``; ``triangle``: False if the moments need not be those of a body that can exist;
        * ``omega``: initial angular velocity in the body frame, rad/s, or its size, if its direction is not known;
          ``orientation``: (q0, qx, qy, qz), body to lab;
        * ``torque``: a torque class (``print(list(polhode.ensembles.CLASSES))``) with a ``strength``, the angular
          acceleration by it over omega^2; or three formulas, N m, with what belongs to these (docs/recommend.md);
        * ``time``, s, and, if not given beside it, ``error``, ``torque_price``, ``one_torque``.
    error : float or str
        The error to stay below, between 0 and 1: the larger of the angle in rad and of |omega - exact| over the largest
        |omega|, at all times. A text with a unit, ``"0.01 deg"`` or ``"1e-4 rad"``, is the angle alone.
    time : float
        Time to simulate, s; by default the case says it. Of a BodyCase it is not read.
    torque_price : float
        The time of one torque in steps of direct Euler; 100 by default, since the forces of a simulation take far longer than a
        rotation.
    one_torque : bool
        Only methods with one torque in a step, as large simulations need them: the default, but for a body with wheels or under
        a controller. False allows several.
    options : Options
        How the answer is found.

    Raises
    ------
    AdviceError
        A ValueError that says what cannot be answered, and what to ask instead.
    """
    from polhode.advice import cases, from_runs, from_satellites, unfinished
    from polhode.advice.prices import USUAL
    from polhode.problems import PROBLEMS
    from polhode.problems.problem import Problem

    budget, more = options.budget(), dict[str, Any]()
    is_key = isinstance(case, str) and not case.endswith((".py", ".yaml", ".yml")) and case in PROBLEMS
    case = cast("Problem", PROBLEMS[cast("str", case)]) if is_key else case
    if isinstance(case, Mapping):
        known, more = cases.case_of_mapping(case, time)
    elif isinstance(case, str | Path):
        known, more = cases.case_of_file(case, time)
    elif isinstance(case, Problem):
        known = cases.case_of_problem(case, time)
    elif isinstance(case, cases.BodyCase):
        known = case
    else:
        raise AdviceError(f"case must be a Problem of one body, the key of one, a file or a mapping, got {shown(case)}")
    given = {"error": error, "torque_price": torque_price, "one_torque": one_torque}
    more |= {name: v for name, v in given.items() if v is not None}
    more = {"torque_price": USUAL, "one_torque": not from_satellites.is_spacecraft(known)} | more
    terms = _error(more.get("error")), _price(more["torque_price"]), checked(flag, "one_torque", more["one_torque"])
    with options.bars() as advance:
        try:
            return from_runs.from_runs(known, *terms, options.everything, budget, options.folder, advance)
        except TimeOver as over:
            return unfinished.not_confirmed(known, over, *terms, options.folder)


def for_class(
    torque: str,
    omega: float,
    error: float,
    time: float | None = None,
    strength: float | None = None,
    torque_price: float | None = None,
    one_torque: bool | None = None,
    options: Options = AS_USUAL,
) -> "Recommendation":
    """The method and the step for a class of torque, for bodies that are not known.

    From the errors of random bodies, or from runs of some where these do not reach.

    Parameters
    ----------
    torque : str
        A torque class (``print(list(polhode.ensembles.CLASSES))``), or ``smooth`` or ``friction``, which are several.
    omega : float
        Size of the initial angular velocity, rad/s.
    error : float or str
        The error to stay below, of each radian turned, or at the end of a ``time``: the larger of the angle in rad and of
        omega relative to its size. An angle, a text with its unit, is met by omega, too, where no bodies are run.
    time : float
        Time to simulate, s; needed with a ``strength``.
    strength : float
        The angular acceleration by the torque over omega^2, for which bodies are run; by default 0.01 to 1.
    torque_price : float
        The time of one torque in steps of direct Euler; 100 by default.
    one_torque : bool
        Only methods with one torque in a step, the default; False allows several.
    options : Options
        How the answer is found.

    Raises
    ------
    AdviceError
        A ValueError that says what cannot be answered, and what to ask instead.
    """
    from polhode.advice import cases, from_laws
    from polhode.advice.prices import USUAL
    from polhode.fits.laws import TOGETHER

    for name, value in {"torque": torque, "omega": omega}.items():
        if value is None:
            raise AdviceError(
                f"{name} is missing; a class of torque needs torque and omega, and time unless the error is per radian"
            )
    if not isinstance(torque, str):
        raise AdviceError(f"torque must be the name of a class, got {shown(torque)}")
    _, size = cases.angular_velocity(omega)
    if size == 0:
        raise AdviceError("omega must not be zero: steps are measured in radians turned")
    time = None if time is None else cases.duration(time)
    if strength is not None and torque not in TOGETHER:
        strength = cases.strength_of(strength, torque)
    elif strength is not None:
        strength = checked(number, "strength", strength, least=0.0)
    if strength is None:
        price = _price(USUAL if torque_price is None else torque_price)
        alone = checked(flag, "one_torque", one_torque is None or one_torque)
        with suppress(BeyondLaws):
            return from_laws.from_laws(torque, _error(error), size, time, price, alone, options.everything, options.folder)
    elif time is None:
        raise AdviceError("time is missing: bodies are run for a strength of the torque, and for so long")
    assert time is not None
    return for_motion(cases.case_of_class(torque, size, time, strength), error, None, torque_price, one_torque, options)


def for_spacecraft(
    case: "str | Path | Mapping[str, Any] | None" = None,
    error: float | None = None,
    inertia: Any = None,
    wheels: Any = None,
    omega: Any = None,
    every: float | None = None,
    time: float | None = None,
    torque_price: float | None = None,
    one_torque: bool | None = None,
    triangle: bool = True,
    options: Options = AS_USUAL,
) -> "Recommendation":
    """The method and the step for a satellite, from the errors of random ones: the faster of spin and nutation decides.

    Parameters
    ----------
    case : path or mapping
        A file (YAML or Python) as of :func:`for_motion`, or the contents of a YAML file, with body, wheels and angular
        velocity, and perhaps a controller, from which these are taken. Without it, ``inertia``, ``wheels`` and ``omega`` a
        cubesat is the example.
    error : float or str
        The error to stay below, of each radian of the fastest rate, or at the end of a ``time``: the larger of the angle in rad
        and of omega relative to its size. An angle, a text with its unit, is met by omega, too.
    inertia : sequence
        Three principal moments, or a tensor as in :meth:`polhode.Body.from_tensor`, kg m^2.
    wheels : sequence of 3 float
        The momentum of the wheels, in principal axes or in the axes of the tensor, N m s.
    omega : float or sequence of 3 float
        Angular velocity in the body frame, or its size, rad/s.
    every : float
        Time between two samples of a controller, s.
    time : float
        Time to simulate, s; by default the one of the case, if there is one.
    torque_price : float
        The time of one torque in steps of direct Euler; 100 by default.
    one_torque : bool
        Only methods with one torque in a step; by default also others, since restarts cost methods of one torque several.
    triangle : bool
        Whether the moments must belong to a body that can exist; of a case its own ``triangle`` counts.
    options : Options
        How the answer is found.

    Raises
    ------
    AdviceError
        A ValueError that says what cannot be answered, and what to ask instead.
    """
    from polhode.advice import cases, from_satellites
    from polhode.advice.prices import USUAL

    if case is None:
        body, rates = from_satellites.body_and_rates(inertia, wheels, omega, every, triangle)
    else:
        of_case = {"inertia": inertia, "wheels": wheels, "omega": omega, "every": every}
        if given := [name for name, value in of_case.items() if value is not None]:
            raise AdviceError(f"{given[0]} is part of the case, which is given already")
        known, question = cases.case_of_mapping(case) if isinstance(case, Mapping) else cases.case_of_file(case)
        body, rates = known.starts[0].body, from_satellites.rates_of(known)
        error, time = question.get("error") if error is None else error, known.horizon if time is None else time
        one_torque = question.get("one_torque") if one_torque is None else one_torque
        torque_price = question.get("torque_price") if torque_price is None else torque_price
    return from_satellites.from_satellites(
        body,
        rates,
        _error(error),
        None if time is None else cases.duration(time),
        _price(USUAL if torque_price is None else torque_price),
        checked(flag, "one_torque", one_torque is not None and one_torque),
        options.everything,
        options.folder,
    )


def for_contacts(
    contact: "float | str | Path | Mapping[str, Any] | Scene | ContactTime",
    error: float,
    friction: float | None = None,
    restitution: float | None = None,
    law: str | None = None,
    purpose: str | None = None,
    code: str | None = None,
    contacts: float | None = None,
    options: Options = AS_USUAL,
) -> "Recommendation":
    """The step for many bodies in contact: elastic ones, single impacts with friction, or what is read off an assembly.

    Parameters
    ----------
    contact : float, mapping, str, path, Scene or ContactTime
        Duration of a contact, s; or what it follows from, as arguments of :func:`~polhode.advice.from_scenes.contact`:
        ``young``, ``poisson``, ``density``, ``radius`` and ``speed`` of spheres, ``wall_young`` and ``wall_poisson``. Or a
        scene of :mod:`polhode.manybody`, its key or a ``.py`` file with one, whose friction and restitution are taken too.
    error : float
        The error to stay below, between 0 and 1: of elastic contacts the mean relative error of the energy, of impacts the
        larger of the errors of spin and velocity in units of their change, in bulk the relative change of what is read off.
    friction, restitution : float
        Coefficients of a contact that rubs; a friction of 0 is none, and so is a restitution of 1 by itself. Named, they make
        it a question about such contacts, whose step does not depend on their values; of impacts these must lie in the range
        that was run.
    law : str
        Its law of force (``print(polhode.manybody.forces)``); an error if it was not run.
    purpose : str
        What a contact that rubs is simulated for: ``"impacts"``, single ones, the default; or ``"bulk"``, what is read off an
        assembly.
    code : str
        ``"LAMMPS"`` or ``"YADE"``, if contacts are computed as in this code. It changes no question: without friction,
        restitution, law and purpose the answer is the elastic one, in the words of the code.
    contacts : float
        Time that each body is in contact during the run, in contact times; 16 by default. Of elastic contacts.
    options : Options
        How the answer is found.

    Raises
    ------
    AdviceError
        A ValueError that says what cannot be answered, and what to ask instead.
    """
    from polhode.advice import from_contacts, from_friction, from_scenes

    if not isinstance(contact, from_contacts.ContactTime):
        is_scene = isinstance(contact, str | Path) or hasattr(contact, "contact_time")
        made_of: Mapping[str, Any] = {"case" if is_scene else "contact_time": contact}
        made_of = contact if isinstance(contact, Mapping) else made_of
        contact = from_scenes.contact(**{str(name): value for name, value in made_of.items()})
    given = {"friction": friction, "restitution": restitution, "law": law, "purpose": purpose, "code": code}
    rubs: dict[str, Any] = {name: contact.rubs.get(name) if value is None else value for name, value in given.items()}
    bound = _error(error)
    if isinstance(bound, Angle):
        raise AdviceError(f"error: of contacts it is no angle; write a number without a unit, got {shown(error)}")
    for name in ("friction", "restitution"):
        if rubs[name] is not None:
            rubs[name] = from_friction.coefficient(name, rubs[name])
    for name in ("law", "purpose", "code"):
        if rubs[name] is not None and not isinstance(rubs[name], str):
            raise AdviceError(f"{name} must be a word, got {shown(rubs[name])}")
    if rubs["friction"] == 0:
        rubs["friction"] = None
    if all(value is None or name == "code" or (name == "restitution" and value == 1) for name, value in rubs.items()):
        count = None if contacts is None else checked(positive, "contacts", contacts)
        return from_contacts.from_contacts(contact, bound, options.folder, options.everything, count, rubs["code"])
    if contacts is not None:
        raise AdviceError("contacts belongs to contacts without friction; leave it out")
    return from_friction.from_friction(contact, bound, rubs.pop("purpose") or "impacts", **rubs, results=options.folder)


def for_liquid(
    liquid: str | float | None = None,
    drift: float | None = None,
    code: str | None = None,
    options: Options = AS_USUAL,
    *,
    length: str | float | None = None,
    bath: str | None = None,
    gamma: str | float | None = None,
    bias: float | None = None,
    molecule: str | Path | None = None,
    liquid_density: float | None = None,
) -> "Recommendation":
    """The method and the step for a liquid of rigid molecules at constant energy, or in a heat bath.

    Parameters
    ----------
    liquid : str or float
        A liquid that was run (``"water64"``), its molecule (``"spce"``, ``"tip4p2005"``), or the period of the fastest
        libration of another: in s, or with its unit as a text (``"33fs"``, ``"0.033 ps"``).
    drift : float
        Of the energy, to stay below: kT per degree of freedom and ns; 0.01 by default, for runs of 1 ns. 0.01/N for N ns.
    code : str
        ``"LAMMPS"``, ``"GROMACS"`` or ``"OpenMM"``, or without a bath ``"AMBER"``, for its own method and what to write there;
        with the bath ``nose-hoover`` ``"LAMMPS"`` alone, with ``v-rescale`` ``"GROMACS"``.
    length : str or float, optional
        Of the run at constant energy, in s or with its unit (``"10ns"``): in place of ``drift``, which is 0.01 over so many ns.
    bath : "langevin", "nose-hoover" or "v-rescale", optional
        The run is in a heat bath: the answer has the scheme, the step and where to read the temperature.
    gamma : str or float
        The friction, which the bath ``langevin`` needs and no other takes, with its unit (``"1/ps"``) or in 1/s.
    bias : float, optional
        By how many K the temperatures of translation and of rotation may be off at 300 K in the baths ``langevin`` and
        ``v-rescale``; 0.5 by default.
    molecule : str or path, optional
        In place of ``liquid`` the file of a molecule (:meth:`polhode.manybody.Molecule.from_file`), whose fastest libration is
        measured in a liquid of 64 such molecules: half a minute for three sites.
    liquid_density : float, optional
        Of such a liquid, g/cm^3; 1 by default.
    options : Options
        How the answer is found.

    Raises
    ------
    AdviceError
        A ValueError that says what cannot be answered, and what to ask instead.
    """
    from polhode.advice import from_baths, from_liquids
    from polhode.fits.liquid_drifts import LENGTH, STATED

    if molecule is not None:
        from polhode.advice.librations import period_in_file

        period, words = period_in_file(molecule, liquid_density)
        of_run: dict[str, Any] = {"length": length, "bath": bath, "gamma": gamma, "bias": bias}
        answer = for_liquid(f"{period:.3g}fs", drift, code, options, **of_run)
        return replace(answer, evidence=[words, *answer.evidence], asked=answer.asked | {"molecule": str(molecule)})
    if liquid_density is not None:
        raise AdviceError("liquid_density belongs to the file of a `molecule`")
    if liquid is None:
        raise AdviceError("liquid is missing: a liquid that was run, a period, or the file of a `molecule`")
    if bath is not None:
        if drift is not None or length is not None:
            raise AdviceError(
                f"{'length' if drift is None else 'drift'} belongs to runs at constant energy; leave it out: in a bath the "
                "length does not matter, as the bath takes the drift out, and what remains is a `bias` of the temperature, in K"
            )
        return from_baths.from_baths(liquid, bath, gamma, bias, options.folder, options.everything, code)
    if gamma is not None or bias is not None:
        raise AdviceError(f"{'bias' if gamma is None else 'gamma'} belongs to a run in a heat bath; add `bath`, langevin")
    if drift is not None and length is not None:
        raise AdviceError("`drift` and `length` say the same: drift is 0.01 over the length of the run in ns; give one of them")
    allowed = STATED if drift is None else checked(positive, "drift", drift)
    if length is not None:
        allowed = STATED * LENGTH / from_liquids.time_of(length)
    return from_liquids.from_liquids(liquid, allowed, options.folder, options.everything, code)


def problem_in_file(path: str | Path) -> "Problem":
    """The problem of a case file, as :func:`for_motion` runs it, for :func:`polhode.simulate`.

    Parameters
    ----------
    path : str or path
        A ``.yaml`` file with body, torque and time, or a ``.py`` file with a problem. If the file leaves the direction of the
        angular velocity open, it is drawn as for the first start of the answer.

    Raises
    ------
    AdviceError
        If there is no such file, or it does not hold a case; the message names the file.
    TypeError
        If it is no path.
    """
    from polhode.advice.cases import case_of_file

    if not isinstance(path, str | Path):
        raise TypeError(f"path must be the path of a file, got {shown(path)}")
    return case_of_file(path)[0].starts[0]


def recommend(
    case: "str | Path | Mapping[str, Any] | Problem | Scene | Fluid | Clump | None" = None, **given: Any
) -> "Recommendation":
    """The method and the step that reach an error soonest: one of four questions, by the arguments that are given.

    * **a motion**, :func:`for_motion`: ``case``, or ``inertia``, ``omega``, ``torque`` and ``time``.
    * **a class of torque**, :func:`for_class`, for bodies that are not known: ``torque`` and ``omega`` without
      ``inertia``, with or without ``laws=True``. For satellites, :func:`for_spacecraft`:
      ``spacecraft=True`` or ``torque="wheels"``.
    * **contacts** of many bodies, :func:`for_contacts`: ``contact_time``, or material, size and speed, or as ``case`` a scene,
      or a clump or the file of one with its material.
    * **a liquid**, :func:`for_liquid`: ``liquid``, or ``molecule``, or as ``case`` a liquid.

    Parameters
    ----------
    case : str, path, mapping, Problem, Scene, Fluid or Clump, optional
        As of these functions.
    given
        Arguments of one of these functions, of its ``case`` or ``contact``, and of :class:`Options`.

    Returns
    -------
    Recommendation
        With ``method``, ``dt`` (s), ``interval`` (s), ``serves`` (for which cases the step is sufficient), ``alternatives``,
        ``evidence`` and ``to_json()``; printed, it is the answer in words, and ``why()`` says how it is known.

    Raises
    ------
    AdviceError
        A ValueError that says what cannot be answered, and what to ask instead.
    TypeError
        For an argument that no question has; the message suggests the nearest.
    """
    every = list(dict.fromkeys(name for *_, names in [*QUESTIONS.values(), (SPACECRAFT,)] for name in (*names, *COMMON)))
    for name in given:
        if name not in every:
            raise TypeError(f"recommend has no argument {name}; {nearest(name, every)}")
    checked(flag, "laws", given.get("laws", False))
    options = Options(**{name: given[name] for name in (*COMMON, "limit") if given.get(name) is not None})
    given = {"case": case, **given}
    given = {name: v for name, v in given.items() if v is not None and (v is not False or name in ("one_torque", "triangle"))}

    def of(*names: str) -> dict[str, Any]:
        return {name: given[name] for name in names if name in given}

    get: Callable[[str], Any] = given.get
    about_wheels = isinstance(given.get("torque"), str) and given["torque"] == "wheels"
    if about_wheels or "spacecraft" in given:
        asked_for = of(*SPACECRAFT[1:], "error", "torque_price", "one_torque")
        for name in set(given) - {*SPACECRAFT, *COMMON, "torque", "laws", "error", "torque_price", "one_torque"}:
            raise AdviceError(f"{name} does not belong to a question about a spacecraft, which takes {', '.join(SPACECRAFT)}")
        return for_spacecraft(**asked_for, options=options)
    scene = None
    material = of(*MATERIAL, *WALLS)
    if "case" in given or "scale" in given:
        from polhode.advice import from_scenes

        scene = from_scenes.scene_of(case, material, get("scale"))
    question = _question(given, scene)
    if question == "liquid":
        of_run = of("molecule", "liquid_density", "length", "bath", "gamma", "bias")
        return for_liquid(get("liquid") if scene is None else scene.key, get("drift"), get("code"), options, **of_run)
    if question == "contacts":
        contact = of("contact_time", *material) if scene is None else from_scenes.contact_of(cast("Scene", scene), material)
        return for_contacts(contact, get("error"), **of(*RUBBING, "contacts"), options=options)
    more = of("time", "torque_price", "one_torque")
    if question == "class":
        return for_class(get("torque"), get("omega"), get("error"), **of("strength"), **more, options=options)
    if case is None:
        case = of(*BODY)
    elif body := of(*BODY):
        raise AdviceError(f"{next(iter(body))} is part of the case, which is given already")
    return for_motion(cast("Problem", case), get("error"), **more, options=options)


def _question(given: Mapping[str, Any], scene: "Scene | Fluid | None") -> str:
    """Which of :data:`QUESTIONS` is asked.

    Raises
    ------
    AdviceError
        If there is none, if there are two, or if an argument belongs to another one.
    """
    of_case = "motion" if scene is None else "contacts" if hasattr(scene, "contact_time") else "liquid"
    openings = {"case": of_case, "inertia": "motion", "contact_time": "contacts"}
    if scene is None:
        # Of the material whatever is given stands for all of it.
        openings |= dict.fromkeys([name for name in MATERIAL if name in given][:1], "contacts")
    openings |= {"liquid": "liquid", "molecule": "liquid", "laws": "class"}
    opened = {name: of for name, of in openings.items() if name in given}
    if len(opened) > 1:
        first, second, *_ = opened
        raise AdviceError(f"`{first}` and `{second}` are two questions; ask one")
    if not opened and "torque" in given:
        opened["torque"] = "class"
    if not opened:
        for name in given:
            of = [question for question, (*_, names) in QUESTIONS.items() if name in names]
            if len(of) == 1:
                about, needs, _ = QUESTIONS[of[0]]
                raise AdviceError(f"{name} belongs to a question about {about}, which needs {needs}")
        raise AdviceError(
            "there are four questions: " + "; ".join(f"about {about} ({needs})" for about, needs, _ in QUESTIONS.values())
        )
    question = next(iter(opened.values()))
    about, _, names = QUESTIONS[question]
    for name in given:
        if name not in (*names, *COMMON):
            of = [other for other, _, theirs in QUESTIONS.values() if name in theirs]
            if name == "code":
                raise AdviceError(_without_code(given, question))
            if name in IN_FILE:
                of = [f"a spacecraft (`spacecraft`; of a motion {IN_FILE[name]} in a file)"]
            raise AdviceError(f"{name} belongs to a question about {' or '.join(of)}; this is one about {about}")
    return question


def _without_code(given: Mapping[str, Any], question: str) -> str:
    """Why a code is refused for a single body, where to read on, and the answer without it if released data have it."""
    text = (
        f"code belongs to a question about contacts or a liquid, and this is one about {QUESTIONS[question][0]}. What engines "
        "run, and what to do in each, is in docs/engines.md; for its step leave `code` out"
    )
    if question != "class" or {"strength", "time"} & set(given):
        return text
    return f"{text}: {recommend(**{name: value for name, value in given.items() if name != 'code'}).sentence}"


def _error(error: Any) -> float:
    if error is None:
        raise AdviceError("error is missing: the error to stay below, between 0 and 1")
    error = in_radians(error)
    allowed: float = checked(positive, "error", error)
    if allowed >= 1:
        raise AdviceError(f"error must lie between 0 and 1, got {allowed!r}")
    if allowed < SMALLEST_ERROR:
        raise AdviceError(f"error must be at least {SMALLEST_ERROR:g}, which double precision resolves, got {allowed:g}")
    return Angle(allowed) if isinstance(error, Angle) else allowed


def _price(value: Any) -> float:
    price: float = checked(number, "torque_price", value, least=0.0)
    if price > HIGHEST_PRICE:
        raise AdviceError(f"torque_price must be at most {HIGHEST_PRICE:g} steps of direct Euler, got {price:g}")
    return price
