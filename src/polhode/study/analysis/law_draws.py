"""How much the laws of a run's random bodies move when there are many more of them: the run against data/released/laws.nc."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from polhode.fits import law_file, laws
from polhode.study.analysis import law_frames
from polhode.study.analysis.law_frames import TARGET, EnsembleLaws

Array = NDArray[np.float64]


def coefficients(data: xr.Dataset) -> xr.DataArray:
    """The median over the bodies of C with the order rounded to a whole number, (torque_class, method); NaN without a law.

    The line of a law is turned about the middle of its three finest steps, as in ``leading`` of
    :func:`polhode.fits.laws.laws`.

    Parameters
    ----------
    data : from :func:`polhode.fits.law_file.condensed`, or a file laws.nc
    """
    leading = law_file.unpacked(data)["leading"]
    return xr.DataArray(laws.spread(leading.values).median, leading.isel(body=0).coords, leading.dims[:2])


def verdicts(work: Array) -> NDArray[np.int8]:
    """Which of two methods is better, for all pairs of them: 1 the first, -1 the second, 0 if the interval contains 1.

    Parameters
    ----------
    work : (method, body)
        Torques per radian.

    Returns
    -------
    (pair,), in the order of ``numpy.triu_indices(methods, 1)``
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.log(work)
        first, second = np.triu_indices(len(work), 1)
        ratio = logarithm[second] - logarithm[first]
    _, low, high = laws.interval(ratio)
    return np.where(low > 0, 1, np.where(high < 0, -1, 0)).astype("int8")


def compared(ens: EnsembleLaws, data: xr.Dataset) -> pd.DataFrame:
    """The laws of the run against the released ones, a row for each class of torque that both have.

    Returns
    -------
    Columns: torque_class; ratio, least, most (the median over the bodies of C in the run over that of the released bodies: the
    median, smallest and largest over the methods); methods (how many have both); pairs of methods with one torque a step; told
    (those of which the run calls one better, at an error of :data:`~polhode.study.analysis.law_frames.TARGET` per radian);
    and of these same, open and opposite (what the released bodies say).
    """
    shared = [key for key in ens.methods if key in data["integrator"].values]
    classes = [name for name in ens.classes if name in data["torque_class"].values]
    many = data.sel({"integrator": shared, "torque_class": classes})
    few = law_file.condensed(ens.data.sel({"integrator": shared, "torque_class": classes}))
    moved = coefficients(few) / coefficients(many)
    steps = law_file.steps_per_radian(many, [TARGET])["steps"].isel(target=0).values
    single = law_frames.one_torque(ens) & ens.recommendable & np.isin(ens.methods, shared)
    chosen = [shared.index(key) for key, is_single in zip(ens.methods, single, strict=True) if is_single]
    rows: list[dict[str, Any]] = []
    for i, name in enumerate(classes):
        ratios = moved.sel(torque_class=name).values
        ratios = ratios[np.isfinite(ratios)]
        ours = verdicts(ens.steps_of([ens.classes.index(name)])[single, 0])
        theirs = verdicts(steps[i][chosen])
        decided = ours != 0
        rows.append(
            {
                "torque_class": name,
                "ratio": float(np.median(ratios)) if ratios.size else np.nan,
                "least": float(ratios.min()) if ratios.size else np.nan,
                "most": float(ratios.max()) if ratios.size else np.nan,
                "methods": ratios.size,
                "pairs": ours.size,
                "told": int(decided.sum()),
                "same": int((decided & (theirs == ours)).sum()),
                "open": int((decided & (theirs == 0)).sum()),
                "opposite": int((decided & (theirs == -ours)).sum()),
            }
        )
    return pd.DataFrame(rows)
