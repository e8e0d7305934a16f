"""Advice for many bodies that collide: the step as a share of the contact time, from the energy errors of the scenes.

The energy of bodies that only collide changes with the resolution of their contacts, whatever their size, stiffness and speed:
what counts is the step over the contact time T. It is that of a head-on collision with a wall, by Hertz's theory:
2.87 (m^2 / (R E*^2 v))^(1/5), with 1/E* = (1 - nu^2)/E + (1 - nu_w^2)/E_w (Landau and Lifshitz, Theory of Elasticity, Sec. 9;
Johnson, Contact Mechanics, Eq. 11.24). Walls of the scenes are of their bodies' material, and two equal bodies touch for
2^(-1/5) T there at the same speed. So T of other walls is that with them if they are harder; if they are softer, that with a
wall of the bodies' own material, since the bodies still touch each other.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from math import inf, isfinite, log10, nan, pi
from pathlib import Path
from sys import float_info
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from polhode.advice import evidence, files
from polhode.advice.answer import Choice, Recommendation, joined_names
from polhode.advice.codes import CONTACTS, UNMEASURED, CodeWords, words_of
from polhode.advice.errors import AdviceError
from polhode.fits import contact_law
from polhode.fits.contact_law import Curve
from polhode.fits.largest_step import SHARE_OF_CASES
from polhode.interface.arguments import number, positive, shown
from polhode.interface.netcdf import group_names, read_dataset
from polhode.manybody.contact import collision_time, largest_overlap
from polhode.manybody.forces import FORCES
from polhode.manybody.material import Material, MaterialPair
from polhode.methods import METHODS

#: The method to recommend if it is as good as any other: the one that most scenes have run, and the cheapest of these.
USUAL = "spiral_leapfrog"
#: Steps within this factor of the largest count as equally large: seeds scatter by more.
CLOSE = 1.1
#: Largest factor by which a step may lie below the finest one that was run.
FARTHEST = 3.0
#: The smallest number of seeds of a scene from which a spread is taken.
FEWEST = 5
#: The part of the states of the scene that asks most for which a second step is named.
NEARLY_ALL = 0.98
#: The smallest number of methods between which a choice is made.
METHODS_TO_CHOOSE = 2


#: What would change every answer on contacts.
WALLS_CHANGE = ("walls of another material (`wall_young`, or the walls of a scene)",)
#: Two equal spheres touch for this part of the time of one with a wall of the same material, at the same speed: m* and R* are
#: half as large. On a rigid wall, which halves 1/E*, a contact is shorter by RIGID.
PAIR, RIGID = 2 ** (-1 / 5), 2 ** (-2 / 5)
#: Common values of what a contact time follows from: the argument that is farthest from its own is named where none can be had.
COMMON_VALUES = {"young": 1e8, "poisson": 0.3, "density": 1e3, "radius": 1e-3, "speed": 1.0, "wall_young": 1e10}
UNITS = {"young": "Pa", "density": "kg/m^3", "radius": "m", "speed": "m/s", "wall_young": "Pa"}


class ContactTime(NamedTuple):
    """A contact time, and what it rests on.

    Parameters
    ----------
    time : T, s
    how : where it comes from, in words
    pair : how long the two bodies that part soonest touch each other at this speed, s; None where it is not known
    walls : what is said of the walls, in a sentence
    law : key of the law of a scene
    rubs : what that law says of friction, restitution and purpose
    heavier : of clumps, kind by kind, the mass over that of the largest sphere; none where bodies are spheres or not known
    """

    time: float
    how: str = ""
    pair: float | None = None
    walls: str = ""
    law: str = ""
    rubs: Mapping[str, Any] = MappingProxyType({})
    heavier: tuple[float, ...] = ()

    def faster(self) -> list[str]:
        """What a faster impact changes, a list of one phrase; empty where the force is proportional to the overlap."""
        is_linear = self.law in FORCES and "stiffness" in FORCES[self.law].parameters
        return [] if is_linear else ["a faster impact, whose T is shorter by the fifth root"]

    def about_pairs(self) -> str:
        """How long two bodies touch, in a sentence; empty if it is not known."""
        if self.pair is None:
            return ""
        longer = f"{self.pair / self.time:.2f} times as long as on the wall"
        return f"Two grains that meet at this relative speed touch for {self.pair:.4g} s, {longer}."

    def shortest(self) -> tuple[float, str]:
        """The shortest contact time of single impacts, s, between two grains or on the wall, and what T is then, in words."""
        if self.pair is None:
            return self.time, "T the contact time"
        if self.pair < self.time:
            return self.pair, "T the contact time of two grains"
        return self.time, "T the contact time on the wall"


def contact_time(young: float, poisson: float, density: float, radius: float, speed: float) -> float:
    """The contact time of a sphere with a wall of the same material that it hits head on, s, by Hertz's theory.

    Parameters
    ----------
    young, poisson, density : of the material; Pa, 1, kg/m^3
    radius, speed : of the sphere; m, m/s

    Raises
    ------
    AdviceError
        As :func:`of_spheres` does.

    Examples
    --------
    >>> round(contact_time(5e6, 0.3, 2500.0, 1e-3, 1.0), 7)
    0.0003091
    """
    return of_spheres(young, poisson, density, radius, speed).time


def of_spheres(
    young: float,
    poisson: float,
    density: float,
    radius: float,
    speed: float,
    wall_young: float | None = None,
    wall_poisson: float | None = None,
) -> ContactTime:
    """The contact time of spheres in walls that may be of another material.

    Parameters
    ----------
    young, poisson, density : of the spheres; Pa, 1, kg/m^3
    radius, speed : of a sphere, and of its impact on a wall; m, m/s
    wall_young, wall_poisson : of the walls, by default the values of the spheres; Pa, infinity or ``"rigid"``, and 1

    Raises
    ------
    AdviceError
        If a value is impossible, or so large or small that there is no contact time; the message names the argument.
    """
    values = {"young": young, "poisson": poisson, "density": density, "radius": radius, "speed": speed}
    try:
        material = Material(density=density, young=young, poisson=poisson)
        positive("radius", radius, "m")
        positive("speed", speed, "m/s")
    except (TypeError, ValueError) as error:
        raise AdviceError(str(error).removeprefix("material: ")) from None
    wall, about_walls = wall_of(material, wall_young, wall_poisson)
    if isinstance(wall, Material):
        values["wall_young"] = wall.young
    with sizes_that_go_together(values):
        mass = 4 / 3 * pi * radius**3 * density
        alike, pair_of_wall = material.reduced, MaterialPair(material, None if isinstance(wall, str) else wall or material)
        on_alike, on_wall = (collision_time(mass, radius, e, speed) for e in (alike, pair_of_wall.reduced))
        pair = collision_time(mass / 2, radius / 2, alike, speed)
        usable(on_alike, on_wall, pair)
    check_overlap(mass, radius, alike, speed, values)
    if wall is not None and on_wall > on_alike:
        about_walls += softer(on_wall)
    how = (
        f"spheres of radius {radius:g} m at {speed:g} m/s, E = {young:g} Pa, nu = {poisson:g}, {density:g} kg/m^3, "
        f"{'on a wall of their own material' if wall is None else 'on ' + in_words(wall)}"
    )
    return ContactTime(min(on_alike, on_wall), how, pair, about_walls)


def wall_of(grains: Material, young: float | str | None, poisson: float | None) -> tuple[Material | str | None, str]:
    """The walls as :class:`polhode.manybody.Scene` has them (``None``: as the grains), and what is said of them.

    Parameters
    ----------
    grains : their material
    young : of the walls, Pa; infinity or ``"rigid"`` for walls that do not give
    poisson : of the walls; by default that of the grains

    Raises
    ------
    AdviceError
        If a value is impossible, or ``poisson`` has no walls to belong to.
    """
    if young is None:
        if poisson is not None:
            raise AdviceError("wall_poisson needs `wall_young`, Young's modulus of the walls")
        return None, (
            f"Walls are taken as of the grains' own material; name theirs with `wall_young` and `wall_poisson`. On a rigid "
            f"wall a contact lasts {RIGID:.2f} times as long."
        )
    if (isinstance(young, str) and young == "rigid") or (isinstance(young, float) and young == inf):
        if poisson is not None:
            raise AdviceError("wall_poisson says nothing of a rigid wall; leave it out")
        return "rigid", "Walls are rigid."
    try:
        nu = grains.poisson if poisson is None else number("wall_poisson", poisson)
        wall = Material(density=grains.density, young=positive("wall_young", young, "Pa; inf for a rigid wall"), poisson=nu)
    except (TypeError, ValueError) as error:
        raise AdviceError(str(error).replace("material: poisson", "wall_poisson")) from None
    note = "" if poisson is not None else f" Poisson's ratio of the walls is taken as that of the grains, {nu:g}."
    return wall, f"Walls have E = {wall.young:g} Pa and nu = {nu:g}.{note}"


def in_words(wall: Material | str) -> str:
    """A wall, in words."""
    return "a rigid wall" if isinstance(wall, str) else f"a wall with E = {wall.young:g} Pa, nu = {wall.poisson:g}"


def softer(time: float) -> str:
    """What is said of walls on which contacts last longer, ``time`` (s): a sentence after a blank."""
    return f" They are softer than the grains: a contact with them lasts {time:.4g} s, and those of the grains decide."


def farthest(values: Mapping[str, Any]) -> str:
    """The name of the argument that is farthest from a common value, in powers of ten, of those in :data:`UNITS`.

    ``values``: name -> number, in SI units.
    """
    known = [name for name in values if name in UNITS]
    return max(known, key=lambda name: abs(log10(float(values[name])) - log10(COMMON_VALUES[name])))


def check_overlap(mass: float, radius: float, modulus: float, speed: float, values: Mapping[str, Any]) -> None:
    """Refuse a collision with a wall in which a sphere would sink in by more than its radius: some value has another unit.

    Parameters
    ----------
    mass, radius, speed : of the sphere; kg, m, m/s
    modulus : the reduced Young's modulus E*, Pa
    values : arguments of the question, name -> number, of which the message names the most unusual one

    Raises
    ------
    AdviceError
        If it sinks in so far.
    """
    overlap = largest_overlap(mass, radius, modulus, speed) / radius
    if overlap > 1:
        name = farthest(values)
        raise AdviceError(
            f"{name}: with {shown(values[name])}{_unit(name)} a sphere would sink into a wall by {overlap:.2g} of its radius; "
            "are all values in SI units?"
        )


def _unit(name: str) -> str:
    return f" {UNITS[name]}" if name in UNITS else ""


def usable(*times: float) -> None:
    """Check that steps can be made of contact times (s).

    Raises
    ------
    ArithmeticError
        If one is not a number of full precision far from the smallest and the largest.
    """
    if not all(float_info.min * 1e9 < time < float_info.max / 1e9 for time in times):
        raise ArithmeticError


@contextmanager
def sizes_that_go_together(values: Mapping[str, Any]) -> Iterator[None]:
    """Context in which a contact time may overflow or vanish; ``values``: arguments of the question, name -> number.

    Raises
    ------
    AdviceError
        If it does; the message names the argument whose value is most unusual.
    """
    try:
        yield
    except ArithmeticError:
        name = farthest(values)
        raise AdviceError(
            f"{name}: no contact time can be computed with {shown(values[name])}{_unit(name)}; use SI units"
        ) from None


def from_contacts(
    contact: ContactTime | float,
    error: float,
    results: Path | None = None,
    everything: bool = False,
    contacts: float | None = None,
    code: str | None = None,
) -> Recommendation:
    """The answer to :func:`polhode.advice.for_contacts` for elastic ones, from the energy errors of the scenes.

    Parameters
    ----------
    contact : with its time, or that time alone, s
    error : to stay below: the mean relative error of the energy
    results : folder of a run; by default a run or the released data, whichever have more states
    everything : whether all methods are listed
    contacts : time that each body is in contact during the run, in contact times; by default
        :data:`polhode.fits.contact_law.CONTACTS`
    code : name of the code in whose words the answer is given, ``"LAMMPS"`` or ``"YADE"``; method and step are the same

    Raises
    ------
    AdviceError
        If no method stays below the error, or only with a step that is :data:`FARTHEST` times finer than the finest run; if the
        measurements lack what the answer needs, or the code is not known.
    """
    words = words_of(code, CONTACTS, others=UNMEASURED)
    duration = contact if isinstance(contact, ContactTime) else ContactTime(contact)
    time, how = duration.time, duration.how
    places = evidence.places("many_body.nc", results, "many_body.nc")
    path, every_curve, why = evidence.richest({path: _read(path) for path in places}, _size, "states of a scene")
    chosen = _comparable(every_curve)
    if contacts is not None:
        counted = {key: [c for c in group if isfinite(c.contacts)] for key, group in chosen.items()}
        if not all(counted.values()):
            raise AdviceError(f"contacts: {path} does not hold how long its bodies were in contact; leave it out")
        chosen = counted
    if not chosen:
        raise AdviceError(f"{path} holds no scene with {FEWEST} states or more; name another run with `results`")
    chosen = {key: group for key, group in chosen.items() if contact_law.common_exponent(group) > 0}
    if not chosen:
        raise AdviceError(f"{path} holds no scene with three step sizes or more; name another run with `results`")
    number = contact_law.CONTACTS if contacts is None else contacts
    steps = {key: contact_law.steps_in_contact(group, error, number) for key, group in chosen.items()}
    shares = {key: float(1 / spread.high) for key, spread in steps.items()}
    advisable = {key: share for key, share in shares.items() if share > 0 and not _as_published(key)}
    if not advisable:
        raise AdviceError(f"error: no method stays below {error!r} in all scenes")
    largest = max(advisable.values())
    key = USUAL if advisable.get(USUAL, 0.0) * CLOSE >= largest else max(advisable, key=lambda each: advisable[each])
    share, scenes_of_best, spread = advisable[key], chosen[key], steps[key]
    finest = min(float(c.share[0]) for c in scenes_of_best)
    if share < finest / FARTHEST:
        raise AdviceError(beyond(error, 1 / share, 1 / finest) + ("" if contacts is None else ", or for less time in contact"))
    nearly_all = float(np.max(contact_law.steps_of_scenes(scenes_of_best, error, number, NEARLY_ALL)))
    finer = f", {mark(nearly_all)} for {NEARLY_ALL:.0%}" if mark(nearly_all) != mark(1 / share) else ""
    rows = [
        Choice(
            method, _label(method), time * s, relative=share / s if s else None, mark=f"T/{1 / s:.0f}" if s else "not reached"
        )
        for method, s in sorted(shares.items(), key=lambda item: (-item[1], item[0]))
        if everything or (s > 0 and not _as_published(method))
    ]
    rows.sort(key=lambda row: row.method != key)
    called = names(scenes_of_best)
    scenes = "; ".join(
        f"{called[c.scene]} ({c.errors.shape[1]} states"
        + (f", in contact for {_count(c.contacts)} T" if isfinite(c.contacts) else ", time in contact not measured, as run")
        + (f", T/{1 / c.share[0]:.0f} to " if len(c.share) > 1 else ", only ")
        + f"T/{1 / c.share[-1]:.0f}) T/{of_scene:.0f}"
        + (", extrapolated" if c.is_extrapolated(float(1 / of_scene)) else "")
        for c, of_scene in zip(scenes_of_best, contact_law.steps_of_scenes(scenes_of_best, error, number), strict=True)
    )
    remarks = [
        f"Median: T/{spread.median:.0f} (the mean over the scenes, the value in the report).",
        f"The error is the mean over the run. The largest is about {contact_law.LARGEST_OVER_MEAN:.2g} times as large, by a "
        "random walk; where that must stay below an error, ask for as much less.",
        *([duration.walls] if duration.walls else []),
    ]
    if any(share >= 0.999 * c.share[-1] for c in scenes_of_best if len(c.share) > 1):
        remarks.append("This is the coarsest step that was run; a longer one may do as well.")
    others = [m for m, s in advisable.items() if m != key and s * CLOSE >= share]
    if others:
        remarks.append(
            "Equally good within what the states decide: "
            + joined_names([_label(m) for m in sorted(others)])
            + ". Take what the code has."
        )
    fewest, most = min(c.clumps for c in scenes_of_best), max(c.clumps for c in scenes_of_best)
    bodies = f"{fewest} to {most}" if most > fewest else f"{most}"
    return Recommendation(
        question=f"Many bodies, contacts of {time:.4g} s{f' ({how})' if how else ''}"
        + f", {contact_law.BODIES} bodies in contact for {number:g} of these each, mean relative energy error below {error:g}",
        best=Choice(key, _label(key), time * share, relative=1.0, mark=f"T/{1 / share:.0f}"),
        sentence=words.first_line(
            time * share, f"T/{1 / share:.0f}, T the contact time, for elastic bodies in contact for {_count(number)} T each"
        )
        if words
        else f"Take {_label(key)} ({key}) with dt = T/{1 / share:.0f} = {time * share:.3g} s, T the contact time, for "
        f"bodies in contact for {_count(number)} T each.",
        serves=f"It is sufficient for {SHARE_OF_CASES:.0%} of the states of the most demanding scene{finer}. All contacts are "
        "elastic; of others name `friction` or `restitution`.",
        costs=of_a_contact(1 / share, 1 / finest)
        + (f" Of the others {len(others)} need no shorter step: take what the code has." if others and not words else ""),
        notes=_on_rotation(words, every_curve),
        changes=[
            "friction and damping (`friction` and `restitution`; `purpose` bulk)",
            "n times as long in contact takes n^(1/5) times as many steps (`contacts`), n times as many bodies as many less",
            *duration.faster(),
            *WALLS_CHANGE,
        ],
        interval=(time / nearly_all, float(time / spread.low)),
        interval_means=f"Interval: T/{nearly_all:.0f} to T/{spread.low:.0f}, from {NEARLY_ALL:.0%} of the states of the scene "
        "that asks most to a tenth of those of the one that asks least.",
        alternatives=rows,
        evidence=[
            f"{SHARE_OF_CASES:.0%} of the states of every scene keep the mean |dE/E0| of a run below the error with this and "
            f"all smaller steps; scaled to this number of bodies and time in contact: {scenes}.",
            f"The scenes have {bodies} bodies. Between the steps that were run, and beyond them where said, "
            f"the error is a power of dt: here {contact_law.common_exponent(scenes_of_best):.2g}.",
            "Contact time T: head on against a wall, by Hertz's theory, 2.87 (m^2/(R E*^2 v))^(1/5). In the scenes walls are "
            f"of the bodies' material, and two equal bodies touch for {PAIR:.2f} T at the same relative speed: the step allows "
            "for it. "
            "All contacts are elastic and without friction.",
            f"From {files.named(path)}. {why}".strip(),
        ],
        error=error,
        kind="contacts",
        asked={"contact_time": time, "error": error, "contacts": contacts} | ({"code": words.name} if words else {}),
        remarks=remarks,
        shown=len(rows) if everything else 5,
    )


def beyond(error: float, steps: float, finest: float) -> str:
    """Why a step is not named that is more than :data:`FARTHEST` times finer than the finest that was run, as a message.

    ``error`` is the one asked for, ``steps`` in a contact would be needed, ``finest`` in a contact were run.
    """
    return (
        f"error: {error!r} would need steps of {mark(steps)}, far below the finest that was run, T/{finest:.0f}, and an answer "
        f"reaches {FARTHEST:g} times as far; ask for a larger one"
    )


def of_a_contact(steps: float, finest: float) -> str:
    """How many steps a contact takes, in a sentence, and whether that is more than ``finest``, the most that was run."""
    beyond_all = f" (extrapolated: the finest that was run is T/{finest:.0f})" if round(steps) > round(finest) else ""
    return f"A contact takes {steps:.0f} steps{beyond_all}, with one evaluation of the forces each."


def _on_rotation(words: CodeWords | None, every_curve: Iterable[Curve]) -> list[str]:
    """How much larger the energy error of clumps is with the rotation of a code, at the finest step that both were run with."""
    if words is None:
        return []
    by_scene = {(c.scene, c.method): c for c in every_curve}
    ratios = []
    for scene in {name for name, method in by_scene if method == words.method and (name, USUAL) in by_scene}:
        both = [by_scene[scene, method] for method in (words.method, USUAL)]
        theirs, usual = (dict(zip(np.round(1 / c.share, 3), c.errors.mean(axis=1), strict=True)) for c in both)
        if common := set(theirs) & set(usual):
            steps = max(common)
            ratios.append((steps, theirs[steps] / usual[steps], both[0].label))
    if not ratios:
        return [f"It is the step for spheres; clumps were not run with the rotation of {words.name}."]
    finest, ratio, label = max(ratios)
    for_spheres = "It is the step for spheres, which do not turn without friction. " if ratio > CLOSE else ""
    where = f"{label.removesuffix(' in a box')}, T/{finest:.0f}" + ", the only scene it was run on" * (len(ratios) == 1)
    return [
        f"{for_spheres}With the rotation of {words.name} ({_label(words.method).removesuffix(f' ({words.name})')}) clumps have "
        f"{ratio:.2g} times the energy error of {_label(USUAL)} ({where})"
        + ("; their step is shorter." if for_spheres else ".")
    ]


def mark(steps: float) -> str:
    """A step as a part of the contact time T, in words, from the number of steps in a contact: ``T/33``."""
    return f"T/{steps:.0f}" if steps < 1e6 else f"T/{steps:.3g}"


def _count(contacts: float) -> str:
    return f"{contacts:,.0f}" if contacts >= 10 else f"{contacts:.2g}"


def _read(path: Path) -> list[Curve]:
    with evidence.of_this_version(path):
        return list(curves(path))


def _size(every_curve: list[Curve]) -> evidence.Size:
    """The states of the scene that has most, and the number of scenes with enough states."""
    return max((c.errors.shape[1] for c in every_curve), default=0), len({c.label for c in every_curve})


def names(some_curves: Iterable[Curve]) -> dict[str, str]:
    """Key of a scene -> what to call it, for the scenes of some curves; no two are called alike.

    Names are without the box that all have, and distinguished by the spin.
    """
    every_curve = list(some_curves)
    called = {c.scene: c.label.removesuffix(" in a box") for c in every_curve}
    for c in every_curve:
        if c.spin == 0 and sum(called[c.scene] == name for name in called.values()) > 1:
            called[c.scene] += " without spin"
    alike = [scene for scene, name in called.items() if list(called.values()).count(name) > 1]
    return called | {scene: f"{called[scene]}, {scene}" for scene in alike}


def _comparable(every_curve: list[Curve]) -> dict[str, list[Curve]]:
    """The curves of the methods that ran with the same bodies, by method.

    With the same bodies and spin a method has one curve, that of most steps; a curve of a single step counts only where the
    bodies were run with no more. Bodies that few methods were run with are left out until some methods have all in common.
    """
    usable: dict[tuple[str, str], list[Curve]] = {}
    for (method, label), group in groupby(
        sorted(every_curve, key=lambda c: (c.method, c.label)), lambda c: (c.method, c.label)
    ):
        most: dict[tuple[str, int, float], Curve] = {}
        for c in sorted(group, key=lambda c: (len(c.share), c.errors.shape[1])):
            most[c.kind] = c
        several = [c for c in most.values() if len(c.share) > 1]
        usable[method, label] = several or list(most.values())
    ran = {label: {m for m, other in usable if other == label} for _, label in usable}
    labels = sorted(ran, key=lambda label: len(ran[label]), reverse=True)
    while len(labels) > 1 and len(set.intersection(*(ran[label] for label in labels))) < METHODS_TO_CHOOSE:
        labels.pop()
    common = set.intersection(*(ran[label] for label in labels)) if labels else set()
    return {key: [c for label in labels for c in usable[key, label]] for key in sorted(common)}


def curves(path: Path) -> Iterator[Curve]:
    """The energy errors of every method on every scene of a many_body.nc, one curve after the other.

    Scenes with fewer than :data:`FEWEST` seeds are left out.

    Raises
    ------
    DamagedFile
        If the file is damaged.
    """
    every_curve: list[Curve] = []
    for name in group_names(path):
        data = read_dataset(path, name)
        if "energy_error_mean" in data and "contact_time" in data.attrs:
            every_curve += contact_law.curves(name, data)
    for c in every_curve:
        if c.errors.shape[1] >= FEWEST:
            yield c if isfinite(c.contacts) else replace(c, contacts=_counted_elsewhere(c, every_curve))


def _counted_elsewhere(curve: Curve, every_curve: list[Curve]) -> float:
    """The time in contact of a scene that lacks it, from other runs of the same bodies, in proportion to the horizon; else NaN.

    Of the same spin if there are such runs; the spin hardly matters, as the bodies fly at the same speed.
    """
    others = [c for c in every_curve if c.kind[:2] == curve.kind[:2] and isfinite(c.contacts)]
    if not others:
        return nan
    best = max(others, key=lambda c: (c.spin == curve.spin, c.errors.shape[1]))
    return best.contacts * curve.horizon / best.horizon


def _as_published(key: str) -> bool:
    from polhode.fits.ranking import AS_PUBLISHED

    return key.endswith(AS_PUBLISHED)


def _label(key: str) -> str:
    return METHODS[key].label if key in METHODS else key
