"""Numbers on liquids at constant energy."""

from math import isfinite, pi

import numpy as np

from polhode.fits import liquid_drifts
from polhode_study.chapters.liquids import frames
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report.formats import factor, plain
from polhode_study.report.latex import NOT_AVAILABLE, decimal, escape


def liquids(inputs: Inputs) -> dict[str, str]:
    """Macros for the runs, the power of SPIRAL's drift, and how much starts scatter beside block errors."""
    data = frames.runs(inputs)
    every = liquid_drifts.outcomes(data)
    # The median over methods and steps that were not lost.
    ratios = [
        (of_step.high - of_step.low) / 2 / of_step.block_error
        for of_method in every.values()
        for of_step in of_method.values()
        if isfinite(of_step.low) and not of_step.lost and of_step.block_error > 0
    ]
    named = [
        every[key][2.0].rms for key in ("exact_rotor", "omelyan1998", "spiral_leapfrog") if key in every and 2.0 in every[key]
    ]
    return {
        "studyLiquidMolecules": str(int(data.attrs["molecules"])),
        "studyLiquidStarts": str(data.sizes["seed"]),
        "studyLiquidDuration": plain(float(data.attrs["duration"]) / 1e3),
        "studyLiquidMethods": str(len(every)),
        "studyLiquidSpiralPower": decimal(frames.exponent(every.get("spiral_leapfrog", {}), (1.0, 2.0)), 1),
        "studyLiquidBlocks": factor(float(np.median(ratios))) if ratios else NOT_AVAILABLE,
        "studyLiquidRmsNamed": factor(max(named) / min(named)) if named else NOT_AVAILABLE,
    }


def shadow(inputs: Inputs) -> dict[str, str]:
    """Macros for how much less the shadow energy scatters than the energy, and for the powers of the step in both."""
    data = inputs.check("liquid_shadow")
    if not {1.0, 2.0} <= set(data["dt"].values):
        raise NotInRun("this run has no shadow energy at 1 and 2 fs")
    energy, scatter = (data[f"{name}_scatter"].sel(dt=[1.0, 2.0]).values for name in ("energy", "shadow"))
    return {
        "studyLiquidShadowGain": f"{energy[1] / scatter[1]:.0f}",
        "studyLiquidShadowPower": decimal(float(np.log2(scatter[1] / scatter[0])), 1),
        "studyLiquidShadowEnergyPower": decimal(float(np.log2(energy[1] / energy[0])), 1),
    }


def recommended(inputs: Inputs) -> dict[str, str]:
    """Macros for the recommended method with its step, and for the fastest libration."""
    fastest = liquid_drifts.fastest(frames.spectrum(inputs))
    result = {
        "studyLiquidPeriod": decimal(2 * pi / fastest, 0),
        "studyLiquidWave": decimal(fastest * frames.WAVENUMBER, 0),
        "studyLiquidUpturn": decimal(2 * pi / fastest / 6.0, 1),
        "studyLiquidResonance": decimal(2**0.5 / fastest, 1),
    }
    if best := frames.recommended(inputs):
        result["studyLiquidNamed"] = escape(inputs.label(best.method))
        result["studyLiquidStep"], result["studyLiquidSteps"] = f"{best.dt:g}", decimal(best.steps, 1)
    return result


def temperatures(inputs: Inputs) -> dict[str, str]:
    """Macros for gaps of temperatures in per cent at 4 fs."""
    result = {}
    for estimator in ("whole", "half", "corrected"):
        if gap := frames.gaps(inputs, estimator).get(4.0):
            name, half = f"studyLiquidGap{estimator.capitalize()}", 50 * (gap.high - gap.low)
            result[name] = rf"$\num{{{100 * gap.value:.1f}}}\pm\num{{{half:.1f}}}$"
            if estimator != "corrected":
                result[f"{name}Predicted"] = decimal(100 * gap.predicted, 1)
    return result


def cutoffs(inputs: Inputs) -> dict[str, str]:
    """Macros for the drift of the exact rotor at 2 fs with each law."""
    names = {"reaction_field": "Field", "shifted_force": "Force", "shifted_energy": "Energy", "shifted_power": "Smooth"}
    data = frames.cutoffs(inputs)
    drifts = {law: liquid_drifts.outcomes(data.sel(law=law)) for law in names if law in data["law"]}
    return {
        f"studyLiquidLaw{names[law]}": frames.signed(of_law["exact_rotor"][2.0])
        for law, of_law in drifts.items()
        if 2.0 in of_law.get("exact_rotor", {})
    }


def larger(inputs: Inputs) -> dict[str, str]:
    """Macros for the larger box, and for the drift of methods at 4 fs in it."""
    names = {"exact_rotor": "Rotor", "no_squish": "Squish", "omelyan1998": "Omelyan", "spiral_leapfrog": "Spiral"}
    data = frames.larger(inputs)
    every = liquid_drifts.outcomes(data)
    return {
        "studyLiquidLargeMolecules": str(int(data.attrs["molecules"])),
        "studyLiquidLargeDuration": plain(float(data.attrs["duration"]) / 1e3),
        **{
            f"studyLiquidLarge{name}": frames.signed(every[key][4.0])
            for key, name in names.items()
            if 4.0 in every.get(key, {})
        },
    }
