"""The symplectic methods of a run, from the defects of the canonical form in checks/symplecticity.nc."""

import xarray as xr

#: The two readings of (q, Pi) of a method: what it carries, and what it outputs.
READINGS = ("carried", "read")
#: Below this a defect is rounding; the Jacobian of a step is accurate to about 1e-15.
ROUNDING = 1e-12


def symplectic(check: xr.Dataset) -> list[str]:
    """The keys of the methods whose defect is rounding on every problem, at every step, in one of the readings.

    A reading that lacks one of these does not count. ``check``: the dataset, with ``defect`` (no unit) over integrator,
    problem, reading and division, the number of steps.
    """
    largest = check["defect"].max(["problem", "division"], skipna=False).min("reading")
    return [str(key) for key in check["integrator"].values[(largest < ROUNDING).values]]
