"""The tables of the page on heat baths, from released data: what other codes sample, what they report, and their speed."""

from math import hypot
from pathlib import Path
from statistics import NormalDist

import pandas as pd

from polhode.fits import bath_runs
from polhode.fits.baths import TEMPERATURE
from polhode.fits.liquid_drifts import HEAT_CAPACITY
from polhode.interface.netcdf import read_dataset
from polhode.manybody.units import REAL
from polhode_study.documentation.markdown import table
from polhode_study.workflow.entry import HOME

#: By how much the potential energy of a rigid molecule rises with the temperature: k.
OF_PLACES = 6 * HEAT_CAPACITY - 3
#: The runs to whose potential energy the others are compared.
REFERENCE = {"code": "polhode", "bath": "BAOAB", "dt": 1.0}
#: Half of an interval of 95 % over the standard error of the mean of three (Student).
OF_THREE = 4.30
HEAD = (
    "code, bath",
    "step, fs",
    "the log reports, K",
    "velocities written: translation, K",
    "rotation, K",
    "potential energy above the reference, kT a molecule",
    "so the places have, K",
)


def with_excess(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of ``bath_codes.csv`` with ``excess`` and ``excess_error``: potential energy above the reference, kT a molecule.

    The reference is :data:`REFERENCE` with the same law; each code counts from the potential energy that it has at the start.
    """
    right = (runs[list(REFERENCE)] == pd.Series(REFERENCE)).all(axis=1)
    reference = runs[right].set_index("law")[["potential", "potential_at_start", "potential_error"]]
    of_law, thermal = reference.loc[runs["law"]].reset_index(drop=True), REAL.boltzmann * TEMPERATURE
    above = (runs["potential"] - runs["potential_at_start"]) - (of_law["potential"] - of_law["potential_at_start"])
    errors = [hypot(*pair) / thermal for pair in zip(runs["potential_error"], of_law["potential_error"], strict=True)]
    return runs.assign(excess=above / thermal, excess_error=errors)


def what_codes_sample(folder: Path = HOME / "data/released") -> str:
    """Two tables: what codes sample and report, and their times, from ``bath_codes.csv`` and ``bath_times.csv``."""
    runs = with_excess(pd.read_csv(folder / "bath_codes.csv"))
    # Velocities of OpenMM and GROMACS are older than the places by half a step, in which molecules turn: at these places a
    # share of the rotation is not the motion of a rigid molecule.
    older = runs["code"].isin(["OpenMM", "GROMACS"])
    runs["temperature_rotation"] += 2 * runs["temperature_rest"].where(older, 0.0)
    rows = []
    for _, run in runs.iterrows():
        measured = [f"{run[key]:.1f} ± {run[f'{key}_error']:.1f}" for key in ("reported", *_TEMPERATURES)]
        excess = f"{run['excess']:+.2f} ± {run['excess_error']:.2f}".replace("-", "−")
        places = TEMPERATURE * (1 + run["excess"] / OF_PLACES)
        places_error = TEMPERATURE * run["excess_error"] / OF_PLACES
        is_reference = all(run[key] == value for key, value in REFERENCE.items())
        last = ("reference", "") if is_reference else (excess, f"{places:.0f} ± {places_error:.0f}")
        rows.append((_side(run), f"{run['dt']:g}", *measured, *last))
    boxes = pd.read_csv(folder / "bath_times.csv")
    times = boxes[boxes["molecules"] == boxes["molecules"].min()]
    least = times.set_index(["code", "bath"])["us_per_step"]
    langevin = least["polhode", "BAOAB"]
    time_rows = [
        (_side(side), f"{side['us_per_step']:.0f}", f"{side['us_per_step_most']:.0f}", f"{side['us_per_step'] / langevin:.2g}")
        for _, side in times.iterrows()
    ]
    versions = ", ".join(f"{code} {version}" for code, version in dict(zip(runs["code"], runs["version"], strict=True)).items())
    return "\n\n".join(
        [
            f"{versions}. One run of {runs['duration'].min():g} to {runs['duration'].max():g} ps each, with standard errors "
            "from 20 blocks.",
            table(HEAD, rows),
            f"CPU time of a step of {times['rounds'].iloc[0]} rounds in which the sides took turns, one thread, "
            f"{times['processor'].iloc[0]}, {times['date'].iloc[0]}:",
            table(("code, bath", "least, µs", "most, µs", "least over polhode's BAOAB"), time_rows),
            "At constant energy, in larger boxes of the same density:",
            table(("molecules", "polhode, least, µs", "GROMACS, least, µs", "ratio"), _of_boxes(boxes)),
        ]
    )


def velocity_rescaling(folder: Path = HOME / "data/released") -> str:
    """The table of methods under velocity rescaling, from ``bath_rescaling.csv``, against the truth of the released runs."""
    truth = bath_runs.BathRuns(read_dataset(folder / bath_runs.RELEASED)).truth("water64")
    rows = []
    for _, run in pd.read_csv(folder / "bath_rescaling.csv").iterrows():
        names = [f"{word}{kind}" for word in ("carried_", "") for kind in ("translation", "rotation")]
        temperatures = []
        for value, error in ((run[name], run[f"{name}_error"]) for name in names):
            digits = 1 if error >= 0.1 else 2
            temperatures.append(f"{value:.{digits}f} ± {error:.{digits}f}")
        error = hypot(run["potential_error"], (truth.high - truth.value) / NormalDist().inv_cdf(0.975))
        above = f"{run['potential'] - truth.value:+.2f} ± {error:.2f}".replace("-", "−")
        left = f"{run['left']:.{2 if abs(run['left']) < 100 else 4}g}".replace("-", "−")
        left = left if abs(run["left"]) > OF_THREE * run["left_error"] else "–"
        rows.append((f"`{run['method']}`, {run['dt']:g} fs", *temperatures, above, left))
    head = (
        "method, step",
        "velocities carried: translation, K",
        "rotation, K",
        "at the end of a step: translation, K",
        "rotation, K",
        "potential energy above the truth, kT a molecule",
        "energy that the method makes, kT per degree of freedom and ns",
    )
    return table(head, rows)


def _of_boxes(times: pd.DataFrame) -> list[tuple[str, ...]]:
    """Times of polhode and GROMACS at constant energy, for each number of molecules."""
    least = times[times["bath"] == "none"].pivot_table(index="molecules", columns="code", values="us_per_step")
    return [
        (str(number), f"{row['polhode']:.0f}", f"{row['GROMACS']:.0f}", f"{row['polhode'] / row['GROMACS']:.2g}")
        for number, row in least.iterrows()
    ]


_TEMPERATURES = ("temperature_translation", "temperature_rotation")


def _side(row: pd.Series) -> str:
    """Code and bath, as it is written in an input."""
    bath = "constant energy" if row["bath"] == "none" else f"`{row['bath']}`"
    law = ", reaction field" if row["code"] == "polhode" and row.get("law") == "reaction_field" else ""
    return f"{row['code']} {bath}{law}"
