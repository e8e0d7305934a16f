"""What a method means for a user: where a free spin goes, which engines have it, what does better, what tells it apart."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from polhode.advice import files
from polhode.advice.errors import AdviceError
from polhode.fits.atlas_names import key_of
from polhode.fits.tumbling import NOTICED_CHANGE, tumbles_as_exact
from polhode.methods import METHODS
from polhode_engines import cases, identify, recipe, shipped
from polhode_engines.candidates import candidate, plain_label
from polhode_engines.causes import in_lab
from polhode_engines.environments import Run, Spun
from polhode_engines.identify import FEW, WITHIN
from polhode_engines.read_rows import READ

#: Angles turned in a step of runs that may tell methods apart, rad.
ANGLES = (recipe.ANGLE, recipe.ANGLE_SINGLE)
#: Runs whose angles in a step differ by less than this factor tell the same.
SAME_ANGLE = 1.4
#: Torques of runs in words; a recipe has all but the one fixed in the body.
TORQUES = {
    "free": "without a torque",
    "lab": "under a torque fixed in the lab",
    "velocity": "under the friction -c omega",
    "constant": "under a torque fixed in the body",
}
#: The axis of the middle moment of the body of the atlas.
MIDDLE = 1
#: A relative difference from the energy about an axis below which a body has been driven to that axis.
REACHED = 1e-3


def states_of(key: str, run: Run) -> Spun:
    """The run of the candidate with a key, in plain Python, read after ``run.samples``; NaN from a failure on.

    Raises
    ------
    ValueError
        If there is no such candidate.
    """
    method = candidate(key)
    driver = identify.driver_of(method, run)
    first = getattr(method, "warm_up_steps", 0)
    state, rows, n = driver.start(run.q0, run.omega0), [], 0
    try:
        for wanted in run.samples:
            while n < wanted:
                state, n = driver.step(state, first + n), n + 1
            rows.append(driver.read(state, first + n))
    except (ArithmeticError, ValueError):
        pass
    rows += [((np.nan,) * 4, (np.nan,) * 3)] * (len(run.samples) - len(rows))
    return Spun(np.array([q for q, _ in rows]), np.array([omega for _, omega in rows]))


@dataclass(frozen=True)
class LongSpin:
    """A long free spin.

    Parameters
    ----------
    energy, momentum : relative changes of energy and of the length of the momentum
    turned : the largest angle by which the momentum turns in the lab, rad
    end : where it ends, in a word of the atlas
    start : where it starts
    turns, exact_turns : how often the body turns over about its middle axis, and how often the exact body does
    """

    energy: float = np.nan
    momentum: float = np.nan
    turned: float = np.nan
    end: str = ""
    start: str = ""
    turns: int = 0
    exact_turns: int = 0

    @property
    def is_as_exact(self) -> bool:
        """Whether the body tumbles as the exact one does: energy, momentum and its vector, and number of turns.

        :func:`polhode.fits.tumbling.tumbles_as_exact` has the limits. False for a spin that ends about an axis, stops, diverges
        or was not run.
        """
        changes = (self.energy, self.momentum, self.turned)
        return self.end == "tumbles" and tumbles_as_exact(changes, self.turns, self.exact_turns)


def long_spin(key: str, steps: int) -> LongSpin:
    """A free spin with the candidate ``key``, of so many steps of ``cases.LONG_STEP``, from next to the middle axis.

    A spin from between the axes takes its place if only that one does not tumble or changes energy or momentum noticeably, or
    if neither does and only that one does not tumble as the exact body: a method that drives every body to the middle axis
    starts at its end beside that axis, and keeps its energy there.
    """
    from polhode_engines.atlas import long_spin_of  # needs xarray

    run = cases.long_run(steps)
    spins: list[LongSpin] = []
    for start, omega in (("beside the middle axis", run.omega0), ("from between the axes", cases.GENERAL)):
        states = states_of(key, replace(run, omega0=omega))
        energy, momentum, _, _, end, _ = long_spin_of(run, states)
        with np.errstate(all="ignore"):
            lab = in_lab(states.q, states.omega * run.inertia)
            lab /= np.linalg.norm(lab, axis=1, keepdims=True)
            turned = float(2 * np.arcsin(np.clip(np.linalg.norm(lab - lab[0], axis=1).max() / 2, 0, 1)))
        if spins and end == "tumbles":
            end = _axis_reached(run.inertia, omega, energy, momentum) or end
        turns = shipped.turns(states.omega[:, MIDDLE])
        spins.append(LongSpin(energy, momentum, turned, end, start, turns, _exact_turns(omega, steps)))
        if end != "tumbles" or max(abs(energy), abs(momentum)) > NOTICED_CHANGE:
            return spins[-1]
    return next((spin for spin in spins if not spin.is_as_exact), spins[0])


def spin_with_step(key: str, steps: int, angle: float) -> LongSpin:
    """A free spin from between the axes with the candidate ``key`` and so many steps of this angle, rad.

    The result has its end and the changes of energy and momentum; turns are not counted.

    Energy and momentum oscillate with every turn of a method that loses neither. Their changes, of a body that tumbles to
    the end, are therefore those between the means over the first and the last tenth; else those from the first to the last row.
    """
    from polhode_engines.atlas import long_spin_of  # needs xarray

    run = replace(cases.long_run(steps), omega0=cases.GENERAL, dt=angle)
    states = states_of(key, run)
    energy, momentum, _, _, end, _ = long_spin_of(run, states)
    if end == "tumbles":
        moments, tenth = np.array(run.inertia), max(1, len(states.omega) // 10)
        values = (moments * states.omega**2).sum(1), np.linalg.norm(moments * states.omega, axis=1)
        energy, momentum = (float(value[-tenth:].mean() / value[:tenth].mean() - 1) for value in values)
    return LongSpin(energy, momentum, end=end, start="from between the axes")


@cache
def _exact_turns(omega: tuple[float, float, float], steps: int) -> int:
    """The turns of the exact body in a long spin, read as often as that is."""
    run = cases.long_run(steps)
    between = math.ceil(steps / cases.LONG_SAMPLES)
    coarse = replace(run, omega0=omega, dt=run.dt * between, samples=tuple(range(steps // between + 1)))
    return shipped.turns(states_of("exact_rotor", coarse).omega[:, MIDDLE])


def _axis_reached(inertia: Sequence[float], omega: Sequence[float], energy: float, momentum: float) -> str:
    """The axis to which a body that started between the axes has been driven, in a word of the atlas; empty if to none.

    About an axis of the moment I, the energy is L^2 / (2 I). About the middle one it may still turn over now and then.
    """
    moments, w = np.array(inertia), np.array(omega)
    ratio = (moments * w * w).sum() / ((moments * w) ** 2).sum() * (1 + energy) / (1 + momentum) ** 2
    names = (f"{name} moment" for name in ("smallest", "middle", "largest"))
    return next((name for name, moment in zip(names, sorted(moments), strict=True) if abs(ratio * moment - 1) < REACHED), "")


def are_one_free_step(methods: Sequence[str]) -> bool:
    """Whether the candidates with these keys make the same step of a free body, but for rounding.

    They are compared in short runs with the angles in a step :data:`ANGLES`.
    """
    runs = [replace(cases.identification_runs("free", length=FEW)[0], dt=angle) for angle in ANGLES]
    return len(methods) == 1 or all(
        _agree(states_of(methods[0], run), states_of(key, run)) for key in methods[1:] for run in runs
    )


def same_engines(methods: Sequence[str]) -> tuple[str, ...]:
    """The engines, each as "label (option)", that were identified as one of the methods with these keys, or read to be one."""
    names = [f"{row.label} ({row.option}; read)" for row in READ if row.method in methods]
    path = files.released("atlas.nc")
    if path is not None:
        from polhode.interface.netcdf import read_dataset

        data = read_dataset(path)
        table = {name: data[name].values.astype(str) for name in ("label", "option", "method")}
        done = data["is_identified"].values.astype(bool)
        for engine, option, method, known in zip(*table.values(), done, strict=True):
            if known and set(map(key_of, method.split(" = "))) & set(methods):
                names.append(f"{engine} ({option})")
    return tuple(sorted(dict.fromkeys(names)))


def instead(key: str, speed: float, error: float) -> tuple[str, ...]:
    """A sentence on what to use instead of the method ``key``, and how many times the step; none if there is no answer.

    It follows from the laws of random bodies (:func:`polhode.recommend`) for an angular velocity ``speed``, rad/s, and an
    ``error`` of each radian turned, the larger of the angle in rad and of the relative error of omega.
    """
    from polhode.advice import recommend

    try:
        answer = recommend(torque="lab", omega=speed, error=error, laws=True, everything=True)
    except AdviceError:
        return ()
    steps = {choice.method: choice for choice in answer.alternatives}
    best = next((choice for choice in answer.alternatives if not METHODS[choice.method].caution), answer.best)
    if best.method == key:
        return (f"No method with one torque in a step that keeps librations is faster at an error of {error:g} in a radian.",)
    said = f"If you can change the code: for an error of {error:g} in a radian under lab-frame torques take "
    said += f"{best.label} ({best.method})"
    if key in steps:
        times = best.dt / steps[key].dt
        said += f": its step may be {times:.1f} times as long as that of {steps[key].label}"
    return (f"{said}, and turn the body by {best.dt * speed:.2g} rad.",)


def telling_run(
    methods: Sequence[str], known: Sequence[tuple[str, float]] = (), is_single: bool = False, speed: float = math.nan
) -> str:
    """The run that distinguishes most of these methods, in a sentence; another sentence if none distinguishes any.

    Parameters
    ----------
    methods : keys of candidates
    known : loads with angles in a step, rad, of the runs that there are
        A smaller or similar angle under the same load is not proposed.
    is_single : whether these are in single precision, which needs large steps
    speed : the angular velocity of the runs, rad/s, or NaN
    """
    best: tuple[int, str, list[list[str]], str] = (1, "", [], "")
    for angle in ANGLES[is_single:]:
        for load in TORQUES:
            if any(load == other and SAME_ANGLE * given > angle for other, given in known):
                continue
            run = replace(cases.identification_runs(load, length=FEW)[0], dt=angle)
            groups: list[tuple[Spun, list[str]]] = []
            for key in methods:
                spun = states_of(key, run)
                for other, members in groups:
                    if _agree(spun, other):
                        members.append(key)
                        break
                else:
                    groups.append((spun, [key]))
            if len(groups) > best[0]:
                step = f", dt = {angle / speed:.2g} s" if math.isfinite(speed) else ""
                said = f"a run {TORQUES[load]} with {angle:g} rad in a step{step}"
                best = len(groups), said, [members for _, members in groups], load
        if best[0] == len(methods):
            break
    if not best[1] and known:
        return "A run as these, with larger steps or under another torque, tells no more of them apart."
    if not best[1]:
        return "No run of one body tells them apart: they are the same step, written in different ways."
    together = [" = ".join(map(plain_label, members)) for members in best[2] if len(members) > 1]
    rest = f"; {'; '.join(together[:3])} are one step in it" if together else ""
    number = "all" if best[0] == len(methods) else f"{best[0]} groups"
    where = "--torque constant Mx My Mz" if best[3] == "constant" else "see polhode identify --recipe"
    return f"To tell them apart: {best[1]} ({number} of them differ there{rest}); {where}."


def _agree(first: Spun, other: Spun) -> bool:
    """Whether two runs are the same but for rounding."""
    eps = float(np.finfo(float).eps) * WITHIN * FEW
    states = zip(first.q[1:], first.omega[1:], other.q[1:], other.omega[1:], strict=True)
    return all(identify.apart(*state) < eps for state in states)
