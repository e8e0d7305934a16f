"""One step of many clumps, said plainly: what happens in which order, without lanes, neighbour lists or compiled code.

:meth:`PlainRun.step` is what :mod:`polhode.manybody.engine` does ten thousand times faster, for any method and any law of
force. It runs the same kernels as plain Python and sums in the same order, so it gives the same bits;
``tests/test_manybody_step.py`` holds the engine to it.

>>> from polhode import manybody, methods
>>> from polhode.manybody.step import PlainRun
>>> scene = manybody.scenes["rods"]
>>> run = PlainRun(scene, scene.initial_state(0), methods["spiral_leapfrog"], 3.83e-5)
>>> for _ in range(3):
...     run.step()
>>> run.read().shape  # r, v, q and omega of each clump
(30, 13)
"""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from math import dist, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np

from polhode.algebra import vector
from polhode.algebra.quaternion import normalise
from polhode.compiling.plain import in_plain_python
from polhode.manybody import contact, engine
from polhode.manybody.contact import Side, Walls
from polhode.manybody.placement import State
from polhode.manybody.scene import Scene
from polhode.manybody.simulation import setup_of
from polhode.methods.protocol import OneTorque

ZERO = (0.0, 0.0, 0.0)
_add, _axpy, _cross, _scale = map(in_plain_python, (vector.add, vector.axpy, vector.cross, vector.scale))
_in_body, _to_lab, _matrix, _unit = map(in_plain_python, (contact.in_body, contact.to_lab, contact.matrix, normalise))
_lab_position, _meeting, _motion = map(in_plain_python, (contact.lab_position, contact.meeting, engine.motion_between))
_wall_row, _pair_row = in_plain_python(contact.wall_row), in_plain_python(contact.pair_row)
_nearest_image = in_plain_python(contact.nearest_image)
_walls_at, _depth_in_wall, _normal_of_wall, _wall_side = map(
    in_plain_python, (contact.walls_at, contact.depth_in_wall, contact.normal_of_wall, contact.wall_side)
)


@dataclass
class MovingClump:
    """A clump in motion.

    Parameters
    ----------
    spheres : array (n, 4), centres (body frame, m) and radii of its spheres: x, y, z, radius
    mass, inertia : kg, and the coefficients (9,) of :meth:`polhode.algebra.body.Body.coefficients`
    r, q, v, omega : pose and velocities at which the loads are needed: m and m/s (lab), body to lab (scalar first), rad/s
        (body frame)
    spin : the angular velocity then as a law gets it, lab frame, rad/s
    moved, turned : mean velocity (m/s) and angular velocity (rad/s) since the last loads, lab frame
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
    spin: Any
    moved: Any
    turned: Any
    force: Any = ZERO
    torque: Any = ZERO
    turning: Any = ()
    moving: Any = ()

    @cached_property
    def reach(self) -> float:
        """The radius of a sphere that holds the clump, generously, m."""
        return float(1.01 * max(dist(ZERO, sphere[:3]) + sphere[3] for sphere in self.spheres))

    def side(self, sphere: Any, share: float, since: float) -> Side:
        """The clump as one of two bodies that touch, in SI units; ``since`` is the time since the last loads, s.

        ``sphere`` (4,) is the sphere that touches, x, y, z in the body frame and radius, m, and ``share`` the part of the
        overlap by which the contact point lies below its surface.
        """
        m = _matrix(self.q)
        moved, turned = _scale(since, self.moved), _scale(since, self.turned)
        return Side(_to_lab(m, sphere), sphere[3], share, self.v, self.spin, moved, turned)

    def centres(self) -> np.ndarray:
        """The centres of the n spheres of the clump in the lab, (n, 3), m."""
        return np.stack(_lab_position(self.r, _matrix(self.q), self.spheres.T), axis=1)

    def push(self, force: Any, torque: Any) -> None:
        """Add a force (3,) in the lab (N) and a torque (3,) in the body frame (N m) to the loads."""
        self.force, self.torque = _add(self.force, force), _add(self.torque, torque)


class PlainRun:
    """A run of a method on a scene, in SI units. Its attribute ``bodies`` is a list of one :class:`MovingClump` for each clump.

    In its methods i and j are places of clumps in this list, and a and b places of spheres in their clumps.

    Parameters
    ----------
    scene, state, method, dt : as for :func:`polhode.manybody.simulate`

    Raises
    ------
    ValueError
        If the method begins with Runge-Kutta steps, or is a processed one.
    """

    def __init__(self, scene: Scene, state: State, method: OneTorque, dt: float) -> None:
        if method.warm_up_steps:
            raise ValueError(f"method {method.key!r} begins with Runge-Kutta steps, which the plain step does not have")
        if method.processor:
            raise ValueError(f"method {method.key!r} is processed, which the plain step is not: use method.without_passages()")
        self.scene, self.dt, self.method, self.law = scene, dt, method, scene.force_law
        scheme = engine.scheme_of(method)
        kernels = {"begin": method.start, "before": method.before_torque, "after": method.after_torque, "read": method.read}
        moves = {"begin": scheme.start, "before": scheme.before_force, "after": scheme.after_force, "read": scheme.read}
        self.turn = SimpleNamespace(**{name: in_plain_python(function) for name, function in kernels.items()})
        self.move = SimpleNamespace(**{name: in_plain_python(function) for name, function in moves.items()})
        self.setup = setup_of(scene)
        #: Contact -> its normal and overlap, and what the law keeps: those of the last loads, and those of the present ones.
        self.memory: dict[Any, Any] = {}
        self.next_memory: dict[Any, Any] = {}
        self.bodies = []
        for clump, *motion in zip(scene.every_clump, state.r, state.q, state.v, state.omega, strict=True):
            solid, spheres = clump.body(scene.material_of(clump).density), np.column_stack([clump.centres, clump.radii])
            r, q, v, omega = (tuple(map(float, row)) for row in motion)
            spin = _to_lab(_matrix(q), omega)
            begin = r, q, v, omega, spin, v, spin
            self.bodies.append(MovingClump(spheres, solid.mass, solid.coefficients(), *begin))
        #: The time since the last loads.
        self.since = 0.0
        self.load(0.0)
        for body in self.bodies:
            body.turning = self.turn.begin(body.q, body.omega, body.torque, body.inertia, dt)
            body.moving = self.move.begin(body.r, body.v, body.force, body.mass, dt)
        #: The number of the step whose loads are next, and how long before its end they act.
        self.number, self.lag = (1, (1.0 - method.torque_time) * dt) if method.torque_time else (0, 0.0)
        self.since = method.torque_time * dt

    def step(self) -> None:
        """One step of all clumps: the first part of their motion, all loads at the poses reached, the rest of their motion."""
        self.advance_to_loads()
        self.load(self.number * self.dt - self.lag)
        self.since = self.dt
        self.number += 1
        for body in self.bodies:
            body.turning = self.turn.after(body.turning, body.torque, body.inertia, self.dt)
            body.moving = self.move.after(body.moving, body.force, body.mass, self.dt)
            if self.method.normalises and not self.method.rotates_before_torque:
                body.turning = _unit(body.turning[:4]) + body.turning[4:]

    def advance_to_loads(self) -> None:
        """Make the part of a step that comes before the loads: all clumps get the poses and velocities at which these act."""
        for body in self.bodies:
            r, q, moved, turned = body.r, body.q, body.moved, body.turned
            body.turning, body.q, body.omega = self.turn.before(body.turning, body.inertia, self.dt)
            if self.method.normalises and self.method.rotates_before_torque:
                body.q = _unit(body.turning[:4])
                body.turning = body.q + body.turning[4:]
            body.moving, body.r, body.v = self.move.before(body.moving, body.mass, self.dt)
            m = _matrix(body.q)
            body.spin = _to_lab(m, body.omega)
            if self.since > 0.0:
                body.moved, since_last = _motion(r, q, body.r, body.q, self.since)
                body.turned = _to_lab(m, since_last)
            if self.setup.bookkeeping[2] > 0.0:
                body.v = _axpy(1.5, body.moved, _scale(-0.5, moved))
                body.spin = _axpy(1.5, body.turned, _scale(-0.5, turned))

    def load(self, time: float) -> None:
        """Set the loads on all clumps: weight, then clump by clump the contacts with the walls and with the clumps after it.

        Forces are in N, lab frame, and torques in N m, body frame; ``time`` (s) is the time of the loads.
        """
        self.memory, self.next_memory = self.next_memory, {}
        walls = _walls_at(self.setup, self.since, time)
        for body in self.bodies:
            body.force, body.torque = _scale(body.mass, self.scene.gravity), ZERO
        for i, body in enumerate(self.bodies):
            for wall in map(int, self.setup.walls):
                for a, sphere in enumerate(body.spheres):
                    sphere = tuple(map(float, sphere))
                    overlap = _depth_in_wall(wall, body.r, _matrix(body.q), sphere, self.setup, walls)
                    if overlap > 0.0:
                        self.touch_wall(i, a, wall, overlap, walls)
            for j in range(i + 1, len(self.bodies)):
                for a, b, away in self.overlapping(i, j):
                    self.touch_pair(i, a, j, b, away)

    def overlapping(self, i: int, j: int) -> Iterator[tuple[int, int, tuple[float, ...]]]:
        """The overlapping spheres of two clumps, (a, b, away) for each pair.

        ``away`` (3,) leads from the centre of b to the centre of a, m.
        """
        first, second = self.bodies[i], self.bodies[j]
        image = _nearest_image(self.setup.periods, first.r, second.r)
        if dist(first.r, image) > first.reach + second.reach:
            return
        away = first.centres()[:, None] - replace(second, r=image).centres()
        squared = away[..., 0] * away[..., 0] + away[..., 1] * away[..., 1] + away[..., 2] * away[..., 2]
        radii = first.spheres[:, None, 3] + second.spheres[:, 3]
        for a, b in np.argwhere(squared < radii * radii):
            yield int(a), int(b), tuple(map(float, away[a, b]))

    def touch_wall(self, i: int, a: int, wall: int, overlap: float, walls: Walls) -> None:
        """Add the loads of a sphere that touches a wall, which counts as a sphere of infinite radius and mass.

        ``wall`` is the number of the wall (:data:`polhode.manybody.contact.WALLS`), ``overlap`` the depth (m) to which the
        sphere has sunk into it, and ``walls`` the motion of all walls.
        """
        body = self.bodies[i]
        m, sphere = _matrix(body.q), tuple(map(float, body.spheres[a]))
        normal = _normal_of_wall(wall, body.r, m, sphere, walls)
        constants = self.setup.constants[_wall_row(self.setup, i)]
        if self.law.normal:
            force = _scale(in_plain_python(self.law.normal)(overlap, sphere[3], constants)[0], normal)
            body.push(force, _cross(sphere, _in_body(m, force)))
        else:
            side = body.side(sphere, 1.0, self.since)
            touch = normal, overlap, sphere[3], body.mass, side, _wall_side(wall, self.setup, walls)
            response, arm, _ = self.respond((i, wall, a), touch, constants)
            body.push(response.force, _in_body(m, _add(_cross(arm, response.force), response.couple)))

    def touch_pair(self, i: int, a: int, j: int, b: int, away: tuple[float, ...]) -> None:
        """Add the loads of two overlapping spheres, a of clump i and b of clump j, to the force and torque of both clumps.

        ``away`` (3,), m, lab frame, leads from the centre of b (in a periodic box, of its nearest image) to the centre of a.
        """
        first, second = self.bodies[i], self.bodies[j]
        mi, mj = _matrix(first.q), _matrix(second.q)
        sphere_i, sphere_j = tuple(map(float, first.spheres[a])), tuple(map(float, second.spheres[b]))
        distance = sqrt(away[0] * away[0] + away[1] * away[1] + away[2] * away[2])
        overlap = max(sphere_i[3] + sphere_j[3] - distance, 0.0)
        radius = sphere_i[3] * sphere_j[3] / (sphere_i[3] + sphere_j[3])
        constants = self.setup.constants[_pair_row(self.setup, i, j)]
        if self.law.normal:
            force = _scale(in_plain_python(self.law.normal)(overlap, radius, constants)[0] / distance, away)
            first.push(force, _cross(sphere_i, _in_body(mi, force)))
            back = _scale(-1.0, force)
            second.push(back, _cross(sphere_j, _in_body(mj, back)))
        else:
            normal, mass = _scale(1.0 / distance, away), first.mass * second.mass / (first.mass + second.mass)
            touch = normal, overlap, radius, mass, first.side(sphere_i, 0.5, self.since), second.side(sphere_j, 0.5, self.since)
            response, arm_i, arm_j = self.respond((i, j, a, b), touch, constants)
            first.push(response.force, _in_body(mi, _add(_cross(arm_i, response.force), response.couple)))
            back, couple = _scale(-1.0, response.force), _scale(-1.0, response.couple)
            second.push(back, _in_body(mj, _add(_cross(arm_j, back), couple)))

    def respond(self, key: Any, touch: Any, constants: Any) -> Any:
        """The :class:`polhode.manybody.law.Response` of the law to a contact, which is remembered, and both arms (3,), m.

        The arms lead from the centres of mass to the point at which the force acts, lab frame.

        Parameters
        ----------
        key : names the contact in the memory: the clump, the other clump or the wall, and the spheres
        touch : normal (3,), overlap (m), R* (m), m* (kg) and the :class:`polhode.manybody.contact.Side` of both bodies
        constants : what the law makes of both materials
        """
        before, history = self.memory.get(key, ((0.0,) * 4, (0.0,) * self.law.history))
        seen, arm_one, arm_two = _meeting(*touch, before, key in self.memory, self.setup.bookkeeping, self.since)
        response = in_plain_python(self.law.contact)(seen, history, tuple(map(float, constants)))
        self.next_memory[key] = ((*touch[0], touch[1]), response.history)
        return response, arm_one, arm_two

    def read(self) -> np.ndarray:
        """The motion of all clumps after the last step, (clumps, 13): r (m), v (m/s), q (body to lab), omega (rad/s, body).

        q is scalar first.
        """
        run, completes = self, self.method.torque_time == 0.0
        if completes:  # the loads at this time complete the velocities
            run = copy(self)
            run.bodies = list(map(replace, self.bodies))
            run.advance_to_loads()
            run.load(run.number * run.dt)
        rows = []
        for body in run.bodies:
            force, torque = (body.force, body.torque) if completes else (ZERO, ZERO)
            q, omega = self.turn.read(body.turning, torque, body.inertia, self.dt)
            r, v = self.move.read(body.moving, force, body.mass, self.dt)
            rows.append(r + v + q + omega)
        return np.array(rows)
