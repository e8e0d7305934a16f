"""The many-body scenes that the report shows, and the time of a run with a given energy error.

The time is the number of steps that the error requires, times the measured time of a step.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

import numpy as np
import xarray as xr

from polhode.fits.many_body_times import TARGET as TARGET
from polhode.fits.many_body_times import many_body_times
from polhode.fits.seed_statistics import Estimate, ran, ratio_of_means
from polhode_study.inputs import Inputs, NotInRun

#: The scenes in the order of the columns, with the method used as the reference of pairs and the step of the columns, s.
CASES = ("chess", "chess_no_spin")

OTHER, SHOWN_DT = "spiral_leapfrog", 4.85e-6
#: Methods are near the reference if their errors over all steps are within this factor of its errors.
NEAR = 2.0


def shown_row(dt: np.ndarray) -> int | None:
    """The position of the step size that the publication names, within 2 %; None if the study has no such step."""
    row = int(np.argmin(np.abs(np.log(np.asarray(dt) / SHOWN_DT))))
    return row if abs(dt[row] / SHOWN_DT - 1) <= 0.02 else None


#: Names of the scenes in macros.
MACRO_NAMES = {"chess": "Chess", "chess_no_spin": "Still", "rods": "Rods"}
#: The scenes of the publications; those of rods are followed over time.
SCENES = (*CASES, "rods", "rods_states", "rods_half_step")


#: Scenes that only the chapter of contacts shows.
CONTACT_SCENES = ("rods_steps", "eccentric_spheres", "mixed_sizes")


def own_scenes(inputs: Inputs) -> list[str]:
    """The scenes of the run that are not of the publications: those that a user has added."""
    return [case for case in inputs.scenes if case not in (*SCENES, *CONTACT_SCENES)]


def chess_pieces(inputs: Inputs) -> xr.Dataset:
    """Every method on the chess pieces, from the same initial states: the released runs if there are, else those of this run.

    All statements about methods on many bodies, outside the rods, rest on this one set.

    Raises
    ------
    NotInRun
        If there are neither.
    """
    try:
        return inputs.released_many_body(CASES[0])
    except NotInRun:
        return inputs.many_body(CASES[0])


def chess_ratios(inputs: Inputs, keys: Sequence[str]) -> dict[str, Estimate]:
    """The energy errors of colliding chess pieces over those of :data:`OTHER` from the same states, at :data:`SHOWN_DT`.

    Empty if there are none.
    """
    with suppress(NotInRun):
        data = chess_pieces(inputs)
        row = shown_row(data["dt"].values)
        if row is not None and OTHER in data["integrator"].values and data.sizes["seed"] > 1:
            among = [key for key in keys if key in data["integrator"].values and ran(data, key, row)]
            return {key: ratio_of_means(data, key, row, OTHER) for key in among}
    return {}


def common_rows(data: xr.Dataset) -> list[int]:
    """The positions of the step sizes with which every method of a scene runs."""
    keys = list(map(str, data["integrator"].values))
    return [row for row in range(data.sizes["dt"]) if all(ran(data, key, row) for key in keys)]


def read_scenes(read: Callable[[str], xr.Dataset], more: Iterable[str] = ()) -> dict[str, xr.Dataset]:
    """The scenes of the publications, and ``more``, that ``read`` (of :class:`Inputs`) finds, by key."""
    datasets = {}
    for case in (*SCENES, *more):
        with suppress(NotInRun):
            datasets[case] = read(case)
    return datasets


def times_to_level(inputs: Inputs) -> xr.Dataset:
    """Time of a run at the published level: the steps of the released study times the time of a step in this run."""
    timing = inputs.cost("many_body")
    released = {case: data for case, data in read_scenes(inputs.released_many_body).items() if case in CASES}
    if not released:
        raise NotInRun("data/released has no results of the chess pieces")
    return many_body_times(timing, released)
