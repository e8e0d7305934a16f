"""Run one method on one scene and return its energy over time: the entry point of the many-body engine."""

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.compiling.lanes import INERTIA, MASS, Q, R
from polhode.compiling.marching import Pauses
from polhode.interface.arguments import flag, positive, shown, switch, whole
from polhode.interface.arrays import Arrays, about
from polhode.manybody import sites
from polhode.manybody.bath import Bath, checked_bath
from polhode.manybody.bathed import NUMBERS, SUMS
from polhode.manybody.contact import Layout, Setup
from polhode.manybody.engine import Checkpoint, LawParts, MethodParts, Readings, Start, driver, law_parts, method_parts
from polhode.manybody.fluid import Fluid
from polhode.manybody.law import ForceLaw
from polhode.manybody.memory import CURRENT, LEDGER, OLD, Memory, empty_memory
from polhode.manybody.placement import State, check_state, checked_state, motion_variables
from polhode.manybody.scene import Scene
from polhode.manybody.scenes import SCENES
from polhode.methods import METHODS
from polhode.methods.protocol import Method, OneTorque
from polhode.simulate import count_steps, sampled_steps

if TYPE_CHECKING:
    import xarray as xr

_compiling = threading.RLock()


def simulate(
    scene: str | Scene | Fluid,
    method: str | Method,
    dt: float,
    seed: int = 0,
    t_end: float | None = None,
    samples: int = 200,
    *,
    state: "State | xr.Dataset | None" = None,
    record: bool = False,
    checkpoint: bool = False,
    law: str | ForceLaw | None = None,
    brute_force: bool = False,
    normalise: bool | None = None,
    bath: Bath | None = None,
) -> "xr.Dataset":
    """Integrate the motion of all clumps of a scene.

    Parameters
    ----------
    scene, method : str or object
        Keys (see ``print(polhode.manybody.scenes)``, ``print(polhode.methods)``) or your own objects; a scene of clumps
        (:class:`Scene`) or a liquid of molecules (:class:`Fluid`), whose numbers have its own units. Any method with one
        torque evaluation per step can be used. One that needs loads of earlier steps begins with steps of four evaluations
        each, and moves the centres of mass by its own scheme; all others move them by the leapfrog.
    dt : float
        Time step in s. The run ends with the last whole step up to ``t_end``.
    seed : int
        Determines the initial state, which is the same for every method and dt.
    t_end : float, optional
        The time at which the run ends, s; by default the scene's horizon.
    samples : int
        Energies are read at the start and at up to this many evenly spaced steps after it. The run itself does not depend on
        it.
    state : State or xarray.Dataset, optional
        The initial state, in place of the scene's random one. Clumps may overlap as in a contact. Or an earlier run that
        holds a checkpoint, from whose end this one goes on with the same bits as if there had been one run. Method, step and
        clumps must be the same; walls, gravity and parameters of the law may be others.
    record : bool
        Whether to keep the motion of all clumps at the samples.
    checkpoint : bool
        Whether the run holds what another needs to go on from its end: state, histories of contacts, and what the method
        carries, as the variables ``restart_...``. They are kept by ``run.to_netcdf(path)``.
    law : str or ForceLaw, optional
        The law of force, see ``print(polhode.manybody.forces)``; by default that of the scene.
    brute_force : bool
        Examine every pair of clumps in every step instead of keeping a neighbour list: slow, with identical results.
    normalise : bool, optional
        Whether quaternions are normalised every step; by default as the method declares.
    bath : Langevin, NoseHoover or VelocityRescaling, optional
        A heat bath around a :class:`Fluid`: velocity rescaling for any method, the others for those in
        :data:`polhode.manybody.bathed.DRIFTS`. The run then has also ``heat``, the energy that the bath has given since the
        start, and ``temperature_middle_translation`` and ``temperature_middle_rotation``, those between the two kicks of the
        last step, or with velocity rescaling ``temperature_carried_translation`` and ``temperature_carried_rotation``, those
        of the velocities that the method carries. With Langevin the temperature of translation counts all 3 N degrees of
        freedom.

    Returns
    -------
    xarray.Dataset
        Over ``time`` (s): ``kinetic``, ``potential``, ``energy`` (J), ``energy_error`` (relative to the start), ``momentum``
        (time, axis; kg m/s), ``angular_momentum`` (time, axis; kg m^2/s about the middle of the box); for rods ``axial_spin``
        (time, clump; rad/s), which only friction can change; with ``record`` also ``r`` (m), ``v`` (m/s) and ``omega`` (rad/s,
        body frame), each (time, clump, axis), and ``q`` (time, clump, quaternion; body to lab, the scalar first); the scalars
        ``steps`` and ``contact_steps`` (pairs of touching spheres, or of a sphere and a wall, summed over all steps). With
        gravity ``gravitational`` is part of ``energy`` (J). With a law that does not conserve energy there are the energies (J)
        ``stored_normal`` and ``stored_tangential`` in springs, ``dissipated_normal`` and ``dissipated_tangential`` by dashpots,
        ``dissipated_sliding``, ``taken_by_law`` (negative: made). With walls that move there is ``work_of_walls``, what they do
        on the clumps (J). In both cases ``closure`` is the relative error of the sum of all, from which this work is
        subtracted. A run that diverges (a clump ten edges of the box or diameters of the drum from its middle, a NaN, or a
        thousand times the initial energy and what gravity and walls can give) has NaN from there on, and its attribute
        ``diverged`` gives the time in s. Of a :class:`Fluid`: see :meth:`polhode.manybody.Fluid.named`.

    Raises
    ------
    KeyError, ValueError, TypeError
        For unknown keys, a method with several torque evaluations per step, a dt that is not positive, a box that is too full,
        an initial state that does not fit the scene, a run that ends before the earlier run in ``state``, a checkpoint within
        the first steps of a method that needs loads of earlier ones, or a bath that fits neither scene nor method; the message
        says what to do.

    Examples
    --------
    >>> from polhode import manybody
    >>> run = manybody.simulate("rods", "spiral_leapfrog", dt=3.83e-5, t_end=0.02, samples=2, record=True)
    >>> run["q"].dims, run["q"].shape
    (('time', 'clump', 'quaternion'), (3, 30, 4))
    >>> bool(abs(run["energy_error"]).max() < 1e-4)
    True
    """
    return simulate_arrays(
        scene,
        method,
        dt,
        seed,
        t_end,
        samples,
        state=state,
        record=record,
        checkpoint=checkpoint,
        law=law,
        brute_force=brute_force,
        normalise=normalise,
        bath=bath,
    ).dataset()


def simulate_arrays(
    scene: str | Scene | Fluid,
    method: str | Method,
    dt: float,
    seed: int = 0,
    t_end: float | None = None,
    samples: int = 200,
    *,
    state: "State | xr.Dataset | None" = None,
    record: bool = False,
    checkpoint: bool = False,
    law: str | ForceLaw | None = None,
    brute_force: bool = False,
    normalise: bool | None = None,
    bath: Bath | None = None,
) -> Arrays:
    """The run of :func:`simulate` as plain arrays, for jobs that have no time to import xarray.

    Arguments, names, shapes, units and errors are as there.
    """
    if isinstance(scene, str):
        scene = SCENES[scene]
    if isinstance(method, str):
        method = METHODS[method]
    if not isinstance(scene, Scene | Fluid):
        raise TypeError(f"scene must be a key, a polhode Scene or a Fluid, got {shown(scene)}")
    if law is not None:
        scene = scene.with_law(law) if isinstance(scene, Fluid) else replace(scene, law=law)
    if not isinstance(method, OneTorque):
        if isinstance(method, Method):
            raise ValueError(f"method {method.key!r} needs several torques in a step and cannot run many bodies")
        raise TypeError(f"method must be a key or a polhode Method, got {shown(method)}")
    dt = positive("dt", dt, "s")
    steps = count_steps(dt, scene.horizon if t_end is None else positive("t_end", t_end, "s"), truncate=True)
    seed = whole("seed", seed, least=0, most=2**63 - 1)
    flag("record", record)
    flag("checkpoint", checkpoint)
    flag("brute_force", brute_force)
    normalise = switch("normalise", normalise)
    bath = checked_bath(bath, scene, normalise)
    before = None
    if state is None:
        begin = scene.initial_state(seed)
    elif isinstance(state, State):
        begin = checked_state(f"scene {scene.key!r}", len(scene), state)
        if isinstance(scene, Scene):
            check_state(scene.every_clump, scene.box, begin, f"scene {scene.key!r}", scene.drum, scene.periodic)
    else:
        before = _checkpoint_of(state, scene, method, dt, method.normalisation(normalise), bath)
        still = np.zeros((len(before.records), 3))
        r, q = (np.ascontiguousarray(before.records[:, first : first + size]) for first, size in ((R, 3), (Q, 4)))
        begin = State(r, still, q, still.copy())
    done = 0 if before is None else before.step
    if steps <= done:
        raise ValueError(f"t_end must be after {done * dt:g} s, the end of the run in state, got {t_end!r}")
    at = done + sampled_steps(steps - done, whole("samples", samples, least=1))
    options: dict[str, Any] = {"record": record, "brute_force": brute_force, "normalise": normalise, "bath": bath}
    outcome = run(scene, method, dt, begin, at, before, **options)
    drawn = seed if state is None else None
    if isinstance(scene, Fluid):
        arrays = scene.named(method.key, dt, drawn, at, steps - done, outcome)
        if bath is not None:
            bath.name_results(scene, arrays, outcome)
    else:
        arrays = _named(scene, method, dt, drawn, at, steps - done, outcome)
    if checkpoint and outcome["diverged"] < 0:
        if steps < max(method.warm_up_steps, 1):
            raise ValueError(f"checkpoint: {method.key!r} can go on after its first {method.warm_up_steps} steps, got {steps}")
        _keep(outcome["checkpoint"], method.normalisation(normalise), arrays)
    return arrays


#: The parts of a checkpoint in a dataset: dimensions, meaning, unit.
RESTART = {
    "step": ((), "number of the last step", "1"),
    "record": (("clump", "field"), "all that the engine keeps of a clump, in its order and in SI units", "1"),
    "contact": (("contact",), "contacts, by their numbers in the engine", "1"),
    "history": (("contact", "column"), "normal and overlap of each contact, and what the law keeps, in SI units", "1"),
    "ledger": (("since", "form"), "energies of the last loads and of the run, and the power of the walls, in SI units", "1"),
    "potential": ((), "energy stored in contacts", "J"),
}


def _keep(checkpoint: Checkpoint, normalises: bool, arrays: Arrays) -> None:
    """Add a checkpoint to the outcome of a run."""
    memory = checkpoint.memory
    current, number = memory.counts[CURRENT], memory.counts[OLD]
    first = current * memory.keys.shape[1]
    values = {
        "step": checkpoint.step,
        "record": checkpoint.records,
        "contact": memory.keys[current, :number],
        "history": memory.values[first : first + number],
        "ledger": memory.ledger,
        "potential": checkpoint.potential,
    }
    for name, (over, meaning, unit) in RESTART.items():
        arrays.variables[f"restart_{name}"] = (over, values[name], about(meaning, unit))
    arrays.attributes["normalises"] = int(normalises)


def _checkpoint_of(
    earlier: Any, scene: Scene | Fluid, method: OneTorque, dt: float, normalises: bool, bath: Bath | None
) -> Checkpoint:
    """The checkpoint in an earlier run, if this one can go on from there."""
    import xarray as xr

    if not isinstance(earlier, xr.Dataset):
        raise TypeError(f"state must be a polhode.manybody.State, an earlier run or None, got {shown(earlier)}")
    missing = [f"restart_{name}" for name in RESTART if f"restart_{name}" not in earlier]
    if missing:
        raise ValueError(f"state: the run has no {missing[0]}; make it with checkpoint=True, and it must not have diverged")
    mine = {"method": method.key, "dt": dt, "law": scene.force_law.key, "normalises": int(normalises)}
    mine["bath"] = "none" if bath is None else repr(bath)
    unnamed = {"law": "hertz", "bath": "none"}
    for name, value in mine.items():
        other = earlier.attrs.get(name, unnamed.get(name))
        if other != value:
            raise ValueError(f"state: the run was made with {name} {other!r}, this one has {value!r}; it must be the same")
    parts = {name: earlier[f"restart_{name}"].values for name in RESTART}
    setup = setup_of(scene)
    if not np.array_equal(parts["record"][:, MASS], setup.masses) or not np.array_equal(
        parts["record"][:, INERTIA : INERTIA + 9], setup.inertias
    ):
        raise ValueError(f"state: the clumps of the run are not those of scene {scene.key!r}")
    number = len(parts["contact"])
    memory: Memory = empty_memory(number, parts["history"].shape[1], 0)
    memory.counts[OLD], memory.ledger[:] = number, parts["ledger"]
    memory.keys[0], memory.values[:number] = parts["contact"], parts["history"]
    record = np.array(parts["record"], float, order="C")
    return Checkpoint(int(parts["step"]), record, memory, float(parts["potential"]))


def run(
    scene: Scene | Fluid,
    method: OneTorque,
    dt: float,
    state: State,
    sample_steps: np.ndarray,
    before: Checkpoint | None = None,
    *,
    record: bool = False,
    brute_force: bool = False,
    normalise: bool | None = None,
    pauses: Pauses | None = None,
    bath: Bath | None = None,
) -> dict[str, Any]:
    """Run to the last of ``sample_steps`` (ascending, int64) and read the scene at each of them, as plain arrays.

    With the checkpoint ``before`` the run goes on from there, and of ``state`` only the number of clumps matters. ``dt`` is the
    time step in s, and the other arguments are as for :func:`simulate`. ``pauses`` are the pauses of the run, for example
    :class:`polhode.compiling.marching.Laps` to time it; the results do not depend on them. Of a :class:`Fluid` all numbers are
    in its own coherent units, in which an energy is mass length^2 / time^2.

    Returns
    -------
    dict
        ``energies`` (samples, 2): kinetic, and stored in contacts, J. ``kinetic_of_centres`` (samples,), J. ``ledger``
        (samples, 7), J: potential of gravity, stored by normal and by tangential springs, dissipated by normal and by
        tangential dashpots and by sliding, taken by the law.
        ``work_of_walls`` (samples,), J. ``momenta`` (samples, 6): linear, kg m/s, and angular about the middle of the box,
        kg m^2/s, lab frame. ``spins`` (samples, clumps), rad/s about the long axes of rods, else (0, clumps). ``motion``
        (samples, clumps, 13): r (m) and v (m/s) in the lab, q body to lab, scalar first, omega (rad/s) in the body frame if
        recorded, else (0, clumps, 13).
        ``sums`` (samples, 3): what a bath adds up (:data:`polhode.manybody.bathed.SUMS`), else (samples, 0).
        ``work``: counts of what was done, see :data:`WORK`. ``diverged``: number of the step at which the run diverged, or -1.
        ``checkpoint``: if it has not, a :class:`polhode.manybody.engine.Checkpoint`. Values after a run has diverged are NaN.

    Raises
    ------
    TypeError, ValueError
        If the state does not fit the scene, the checkpoint was made by another version of the engine, the bath does not fit the
        method, the fluid or its state, or the kernels of the law do not return what it declares.
    """
    count = len(scene)
    arrays = dict(vars(state if before else checked_state(f"scene {scene.key!r}", count, state)))
    samples = len(sample_steps)
    energies, momenta = np.full((samples, 3), np.nan), np.full((samples, 6), np.nan)
    spins = np.full((samples if scene.linear else 0, count), np.nan)
    motion = np.full((samples if record else 0, count, 13), np.nan)
    ledger = np.full((samples, 1 + LEDGER), np.nan)
    work, work_of_walls = np.zeros(len(WORK), np.int64), np.full(samples, np.nan)
    setup = setup_of(scene)
    blocks = sites.width(setup.layout)
    of_method, of_law = compiled_parts(method, method.normalisation(normalise), scene.force_law, blocks, bath)
    sums = np.zeros((samples, SUMS if bath else 0))
    if bath is not None:
        assert isinstance(scene, Fluid)
        # A restart has the numbers of the bath in its record.
        numbers = np.zeros((count, NUMBERS)) if before else bath.numbers(scene, state, dt)
        arrays["omega"] = np.hstack([arrays["omega"], numbers])
    pauses = pauses or Pauses(first=16)
    at = np.ascontiguousarray(sample_steps, dtype=np.int64)
    readings = Readings(energies, ledger, momenta, spins, motion, work_of_walls, sums)
    width, memory_width = of_method.width, of_law.memory_width
    if before is None:
        before = Checkpoint(-1, np.empty((count, width)), empty_memory(0, memory_width, 0), 0.0)
    elif (before.records.shape[1], before.memory.values.shape[1]) != (width, memory_width):
        raise ValueError("state: the run was made by another version of the engine, whose records are different")
    others = (setup, not brute_force, float(dt), at, pauses, readings, work)
    diverged, memory = driver()(*of_method, *of_law, Start(**arrays), before, *others)
    pauses.end()
    return {
        "energies": energies[:, :2],
        "kinetic_of_centres": energies[:, 2],
        "ledger": ledger,
        "momenta": momenta,
        "spins": spins,
        "motion": motion,
        "work_of_walls": work_of_walls,
        "sums": sums,
        "work": work,
        "diverged": np.array(diverged),
        "checkpoint": Checkpoint(int(at[-1]), before.records, memory, energies[-1, 1]),
    }


#: The attributes of a :class:`polhode.manybody.clump.Clump` that describe its outline, in the order the engine reads them.
EXTENTS = ("reach", "along", "beside", "low", "high", "width")
#: What a run counts: lists made; groups (two clumps, or a clump and a wall), spheres and pairs of spheres examined; contacts;
#: and the mean margin of the last list in nm.
WORK = ("lists", "groups", "spheres", "pairs", "contacts", "margin")


def setup_of(scene: Scene | Fluid) -> Setup:
    """The arrays of clumps and box that the engine reads, in SI units, or in the coherent units of a :class:`Fluid`."""
    if isinstance(scene, Fluid):
        return scene.setup
    kinds = [clump for clump, _ in scene.clumps]
    which = np.repeat(np.arange(len(kinds)), [number for _, number in scene.clumps])
    bodies = [kind.body(scene.material_of(kind).density) for kind in kinds]
    materials, constants = scene.constants()
    sizes = np.array([len(kind.radii) for kind in kinds], np.int64)
    return Setup(
        masses=np.array([body.mass for body in bodies])[which],
        inertias=np.array([body.coefficients() for body in bodies])[which],
        first=(np.cumsum(sizes) - sizes)[which],
        many=sizes[which],
        spheres=np.ascontiguousarray(np.hstack([np.vstack([kind.centres.T, kind.radii]) for kind in kinds])),
        extents=np.ascontiguousarray(np.array([[getattr(kind, name) for kind in kinds] for name in EXTENTS])[:, which]),
        materials=materials[which],
        constants=constants,
        bookkeeping=scene.force_law.bookkeeping(),
        gravity=np.array(scene.gravity),
        walls=np.array(scene.wall_numbers, np.int64),
        drum=np.array([scene.drum.radius, scene.drum.rate] if scene.drum else [0.0, 0.0]),
        shaking=np.array(scene.shaking.motion if scene.shaking else [0.0, 0.0, 0.0, 0.0]),
        periods=np.array(scene.periods),
        layout=Layout(*(np.zeros((0, 0), np.int64) for _ in Layout._fields)),
        classes=len(constants) // (int(materials.max()) + 1),
        most=int(sizes.max()),
        half=scene.box / 2,
    )


def compiled_parts(
    method: OneTorque, normalise: bool, law: ForceLaw, blocks: int = 0, bath: Bath | None = None
) -> tuple[MethodParts, LawParts]:
    """The parts of the engine's loop for one method, perhaps in a heat bath, and one law, each compiled once in a process.

    ``normalise`` says whether quaternions are normalised every step. ``blocks`` is, for a law between sites, the size of
    :func:`polhode.manybody.sites.width`.

    Raises
    ------
    TypeError, ValueError
        If the kernels of the law do not return what it declares, or there is no bath around this method.
    """
    velocities = law.contact is not None
    with _compiling:
        of_bath = None if bath is None else bath.parts(method)
        if of_bath is None and (normalise, velocities, False) not in method.parts:
            method.parts[normalise, velocities, False] = method_parts(method, normalise, velocities)
        law = law.compiled_once
        if "engine" not in law.parts:
            law.parts["engine"] = law_parts(law)
    of_law = law.parts["engine"]
    return (
        of_bath or method.parts[normalise, velocities, False],
        of_law._replace(batch_width=blocks) if law.for_sites else of_law,
    )


def _named(
    scene: Scene, method: OneTorque, dt: float, seed: int | None, at: np.ndarray, steps: int, outcome: dict[str, np.ndarray]
) -> Arrays:
    """The outcome of a run with names and units."""
    kinetic, potential = outcome["energies"].T
    gravitational, by_normal, by_tangential, dissipated = *outcome["ledger"][:, :3].T, outcome["ledger"][:, 3:].T
    energy = kinetic + potential + gravitational
    total = energy + dissipated.sum(0) - outcome["work_of_walls"]
    with np.errstate(invalid="ignore", divide="ignore"):  # a system at rest has no relative change
        change, closure = energy / energy[0] - 1, total / total[0] - 1

    def about(long_name: str, units: str, symbol: str) -> dict[str, str]:
        return {"long_name": long_name, "units": units, "symbol": symbol}

    data: dict[str, Any] = {
        "kinetic": ("time", kinetic, about("kinetic energy", "J", "K")),
        "potential": ("time", potential, about("energy stored in contacts", "J", "U")),
        "energy": ("time", energy, about("total energy", "J", "E")),
        "energy_error": ("time", change, about("change of the energy since the start, relative", "1", "e_E")),
        "momentum": (("time", "axis"), outcome["momenta"][:, :3], about("momentum, lab frame", "kg m s-1", "p")),
        "angular_momentum": (
            ("time", "axis"),
            outcome["momenta"][:, 3:],
            about("angular momentum about the middle of the box, lab frame", "kg m2 s-1", "L"),
        ),
        "steps": ((), steps, about("steps", "1", "n")),
        "contact_steps": (
            (),
            int(outcome["work"][WORK.index("contacts")]),
            about("pairs of touching spheres, or of a sphere and a wall, summed over all steps", "1", "n_c"),
        ),
    }
    if any(scene.gravity):
        data["gravitational"] = (
            "time",
            gravitational,
            about("potential energy of gravity, zero in the lowest corner of the box", "J", "V"),
        )
    if not scene.force_law.conserves_energy:
        for name, values, long_name, symbol in (
            ("stored_normal", by_normal, "energy stored in normal springs", "E_n"),
            ("stored_tangential", by_tangential, "energy stored in tangential springs", "E_t"),
            ("dissipated_normal", dissipated[0], "energy dissipated by normal dashpots", "D_n"),
            ("dissipated_tangential", dissipated[1], "energy dissipated by tangential dashpots", "D_t"),
            ("dissipated_sliding", dissipated[2], "energy dissipated by sliding", "D_s"),
            ("taken_by_law", dissipated[3], "energy taken by the law of force; negative: made", "D_m"),
        ):
            data[name] = ("time", values, about(long_name, "J", symbol))
    if scene.walls_move:
        data["work_of_walls"] = ("time", outcome["work_of_walls"], about("work of the moving walls on the clumps", "J", "W"))
    if scene.walls_move or not scene.force_law.conserves_energy:
        data["closure"] = ("time", closure, about("error of the sum of all energies, relative", "1", "e_sum"))
    if len(outcome["spins"]):
        data["axial_spin"] = (
            ("time", "clump"),
            outcome["spins"],
            about("angular velocity about the long axis", "rad s-1", "w_x"),
        )
    data |= motion_variables(outcome["motion"], "clump")
    coordinates: dict[str, Any] = {
        "time": ("time", at * float(dt), about("time", "s", "t")),
        "axis": ("axis", ["x", "y", "z"], {"long_name": "axis"}),
    }
    if "axial_spin" in data or "r" in data:
        coordinates["kind"] = ("clump", [clump.key for clump in scene.every_clump], {"long_name": "kind of clump"})
    if "q" in data:
        coordinates["quaternion"] = ("quaternion", ["0", "x", "y", "z"], {"long_name": "quaternion component"})
    attributes: dict[str, Any] = {
        "scene": scene.key,
        "method": method.key,
        **({} if scene.force_law.key == "hertz" else {"law": scene.force_law.key}),
        "dt": float(dt),
        "dt_units": "s",
        **({} if seed is None else {"seed": seed}),
        **scene.outline(),
    }
    if outcome["diverged"] >= 0:
        attributes["diverged"] = float(int(outcome["diverged"]) * dt)
    return Arrays(data, coordinates, attributes)
