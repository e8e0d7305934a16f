"""What a scene asks, or a clump with its material: the contact time, and how its contacts rub; or which liquid it is."""

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from math import inf, isfinite, pi, sqrt
from pathlib import Path
from typing import Any

from polhode.advice.arguments import MATERIAL, WALLS
from polhode.advice.errors import AdviceError, checked
from polhode.advice.from_contacts import (
    PAIR,
    ContactTime,
    check_overlap,
    in_words,
    of_spheres,
    sizes_that_go_together,
    softer,
    usable,
    wall_of,
)
from polhode.interface.arguments import number, positive, shown
from polhode.manybody.clump import Clump
from polhode.manybody.contact import collision_time
from polhode.manybody.fluid import Fluid
from polhode.manybody.material import Material, MaterialPair
from polhode.manybody.molecule import Molecule
from polhode.manybody.scene import Scene
from polhode.manybody.scenes import SCENES
from polhode.problems import PROBLEMS
from polhode.registry import nearest

#: A law whose springs are those of the material begins as Hertz's; of another one the stiffness must be known.
OF_THE_MATERIAL = ("hertz", "viscoelastic")


def contact(case: Any = None, scale: float | None = None, contact_time: float | None = None, **material: Any) -> ContactTime:
    """A contact time that is given, or that of spheres, of a clump or of a scene.

    Parameters
    ----------
    case : a scene, its key or its Python file; or a clump or the file of one
    scale : unit of length of the file of a clump, m
    contact_time : s
    material : ``young`` (Pa), ``poisson``, ``density`` (kg/m^3), ``radius`` (m) and ``speed`` (m/s) of spheres, of a clump
        without ``radius``; ``wall_young`` (Pa) and ``wall_poisson``

    Raises
    ------
    AdviceError
        Naming what is missing or impossible.
    """
    for name in material:
        if name not in (*MATERIAL, *WALLS):
            raise AdviceError(f"a contact has no {name}; {nearest(name, [*MATERIAL, *WALLS, 'contact_time', 'case', 'scale'])}")
    scene = None if case is None and scale is None else scene_of(case, material, scale)
    if isinstance(scene, Scene):
        return contact_of(scene, material)
    if case is not None:
        raise AdviceError(f"contact must be a time, a scene, or a clump with its material, got {shown(case)}")
    if contact_time is None:
        if missing := [name for name in MATERIAL if material.get(name) is None]:
            raise AdviceError(f"{missing[0]} is missing; a contact time follows from {', '.join(MATERIAL)}")
        return of_spheres(*(checked(number, name, material[name]) for name in MATERIAL), *map(material.get, WALLS))
    if given := [name for name in WALLS if material.get(name) is not None]:
        raise AdviceError(f"{given[0]} goes with `young`; a contact time that is given is that of the shortest contact already")
    time = checked(positive, "contact_time", contact_time, "s")
    try:
        usable(time)
    except ArithmeticError:
        size = "short to be divided into steps" if time < 1 else "long"
        raise AdviceError(f"contact_time: {time!r} s is too {size}; take other units") from None
    return ContactTime(time)


def scene_of(case: Any, material: Mapping[str, Any], scale: float | None) -> Scene | Fluid | None:
    """The scene or liquid that is asked about, or a scene of a single clump; None if the case is something else.

    Parameters
    ----------
    case : a scene, its key or the Python file that defines it; a clump, or the file of one, where a material is given
    material : young (Pa), poisson, density (kg/m^3) and speed (m/s), and wall_young and wall_poisson, as far as they are given
    scale : unit of length of a clump file, m; by default 1

    Raises
    ------
    AdviceError
        If a value of the material is missing or does not belong to the question, or the file cannot be read.
    """
    if isinstance(case, Molecule):
        raise AdviceError(
            f"case: the molecule {case.key!r} is no liquid; ask with `liquid` alone, the period of its fastest libration, as "
            "in 33fs (see docs/liquids.md for how to measure it)"
        )
    given = [name for name, value in material.items() if value is not None]
    named = str(case) if isinstance(case, str | Path) else ""
    if named in SCENES:
        case = SCENES[named]
    elif named.endswith(".py") and Path(named).is_file() and re.search(r"(?m)^SCENE\b", Path(named).read_text("utf-8")):
        case = _loaded(named)
    of_file = bool(named and given) and not isinstance(case, Scene | Fluid) and named not in PROBLEMS
    of_file = of_file and not named.endswith((".py", ".yaml", ".yml"))
    if scale is not None and not of_file:
        raise AdviceError("scale belongs to the file of a clump, which needs young, poisson, density and speed too")
    if isinstance(case, Scene | Fluid):
        if others := [name for name in given if name != "speed"]:
            raise AdviceError(f"{others[0]} is part of the scene, which is given already")
        return case
    if isinstance(case, Clump) or of_file:
        if "radius" in given:
            raise AdviceError("radius is part of the clump, which is given already")
        values = {name: material.get(name) for name in MATERIAL if name != "radius"}
        if missing := [name for name, value in values.items() if value is None]:
            raise AdviceError(f"{missing[0]} is missing; the contact time of a clump follows from {', '.join(values)}")
        try:
            if not isinstance(case, Clump):
                unit = 1.0 if scale is None else positive("scale", scale, "m")
                case = Clump.from_file(named, scale=unit)
            speed = positive("speed", values.pop("speed"), "m/s")
            made_of = Material(**{name: number(name, value) for name, value in values.items()})
        except (OSError, TypeError, ValueError) as error:
            raise AdviceError(str(error).removeprefix("material: ")) from None
        walls, _ = wall_of(made_of, *(material.get(name) for name in WALLS))
        return Scene(
            key="clump",
            label=f"clump {case.key}",
            kinds=((case, 1),),
            material=made_of,
            walls=walls,
            box=inf,
            speed=speed,
            spin=0.0,
            horizon=1.0,
        )
    return None


def _loaded(path: str) -> Scene | Fluid:
    from polhode.interface import plugins

    try:
        plugins.try_out([path], references=False)
        scene: Scene | Fluid = SCENES.load(path)
    except (FileNotFoundError, TypeError, ValueError) as error:
        raise AdviceError(str(error)) from error
    return scene


def contact_of(scene: Scene, material: Mapping[str, Any]) -> ContactTime:
    """The contact time of a scene, how it is known, and what its law says of friction and restitution.

    By Hertz's theory it is the shortest contact of its clumps on its walls and on walls of their own material, where two of a
    kind touch for :data:`~polhode.advice.from_contacts.PAIR` of it; clumps of two materials that touch for less make it
    shorter. With a law that has a ``stiffness`` it is the shortest half period of a clump on this spring.

    Parameters
    ----------
    material : name -> value: of a clump, as for :func:`scene_of`; of a scene at most a speed, m/s, in place of its own

    Raises
    ------
    AdviceError
        If the contact time of the law of force is not known, or the bodies start at rest and no speed is given.
    """
    law, speed = scene.force_law, material.get("speed")
    rubs = {name: law.value(name) for name in ("friction", "restitution") if name in law.parameters}
    damps = not law.conserves_energy and "restitution" not in law.parameters
    if damps and ("damping_time" not in law.parameters or law.value("damping_time") != 0):
        # It damps without a coefficient of restitution.
        rubs["purpose"] = "impacts"
    clumps = [clump for clump, _ in scene.clumps if len(clump.radii) > 1]
    heavier = tuple(_heavier_than_sphere(clump, scene.material_of(clump).density) for clump in clumps)
    return _time_of(scene, speed, material if "young" in material else {})._replace(rubs=rubs, heavier=heavier)


def _heavier_than_sphere(clump: Clump, density: float) -> float:
    """The mass of a clump over the mass of its largest sphere, which it has by itself."""
    return float(clump.body(density).mass / (density * 4 / 3 * pi * clump.radii.max() ** 3))


def _time_of(scene: Scene, speed: Any, material: Mapping[str, Any]) -> ContactTime:
    law, at = scene.force_law, scene.speed if speed is None else checked(positive, "speed", speed, "m/s")
    where = scene.label or scene.key
    solids = [(clump, scene.material_of(clump)) for clump, _ in scene.clumps]
    if "stiffness" in law.parameters:
        return _of_springs(scene, where)
    if not law.key.startswith(OF_THE_MATERIAL):
        raise AdviceError(f"the contact time of the law {law.key} is not known; ask with contact_time instead of the scene")
    if at == 0:
        raise AdviceError(f"speed is missing: the bodies of the scene {scene.key!r} start at rest; name that of a fast impact")
    has_walls = bool(scene.wall_numbers) and (isfinite(scene.box) or scene.walls is not None)
    values = {name: value for name, value in material.items() if isinstance(value, float | int) and value != inf}
    values |= {"speed": at}
    with sizes_that_go_together(values):
        on_alike = replace(scene, walls=None).contact_time(at)
        on_walls = scene.contact_time(at) if has_walls else on_alike
        unlike = [_touching(*two, at) for two in combinations(solids, 2) if two[0][1] != two[1][1]]
        usable(on_alike, on_walls, *unlike)
    if material:
        clump, grains = solids[0]
        check_overlap(clump.body(grains.density).mass, float(clump.radii.max()), grains.reduced, at, values)
    time = min(on_alike, on_walls, *(time / PAIR for time in unlike))
    if material:
        _, walls = wall_of(scene.material, *(material.get(name) for name in WALLS))
    elif not has_walls:
        walls = "The scene has no walls: T is that of a clump on a wall of its own material."
    else:
        walls = f"The scene has {'walls of its own material' if scene.walls is None else in_words(scene.walls)}."
    walls += softer(on_walls) if on_walls > on_alike else ""
    how = f"{where}: a clump that hits {'a wall' if scene.walls is None else in_words(scene.walls)} at {at:g} m/s"
    return ContactTime(time, f"{how}, by Hertz's theory", min(PAIR * on_alike, *unlike, inf), walls, law.key)


def _touching(first: tuple[Clump, Material], second: tuple[Clump, Material], speed: float) -> float:
    """How long two clumps of different materials touch if they meet head on with their largest spheres, s."""
    masses, radii = zip(*((clump.body(m.density).mass, float(clump.radii.max())) for clump, m in (first, second)), strict=True)
    reduced = MaterialPair(first[1], second[1]).reduced
    return collision_time(1 / sum(1 / m for m in masses), 1 / sum(1 / r for r in radii), reduced, speed)


def _of_springs(scene: Scene, where: str) -> ContactTime:
    """The contact time of springs whose stiffness is a parameter of the law: half a period of a clump that hits a wall.

    Pairs of kinds, or a kind and the wall, may have a stiffness of their own.
    """
    law = scene.force_law

    def stiffness(kind: str, other: str) -> float:
        others = {**scene.between.get((other, kind), {}), **scene.between.get((kind, other), {})}
        return float(others.get("stiffness", law.value("stiffness")))

    masses = {clump.key: clump.body(scene.material_of(clump).density).mass for clump, _ in scene.clumps}
    times = {(key, other): pi * sqrt(m / stiffness(key, other)) for key, m in masses.items() for other in (key, "wall")}
    shortest = min(times, key=lambda pair: times[pair])
    pair = min(
        pi * sqrt(m * masses[other] / (m + masses[other]) / stiffness(key, other))
        for key, m in masses.items()
        for other in masses
    )
    how = f"{where}: clump {shortest[0]} at a wall, stiffness {stiffness(*shortest):g} N/m"
    return ContactTime(times[shortest], how, pair, "", law.key)
