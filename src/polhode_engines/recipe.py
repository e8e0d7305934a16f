"""What to run so that :func:`polhode.identify` can name the method of a code: a body, four runs, and a program that makes them.

Three different moments, angular velocities between the axes, and steps that turn the body by 0.2 rad, where methods differ by
millions of round-offs (0.6 rad in single precision: engines cut or bend turns above a quarter of pi). A free run, the same
with half the step, for the order; a run under a torque fixed in the lab, and one under friction, for codes that have either.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import acos, degrees, pi, sin, sqrt
from pathlib import Path

import numpy as np

from polhode.algebra.body import Body
from polhode.algebra.quaternion import to_lab
from polhode_engines import cases
from polhode_engines.environments import Run

FOLDER = Path(__file__).with_name("recipes")
#: Language -> name of its file.
LANGUAGES = {
    "c++": "spin.cpp",
    "fortran": "spin.f90",
    "javascript": "spin.mjs",
    "python": "spin.py",
    "lammps": "in.spin",
    "yade": "spin.py",
}
#: Angles turned in a step, rad, in double and in single precision.
ANGLE, ANGLE_SINGLE = 0.2, 0.6
#: The step with which engines in single precision keep within their limits, s: they shorten steps above 0.043 s, cut angular
#: velocities above 47 rad/s, and put bodies below 1 rad/s to sleep. Languages of such engines.
SINGLE_STEP, SINGLE = 1 / 32, ("javascript",)
STEPS = 100
#: Numbers in runs, and in the programs that square them.
LIMITS = (1e-150, 1e150)
#: Starts of unit length in few digits: orientation, body to lab, scalar first, and the direction of omega in the body.
STARTS = (((0.7, 0.1, 0.5, 0.5), (0.48, 0.36, 0.8)), ((0.1, 0.5, 0.7, 0.5), (0.6, -0.48, 0.64)))


@dataclass(frozen=True)
class Recipe:
    """The runs, and what they are for.

    Parameters
    ----------
    runs : the runs
    purposes : what each is for
    angle, omega, dt : angle turned in a step, rad; angular velocity, rad/s; step, s
    remark : what was changed of the wishes, and why; empty if nothing was
    """

    runs: tuple[Run, ...]
    purposes: tuple[str, ...]
    angle: float
    omega: float
    dt: float
    remark: str = ""

    def rows(self) -> list[dict[str, object]]:
        """One record for each run: key -> value, in SI units.

        The keys are ``run`` (its number, from 1), ``purpose``, ``torque`` (:func:`torque_text`), ``inertia`` (3,), ``q`` (4,;
        body to lab, scalar first), ``omega`` (3,; body frame), ``dt`` and ``steps``.
        """
        return [
            {
                "run": number,
                "purpose": purpose,
                "torque": torque_text(run),
                "inertia": run.inertia,
                "q": run.q0,
                "omega": run.omega0,
                "dt": run.dt,
                "steps": run.samples[-1],
            }
            for number, (run, purpose) in enumerate(zip(self.runs, self.purposes, strict=True), 1)
        ]

    def to_json(self) -> str:
        """The runs as JSON: an object with :attr:`remark` and ``runs``, the records of :meth:`rows`."""
        return json.dumps({"remark": self.remark, "runs": self.rows()}, indent=1)

    def to_csv(self) -> str:
        """The runs as comma-separated values, a row each.

        Number and torque class; Mx, My, Mz in N m (under friction Mx is the coefficient, N m s); moments in kg m^2; q, scalar
        first; omega in the body frame, rad/s; dt in s; steps.
        """
        lines = ["run,torque,Mx,My,Mz,I1,I2,I3,qw,qx,qy,qz,wx,wy,wz,dt,steps"]
        for number, run in enumerate(self.runs, 1):
            numbers = (*_moment(run), *run.inertia, *run.q0, *run.omega0, run.dt)
            lines.append(",".join([str(number), run.load, *map(_short, numbers), str(run.samples[-1])]))
        return "\n".join(lines)

    def program(self, language: str) -> str:
        """The text of a program in a language of :data:`LANGUAGES` that makes the runs, with a step to be replaced.

        Some languages have the loads in :data:`LOADS` alone.
        """
        text = (FOLDER / f"{language}.txt").read_text(encoding="utf-8")
        runs = [run for run in self.runs if run.load in LOADS.get(language, cases.LOADS)]
        lines = "\n".join(WRITERS[language](number, run) for number, run in enumerate(runs, 1))
        inertia = ", ".join(map(_short, self.runs[0].inertia))
        if language == "fortran":
            inertia_code = ", ".join(map(_fortran, self.runs[0].inertia))
            text = text.replace("[@INERTIA@]", f"[{inertia_code}]")
        text = text.replace("inertia: @INERTIA@", f"inertia: {inertia.replace(',', '')}")
        text = text.replace("--inertia @INERTIA@ --dt ...", f"--inertia {inertia.replace(',', '')} --dt {_short(runs[0].dt)}")
        return text.replace("@INERTIA@", inertia).replace("@COUNT@", str(len(runs))).replace("@RUNS@", lines)

    def __str__(self) -> str:
        inertia = ", ".join(map(_short, self.runs[0].inertia))
        lines = [
            "One body, alone: no gravity, contact, damping or sleep. Write one row a step, the start included: time,",
            "quaternion (4), angular velocity or momentum (3), with 17 digits (%.17g), in any convention.",
            "",
            f"Principal moments: {inertia} (name your own with --inertia; all three different).",
        ]
        for record, run in zip(self.rows(), self.runs, strict=True):
            lines += [f"Run {record['run']}, {record['purpose']}: dt = {record['dt']:.12g}, {record['steps']} steps,"]
            lines += [f"    q = {_vector(run.q0)}, omega = {_vector(run.omega0)}, torque: {record['torque']}"]
        lines += [
            "q is scalar first and takes body to lab; omega is in the body frame, a torque in the lab. Runs 3 and 4 may be",
            "left out; they distinguish methods that are the same without a torque. Then",
            f"    polhode identify run1.csv run2.csv --inertia {inertia.replace(',', '')}",
            f"    polhode identify run3.csv --inertia {inertia.replace(',', '')} --torque {torque_text(self.runs[2])}",
            "or let each file begin with the lines '# inertia: ...' and '# torque: ...', and name all files in one command.",
        ]
        if self.remark:
            lines += ["", self.remark]
        lines += [
            "",
            "A program that does this: --language " + "|".join(LANGUAGES) + "; the table for machines: --csv, --json.",
        ]
        return "\n".join(lines)


#: Loads of the runs of programs that cannot have all.
LOADS: dict[str, Sequence[str]] = {"lammps": ("free",), "yade": ("free", "lab"), "javascript": ("free", "lab")}


def recipe(
    omega: float | None = None,
    dt: float | None = None,
    inertia: Sequence[float] = cases.INERTIA,
    is_single: bool = False,
    language: str | None = None,
) -> Recipe:
    """The runs at an angular velocity in rad/s or with a step in s.

    Parameters
    ----------
    omega, dt : positive, one of both, or none
        With both omega stays, and a sentence says why the step is another, if by more than 5 %.
    inertia : principal moments (3,), kg m^2
    is_single : whether the code computes or writes in single precision
    language : of the program; its engines may be in single precision, with limits to keep (:data:`SINGLE_STEP`)

    Raises
    ------
    ValueError
        If no body has these moments, or the numbers of the runs are too large or too small; naming the argument.
    """
    try:
        inertia = Body(tuple(inertia)).inertia  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        raise ValueError(str(error).partition(". To compute")[0]) from None
    is_single = is_single or language in SINGLE
    angle = ANGLE_SINGLE if is_single else ANGLE
    if is_single and omega is None and dt is None:
        dt = SINGLE_STEP
    speed = omega if omega is not None else 1.0 if dt is None else angle / dt
    step = dt if dt is not None and omega is None else angle / speed
    remark = ""
    if omega is not None and dt is not None and abs(step / dt - 1) > 0.05:
        remark = (
            f"A step of {dt:g} s turns the body by {omega * dt:.2g} rad, where methods of one order are the same to rounding.\n"
            f"These runs have dt = {step:g} s instead, this once: nothing but the rotation is in them. If your code insists\n"
            f"on dt = {dt:g} s, leave out --omega: polhode identify --recipe --dt {dt:g} takes another speed."
        )
    size = max(inertia)
    scale = size / max(cases.INERTIA)
    value = {load: tuple(cases.SHARE * x * scale for x in cases.VALUES[load]) for load in cases.LOADS}
    # In steps of 0.6 rad a quarter of the torque: the body never turns by more than 0.61 rad in a step.
    share = 0.2 / 4 if angle > ANGLE else 0.2
    value["lab"] = tuple(
        round(x, 12) * speed * speed for x in (0.2 * share * scale, -0.1 * share * scale, 0.15 * share * scale)
    )
    value["velocity"] = (value["velocity"][0] * speed,)
    value["free"] = (0.0,)

    def run(load: str, start: int) -> Run:
        q, direction = STARTS[start]
        w = tuple(x * speed for x in direction)
        return Run(load, value[load], tuple(map(float, inertia)), q, w, step, tuple(range(STEPS + 1)))  # type: ignore[arg-type]

    first = run("free", 0)
    runs = (first, replace(first, dt=step / 2, samples=tuple(range(2 * STEPS + 1))), run("lab", 1), run("velocity", 1))
    numbers = [x for run in runs for x in (*run.value, *run.inertia, *run.omega0, run.dt, speed * speed, *LIMITS)]
    if not all(LIMITS[0] <= abs(x) <= LIMITS[1] for x in numbers if x):
        given = f"omega = {omega:g}" if omega is not None else f"dt = {dt:g}" if dt is not None else "inertia"
        raise ValueError(
            f"with {given} the runs have numbers such as {max(numbers, key=abs):.1g} and "
            f"{min(filter(None, map(abs, numbers))):.1g}, whose squares a program cannot hold; take other units"
        )
    purposes = ("free", "half the step", "a torque fixed in the lab", "friction, if torques may depend on omega")
    return Recipe(runs, purposes, angle, speed, step, remark)


def torque_text(run: Run) -> str:
    """The torque of a run as files and the command say it: its class, and its numbers in N m (N m s for friction)."""
    return run.load if run.load == "free" else " ".join([run.load, *map(_short, run.value)])


def _moment(run: Run) -> tuple[float, ...]:
    return (*run.value, 0.0, 0.0)[:3]


def _short(value: float) -> str:
    """The number in twelve digits, as the programs have it."""
    return f"{value:.12g}"


def _fortran(value: float) -> str:
    text = _short(value)
    return text.replace("e", "d") if "e" in text else f"{text}d0"


def _vector(values: Sequence[float]) -> str:
    return f"({', '.join(map(_short, values))})"


def _of_cpp(number: int, run: Run) -> str:
    parts = [", ".join(map(_short, values)) for values in (run.q0, run.omega0, _moment(run))]
    return f'  {{{{{parts[0]}}}, {{{parts[1]}}}, {_short(run.dt)}, {run.samples[-1]}, "{torque_text(run)}", {{{parts[2]}}}}},'


def _of_fortran(number: int, run: Run) -> str:
    q, w, m = (", ".join(map(_fortran, values)) for values in (run.q0, run.omega0, _moment(run)))
    return (
        f"    case ({number})\n      q = [{q}]; w = [{w}]; dt = {_fortran(run.dt)}; steps = {run.samples[-1]}\n"
        f"      torque = '{torque_text(run)}'; m = [{m}]"
    )


def _of_python(number: int, run: Run) -> str:
    q, w, m = map(_vector, (run.q0, run.omega0, _moment(run)))
    return f'    ({q}, {w}, {_short(run.dt)}, {run.samples[-1]}, "{torque_text(run)}", {m}),'


def _of_javascript(number: int, run: Run) -> str:
    q, w, m = (f"[{', '.join(map(_short, values))}]" for values in (run.q0, run.omega0, _moment(run)))
    return f'  {{ q: {q}, w: {w}, dt: {_short(run.dt)}, steps: {run.samples[-1]}, torque: "{torque_text(run)}", m: {m} }},'


def _of_lammps(number: int, run: Run) -> str:

    q, inertia = np.array(run.q0), np.array(run.inertia)
    axes = [sqrt(5 * (inertia.sum() / 2 - x)) for x in inertia]  # I_x = m (b^2 + c^2)/5 with m = 1
    half = acos(q[0])
    axis = " ".join(map(_short, q[1:] / sin(half)))
    momentum = " ".join(f"{x:.17g}" for x in to_lab(run.q0, tuple(inertia * run.omega0)))
    shape = " ".join(f"{2 * x:.17g}" for x in axes)
    return f"""
clear
units lj
atom_style ellipsoid
boundary f f f
region box block -9 9 -9 9 -9 9
create_box 1 box
create_atoms 1 single 0 0 0
set group all shape {shape}
set group all density {1 / (4 / 3 * pi * axes[0] * axes[1] * axes[2]):.17g}
set group all quat {axis} {degrees(2 * half):.17g}
set group all angmom {momentum}
pair_style zero 1.0
pair_coeff * *
comm_modify cutoff 4
fix move all nve/asphere
compute turned all property/atom quatw quati quatj quatk angmomx angmomy angmomz
dump rows all custom 1 run{number}.dump id c_turned[1] c_turned[2] c_turned[3] c_turned[4] c_turned[5] c_turned[6] c_turned[7]
dump_modify rows format float %.17g &
  colname c_turned[1] qw colname c_turned[2] qx colname c_turned[3] qy colname c_turned[4] qz &
  colname c_turned[5] Lx colname c_turned[6] Ly colname c_turned[7] Lz
timestep {_short(run.dt)}
run {run.samples[-1]}"""


WRITERS = {
    "c++": _of_cpp,
    "fortran": _of_fortran,
    "javascript": _of_javascript,
    "python": _of_python,
    "lammps": _of_lammps,
    "yade": _of_python,
}
