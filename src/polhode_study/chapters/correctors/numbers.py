"""Numbers on correctors."""

from math import isfinite

from polhode.fits.seed_statistics import ratio_of_means
from polhode_study.chapters.correctors import frames
from polhode_study.chapters.correctors.frames import CORRECTED, PLAIN
from polhode_study.chapters.laws.frames import TARGET
from polhode_study.chapters.liquids import frames as liquids
from polhode_study.chapters.many_body.frames import chess_pieces, shown_row
from polhode_study.inputs import Inputs
from polhode_study.report.latex import NOT_AVAILABLE, decimal, number

#: Names of strengths and methods in macros.
STRENGTHS = {"Weak": 0.01, "Median": 0.1, "Strong": 1.0, "Ten": 10.0}
METHODS = {"Plain": PLAIN, "Corrected": CORRECTED, "Magnus": "magnus_adams4", "Gradient": "rotor_gradient4"}
#: Classes of torque and strengths of which the text names the torques per radian, and the methods.
NAMED = {
    ("state", "Weak"): "Plain Corrected Magnus",
    ("state", "Median"): "Plain Corrected Magnus",
    ("state", "Strong"): "Corrected Magnus Gradient",
    ("lab", "Strong"): "Plain Corrected Magnus",
    ("lab", "Ten"): "Plain Corrected Magnus",
}


def _number(value: float) -> str:
    return decimal(value, 1 if value < 10 else 0) if isfinite(value) else NOT_AVAILABLE


def correctors(inputs: Inputs) -> dict[str, str]:
    """Macros for torques per radian by strength, and how much fewer a corrector needs."""
    result = {"studyStrengthTarget": number(TARGET, 1)}
    tables = {torque_class: frames.torques(inputs, torque_class) for torque_class in ("state", "lab")}
    for (torque_class, word), methods in NAMED.items():
        for name in methods.split():
            value = tables[torque_class].get(METHODS[name], {}).get(STRENGTHS[word])
            if value is not None:
                result[f"studyStrength{torque_class.capitalize()}{word}{name}"] = _number(value)
    if {CORRECTED, "magnus_adams4"} <= set(tables["state"]):
        result["studyStrengthStateCrossing"] = _number(frames.crossing(tables["state"], CORRECTED, "magnus_adams4"))
    return result


def correctors_liquid(inputs: Inputs) -> dict[str, str]:
    """Macros for a liquid: gaps of temperatures with and without a corrector, and the scatter of the energy."""
    result, values = {}, {}
    for key, name in ((PLAIN, "Plain"), (CORRECTED, "Corrected")):
        for dt, gap in liquids.gaps(inputs, "whole", (key,)).items():
            if word := {4.0: "Four", 6.0: "Six"}.get(dt):
                values[name, word] = gap.value
                result[f"studyCorrectorGap{name}{word}"] = decimal(100 * gap.value, 2)
                result[f"studyCorrectorGap{name}{word}Width"] = decimal(100 * (gap.high - gap.low) / 2, 2)
                result[f"studyCorrectorGapPredicted{word}"] = decimal(100 * gap.predicted, 2)
    for word in ("Four", "Six"):
        if ("Plain", word) in values and ("Corrected", word) in values:
            change = values["Corrected", word] - values["Plain", word]
            result[f"studyCorrectorGapClosed{word}"] = decimal(100 * change, 2)
    scatters = [frames.scatter(inputs, key) for key in (PLAIN, CORRECTED)]
    for dt, word in ((2.0, "Two"), (4.0, "Four"), (6.0, "Six")):
        if all(dt in scatter for scatter in scatters):
            result[f"studyCorrectorScatter{word}"] = decimal(scatters[0][dt] / scatters[1][dt], 1)
    return result


def correctors_contacts(inputs: Inputs) -> dict[str, str]:
    """Macros for the energy of colliding chess pieces with a corrector, over that without, from the same states."""
    data = chess_pieces(inputs)
    row = shown_row(data["dt"].values)
    if row is None or not {PLAIN, CORRECTED} <= set(data["integrator"].values):
        return {}
    ratio = ratio_of_means(data, CORRECTED, row, PLAIN)
    values = zip(("", "Low", "High"), (ratio.value, ratio.low, ratio.high), strict=True)
    return {f"studyCorrectorContacts{end}": decimal(x, 2) for end, x in values}
