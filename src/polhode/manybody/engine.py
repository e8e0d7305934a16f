"""The loop over steps of many clumps: the kernels of a method over lanes, with the contacts between the two parts of its step.

The step of the single-body driver (:mod:`polhode.methods.protocol`) is divided at the torque. Here the part after the torque
and the part before the next torque form one pass over all clumps, so that each clump is read and written once per step. The
contacts follow. Between contacts only this pass remains, and it vectorises. Loads are added where there are contacts, and
removed there after the step: the pass writes no zeros.

The centre of mass moves by the leapfrog that needs its force when the method needs its torque: leapfrog, position Verlet or
velocity Verlet (:data:`polhode.methods.translation.BY_TORQUE_TIME`). Apart from round-off the three are one scheme. A method
that needs loads of earlier steps begins with Runge-Kutta steps, with four evaluations of all loads each
(:mod:`polhode.methods.fourth_order_start`), and its centres of mass move by the scheme that needs them as well.
"""

from collections.abc import Callable
from functools import cache
from math import sqrt
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from polhode.algebra.body import angular_momentum
from polhode.algebra.quaternion import normalise as unit_quaternion
from polhode.algebra.quaternion import to_lab
from polhode.algebra.vector import cross, dot
from polhode.compiling.kernel import compile_driver, compiled, float_type, kernel, steps_type, subroutine
from polhode.compiling.lanes import (
    FORCE,
    FRACTION,
    INERTIA,
    LANES,
    MASS,
    R_LISTED,
    STATE,
    Q,
    R,
    blocks_of,
    fields_from,
    load_force,
    load_inertia,
    load_mass,
    load_q,
    load_r,
    load_torque,
    loader,
    place,
    store_force,
    store_q,
    store_r,
    store_torque,
    storer,
)
from polhode.compiling.marching import pause_type
from polhode.compiling.plain import in_plain_python
from polhode.compiling.short_turns import shortened
from polhode.manybody import contact, neighbours
from polhode.manybody.contact import Setup
from polhode.manybody.neighbours import CONTACTS, GROUPS, LISTS, MARGIN, PAIRS, SPHERES, has_room, listed_loads, used_margin
from polhode.methods.fourth_order_start import HELD, STAGES, next_stage
from polhode.methods.one_body import put3, put4, row3, row4
from polhode.methods.protocol import OneTorque
from polhode.methods.translation import BY_TORQUE_TIME, Translation


class Start(NamedTuple):
    """A :class:`polhode.manybody.State` as the compiled code takes it."""

    r: Any
    v: Any
    q: Any
    omega: Any


class Stages(NamedTuple):
    """What a Runge-Kutta step needs beside the state: see :func:`polhode.methods.fourth_order_start.next_stage`."""

    held: Any
    force: Any
    torque: Any


class Readings(NamedTuple):
    """The values that a run writes at its samples, see :func:`polhode.manybody.simulation.run`."""

    energies: Any
    momenta: Any
    spins: Any
    motion: Any


_floats = types.Array(types.float64, 1, "C")
_rows = types.Array(types.float64, 2, "C")
_tables = types.Array(types.float64, 3, "C")
_start = types.NamedUniTuple(_rows, 4, Start)
_setup = types.NamedTuple((_floats, _rows, steps_type, steps_type, _rows, _rows, float_type, float_type), Setup)
_readings = types.NamedTuple((_rows, _rows, _rows, _tables), Readings)

#: A run has diverged if the centre of a clump is this many edges of the box away from its middle, or NaN. That is seen at the
#: next list or sample, which may be some steps earlier with another sampling.
LOST = 10.0
#: A run has also diverged with this many times its initial energy, since the walls can hold clumps that gain energy at every
#: contact, and would want a new list in every step. It is checked every so many steps, whatever is sampled.
BLOWN, CHECKED = 1000.0, 4096
#: Factor by which the margins of the neighbour list change from one list to the next.
WIDER = 1.1


class Parts(NamedTuple):
    """What the loop over steps is handed: functions compiled for :func:`signatures`, and properties of the method.

    The last two functions are the same for all methods. If the loop called them itself they would be compiled again in it.
    """

    begin: Any
    advance_each: Any
    march: Any
    sample: Any
    measure_rates: Any
    measure_energy: Any
    all_loads: Any
    make_list: Any
    width: int
    has_short: bool
    completes: bool
    warm_up_steps: int
    normalises_last: bool
    carried: tuple[int, ...]


#: The fields of :class:`Parts` that are functions.
FUNCTIONS = tuple(name for name, kind in Parts.__annotations__.items() if kind is Any)


def scheme_of(method: OneTorque) -> Translation:
    """The scheme of the centres of mass: velocities that others predict serve no contact here."""
    assert method.translation is not None
    return method.translation if method.warm_up_steps else BY_TORQUE_TIME[method.torque_time]


def parts_of(method: OneTorque, normalise: bool) -> Parts:
    """The parts of the loop that hold the kernels of ``method``, compiled."""
    fields_of = record_of(method, normalise)
    finish, advance, advance_each, has_short = step_of_all(method, normalise, fields_of)
    wanted = signatures()
    each = compile_driver(advance_each, wanted["advance_each"], part=True)
    march = hot_loop(fields_of.width, advance, each, has_short)
    measure_rates, measure_energy = measurements(method, fields_of)
    plain = {
        "begin": beginner(method, fields_of),
        "march": march,
        "sample": sampler(method, fields_of, finish),
        "measure_rates": measure_rates,
        "measure_energy": measure_energy,
    }
    made = {name: compile_driver(function, wanted[name], part=True) for name, function in plain.items()}
    return Parts(
        **made,
        advance_each=each,
        all_loads=shared_parts().all_loads,
        make_list=shared_parts().make_list,
        width=fields_of.width,
        has_short=has_short,
        completes=float(method.torque_time) == 0.0,
        warm_up_steps=int(method.warm_up_steps),
        normalises_last=normalise and not method.rotates_before_torque,
        carried=fields_of.carried,
    )


@cache
def signatures() -> dict[str, Any]:
    """The Numba types of the functions in :class:`Parts`."""
    listed, scratch = list_types()
    whole, real, true = types.int64, float_type, types.boolean
    return {
        "begin": types.void(_floats, whole, whole, _rows, _rows, real),
        "advance_each": true(_floats, whole, whole, real, true),
        "march": types.Tuple((whole, true, real, real, true))(
            _floats, _floats, whole, listed, whole, _setup, real, whole, whole, true, steps_type
        ),
        "sample": types.UniTuple(real, 2)(_floats, true, whole, real, _floats, whole, _readings),
        "measure_rates": types.void(_floats, whole, whole, _rows, real, _rows),
        "measure_energy": real(_floats, whole, whole, real),
        "all_loads": types.Tuple((real, whole))(_floats, whole, whole, _setup),
        "make_list": types.Tuple((types.UniTuple(whole, 4), real))(_floats, whole, whole, _setup, _rows, real, listed, scratch),
    }


@cache
def list_types() -> Any:
    """The Numba types of a neighbour list and of the arrays with which it is made."""
    return numba.typeof(_plain(neighbours.empty_lists)(1, 1, 1, 1, 1, 1)).types


@cache
def driver() -> Callable[..., Any]:
    """The loop over steps and samples, compiled once for all methods; it takes the :class:`Parts` of any.

    ``drive(*parts, start, setup, listed, dt, sample_steps, pause, readings, work)`` returns the number of steps done before the
    run diverged, or -1.
    """
    shared = shared_parts()
    empty_lists, prepare, clear, lost = shared.empty_lists, shared.prepare, shared.clear, shared.lost

    def drive(  # type: ignore[no-untyped-def]
        begin,
        advance_each,
        march,
        sample,
        measure_rates,
        measure_energy,
        all_loads,
        make_list,
        wide,
        has_short,
        completes,
        warm_up_steps,
        normalises_last,
        carried,
        start,
        setup,
        listed,
        dt,
        sample_steps,
        pause,
        readings,
        work,
    ):
        v, omega, half = start.v, start.omega, setup.half
        count = v.shape[0]
        blocks = blocks_for(count)
        fields = np.zeros(blocks * LANES * wide)
        saved = np.zeros(fields.size if has_short else 0)
        copy = np.zeros(blocks * LANES * STATE)
        prepare(fields, wide, blocks, start.r, start.q, setup)
        stored_at_start, _ = all_loads(fields, wide, count, setup)
        begin(fields, blocks, count, v, omega, dt)

        blown = BLOWN * (measure_energy(fields, wide, count, dt) + stored_at_start)
        s: Any = np.int64(0)
        n: Any = np.int64(0)
        check: Any = np.int64(CHECKED)
        stop: Any = pause(n)
        samples = sample_steps.size
        first_time = samples >= 0
        if not completes:
            if samples > 0 and sample_steps[0] == 0:
                kinetic, moved = sample(fields, first_time, count, dt, copy, s, readings)
                if not write(all_loads, kinetic, moved, first_time, 0.0, copy, count, setup, s, readings):
                    return 0
                s = 1
            n = 1
        advance_each(fields, blocks, wide, dt, True)
        clear(fields, wide, blocks)
        stages = Stages(np.zeros((count, HELD if warm_up_steps > 0 else 0)), np.zeros((count, 3)), np.zeros((count, 3)))
        while n < warm_up_steps and s < samples:
            potential, touching = all_loads(fields, wide, count, setup)
            work[CONTACTS] += touching
            if n == sample_steps[s]:
                kinetic, moved = sample(fields, not first_time, count, dt, copy, s, readings)
                if not write(all_loads, kinetic, moved, not first_time, potential, copy, count, setup, s, readings):
                    return n
                s += 1
                if s == samples:
                    break
            runge_kutta_step(all_loads, fields, wide, copy, start, setup, stages, dt, normalises_last)
            advance_each(fields, blocks, wide, dt, False)  # for the loads that the method remembers
            clear(fields, wide, blocks)
            for c in range(count):
                i = place(c, wide)
                store_r(fields, i, row3(start.r, c))
                store_q(fields, i, row4(start.q, c))
                for k in range(3):
                    fields[i + np.uint64(carried[k] * LANES)] = start.r[c, k]
                    fields[i + np.uint64(carried[3 + k] * LANES)] = v[c, k]
                    fields[i + np.uint64(carried[10 + k] * LANES)] = omega[c, k]
                for k in range(4):
                    fields[i + np.uint64(carried[6 + k] * LANES)] = start.q[c, k]
            n += 1
            if n >= stop:
                stop = pause(n)
                if stop == n:
                    return n
        outside = samples >= 0  # there is no list yet
        rates = np.zeros((count, 3))
        most = 0
        for c in range(count):
            most = max(most, setup.many[c])
        near, scratch = empty_lists(64, 256, 1024, count, count, most)
        groups: Any = np.int64(0)
        fast = samples >= 0
        smallest = np.inf
        for k in range(setup.spheres.shape[1]):
            smallest = min(smallest, setup.spheres[3, k])
        skin = 0.5 * smallest
        making, walking = 0.0, 0.0
        while s < samples:
            if outside and lost(fields, wide, count, half):
                return n
            target = min(sample_steps[s], check, stop)
            if listed:
                if outside:
                    # Wider margins while making lists costs more than traversing them, narrower ones otherwise.
                    if making > 0.0:
                        skin = min(skin * WIDER, 0.5 * half) if making > walking else skin / WIDER
                    measure_rates(fields, wide, count, setup.extents, dt, rates)
                    while True:
                        needed, making = make_list(fields, wide, count, setup, rates, skin, near, scratch)
                        groups = needed[0]
                        work[LISTS] += 1
                        work[MARGIN] = int(min(skin, 1e9) * 1e9)
                        if has_room(needed, near, scratch):
                            break
                        near, scratch = empty_lists(
                            max(2 * needed[0], near.limits.size),
                            max(2 * needed[1], near.near.shape[1]),
                            max(2 * needed[2], near.sums.size),
                            max(2 * needed[3], scratch.links.shape[0]),
                            count,
                            most,
                        )
                    walking = 0.0
                n, outside, potential, cost, fast = march(fields, saved, blocks, near, groups, setup, dt, n, target, fast, work)
                walking += cost
            else:
                potential, touching = all_loads(fields, wide, count, setup)
                work[CONTACTS] += touching
                outside = n < target
                if outside:
                    advance_each(fields, blocks, wide, dt, False)
                    clear(fields, wide, blocks)
                    n += 1
            if n >= stop:
                stop = pause(n)
                if stop == n:
                    return n
            if outside:
                continue
            if n == check:
                if not measure_energy(fields, wide, count, dt) <= blown:  # or not a number
                    return n
                check += CHECKED
            if n == sample_steps[s]:
                kinetic, moved = sample(fields, not first_time, count, dt, copy, s, readings)
                if not write(all_loads, kinetic, moved, not first_time, potential, copy, count, setup, s, readings):
                    return n
                s += 1
            if s < samples:
                outside = advance_each(fields, blocks, wide, dt, False) or not listed
                clear(fields, wide, blocks)
                n += 1
        return -1

    @subroutine
    def runge_kutta_step(
        all_loads: Any, fields: Any, wide: int, copy: Any, now: Start, setup: Setup, stages: Stages, dt: float, normalise: bool
    ) -> None:
        """Move ``now`` by a step with four evaluations of all loads, of which the first is in ``fields``; uses ``copy``."""
        count = now.v.shape[0]
        header: Any = np.int64(STATE)
        for stage in range(STAGES):
            if stage > 0:
                clear(copy, header, blocks_for(count))
                for c in range(count):
                    i = place(c, header)
                    store_r(copy, i, row3(now.r, c))
                    store_q(copy, i, row4(now.q, c))
                all_loads(copy, header, count, setup)
            for c in range(count):
                if stage > 0:
                    i = place(c, header)
                    force, torque = load_force(copy, i), load_torque(copy, i)
                else:
                    i = place(c, wide)
                    force, torque = load_force(fields, i), load_torque(fields, i)
                put3(stages.force, c, force)
                put3(stages.torque, c, torque)
            next_stage(
                stage,
                stages.held,
                now.r,
                now.v,
                now.q,
                now.omega,
                stages.force,
                stages.torque,
                setup.inertias,
                setup.masses,
                False,
                dt,
            )
        if normalise:
            for c in range(count):
                put4(now.q, c, unit_quaternion(row4(now.q, c)))

    @subroutine
    def write(
        all_loads: Any,
        kinetic: float,
        moved: float,
        at_start: bool,
        potential: float,
        copy: Any,
        count: int,
        setup: Setup,
        s: int,
        readings: Any,
    ) -> bool:
        """Complete the row of a sample; returns whether all its values are finite."""
        header: Any = np.int64(STATE)
        # The loads of the step apply at the positions read, unless the method needs them elsewhere (in the middle of a step).
        if at_start or moved > 1e-12:
            potential, _ = all_loads(copy, header, count, setup)
        readings.energies[s, 0] = kinetic
        readings.energies[s, 1] = potential
        p = readings.momenta
        total = kinetic + potential + p[s, 0] + p[s, 1] + p[s, 2] + p[s, 3] + p[s, 4] + p[s, 5]
        finite: bool = total - total == 0.0
        return finite

    parts = [types.FunctionType(signatures()[name]) for name in FUNCTIONS]
    properties = types.int64, types.boolean, types.boolean, types.int64, types.boolean, types.UniTuple(types.int64, 13)
    handed = _start, _setup, types.boolean, float_type, steps_type, pause_type, _readings, steps_type
    made: Callable[..., Any] = compile_driver(drive, types.int64(*parts, *properties, *handed))
    return made


class Record(NamedTuple):
    """Functions that read and write the record of a clump for one method, see :mod:`polhode.compiling.lanes`."""

    width: int
    load_state: Callable[..., Any]
    store_state: Callable[..., Any]
    load_moving: Callable[..., Any]
    store_moving: Callable[..., Any]
    carried: tuple[int, ...]


def record_of(method: OneTorque, normalise: bool) -> Record:
    """The record of a method; :func:`record` says which field is where."""
    width, of_state, of_moving = record(method, normalise and method.rotates_before_torque)
    # Where r, v, q and omega are, for a method with Runge-Kutta steps at the start, which carries them.
    carried = of_moving[:6] + of_state[:7] if method.warm_up_steps else (0,) * 13
    return Record(width, loader(of_state), storer(of_state), loader(of_moving), storer(of_moving), carried)


def step_of_all(method: OneTorque, normalise: bool, fields_of: Record) -> tuple[Any, Any, Any, bool]:
    """The kernel that ends a step; the pass over all clumps, by lanes, and clump by clump (to be compiled); whether the pass by
    lanes omits the range reduction."""
    translation = scheme_of(method)
    before_force, after_force = translation.before_force, translation.after_force
    normalise_first = normalise and method.rotates_before_torque
    normalise_last = normalise and not method.rotates_before_torque
    width, load_state, store_state, load_moving, store_moving, _ = fields_of

    def passes(before_torque: Any, after_torque: Any) -> tuple[Any, Any]:
        """For one clump, the part of a step after the loads and the part before the next loads."""

        @kernel
        def finish(state: Any, moving: Any, force: Any, torque: Any, body: Any, mass: Any, dt: Any) -> Any:
            """The part of a step after the loads."""
            state = after_torque(state, torque, body, dt)
            if normalise_last:
                state = unit_quaternion(state[:4]) + state[4:]
            return state, after_force(moving, force, mass, dt)

        @kernel
        def begin(fields: Any, i: Any, state: Any, moving: Any, body: Any, mass: Any, dt: Any) -> bool:
            """The part of a step before the loads; returns whether the clump is still within its margin (False for NaN)."""
            state, q, _omega = before_torque(state, body, dt)
            if normalise_first:
                state = unit_quaternion(state[:4]) + state[4:]
                q = state[:4]
            moving, r, _v = before_force(moving, mass, dt)
            store_state(fields, i, state)
            store_moving(fields, i, moving)
            store_r(fields, i, r)
            store_q(fields, i, q)
            used = used_margin(fields, i, r, q)
            fields[i + np.uint64(FRACTION * LANES)] = used
            within: bool = used <= 1.0
            return within

        return finish, begin

    finish, begin = passes(method.before_torque, method.after_torque)
    short = shortened(method.before_torque, method.after_torque)
    fast_finish, fast_begin = (finish, begin) if short is None else passes(*short)

    @subroutine
    def advance(fields: Any, blocks: int, dt: float) -> bool:
        """The end of a step and the beginning of the next, for all clumps; returns whether one has used up its margin.

        Without range reduction if the method has kernels for that. Loads are left unchanged. (With a single kernel for both
        parts the compiler would no longer see that lanes do not overlap.)
        """
        outside = 0
        for block in range(np.uint64(blocks)):
            base = np.uint64(block) * np.uint64(width * LANES)
            for lane in range(np.uint64(LANES)):
                i = base + np.uint64(lane)
                body, (mass,) = load_inertia(fields, i), load_mass(fields, i)
                force, torque = load_force(fields, i), load_torque(fields, i)
                state, moving = fast_finish(load_state(fields, i), load_moving(fields, i), force, torque, body, mass, dt)
                outside |= not fast_begin(fields, i, state, moving, body, mass, dt)
        return outside != 0

    def advance_each(fields: Any, blocks: int, wide: int, dt: float, first_part: bool) -> bool:
        """Advance with the complete kernels, clump by clump; ``first_part``: only the beginning of a step."""
        outside = False
        for c in range(blocks * LANES):
            i = place(c, wide)
            body, (mass,) = load_inertia(fields, i), load_mass(fields, i)
            state, moving = load_state(fields, i), load_moving(fields, i)
            if not first_part:
                state, moving = finish(state, moving, load_force(fields, i), load_torque(fields, i), body, mass, dt)
            outside |= not begin(fields, i, state, moving, body, mass, dt)
        return outside

    return finish, advance, advance_each, short is not None


def measurements(method: OneTorque, fields_of: Record) -> tuple[Any, Any]:
    """Functions that read the rates of all clumps, and their kinetic energy; see :func:`signatures`."""
    stored = method.stored
    _width, load_state, _, load_moving, _, _ = fields_of

    def rates_of_all(fields, wide, count, extents, dt, rates):  # type: ignore[no-untyped-def]
        """The present speeds of the centre, of the end of the long axis and of what lies beside it, for every clump (m/s)."""
        for c in range(count):
            i = place(c, wide)
            omega = stored(load_state(fields, i), load_inertia(fields, i), dt)
            moving = load_moving(fields, i)
            v = moving[3:6]
            across = omega[1] * omega[1] + omega[2] * omega[2]
            rates[c, 0] = sqrt(dot(v, v))
            rates[c, 1] = extents[1, c] * sqrt(across)
            rates[c, 2] = extents[2, c] * sqrt(omega[0] * omega[0] + across)

    def kinetic_energy(fields, wide, count, dt):  # type: ignore[no-untyped-def]
        """The kinetic energy of all clumps, from the velocities that method and scheme hold at present (J)."""
        energy = 0.0
        for c in range(count):
            i = place(c, wide)
            body, (mass,) = load_inertia(fields, i), load_mass(fields, i)
            omega = stored(load_state(fields, i), body, dt)
            moving = load_moving(fields, i)
            v = moving[3:6]
            energy += 0.5 * (mass * dot(v, v) + dot(omega, angular_momentum(omega, body)))
        return energy

    return rates_of_all, kinetic_energy


def beginner(method: OneTorque, fields_of: Record) -> Any:
    """A function that writes the initial states of all clumps, given the loads there; see :func:`signatures`."""
    set_off, start_method = scheme_of(method).start, method.start
    width, _, store_state, _, store_moving, _ = fields_of

    def begin(fields, blocks, count, v, omega, dt):  # type: ignore[no-untyped-def]
        wide: Any = np.int64(width)
        for c in range(blocks * LANES):
            i = place(c, wide)
            body, (mass,) = load_inertia(fields, i), load_mass(fields, i)
            speed, spin = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            if c < count:
                speed, spin = (v[c, 0], v[c, 1], v[c, 2]), (omega[c, 0], omega[c, 1], omega[c, 2])
            store_state(fields, i, start_method(load_q(fields, i), spin, load_torque(fields, i), body, dt))
            store_moving(fields, i, set_off(load_r(fields, i), speed, load_force(fields, i), mass, dt))

    return begin


def sampler(method: OneTorque, fields_of: Record, finish: Any) -> Any:
    """A function that reads all clumps at a sample and writes them in the :class:`Readings`; see :func:`signatures`."""
    read, arrive = method.read, scheme_of(method).read
    torque_completes_reading = method.torque_time == 0.0
    width, load_state, _, load_moving, _, _ = fields_of

    def sample(fields, at_start, count, dt, copy, s, readings):  # type: ignore[no-untyped-def]
        """Read all clumps at a whole time, working on copies; ``at_start``: before the first step.

        Returns the kinetic energy and the largest difference between what was read and where the loads apply.
        """
        # Constants would be part of the signature of ``place``, which would be compiled for each method.
        wide: Any = np.int64(width)
        header: Any = np.int64(STATE)
        momenta, spins, motion = readings.momenta, readings.spins, readings.motion
        zero = (0.0, 0.0, 0.0)
        moved = 0.0
        kinetic = 0.0
        px, py, pz, lx, ly, lz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for c in range(count):
            i = place(c, wide)
            body, (mass,) = load_inertia(fields, i), load_mass(fields, i)
            state, moving = load_state(fields, i), load_moving(fields, i)
            force, torque = load_force(fields, i), load_torque(fields, i)
            if torque_completes_reading:
                q, omega = read(state, torque, body, dt)
                r, v = arrive(moving, force, mass, dt)
            else:
                if not at_start:
                    state, moving = finish(state, moving, force, torque, body, mass, dt)
                q, omega = read(state, zero, body, dt)
                r, v = arrive(moving, zero, mass, dt)
            there = place(c, header)
            handed_r, handed_q = load_r(fields, i), load_q(fields, i)
            for k in range(3):
                moved = max(moved, abs(r[k] - handed_r[k]))
            for k in range(4):
                moved = max(moved, abs(q[k] - handed_q[k]))
            store_r(copy, there, r)
            store_q(copy, there, q)
            momentum = angular_momentum(omega, body)
            kinetic += 0.5 * (mass * dot(v, v) + dot(omega, momentum))
            turning, orbit = to_lab(q, momentum), cross(r, v)
            px, py, pz = px + mass * v[0], py + mass * v[1], pz + mass * v[2]
            lx, ly, lz = lx + turning[0] + mass * orbit[0], ly + turning[1] + mass * orbit[1], lz + turning[2] + mass * orbit[2]
            if s < spins.shape[0]:
                spins[s, c] = omega[0]
            if s < motion.shape[0]:
                for k in range(3):
                    motion[s, c, k] = r[k]
                    motion[s, c, 3 + k] = v[k]
                    motion[s, c, 10 + k] = omega[k]
                for k in range(4):
                    motion[s, c, 6 + k] = q[k]
        momenta[s, 0], momenta[s, 1], momenta[s, 2] = px, py, pz
        momenta[s, 3], momenta[s, 4], momenta[s, 5] = lx, ly, lz
        return kinetic, moved

    return sample


def hot_loop(width: int, advance: Any, advance_each: Any, has_short: bool) -> Any:
    """The loop over steps between two neighbour lists, see :func:`signatures`; ``advance_each`` is compiled.

    A function of its own because Numba counts references to arrays wherever a loop also makes new ones, and the counting takes
    as long as a step.
    """
    keep, all_numbers = shared_parts().keep, shared_parts().all_numbers

    def march(fields, saved, blocks, near, groups, setup, dt, n, target, fast, work):  # type: ignore[no-untyped-def]
        """Take steps from n to ``target``, or until a clump has used up its margin, including the loads of the last step.

        ``fast`` tries it over lanes, without range reduction if the method has such kernels; if that gives a NaN, everything is
        repeated clump by clump. Loads are zero at the beginning.
        """
        wide: Any = np.int64(width)
        stiffness, half, hit = setup.stiffness, setup.half, near.hit
        begin = n
        done = (work[GROUPS], work[SPHERES], work[PAIRS], work[CONTACTS])
        if fast and has_short:
            keep(fields, saved, wide, blocks)
        while True:
            outside = n < 0
            walking = 0.0
            while True:
                potential, hits, cost = listed_loads(fields, wide, near, groups, stiffness, half, work)
                walking += cost
                if n == target:
                    break
                outside = advance(fields, blocks, dt) if fast else advance_each(fields, blocks, wide, dt, False)
                n += 1
                for h in range(hits):
                    store_force(fields, np.uint64(hit[h]), (0.0, 0.0, 0.0))
                    store_torque(fields, np.uint64(hit[h]), (0.0, 0.0, 0.0))
                if outside:
                    break
            if not (fast and has_short) or all_numbers(fields, wide, blocks):
                break
            fast = False
            n = begin
            keep(saved, fields, wide, blocks)
            work[GROUPS], work[SPHERES], work[PAIRS], work[CONTACTS] = done
        return n, outside, potential, walking, fast

    return march


class SharedParts(NamedTuple):
    """Functions that the drivers of all methods call and that are not worth inlining, each compiled once and kept on disk.

    They take longer to compile than the rest of a driver.
    """

    all_loads: Any
    empty_lists: Any
    make_list: Any
    prepare: Any
    clear: Any
    keep: Any
    all_numbers: Any
    lost: Any


@cache
def shared_parts() -> SharedParts:
    """The compiled :class:`SharedParts`."""
    wanted, whole = signatures(), types.int64
    plain: dict[str, tuple[Callable[..., Any], Any]] = {
        "all_loads": (contact.all_loads, wanted["all_loads"]),
        "make_list": (neighbours.make_list, wanted["make_list"]),
        "prepare": (prepare, types.void(_floats, whole, whole, _rows, _rows, _setup)),
        "clear": (clear, types.void(_floats, whole, whole)),
        "keep": (keep, types.void(_floats, _floats, whole, whole)),
        "all_numbers": (all_numbers, types.boolean(_floats, whole, whole)),
        "lost": (lost, types.boolean(_floats, whole, whole, float_type)),
    }
    made = {name: compile_driver(_plain(function), signature, part=True) for name, (function, signature) in plain.items()}
    lists = types.Tuple(list_types())
    return SharedParts(**made, empty_lists=compile_driver(_plain(neighbours.empty_lists), lists(*(whole,) * 6)))


def _plain(function: Callable[..., Any]) -> Any:
    return getattr(function, "py_func", function)  # the function itself where nothing is compiled


blocks_for = kernel(blocks_of)
store_inertia, store_mass = storer(fields_from(INERTIA, 9)), storer((MASS,))


@compiled
def prepare(fields: Any, width: int, blocks: int, r: Any, q: Any, setup: Setup) -> None:
    """Write positions, orientations and inertia of the clumps; unused lanes rest at the origin."""
    for c in range(blocks * LANES):
        i = place(c, width)
        if c < r.shape[0]:
            store_r(fields, i, (r[c, 0], r[c, 1], r[c, 2]))
            store_q(fields, i, (q[c, 0], q[c, 1], q[c, 2], q[c, 3]))
            store_mass(fields, i, (setup.masses[c],))
            for k in range(9):
                fields[i + np.uint64((INERTIA + k) * LANES)] = setup.inertias[c, k]
        else:
            store_q(fields, i, (1.0, 0.0, 0.0, 0.0))
            store_mass(fields, i, (1.0,))
            store_inertia(fields, i, (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0))


@compiled
def clear(fields: Any, width: int, blocks: int) -> None:
    """Remove the loads on all clumps."""
    for block in range(np.uint64(blocks)):
        first = block * np.uint64(width * LANES)
        for k in range(first + np.uint64(FORCE * LANES), first + np.uint64(FRACTION * LANES)):
            fields[k] = 0.0


@compiled
def keep(fields: Any, saved: Any, width: int, blocks: int) -> None:
    """Copy everything that a step changes from one array to the other, for all clumps."""
    for block in range(blocks):
        first, last = block * width * LANES, (block + 1) * width * LANES
        for k in range(first, first + R_LISTED * LANES):
            saved[k] = fields[k]
        for k in range(first + STATE * LANES, last):
            saved[k] = fields[k]


@compiled
def all_numbers(fields: Any, width: int, blocks: int) -> bool:
    """Whether everything that methods and schemes carry and hand out is finite."""
    wrong = 0
    for block in range(np.uint64(blocks)):
        first, last = block * np.uint64(width * LANES), (block + np.uint64(1)) * np.uint64(width * LANES)
        for k in range(first, first + np.uint64(FORCE * LANES)):
            wrong |= fields[k] - fields[k] != 0.0
        for k in range(first + np.uint64(STATE * LANES), last):
            wrong |= fields[k] - fields[k] != 0.0
    return wrong == 0


@compiled
def lost(fields: Any, width: int, count: int, half: float) -> bool:
    """Whether a clump is far outside the box, or its position or orientation is not finite."""
    bound = 2.0 * LOST * half
    for c in range(count):
        i = place(c, width)
        r, q = load_r(fields, i), load_q(fields, i)
        total = r[0] + r[1] + r[2] + q[0] + q[1] + q[2] + q[3]
        if total - total != 0.0 or max(abs(r[0]), abs(r[1]), abs(r[2])) > bound:
            return True
    return False


def record(method: OneTorque, normalise_first: bool) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """The number of fields of a clump, and the offsets of those that the method and the scheme of its centre of mass carry.

    If they hand out the q or r that they carry, the record holds it once. To find out, their kernels run as plain Python, where
    a value that is passed on is the same object. Nothing is compiled.
    """
    scheme = scheme_of(method)
    inertia = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    zero = (0.0, 0.0, 0.0)
    turning = in_plain_python(method.start)((1.0, *zero), zero, zero, inertia, 1.0)
    moving = in_plain_python(scheme.start)(zero, zero, zero, 1.0, 1.0)
    state, q, _ = in_plain_python(method.before_torque)(_numbers(len(turning)), inertia, 1.0)
    shared_q = 4 if normalise_first or _same(state[:4], q) else 0
    held, r, _ = in_plain_python(scheme.before_force)(_numbers(len(moving)), 1.0, 1.0)
    shared_r = 3 if _same(held[:3], r) else 0
    of_state = fields_from(Q, shared_q) + fields_from(STATE, len(turning) - shared_q)
    of_moving = fields_from(R, shared_r) + fields_from(STATE + len(turning) - shared_q, len(moving) - shared_r)
    return STATE + len(turning) - shared_q + len(moving) - shared_r, of_state, of_moving


def _numbers(size: int) -> tuple[float, ...]:
    """Distinct numbers, each a separate object."""
    return tuple(0.1 + 0.01 * k for k in range(size))


def _same(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
