"""Numbers on liquids at constant energy."""

from math import isfinite, pi

import numpy as np

from polhode.fits import liquid_drifts
from polhode.study.chapters.liquids import frames
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report.formats import factor, plain
from polhode.study.report.latex import NOT_AVAILABLE, decimal, escape

#: Methods and their names in macros.
NAMES = {
    "exact_rotor": "Rotor",
    "no_squish": "Squish",
    "dlm1997": "Dlm",
    "touma1994": "Touma",
    "moser_veselov": "Shake",
    "omelyan1998": "Omelyan",
    "rozmanov2010": "Rozmanov",
    "verlet": "Verlet",
    "richardson": "Richardson",
    "spiral_leapfrog": "Spiral",
    "fincham1992": "Fincham",
    "calzavarini2010": "Calzavarini",
    "buss2000": "Buss",
    "magnus_adams4": "Magnus",
}
#: Steps in fs in the names of macros.
STEPS = {1.0: "One", 2.0: "Two", 4.0: "Four", 6.0: "Six", 7.0: "Seven"}


def liquids(inputs: Inputs) -> dict[str, str]:
    """Macros for the text: runs, drifts, powers of the step, losses, temperatures, cut-offs, and the first page's row."""
    data = frames.runs(inputs)
    every = liquid_drifts.outcomes(data)
    result = {
        "studyLiquidMolecules": str(int(data.attrs["molecules"])),
        "studyLiquidStarts": str(data.sizes["seed"]),
        "studyLiquidDuration": plain(float(data.attrs["duration"]) / 1e3),
        "studyLiquidMethods": str(len(every)),
        "studyLiquidRuns": str(sum(of_step.starts for of_method in every.values() for of_step in of_method.values())),
    }
    for key, name in NAMES.items():
        of_method = every.get(key, {})
        for dt, step in STEPS.items():
            of_step = of_method.get(dt)
            result[f"studyLiquid{name}{step}"] = frames.signed(of_step) if of_step else NOT_AVAILABLE
        result[f"studyLiquid{name}Power"] = _one(frames.exponent(of_method, (1.0, 2.0)))
        result[f"studyLiquid{name}Lost"] = frames.lost(of_method) if of_method else NOT_AVAILABLE
    result |= _blocks(every) | _recommended(inputs) | _temperatures(inputs) | _cutoffs(inputs) | _predicted(inputs, every)
    return result | _larger(inputs) | _shadow(inputs)


def _shadow(inputs: Inputs) -> dict[str, str]:
    """How much less the shadow energy scatters than the energy, and the powers of the step with which both do."""
    try:
        data = inputs.check("liquid_shadow")
        scatters = {name: data[f"{name}_scatter"].sel(dt=[1.0, 2.0]).values for name in ("energy", "shadow")}
    except (NotInRun, KeyError):
        return {f"studyLiquidShadow{name}": NOT_AVAILABLE for name in ("Gain", "Power", "EnergyPower")}
    powers = {name: float(np.log2(scatter[1] / scatter[0])) for name, scatter in scatters.items()}
    return {
        "studyLiquidShadowGain": f"{scatters['energy'][1] / scatters['shadow'][1]:.0f}",
        "studyLiquidShadowPower": _one(powers["shadow"]),
        "studyLiquidShadowEnergyPower": _one(powers["energy"]),
    }


def _one(value: float) -> str:
    return decimal(value, 1) if isfinite(value) else NOT_AVAILABLE


def _blocks(every: dict[str, dict[float, liquid_drifts.MeanDrift]]) -> dict[str, str]:
    """How much larger the scatter of starts is than block errors say: the median over methods and steps that were not lost."""
    ratios = [
        (of_step.high - of_step.low) / 2 / of_step.block_error
        for of_method in every.values()
        for of_step in of_method.values()
        if isfinite(of_step.low) and not of_step.lost and of_step.block_error > 0
    ]
    scatters = [of_method[2.0].rms for of_method in every.values() if 2.0 in of_method and isfinite(of_method[2.0].rms)]
    scatter = max(scatters) / min(scatters) if scatters else np.nan
    named = [
        every[key][2.0].rms for key in ("exact_rotor", "omelyan1998", "spiral_leapfrog") if key in every and 2.0 in every[key]
    ]
    return {
        "studyLiquidBlocks": factor(float(np.median(ratios))) if ratios else NOT_AVAILABLE,
        "studyLiquidRmsRange": factor(scatter),
        "studyLiquidRmsNamed": factor(max(named) / min(named)) if named else NOT_AVAILABLE,
    }


def _recommended(inputs: Inputs) -> dict[str, str]:
    """What is recommended, with its step, and the fastest libration."""
    names = "Named", "Step", "Steps", "Period", "Wave", "Upturn", "Resonance"
    result = {f"studyLiquid{name}": NOT_AVAILABLE for name in names}
    try:
        fastest = liquid_drifts.fastest(frames.spectrum(inputs))
    except NotInRun:
        return result
    result["studyLiquidPeriod"] = decimal(2 * pi / fastest, 0)
    result["studyLiquidWave"] = decimal(fastest * frames.WAVENUMBER, 0)
    result["studyLiquidUpturn"] = decimal(2 * pi / fastest / 6.0, 1)
    result["studyLiquidResonance"] = decimal(2**0.5 / fastest, 1)
    if best := frames.recommended(inputs):
        result["studyLiquidNamed"] = escape(inputs.label(best.method))
        result["studyLiquidStep"], result["studyLiquidSteps"] = f"{best.dt:g}", decimal(best.steps, 1)
    return result


def _temperatures(inputs: Inputs) -> dict[str, str]:
    """Gaps of temperatures in percent at 4 fs."""
    result = {}
    for estimator in ("whole", "half", "corrected"):
        try:
            gap = frames.gaps(inputs, estimator).get(4.0)
        except NotInRun:
            gap = None
        name = f"studyLiquidGap{estimator.capitalize()}"
        half = 50 * (gap.high - gap.low) if gap else np.nan
        result[name] = rf"$\num{{{100 * gap.value:.1f}}}\pm\num{{{half:.1f}}}$" if gap else NOT_AVAILABLE
        result[f"{name}Predicted"] = decimal(100 * gap.predicted, 1) if gap else NOT_AVAILABLE
    return result


def _cutoffs(inputs: Inputs) -> dict[str, str]:
    """The drift of the exact rotor at 2 fs with each law."""
    names = {"reaction_field": "Field", "shifted_force": "Force", "shifted_energy": "Energy", "shifted_power": "Smooth"}
    try:
        data = frames.cutoffs(inputs)
        drifts = {law: liquid_drifts.outcomes(data.sel(law=law))["exact_rotor"][2.0] for law in names}
    except (NotInRun, KeyError):
        return {f"studyLiquidLaw{name}": NOT_AVAILABLE for name in names.values()}
    return {f"studyLiquidLaw{name}": frames.signed(drifts[law]) for law, name in names.items()}


def _predicted(inputs: Inputs, every: dict[str, dict[float, liquid_drifts.MeanDrift]]) -> dict[str, str]:
    """By linear analysis: the drift of Magnus-Adams 4, and how many signs are right among drifts that are shown."""
    try:
        predicted = frames.predicted(inputs)
    except NotInRun:
        names = "MagnusPredicted", "MagnusOverPredicted", "Signs", "SignsRight", "SpiralThermal", "OmelyanThermal"
        return {f"studyLiquid{name}": NOT_AVAILABLE for name in names}
    magnus = predicted.get("magnus_adams4", {}).get(1.0, np.nan)
    measured = every["magnus_adams4"][1.0].drift if 1.0 in every.get("magnus_adams4", {}) else np.nan
    signs = [
        predicted[key][dt] * of_step.drift > 0
        for key, of_method in every.items()
        for dt, of_step in of_method.items()
        if of_step.is_shown and dt <= 2 and abs(predicted.get(key, {}).get(dt, 0.0)) > 1e-3
    ]
    one = frames.thermal(inputs)
    of_one = {"spiral_leapfrog": "Spiral", "omelyan1998": "Omelyan"}
    at = {name: one.get(key, {}).get(2.0, (np.nan, np.nan)) for key, name in of_one.items()}
    return {
        **{f"studyLiquid{name}Thermal": decimal(drift, 2) for name, (drift, _) in at.items()},
        "studyLiquidMagnusPredicted": decimal(magnus, 2),
        "studyLiquidMagnusOverPredicted": decimal(measured / magnus, 2),
        "studyLiquidSigns": str(len(signs)),
        "studyLiquidSignsRight": str(sum(signs)),
    }


def _larger(inputs: Inputs) -> dict[str, str]:
    """The larger box: the drift of each method at 4 fs."""
    names = {key: NAMES[key] for key in ("exact_rotor", "no_squish", "omelyan1998", "spiral_leapfrog")}
    try:
        data = frames.larger(inputs)
    except NotInRun:
        macros = ["studyLiquidLargeMolecules", "studyLiquidLargeDuration"]
        return dict.fromkeys([*macros, *(f"studyLiquidLarge{name}" for name in names.values())], NOT_AVAILABLE)
    every = liquid_drifts.outcomes(data)
    result = {
        "studyLiquidLargeMolecules": str(int(data.attrs["molecules"])),
        "studyLiquidLargeDuration": plain(float(data.attrs["duration"]) / 1e3),
    }
    for key, name in names.items():
        of_step = every.get(key, {}).get(4.0)
        result[f"studyLiquidLarge{name}"] = frames.signed(of_step) if of_step else NOT_AVAILABLE
    return result
