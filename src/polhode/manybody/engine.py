"""The loop over steps of many clumps: the kernels of a method over lanes, with the contacts between the two parts of its step.

The step of the single-body driver (:mod:`polhode.methods.protocol`) is divided at the torque. Here the part after the torque
and the part before the next torque form one pass over all clumps, so that each clump is read and written once per step. The
contacts follow. Between contacts only this pass remains, and it vectorises. Loads are added where there are contacts, and
removed there after the step: the pass writes no zeros.

The centre of mass moves by the leapfrog that needs its force when the method needs its torque: leapfrog, position Verlet or
velocity Verlet (:data:`polhode.methods.translation.BY_TORQUE_TIME`). Apart from round-off the three are one scheme. A method
that needs loads of earlier steps begins with Runge-Kutta steps, with four evaluations of all loads each
(:mod:`polhode.methods.fourth_order_start`), and its centres of mass move by the scheme that needs them as well.

The functions share their arguments. ``fields`` is the flat float array of the records of all clumps, which have ``width`` (or
``wide``) fields each and stand in ``blocks`` blocks of eight lanes; i is the index at which the record of one begins
(:mod:`polhode.compiling.lanes`), and ``count`` the number of clumps. ``method``, where it is no method of the library, is a
:class:`MethodParts` and ``law`` a :class:`LawParts`; ``setup`` is a :class:`polhode.manybody.contact.Setup`, ``memory`` a
:class:`polhode.manybody.memory.Memory`, ``run`` a :class:`Course` and ``progress`` a :class:`Progress`. ``clock`` is three
times in s: by what the velocities since the last loads give displacements, the time since the last loads, and the time of
these. ``dt`` is the time step, s. Forces are in N, lab frame, torques in N m, body frame; liquids have coherent units of their
own in place of SI, in which an energy is mass length^2 / time^2.
"""

from collections.abc import Callable
from functools import cache
from math import sqrt
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from polhode.algebra.body import angular_momentum
from polhode.algebra.quaternion import conjugate, multiply, to_lab
from polhode.algebra.quaternion import normalise as unit_quaternion
from polhode.algebra.vector import axpy, cross, dot, scale
from polhode.compiling.kernel import compile_driver, compiled, is_kept, kernel, subroutine
from polhode.compiling.lanes import (
    FORCE,
    FRACTION,
    INERTIA,
    LANES,
    MASS,
    R_LISTED,
    STATE,
    STATE_AFTER_VELOCITIES,
    Q,
    R,
    blocks_of,
    empty_fields,
    fields_from,
    load_force,
    load_inertia,
    load_mass,
    load_moved,
    load_q,
    load_r,
    load_torque,
    load_turned,
    loader,
    place,
    store_force,
    store_moved,
    store_q,
    store_r,
    store_spin,
    store_torque,
    store_turned,
    store_velocity,
    storer,
)
from polhode.compiling.plain import in_plain_python
from polhode.compiling.short_turns import shortened
from polhode.compiling.signatures import float_type, pause_type, steps_type
from polhode.manybody import contact, neighbours, sites
from polhode.manybody.answers import check_answers
from polhode.manybody.contact import Layout, Setup
from polhode.manybody.law import ForceLaw
from polhode.manybody.memory import GEOMETRY, LEDGER, NEW, RUN, STEP, WALLS, WORK, Memory, copy_memory, empty_memory
from polhode.manybody.neighbours import CONTACTS, GROUPS, LISTS, MARGIN, PAIRS, SPHERES, has_room, listed_loads_of, used_margin
from polhode.methods.fourth_order_start import HELD
from polhode.methods.one_body import put3, put4, row3, row4
from polhode.methods.processor import compiled_passage, passage_type
from polhode.methods.protocol import OneTorque
from polhode.methods.translation import BY_TORQUE_TIME, Translation


class Start(NamedTuple):
    """A :class:`polhode.manybody.State` as the compiled code takes it: r, v and omega (clumps, 3), q (clumps, 4), same units.

    Further columns of omega are for the part ``begin``.
    """

    r: Any
    v: Any
    q: Any
    omega: Any


class Checkpoint(NamedTuple):
    """All that a run needs to go on: see :func:`polhode.manybody.simulate`.

    Parameters
    ----------
    step : number of the last step done; -1 of a run that has not begun
    records : (clumps, fields): everything the engine keeps of each clump (:mod:`polhode.compiling.lanes`), with the last loads
    memory : the contacts, their histories and the ledger
    potential : energy stored in contacts at the last sample, J
    """

    step: Any
    records: Any
    memory: Memory
    potential: Any


class Stages(NamedTuple):
    """What a passage needs beside the state: see :mod:`polhode.methods.processor`.

    ``held`` (clumps, HELD) is what Runge-Kutta steps keep of their stages; ``force`` and ``torque`` (clumps, 3) are the loads.
    """

    held: Any
    force: Any
    torque: Any


class Readings(NamedTuple):
    """The values that a run writes at its samples, as :func:`polhode.manybody.simulation.run` returns them.

    ``energies`` (samples, 3) has the kinetic energy of the centres of mass, J, in its last column.
    """

    energies: Any
    ledger: Any
    momenta: Any
    spins: Any
    motion: Any
    work_of_walls: Any
    sums: Any


_floats = types.Array(types.float64, 1, "C")
_rows = types.Array(types.float64, 2, "C")
_tables = types.Array(types.float64, 3, "C")
_wholes = types.Array(types.int64, 2, "C")
_start = types.NamedUniTuple(_rows, 4, Start)
_setup = types.NamedTuple(
    (
        *(_floats, _rows, steps_type, steps_type, _rows, _rows, steps_type, _rows, _floats, _floats),
        *(steps_type, _floats, _floats, _floats),
        types.NamedUniTuple(_wholes, 3, Layout),
        *(types.int64, types.int64, float_type),
    ),
    Setup,
)
_memory = types.NamedTuple((_wholes, _rows, steps_type, _rows, _floats, _wholes), Memory)
_checkpoint = types.NamedTuple((types.int64, _rows, _memory, float_type), Checkpoint)
_readings = types.NamedTuple((_rows, _rows, _rows, _rows, _tables, _floats, _rows), Readings)

#: A run has diverged if the centre of a clump is this many edges of the box away from its middle, or NaN. That is seen at the
#: next list or sample, which may be some steps earlier with another sampling.
LOST = 10.0
#: A run has also diverged with this many times its initial energy, since the walls can hold clumps that gain energy at every
#: contact, and would want a new list in every step. It is checked every so many steps, whatever is sampled.
BLOWN, CHECKED = 1000.0, 4096
#: Factor by which the margins of the neighbour list change from one list to the next.
WIDER = 1.1
#: A list in which nothing moves far never ends. It is made anew with half the margins when traversing it in vain has cost so
#: many times what making it did, until they are this part of the smallest radius; narrower ones leave nothing out.
NARROW, PATIENCE = 0.05, 4.0


class MethodParts(NamedTuple):
    """What the loop over steps gets of a method: functions compiled for :func:`signatures`, and properties.

    ``width`` is the number of fields of a record, of which those from ``header`` on are the method's; ``has_short`` says
    whether the pass over lanes omits the range reduction, ``torque_time`` when loads are needed, as a fraction of a step;
    ``carried`` are the fields of r, v, q and omega of a method with Runge-Kutta steps at the start, and ``moves`` (rows, 3) is
    the table of its passages (:mod:`polhode.methods.processor`).
    """

    begin: Any
    advance: Any
    advance_each: Any
    sample: Any
    measure_rates: Any
    measure_energy: Any
    passage: Any
    width: int
    header: int
    has_short: bool
    torque_time: float
    warm_up_steps: int
    normalises_last: bool
    carried: tuple[int, ...]
    moves: np.ndarray


class LawParts(NamedTuple):
    """What the loop over steps gets of a law of force: functions, and how many numbers it keeps of a contact (0: none).

    ``make_list`` is the same for all laws. If the loop called it itself it would be compiled again in it.
    """

    respond: Any
    all_loads: Any
    march: Any
    make_list: Any
    batch_width: int
    memory_width: int


def scheme_of(method: OneTorque) -> Translation:
    """The scheme by which the centres of mass move.

    A method that begins with Runge-Kutta steps has its own. All others have the one of leapfrog, position Verlet and velocity
    Verlet that needs forces when the method needs torques: contacts do not use the velocities that other schemes predict.
    """
    assert method.translation is not None
    return method.translation if method.warm_up_steps else BY_TORQUE_TIME[method.torque_time]


def method_parts(method: OneTorque, normalise: bool, velocities: bool) -> MethodParts:
    """The parts of the loop that hold the kernels of ``method``, compiled.

    ``normalise`` says whether quaternions are normalised in every step, ``velocities`` whether the law of force wants them.
    """
    fields_of = record_of(method, normalise, STATE_AFTER_VELOCITIES if velocities else STATE)
    passes = passes_of(method, normalise, fields_of)
    advance, advance_each = step_of_all(passes, fields_of)
    plain = {
        "begin": beginner(method, fields_of),
        "advance": _plain(advance),
        "advance_each": advance_each,
        "sample": sampler(method, fields_of, passes.finish),
    }
    return compiled_method(method, normalise, fields_of, passes.has_short, plain)


def compiled_method(
    method: OneTorque, normalise: bool, fields_of: "Record", has_short: bool, plain: dict[str, Any]
) -> MethodParts:
    """The parts of the loop that hold the kernels of ``method``, compiled.

    ``plain`` has ``begin``, ``advance``, ``advance_each`` and ``sample`` of :func:`signatures`, in plain Python; measurements
    are added.
    """
    measure_rates, measure_energy = measurements(method, fields_of)
    plain = plain | {"measure_rates": measure_rates, "measure_energy": measure_energy}
    return MethodParts(
        **{name: compile_driver(function, signatures()[name], part=True) for name, function in plain.items()},
        passage=compiled_passage(method.processor),
        width=fields_of.width,
        header=fields_of.header,
        has_short=has_short,
        torque_time=float(method.torque_time),
        warm_up_steps=int(method.warm_up_steps),
        normalises_last=normalise and not method.rotates_before_torque,
        carried=fields_of.carried,
        moves=method.moves,
    )


def law_parts(law: ForceLaw) -> LawParts:
    """The parts of the loop that hold the kernels of a law of force, compiled.

    Raises
    ------
    TypeError
        If the kernels of the law cannot be compiled, or do not return what it declares.
    """
    if law.for_sites:
        all_loads, listed_loads = sites.site_loads_of(law)
        plain = {
            "respond": sites.respond,
            "all_loads": all_loads,
            "march": hot_loop(listed_loads),
            "make_list": sites.list_sites,
        }
    else:
        plain = {
            "respond": contact.interaction(law).respond,
            "all_loads": contact.all_loads_of(law),
            "march": hot_loop(listed_loads_of(law)),
        }
    if not all(is_kept(plain[name], signatures()[name], part=True) for name in ("respond", "all_loads")):
        check_answers(law)
    made = {name: compile_driver(function, signatures()[name], part=True) for name, function in plain.items()}
    return LawParts(
        **{"make_list": shared_parts().make_list, **made},
        batch_width=contact.batch_width(law),
        memory_width=GEOMETRY + law.history if law.contact else 0,
    )


@cache
def signatures() -> dict[str, Any]:
    """The Numba signatures of the functions in :class:`MethodParts`, :class:`LawParts` and :class:`SharedParts`, by field."""
    listed, scratch = list_types()
    whole, real, true = types.int64, float_type, types.boolean
    advance, advance_each = true(_floats, whole, real, true), true(_floats, whole, whole, real, real, true, true)
    respond = real(_floats, _floats, _memory, real, real, whole)
    clock, steps = types.UniTuple(real, 3), types.UniTuple(whole, 3)
    return {
        "begin": types.void(_floats, whole, whole, _rows, _rows, real),
        "advance": _plain(advance),
        "advance_each": advance_each,
        "respond": respond,
        "march": types.Tuple((whole, true, real, real, true))(
            types.FunctionType(respond),
            *(types.FunctionType(advance), types.FunctionType(advance_each), true),
            *(_floats, _floats, whole, whole, listed, whole, _setup, _memory, _memory),
            *(types.UniTuple(real, 4), steps, true, steps_type),
        ),
        "sample": types.void(_floats, true, whole, real, _start),
        "measure_rates": types.void(_floats, whole, whole, _rows, real, _rows),
        "measure_energy": real(_floats, whole, whole, real),
        "passage": passage_type(),
        "all_loads": types.Tuple((real, whole))(
            types.FunctionType(respond), _floats, whole, whole, _setup, _memory, clock, true
        ),
        "make_list": types.Tuple((types.UniTuple(whole, 4), real))(_floats, whole, whole, _setup, _rows, real, listed, scratch),
        "clear": types.void(_floats, whole, whole, _setup),
        "keep": types.void(_floats, _floats, whole, whole),
        "all_numbers": true(_floats, whole, whole),
    }


@cache
def list_types() -> Any:
    """The Numba types of a neighbour list and of the arrays with which it is made, ``Listed`` and ``Scratch``: a pair.

    Both classes are in :mod:`polhode.manybody.neighbours`.
    """
    return numba.typeof(_plain(neighbours.empty_lists)(1, 1, 1, 1, 1, 1)).types


class Course(NamedTuple):
    """What a run uses in every step beside the parts of the loop and the setup: what is to be done, and arrays to overwrite.

    Parameters
    ----------
    listed : whether there are neighbour lists
    sample_steps, readings, work : the steps at whose ends the clumps are read, and what is written there
    pause : the function of :mod:`polhode.compiling.marching`
    fields : the records of all clumps
    saved : what they were before steps over lanes, to repeat these clump by clump
    copy : records of those clumps as far as loads need them, at other poses
    stages : room for a passage
    readout : r, v, q and omega at a sample, a :class:`Start`
    dt, lag : the step, and how long before the end of a step its loads act, s
    first : number of the step with the first loads of the run; -1 of a run that goes on
    """

    listed: Any
    sample_steps: Any
    readings: Any
    work: Any
    pause: Any
    fields: Any
    saved: Any
    copy: Any
    stages: Any
    readout: Any
    dt: Any
    lag: Any
    first: Any


class Progress(NamedTuple):
    """What goes on from step to step, beside the records of the clumps and their contacts.

    Parameters
    ----------
    n : number of the step whose loads are there or next
    s : number of the next sample
    stop, check : the steps at which the next pause is due, and the next look at the energy
    loaded : whether the loads of step n are there
    potential : energy stored in contacts at the last loads, J
    outside : whether a clump has used up its margin in the neighbour list, or there is no list yet
    walking : what traversing this list in vain has cost, ns
    fast : whether steps are taken over lanes
    needed : the contacts at the loads of step n if the memory had no room for them, so that the loads are to be repeated
    goes_on : whether the run has neither diverged nor been ended in a pause
    """

    n: Any
    s: Any
    stop: Any
    check: Any
    loaded: Any
    potential: Any
    outside: Any
    walking: Any
    fast: Any
    needed: Any
    goes_on: Any


@cache
def driver() -> Callable[..., Any]:
    """The loop over steps and samples, :func:`drive` with its arguments, compiled once for all methods and laws."""
    properties = {
        bool: types.boolean,
        float: float_type,
        int: types.int64,
        tuple[int, ...]: types.UniTuple(types.int64, 13),
        np.ndarray: _rows,
    }
    fields_of_parts = [*MethodParts.__annotations__.items(), *LawParts.__annotations__.items()]
    parts = [types.FunctionType(signatures()[name]) if kind is Any else properties[kind] for name, kind in fields_of_parts]
    others = _start, _checkpoint, _setup, types.boolean, float_type, steps_type, pause_type, _readings, steps_type
    made: Callable[..., Any] = compile_driver(drive, types.Tuple((types.int64, _memory))(*parts, *others))
    return made


def drive(  # type: ignore[no-untyped-def]
    begin, advance, advance_each, sample, measure_rates, measure_energy, passage, width, header, has_short, torque_time,
    warm_up_steps, normalises_last, carried, moves, respond, all_loads, march, make_list, batch_width, memory_width,
    start, checkpoint, setup, listed, dt, sample_steps, pause, readings, work,
):  # fmt: skip
    """Run to the last of ``sample_steps``; the record of the checkpoint is read if the run goes on from there, and written.

    The fields of a :class:`MethodParts` and of a :class:`LawParts` come first, one by one: to find the type of a tuple of
    functions takes Numba half a millisecond in every call. Then come ``start`` (:class:`Start`), ``checkpoint``
    (:class:`Checkpoint`), and fields of a :class:`Course`: ``sample_steps`` (samples,) are ascending ints, ``readings`` and the
    counters ``work`` (:data:`polhode.manybody.simulation.WORK`) are written. Returns the number of steps done before the run
    diverged or was stopped, or -1, and the memory of the contacts.

    All arrays are made here. The functions that are called make none, and compile faster for it; those called between lists are
    inlined, since their arguments are some hundred numbers.
    """
    method = MethodParts(
        begin, advance, advance_each, sample, measure_rates, measure_energy, passage, width, header, has_short, torque_time,
        warm_up_steps, normalises_last, carried, moves,
    )  # fmt: skip
    law = LawParts(respond, all_loads, march, make_list, batch_width, memory_width)
    count, wide = setup.masses.size, method.width
    fields = empty_fields(blocks_for(count) * LANES * wide)
    saved = np.zeros(fields.size if method.has_short else 0)
    copy = np.zeros(blocks_for(count) * LANES * method.header)
    stages = Stages(np.zeros((count, HELD if method.warm_up_steps > 0 else 0)), np.zeros((count, 3)), np.zeros((count, 3)))
    readout = Start(np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 4)), np.zeros((count, 3)))
    lag = (1.0 - method.torque_time) * dt if method.torque_time > 0.0 else 0.0
    first: Any = np.int64(-1)
    if checkpoint.step < 0:
        first = np.int64(1 if method.torque_time > 0.0 else 0)
    run = Course(listed, sample_steps, readings, work, pause, fields, saved, copy, stages, readout, dt, lag, first)
    memory = empty_memory(max(64, checkpoint.memory.keys.shape[1]), law.memory_width, law.batch_width)
    copy_memory(checkpoint.memory, memory)
    put_all(method, law, setup, run, start, memory)
    potential = checkpoint.potential
    while first >= 0:
        potential, touching = loads_of_all(method, law, setup, run, memory, (0.0, 0.0, 0.0))
        if touching >= 0:
            break
        memory = larger(memory, memory.counts[NEW])
    blown, progress = set_off(method, setup, run, start, checkpoint.step, checkpoint.records, potential)

    near, scratch = neighbours.empty_lists(64, 256, 1024, count, count, setup.most)
    rates = np.zeros((count, 3))
    saved_memory = empty_memory(memory.keys.shape[1] if method.has_short else 0, law.memory_width, 0)
    groups: Any = np.int64(0)
    smallest = np.inf
    for k in range(setup.spheres.shape[1]):
        smallest = min(smallest, setup.spheres[3, k])
    # The margin of the neighbour list, m, and what it has cost to make it.
    skin, making = 0.5 * smallest, 0.0
    while progress.goes_on and progress.s < sample_steps.size:
        if progress.loaded:
            progress = begin_step(method, law, setup, run, start, progress, blown, memory)
            continue
        contacts = progress.needed
        if progress.outside and progress.n >= method.warm_up_steps:
            if lost(fields, wide, count, setup):
                break
            if listed:
                skin = next_margin(skin, making, progress.walking, smallest, setup.half)
                method.measure_rates(fields, wide, count, setup.extents, dt, rates)
                while True:
                    needed, making = law.make_list(fields, wide, count, setup, rates, skin, near, scratch)
                    groups = needed[0]
                    work[LISTS] += 1
                    work[MARGIN] = int(min(skin, 1e9) * 1e9)
                    if has_room(needed, near, scratch):
                        break
                    near, scratch = neighbours.empty_lists(
                        max(2 * needed[0], near.limits.size),
                        max(2 * needed[1], near.near.shape[1]),
                        max(2 * needed[2], near.sums.size),
                        max(2 * needed[3], scratch.links.shape[0]),
                        count,
                        setup.most,
                    )
                contacts = needed[1] + needed[2]  # no more than what is listed can touch
        if law.memory_width > 0 and contacts > memory.keys.shape[1]:
            memory = larger(memory, contacts)
            saved_memory = empty_memory(memory.keys.shape[1] if method.has_short else 0, law.memory_width, 0)
        patience = PATIENCE * making if skin > NARROW * smallest else np.inf
        progress = reach_loads(method, law, setup, run, progress, near, groups, patience, memory, saved_memory)
    if progress.s < sample_steps.size:
        return progress.n, memory
    for c in range(count):
        for k in range(wide):
            of_list = k >= FRACTION and k < MASS  # a new run makes a new list
            checkpoint.records[c, k] = 0.0 if of_list else fields[place(c, wide) + np.uint64(k * LANES)]
    return np.int64(-1), memory


@subroutine
def put_all(method: MethodParts, law: LawParts, setup: Setup, run: Course, start: Start, memory: Memory) -> None:
    """Write the poses of all clumps at the start, without loads; the pre-map of a processor overwrites the start."""
    count, wide, blocks = setup.masses.size, method.width, blocks_for(setup.masses.size)
    mapped = run.first >= 0 and method.warm_up_steps == 0 and len(method.moves) > 0
    for k in range(2 if mapped else 1):
        if k > 0:
            pass_through(method, law, setup, run, method.moves[: len(method.moves) // 2], start, memory, 0.0, run.first < 0)
        prepare(run.fields, wide, blocks, start, setup, method.header > STATE)
        clear(run.fields, wide, count, setup)


@subroutine
def set_off(
    method: MethodParts, setup: Setup, run: Course, start: Start, done: int, records: Any, potential: float
) -> tuple[float, Progress]:
    """Write the states of all clumps at the start, with the loads there.

    ``done`` is the number of the last step of an earlier run, with its ``records`` (clumps, fields), or -1, and ``potential``
    the energy stored in contacts, J. Returns the energy in J with which the run will have diverged, and its progress.
    """
    count, wide, fields = setup.masses.size, method.width, run.fields
    method.begin(fields, blocks_for(count), count, start.v, start.omega, run.dt)
    if done >= 0:
        for c in range(count):
            for k in range(wide):
                fields[place(c, wide) + np.uint64(k * LANES)] = records[c, k]
    blown = BLOWN * (method.measure_energy(fields, wide, count, run.dt) + abs(potential) + energy_from_outside(setup))
    n: Any = max(done, np.int64(0))
    s: Any = np.int64(0)
    check, stop = (n // CHECKED + 1) * CHECKED, run.pause(n)
    n = done if done >= 0 else run.first - 1
    return blown, Progress(n, s, stop, check, True, potential, True, 0.0, True, s, True)


@subroutine
def loads_of_all(
    method: MethodParts, law: LawParts, setup: Setup, run: Course, memory: Memory, clock: Any
) -> tuple[float, int]:
    """Add the loads between all clumps at a time; returns the energy stored in contacts (J) and how many pairs touch.

    If the memory has no room for all contacts, this number is -1, and the weights are the only loads.
    """
    count = setup.masses.size
    potential, touching = law.all_loads(law.respond, run.fields, method.width, count, setup, memory, clock, True)
    if not has_room_for_all(memory):
        clear(run.fields, method.width, count, setup)
        touching = -1
    return potential, touching


@kernel
def reach_loads(
    method: MethodParts,
    law: LawParts,
    setup: Setup,
    run: Course,
    progress: Progress,
    near: Any,
    groups: int,
    patience: float,
    memory: Memory,
    saved_memory: Memory,
) -> Progress:
    """The loads of this step, or with a neighbour list all steps to the next sample, pause or look at the energy.

    Returns the progress made. The list ``near`` (:class:`polhode.manybody.neighbours.Listed`) with its number of ``groups`` is
    used up when traversing it in vain has cost more than ``patience``, ns. ``saved_memory`` belongs to the fields ``saved``.
    """
    n, s, stop, check, _, potential, outside, walking, fast, needed, goes_on = progress
    if run.listed and n >= method.warm_up_steps:
        walking = 0.0 if outside else walking
        n, outside, potential, cost, fast = law.march(
            law.respond,
            method.advance,
            method.advance_each,
            method.has_short,
            run.fields,
            run.saved,
            method.width,
            blocks_for(setup.masses.size),
            near,
            groups,
            setup,
            memory,
            saved_memory,
            (run.dt, method.torque_time * run.dt, run.lag, patience - walking),
            (n, run.first, min(run.sample_steps[s], check, stop)),
            fast,
            run.work,
        )
        walking += cost
        return Progress(n, s, stop, check, not outside, potential, outside, walking, fast, needed, goes_on)
    # The first loads of a run act ``torque_time`` of a step after its start; all others, a step after the last ones.
    since = method.torque_time * run.dt if n == run.first else run.dt
    potential, touching = loads_of_all(method, law, setup, run, memory, (since, since, n * run.dt - run.lag))
    needed = memory.counts[NEW] if touching < 0 else np.int64(0)
    run.work[CONTACTS] += max(touching, np.int64(0))
    return Progress(n, s, stop, check, touching >= 0, potential, outside, walking, fast, needed, goes_on)


@kernel
def begin_step(
    method: MethodParts,
    law: LawParts,
    setup: Setup,
    run: Course,
    start: Start,
    progress: Progress,
    blown: float,
    memory: Memory,
) -> Progress:
    """End step n, whose loads are there, read the clumps if they are sampled, and begin the next one.

    Returns the progress made. The run has diverged with more than ``blown`` joules. ``start`` is what Runge-Kutta steps at the
    start go on from, and is overwritten.
    """
    n, s, stop, check, _, potential, outside, walking, fast, needed, goes_on = progress
    fields, dt, count, wide = run.fields, run.dt, setup.masses.size, method.width
    at_start = n < run.first
    if n >= stop:
        stop = run.pause(n)
        goes_on = stop != n
    if goes_on and n == check:
        goes_on = method.measure_energy(fields, wide, count, dt) <= blown  # and a number
        check += CHECKED
    if goes_on and n == run.sample_steps[s]:
        clock = (0.0, 0.0, 0.0) if at_start else (dt, run.lag, n * dt)
        goes_on = take(method, law, setup, run, memory, at_start, potential, clock, s)
        s += goes_on
    if goes_on and s < run.sample_steps.size:
        warming = run.first <= n and n < method.warm_up_steps
        if warming:
            pass_through(method, law, setup, run, method.moves, start, memory, n * dt - run.lag, warming)
        predict, since = setup.bookkeeping[2] > 0.0, method.torque_time * dt if at_start else dt
        used_up = method.advance_each(fields, blocks_for(count), wide, dt, since, predict, at_start)
        clear(fields, wide, count, setup)
        if warming:
            carry_on(method, run, start)
        outside = outside or used_up or not run.listed
        n += 1
    return Progress(n, s, stop, check, not goes_on, potential, outside, walking, fast, needed, goes_on)


@subroutine
def carry_on(method: MethodParts, run: Course, now: Start) -> None:
    """Write what a Runge-Kutta step has reached, the poses and velocities ``now``, into the records of all clumps."""
    fields, carried, held = run.fields, method.carried, run.stages.held
    for c in range(now.v.shape[0]):
        if method.normalises_last:
            put4(now.q, c, unit_quaternion(row4(now.q, c)))
        i = place(c, method.width)
        store_r(fields, i, row3(now.r, c))
        store_q(fields, i, row4(now.q, c))
        for k in range(3):
            fields[i + np.uint64(carried[k] * LANES)] = now.r[c, k]
            fields[i + np.uint64(carried[3 + k] * LANES)] = now.v[c, k]
            fields[i + np.uint64(carried[10 + k] * LANES)] = now.omega[c, k]
        for k in range(4):
            fields[i + np.uint64(carried[6 + k] * LANES)] = now.q[c, k]
        if method.header > STATE:
            r0 = (held[c, 0], held[c, 1], held[c, 2])
            q0 = (held[c, 6], held[c, 7], held[c, 8], held[c, 9])
            store_motion(fields, i, r0, q0, row3(now.v, c), row3(now.omega, c), run.dt)


@kernel
def next_margin(skin: float, making: float, walking: float, smallest: float, half: float) -> float:
    """The margin of the next list, m: wider while making lists costs more than traversing them in vain, else narrower.

    It is at least :data:`NARROW` of the smallest radius, and at most a quarter of the edge of the box. Before the first list,
    which has cost nothing yet, it stays.

    ``skin`` is the margin of the last list (m), ``making`` what it cost to make it and ``walking`` to traverse it in vain (ns),
    ``smallest`` the smallest radius and ``half`` half the edge of the box (m).
    """
    narrower = max(skin / (2.0 if walking > PATIENCE * making else WIDER), NARROW * smallest)
    wider = min(skin * WIDER, 0.5 * half)
    return skin if not making > 0.0 else wider if making > walking else narrower


@subroutine
def pass_through(
    method: MethodParts,
    law: LawParts,
    setup: Setup,
    run: Course,
    moves: Any,
    now: Start,
    memory: Memory,
    time: float,
    loaded: bool,
) -> None:
    """Move ``now``, the poses and velocities of all clumps, in place from a ``time`` (s) through the stages of a passage.

    ``moves`` (rows, 3) is the table of the passage, see :mod:`polhode.methods.processor`; ``loaded`` says that the loads of the
    first stage are in the fields.
    """
    stages, dt = run.stages, run.dt
    fields, wide, copy, header = run.fields, method.width, run.copy, method.header
    count = now.v.shape[0]
    for stage in range(0 if loaded else -1, moves.shape[0] - 1):
        in_copy = stage > 0 or not loaded
        if stage >= 0 and in_copy:
            for c in range(count):
                i, in_fields = place(c, header), place(c, wide)
                store_r(copy, i, row3(now.r, c))
                store_q(copy, i, row4(now.q, c))
                if header > STATE:
                    r0, q0 = load_r(fields, in_fields), load_q(fields, in_fields)
                    store_motion(copy, i, r0, q0, row3(now.v, c), row3(now.omega, c), dt)
                store_mass(copy, i, load_mass(fields, in_fields))
            clear(copy, header, count, setup)
            since = moves[stage, 2] * dt
            law.all_loads(law.respond, copy, header, count, setup, memory, (dt, abs(since), time + since), False)
        for c in range(count if stage >= 0 else 0):
            if in_copy:
                i = place(c, header)
                force, torque = load_force(copy, i), load_torque(copy, i)
            else:
                i = place(c, wide)
                force, torque = load_force(fields, i), load_torque(fields, i)
            put3(stages.force, c, force)
            put3(stages.torque, c, torque)
        method.passage(
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
            moves,
        )


@subroutine
def take(
    method: MethodParts,
    law: LawParts,
    setup: Setup,
    run: Course,
    memory: Memory,
    at_start: bool,
    potential: float,
    clock: Any,
    s: int,
) -> bool:
    """Read all clumps at sample s and write its row of ``run.readings``; returns whether its energies and momenta are finite.

    Its other values are not tested: ledger, work of the walls, spins, motion and sums. ``at_start`` says that no step has been
    done, and ``potential`` is the energy stored at the last loads, J. This energy is computed again at the start, and if a
    component of an r or q that is read differs by more than 1e-12 from the pose in the records.
    """
    readings, dt = run.readings, run.dt
    fields, wide, copy, header, readout = run.fields, method.width, run.copy, method.header, run.readout
    count = readout.v.shape[0]
    method.sample(fields, at_start, count, dt, readout)
    if method.warm_up_steps == 0 and len(method.moves) > 0:  # the post-map of a processor
        pass_through(method, law, setup, run, method.moves[len(method.moves) // 2 :], readout, memory, clock[2], s < 0)
    moved, kinetic, of_centres = 0.0, 0.0, 0.0
    px, py, pz, lx, ly, lz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    momenta, spins, motion = readings.momenta, readings.spins, readings.motion
    for c in range(count):
        i, at = place(c, wide), place(c, header)
        body, (mass,) = load_inertia(fields, i), load_mass(fields, i)
        r, v, q, omega = row3(readout.r, c), row3(readout.v, c), row4(readout.q, c), row3(readout.omega, c)
        handed_r, handed_q = load_r(fields, i), load_q(fields, i)
        for k in range(3):
            moved = max(moved, abs(r[k] - handed_r[k]))
        for k in range(4):
            moved = max(moved, abs(q[k] - handed_q[k]))
        store_r(copy, at, r)
        store_q(copy, at, q)
        if header > STATE:
            store_motion(copy, at, handed_r, handed_q, v, omega, dt)
            store_mass(copy, at, (mass,))
        momentum = angular_momentum(omega, body)
        kinetic += 0.5 * (mass * dot(v, v) + dot(omega, momentum))
        of_centres += 0.5 * mass * dot(v, v)
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
    # The loads of the step apply at the positions read, unless the method needs them elsewhere (in the middle of a step).
    if at_start or moved > 1e-12:
        potential, _ = law.all_loads(law.respond, copy, header, count, setup, memory, clock, False)
    readings.energies[s, 0] = kinetic
    readings.energies[s, 1] = potential
    readings.energies[s, 2] = of_centres
    ledger, g = readings.ledger, setup.gravity
    for k in range(LEDGER):
        ledger[s, 1 + k] = memory.ledger[STEP if k < WORK else RUN, k]
    half = max(setup.half, setup.drum[0])
    lowest = half * (abs(g[0]) + abs(g[1]) + abs(g[2])) if half < np.inf else 0.0  # a corner of the box
    ledger[s, 0] = 0.0
    for c in range(count):
        height = lowest - dot(load_r(copy, place(c, header)), (g[0], g[1], g[2]))
        ledger[s, 0] += setup.masses[c] * height
    readings.work_of_walls[s] = memory.ledger[RUN, WALLS]
    sums = readings.sums
    for k in range(sums.shape[1]):  # of the last fields of a record
        for c in range(count):
            sums[s, k] += fields[place(c, wide) + np.uint64((wide - sums.shape[1] + k) * LANES)]
    total = kinetic + potential + px + py + pz + lx + ly + lz
    finite: bool = total - total == 0.0
    return finite


@kernel
def has_room_for_all(memory: Memory) -> bool:
    """Whether all contacts of the last pass had room."""
    return memory.counts[NEW] <= memory.keys.shape[1]  # type: ignore[no-any-return]


@compiled
def larger(memory: Memory, contacts: int) -> Memory:
    """A memory with room for twice as many contacts as these (its arrays are twice as long), with the same content."""
    wider = empty_memory(2 * contacts, memory.values.shape[1], memory.batch.size // LANES)
    copy_memory(memory, wider)
    return wider


@subroutine
def energy_from_outside(setup: Setup) -> float:
    """What gravity and moving walls can give to the clumps, J: their weight times a height, and kinetic energy.

    The height is twice the edge of the box or the diameter of the drum, whichever is larger: more than any diagonal. The
    kinetic energy is the energy of all clumps at the speed of the walls.
    """
    g, moves = setup.gravity, setup.shaking
    strength = sqrt(dot((g[0], g[1], g[2]), (g[0], g[1], g[2])))
    speed = moves[3] * (abs(moves[0]) + abs(moves[1]) + abs(moves[2])) + abs(setup.drum[0] * setup.drum[1])
    total = 0.0
    for mass in setup.masses:
        if strength > 0.0:
            total += mass * strength * 4.0 * max(setup.half, setup.drum[0])
        total += 0.5 * mass * speed * speed
    return total


class Record(NamedTuple):
    """Functions that read and write the record of a clump for one method, see :mod:`polhode.compiling.lanes`.

    ``state`` is what the method carries and ``moving`` what the scheme of the centre of mass does; ``width``, ``header`` and
    ``carried`` are as in :class:`MethodParts`.
    """

    width: int
    load_state: Callable[..., Any]
    store_state: Callable[..., Any]
    load_moving: Callable[..., Any]
    store_moving: Callable[..., Any]
    carried: tuple[int, ...]
    header: int


def record_of(method: OneTorque, normalise: bool, header: int = STATE) -> Record:
    """The record of a method, whose own fields begin at ``header``; :func:`record` says which field is where.

    ``normalise`` says whether quaternions are normalised in every step.
    """
    width, of_state, of_moving = record(method, normalise and method.rotates_before_torque, header)
    # Where r, v, q and omega are, for a method with Runge-Kutta steps at the start, which carries them.
    carried = of_moving[:6] + of_state[:7] if method.warm_up_steps else (0,) * 13
    return Record(width, loader(of_state), storer(of_state), loader(of_moving), storer(of_moving), carried, header)


class Passes(NamedTuple):
    """The two parts of a step of one clump, before and after which the engine computes loads, as kernels.

    ``finish(state, moving, force, torque, body, mass, dt) -> state, moving`` ends a step;
    ``begin(fields, i, state, moving, body, mass, dt, since_last, predict) -> within`` begins the next, writes what the record
    holds, and returns whether the clump is within its margin. ``fast_finish`` and ``fast_begin`` omit the range reduction if
    ``has_short``, and are the same otherwise.
    """

    finish: Any
    begin: Any
    fast_finish: Any
    fast_begin: Any
    has_short: bool


def passes_of(method: OneTorque, normalise: bool, fields_of: Record) -> Passes:
    """The parts of a step of one clump with a method; ``normalise`` says whether quaternions are normalised in every step."""
    translation = scheme_of(method)
    before_force, after_force = translation.before_force, translation.after_force
    normalise_first = normalise and method.rotates_before_torque
    normalise_last = normalise and not method.rotates_before_torque
    _, _, store_state, _, store_moving, _, header = fields_of
    note = note_motion if header > STATE else note_nothing

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
        def begin(
            fields: Any, i: Any, state: Any, moving: Any, body: Any, mass: Any, dt: Any, since_last: Any, predict: Any
        ) -> bool:
            """The part of a step before the loads; returns whether the clump is still within its margin (False for NaN)."""
            state, q, omega = before_torque(state, body, dt)
            if normalise_first:
                state = unit_quaternion(state[:4]) + state[4:]
                q = state[:4]
            moving, r, v = before_force(moving, mass, dt)
            note(fields, i, r, q, v, omega, since_last, predict)
            store_state(fields, i, state)
            store_moving(fields, i, moving)
            store_r(fields, i, r)
            store_q(fields, i, q)
            used = used_margin(fields, i, r, q)
            fields[i + np.uint64(FRACTION * LANES)] = used
            within: bool = used <= 1.0
            return within

        return finish, begin

    complete = passes(method.before_torque, method.after_torque)
    short = shortened(method.before_torque, method.after_torque)
    return Passes(*complete, *(complete if short is None else passes(*short)), has_short=short is not None)


def step_of_all(passes: Passes, fields_of: Record) -> tuple[Any, Any]:
    """The pass over all clumps by lanes, and clump by clump (to be compiled), which end a step and begin the next.

    They are ``advance`` and ``advance_each`` in :func:`signatures`.
    """
    finish, begin, fast_finish, fast_begin, _ = passes
    width, load_state, _, load_moving, *_ = fields_of

    @subroutine
    def advance(fields: Any, blocks: int, dt: float, predict: bool) -> bool:
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
                outside |= not fast_begin(fields, i, state, moving, body, mass, dt, dt, predict)
        return outside != 0

    def advance_each(
        fields: Any, blocks: int, wide: int, dt: float, since_last: float, predict: bool, first_part: bool
    ) -> bool:
        """Advance with the complete kernels, clump by clump; ``first_part``: only the beginning of a step.

        ``since_last`` is the time from the last loads to the next.
        """
        outside = False
        for c in range(blocks * LANES):
            i = place(c, wide)
            body, (mass,) = load_inertia(fields, i), load_mass(fields, i)
            state, moving = load_state(fields, i), load_moving(fields, i)
            if not first_part:
                state, moving = finish(state, moving, load_force(fields, i), load_torque(fields, i), body, mass, dt)
            outside |= not begin(fields, i, state, moving, body, mass, dt, since_last, predict)
        return outside

    return advance, advance_each


@kernel
def note_nothing(fields: Any, i: Any, r: Any, q: Any, v: Any, omega: Any, since_last: Any, predict: Any) -> None:
    """Note nothing: the part of the loop for a law that needs no velocities."""


@kernel
def note_motion(fields: Any, i: Any, r: Any, q: Any, v: Any, omega: Any, since_last: Any, predict: Any) -> None:
    """Write the velocities that a law may want: those of the middle of the step, from its two poses, and those of now.

    The former are what has moved, whatever the method stores. The latter are what method and scheme hand out, or if ``predict``
    a prediction by the last two of the former. The pose before is in the record; r (3,), m, and q (4,) are the next one, v
    (3,), m/s, and omega (3,), rad/s in the body frame, the velocities there, and ``since_last`` is the time in between, s.
    """
    moved, turned = load_moved(fields, i), load_turned(fields, i)
    m = contact.matrix(q)
    new_moved, new_turned = motion_between(load_r(fields, i), load_q(fields, i), r, q, since_last)
    new_turned = contact.to_lab(m, new_turned)
    new_moved = new_moved if since_last > 0.0 else moved
    new_turned = new_turned if since_last > 0.0 else turned
    ahead_v, ahead_omega = axpy(1.5, new_moved, scale(-0.5, moved)), axpy(1.5, new_turned, scale(-0.5, turned))
    store_velocity(fields, i, ahead_v if predict else v)
    store_spin(fields, i, ahead_omega if predict else contact.to_lab(m, omega))
    store_moved(fields, i, new_moved)
    store_turned(fields, i, new_turned)


@kernel
def motion_between(r0: Any, q0: Any, r: Any, q: Any, dt: float) -> Any:
    """Mean velocity (3,), lab frame, m/s, and mean angular velocity (3,), body frame, rad/s, between two poses.

    The poses are r0 and r (3,) in m, and quaternions q0 and q (4,) of any length; ``dt`` is the time in between, s. The tangent
    of half the angle is exact, its inverse a series: the error is below 1e-7 for a turn of 0.4 rad.
    """
    rate = 1.0 / dt
    turn = multiply(conjugate(q0), q)
    a = 1.0 / turn[0]
    x, y, z = a * turn[1], a * turn[2], a * turn[3]
    t = x * x + y * y + z * z
    s = 2.0 * rate * (1.0 - t * (1 / 3 - t * (1 / 5 - t * (1 / 7 - t * (1 / 9)))))
    return scale(rate, (r[0] - r0[0], r[1] - r0[1], r[2] - r0[2])), (s * x, s * y, s * z)


@kernel
def store_motion(fields: Any, i: Any, r0: Any, q0: Any, v: Any, omega: Any, dt: float) -> None:
    """Write the velocities of a clump whose pose is written already: those of now, and those since an earlier pose.

    r0 (3,), m, and q0 (4,) are the pose a time ``dt`` (s) ago; v (3,), m/s in the lab, and omega (3,), rad/s in the body frame,
    are the velocities now.
    """
    q = load_q(fields, i)
    m = contact.matrix(q)
    moved, turned = motion_between(r0, q0, load_r(fields, i), q, dt)
    store_velocity(fields, i, v)
    store_spin(fields, i, contact.to_lab(m, omega))
    store_moved(fields, i, moved)
    store_turned(fields, i, contact.to_lab(m, turned))


def measurements(method: OneTorque, fields_of: Record) -> tuple[Any, Any]:
    """The functions that read the rates of all clumps, and their kinetic energy (to be compiled).

    ``rates_of_all(fields, wide, count, extents, dt, rates)`` writes ``rates`` (clumps, 3): the speeds of the centre, of the end
    of the long axis and of what lies beside it, m/s. ``kinetic_energy(fields, wide, count, dt)`` returns J.
    """
    stored = method.stored
    _width, load_state, _, load_moving, *_ = fields_of

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
    """The function ``begin(fields, blocks, count, v, omega, dt)`` (to be compiled).

    It writes the initial states of all clumps, whose poses and loads are in the records, given v (clumps, 3), m/s in the lab,
    and omega (clumps, 3), rad/s in the body frame.
    """
    set_off, start_method = scheme_of(method).start, method.start
    width, _, store_state, _, store_moving, *_ = fields_of

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
    """The function ``sample(fields, at_start, count, dt, readout)`` (to be compiled).

    It reads r, v, q and omega of all clumps at a whole time into ``readout``, a :class:`Start`. ``finish`` is the kernel of
    :class:`Passes` that ends a step.
    """
    read, arrive = method.read, scheme_of(method).read
    torque_completes_reading = method.torque_time == 0.0
    width, load_state, _, load_moving, *_ = fields_of

    def sample(fields, at_start, count, dt, readout):  # type: ignore[no-untyped-def]
        """Read r, v, q and omega of all clumps at a whole time; ``at_start``: before the first step."""
        # A constant would be part of the signature of ``place``, which would be compiled for each method.
        wide: Any = np.int64(width)
        zero = (0.0, 0.0, 0.0)
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
            put3(readout.r, c, r)
            put3(readout.v, c, v)
            put4(readout.q, c, q)
            put3(readout.omega, c, omega)

    return sample


def hot_loop(listed_loads: Any) -> Any:
    """The loop over steps between two neighbour lists, ``march`` in :func:`signatures` (to be compiled), with a law's loads.

    ``listed_loads`` is the kernel of :func:`polhode.manybody.neighbours.listed_loads_of`, or the one for sites.
    A function of its own because Numba counts references to arrays wherever a loop also makes new ones, and the counting takes
    as long as a step. It is compiled once for each law and calls the passes of any method.
    """
    keep, all_numbers, clear = shared_parts().keep, shared_parts().all_numbers, shared_parts().clear

    def march(  # type: ignore[no-untyped-def]
        respond,
        advance,
        advance_each,
        has_short,
        fields,
        saved,
        wide,
        blocks,
        near,
        groups,
        setup,
        memory,
        saved_memory,
        clock,
        steps,
        fast,
        work,
    ):
        """Take steps from n to ``target``, or until a clump has used up its margin, including the loads of the last step.

        ``clock`` is dt, the time at which the first loads of the run act, how long before the end of a step its loads act, and
        the cost in vain at which the list counts as used up; ``steps`` are n, that of the first loads, and ``target``. ``fast``
        tries it over lanes, without range reduction if the method has such kernels; if that gives a NaN, everything is repeated
        clump by clump. Loads are gravity alone at the beginning. The energy returned belongs to the loads of ``target``.
        """
        (dt, since_start, lag, patience), (n, first, target), hit = clock, steps, near.hit
        predict = setup.bookkeeping[2] > 0.0
        g = (setup.gravity[0], setup.gravity[1], setup.gravity[2])
        begin, count = n, setup.masses.size
        done = (work[GROUPS], work[SPHERES], work[PAIRS], work[CONTACTS])
        if fast and has_short:
            keep(fields, saved, wide, blocks)
            copy_memory(memory, saved_memory)
        while True:
            outside = n < 0
            walking = 0.0
            while True:
                since = since_start if n == first else dt
                now = (since, since, n * dt - lag)
                potential, hits, cost = listed_loads(respond, fields, wide, near, groups, setup, memory, now, n == target, work)
                walking += cost
                if n == target:
                    break
                if fast:
                    outside = advance(fields, blocks, dt, predict)
                else:
                    outside = advance_each(fields, blocks, wide, dt, dt, predict, False)
                n += 1
                if 2 * hits > count:  # many are there more than once
                    clear(fields, wide, count, setup)
                    hits = 0
                for h in range(hits):
                    i = np.uint64(hit[h])
                    store_force(fields, i, scale(load_mass(fields, i)[0], g))
                    store_torque(fields, i, (0.0, 0.0, 0.0))
                outside = outside or walking > patience
                if outside:
                    break
            if not (fast and has_short) or all_numbers(fields, wide, blocks):
                break
            fast = False
            n = begin
            keep(saved, fields, wide, blocks)
            copy_memory(saved_memory, memory)
            work[GROUPS], work[SPHERES], work[PAIRS], work[CONTACTS] = done
        return n, outside, potential, walking, fast

    return march


class SharedParts(NamedTuple):
    """Functions that the parts of all laws call and that are not worth inlining, each compiled once and kept on disk.

    They have the names of functions of this module and of :func:`polhode.manybody.neighbours.make_list`.
    """

    make_list: Any
    clear: Any
    keep: Any
    all_numbers: Any


@cache
def shared_parts() -> SharedParts:
    """The compiled :class:`SharedParts`."""
    plain: dict[str, Any] = {"make_list": neighbours.make_list, "clear": clear, "keep": keep, "all_numbers": all_numbers}
    made = {name: compile_driver(_plain(function), signatures()[name], part=True) for name, function in plain.items()}
    return SharedParts(**made)


def _plain(function: Callable[..., Any]) -> Any:
    return getattr(function, "py_func", function)  # the function itself where nothing is compiled


blocks_for = kernel(blocks_of)
store_inertia, store_mass = storer(fields_from(INERTIA, 9)), storer((MASS,))


@compiled
def prepare(fields: Any, width: int, blocks: int, start: Start, setup: Setup, velocities: bool) -> None:
    """Write poses, masses and moments of the clumps from ``start`` and ``setup``; unused lanes rest at the origin.

    ``velocities`` says whether the records hold them, so that they are written, too.
    """
    r, q, v, omega = start.r, start.q, start.v, start.omega
    for c in range(blocks * LANES):
        i = place(c, width)
        if c < r.shape[0]:
            store_r(fields, i, (r[c, 0], r[c, 1], r[c, 2]))
            store_q(fields, i, (q[c, 0], q[c, 1], q[c, 2], q[c, 3]))
            store_mass(fields, i, (setup.masses[c],))
            for k in range(9):
                fields[i + np.uint64((INERTIA + k) * LANES)] = setup.inertias[c, k]
            if velocities:
                speed, spin = row3(v, c), contact.to_lab(contact.matrix(row4(q, c)), row3(omega, c))
                store_velocity(fields, i, speed)
                store_spin(fields, i, spin)
                store_moved(fields, i, speed)
                store_turned(fields, i, spin)
        else:
            store_q(fields, i, (1.0, 0.0, 0.0, 0.0))
            store_mass(fields, i, (1.0,))
            store_inertia(fields, i, (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0))


@compiled
def clear(fields: Any, width: int, count: int, setup: Setup) -> None:
    """Leave no loads on the clumps but their weights."""
    g = setup.gravity
    for c in range(count):
        i = place(c, width)
        store_force(fields, i, scale(setup.masses[c], (g[0], g[1], g[2])))
        store_torque(fields, i, (0.0, 0.0, 0.0))


@compiled
def keep(fields: Any, saved: Any, width: int, blocks: int) -> None:
    """Copy everything that a step changes from ``fields`` to ``saved``, an array of the same size, for all clumps."""
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
def lost(fields: Any, width: int, count: int, setup: Setup) -> bool:
    """Whether a clump is far outside the box, or its position or orientation is not finite.

    Far is :data:`LOST` edges of the box from its middle, or as many diameters of a drum if these are larger, along x, y or z;
    along periodic axes there is no bound.
    """
    bound = 2.0 * LOST * max(setup.half, setup.drum[0])
    for c in range(count):
        i = place(c, width)
        r, q = load_r(fields, i), load_q(fields, i)
        total = r[0] + r[1] + r[2] + q[0] + q[1] + q[2] + q[3]
        if total - total != 0.0:
            return True
        for axis in range(3):
            if abs(r[axis]) > bound and (setup.periods.size == 0 or setup.periods[axis] == 0.0):
                return True
    return False


def record(method: OneTorque, normalise_first: bool, header: int = STATE) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """The number of fields of a clump, and the places of those that the method and the scheme of its centre of mass carry.

    These are two tuples of ints. ``normalise_first`` says whether the quaternion is normalised before the loads; fields of
    their own begin at ``header``.

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
    of_state = fields_from(Q, shared_q) + fields_from(header, len(turning) - shared_q)
    of_moving = fields_from(R, shared_r) + fields_from(header + len(turning) - shared_q, len(moving) - shared_r)
    return header + len(turning) - shared_q + len(moving) - shared_r, of_state, of_moving


def _numbers(size: int) -> tuple[float, ...]:
    """Distinct numbers, each a separate object."""
    return tuple(0.1 + 0.01 * k for k in range(size))


def _same(first: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return len(first) == len(other) and all(a is b for a, b in zip(first, other, strict=True))
