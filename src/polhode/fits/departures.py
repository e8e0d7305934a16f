"""Comparison of declared and measured orders: orders that are not reached, methods that never stay finite."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr

from polhode.fits.orders import CEILING, TOLERANCE

#: The quantities with an order: name in the files, name in words, the error to which it is fitted.
ORDERED = (("q", "orientation", "q_error_l1"), ("omega", "angular velocity", "omega_error_l1"))
#: Largest number of remarks about one method that get a line each.
MOST = 6


@dataclass(frozen=True)
class Departure:
    """An order that differs from the method's declaration.

    Parameters
    ----------
    problem, torque_class, method, label : str
        Identify the run; the label is that of the method.
    quantity : str
        In words.
    declared : int
        The declared order for the class of torque.
    measured : float
        The measured order; NaN where the error does not decrease with the step.
    """

    problem: str
    torque_class: str
    method: str
    label: str
    quantity: str
    declared: int
    measured: float

    def __str__(self) -> str:
        result = "cannot be fitted (the error stays large at the finest steps)"
        if np.isfinite(self.measured):
            result = f"is {self.measured:.2f}"
        return (
            f"{self.method}: the order of the {self.quantity} {result} on {self.problem} (torque: {self.torque_class}), "
            f"where it declares {self.declared}"
        )


def below(data: xr.Dataset) -> Iterator[Departure]:
    """The orders in a group of single_body.nc that are more than :data:`TOLERANCE` below their declaration, or cannot be
    fitted.

    An order is a number without a unit. One that cannot be fitted counts if the relative error, at the finest step at which it
    is finite, is above :data:`~polhode.fits.orders.CEILING`. A method whose errors are finite at no step has neither, and is
    left out.
    """
    for i, method in enumerate(map(str, data["integrator"].values)):
        for short, quantity, error in ORDERED:
            declared, measured = int(data[f"claimed_{short}_order"].values[i]), float(data[f"{short}_order"].values[i])
            errors = data[error].values[i]
            finite = np.flatnonzero(np.isfinite(errors))
            # Steps ascend. Without a fit an error may be at the round-off floor, which is not a fault.
            lost = not np.isfinite(measured) and finite.size > 0 and errors[finite[0]] > CEILING
            if lost or measured < declared - TOLERANCE:
                label, attrs = str(data["label"].values[i]), data.attrs
                place = str(attrs.get("problem", "")), str(attrs.get("torque_class", ""))
                yield Departure(*place, method, label, quantity, declared, measured)


def above(groups: Iterable[xr.Dataset], methods: Sequence[str]) -> Iterator[Departure]:
    """The orders of ``methods`` above their declaration on every problem of a class, for the problem with the lowest.

    ``groups``: groups of single_body.nc; ``methods``: keys. An order is a number without a unit.
    """
    lowest: dict[tuple[str, str, str], Departure] = {}
    for data in groups:
        problem, torque_class = str(data.attrs.get("problem", "")), str(data.attrs.get("torque_class", ""))
        for i, method in enumerate(map(str, data["integrator"].values)):
            for short, quantity, _ in ORDERED if method in methods else ():
                declared, measured = int(data[f"claimed_{short}_order"].values[i]), float(data[f"{short}_order"].values[i])
                key, label = (torque_class, method, short), str(data["label"].values[i])
                if key not in lowest or not measured > lowest[key].measured:
                    lowest[key] = Departure(problem, torque_class, method, label, quantity, declared, measured)
    return (departure for departure in lowest.values() if departure.measured > departure.declared + TOLERANCE)


def remarks(groups: Mapping[str, xr.Dataset], plugins: Sequence[str]) -> list[str]:
    """Messages for the user when single_body.nc is made: line by line for plug-ins, one line for all other methods.

    Parameters
    ----------
    groups : name of a group -> dataset, made by ``polhode_study.gather.single_body.gather``
    plugins : keys of the user's own methods
    """
    problems = [data for name, data in groups.items() if name.count("/") == 1 and name != "/" and "integrator" in data.coords]
    every = [departure for data in problems for departure in below(data)]
    lines = []
    for key in plugins:
        with_plugin = [data for data in problems if key in data["integrator"].values]
        blown = sum(int(data["diverged"].sel(integrator=key).sum()) for data in with_plugin)
        runs = sum(data.sizes["dt"] for data in with_plugin)
        if runs and blown == runs:
            lines.append(f"{key}: every one of its {runs} runs blew up and is recorded as diverged; see its kernels")
        said = [str(departure) for departure in every if departure.method == key]
        said += [f"{departure}; it may declare more" for departure in above(with_plugin, [key])]
        lines += said[:MOST] + ([f"{key}: and {len(said) - MOST} more of its orders"] if len(said) > MOST else [])
    others = list(dict.fromkeys(departure.method for departure in every if departure.method not in plugins))
    if others:
        lines.append(
            f"measured below their declaration on at least one problem: {', '.join(others)}; with few or coarse steps a fit "
            "may be misleading"
        )
    return lines
