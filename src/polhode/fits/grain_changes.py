"""What a step changes in what is read off grains that settle, collapse or turn in a drum, with one interval for each change.

Each change is from the shortest step with all corrections of the contact update. That a single interval lies below an error is
a test of its change; where all of several do, the statement that every change lies below the error has the confidence of one
test (Berger, Technometrics 24 (1982) 295). So the intervals are not widened for their number, as the report's are, which
ask whether any of many changes is larger than the scatter.
"""

import numpy as np
import xarray as xr

from polhode.fits import seed_statistics


def of_variants(data: xr.Dataset, name: str) -> xr.Variable:
    """The variable ``name`` as an array (division, variant, seed), in its unit, of a bed, column or drum of ``grains.nc``.

    Division is the number of steps in a contact, seed the initial state. There are no coordinates, whose comparison takes
    longer than sums.
    """
    return data.variables[name].transpose("division", "variant", "seed")


def of_methods(data: xr.Dataset, name: str) -> xr.Variable:
    """The array of :func:`of_variants` of the methods of rotation alone, which have all corrections of the contact update."""
    return of_variants(data, name)[:, np.flatnonzero(data["compared"].values == "method")]


def changes(data: xr.Dataset, name: str, code: str | None = None) -> dict[int, seed_statistics.Estimate]:
    """The mean change of what is read off from the shortest step, by steps in a contact, coarsest first.

    Parameters
    ----------
    data : bed, column or drum of ``grains.nc``, or such a check of a run
    name : of the variable that is read off, over variant, division and seed
    code : the code whose contact update is changed to, at the steps with which it was run; without it the methods together

    Returns
    -------
    Means in the unit of what is read off, with Student's intervals over initial states; NaN where a run was lost.
    """
    values, divisions = of_methods(data, name), data["division"].values
    finest, compared = values[-1].mean("variant", skipna=False), values
    if code is None:
        compared, divisions = compared[:-1], divisions[:-1]
    else:
        of_code = of_variants(data, name)[:, np.flatnonzero(data["variant"].values == f"as_in_{code}")]
        ran = np.flatnonzero(np.isfinite(of_code.values).any(axis=(1, 2)))
        compared, divisions = of_code[ran], divisions[ran]
    means = ((of_step - finest).mean("variant", skipna=False).values for of_step in compared)
    return {int(n): seed_statistics.mean(of_states) for n, of_states in zip(divisions, means, strict=True)}
