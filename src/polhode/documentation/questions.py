"""Questions that users of engines asked in public, and what the engine atlas measures for each.

Each thread was read in a stored copy of public threads. Numbers are those of the released atlas, but for two that are computed
here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, isinf
from typing import Any

import numpy as np
import xarray as xr

from polhode.documentation.markdown import number
from polhode.engines import cases
from polhode.simulate import simulate

#: Threads that were looked for and not found.
NOT_READ = ("bullet3 #4636",)


@dataclass(frozen=True)
class Question:
    """One question.

    Parameters
    ----------
    title : str
        The question, in a few words.
    threads : tuple of (str, str)
        Name of each thread; owner, repository and number.
    asked : str
        What was asked there.
    measured : function
        From the atlas to what it says about it.
    """

    title: str
    threads: tuple[tuple[str, str], ...]
    asked: str
    measured: Callable[["Atlas"], str]


class Atlas:
    """The rows of the atlas, by engine and option, and what is said of them.

    Parameters
    ----------
    data : xr.Dataset
        The released atlas.
    """

    def __init__(self, data: xr.Dataset) -> None:
        self.data = data
        names = zip(data["key"].values, data["option"].values, strict=True)
        self.places = {f"{key} {option}": i for i, (key, option) in enumerate(names)}

    def row(self, name: str) -> Any:
        """The row of "engine option"."""
        return self.data.isel(engine=self.places[name])

    def order(self, name: str, load: str = "free") -> str:
        """Order of q."""
        return f"{float(self.row(name)['q_order'].sel(load=load)):.1f}"

    def error(self, name: str, step: float, load: str = "free") -> str:
        """Error of q at a step, in radians."""
        return number(float(self.row(name)["q_error"].sel(load=load, step=step)), 2)

    def drift(self, name: str) -> str:
        """What became of the energy of the long free spin."""
        row = self.row(name)
        change, steps = float(row["energy_drift"]), int(row["long_steps"])
        if isinf(change):
            return f"it diverges after {steps:,} steps"
        return f"its energy changes by {_percent(change)} in {steps:,} steps"

    def momentum(self, name: str) -> str:
        """Relative change of the length of the momentum."""
        return _percent(float(self.row(name)["momentum_drift"]))

    def end(self, name: str) -> str:
        """What a free spin does in the end."""
        end = str(self.row(name)["end"].item())
        return f"turns about the axis of the {end}" if end.endswith("moment") else end

    def method(self, name: str) -> str:
        """The method identified, in words."""
        return str(self.row(name)["method_label"].item())


def _percent(share: float) -> str:
    if not isfinite(share):
        return "without bound"
    return f"{100 * share:.2g} %" if abs(share) > 1e-4 else f"{number(share, 2)} of itself"


def rescaled_energies(steps: int = 10_000) -> tuple[float, float]:
    """Energy at the start and in the end of a free spin with the rescaled kick, in units of L²/(2 I) with the middle moment.

    The body of the atlas and the step of its long spin, from a start about the axis of the largest moment.
    """
    free = cases.problem("free", (0.3, 0.1, 1.0))
    run = simulate(free, "rescaled_momentum", cases.LONG_STEP, cases.LONG_STEP * steps, samples=1)
    omega, inertia = run["omega"].values, np.array(cases.INERTIA)
    ratio = (inertia * omega**2).sum(axis=1) * inertia[1] / ((inertia * omega) ** 2).sum(axis=1)
    return float(ratio[0]), float(ratio[-1])


def _momentum(a: Atlas) -> str:
    dart, bullet, lammps = "dartpy FreeJoint", "pybullet rigidbody", "lammps rigid"
    return (
        f"DART is of order {a.order(dart)}, and the long free spin shows more than the order: {a.drift(dart)}. Of the engines "
        f"that could be put in its place, Bullet's rigid body is of order {a.order(bullet)} as well and its momentum changes "
        f"by {a.momentum(bullet)}; with ODE's step by {a.momentum('ode step')}. `fix rigid` of LAMMPS, which carries the "
        f"momentum itself, keeps it to {number(abs(float(a.row(lammps)['momentum_drift'])), 1)}."
    )


def _fixed_descendants(a: Atlas) -> str:
    fast, version = "mujoco implicitfast", a.row("mujoco implicitfast")["version"].item()
    return (
        f"For one body without descendants, which is what we run, `implicitfast` of MuJoCo {version} takes the same step as "
        f"`implicit` (linearly implicit, order {a.order(fast)}): stable, but {a.drift(fast)} and the body {a.end(fast)}. With "
        f"`Euler` {a.drift('mujoco Euler')}. `RK4` is of order {a.order('mujoco RK4')} in q, under friction of "
        f"{a.order('mujoco RK4', 'velocity')}; {a.drift('mujoco RK4')}. Earlier releases combine the stages without the "
        "inverse of the differential of the exponential, which is of second order "
        "([lie_rk4_naive](/_generated/methods/lie_rk4_naive.md)). A body with fixed descendants was not run."
    )


def _defaults(a: Atlas) -> str:
    shipped, ab2 = "jsbsim as shipped", "jsbsim rate AB2, orientation Buss 2"
    best, both, rule = "jsbsim rate AB4, orientation Buss 2", "jsbsim AB4", "jsbsim trapezoidal"
    return (
        f"As shipped, release {a.row(shipped)['version'].item()} is explicit Euler in both: order {a.order(shipped)}, and "
        f"{a.drift(shipped)}. Adams-Bashforth 2 with Buss's second method has order {a.order(ab2)}; with Adams-Bashforth 4 the "
        f"order is {a.order(best)}, that of the orientation, and the error at 0.1 rad falls from {a.error(ab2, 0.1)} to "
        f"{a.error(best, 0.1)} rad. With Adams-Bashforth 4 for both it is {a.error(both, 0.1)} rad, and the order "
        f"{a.order(both)}: the rates before the start are taken to be those of the start. The “trapezoidal” rule is of order "
        f"{a.order(rule)}, since it takes the mean of the last two rates ({a.error(rule, 0.1)} rad at 0.1 rad)."
    )


def _no_gyroscopic(a: Atlas) -> str:
    off, sphere, physx = "rapier3d 1 substep, gyroscopic off", "yade spherical", "sapien CPU"
    without = [row for row in map(a.row, a.places) if str(row["gyroscopic"].item()) == "no"]
    defaults = sum(int(row["is_default"]) for row in without)
    return (
        f"Rows of which the integrator is “torque alone” do just that: {len(without)} of them, {defaults or 'none'} a default. "
        f"A spin from next to the middle axis stays there, with its energy kept to "
        f"{number(abs(float(a.row(sphere)['energy_drift'])), 1)}, which looks like accuracy; but the error does not fall with "
        f"the step ({a.error(off, 0.1)} rad at 0.1 rad, {a.error(off, 0.01)} rad at 0.01). PhysX 5 as SAPIEN sets it up has "
        f"the term: {a.method(physx)}, order {a.order(physx)}, and the body {a.end(physx)}. Jolt, Godot and the game were "
        "not run."
    )


def _avian(a: Atlas) -> str:
    before, after = rescaled_energies()
    diverging = sum(str(row["end"].item()) == "diverges" for row in map(a.row, a.places))
    return (
        f"Avian was not run, but all of its steps occur in other engines. The explicit kick gains energy at any step: "
        f"{diverging} rows diverge. The linearly implicit one is stable and loses it: in Bullet "
        f"{a.drift('pybullet rigidbody')}. The rescaled one (Jolt's, also in PhysX and Rapier) keeps the length of the "
        f"momentum, and what #993 says of it holds: with our kernel, a free spin that starts about the axis of the largest "
        f"moment goes from {before:.2f} to {after:.4f} times the energy of a rotation about the middle axis within 10,000 "
        f"steps of 0.05 rad. The long spin of the atlas starts next to that axis and does not show it (PhysX: "
        f"{a.drift('sapien CPU')})."
    )


def _lammps(a: Atlas) -> str:
    nve, rigid = "lammps rigid/nve", "lammps rigid"
    return (
        f"With point particles `rigid/nve` does rotate the body, by {a.method(nve)}: order {a.order(nve)} free and "
        f"{a.order(nve, 'lab')} under a torque in the lab, and {a.drift(nve)} (`rigid`: {a.drift(rigid)}). Under friction both "
        f"are of order {a.order(nve, 'velocity')}, because forces see the velocity of the half step. Extended particles were "
        "not run."
    )


def _espresso(a: Atlas) -> str:
    return (
        "ESPResSo was not run. Such a test is what this atlas is: errors against a solution to 25 digits, and steps against "
        "kernels written from the papers, Omelyan's among them ([omelyan1998](/_generated/methods/omelyan1998.md)). It finds "
        "a slip at once: YADE's leapfrog, which turns the momentum of the half step with the old orientation, is of order "
        f"{a.order('yade aspherical')}."
    )


def _drake(a: Atlas) -> str:
    rk3, discrete = "drake runge_kutta3", "drake discrete"
    return (
        f"The dynamics are right: for a free asymmetric body, whose axis is never constant, the integrator of third order has "
        f"order {a.order(rk3)}, and its error falls to {a.error(rk3, 0.003125)} rad. Fixed steps of the discrete plant are "
        f"another matter: order {a.order(discrete)}, {a.error(discrete, 0.01)} rad at steps of 0.01 rad, and "
        f"{a.drift(discrete)}."
    )


QUESTIONS = (
    Question(
        "How well does my engine keep the angular momentum of a free body?",
        (("gazebo-classic #1487", "gazebosim/gazebo-classic#1487"), ("dart #424", "dartsim/dart#424")),
        "A test of the conservation of angular momentum found DART much less accurate than the other engines of Gazebo; it was "
        "passed on to DART, where a change made it better.",
        _momentum,
    ),
    Question(
        "My free body speeds up, or explodes: what should the gyroscopic term be?",
        (
            ("avian #420", "avianphysics/avian#420"),
            ("avian #738", "avianphysics/avian#738"),
            ("avian #993", "avianphysics/avian#993"),
        ),
        "Avian replaced an explicit gyroscopic term, which made fast bodies blow up, by a linearly implicit one, that by a "
        "cheaper one that rescales the momentum, and is offered another since rescaling drives a free spin towards the energy "
        "of a rotation about the middle axis.",
        _avian,
    ),
    Question(
        "Why does my body not tumble although its moments differ?",
        (
            ("JoltPhysics #803", "jrouwe/JoltPhysics#803"),
            ("godot #80703", "godotengine/godot#80703"),
            ("Principia #2519", "mockingbirdnest/Principia#2519"),
        ),
        "Jolt was asked for gyroscopic forces, and has them as an option, off by default; Godot's own engine has none; "
        "Principia found vessels that spun up on re-entry because the PhysX of the game keeps the angular velocity where it "
        "should keep the momentum.",
        _no_gyroscopic,
    ),
    Question(
        "Which implicit option is stable for a spinning free body, and is RK4 of fourth order?",
        (("mujoco #3553", "google-deepmind/mujoco#3553"),),
        "A free body that carries its inertia in a fixed child diverged under `implicitfast`, the same body in one piece did "
        "not; the gyroscopic treatment was extended to such bodies. (The thread does not ask about RK4; an earlier version of "
        "this page said so.)",
        _fixed_descendants,
    ),
    Question(
        "Which integrator should I choose in a flight simulator?",
        (("jsbsim pull request #1453", "JSBSim-Team/jsbsim#1453"),),
        "A notebook compared JSBSim's integrators with the exact rotation of a free body: the default, Euler's, is poor, the "
        "“trapezoidal” rule is worse, the others are of the order expected.",
        _defaults,
    ),
    Question(
        "Does rigid/nve rotate rigid bodies?",
        (("lammps #1657", "lammps/lammps#1657"),),
        "Clumps of granular particles moved but did not turn under `fix rigid/nve`; extended particles are not supported "
        "there, which the manual then said.",
        _lammps,
    ),
    Question(
        "Is there a test of the rotation of particles against Euler's equations?",
        (("espresso #3844", "espressomd/espresso#3844"),),
        "ESPResSo wants its rotation tested against numerically integrated Euler equations; an attempt to match its code with "
        "the formulas of the paper did not succeed.",
        _espresso,
    ),
    Question(
        "Is the free body of Drake right when its axis of rotation is not constant?",
        (("drake #18816", "RobotLocomotion/drake#18816"),),
        "A floating body did not follow a feedforward acceleration unless the axis of rotation was constant; the issue was "
        "closed as resolved.",
        _drake,
    ),
)


def questions(data: xr.Dataset | None) -> str:
    """The questions as a list of definitions; without an atlas, what was asked alone."""
    atlas = None if data is None else Atlas(data)
    parts = []
    for one in QUESTIONS:
        places = ", ".join(f"`{place}`" for _, place in one.threads)
        said = f": *Measured:* {one.measured(atlas)}\n" if atlas else ""
        parts.append(f"{one.title} ({places})\n: *Asked:* {one.asked}\n{said}")
    left = f"Not found, so not read: {', '.join(NOT_READ)}.\n"
    return "\n".join([*parts, left])
