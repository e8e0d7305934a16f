"""Run one method on one scene and return its energy over time: the front door of the many-body engine."""

from typing import Any

import numpy as np
import xarray as xr

from polhode.arguments import array, flag, positive, shown, switch, whole
from polhode.manybody.engine import SIGNATURE, many_body_driver
from polhode.manybody.placement import State, check_state
from polhode.manybody.scene import Scene
from polhode.marching import Pauses
from polhode.methods.protocol import Method, OneTorque
from polhode.registry import catalogue
from polhode.simulate import count_steps, sampled_steps


def simulate(
    scene: str | Scene,
    method: str | Method,
    dt: float,
    seed: int = 0,
    t_end: float | None = None,
    samples: int = 200,
    *,
    state: State | None = None,
    record: bool = False,
    brute_force: bool = False,
    normalise: bool | None = None,
) -> xr.Dataset:
    """Integrate the motion of all clumps of a scene.

    Parameters
    ----------
    scene, method : str or object
        Keys (see ``print(polhode.manybody.scenes)``, ``print(polhode.methods)``) or objects of your own. Any method with one
        torque in a step will do.
    dt : float
        Time step in s. The run ends with the last whole step before ``t_end``.
    seed : int
        Of the initial state; the same for every method and dt.
    t_end : float, optional
        Time to simulate in s; the scene's horizon by default.
    samples : int
        Energies are read at the start and at this many (at most) evenly spread steps after it. That changes no bit of the run.
    state : State, optional
        Where the clumps start, in place of the scene's random state. They may touch; they may not lie in each other.
    record : bool
        Whether to keep where all clumps are at the samples.
    brute_force : bool
        Look at every pair of clumps in every step instead of keeping a list of neighbours; slow, and the same to the last bit.
    normalise : bool, optional
        Whether quaternions are normalised every step; by default as the method declares.

    Returns
    -------
    xarray.Dataset
        Over ``time`` (s): ``kinetic``, ``potential``, ``energy`` (J), ``energy_error`` (relative to the start), ``momentum``
        (time, axis; kg m/s), ``angular_momentum`` (time, axis; kg m^2/s about the middle of the box); for rods ``axial_spin``
        (time, clump; rad/s), which no contact can change; with ``record`` also ``r``, ``v``, ``q``, ``omega`` of each clump;
        the scalar ``steps``. A run that blows up (a clump far outside the box, a number that is none, or a thousand times the
        energy of the start) has NaN from there on, and its attribute ``diverged`` says when, in s.

    Raises
    ------
    KeyError, ValueError, TypeError
        For unknown keys, a method with several torques in a step, a dt that is not positive, a box too full, or an initial
        state that does not fit the scene; the message says what to do.
    """
    if isinstance(scene, str):
        scene = catalogue_of_scenes()[scene]
    if isinstance(method, str):
        method = catalogue("polhode.methods")[method]
    if not isinstance(scene, Scene):
        raise TypeError(f"scene must be a key or a polhode Scene, got {shown(scene)}")
    if not isinstance(method, OneTorque):
        if isinstance(method, Method):
            raise ValueError(f"method {method.key!r} needs several torques in a step and cannot run many bodies")
        raise TypeError(f"method must be a key or a polhode Method, got {shown(method)}")
    dt = positive("dt", dt, "s")
    steps = count_steps(dt, scene.horizon if t_end is None else positive("t_end", t_end, "s"), truncate=True)
    at = sampled_steps(steps, whole("samples", samples, least=1))
    seed = whole("seed", seed, least=0)
    flag("record", record)
    flag("brute_force", brute_force)
    normalise = switch("normalise", normalise)
    if state is not None and not isinstance(state, State):
        raise TypeError(f"state must be a polhode.manybody.State or None, got {shown(state)}")
    begin = scene.initial_state(seed) if state is None else State(**_arrays(scene, state))
    if state is not None:
        check_state(scene.every_clump, scene.box, begin, f"scene {scene.key!r}")
    outcome = run(scene, method, dt, begin, at, record=record, brute_force=brute_force, normalise=normalise)
    return _dataset(scene, method, dt, seed if state is None else None, at, steps, outcome)


def catalogue_of_scenes() -> Any:
    """The scenes of the package."""
    from polhode.manybody import scenes

    return scenes


def run(
    scene: Scene,
    method: OneTorque,
    dt: float,
    state: State,
    sample_steps: np.ndarray,
    *,
    record: bool = False,
    brute_force: bool = False,
    normalise: bool | None = None,
    pauses: Pauses | None = None,
) -> dict[str, np.ndarray]:
    """Run to the last of ``sample_steps`` (ascending, int64) and read the scene at each of them, as plain arrays.

    ``pauses`` are those of the run, :class:`polhode.marching.Laps` to time it; no bit depends on them.

    Returns
    -------
    dict
        ``energies`` (samples, 2): kinetic and potential, J. ``momenta`` (samples, 6): linear and angular. ``spins`` (samples,
        clumps) for rods, else (0, clumps). ``motion`` (samples, clumps, 13): r, v, q, omega if recorded, else (0, clumps, 13).
        ``work``: counts of what was done, see :data:`WORK`. ``diverged``: number of the step at which the run blew up, or -1.
    """
    count = len(scene)
    arrays = _arrays(scene, state)
    kinds = [clump for clump, _ in scene.clumps]
    which = np.repeat(np.arange(len(kinds)), [number for _, number in scene.clumps])
    bodies = [kind.body(scene.material.density) for kind in kinds]
    sizes = np.array([len(kind.radii) for kind in kinds], np.int64)
    samples = len(sample_steps)
    energies, momenta = np.full((samples, 2), np.nan), np.full((samples, 6), np.nan)
    spins = np.full((samples if scene.linear else 0, count), np.nan)
    motion = np.full((samples if record else 0, count, 13), np.nan)
    work = np.zeros(len(WORK), np.int64)
    drive = compiled_driver(method, normalise)
    pauses = pauses or Pauses(first=16)
    diverged = drive(
        *arrays.values(),
        np.array([body.mass for body in bodies])[which],
        np.array([body.coefficients() for body in bodies])[which],
        (np.cumsum(sizes) - sizes)[which],
        sizes[which],
        np.ascontiguousarray(np.hstack([np.vstack([kind.centres.T, kind.radii]) for kind in kinds])),
        np.ascontiguousarray(np.array([[getattr(kind, name) for kind in kinds] for name in EXTENTS])[:, which]),
        4 / 3 * scene.material.reduced,
        scene.box / 2,
        not brute_force,
        float(dt),
        np.ascontiguousarray(sample_steps, dtype=np.int64),
        pauses,
        energies,
        momenta,
        spins,
        motion,
        work,
    )
    pauses.end()
    return {
        "energies": energies,
        "momenta": momenta,
        "spins": spins,
        "motion": motion,
        "work": work,
        "diverged": np.array(diverged),
    }


def _arrays(scene: Scene, state: State) -> dict[str, np.ndarray]:
    """Copies of the arrays of a state, checked."""
    arrays = {}
    for name, size in (("r", 3), ("v", 3), ("q", 4), ("omega", 3)):
        where = f"scene {scene.key!r}: the initial {name}"
        arrays[name] = array(where, getattr(state, name), columns=size)
        if len(arrays[name]) != len(scene):
            raise ValueError(
                f"{where} must be {len(scene)} rows of {size} numbers, one for each clump; got {len(arrays[name])}"
            )
    if np.abs(np.linalg.norm(arrays["q"], axis=1) - 1).max() > 1e-12:
        raise ValueError(f"scene {scene.key!r}: the initial q are not unit quaternions; divide them by their norms")
    return arrays


#: What the engine knows of the outline of a :class:`polhode.manybody.clump.Clump`, in the order it reads it.
EXTENTS = ("reach", "along", "beside", "low", "high", "width")
#: What a run counts of its own work: lists made; groups (two clumps, or a clump and a wall), spheres and pairs of spheres
#: looked at, contacts; and the mean margin of the last list in nm.
WORK = ("lists", "groups", "spheres", "pairs", "contacts", "margin")


def compiled_driver(method: OneTorque, normalise: bool | None = None) -> Any:
    """The engine's loop for one method, compiled once in a process."""

    normalised = method._normalise(normalise)

    def many_body() -> Any:
        return many_body_driver(method, normalised)

    many_body.__name__ = f"many_body_{'normalised' if normalised else 'as_it_is'}"  # by which the method remembers it
    return method._compiled(many_body, SIGNATURE)


def _dataset(
    scene: Scene, method: OneTorque, dt: float, seed: int | None, at: np.ndarray, steps: int, outcome: dict[str, np.ndarray]
) -> xr.Dataset:
    """The outcome with names and units."""
    kinetic, potential = outcome["energies"].T
    energy = kinetic + potential
    with np.errstate(invalid="ignore", divide="ignore"):  # of what is at rest there is no relative change
        change = energy / energy[0] - 1

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
    }
    if len(outcome["spins"]):
        data["axial_spin"] = (
            ("time", "clump"),
            outcome["spins"],
            about("angular velocity about the long axis", "rad s-1", "w_x"),
        )
    if len(outcome["motion"]):
        motion = outcome["motion"]
        for name, part, dimension, long_name, units in (
            ("r", slice(0, 3), "axis", "position of the centre of mass, lab frame", "m"),
            ("v", slice(3, 6), "axis", "its velocity", "m s-1"),
            ("q", slice(6, 10), "quaternion", "orientation, body to lab", "1"),
            ("omega", slice(10, 13), "axis", "angular velocity in the body frame", "rad s-1"),
        ):
            data[name] = (("time", "clump", dimension), motion[:, :, part], about(long_name, units, name))
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
        "dt": float(dt),
        "dt_units": "s",
        **({} if seed is None else {"seed": seed}),
        "box": scene.box,
        "box_units": "m",
    }
    if outcome["diverged"] >= 0:
        attributes["diverged"] = float(int(outcome["diverged"]) * dt)
    return xr.Dataset(data, coordinates, attributes)
