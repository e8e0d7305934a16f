"""Advice from random satellites: the faster of spin and nutation decides the step, and a controller caps it.

The steps a radian come from :mod:`polhode.ensembles.satellites`; radians are counted by the faster of spin and nutation. A
step ends where a thruster switches and where a controller samples, so that it is the time between two samples divided by a
whole number. Methods are compared with the torques that they take when they start again there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from polhode.advice import evidence, files
from polhode.advice.answer import SHOWN, Choice, Recommendation, known_as, price_in_words
from polhode.advice.cases import BodyCase
from polhode.advice.cautions import drift, restarts
from polhode.advice.errors import AdviceError
from polhode.advice.prices import USUAL, Prices, prices
from polhode.algebra.body import ROUNDED, Body
from polhode.fits import satellite_steps
from polhode.fits.largest_step import SHARE_OF_CASES
from polhode.methods import METHODS
from polhode.methods.runs import TOLERANCE, has_pieces, steps_in, torques_in
from polhode.problems.pieces import edges_of

#: The probability of the intervals of shares.
LIKELY = 0.95
#: Fewer steps a radian are not named.
FEWEST = 0.5
#: The method that moves a body with wheels exactly between two torques, which takes time for each radian.
EXACT = "exact_rotor"
#: The example: moments (kg m^2), momentum of the wheel (N m s) and angular velocity (rad/s) of a cubesat of three units.
CUBESAT = {"inertia": (0.007, 0.035, 0.036), "wheels": (0.0, 0.005, 0.0), "omega": 0.0011}
#: The sentences of an answer. The interactive page of a study fills in the same ones (``explorer/satellites.js``).
WORDS = {
    "take": "Take {label} ({method}) with steps of at most {step} s that end where a thruster switches and where a controller "
    "samples.",
    "decides": "The faster of spin {spin} rad/s and nutation (h/sqrt(Ix Iz) for a wheel h along y) {nutation} rad/s decides: "
    "the {faster}. {often}.",
    "once": "1 step a sample",
    "often": "{number} steps a radian",
    "ends": "Steps end at the samples of the controller, every {every} s: {steps} a sample.",
    "step": "one step",
    "steps": "{count} steps of {length} s",
    "serves": "It is sufficient for {share} of {satellites} random satellites, so for {low} to {high} of all such satellites "
    "({likely} interval). The error is {error} a radian; the step on the article's first page is for 1e-6 a radian, and also "
    "for random bodies without wheels.",
    "costs": "It takes {torques} torques a second of the motion",
    "at_samples": ", with the torques of each start at an edge of the torque",
    "at_firings": ", and at most {torques} more at each edge of a thruster",
    "other": "; {label} ({method}) takes {torques}, with steps of at most {step} s, {often}",
    "half": "Interval: half of the satellites may take steps of {step} s.",
    "without_rate": "omega must not be zero where there are no wheels: steps are measured in radians",
    "without_step": "no method has a step that is sufficient for {share} of the satellites and {error}",
}


@dataclass(frozen=True)
class Rates:
    """What decides a step.

    Parameters
    ----------
    spin, nutation : rad/s
    every : time between two samples of a controller, s, if there is one
    lengths : (pieces,) the times, s, from each edge of the torque to the next; empty where no edge is known
    """

    spin: float
    nutation: float
    every: float | None = None
    lengths: np.ndarray = field(default_factory=lambda: np.array([]))

    @property
    def fastest(self) -> float:
        """The faster of spin and nutation, rad/s."""
        return max(self.spin, self.nutation)

    def in_sample(self, step: float) -> int:
        """The number of steps no longer than this (s) between two samples of the controller; 0 without one."""
        return int(steps_in(np.array([self.every]), step)[0]) if self.every else 0

    def often(self, step: float) -> str:
        """How often a step (s) is taken, in words: ``1 step a sample`` of the controller, else so many steps a radian.

        With a controller the step is shortened, so that a whole number of them lies between two samples. A radian is one of
        :attr:`fastest`.
        """
        count = self.in_sample(step)
        length = self.every / count if self.every else step
        return WORDS["once"] if count == 1 else WORDS["often"].format(number=f"{1 / (length * self.fastest):.3g}")

    def words(self, step: float) -> str:
        """What decides a step (s), in sentences: the faster rate and, with a controller, its samples.

        The samples alone if only one step is taken between two.
        """
        count, said = self.in_sample(step), []
        if count != 1:
            said.append(
                WORDS["decides"].format(
                    spin=f"{self.spin:.3g}",
                    nutation=f"{self.nutation:.3g}",
                    faster="spin" if self.spin > self.nutation else "nutation",
                    often=self.often(step),
                )
            )
        if self.every:
            steps = WORDS["step"] if count == 1 else WORDS["steps"].format(count=count, length=f"{self.every / count:.4g}")
            said.append(WORDS["ends"].format(every=f"{self.every:.3g}", steps=steps))
        return " ".join(said)


def rates_of(case: BodyCase) -> Rates:
    """The rates (rad/s) of a satellite in a case, at its given start, and the lengths (s) of the pieces of its run."""
    problem = case.starts[0]
    lengths = np.diff(edges_of(problem, case.horizon)) if has_pieces(problem, case.horizon) else np.array([])
    return Rates(case.speed, problem.body.nutation, problem.controller.every if problem.controller else None, lengths)


def is_spacecraft(case: BodyCase) -> bool:
    """Whether random satellites are like the body of a case: it has wheels or a controller."""
    return bool(case.starts[0].body.wheels) or case.starts[0].controller is not None


def from_satellites(
    body: Body,
    rates: Rates,
    error: float,
    time: float | None = None,
    torque_price: float = USUAL,
    one_torque: bool = False,
    everything: bool = False,
    results: Path | None = None,
) -> Recommendation:
    """The answer to :func:`polhode.advice.for_spacecraft`.

    Parameters
    ----------
    body : with its wheels
    rates : of the satellite
    error : of each radian of the fastest rate, or at the end of a ``time`` (s), over which it adds up; the larger of the angle
        in rad and of omega relative to its largest value. One that is larger for a radian than the largest measured counts as
        that
    torque_price : the time of one torque in steps of direct Euler
    one_torque : whether only methods with one torque in a step may be recommended
    everything : whether all methods are listed
    results : folder of a run; by default a run or the released data

    Raises
    ------
    AdviceError
        If the satellite does not turn, or no method has a step for the error.
    """
    if results is not None and not results.is_dir():
        raise AdviceError(f"results: {results} is not a folder")
    path = files.find(satellite_steps.SATELLITES)  # of a run are the times of steps alone
    with evidence.of_this_version(path):
        data = satellite_steps.read(path)
        priced = prices(torque_price, results, anywhere=True)
        priced = replace(priced, fixed={EXACT: data.exact_motion * priced.unit})
    if rates.fastest <= 0:
        raise AdviceError(WORDS["without_rate"])
    coarsest, *_, last, finest = data.errors
    per_radian = min(coarsest, error if time is None else error / max(1.0, rates.fastest * time))
    most, usual = ({key: max(FEWEST, n) for key, n in data.sufficient(per_radian, of).items()} for of in (SHARE_OF_CASES, 0.5))
    number_of = len(data.ratios)
    choices = [_choice(METHODS[key], number, rates, priced) for key, number in most.items() if isfinite(number)]
    choices.sort(key=lambda row: row.seconds or inf)
    alone = [row for row in choices if METHODS[row.method].torques_per_step == 1]
    rows = alone if one_torque and not everything else choices
    if not rows:
        raise AdviceError(WORDS["without_step"].format(share=f"{SHARE_OF_CASES:.0%}", error=f"{error:g}"))
    fastest = (alone if one_torque and alone else rows)[0]
    rows = [replace(row, relative=(row.seconds or inf) / (fastest.seconds or inf)) for row in rows]
    best = next(row for row in rows if row.method == fastest.method)
    half = 1 / (usual[best.method] * rates.fastest)
    total = f"{error:g} after {time:g} s" if time is not None else f"{error:g} of each radian"
    return Recommendation(
        question=f"A satellite, moments {tuple(float(f'{x:.4g}') for x in body.inertia)} kg m^2, wheels "
        f"{tuple(float(f'{x:.4g}') for x in body.wheel_momentum)} N m s, error below {total}, "
        f"{price_in_words(torque_price, priced.unit)}",
        best=best,
        sentence=WORDS["take"].format(label=best.label, method=best.method, step=f"{best.dt:.4g}") + f" {rates.words(best.dt)}",
        serves=WORDS["serves"].format(**shares(number_of), error=f"{per_radian:.2g}"),
        costs=_costs(best, [] if one_torque else choices, rates),
        changes=["your own torque, as a file without `spacecraft`: all of it is run", *restarts(METHODS[best.method])],
        interval=(best.dt, max(best.dt, min(half, rates.every or inf))),
        interval_means=WORDS["half"].format(step=f"{half:.3g}"),
        alternatives=rows,
        evidence=[
            f"{number_of} random satellites with h/(I omega) from 0 to {data.ratios.max():.3g} under gravity alone, "
            f"thrusters that fire and controllers that sample were run for {data.radians:g} radians of the faster of spin "
            "and nutation.",
            "Error: the larger of the angle in rad and |omega - exact| over the largest |omega|, at 64 times of the run; it "
            "is taken to grow with the number of radians."
            + (
                f" Errors of {per_radian:.2g} a radian were not measured: steps follow the law between {last:g} and {finest:g}."
                if per_radian < finest
                else ""
            ),
            f"Times: of one second of the motion; steps measured on {priced.known_from()}.",
            f"From {files.named(path)}.",
        ],
        error=error,
        kind="satellites",
        asked={
            "spacecraft": True,
            "inertia": list(body.inertia),
            "wheels": list(body.wheel_momentum),
            "omega": rates.spin,
            "every": rates.every,
            "time": time,
            "error": error,
            "torque_price": torque_price,
            "one_torque": one_torque,
        },
        remarks=[
            *drift(best.method, [row.method for row in rows[:SHOWN]]),
            "The times of the table are of one second of the motion.",
        ],
        shown=len(rows) if everything else SHOWN,
    )


def _choice(method: Any, steps: float, rates: Rates, priced: Prices) -> Choice:
    """A method with the longest step that it takes; its time is of a second of the motion."""
    dt = 1 / (steps * rates.fastest)
    numbers = steps_in(rates.lengths, dt)
    often = numbers.sum() / rates.lengths.sum() if len(numbers) else 1 / dt
    moving = priced.step.get(method.key, 0.0) * often + priced.fixed.get(method.key, 0.0) * rates.fastest
    seconds = float(moving + _torques(method, dt, rates) * priced.torque * priced.unit)
    dt = float((rates.lengths / numbers).max()) if len(numbers) else dt
    return Choice(method.key, known_as(method.key), dt, seconds=seconds, mark=rates.often(dt))


def _torques(method: Any, step: float, rates: Rates) -> float:
    """The torques in a second of the motion, with the torques of the start in each piece."""
    if not len(rates.lengths):
        return float(method.torques_per_step / step)
    return float(torques_in(method, steps_in(rates.lengths, step)) / rates.lengths.sum())


def _costs(best: Choice, choices: list[Choice], rates: Rates) -> str:
    """The torques of a method, and of the fastest of ``choices`` with one torque a step, or with several if it has one."""
    method = METHODS[best.method]
    text = WORDS["costs"].format(torques=f"{_torques(method, best.dt, rates):.3g}")
    if len(rates.lengths):
        text += WORDS["at_samples"]
    elif (more := starting_torques(best.method)[-1]) > 1:
        text += WORDS["at_firings"].format(torques=more)
    is_alone = method.torques_per_step == 1
    other = next((row for row in choices if (METHODS[row.method].torques_per_step == 1) != is_alone), None)
    if other is not None:
        text += WORDS["other"].format(
            label=other.label,
            method=other.method,
            torques=f"{_torques(METHODS[other.method], other.dt, rates):.3g}",
            step=f"{other.dt:.4g}",
            often=rates.often(other.dt),
        )
    return f"{text}."


def starting_torques(key: str) -> list[int]:
    """The torques of a method beside its steps, in a piece of 1, 2, ... steps; longer pieces have the last number."""
    method = METHODS[key]
    most, numbers = method.starting_torques(1 << 30), [method.starting_torques(1)]
    while numbers[-1] < most:
        numbers.append(method.starting_torques(len(numbers) + 1))
    return numbers


def constants() -> dict[str, float]:
    """The numbers in an answer that are not measured, by name; for the page of a study, which finds answers by itself."""
    return {
        "share": SHARE_OF_CASES,
        "fewest": FEWEST,
        "as_samples": satellite_steps.AS_SAMPLES,
        "tolerance": TOLERANCE,
        "flat": 1 + ROUNDED,
    }


def shares(number: int) -> dict[str, str]:
    """For how many of so many random satellites a step is sufficient, in the words of :data:`WORDS`."""
    low, high = _interval(number)
    return {
        "share": f"{SHARE_OF_CASES:.0%}",
        "satellites": str(number),
        "low": f"{low:.0%}",
        "high": f"{high:.0%}",
        "likely": f"{LIKELY:.0%}",
    }


def _interval(number: int) -> tuple[float, float]:
    """The interval (Clopper and Pearson) of the share with enough steps, if :data:`SHARE_OF_CASES` of ``number`` have them."""
    from scipy.special import betaincinv

    enough = int(np.ceil(SHARE_OF_CASES * number - 1e-9))
    outside = (1 - LIKELY) / 2
    low = betaincinv(enough, number - enough + 1, outside)
    return float(low), float(betaincinv(enough + 1, number - enough, 1 - outside)) if enough < number else 1.0


def body_and_rates(
    inertia: Any, wheels: Any = None, omega: Any = None, every: float | None = None, triangle: bool = True
) -> tuple[Body, Rates]:
    """Body and rates from the arguments of a question; of :data:`CUBESAT` without ``inertia``, ``wheels`` and ``omega``.

    Parameters
    ----------
    inertia : three moments or a tensor, kg m^2
    wheels : the momentum of the wheels, three numbers in the axes of the tensor, N m s
    omega : angular velocity or its size, rad/s
    every : time between two samples of a controller, s
    triangle : whether the moments must belong to a body that can exist

    Raises
    ------
    AdviceError
        Naming what cannot be.
    """
    from polhode.advice.cases import angular_velocity, body_of
    from polhode.advice.errors import checked
    from polhode.interface.arguments import positive, vector

    given: Mapping[str, Any] = {"inertia": inertia, "wheels": wheels, "omega": omega}
    if all(value is None for value in given.values()):
        given = CUBESAT
    for name in ("inertia", "omega"):
        if given[name] is None:
            raise AdviceError(f"{name} is missing; a spacecraft needs inertia and omega, and wheels (N m s) if it has any")
    momentum = (0.0, 0.0, 0.0) if given["wheels"] is None else checked(vector, "wheels", given["wheels"], 3)
    size = float(np.linalg.norm(momentum))
    body, _ = body_of(given["inertia"], triangle, [(momentum, size)] if size else [])
    _, spin = angular_velocity(given["omega"])
    period = None if every is None else checked(positive, "every", every, "s")
    return body, Rates(spin, body.nutation, period, np.array([period] if period else []))
