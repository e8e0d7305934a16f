"""Advice: which method and which step, as four questions: of a motion, of a class of torque, of contacts, of a liquid."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from polhode.advice.arguments import MATERIAL, RUBBING, WALLS
from polhode.advice.arguments import PURPOSES as PURPOSES
from polhode.advice.errors import AdviceError, BeyondLaws, checked
from polhode.interface.arguments import flag, number, positive, shown

if TYPE_CHECKING:
    from polhode.advice.answer import Recommendation
    from polhode.advice.budget import Budget
    from polhode.advice.from_contacts import ContactTime
    from polhode.manybody import Clump, Fluid, Scene
    from polhode.problems.problem import Problem

__all__ = ["AdviceError", "recommend"]

#: What every question about single bodies takes besides.
OF_METHODS = ("error", "torque_price", "one_torque", "limit")
#: The four questions: what each is about, what it needs, and its arguments. Those of :data:`COMMON` belong to all.
QUESTIONS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "motion": (
        "a motion",
        "`case`, or `inertia`, `omega`, `torque` and `time`",
        ("case", "inertia", "triangle", "omega", "orientation", "torque", "strength", "time", *OF_METHODS),
    ),
    "class": ("a class of torque", "`torque` and `omega`", ("torque", "laws", "omega", "strength", "time", *OF_METHODS)),
    "contacts": (
        "contacts",
        "`contact_time`, or `young` and so on, or a scene",
        ("case", "contact_time", *MATERIAL, *WALLS, "scale", *RUBBING, "contacts", "error"),
    ),
    "liquid": ("a liquid", "`liquid`", ("case", "liquid", "drift")),
}
COMMON = ("everything", "results", "progress")
#: The smallest error, and the highest price of a torque, that may be asked for.
SMALLEST_ERROR, HIGHEST_PRICE = 1e-15, 1e12
#: The stages of an answer from runs, and what their bars are called.
STAGES = {"compiling": "compiling", "motion": "exact motion", "methods": "running the methods", "interval": "other starts"}


def recommend(
    case: "str | Path | Mapping[str, Any] | Problem | Scene | Fluid | Clump | None" = None,
    *,
    error: float | None = None,
    torque_price: float | None = None,
    one_torque: bool | None = None,
    inertia: "Sequence[float] | Sequence[Sequence[float]] | None" = None,
    triangle: bool | None = None,
    omega: float | Sequence[float] | None = None,
    orientation: Sequence[float] | None = None,
    torque: str | None = None,
    strength: float | None = None,
    time: float | None = None,
    laws: bool = False,
    contact_time: float | None = None,
    contacts: float | None = None,
    young: float | None = None,
    poisson: float | None = None,
    density: float | None = None,
    radius: float | None = None,
    speed: float | None = None,
    wall_young: float | str | None = None,
    wall_poisson: float | None = None,
    scale: float | None = None,
    friction: float | None = None,
    restitution: float | None = None,
    law: str | None = None,
    purpose: str | None = None,
    code: str | None = None,
    liquid: str | float | None = None,
    drift: float | None = None,
    everything: bool = False,
    limit: float | None = None,
    results: str | Path | None = None,
    progress: bool = False,
) -> "Recommendation":
    """The method and the step that reach an error soonest.

    Four questions, each with its own few arguments:

    * **a motion**: ``case``, or ``inertia``, ``omega``, ``torque`` and ``time``. Methods that can win are run on
      this very problem, with ``everything`` all.
    * **a class of torque**, for bodies that are not known: ``torque`` and ``omega``, also ``time`` and ``strength``. From the
      errors of random bodies, or from runs of some where these do not reach.
    * **contacts** of many bodies: ``contact_time``, or material, size and speed, or a scene or clump as ``case``. Elastic ones
      from the energy errors of the scenes; with ``friction`` and ``restitution`` single impacts, with ``purpose="bulk"`` what
      is read off an assembly.
    * **a liquid** at constant energy: ``liquid``, by its key or its period, and ``drift``.

    Parameters
    ----------
    case : str, path, mapping, Problem, Scene, Fluid or Clump, optional
        A test problem by its key, a problem of your own, a ``.yaml`` or ``.py`` file with one, or the contents of the former.
        Or a scene of :mod:`polhode.manybody`, its key or a ``.py`` file with one, of which contact time, friction and
        restitution are taken. Or a clump or the file of one, with ``young``, ``poisson``, ``density`` and ``speed``.
    error : float
        The error to stay below, between 0 and 1: the larger of the angle in rad and of |omega - exact| over the largest
        |omega|, at all times; for contacts the mean relative error of the energy. With ``purpose``: of impacts the larger of
        the errors of spin and velocity in units of their change, in bulk the relative change of what is read off.
    torque_price : float
        The time of one torque in steps of direct Euler; 100 by default, since the forces of a simulation take far longer than a
        rotation.
    one_torque : bool
        Only methods with one torque in a step, as large simulations need them: the default. False allows several.
    inertia : (Ix, Iy, Iz), array (3, 3) or six numbers
        Principal moments, or an inertia tensor as in :meth:`polhode.Body.from_tensor`, kg m^2. The body frame of ``omega`` and
        ``orientation`` is that of the tensor.
    triangle : bool
        False if the moments need not be those of a body that can exist.
    omega : float or (wx, wy, wz)
        Initial angular velocity in the body frame, rad/s, or its size, if its direction is not known.
    orientation : (q0, qx, qy, qz), optional
        Initial orientation, body to lab.
    torque, strength : str, float
        A torque class (``print(list(polhode.ensembles.CLASSES))``), and the angular acceleration by it over omega^2.
    time : float
        Time to simulate, s.
    laws : bool
        Answer from the laws of random bodies.
    contact_time : float
        Duration of a contact, s.
    contacts : float
        Time that each body is in contact during the run, in contact times; 16 by default.
    young, poisson, density, radius, speed : float
        Of spheres in contact: Pa, 1, kg/m^3, m, m/s.
        Of a clump the radius is its own; of a scene only the speed may be given, by default that at its start.
    wall_young, wall_poisson : float
        Of the walls, where they are of another material: Pa, infinity for rigid ones, and 1, by default that of the spheres.
    scale : float
        Unit of length of the file of a clump, m.
    friction, restitution : float
        Coefficients of a contact that rubs; a friction of 0 is none.
    law : str
        Its law of force (``print(polhode.manybody.forces)``); an error if it was not run.
    purpose : str
        What a contact that rubs is simulated for: ``"impacts"``, single ones, the default; or ``"bulk"``, what is read off an
        assembly.
    code : str
        ``"LAMMPS"`` or ``"YADE"``, if the contacts are those of this code as it is.
    liquid : str or float
        A liquid that was run (``"water64"``), or the period of the fastest libration of another: in s, or with its unit as a
        text (``"33fs"``, ``"0.033 ps"``).
    drift : float
        Of the energy, to stay below: kT per degree of freedom and ns; 0.01 by default, for runs of 1 ns. 0.01/N for N ns.
    everything : bool
        List all methods, including the variants that reproduce publications' code.
    limit : float
        Time limit of an answer from runs, s, compilation included. Without it the search may take 60 s of processor time after
        the compilation, which takes up to a minute or two the first time.
    results : path, optional
        Folder of a run whose measurements are to be used; by default ``results`` or the released data: for contacts and laws
        whichever have more initial states or bodies, else ``results`` if there is one.
    progress : bool
        Show bars meanwhile.

    Returns
    -------
    Recommendation
        With ``method``, ``dt`` (s; it serves other starts of the body too), ``interval`` (s), ``alternatives``, ``evidence``
        and ``to_json()``; printed, it is the answer in words.

    Raises
    ------
    AdviceError
        A ValueError that says what cannot be answered, and what to ask instead.
    """
    given = {name: value for name, value in locals().items() if value is not None and value is not False}
    begun = monotonic()
    if results is not None and not isinstance(results, str | Path):
        raise AdviceError(f"results must be the path of a folder, got {shown(results)}")
    folder = None if results is None else Path(results)
    if torque is not None and not isinstance(torque, str):
        raise AdviceError(f"torque must be the name of a class, got {shown(torque)}")
    for name, value in (("laws", laws), ("everything", everything), ("progress", progress)):
        checked(flag, name, value)
    given |= {name: False for name, value in (("one_torque", one_torque), ("triangle", triangle)) if value is False}
    scene = None
    if case is not None or scale is not None:
        from polhode.advice import from_scenes

        scene = from_scenes.scene_of(case, {name: given.get(name) for name in (*MATERIAL, *WALLS)}, scale)
    question = _question(given, scene)
    rubs = {name: given.get(name) for name in RUBBING}
    if question == "liquid":
        return _liquid(scene.key if scene is not None else liquid, drift, folder, everything)
    if question == "contacts":
        material = {name: given.get(name) for name in (*MATERIAL, *WALLS)}
        if scene is None:
            contact = _contact_time(contact_time, material)
        else:
            of_contacts = cast("Scene", scene)
            contact = from_scenes.contact_of(of_contacts, speed, material if material["young"] is not None else {})
            rubs = from_scenes.rubbing_of(of_contacts, rubs)
        return _contacts(contact, contacts, rubs, _error(error), folder, everything)
    from polhode.advice.budget import Budget
    from polhode.advice.prices import USUAL

    price = _price(USUAL if torque_price is None else torque_price)
    budget = None if limit is None else Budget(checked(positive, "limit", limit, "s"), monotonic, begun)
    with _progress(progress) as advance:
        if question == "class":
            alone = checked(flag, "one_torque", one_torque is None or one_torque)
            of_methods = (price, alone, everything, folder, budget, advance)
            return _class(torque, omega, time, strength, _error(error), *of_methods)
        from polhode.advice import from_runs

        body_case, more = _case(case, inertia, triangle, omega, orientation, torque, strength, time)
        wanted = _error(more.get("error") if error is None else error)
        price = _price(more.get("torque_price", USUAL)) if torque_price is None else price
        alone = checked(flag, "one_torque", more.get("one_torque", True) if one_torque is None else one_torque)
        return from_runs.from_runs(body_case, wanted, price, alone, everything, budget, folder, advance)


def _question(given: Mapping[str, Any], scene: "Scene | Fluid | None") -> str:
    """Which of :data:`QUESTIONS` is asked.

    Raises
    ------
    AdviceError
        If there is none, if there are two, or if an argument belongs to another one.
    """
    of_case = "motion" if scene is None else "contacts" if hasattr(scene, "contact_time") else "liquid"
    openings = {"case": of_case, "inertia": "motion", "contact_time": "contacts", "young": "contacts"}
    openings |= {"liquid": "liquid", "laws": "class"}
    material = scene is None and bool({*MATERIAL} & {*given})
    opened = {name: of for name, of in openings.items() if (material if name == "young" else name in given)}
    # Of the material whatever is given stands for all of it.
    opened = {next(n for n in MATERIAL if n in given) if name == "young" else name: of for name, of in opened.items()}
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
            raise AdviceError(f"{name} belongs to a question about {' or '.join(of)}; this is one about {about}")
    return question


def _case(
    case: Any, inertia: Any, triangle: Any, omega: Any, orientation: Any, torque: Any, strength: Any, time: Any
) -> tuple[Any, dict[str, Any]]:
    """The case of a question about a body, and the keys of the question that come with it."""
    from polhode.advice import cases
    from polhode.problems import PROBLEMS
    from polhode.problems.problem import Problem

    if case is None:
        given = {"inertia": inertia, "omega": omega, "torque": torque, "time": time}
        missing = [name for name, value in given.items() if value is None]
        if missing:
            raise AdviceError(f"{missing[0]} is missing; a body of your own needs `inertia`, `omega`, `torque` and `time`")
        question = {} if triangle is None else {"triangle": checked(flag, "triangle", triangle)}
        question |= {} if strength is None else {"strength": strength}
        return cases.case_of_words(inertia, omega, torque, time, orientation=orientation, **question), {}
    extra = {"omega": omega, "orientation": orientation, "torque": torque, "strength": strength, "triangle": triangle}
    for name, value in extra.items():
        if value is not None:
            raise AdviceError(f"{name} is part of the case, which is given already")
    if isinstance(case, Mapping):
        return cases.case_of_mapping(case, time)
    if isinstance(case, str) and not case.endswith((".py", ".yaml", ".yml")) and case in PROBLEMS:
        case = PROBLEMS[case]
    if isinstance(case, str | Path):
        return cases.case_of_file(case, time)
    if not isinstance(case, Problem):
        raise AdviceError(f"case must be a Problem of one body, the key of one, a file or a mapping, got {shown(case)}")
    return cases.case_of_problem(case, time), {}


def _class(
    torque: Any,
    omega: Any,
    time: Any,
    strength: Any,
    error: float,
    torque_price: float,
    one_torque: bool,
    everything: bool,
    results: Path | None,
    budget: "Budget | None",
    progress: Callable[[str, float], object],
) -> "Recommendation":
    from polhode.advice import cases, from_laws
    from polhode.fits.laws import TOGETHER

    for name, value in {"torque": torque, "omega": omega}.items():
        if value is None:
            raise AdviceError(
                f"{name} is missing; a class of torque needs torque and omega, and time unless the error is per radian"
            )
    _, size = cases.angular_velocity(omega)
    if size == 0:
        raise AdviceError("omega must not be zero: steps are measured in radians turned")
    time = None if time is None else cases.duration(time)
    if strength is not None and torque not in TOGETHER:
        strength = cases.strength_of(strength, torque)
    elif strength is not None:
        strength = checked(number, "strength", strength, least=0.0)
    if strength is None:
        with suppress(BeyondLaws):
            return from_laws.from_laws(str(torque), error, size, time, torque_price, one_torque, everything, results)
    elif time is None:
        raise AdviceError("time is missing: bodies are run for a strength of the torque, and for so long")
    from polhode.advice import from_runs

    bodies = cases.case_of_class(str(torque), size, time, strength)
    return from_runs.from_runs(bodies, error, torque_price, one_torque, everything, budget, results, progress)


def _liquid(liquid: Any, drift: Any, results: Path | None, everything: bool) -> "Recommendation":
    from polhode.advice import from_liquids
    from polhode.fits.liquid_drifts import STATED

    allowed = STATED if drift is None else checked(positive, "drift", drift)
    return from_liquids.from_liquids(liquid, allowed, results, everything)


def _contact_time(time: Any, material: dict[str, Any]) -> "ContactTime":
    """The contact time that is given, or that of spheres."""
    from polhode.advice import from_contacts

    if time is not None:
        if given := [name for name in WALLS if material[name] is not None]:
            raise AdviceError(
                f"{given[0]} goes with `young`; a contact time that is given is that of the shortest contact already"
            )
        contact = from_contacts.ContactTime(checked(positive, "contact_time", time, "s"))
        try:
            from_contacts.usable(contact.time)
        except ArithmeticError:
            size = "short to be divided into steps" if contact.time < 1 else "long"
            raise AdviceError(f"contact_time: {contact.time!r} s is too {size}; take other units") from None
        return contact
    if missing := [name for name in MATERIAL if material[name] is None]:
        raise AdviceError(f"{missing[0]} is missing; a contact time follows from {', '.join(MATERIAL)}")
    return from_contacts.of_spheres(
        **{name: checked(number, name, material[name]) for name in MATERIAL}, **{name: material[name] for name in WALLS}
    )


def _contacts(
    contact: "ContactTime",
    contacts: float | None,
    how_it_rubs: dict[str, Any],
    error: float,
    results: Path | None,
    everything: bool,
) -> "Recommendation":
    from polhode.advice import from_contacts, from_friction

    for name in ("friction", "restitution"):
        if how_it_rubs[name] is not None:
            how_it_rubs[name] = from_friction.coefficient(name, how_it_rubs[name])
    for name in ("law", "purpose", "code"):
        if how_it_rubs[name] is not None and not isinstance(how_it_rubs[name], str):
            raise AdviceError(f"{name} must be a word, got {shown(how_it_rubs[name])}")
    if how_it_rubs["friction"] == 0:
        how_it_rubs["friction"] = None
    if all(value is None or (name == "restitution" and value == 1) for name, value in how_it_rubs.items()):
        count = None if contacts is None else checked(positive, "contacts", contacts)
        return from_contacts.from_contacts(contact, error, results, everything, count)
    if contacts is not None:
        raise AdviceError("contacts belongs to contacts without friction; leave it out")
    purpose = how_it_rubs.pop("purpose") or "impacts"
    return from_friction.from_friction(contact, error, purpose, **how_it_rubs, results=results)


def _error(error: Any) -> float:
    if error is None:
        raise AdviceError("error is missing: the error to stay below, between 0 and 1")
    wanted: float = checked(positive, "error", error)
    if wanted >= 1:
        raise AdviceError(f"error must lie between 0 and 1, got {wanted!r}")
    if wanted < SMALLEST_ERROR:
        raise AdviceError(f"error must be at least {SMALLEST_ERROR:g}, which double precision resolves, got {wanted:g}")
    return wanted


def _price(value: Any) -> float:
    price: float = checked(number, "torque_price", value, least=0.0)
    if price > HIGHEST_PRICE:
        raise AdviceError(f"torque_price must be at most {HIGHEST_PRICE:g} steps of direct Euler, got {price:g}")
    return price


@contextmanager
def _progress(show: bool) -> Iterator[Callable[[str, float], None]]:
    """A function (stage, fraction done) that shows bars meanwhile, or does nothing."""
    if not show:
        yield lambda stage, done: None
        return
    from polhode.interface.display import watched
    from polhode.interface.progress import Stage

    stages = {key: Stage(name, 100.0, "%") for key, name in STAGES.items()}
    with watched(*stages.values()):
        yield lambda stage, done: stages[stage].reach(100.0 * done)
