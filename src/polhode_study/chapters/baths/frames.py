"""The runs of water in a heat bath, and what linear analysis says of them."""

from contextlib import suppress

import xarray as xr

from polhode.fits.bath_runs import CHAINS, CHECK, RELEASED, BathRuns
from polhode_study.chapters.liquids import frames as liquids
from polhode_study.inputs import Inputs, NotInRun, once

#: The boxes, and the friction in 1/ps at which schemes are compared.
SMALL, LARGE, FRICTION = "water64", "water125", 1.0
#: The inverse of the time of chains of thermostats, 1/ps.
OF_CHAINS = 10.0
#: Schemes in the order of tables, and their names.
SCHEMES = {"BAOAB": "BAOAB", "OBABO": "OBABO", "LAMMPS": "as forces", CHAINS: "chains"}


def dataset(inputs: Inputs) -> xr.Dataset:
    """The runs of this study, or the released ones; :class:`NotInRun` if there are neither."""
    with suppress(NotInRun):
        return inputs.check(CHECK)
    return inputs.released_data(RELEASED)


@once
def runs(inputs: Inputs) -> BathRuns:
    """What :func:`dataset` says of each case."""
    return BathRuns(dataset(inputs))


def rates(inputs: Inputs) -> list[float]:
    """The mean squares of forces and torques as Omega^2 of translation and of rotation, 1/fs^2."""
    return [float(liquids.spectrum(inputs)["rate_squared"].sel(kind=kind)) for kind in ("translation", "rotation")]
