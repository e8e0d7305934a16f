"""Advice for a liquid of rigid molecules in a heat bath: the scheme, the step, and where to read the temperature.

It rests on the linear analysis of librations (:mod:`polhode.fits.baths`) with the mean squares of forces and torques in water,
and on the drift of water without a bath: friction takes out again what a splitting brings in. Runs of water in a bath are
evidence beside them (:mod:`polhode.fits.bath_runs`).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log, pi
from pathlib import Path
from typing import Any

from polhode.advice import codes, files
from polhode.advice.answer import SHOWN, Choice, Recommendation, known_as
from polhode.advice.codes import STEP_DIGITS, CodeWords, about_sites, words_of
from polhode.advice.errors import AdviceError, checked
from polhode.advice.from_liquids import (
    FEMTOSECOND,
    MEASURED,
    OF_DEFAULT_LIST,
    UNITS,
    LiquidMeasurements,
    carried_over,
    liquid_of,
    measurements,
)
from polhode.fits import bath_runs, baths
from polhode.fits.largest_step import rounded_down
from polhode.fits.liquid_drifts import PREFERRED, STATED, steps_of
from polhode.interface.arguments import positive, shown
from polhode.interface.netcdf import read_dataset

#: The baths, by the word of the question; the methods around which langevin and nose-hoover are.
BATHS, METHODS = ("langevin", "nose-hoover", "v-rescale"), ("exact_rotor", "no_squish", "moser_veselov")
#: Reversible leapfrogs that carry velocities of half steps, for v-rescale; the first was run with it.
LEAPFROGS = ("omelyan1998", "omelyan1999_momentum", "spiral_omelyan")
RATE = re.compile(r"([-+.\deE]+) */ *(fs|ps|ns|s)")
#: The times of chains and of velocity rescaling with which water was run, fs.
CHAIN, RESCALING = 100.0, 100.0
#: Up to which step velocity rescaling in water met the formula of the gap, fs, and what is said of longer ones.
SHOWN_UP_TO = 4.0
BEYOND = (
    f"by a formula of second order, which is too small beyond {SHOWN_UP_TO:g} fs in water: by a factor of 1.1 to 1.4 at 6 fs"
)
#: The scheme in words.
ORDER = "Langevin dynamics in the order B A O A B (B: half a kick, A: half of the free motion, O: friction and noise)"
AS_FORCES = (
    "Linear analysis of a libration: with friction and noise as forces the variance of its angle is too large by the share "
    "(Omega dt)^2/4 for weak friction, and the momentum at the end of the step is exact. Collisions lower the first, at most "
    "to (2 Omega_r^2 + Omega_t^2) dt^2/12."
)


@dataclass(frozen=True)
class Bounds:
    """What limits the step in a bath that keeps rotation and translation within a share of its temperature.

    Parameters
    ----------
    rates : mean Omega^2 of translation and of rotation, 1/fs^2
    limits : method -> the longest step whose drift the bath is shown to take out at that share, fs; 0 for none
    choices : the methods with a step, the best first
    """

    rates: Sequence[float]
    limits: dict[str, float]
    choices: list[Choice]


def rate_of(gamma: str | float) -> float:
    """The friction in 1/ns, given in 1/s or as a text such as ``1/ps``.

    Raises
    ------
    AdviceError
        For anything else.
    """
    if isinstance(gamma, str) and (match := RATE.fullmatch(gamma.strip())):
        try:
            number = float(match[1])
        except ValueError:
            raise AdviceError(f"gamma: {match[1]!r} is no number; write it as in 1/ps") from None
        return float(checked(positive, "gamma", number) / UNITS[match[2]] * UNITS["ns"])
    try:
        number = float(gamma)
    except (TypeError, ValueError):
        raise AdviceError(f"gamma must be a rate with its unit, as in 1/ps, got {shown(gamma)}") from None
    return float(checked(positive, "gamma", number, "1/s") * UNITS["ns"])


def from_baths(
    liquid: str | float,
    bath: str,
    gamma: str | float | None = None,
    bias: float | None = None,
    results: Path | None = None,
    everything: bool = False,
    code: str | None = None,
) -> Recommendation:
    """The answer to :func:`polhode.advice.for_liquid` with a bath: the scheme, the step, and where to read the temperature.

    The method takes the longest steps; with a ``code`` it is the code's own. Of chains see :func:`from_chains`, of velocity
    rescaling :func:`from_rescaling`.

    Parameters
    ----------
    liquid : key of a liquid that was run, or the period of the fastest libration in s, or as a text with its unit
    bath : one of :data:`BATHS`
    gamma : friction, which the bath ``langevin`` needs, 1/s, or as a text with its unit
    bias : by how many K temperatures may be off; :data:`polhode.fits.baths.BIAS` by default
    results : folder of a run; by default the released data
    everything : whether all methods are listed
    code : name of the code in whose words the answer is given, of :data:`polhode.advice.codes.BATHS`

    Raises
    ------
    AdviceError
        If an argument cannot be, ``gamma`` is missing, nothing is known of the liquid, or no method is shown to stay within the
        bias; the message names the argument.
    """
    if not isinstance(bath, str) or bath not in BATHS:
        raise AdviceError(
            f"bath must be {', '.join(BATHS[:-1])} or {BATHS[-1]}, got {shown(bath)}; GROMACS' sd and OpenMM's "
            "LangevinMiddleIntegrator are langevin, LAMMPS' rigid/nvt/small is nose-hoover"
        )
    if bath != "langevin":
        other = from_chains if bath == "nose-hoover" else from_rescaling
        return other(liquid, bath, gamma, bias, results, everything, code)
    if gamma is None:
        raise AdviceError("gamma is missing: the friction, with its unit, as in 1/ps")
    words = words_of(code, codes.BATHS, " in a heat bath")
    friction, allowed = rate_of(gamma), baths.BIAS if bias is None else checked(positive, "bias", bias, "K")
    measured = measurements(results)
    of_water = measured.periods[MEASURED]
    period, named = liquid_of(liquid, measured.periods)
    scale = period / of_water
    temperature = baths.TEMPERATURE
    share = allowed / temperature
    bounds = _bounds(measured, period, share, friction, METHODS, PREFERRED, words)
    if bounds is None:
        raise AdviceError(
            f"bias: it is not shown of any method that a friction of {friction / 1e3:g}/ps holds the temperature to "
            f"{allowed:g} K; ask for a larger one, or take a stronger friction"
        )
    rates, limits, choices = bounds.rates, bounds.limits, bounds.choices
    per_ps = friction / 1e3
    values = {"temperature": temperature, "friction": per_ps, "tau": 1 / per_ps, "damp": 1e3 / per_ps}
    dt = choices[0].dt / FEMTOSECOND
    of_centre, turning = (temperature * baths.at_the_end(rate, dt) for rate in rates)
    places = temperature * baths.of_places(rates[1], dt)
    elsewhere = next(choice for choice in choices if choice.method == PREFERRED or not limits[PREFERRED])
    serves = f"At {temperature:g} K translation and rotation are within {allowed:g} K of the bath, and so are the places."
    remarks: list[str] = []
    if words is None:
        notes = [
            f"Judge the step by its places. A log at the end of the step shows rotation at {turning:.4g} K and translation at "
            f"{of_centre:.4g} K, though the places are right; the logs of GROMACS (`sd`) and OpenMM show the bath. Friction "
            f"and noise as forces (LAMMPS), and O B A B O, show {temperature:g} K, and their angles correspond to "
            f"{places:.4g} K."
        ]
    elif words.name == "LAMMPS":
        dt = rounded_down(min(limits[words.method], baths.longest_step_of_places(rates[1], share)))
        choices.insert(0, replace(_choice(words.method, dt, period), label="NO_SQUISH, friction and noise as forces"))
        hot = " and ".join(f"{temperature * baths.of_places(rates[1], step):.4g} K at {step:g} fs" for step in (1.0, 2.0))
        serves = (
            f"The angles then have at most {temperature * baths.of_places(rates[1], dt):.4g} K in the mean over librations, by "
            "linear analysis."
        )
        notes = [
            f"Do not judge the step by the log, which shows {temperature:g} K with any step, but by the potential energy. For "
            "longer steps: `bath` nose-hoover."
        ]
        remarks = [
            f"Angles would have up to {hot}. Without `extra/dof 0` the log shows more than {temperature:g} K (302.4 K with 64 "
            "molecules), as `compute temp` takes off three degrees of freedom that this bath does not conserve.",
            f"For longer steps `fix water all rigid/nvt/small molecule temp {temperature:g} {temperature:g} TDAMP` holds the "
            "kinetic energy of half steps. In 64 molecules of SPC/E water its potential energy hardly changes up to 4 fs, "
            f"while its log shows less than was asked for, 294 K at 4 fs for 300 K. Its step for {allowed:g} K is not known.",
            f"In a code that has it, ask for {ORDER}: around {elsewhere.label} ({elsewhere.method}) it has this bias with "
            f"dt = {elsewhere.dt / FEMTOSECOND:.3g} fs.",
        ]
    elif words.name == "OpenMM":
        notes = [
            "The temperature in the log (`getKineticEnergy`) is the one to trust: it sees the velocities between the kicks. "
            "It counts right with the `CMMotionRemover` that `createSystem` adds, and without."
        ]
    else:
        notes = [
            "The temperature in the log is the one to trust: it sees the velocities between the kicks. Add `comm-mode = "
            "None`, or it shows more by the share 1/(2 N) with N molecules."
        ]
    of_scheme = (bath_runs.BETWEEN_KICKS, "B A O A B")
    if words and words.name == "LAMMPS":
        of_scheme = (bath_runs.AS_FORCES, "friction and noise as forces")
    best, (of_sites, on_sites) = choices[0], about_sites(words, named)
    periods = f"{period / dt:.3g} steps in a period of the fastest libration"
    return Recommendation(
        question=f"{named} at {temperature:g} K, Langevin bath of friction {per_ps:g}/ps, within {allowed:g} K",
        best=best,
        sentence=words.first_line(best.dt, periods, **values)
        if words
        else f"Take {ORDER} around {best.label} ({best.method}) with dt = {dt:.3g} fs: {periods}; read the temperature between "
        "the two kicks, just after friction and noise.",
        serves=serves + carried_over(named, period, measured.periods),
        notes=[*notes, *of_sites],
        remarks=[*remarks, *on_sites],
        evidence=[
            *([AS_FORCES] if words and words.name == "LAMMPS" else []),
            "Linear analysis of a libration: with B A O A B the variance of its angle is exact for any friction and any "
            "Omega dt below 2, the momentum too between the kicks; at the end of the step it reads 1 - (Omega dt)^2/4 of it.",
            "Collisions exchange energy between librations and slower motions, which with weak friction leaves rotation "
            f"hotter and translation colder than the bath by up to {_apart(rates, scale)}. Their mean has no such bias.",
            f"Drift without a bath of {' and '.join(measured.words)}: the friction takes it out at a temperature that is "
            "higher by the share drift/gamma; the whole interval of 95% of the drift is below what this allows.",
            *measured_words(*of_scheme, per_ps, results),
            f"From {files.named(measured.path)}.",
        ],
        asked={"liquid": liquid, "bath": bath, "gamma": gamma, "bias": allowed} | ({"code": words.name} if words else {}),
        **_of_bias(choices, limits, allowed, everything),
    )


def from_chains(
    liquid: str | float,
    bath: str,
    gamma: str | float | None,
    bias: float | None,
    results: Path | None,
    everything: bool,
    code: str | None,
) -> Recommendation:
    """The answer for chains of Nose-Hoover thermostats: the step of a run of 1 ns at constant energy, and what is sampled.

    Chains hold the mean kinetic energies between the kicks whatever the step, so that no step follows from a bias.

    Parameters
    ----------
    liquid : key of a liquid that was run, or the period of the fastest libration in s, or as a text with its unit
    bath : its name, for the answer
    gamma, bias : refused unless they are None
    results : folder of a run; if None the released data
    everything : whether all methods are listed
    code : name of the code in whose words the answer is given, ``"LAMMPS"``, or None

    Raises
    ------
    AdviceError
        If nothing is known of the liquid, or for ``gamma``, ``bias`` or another code.
    """
    for name, value in (("gamma", gamma), ("bias", bias)):
        if value is not None:
            raise AdviceError(
                f"{name} belongs to the bath langevin; leave it out: chains have no friction, and hold both temperatures "
                "between the kicks whatever the step"
            )
    words = words_of(code, codes.CHAINS, " with Nose-Hoover chains", codes.OTHER_CHAINS)
    measured = measurements(results)
    period, named = liquid_of(liquid, measured.periods)
    scale = period / measured.periods[MEASURED]
    steps = steps_of(*measured.boxes, allowed=STATED * scale)
    limits = {key: steps.get(key, (0.0, 0.0)) for key in METHODS}
    order = sorted((key for key in METHODS if limits[key][0]), key=lambda key: (-limits[key][0], key != PREFERRED))
    if words is not None:
        order.sort(key=lambda key: key != words.method)
    choices = [_choice(key, rounded_down(limits[key][0] * scale, STEP_DIGITS), period) for key in order]
    best, temperature = choices[0], baths.TEMPERATURE
    dt, rates = best.dt / FEMTOSECOND, [float(rate) / scale**2 for rate in measured.spectrum["rate_squared"].values]
    of_centre, turning = (temperature * baths.at_the_end(rate, dt) for rate in rates)
    periods = f"{period / dt:.3g} steps in a period of the fastest libration"
    spread = temperature * (2 * pi / period * dt) ** 2 / 12
    notes = [
        "Do not use it for a few molecules, a gas, or a start far from equilibrium; take langevin there.",
        f"{'The log' if words else 'A log of whole steps'} shows {(turning + of_centre) / 2:.4g} K for {temperature:g} K "
        f"(rotation {turning:.4g} K, translation {of_centre:.4g} K); the places are right.",
        *([] if words else ["The momentum of the whole must be zero at the start."]),
    ]
    remarks = [
        "Without noise nothing makes single motions share the energy, and the kinetic energy oscillates with a period of about "
        "4.4 times the time of the chains. Bring the liquid to equilibrium with langevin.",
        "The temperatures between the kicks and the places are right in the mean.",
    ]
    if words is not None:
        remarks.append(
            "LAMMPS counts three degrees of freedom for the momentum of the whole, which stays zero: translation is too hot by "
            "the factor N/(N - 1), 5 K with 64 molecules. Its `econserve` is not conserved; judge the step without the bath."
        )
    of_sites, on_sites = about_sites(words, named)
    return Recommendation(
        question=f"{named} at {temperature:g} K, chains of Nose-Hoover thermostats",
        best=best,
        sentence=words.first_line(best.dt, periods, temperature=temperature, time=CHAIN * scale)
        if words
        else f"Take Nose-Hoover chains with a time of {CHAIN * scale:.3g} fs around {best.label} ({best.method}) with dt = "
        f"{dt:.3g} fs: {periods}; read the temperature between the two kicks.",
        serves="The chains hold both temperatures between the kicks; without them the energy drifts by less than "
        f"{STATED:g} kT per degree of freedom and ns.{carried_over(named, period, measured.periods)}",
        costs=f"A run of 1 ns takes {float(f'{1e6 / dt:.3g}'):,.0f} steps, with one evaluation of the forces each.",
        notes=[*notes, *of_sites],
        remarks=[*remarks, *on_sites],
        changes=["faster librations: measure their period", "a cut-off that is not smooth", "another time of the chains"],
        interval=(best.dt, max(limits[best.method][1] * scale * FEMTOSECOND, best.dt)),
        interval_means=f"Interval: {dt:.3g} fs, the longest step that is shown to drift so little, and the longest that may.",
        alternatives=choices,
        evidence=[
            "A single libration has no linear analysis here: the rate at which a chain damps it depends on the kinetic energy "
            "of all, and without noise it need not reach equilibrium. What holds for any step is the balance of a single "
            "thermostat, whose rate changes by 2 K - n kT of the energies between the kicks and stays finite. With ten in a "
            "chain water is within 1 K of it at 8 fs.",
            "Within rotation fast librations are hotter than slow ones between the kicks, as without a bath: the fastest by at "
            f"most Omega^2 dt^2/12 of T, {spread:.2g} K.",
            f"Drift without a bath of {' and '.join(measured.words)}.",
            *measured_words(bath_runs.CHAINS, f"chains of {CHAIN:g} fs", 1e3 / CHAIN, results),
            f"From {files.named(measured.path)}.",
        ],
        error=STATED,
        kind="liquid",
        asked={"liquid": liquid, "bath": bath} | ({"code": words.name} if words else {}),
        shown=len(choices) if everything else SHOWN,
    )


def from_rescaling(
    liquid: str | float,
    bath: str,
    gamma: str | float | None,
    bias: float | None,
    results: Path | None,
    everything: bool,
    code: str | None,
) -> Recommendation:
    """The answer for stochastic velocity rescaling around a leapfrog: the step, and which temperature is the one of the bath.

    Parameters
    ----------
    liquid : key of a liquid that was run, or the period of the fastest libration in s, or as a text with its unit
    bath : its name, for the answer
    gamma : refused unless it is None
    bias : by how many K temperatures may be off; :data:`polhode.fits.baths.BIAS` by default
    results : folder of a run; if None the released data
    everything : whether all methods are listed
    code : name of the code in whose words the answer is given, ``"GROMACS"``, or None

    Raises
    ------
    AdviceError
        If nothing is known of the liquid, no method is shown to stay within the bias, or for ``gamma`` or another code.
    """
    relaxation = RESCALING / 1e3
    if gamma is not None:
        raise AdviceError(
            f"gamma belongs to the bath langevin; leave it out: velocity rescaling has a relaxation time, {relaxation:g} ps"
        )
    words = words_of(code, codes.RESCALING, " with velocity rescaling", codes.OTHER_RESCALING)
    allowed, temperature = baths.BIAS if bias is None else checked(positive, "bias", bias, "K"), baths.TEMPERATURE
    measured = measurements(results)
    period, named = liquid_of(liquid, measured.periods)
    scale = period / measured.periods[MEASURED]
    # As much heat flows out as with this friction, 1/ns.
    friction = baths.equal_friction(relaxation / 1e3)
    bounds = _bounds(measured, period, allowed / temperature, friction, LEAPFROGS, LEAPFROGS[0], words)
    if bounds is None:
        raise AdviceError(
            f"bias: it is not shown of any method that velocity rescaling holds the temperature to {allowed:g} K; ask for a "
            "larger one"
        )
    best, rates = bounds.choices[0], bounds.rates
    dt = best.dt / FEMTOSECOND
    periods = f"{period / dt:.3g} steps in a period of the fastest libration"
    of_centre, turning = (temperature * baths.at_the_end(rate, dt) for rate in rates)
    if words is None:
        notes = [
            f"A log of whole steps shows rotation at {turning:.4g} K and translation at {of_centre:.4g} K, though the places "
            "are right. The momentum of the whole must be zero at the start.",
            "Do not take a method that carries velocities of whole steps (exact rotor, NO_SQUISH): its angles would have up to "
            f"{temperature * baths.of_places(rates[1], dt):.4g} K at this step.",
        ]
    else:
        notes = [
            "The temperature in the log is the one to trust: `md` logs half steps, which this bath holds. Leave `comm-mode` at "
            "its default.",
            f"`Conserved En.` rises by about {OF_DEFAULT_LIST:.1g} kT per degree of freedom and ns with the default list of "
            f"pairs, which heats by {temperature * OF_DEFAULT_LIST / friction:.1g} K: it does not judge the step.",
        ]
    of_sites, on_sites = about_sites(words, named)
    return Recommendation(
        question=f"{named} at {temperature:g} K, velocity rescaling with {relaxation:g} ps, within {allowed:g} K",
        best=best,
        sentence=words.first_line(best.dt, periods, temperature=temperature, time=relaxation)
        if words
        else f"Take stochastic velocity rescaling with a relaxation time of {relaxation:g} ps around {best.label} "
        f"({best.method}), a leapfrog, with dt = {dt:.3g} fs: {periods}; read the temperature of the velocities of half steps.",
        serves=f"At {temperature:g} K translation and rotation are within {allowed:g} K of the bath"
        + (", and so are the places." if dt <= SHOWN_UP_TO * scale else f" {BEYOND}.")
        + carried_over(named, period, measured.periods),
        notes=[*notes, *of_sites],
        remarks=[
            "It holds one sum, the kinetic energy of translation and rotation together: look at both temperatures once. A "
            "method that takes energy from one of them and brings it into the other goes unnoticed in the sum.",
            *on_sites,
        ],
        evidence=[
            "A leapfrog carries velocities of half steps, in which a libration has the mean square of its angle, in units of "
            "Omega: if the bath holds them, the places are right.",
            "One factor for all velocities does not change how modes share the energy. Collisions keep one temperature of the "
            "energy that the steps conserve, so that in half steps rotation is hotter and translation colder than the bath by "
            f"{_apart(rates, scale)}. Their mean has no such bias.",
            f"Drift without a bath of {' and '.join(measured.words)}: the bath takes out a drift of d kT per degree of freedom "
            f"and ns at a temperature that is higher by the share 2 d tau, {temperature / friction:.2g} K for d = 1; the whole "
            "interval of 95% of the drift is below what this allows.",
            "In water GROMACS was within the errors of this at 4 fs, and had 1.3 times as much at 6 fs (docs/baths.md).",
            f"From {files.named(measured.path)}.",
        ],
        asked={"liquid": liquid, "bath": bath, "bias": allowed} | ({"code": words.name} if words else {}),
        **_of_bias(bounds.choices, bounds.limits, allowed, everything),
    )


def _of_bias(choices: list[Choice], limits: Mapping[str, float], allowed: float, everything: bool) -> dict[str, Any]:
    """What an answer for temperatures within ``allowed`` K has in every bath, from its choices and limits in fs."""
    best, dt = choices[0], choices[0].dt / FEMTOSECOND
    return {
        "costs": f"A run of 1 ns takes {float(f'{1e6 / dt:.3g}'):,.0f} steps, with one evaluation of the forces each.",
        "changes": ["faster librations: measure their period", "a cut-off that is not smooth", "another temperature"],
        "interval": (best.dt, max(limits[best.method] * FEMTOSECOND, best.dt)),
        "interval_means": f"Interval: up to {dt:.3g} fs each temperature is within {allowed:g} K; beyond "
        f"{max(limits[best.method], dt):.3g} fs the drift of the method heats the liquid as a whole, too.",
        "alternatives": choices,
        "error": allowed,
        "kind": "liquid",
        "shown": len(choices) if everything else SHOWN,
    }


def _bounds(
    measured: LiquidMeasurements,
    period: float,
    share: float,
    friction: float,
    methods: Sequence[str],
    preferred: str,
    words: CodeWords | None,
) -> Bounds | None:
    """The steps of methods in a bath with a friction in 1/ns, for a share of its temperature; None if there is none.

    With ``words`` the method of the code comes first, and must have a step. ``period``: of the fastest libration, fs.
    """
    scale = period / measured.periods[MEASURED]
    rates = [float(rate) / scale**2 for rate in measured.spectrum["rate_squared"].values]
    longest = baths.longest_step(rates, share)
    # At rest the bath takes out a drift d, kT/ns, at a kinetic temperature that is too high by the share d/gamma.
    steps = steps_of(*measured.boxes, allowed=share * friction * scale)
    limits = {
        key: steps.get(key, (0.0, 0.0))[0] * scale for key in dict.fromkeys([*methods, *([words.method] if words else [])])
    }
    if not any(limits[key] for key in ([words.method] if words else methods)):
        return None
    preferred = words.method if words else preferred
    order = sorted(
        (key for key in limits if limits[key]),
        key=lambda key: (words is not None and key != preferred, -min(limits[key], longest), key != preferred),
    )
    return Bounds(rates, limits, [_choice(key, rounded_down(min(limits[key], longest)), period) for key in order])


def _apart(rates: Sequence[float], scale: float) -> str:
    """By how much rotation is hotter than the bath, and translation colder, as a formula and in K at some steps."""
    ladder = ", ".join(
        f"{baths.TEMPERATURE * baths.apart(rates, step):.2g} K at {step:.3g} fs" for step in (2 * scale, 4 * scale, 6 * scale)
    )
    return f"(Omega_r^2 - Omega_t^2) dt^2/24: {ladder}, to second order"


def measured_words(scheme: str, name: str, friction: float, results: Path | None) -> list[str]:
    """What runs of water with a scheme say, in a list of one text; empty without such runs.

    Parameters
    ----------
    scheme : one of :mod:`polhode.fits.bath_runs`, such as :data:`~polhode.fits.bath_runs.BETWEEN_KICKS`
    name : the scheme in words
    friction : 1/ps; runs with the measured one that is nearest are taken
    results : folder of a run; by default the released data
    """
    path = files.released(bath_runs.RELEASED) if results is None else results / "checks" / f"{bath_runs.CHECK}.nc"
    if path is None or not path.is_file():
        return []
    runs = bath_runs.BathRuns(read_dataset(path))
    frictions = {case.friction for case in runs.of(MEASURED) if case.scheme == scheme}
    if not frictions:
        return []
    nearest = min(frictions, key=lambda known: abs(log(known / friction)))
    truth, said, ladder = runs.truth(MEASURED), [], runs.ladder(MEASURED, scheme, nearest)
    for dt, case in ladder.items():
        of_step = case.biases(truth)
        hotter, energy = of_step["rotation"], of_step["potential"]
        said.append(
            f"at {dt:g} fs {hotter.value:+.1f} ({hotter.low:+.1f} to {hotter.high:+.1f}) K and {energy.value:+.3f} "
            f"({energy.low:+.3f} to {energy.high:+.3f}) kT"
        )
    with_friction = f" and a friction of {nearest:g}/ps" if scheme != bath_runs.CHAINS else ""
    longest = runs.longest_steps(MEASURED, scheme, nearest, baths.BIAS)
    place = "between the kicks" if next(iter(ladder.values())).place else "at the end of the step"
    return [
        f"Measured in runs of {MEASURED} with {name}{with_friction}: rotation {place} above the "
        f"bath, and the potential energy of a molecule above the truth, with intervals of 95%: {', '.join(said)}. "
        f"By c dt^2, fitted up to {bath_runs.FITTED:g} fs, rotation is off by {baths.BIAS:g} K at "
        f"{longest['rotation'].range_of_fit} fs, and the potential energy by {bath_runs.OF_ENERGY:g} kT at "
        f"{longest['potential'].range_of_fit} fs. "
        f"From {files.named(path)}."
    ]


def _choice(key: str, dt: float, period: float) -> Choice:
    """A method with a step, and a period, in fs."""
    return Choice(key, known_as(key), dt * FEMTOSECOND, mark=f"period/{period / dt:.3g}")
