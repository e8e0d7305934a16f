"""What the check ``contact_tests`` says: deviations from theory and from exact references, and orders of single cures."""

import numpy as np
import pandas as pd
import xarray as xr

from polhode.study.inputs import Inputs, NotInRun

#: Tests of Chung and Ooi with oblique impacts, and what they are.
OBLIQUE = {
    "4": "sphere on a plane, at angles",
    "5": "sphere on a plane, one normal speed",
    "6": "spinning sphere on a plane",
    "7": "two spheres with opposite spins",
    "8a": "two sizes, the larger stiffer",
    "8b": "two sizes, one stiffness",
}
#: A contact slides throughout where its tangential velocity is that of rigid bodies to this part of the normal velocity.
SLIDES = 0.01


def check(inputs: Inputs) -> xr.Dataset:
    """The check, if the run has its method."""
    data = inputs.check("contact_tests")
    if "sample" not in data.sizes:
        raise NotInRun("this run has not the method of the check contact_tests")
    return data


def deviations(data: xr.Dataset) -> pd.DataFrame:
    """The largest deviation of each quantity of each test, by division: relative, or in units of what the test has at most."""
    rows = []

    def add(test: str, what: str, theory: str, values: xr.DataArray) -> None:
        over = [dim for dim in values.dims if dim != "division"]
        largest = abs(values).max(over)
        by_step = {f"T/{int(n)}": float(largest.sel(division=n)) for n in data["division"].values}
        rows.append({"test": test, "quantity": what, "theory": theory, **by_step})

    for number, kind in (("1", "two spheres, normal, elastic"), ("2", "sphere on a plane, normal, elastic")):
        of_test = data.sel(elastic=[name for name in data["elastic"].values if str(name).startswith(f"test {number}")])
        for name, what in (("duration", "time of contact"), ("force", "largest force")):
            exact = of_test[f"elastic_{name}_exact"]
            add(f"{number}. {kind}", what, "Hertz", of_test[f"elastic_{name}"] / exact - 1)
    add("3. sphere on a plane, normal, damped", "restitution", "asked for", data["restitution"] - data["asked"])
    for test, kind in OBLIQUE.items():
        of_test = data.isel(sample=data["test"].values == test)
        off = of_test["after"] - of_test["after_exact"]
        speed = (of_test["before"].sel(observed=["normal", "tangential"]) ** 2).sum("observed") ** 0.5
        theory = "exact" if test == "7" else "reference"
        size = (off.sel(observed="normal") ** 2 + off.sel(observed="tangential") ** 2) ** 0.5
        add(f"{test}. {kind}", "contact velocity", theory, size / speed)
        spin = abs(of_test["after_exact"].sel(observed="spin")).max()
        add(f"{test}. {kind}", "spin", theory, off.sel(observed="spin") / spin)
    add("linear spring and dashpot", "restitution", "asked for", data["linear_restitution"] - data["asked"])
    add("linear springs that stick", "contact velocity", "closed form", data["stuck"] - data["stuck_exact"])
    return pd.DataFrame(rows)


def rigid(data: xr.Dataset) -> tuple[int, float]:
    """How many oblique impacts slide throughout, and how far they are from rigid bodies, in parts of the normal velocity."""
    off = abs(data["after_exact"].sel(observed="tangential") - data["rigid"]) / data["before"].sel(observed="normal")
    slide = (off < SLIDES) & (data["test"] != "7")
    return int(slide.sum()), float(off.where(slide).max())


def order(errors: xr.DataArray) -> float:
    """The order of an experiment with these errors over ``steps``, from the two shortest steps."""
    coarse, fine = errors.values[-2:]
    steps = errors["steps"].values
    return float(np.log(coarse / fine) / np.log(steps[-1] / steps[-2]))


def orders(data: xr.Dataset) -> dict[str, tuple[float, float]]:
    """The order of the experiment on each cure, with it and without."""
    by_cure = {cure: data["error"].sel(cure=cure) for cure in data["cure"].values}
    return {str(cure): (order(errors[0]), order(errors[1])) for cure, errors in by_cure.items()}


def compliance(data: xr.Dataset) -> float:
    """2 (1 - nu)/(2 - nu), the kappa of :mod:`polhode.study.run.contact_tests`."""
    return float(2 * (1 - data.attrs["poisson"]) / (2 - data.attrs["poisson"]))


def start_of_sliding(data: xr.Dataset, psi: str) -> float:
    """The psi from which on a contact slides throughout: where the curve ``psi`` comes to that of rigid bodies."""
    off = abs(data[psi].values - (data["psi"].values - 7 * compliance(data)))
    return float(data["psi"].values[np.flatnonzero(off > SLIDES)[-1] + 1])
