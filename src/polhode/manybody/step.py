"""One step of many clumps, said plainly: what happens in which order, without lanes, neighbour lists or compiled code.

:func:`step` is what :mod:`polhode.manybody.engine` does ten thousand times faster. It runs the same kernels as plain Python and
sums in the same order, so it gives the same bits; ``tests/test_manybody_step.py`` holds the engine to it.

>>> from polhode import manybody, methods
>>> from polhode.manybody.step import start, step
>>> scene, method, dt = manybody.scenes["rods"], methods["spiral_leapfrog"], 3.83e-5
>>> bodies = start(scene, scene.initial_state(0), method, dt)
>>> for _ in range(3):
...     step(bodies, scene, method, dt)
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import dist, sqrt
from typing import Any

import numpy as np

from polhode.algebra.quaternion import normalise
from polhode.algebra.vector import cross
from polhode.compiling.plain import in_plain_python
from polhode.manybody import contact
from polhode.manybody.engine import scheme_of
from polhode.manybody.placement import State
from polhode.manybody.scene import Scene
from polhode.methods.protocol import OneTorque

ZERO = (0.0, 0.0, 0.0)
_cross, _unit = in_plain_python(cross), in_plain_python(normalise)
_matrix, _in_body, _lab_position = map(in_plain_python, (contact.matrix, contact.in_body, contact.lab_position))


@dataclass
class MovingClump:
    """A clump in motion.

    Parameters
    ----------
    spheres : centres (body frame, m) and radii of its spheres: x, y, z, radius
    mass, inertia : kg, and the coefficients of :meth:`polhode.algebra.body.Body.coefficients`
    r, q, v, omega : pose and velocities at which the loads are needed
    force, torque : the loads: lab frame, N, and body frame, N m
    turning, moving : what the method and the scheme of the centre of mass carry from step to step
    """

    spheres: Any
    mass: float
    inertia: tuple[float, ...]
    r: Any
    q: Any
    v: Any
    omega: Any
    force: Any = ZERO
    torque: Any = ZERO
    turning: Any = ()
    moving: Any = ()

    @cached_property
    def reach(self) -> float:
        """The radius of a sphere that holds the clump, generously, m."""
        return float(1.01 * max(dist(ZERO, sphere[:3]) + sphere[3] for sphere in self.spheres))


def step(bodies: list[MovingClump], scene: Scene, method: OneTorque, dt: float) -> None:
    """One step of all clumps: the first part of their motion, all contacts at the poses reached, the rest of their motion."""
    advance_to_loads(bodies, method, dt)
    apply_contacts(bodies, scene)
    after_torque, after_force = map(in_plain_python, (method.after_torque, scheme_of(method).after_force))
    for body in bodies:
        body.turning = after_torque(body.turning, body.torque, body.inertia, dt)
        body.moving = after_force(body.moving, body.force, body.mass, dt)
        if method.normalises and not method.rotates_before_torque:
            body.turning = _unit(body.turning[:4]) + body.turning[4:]


def advance_to_loads(bodies: list[MovingClump], method: OneTorque, dt: float) -> None:
    """The part of a step before the loads."""
    before_torque, before_force = map(in_plain_python, (method.before_torque, scheme_of(method).before_force))
    for body in bodies:
        body.turning, body.q, body.omega = before_torque(body.turning, body.inertia, dt)
        body.moving, body.r, body.v = before_force(body.moving, body.mass, dt)
        if method.normalises and method.rotates_before_torque:
            body.q = _unit(body.turning[:4])
            body.turning = body.q + body.turning[4:]


def apply_contacts(bodies: list[MovingClump], scene: Scene) -> float:
    """Set the loads on all clumps and return the stored energy: clump by clump, first its walls, then the later clumps."""
    stiffness, half, energy = 4 / 3 * scene.material.reduced, scene.box / 2, 0.0
    for body in bodies:
        body.force, body.torque = ZERO, ZERO
    for i, body in enumerate(bodies):
        for axis, side in ((axis, side) for axis in range(3) for side in (-1.0, 1.0)):
            for sphere, centre in zip(body.spheres, lab_centres(body), strict=True):
                overlap = side * centre[axis] + sphere[3] - half
                if overlap > 0.0:
                    size = stiffness * sqrt(sphere[3] * overlap) * overlap
                    push(body, sphere, tuple(-side * size if k == axis else 0.0 for k in range(3)))
                    energy += 0.4 * size * overlap
        for other in bodies[i + 1 :]:
            for one, two, away, distance in touching(body, other):
                overlap = max(one[3] + two[3] - distance, 0.0)
                size = stiffness * sqrt(one[3] * two[3] / (one[3] + two[3]) * overlap) * overlap
                force = tuple(size / distance * x for x in away)
                push(body, one, force)
                push(other, two, tuple(-x for x in force))
                energy += 0.4 * size * overlap
    return energy


def touching(one: MovingClump, two: MovingClump) -> Iterator[tuple[Any, Any, tuple[float, ...], float]]:
    """Pairs of overlapping spheres of two clumps, and the vector from the second centre to the first with its length."""
    if dist(one.r, two.r) > one.reach + two.reach:
        return
    a, b = lab_centres(one), lab_centres(two)
    away = a[:, None] - b
    squared = away[..., 0] * away[..., 0] + away[..., 1] * away[..., 1] + away[..., 2] * away[..., 2]
    radii = one.spheres[:, None, 3] + two.spheres[:, 3]
    for m, n in np.argwhere(squared < radii * radii):
        yield tuple(one.spheres[m]), tuple(two.spheres[n]), tuple(away[m, n]), sqrt(squared[m, n])


def lab_centres(body: MovingClump) -> np.ndarray:
    """The centres of the spheres of a clump in the lab, (n, 3)."""
    return np.stack(_lab_position(body.r, _matrix(body.q), body.spheres.T), axis=1)


def push(body: MovingClump, sphere: Any, force: Any) -> None:
    """Add a force that acts at the centre of a sphere."""
    torque = _cross(sphere, _in_body(_matrix(body.q), force))
    body.force = tuple(a + b for a, b in zip(body.force, force, strict=True))
    body.torque = tuple(a + b for a, b in zip(body.torque, torque, strict=True))


def start(scene: Scene, state: State, method: OneTorque, dt: float) -> list[MovingClump]:
    """The clumps of a scene in an initial state, ready for their first step; not for methods that begin with other steps."""
    if method.warm_up_steps:
        raise ValueError(f"method {method.key!r} begins with Runge-Kutta steps, which the plain step does not have")
    bodies: list[MovingClump] = []
    for clump, *motion in zip(scene.every_clump, state.r, state.q, state.v, state.omega, strict=True):
        solid = clump.body(scene.material.density)
        spheres = np.column_stack([clump.centres, clump.radii])
        bodies.append(MovingClump(spheres, solid.mass, solid.coefficients(), *(tuple(map(float, row)) for row in motion)))
    apply_contacts(bodies, scene)
    set_off, move_off = map(in_plain_python, (method.start, scheme_of(method).start))
    for body in bodies:
        body.turning = set_off(body.q, body.omega, body.torque, body.inertia, dt)
        body.moving = move_off(body.r, body.v, body.force, body.mass, dt)
    return bodies


def read(bodies: list[MovingClump], scene: Scene, method: OneTorque, dt: float) -> np.ndarray:
    """r, v, q and omega of all clumps after the last step, (clumps, 13). The bodies are left as they are."""
    bodies = list(map(replace, bodies))
    if method.torque_time == 0.0:  # the loads at this time complete the velocities
        advance_to_loads(bodies, method, dt)
        apply_contacts(bodies, scene)
    rows = []
    for body in bodies:
        force, torque = (body.force, body.torque) if method.torque_time == 0.0 else (ZERO, ZERO)
        q, omega = in_plain_python(method.read)(body.turning, torque, body.inertia, dt)
        r, v = in_plain_python(scheme_of(method).read)(body.moving, force, body.mass, dt)
        rows.append(r + v + q + omega)
    return np.array(rows)
