"""What a scene asks, or a clump with its material: the contact time, and how its contacts rub; or which liquid it is."""

import re
from collections.abc import Mapping
from math import inf, pi, sqrt
from pathlib import Path
from typing import Any

from polhode.advice.errors import AdviceError, checked
from polhode.interface.arguments import number, positive
from polhode.manybody.clump import Clump
from polhode.manybody.fluid import Fluid
from polhode.manybody.material import Material
from polhode.manybody.scene import Scene
from polhode.manybody.scenes import SCENES
from polhode.problems import PROBLEMS

#: A law whose springs are those of the material begins as Hertz's; of another one the stiffness must be known.
OF_THE_MATERIAL = ("hertz", "viscoelastic")


def scene_of(case: Any, material: Mapping[str, float | None], scale: float | None) -> Scene | Fluid | None:
    """The scene that is asked about, or one of a single clump; None if the case is something else.

    Parameters
    ----------
    case : a scene, its key or the Python file that defines it; a clump, or the file of one, where a material is given
    material : young, poisson, density and speed; None where not given
    scale : unit of length of a clump file, m; by default 1

    Raises
    ------
    AdviceError
        If a value of the material is missing or does not belong to the question, or the file cannot be read.
    """
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
        values = {name: value for name, value in material.items() if name != "radius"}
        if missing := [name for name, value in values.items() if value is None]:
            raise AdviceError(f"{missing[0]} is missing; the contact time of a clump follows from {', '.join(values)}")
        try:
            if not isinstance(case, Clump):
                unit = 1.0 if scale is None else positive("scale", scale, "m")
                case = Clump.from_file(named, scale=unit)
            speed = positive("speed", values.pop("speed"), "m/s")
            made_of = Material(**{name: number(name, value) for name, value in values.items()})
        except (OSError, TypeError, ValueError) as error:
            raise AdviceError(str(error)) from None
        label = f"clump {case.key}"
        return Scene(
            key="clump", label=label, kinds=((case, 1),), material=made_of, box=inf, speed=speed, spin=0.0, horizon=1.0
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


def contact_of(scene: Scene, speed: float | None) -> tuple[float, str]:
    """The contact time of a scene (s), and how it is known; ``speed`` (m/s) in place of that of the scene."""
    law, at = scene.force_law, scene.speed if speed is None else checked(positive, "speed", speed, "m/s")
    where = scene.label or scene.key
    if "stiffness" in law.parameters:
        mass = min(clump.body(scene.material_of(clump).density).mass for clump, _ in scene.clumps)
        stiffness = float(law.value("stiffness"))
        return pi * sqrt(mass / stiffness), f"{where}: its lightest clump at a wall, stiffness {stiffness:g} N/m"
    if not law.key.startswith(OF_THE_MATERIAL):
        raise AdviceError(f"the contact time of the law {law.key} is not known; ask with contact_time instead of the scene")
    if at == 0:
        raise AdviceError(f"speed is missing: the bodies of the scene {scene.key!r} start at rest; name that of a fast impact")
    return scene.contact_time(at), f"{where}: a clump that hits a wall at {at:g} m/s, by Hertz's theory"


def rubbing_of(scene: Scene, values: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` of friction, restitution, law and purpose, the first two by default those of the scene's law if it has any."""
    law = scene.force_law
    words = ("friction", "restitution")
    return {
        name: law.value(name) if value is None and name in words and name in law.parameters else value
        for name, value in values.items()
    }
