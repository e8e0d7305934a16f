"""Advice for a liquid of rigid molecules at constant energy: the step as a share of the period of its fastest libration.

It rests on the drift of the energy in water (``polhode_study.chapters.liquids.run``). What a method does to a libration
depends on steps per period alone (:mod:`polhode.methods.libration`), so a drift per period is that of another liquid, too.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import pi
from pathlib import Path

import xarray as xr

from polhode.advice import files
from polhode.advice.answer import SHOWN, Choice, Recommendation, joined_names, known_as
from polhode.advice.codes import LIQUIDS, STEP_DIGITS, CodeWords, about_sites, words_of
from polhode.advice.errors import AdviceError, checked
from polhode.fits.baths import TEMPERATURE, on_half_steps, on_whole_steps
from polhode.fits.largest_step import rounded_down
from polhode.fits.liquid_drifts import (
    CONSTRAINTS,
    FASTEST,
    LONGER,
    RELEASED,
    STATED,
    MeanDrift,
    Steps,
    best,
    fastest,
    outcomes,
    run_length,
    steps_of,
    warming,
)
from polhode.interface.arguments import positive
from polhode.interface.netcdf import read_dataset, read_groups
from polhode.methods import METHODS
from polhode.registry import nearest

#: The groups of released drifts, the liquid of the smaller box, and its molecule.
BOXES, MEASURED, MOLECULE = (("followed", "others"), ("large",)), "water64", "spce"
#: A drift that spoils a run, kT per degree of freedom and ns, at a step that is common, fs.
SPOILS, COMMON = 1.0, 2.0
LONG_RUNS = (
    f"are not for long runs at constant energy: with {COMMON:g} fs in water more than {SPOILS:g} kT per degree of freedom and "
    "ns goes in or out, or the run is lost"
)
#: What a code shows as the temperature at constant energy, and whether of whole steps or of half ones; others are not known.
READS: Mapping[str, tuple[str, bool]] = {
    "LAMMPS": ("The log shows the temperature of whole steps", True),
    "OpenMM": ("`getKineticEnergy` shows the temperature of whole steps", True),
    "GROMACS": ("The log of `md` shows half steps (of `md-vv` whole ones)", False),
}
UNKNOWN = "; which of them the code shows was not measured"
#: What else a code needs to keep the energy: tolerances of forces, and what takes out the momentum of the whole.
SETTINGS: Mapping[str, str] = {
    "GROMACS": "Set `verlet-buffer-tolerance = {tolerance}` (its default heated water by {heating:g} kT per degree of freedom "
    "and ns). grompp drops it unless the file of `-c` has velocities: it must print `Verlet buffer for a tolerance`. "
    "{precision}Mdp lines: docs/liquids.md.",
    "OpenMM": "Set `ewaldErrorTolerance=1e-5`, and leave the `CMMotionRemover` that `createSystem` adds (input: "
    "docs/liquids.md).",
}
#: The drift of water in GROMACS in mixed precision, whatever the list of pairs, and with its default list, kT per degree of
#: freedom and ns.
OF_MIXED, OF_DEFAULT_LIST = 0.004, 0.19
#: J/mol/K.
MOLAR_GAS_CONSTANT = 8.314462618
#: How many of them are named.
NAMED = 5
#: Units in which a period is written, s, and the periods that librations of molecules have, s.
UNITS, LIBRATIONS = {"fs": 1e-15, "ps": 1e-12, "ns": 1e-9, "s": 1.0}, (1e-16, 1e-9)
WRITTEN = re.compile(
    rf"([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?|inf|infinity|nan)) *({'|'.join(UNITS)})?", re.IGNORECASE
)
#: The periods of the fastest libration of molecules that were run as ``water64`` is, fs: 64 molecules, 300 K, density and law
#: of ``water64``, two runs of 5 ps after 20 ps in a bath; and their names.
OF_MOLECULES: Mapping[str, float] = {"tip4p2005": 32.1}
NAMES: Mapping[str, str] = {"tip4p2005": "TIP4P/2005"}
FEMTOSECOND, EXAMPLE = UNITS["fs"], "write it with its unit, as in 33fs, or in s, as in 3.3e-14"

#: method -> step in fs -> what its starts did.
Outcomes = Mapping[str, Mapping[float, MeanDrift]]


@dataclass(frozen=True)
class LiquidMeasurements:
    """Measured drifts of liquids.

    Parameters
    ----------
    path : where they come from
    boxes : outcomes of the runs in each box: method -> step in fs -> what its starts did
    words : what each box is, in words
    periods : liquid -> period of its fastest libration, fs
    spectrum : the spectrum of :data:`MEASURED`, a dataset as in a file of a run
    molecules : the numbers of molecules in words
    """

    path: Path
    boxes: Sequence[Outcomes]
    words: list[str]
    periods: Mapping[str, float]
    spectrum: xr.Dataset
    molecules: str


def from_liquids(
    liquid: str | float,
    drift: float = STATED,
    results: Path | None = None,
    everything: bool = False,
    code: str | None = None,
) -> Recommendation:
    """The answer to :func:`polhode.advice.for_liquid` at constant energy: the method with the longest step, and this step.

    With a ``code`` it is the method that the code runs, with its own longest step.

    Parameters
    ----------
    liquid : key of a liquid that was run, or the period of the fastest libration in s, or as a text with its unit
    drift : of the energy, to stay below, kT per degree of freedom and ns
    results : folder of a run; by default the released data
    everything : whether all methods are listed
    code : name of the code in whose words the answer is given, of ``polhode.advice.codes.LIQUIDS``

    Raises
    ------
    AdviceError
        If nothing is known of the liquid or the code, or if no method, or not the one of the code, is shown to stay below the
        drift.
    """
    measured = measurements(results)
    of_water = measured.periods[MEASURED]
    period, named = liquid_of(liquid, measured.periods)
    # The drift per period is the same.
    scale = period / of_water
    steps = steps_of(*measured.boxes, allowed=drift * scale)
    answer = best(steps)
    if answer is None:
        raise AdviceError(
            f"drift: it is not shown of any method that it stays below {drift:g} kT per degree of freedom and ns, "
            f"in {' and '.join(measured.words)}; ask for a larger one"
        )
    serving = sorted(
        (key for key, (shown, _) in steps.items() if shown), key=lambda key: (-steps[key][0], key != answer.method)
    )
    order = [answer.method, *(key for key in serving if key != answer.method)]
    words = words_of(code, LIQUIDS)
    if words is not None and not steps.get(words.method, (0.0, 0.0))[0]:
        raise AdviceError(
            f"drift: it is not shown of {known_as(words.method)}, which {words.name} runs, that it stays below {drift:g} kT "
            "per degree of freedom and ns; ask for a larger one"
        )
    choices = [_choice(key, answer.dt if key == answer.method else steps[key][0], scale, of_water) for key in order]
    if words is not None:
        choices.sort(key=lambda choice: choice.method != words.method)
    recommended, may = choices[0], steps[choices[0].method][1] * scale
    periods = f"{period * FEMTOSECOND / recommended.dt:.3g} steps in a period of the fastest libration, for runs of "
    longer = steps_of(*measured.boxes, allowed=drift * scale / LONGER)
    # A question that names no length holds for the usual one; what a longer run needs is said beside it.
    in_longer = _longest(longer, recommended.method, scale) if drift == STATED else ""
    periods += f"{run_length(drift)} at constant energy"
    periods += in_longer and f"; runs of {run_length(drift / LONGER)} need {in_longer}"
    of_sites, on_sites = about_sites(words, named)
    spoiled = [key for key, of_method in measured.boxes[0].items() if COMMON in of_method and _spoils(of_method[COMMON])]
    number = float(f"{1e-9 / recommended.dt:.3g}")
    in_a_run = f"A run of 1 ns takes {number:,.0f} steps, with one evaluation of the forces each."
    some, others = spoiled[:NAMED], len(spoiled) - NAMED
    remarks = [
        f"A drift of {drift:g} kT per degree of freedom and ns warms or cools water at 300 K by {warming(drift, 1):.2g} K in "
        f"1 ns and by {warming(drift, 10):.2g} K in 10 ns.",
        *_for_longer(recommended.method, drift / LONGER, longer, scale),
        *_constrained(recommended.method, steps, longer if in_longer else {}, drift, scale) * bool(words),
        *([f"Shown to be as good with this step: {_names(answer.others)}."] if answer.others and not words else []),
        "It has one torque a step. The cut-off must be smooth: energy, force and slope of the force continuous (C2), or the "
        "drift of the cut-off hides that of the method.",
        "On whole steps rotation looks colder than translation, with every good method alike"
        + (
            f": each reads T (1 - Omega^2 dt^2/6), on half steps T (1 + Omega^2 dt^2/12){UNKNOWN * (words.name not in READS)}."
            if words
            else ": read temperatures as (K_whole + 2 K_half)/3, or take exact_rotor_corrected, whose outputs have no such gap."
        ),
        *([f"{_names(some)}{f' and {others} more' if others > 0 else ''} {LONG_RUNS}."] if spoiled else []),
        *on_sites,
    ]
    return Recommendation(
        question=f"{named} at constant energy, drift below {drift:g} kT per degree of freedom and ns",
        best=recommended,
        sentence=words.first_line(recommended.dt, periods)
        if words
        else f"Take {recommended.label} ({recommended.method}) with dt = {recommended.dt / FEMTOSECOND:.{STEP_DIGITS}g} fs: "
        f"{periods}.",
        serves=f"It is sufficient for SPC/E water at {TEMPERATURE:g} K, with the interval of 95% of the mean drift of "
        f"{measured.molecules} molecules.{carried_over(named, period, measured.periods)}",
        notes=[
            *_reading(words, measured.spectrum, recommended.dt / FEMTOSECOND / scale),
            *filter(None, [" ".join([*_settings(words, drift), *of_sites])]),
        ],
        costs=" ".join(
            [in_a_run, *_constrained(recommended.method, steps, longer if in_longer else {}, drift, scale) * (words is None)]
        ),
        changes=[
            "a thermostat, which hides a drift",
            "faster librations: measure their period",
            "a cut-off that is not smooth",
        ],
        interval=(recommended.dt, max(may * FEMTOSECOND, recommended.dt)),
        interval_means=f"Interval: {recommended.dt / FEMTOSECOND:.3g} fs, the longest step that is shown to drift so little, "
        f"and {max(may, recommended.dt / FEMTOSECOND):.3g} fs, the longest that may.",
        alternatives=choices,
        evidence=[
            f"Runs of {' and '.join(measured.words)}. The whole interval of 95% of the drift is below what is allowed, with "
            "this and all shorter steps.",
            f"Period of the fastest libration: {period:.3g} fs ({of_water:.3g} fs in water), that of the frequency below which "
            f"{FASTEST:.0%} of the kinetic energy of rotation lie. The drift per period is taken to be that of water.",
            f"From {files.named(measured.path)}.",
        ],
        error=drift,
        kind="liquid",
        asked={"liquid": liquid, "drift": drift} | ({"code": words.name} if words else {}),
        remarks=remarks,
        shown=len(choices) if everything else SHOWN,
    )


def _reading(words: CodeWords | None, spectrum: xr.Dataset, dt: float) -> list[str]:
    """What a code shows as the temperature of water, with a step in fs of water; empty if this is not known."""
    if words is None or words.name not in READS:
        return []
    shows, on_whole = READS[words.name]
    rates = [float(rate) for rate in spectrum["rate_squared"].values]
    centre, turning = (TEMPERATURE * (on_whole_steps if on_whole else on_half_steps)(rate, dt) for rate in rates)
    both = (centre + turning) / 2
    return [
        f"{shows}: {both:.4g} K for a liquid of {TEMPERATURE:g} K (rotation {turning:.4g} K and translation {centre:.4g} K). "
        f"{'Add' if on_whole else 'Subtract'} {abs(TEMPERATURE - both):.2g} K, which grows with the square of the step."
    ]


def _settings(words: CodeWords | None, drift: float) -> list[str]:
    """What else a code needs so that the energy drifts by no more than ``drift``, kT per degree of freedom and ns."""
    if words is None or words.name not in SETTINGS:
        return []
    # kJ/mol/ps for each particle; water with a site M has the fewest degrees of freedom per particle, 6 for four.
    tolerance = rounded_down(drift * 6 / 4 * MOLAR_GAS_CONSTANT * TEMPERATURE / 1e6, 1)
    precision = f"Run `gmx_d`: mixed precision cooled it by {OF_MIXED:g}. " if drift < OF_MIXED else ""
    written = f"{tolerance:.0e}".replace("e-0", "e-")
    return [SETTINGS[words.name].format(tolerance=written, precision=precision, heating=OF_DEFAULT_LIST)]


def carried_over(liquid: str, period: float, periods: Mapping[str, float]) -> str:
    """The sentence that a liquid, in words, was not run, after a blank; empty for those that were. Periods in fs."""
    if liquid in periods or liquid == MOLECULE:
        return ""
    return (
        f" Not run for {NAMES.get(liquid, 'this liquid')}: carried over from SPC/E by the ratio of periods "
        f"({period:.3g}/{periods[MEASURED]:.3g})."
    )


def liquid_of(liquid: str | float, periods: Mapping[str, float]) -> tuple[float, str]:
    """The period of the fastest libration of a liquid in fs, and the liquid in words.

    Parameters
    ----------
    liquid : key of a liquid that was run, or the period itself in s, or as a text with its unit
    periods : liquid that was run -> period, fs

    Raises
    ------
    AdviceError
        If nothing is known of it.
    """
    if (given := period_of(liquid)) is not None:
        return given / FEMTOSECOND, f"a liquid whose fastest libration has a period of {given / FEMTOSECOND:.3g} fs"
    known = {**periods, **OF_MOLECULES, MOLECULE: periods[MEASURED]}
    if liquid in known:
        return known[str(liquid)], str(liquid)
    raise AdviceError(
        f"liquid: {liquid!r} was not run ({nearest(str(liquid), list(known))}); or give the period of "
        "its fastest libration with its unit, as in 33fs"
    )


def _choice(key: str, dt: float, scale: float, period: float) -> Choice:
    """A method with a step in fs of water, whose fastest libration has this period in fs."""
    step = rounded_down(dt * scale, STEP_DIGITS)
    return Choice(key, known_as(key), step * FEMTOSECOND, mark=f"period/{period * scale / step:.3g}")


def _spoils(outcome: MeanDrift) -> bool:
    return outcome.lost > 0 or abs(outcome.drift) > SPOILS


def _longest(steps: Steps, method: str, scale: float) -> str:
    """The longest step of a method, with its unit; empty if none is known."""
    dt = steps.get(method, (0.0, 0.0))[0] * scale
    return f"{rounded_down(dt, STEP_DIGITS):.{STEP_DIGITS}g} fs" if dt else ""


def _constrained(best_method: str, steps: Steps, longer: Steps, drift: float, scale: float) -> list[str]:
    """The step of what codes for molecules run, which hold distances by constraints, and its step in longer runs."""
    if best_method == CONSTRAINTS or not (dt := _longest(steps, CONSTRAINTS, scale)):
        return []
    in_longer = _longest(longer, CONSTRAINTS, scale)
    in_longer = in_longer and f", for {run_length(drift / LONGER)} {in_longer}"
    return [f"If your code holds the molecules by SHAKE, RATTLE or SETTLE ({CONSTRAINTS}): dt = {dt}{in_longer}."]


def _for_longer(best_method: str, drift: float, steps: Steps, scale: float) -> list[str]:
    """What a run that is :data:`LONGER` times as long asks for, and the steps that it then has."""
    named = {key: steps[key][0] * scale for key in (best_method, CONSTRAINTS) if steps.get(key, (0.0, 0.0))[0]}
    if not named:
        return []
    said = ", ".join(f"{known_as(key)} {_longest(steps, key, scale)}" for key in named)
    return [f"For runs of {run_length(drift)} ask for `drift` {drift:g}, or for their `length`, which gives: {said}."]


def _names(keys: "list[str] | tuple[str, ...]") -> str:
    return joined_names([known_as(key) for key in keys if key in METHODS])


def period_of(liquid: str | float) -> float | None:
    """The period of a libration in s, given as a number of s, or in a text with or without a unit; None for another text.

    Raises
    ------
    AdviceError
        For a period that no libration of molecules has, beyond :data:`LIBRATIONS`; the message asks whether another unit is
        meant.
    """
    number, unit = liquid, "s"
    if isinstance(liquid, str):
        match = WRITTEN.fullmatch(liquid.strip())
        if match is None:
            return None
        number, unit = float(match[1]), (match[2] or "s").lower()
    value = checked(positive, "liquid", number, "s")
    least, most = LIBRATIONS
    if not least <= value * UNITS[unit] <= most:
        meant = next((name for name, size in UNITS.items() if least <= value * size <= most), "")
        raise AdviceError(
            f"liquid: no libration of molecules has a period of {value:g} {unit} ({least:g} to {most:g} s); "
            + (f"if {value:g} {meant} is meant, write {value:g}{meant}" if meant else EXAMPLE)
        )
    return float(value * UNITS[unit])


def time_of(length: str | float) -> float:
    """The length of a run in ns, given in s or as a text with its unit.

    Raises
    ------
    AdviceError
        If it is no positive time.
    """
    number, unit = length, "s"
    if isinstance(length, str):
        match = WRITTEN.fullmatch(length.strip())
        if match is None:
            raise AdviceError(f"length must be a time with its unit, as in 10ns, got {length!r}")
        number, unit = float(match[1]), (match[2] or "s").lower()
    return float(checked(positive, "length", number, "s") * UNITS[unit] / UNITS["ns"])


def measurements(results: Path | None) -> LiquidMeasurements:
    """The released drifts, or the drifts of a run if its folder is named or nothing is released.

    Raises
    ------
    AdviceError
        If there are none.
    """
    path = files.released(RELEASED) if results is None else None
    if path is not None:
        groups = read_groups(path)
        boxes, words, molecules = [], [], []
        for names in BOXES:
            data = [groups[f"/{name}"] for name in names if f"/{name}" in groups]
            if data:
                boxes.append({key: of for run in data for key, of in outcomes(run).items()})
                words.append(_box_in_words(data[0]))
                molecules.append(str(data[0].attrs["molecules"]))
        spectra = {name.partition("_")[2]: groups[name] for name in groups if name.startswith("/spectrum_")}
        periods = {key: 2 * pi / fastest(data) for key, data in spectra.items()}
        return LiquidMeasurements(path, boxes, words, periods, spectra[MEASURED], " and of ".join(molecules))
    spectrum = files.find("checks/liquid_spectrum.nc", results)
    data = [read_dataset(check) for check in sorted(spectrum.parent.glob("liquid_*fs.nc"))]
    data = [of_step for of_step in data if of_step.sizes.get("integrator")]
    if not data:
        raise AdviceError(f"no runs of liquids are beside {spectrum}; make them: ./reproduce {spectrum.parent}/liquid_2fs.nc")
    every = xr.concat(data, "dt", combine_attrs="override", join="outer")
    of_water = read_dataset(spectrum)
    periods, number = {MEASURED: 2 * pi / fastest(of_water)}, str(every.attrs["molecules"])
    return LiquidMeasurements(spectrum.parent, [outcomes(every)], [_box_in_words(every)], periods, of_water, number)


def _box_in_words(data: xr.Dataset) -> str:
    return (
        f"{data.attrs['molecules']} molecules of SPC/E water at {float(data.attrs['temperature']):g} K, {data.sizes['seed']} "
        f"starts of {float(data.attrs['duration']) / 1e3:g} ps"
    )
