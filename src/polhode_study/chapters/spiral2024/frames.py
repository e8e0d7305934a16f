"""The step sizes of the publication, read off its error curves as its authors did."""

from polhode.fits.ladders import Ladder, is_published_ladder
from polhode_study.inputs import Inputs


def step_off_the_curve(inputs: Inputs, method: str, target: float) -> float:
    """The dt at which the error curve over the ladder, interpolated linearly in logarithms, meets a target error.

    That is how del Valle et al. (2024) obtain their Table 2 from the data of their Fig. 2, each method in the measure that they
    take for it (``mean_error_as_published``). NaN where it is not met, and on any other ladder than theirs: a line between
    other points is another number.
    """
    ladder = inputs.ladder
    if not is_published_ladder(ladder["dt"].values) or method not in ladder["integrator"].values:
        return float("nan")
    error = ladder["mean_error_as_published"].sel(integrator=method).values
    return Ladder(ladder["dt"].values, error, float(ladder["end_time"].max())).find(target).dt
