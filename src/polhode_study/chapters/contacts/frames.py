"""The scenes of a run and of the released data on which the law of contacts rests."""

from collections.abc import Sequence
from math import isclose

import xarray as xr

from polhode.fits.contact_law import COARSEST, LEAST_STEPS, relative_steps, time_in_contact
from polhode_study.inputs import Inputs, NotInRun


def scenes(inputs: Inputs) -> dict[str, xr.Dataset]:
    """The scenes with enough step sizes, by their names, each from the data with more initial states: released, or of the run.

    The attribute ``released`` says which. Released data that are older than the time in contact take it from another file
    with the same scene, in proportion to the time: it varies by a few per cent between states, and the law has its root. The
    attribute ``contact_states`` is the number of states in which it was measured.

    Raises
    ------
    NotInRun
        If there is none.
    """
    ours = {name: inputs.many_body(name).assign_attrs(released=0) for name in inputs.scenes}
    theirs = {name: inputs.released_many_body(name).assign_attrs(released=1) for name in inputs.released_scenes}
    every = [*theirs.values(), *ours.values()]
    chosen = {}
    for name in dict.fromkeys([*ours, *theirs]):
        both = [source[name] for source in (ours, theirs) if name in source]
        if len(both) == 2 and not _same_scene(*both):
            both = both[:1]
        counted = [data for data in (_counted(data, every) for data in both if _is_resolved(data)) if "contacts" in data]
        if counted:
            chosen[name] = max(counted, key=lambda data: data.sizes["seed"])
    if not chosen:
        raise NotInRun(f"there is no scene of many bodies with {LEAST_STEPS} step sizes below the contact time")
    return chosen


def _is_resolved(data: xr.Dataset) -> bool:
    """Whether a scene was run with enough steps that resolve its contacts."""
    return "contact_time" in data.attrs and int((relative_steps(data) <= COARSEST).sum()) >= LEAST_STEPS


def _same_scene(data: xr.Dataset, other: xr.Dataset) -> bool:
    """Whether two files hold the same bodies with the same speeds; the number of states and the time may differ."""
    numbers = ("clumps", "spin", "box", "speed", "contact_time")
    return data.attrs.get("label") == other.attrs.get("label") and all(
        isclose(data.attrs.get(key, 0.0), other.attrs.get(key, 0.0), rel_tol=1e-6) for key in numbers
    )


def _counted(data: xr.Dataset, every: Sequence[xr.Dataset]) -> xr.Dataset:
    """A scene with its time in contact, which may come from another file; as it is if no file has it."""
    if "contacts" in data:
        return data.assign_attrs(contact_states=data.sizes["seed"])
    others = [other for other in every if "contacts" in other and "horizon" in other.attrs and _same_scene(data, other)]
    if not others or "horizon" not in data.attrs:
        return data
    best = max(others, key=lambda other: other.sizes["seed"])
    count = time_in_contact(best) * float(data.attrs["horizon"]) / float(best.attrs["horizon"])
    return data.assign(contacts=count).assign_attrs(contact_states=best.sizes["seed"])
