"""Advice: which method and which step for a body of one's own; from runs, from laws, and for many bodies from contacts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polhode.advice.errors import AdviceError, checked
from polhode.interface.arguments import flag, number, positive, shown

if TYPE_CHECKING:
    from polhode.advice.answer import Recommendation
    from polhode.manybody import Clump, Fluid, Scene
    from polhode.problems.problem import Problem

__all__ = ["AdviceError", "recommend"]

#: Materials of contacts: the arguments that give a contact time together.
MATERIAL = ("young", "poisson", "density", "radius", "speed")
#: What else a question about contacts with friction and damping says, and what it may be for.
RUBBING, PURPOSES = ("friction", "restitution", "law", "purpose"), ("impacts", "bulk")
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
    scale: float | None = None,
    friction: float | None = None,
    restitution: float | None = None,
    law: str | None = None,
    purpose: str | None = None,
    liquid: str | float | None = None,
    drift: float | None = None,
    everything: bool = False,
    limit: float | None = None,
    results: str | Path | None = None,
    progress: bool = False,
) -> "Recommendation":
    """The method and the step that reach an error soonest.

    Four kinds of questions. With a body and a torque (``case``, or ``inertia``, ``omega``, ``torque`` and ``time``) every
    method that applies is run on this very problem. With ``laws``, or with a torque but no body, the answer comes from the
    errors of many random bodies. With ``contact_time``, or material, size and speed, it is that for many bodies that collide,
    from the energy errors of the scenes; with ``purpose``, or ``friction`` and ``restitution``, for contacts that rub and are
    damped. With ``liquid`` it is that for molecules at constant energy. A scene, or a clump and its material, asks one of the
    last two kinds.

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
        The time of one torque in steps of direct Euler; 0 by default.
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
    scale : float
        Unit of length of the file of a clump, m.
    friction, restitution : float
        Coefficients of a contact that rubs.
    law : str
        Its law of force (``print(polhode.manybody.forces)``); an error if it was not run.
    purpose : str
        What a contact that rubs is simulated for: ``"impacts"``, single ones, the default; or ``"bulk"``, what is read off an
        assembly.
    liquid : str or float
        A liquid that was run (``"water64"``), or the period of the fastest libration of another, s.
    drift : float
        Of the energy, to stay below: kT per degree of freedom and ns; 0.01 by default.
    everything : bool
        List all methods, including the variants that reproduce publications' code.
    limit : float
        Time limit of an answer from runs, s; 60 by default.
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
    if results is not None and not isinstance(results, str | Path):
        raise AdviceError(f"results must be the path of a folder, got {shown(results)}")
    folder = None if results is None else Path(results)
    if torque is not None and not isinstance(torque, str):
        raise AdviceError(f"torque must be the name of a class, got {shown(torque)}")
    flag("laws", laws)
    flag("everything", everything)
    material = {name: value for name, value in zip(MATERIAL, (young, poisson, density, radius, speed), strict=True)}
    how_it_rubs = dict(zip(RUBBING, (friction, restitution, law, purpose), strict=True))
    if case is not None or scale is not None:
        from polhode.advice import from_scenes

        scene = from_scenes.scene_of(case, material, scale)
        if scene is not None:
            others = {"inertia": inertia, "triangle": triangle, "omega": omega, "orientation": orientation, "torque": torque}
            others |= {"strength": strength, "time": time, "contact_time": contact_time, "liquid": liquid}
            if several := [name for name, value in others.items() if value is not None]:
                raise AdviceError(f"{several[0]} does not belong to a question about a scene or a clump")
            return _from_scene(scene, contacts, speed, how_it_rubs, drift, error, folder, everything)
    asked_for = {
        "case": case is not None,
        "inertia": inertia is not None,
        "contact_time": contact_time is not None,
        "young": any(value is not None for value in material.values()),
        "liquid": liquid is not None,
    }
    if triangle is not None and inertia is None:
        raise AdviceError("triangle belongs to inertia; a file has a key of this name")
    several = [name for name, given in asked_for.items() if given]
    if len(several) > 1:
        raise AdviceError(f"{several[0]} and {several[1]} are two questions; ask one")
    if drift is not None and liquid is None:
        raise AdviceError("drift belongs to a question about a liquid, which needs liquid")
    if liquid is not None:
        others = {"error": error, "omega": omega, "torque": torque, "strength": strength, "time": time, "contacts": contacts}
        for name, value in {**others, **how_it_rubs}.items():
            if value is not None:
                raise AdviceError(f"{name} does not belong to a question about a liquid")
        from polhode.advice import from_liquids
        from polhode.fits.liquid_drifts import STATED

        if not isinstance(liquid, str):
            liquid = checked(positive, "liquid", liquid, "s")
        allowed_drift = STATED if drift is None else checked(positive, "drift", drift)
        return from_liquids.from_liquids(liquid, allowed_drift, folder, everything)
    if asked_for["contact_time"] or asked_for["young"]:
        for name, value in {"omega": omega, "torque": torque, "strength": strength, "time": time}.items():
            if value is not None:
                raise AdviceError(f"{name} does not belong to a question about contacts")
        return _from_contacts(contact_time, contacts, material, how_it_rubs, _error(error), folder, everything)
    for name, value in {"contacts": contacts, **how_it_rubs}.items():
        if value is not None:
            raise AdviceError(f"{name} belongs to a question about contacts, which needs contact_time, or young and so on")
    if laws or (case is None and inertia is None and torque is not None):
        return _from_laws(
            asked_for, orientation, strength, torque, error, omega, time, torque_price, one_torque, everything, folder
        )
    body_case, more = _case(case, inertia, triangle, omega, orientation, torque, strength, time)
    wanted = _error(more.get("error") if error is None else error)
    price = more.get("torque_price", 0.0) if torque_price is None else torque_price
    alone = more.get("one_torque", True) if one_torque is None else one_torque
    from polhode.advice import from_runs

    allowed = from_runs.LIMIT if limit is None else checked(positive, "limit", limit, "s")
    with _progress(progress) as advance:
        return from_runs.from_runs(
            body_case,
            wanted,
            checked(number, "torque_price", price, least=0.0),
            flag("one_torque", alone),
            everything,
            allowed,
            folder,
            advance,
        )


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
        if len(missing) == len(given):
            raise AdviceError(
                "a question needs a body and a torque (inertia, omega, torque, time; or a file), or a contact time"
            )
        if missing:
            raise AdviceError(f"{missing[0]} is missing; a body of your own needs inertia, omega, torque and time")
        question = {} if triangle is None else {"triangle": flag("triangle", triangle)}
        question |= {} if strength is None else {"strength": strength}
        return cases.case_of_words(inertia, omega, torque, time, orientation=orientation, **question), {}
    extra = {"omega": omega, "orientation": orientation, "torque": torque, "strength": strength}
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


def _from_laws(
    asked_for: Mapping[str, bool],
    orientation: Any,
    strength: Any,
    torque: Any,
    error: Any,
    omega: Any,
    time: Any,
    torque_price: Any,
    one_torque: bool | None,
    everything: bool,
    results: Path | None,
) -> "Recommendation":
    from polhode.advice import cases, from_laws

    body = [name for name in ("case", "inertia") if asked_for[name]]
    body += [name for name, value in {"orientation": orientation, "strength": strength}.items() if value is not None]
    if body:
        raise AdviceError(f"{body[0]} belongs to a body that is known; the laws are those of random bodies")
    for name, value in {"torque": torque, "omega": omega}.items():
        if value is None:
            raise AdviceError(f"{name} is missing; the laws need torque and omega, and time unless the error is per radian")
    _, size = cases.angular_velocity(omega)
    if size == 0:
        raise AdviceError("omega must not be zero: steps are measured in radians turned")
    return from_laws.from_laws(
        str(torque),
        _error(error),
        size,
        None if time is None else checked(positive, "time", time, "s"),
        0.0 if torque_price is None else checked(number, "torque_price", torque_price, least=0.0),
        flag("one_torque", True if one_torque is None else one_torque),
        everything,
        results,
    )


def _from_scene(
    scene: "Scene | Fluid",
    contacts: float | None,
    speed: float | None,
    how_it_rubs: dict[str, Any],
    drift: float | None,
    error: Any,
    results: Path | None,
    everything: bool,
) -> "Recommendation":
    from polhode.advice import from_scenes
    from polhode.manybody import Fluid

    if isinstance(scene, Fluid):
        if speed is not None:
            raise AdviceError("speed does not belong to a question about a liquid")
        rubs = {name: value for name, value in how_it_rubs.items() if value is not None}
        return recommend(
            liquid=scene.key, drift=drift, error=error, contacts=contacts, results=results, everything=everything, **rubs
        )
    if drift is not None:
        raise AdviceError("drift belongs to a question about a liquid")
    time, how = from_scenes.contact_of(scene, speed)
    how_it_rubs = from_scenes.rubbing_of(scene, how_it_rubs)
    return _from_contacts(time, contacts, {}, how_it_rubs, _error(error), results, everything, how)


def _from_contacts(
    time: float | None,
    contacts: float | None,
    material: dict[str, float | None],
    how_it_rubs: dict[str, Any],
    error: float,
    results: Path | None,
    everything: bool,
    how: str = "",
) -> "Recommendation":
    from polhode.advice import from_contacts, from_friction

    if time is None:
        missing = [name for name, value in material.items() if value is None]
        if missing:
            raise AdviceError(f"{missing[0]} is missing; a contact time follows from {', '.join(MATERIAL)}")
        given = {name: checked(number, name, value) for name, value in material.items() if value is not None}
        try:
            time = from_contacts.contact_time(**given)
        except ArithmeticError:
            raise AdviceError(f"{', '.join(MATERIAL)} are too small or too large to compute with; use SI units") from None
        how = (
            f"spheres of radius {given['radius']:g} m at {given['speed']:g} m/s, E = {given['young']:g} Pa, "
            f"nu = {given['poisson']:g}, {given['density']:g} kg/m^3"
        )
    time = checked(positive, "contact_time", time, "s")
    if all(value is None for value in how_it_rubs.values()):
        count = None if contacts is None else checked(positive, "contacts", contacts)
        return from_contacts.from_contacts(time, error, results, everything, how, count)
    if contacts is not None:
        raise AdviceError("contacts belongs to contacts without friction; leave it out")
    for name in ("friction", "restitution"):
        if how_it_rubs[name] is not None:
            how_it_rubs[name] = checked(positive, name, how_it_rubs[name])
    for name in ("law", "purpose"):
        if how_it_rubs[name] is not None and not isinstance(how_it_rubs[name], str):
            raise AdviceError(f"{name} must be a word, got {shown(how_it_rubs[name])}")
    purpose = how_it_rubs.pop("purpose") or "impacts"
    return from_friction.from_friction(time, error, purpose, **how_it_rubs, results=results, how=how)


def _error(error: Any) -> float:
    if error is None:
        raise AdviceError("error is missing: the error to stay below, between 0 and 1")
    wanted: float = checked(positive, "error", error)
    if wanted >= 1:
        raise AdviceError(f"error must lie between 0 and 1, got {wanted:g}")
    return wanted


@contextmanager
def _progress(show: bool) -> Iterator[Callable[[str, float], None]]:
    """A function (stage, fraction done) that shows bars meanwhile, or does nothing."""
    if not show:
        yield lambda stage, done: None
        return
    from polhode.interface.progress import Stage, watched

    stages = {key: Stage(name, 1.0) for key, name in STAGES.items()}
    with watched(*stages.values()):
        yield lambda stage, done: stages[stage].reach(done)
