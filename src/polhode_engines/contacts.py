"""Collisions in engines that have contacts with friction: the same bodies, walls and law of force as in a scene of ours."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polhode.manybody.placement import State
from polhode.manybody.restitution import tsuji_damping
from polhode.manybody.scene import Scene
from polhode_engines.environments import RUN_LIMIT, answers
from polhode_engines.protocol import Engine


@dataclass(frozen=True)
class Collision:
    """One run of bodies of one material in a box, as an adapter gets it: SI units, in lists.

    Parameters
    ----------
    spheres : of each body: x, y, z (body frame, m) and radius of its spheres
    masses, inertias : of each body the mass (kg) and the principal moments (kg m^2)
    r, v, q, omega : the start, see :class:`polhode.manybody.placement.State`
    half : half the edge of the box, which is centred at the origin, m
    rigid_walls : whether the walls are rigid, or of the material of the bodies
    young, poisson, friction, alpha : of Hertz and Mindlin's law Young's modulus (Pa), Poisson's ratio and Coulomb's
        coefficient; alpha of the dashpots of Tsuji et al. (1992), which never pull
    gravity : (3,), m/s^2
    dt, samples : step in s, and the steps after which it is read
    """

    spheres: list[list[list[float]]]
    masses: list[float]
    inertias: list[list[float]]
    r: list[list[float]]
    v: list[list[float]]
    q: list[list[float]]
    omega: list[list[float]]
    half: float
    rigid_walls: bool
    young: float
    poisson: float
    friction: float
    alpha: float
    gravity: list[float]
    dt: float
    samples: list[int]


def collision(scene: Scene, state: State, dt: float, samples: Sequence[int]) -> Collision:
    """A run of a scene of one material with a law of Hertz, Mindlin and Tsuji, from the state ``state``.

    ``dt`` is the step in s; the run is read after the numbers of steps ``samples``. The scene has no walls or rigid ones or
    walls of its material, and no drum, shaking or periodic box.
    """
    clumps, law = scene.every_clump, scene.force_law
    materials = [scene.material_of(clump) for clump in clumps]
    material, others = materials[0], (scene.between, scene.drum, scene.shaking, scene.periodic)
    assert scene.walls in (None, "rigid") and set(materials) == {material} and not any(others)
    bodies = [clump.body(material.density) for clump in clumps]
    return Collision(
        [np.column_stack([clump.centres, clump.radii]).tolist() for clump in clumps],
        [body.mass for body in bodies],
        [list(body.inertia) for body in bodies],
        state.r.tolist(),
        state.v.tolist(),
        state.q.tolist(),
        state.omega.tolist(),
        scene.box / 2,
        scene.walls == "rigid",
        material.young,
        material.poisson,
        float(law.value("friction")),
        tsuji_damping(float(law.value("restitution"))),
        list(scene.gravity),
        dt,
        [int(n) for n in samples],
    )


@dataclass(frozen=True)
class Collided:
    """What an engine returned: ``motion`` (samples, bodies, 13) with r, v, q and omega, NaN if there is an ``error``.

    r is in m and v in m/s, lab frame; q is body to lab, omega in the body frame, rad/s.
    """

    motion: np.ndarray
    error: str = ""


def collide(
    engine: Engine,
    runs: Sequence[Collision],
    progress: Callable[[], object] = lambda: None,
    limit: float = RUN_LIMIT,
    python: Path | None = None,
) -> tuple[str, list[Collided]]:
    """The version of an engine, and one :class:`Collided` for each run.

    The engine runs in a process of its own; what fails is recorded (:func:`polhode_engines.environments.spin`).

    Parameters
    ----------
    progress : called after each run
    limit : seconds that one run may take
    python : the Python to use, by default the Python of the engine's environment
    """
    requests: list[dict[str, Any]] = [asdict(run) for run in runs]
    version, outcomes = answers(engine, "collide", "", requests, progress, limit, python)
    done = []
    for run, outcome in zip(runs, outcomes, strict=True):
        if isinstance(outcome, str):
            done.append(Collided(np.full((len(run.samples), len(run.masses), 13), np.nan), outcome))
        else:
            done.append(Collided(np.concatenate([outcome[name] for name in ("r", "v", "q", "omega")], axis=2)))
    return version, done
