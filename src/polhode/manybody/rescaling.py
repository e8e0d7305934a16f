r"""The loop's parts for a liquid under stochastic velocity rescaling, around any method: Bussi, Donadio and Parrinello (2007).

Between the end of a step and the beginning of the next a random factor multiplies the velocities of all centres, and the
angular velocities or momenta that the method carries. Everything else that the method remembers, such as torques of earlier
steps, stays as it is. A leapfrog carries velocities of half a step before: there the bath holds the kinetic energy of half
steps, in other methods the one at the end of a step.

Which numbers of a state are velocities is found from the method's kernel ``start`` (:func:`velocities_in`): those that double,
without any time passing, when the angular velocity doubles.

The last fields of a record belong to the bath. Its kernels compute in coherent units of the fluid, as in
:mod:`polhode.manybody.bathed`.
"""

from math import log, sqrt
from typing import Any, cast

import numpy as np

from polhode.algebra.body import angular_momentum
from polhode.algebra.philox import block, two_normals, uniform
from polhode.algebra.vector import dot
from polhode.compiling.kernel import compiled, kernel, subroutine
from polhode.compiling.lanes import (
    LANES,
    fields_from,
    load_force,
    load_inertia,
    load_mass,
    load_torque,
    loader,
    multiplier,
    place,
    storer,
)
from polhode.compiling.plain import in_plain_python
from polhode.manybody import engine
from polhode.manybody.bathed import ALL, FIRST, KEY, NUMBERS, SUMS, ZERO, numbers_behind, seed_of
from polhode.methods.one_body import SOME_BODY, SOME_OMEGA, SOME_Q, SOME_TORQUE
from polhode.methods.protocol import OneTorque


def velocities_in(method: OneTorque) -> tuple[int, ...]:
    """The indices of the angular velocities or momenta in a state of the method, from 0.

    Raises
    ------
    ValueError
        If the angular velocity that the method stores does not double when these double.
    """
    body = method.numbers_of(SOME_BODY)
    start, stored = in_plain_python(method.start), in_plain_python(method.stored)
    twice = tuple(2 * number for number in SOME_OMEGA)
    states = [start(SOME_Q, omega, SOME_TORQUE, body, 0.0) for omega in (SOME_OMEGA, twice)]
    places = tuple(k for k, (a, b) in enumerate(zip(*states, strict=True)) if b == 2 * a != 0)
    doubled = tuple(2 * number if k in places else number for k, number in enumerate(states[0]))
    if not np.allclose(stored(doubled, body, 0.0), twice, rtol=1e-12, atol=0):
        raise ValueError(
            f"VelocityRescaling: method {method.key!r} carries no angular velocity or momentum that could be multiplied; take "
            "another"
        )
    return places


@subroutine
def factor_of(kinetic: float, step: float, numbers: Any) -> float:
    """The factor by which all velocities are multiplied: Bussi, Donadio and Parrinello (2007), Eq. A7.

    ``kinetic`` is the kinetic energy before, ``step`` the number of the step, and ``numbers`` (10,) belong to the bath
    (:data:`polhode.manybody.bathed.NUMBERS`).
    """
    persistence, mean, freedoms, seed = numbers[0], numbers[4], numbers[5], seed_of(numbers)
    shape = 0.5 * (freedoms - 1.0) - 1.0 / 3.0  # of the sum of freedoms - 1 squares: Marsaglia and Tsang (2000)
    width_of = 1.0 / sqrt(9.0 * shape)
    squares, first, draw = -1.0, 0.0, ZERO
    while squares < 0.0:
        a, b, _, _ = block((np.uint64(step), ALL, FIRST, draw), (seed, KEY))
        draw += np.uint64(1)
        x, first = two_normals(a)
        v = 1.0 + width_of * x
        v = v * v * v
        if v > 0.0 and log(uniform(b)) < 0.5 * x * x + shape * (1.0 - v + log(v)):
            squares = 2.0 * shape * v
    share = (1.0 - persistence) * mean / (freedoms * kinetic)
    alpha = persistence + share * (first * first + squares) + 2.0 * first * sqrt(persistence * share)
    negative = first + sqrt(persistence / share) < 0.0
    return -sqrt(alpha) if negative else sqrt(alpha)


def parts_of(method: OneTorque) -> engine.MethodParts:
    """The parts of the engine's loop for a method under velocity rescaling, compiled once.

    Raises
    ------
    ValueError
        If the method carries no velocity that could be multiplied.
    """
    normalise = method.normalisation(None)
    if (compiled_before := method.parts.get((normalise, False, True))) is not None:
        return cast(engine.MethodParts, compiled_before)
    base = engine.record_of(method, normalise)
    # The fields of the bath: its numbers, step and last factor (of the first molecule), heat, and the sums.
    numbers_at = base.width
    step_at = numbers_at + NUMBERS
    heat_at = step_at + 2
    sums_at = heat_at + 1
    width = sums_at + SUMS
    record = base._replace(width=width)
    load_state, store_state, load_moving, store_moving = record[1:5]
    load_numbers, store_numbers = loader(fields_from(numbers_at, NUMBERS)), storer(fields_from(numbers_at, NUMBERS))
    load_course, store_course = loader((step_at, step_at + 1)), storer((step_at, step_at + 1))
    load_heat, store_heat = loader((heat_at,)), storer((heat_at,))
    load_kinetic, store_kinetic, store_shown = (
        loader((sums_at, sums_at + 1)),
        storer((sums_at, sums_at + 1)),
        storer((sums_at + 2,)),
    )
    translation, stored, read, warm_up_steps = engine.scheme_of(method), method.stored, method.read, method.warm_up_steps
    multiplied_state = multiplier(method.state_width, velocities_in(method))
    multiplied_moving = multiplier(len(engine.record(method, False)[2]), (3, 4, 5))
    finish, begin, fast_finish, fast_begin, has_short = engine.passes_of(method, normalise, record)
    # A method whose first loads are at the start has a first part before the reading there, which moves nothing.
    # Loads complete its readings: what a factor has changed of the energy is known with the loads that follow.
    by_loads = method.torque_time == 0.0
    arrive = translation.read
    set_off, read_all = compiled(engine.beginner(method, record)), compiled(engine.sampler(method, record, finish))

    @kernel
    def kinetic_of(omega: Any, v: Any, body: Any, mass: Any) -> Any:
        """The kinetic energies of a centre and of a rotation."""
        return 0.5 * mass * dot(v, v), 0.5 * dot(omega, angular_momentum(omega, body))

    @kernel
    def read_energy(fields: Any, i: Any, state: Any, moving: Any, dt: Any) -> Any:
        """The kinetic energy of a molecule at the whole time of the loads."""
        body, (mass,) = load_inertia(fields, i), load_mass(fields, i)
        _, omega = read(state, load_torque(fields, i), body, dt)
        _, v = arrive(moving, load_force(fields, i), mass, dt)
        centre, turning = kinetic_of(omega, v, body, mass)
        return centre + turning

    @kernel
    def given(fields: Any, i: Any, last: Any, dt: Any) -> Any:
        """By how much the last factor has changed the energy that is read with the loads."""
        state, moving = load_state(fields, i), load_moving(fields, i)
        now = read_energy(fields, i, state, moving, dt)
        return now - read_energy(fields, i, multiplied_state(state, 1.0 / last), multiplied_moving(moving, 1.0 / last), dt)

    @subroutine
    def note_heat(fields: Any, blocks: int, dt: float) -> None:
        """Add what the last factor has given to all molecules."""
        _, last = load_course(fields, place(0, width))
        for block_number in range(np.uint64(blocks)):
            base_index = np.uint64(block_number) * np.uint64(width * LANES)
            for lane in range(np.uint64(LANES)):
                i = base_index + np.uint64(lane)
                store_heat(fields, i, (load_heat(fields, i)[0] + given(fields, i, last, dt),))

    @subroutine
    def factor(fields: Any, blocks: int) -> float:
        """Count the step, and return the factor of all velocities: 1 in the steps with which a method of many steps starts."""
        first = place(0, width)
        step, _ = load_course(fields, first)
        common = 1.0
        if step >= warm_up_steps:
            kinetic = 0.0
            for c in range(blocks * LANES):
                centre, turning = load_kinetic(fields, place(c, width))
                kinetic += centre + turning
            common = factor_of(kinetic, step + 1.0, load_numbers(fields, first))
        store_course(fields, first, (step + 1.0, common))
        return common

    @kernel
    def ended(fields: Any, i: Any, end: Any, dt: Any) -> None:
        """Take the part of a step after the loads, and write everything; ``end`` is the kernel."""
        body, (mass,) = load_inertia(fields, i), load_mass(fields, i)
        force, torque = load_force(fields, i), load_torque(fields, i)
        state, moving = end(load_state(fields, i), load_moving(fields, i), force, torque, body, mass, dt)
        store_state(fields, i, state)
        store_moving(fields, i, moving)
        store_kinetic(fields, i, kinetic_of(stored(state, body, dt), moving[3:6], body, mass))

    @kernel
    def rescaled(fields: Any, i: Any, common: Any) -> Any:
        """What the method and the scheme for centres carry, with velocities times a factor; write what that has changed."""
        centre, turning = load_kinetic(fields, i)
        store_kinetic(fields, i, (common * common * centre, common * common * turning))
        if not by_loads:
            store_heat(fields, i, (load_heat(fields, i)[0] + (common * common - 1.0) * (centre + turning),))
        return multiplied_state(load_state(fields, i), common), multiplied_moving(load_moving(fields, i), common)

    @subroutine
    def advance(fields: Any, blocks: int, dt: float, predict: bool) -> bool:
        """The end of a step and the beginning of the next, over lanes: see :func:`polhode.manybody.engine.step_of_all`."""
        if by_loads:
            note_heat(fields, blocks, dt)
        for block_number in range(np.uint64(blocks)):
            base_index = np.uint64(block_number) * np.uint64(width * LANES)
            for lane in range(np.uint64(LANES)):
                ended(fields, base_index + np.uint64(lane), fast_finish, dt)
        common, outside = factor(fields, blocks), 0
        for block_number in range(np.uint64(blocks)):
            base_index = np.uint64(block_number) * np.uint64(width * LANES)
            for lane in range(np.uint64(LANES)):
                i = base_index + np.uint64(lane)
                body, (mass,) = load_inertia(fields, i), load_mass(fields, i)
                state, moving = rescaled(fields, i, common)
                outside |= not fast_begin(fields, i, state, moving, body, mass, dt, dt, predict)
        return outside != 0

    def advance_each(
        fields: Any, blocks: int, wide: int, dt: float, since_last: float, predict: bool, first_part: bool
    ) -> bool:
        """Advance with the complete kernels, molecule by molecule; ``first_part``: only the beginning of a step."""
        if not first_part:
            if by_loads:
                note_heat(fields, blocks, dt)
            for c in range(blocks * LANES):
                ended(fields, place(c, wide), finish, dt)
        common = 1.0 if first_part and by_loads else factor(fields, blocks)
        outside = False
        for c in range(blocks * LANES):
            i = place(c, wide)
            body, (mass,) = load_inertia(fields, i), load_mass(fields, i)
            state, moving = rescaled(fields, i, common)
            outside |= not begin(fields, i, state, moving, body, mass, dt, since_last, predict)
        return outside

    def begin_all(fields, blocks, count, v, omega, dt):  # type: ignore[no-untyped-def]
        """Write the initial states, and the numbers of the bath, which stand behind omega."""
        wide: Any = np.int64(width)
        set_off(fields, blocks, count, v, omega, dt)
        store_course(fields, place(0, wide), (0.0, 1.0))
        for c in range(count):
            i = place(c, wide)
            store_numbers(fields, i, numbers_behind(omega, c))
            body, (mass,) = load_inertia(fields, i), load_mass(fields, i)
            spin = stored(load_state(fields, i), body, dt)
            store_kinetic(fields, i, kinetic_of(spin, load_moving(fields, i)[3:6], body, mass))

    def sample(fields, at_start, count, dt, readout):  # type: ignore[no-untyped-def]
        """Read all molecules at a whole time, and write what the bath has given until then."""
        wide: Any = np.int64(width)
        read_all(fields, at_start, count, dt, readout)
        _, last = load_course(fields, place(0, wide))
        for c in range(count):
            i = place(c, wide)
            heat = load_heat(fields, i)[0]
            if by_loads:
                heat += given(fields, i, last, dt)
            store_shown(fields, i, (heat,))

    plain_advance = getattr(advance, "py_func", advance)
    plain = {"begin": begin_all, "advance": plain_advance, "advance_each": advance_each, "sample": sample}
    method.parts[normalise, False, True] = made = engine.compiled_method(method, normalise, record, has_short, plain)
    return made
