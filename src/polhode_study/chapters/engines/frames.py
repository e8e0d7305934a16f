"""The engine atlas as it is shown."""

import numpy as np
import xarray as xr

from polhode.fits.ladders import Ladder
from polhode_study.inputs import Inputs

#: Loads and their short names.
LOADS = {"free": "free", "constant": "body", "lab": "lab", "velocity": "friction"}

#: The loads of the short table, and its error of the orientation, rad: the mean over three times up to so many radians.
SHORT_LOADS, SHORT_ERROR, RADIANS = ("free", "lab", "velocity"), 0.01, 9.0

#: Steps in a contact at which the errors of codes are shown.
SHOWN = 40


def distinct(data: xr.Dataset, most: int) -> list[int]:
    """Rows with different methods and, in turn, different ends of the free spin; defaults before other options."""
    order = sorted(
        range(data.sizes["engine"]),
        key=lambda i: (-int(data["is_identified"][i]), -int(data["is_default"][i]), str(data["precision"].values[i]), i),
    )
    seen: set[str] = set()
    by_end: dict[str, list[int]] = {}
    for i in order:
        name = str(data["method_label"].values[i])
        if name not in seen and np.isfinite(data["path"].values[i]).all(axis=1).sum() > 1:
            seen.add(name)
            by_end.setdefault(str(data["end"].values[i]), []).append(i)
    chosen: list[int] = []
    while len(chosen) < most and any(by_end.values()):
        chosen += [rows.pop(0) for rows in by_end.values() if rows]
    return sorted(chosen[:most])


def usual(data: xr.Dataset) -> list[int]:
    """The rows of the defaults and, of engines that have none, one row for each method."""
    keys = list(map(str, data["key"].values))
    labels = list(map(str, data["method_label"].values))
    defaults = [i for i in range(len(keys)) if int(data["is_default"][i])]
    settled = {keys[i] for i in defaults}
    others = {(keys[i], labels[i]): i for i in reversed(range(len(keys))) if keys[i] not in settled}
    return sorted([*defaults, *others.values()])


def steps_for(row: xr.Dataset, load: str) -> float:
    """Steps per radian with which an engine's orientation is right to :data:`SHORT_ERROR`; NaN if no fitted order leads there.

    Never fewer than the coarsest step that was run has.
    """
    error = row["q_error"].sel(load=load).values.astype(float)
    return 1 / Ladder(row["step"].values, error, RADIANS).find(SHORT_ERROR).dt


def contacts(inputs: Inputs) -> xr.Dataset:
    """Impacts in other codes: data/released/contacts.nc, made by ``polhode atlas --contacts``; :class:`NotInRun` as above."""
    return inputs.released_data("contacts.nc")


def liquids(inputs: Inputs) -> xr.Dataset:
    """Liquids in LAMMPS: data/released/liquids_lammps.nc, made by ``polhode atlas lammps --liquids``.

    ``apart`` is the largest difference, over the steps, from the potential energies of this run's check ``liquid_codes``, and
    ``more_kinetic`` by how much the kinetic energy is larger, in the mean.
    :class:`NotInRun` as above.
    """
    data = inputs.released_data("liquids_lammps.nc")
    ours = inputs.check("liquid_codes").sel(integrator=data["integrator"])
    apart = abs(data["potential"] - ours["potential"]).max("step")
    return data.assign(apart=apart, more_kinetic=(data["kinetic"] - ours["kinetic"]).mean("step"))
