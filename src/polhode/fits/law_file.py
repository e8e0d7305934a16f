"""The laws of many bodies in a small file, laws.nc: what a step for a given error needs, without the errors behind it.

The errors of 512 bodies take 80 MB. Nearly all of them lie on the laws ``error per radian = C h^p`` of
:mod:`polhode.fits.laws`, so that two numbers and the growth with time replace a curve; where a curve leaves its law, at large
errors, the file has the measured number of steps over the number by the law (``departure``).

The dimension over methods is called ``integrator``. An error is the larger of the angle (rad) and of the error of the angular
velocity over its scale.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.fits import laws
from polhode.fits.largest_step import BETWEEN, COARSEST, EXTRAPOLATED, NOT_RUN, UNREACHED, round_off
from polhode.interface.arrays import PlainDataset, about

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]

#: The errors per radian at which the departure from the law is kept: closer where curves bend.
TARGETS = (10**-1.5, 1e-2, 10**-2.5, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12)
#: Of each packed variable, the type and the step between two values: of the order, log10 C, the exponent of time, and log10
#: of a factor (0.004: steps are kept to half a percent).
PACKED: dict[str, tuple[str, float]] = {
    "order": ("int16", 0.005),
    "log10_coefficient": ("int16", 0.005),
    "growth": ("int8", 0.025),
    "departure": ("int16", 0.004),
}
#: The positions of steps, -1 where there is none.
PLACES = {
    "finest": "position in step of the finest step of the fit; -1 where there is no law",
    "coarsest": "position in step of the coarsest step of the fit; -1 where there is no law",
    "rounding": "position in step of the coarsest one at which round-off shows; -1 where it does not",
    "stable": "position in step of the largest stable step; -1 where there is none",
}
#: What methods, classes and the draw declare, as far as an answer or a table needs it.
DECLARED = (
    "label",
    "group",
    "place",
    "variant",
    "variant_of",
    "torques_per_step",
    "order_q_declared",
    "order_omega_declared",
    "class_label",
    "class_formula",
    "moments",
    "strength",
    "reference_digits",
)
#: The range of the exponent of time beyond the last time that was run.
SLOWEST_GROWTH, FASTEST_GROWTH = 1.0, 3.0


def condensed(data: "xr.Dataset") -> "xr.Dataset":
    """The laws of a dataset of ensembles.nc, rounded as they are stored.

    Returns
    -------
    A dataset over torque_class, integrator and body (without a coordinate: bodies are counted from 0), in which steps are in
    rad, the initial angular velocity times dt:

    * ``order`` p and ``log10_coefficient``, log10 of C: error per radian at the last time = C step^p; NaN where there is no law
    * ``growth``: the exponent of the radians turned with which the error at a given step grows, the median over the steps of
      the fit; NaN where there is no law
    * the variables :data:`PLACES`: positions in the coordinate ``step`` (ascending), -1 where there is none
    * over the further dimension ``target``, an error per radian: ``how``, as in :func:`polhode.fits.laws.steps_per_radian`, and
      ``departure``, log10 of the steps per radian over the steps by the law (over 1 without a law), zero unless ``how`` is
      ``BETWEEN``
    * over torque_class and integrator: ``order_q`` and ``order_omega``, the orders of both errors, medians over the bodies
    * the variables :data:`DECLARED` as in ``data``, as far as it has them

    Its attribute ``radians`` is the last time in ``data``, in radians turned, for which the laws hold.
    """
    import xarray as xr

    parts = [_condensed(data.isel(torque_class=[i])) for i in range(data.sizes["torque_class"])]
    condensed_laws = xr.concat(parts, "torque_class", coords="minimal", compat="override")
    for name in DECLARED:
        if name in data:
            condensed_laws[name] = data[name].astype("float32") if data[name].dtype == float else data[name]
    # Bodies are numbered from zero, and a law belongs to the last of the times.
    total = float(np.max(data["radians"].values))
    return condensed_laws.drop_vars("body", errors="ignore").assign_attrs(radians=total, radians_units="rad")


def _condensed(data: "xr.Dataset") -> "xr.Dataset":
    import xarray as xr

    laws_of_bodies = laws.laws(data)
    both = laws_of_bodies.sel(quantity="both")
    order = _rounded("order", both["order"].values)
    # Where the curve is: C belongs to the order as it is, and the fit to its middle.
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = 0.5 * (np.log10(both["finest"].values) + np.log10(both["coarsest"].values))
        logarithm = np.log10(both["coefficient"].values) + (both["order"].values - order) * middle
    logarithm = _rounded("log10_coefficient", logarithm)
    measured = laws.steps_per_radian(data, TARGETS, laws_of_bodies)
    steps, how = measured["steps"].values, measured["how"].values
    with np.errstate(divide="ignore", invalid="ignore"):
        departure = np.log10(steps) - _of_law(order, logarithm, np.log10(TARGETS))
    departure = _rounded("departure", np.where(how == BETWEEN, departure, 0.0))
    over = ("torque_class", "integrator", "body")
    step = np.sort(data["step"].values.astype(float))
    with np.errstate(invalid="ignore"):
        places = {
            name: np.where(np.isfinite(x := both[name].values), np.searchsorted(step, 0.999 * x), -1).astype("int8")
            for name in PLACES
        }
    medians = {
        f"order_{name}": (
            over[:2],
            laws.spread(laws_of_bodies["order"].sel(quantity=name).values).median.astype("float32"),
            about(f"order of the error of {text}, the median over the bodies"),
        )
        for name, text in (("q", "the orientation"), ("omega", "the angular velocity"))
    }
    return xr.Dataset(
        {
            "order": (over, order, about("p of the law: error per radian = C step^p")),
            "log10_coefficient": (over, logarithm, about("log10 of C, the error per radian at a step of one radian")),
            "growth": (
                over,
                _rounded("growth", both["growth"].values),
                about("exponent of the radians turned with which the error grows"),
            ),
            **{name: (over, places[name], about(text)) for name, text in PLACES.items()},
            "departure": (
                (*over, "target"),
                departure,
                about("log10 of the steps per radian over the steps by the law, or over 1 where there is none"),
            ),
            "how": (
                (*over, "target"),
                how,
                about(
                    "how the steps per radian are known: 0 not run, 1 between two steps that were run, 2 the coarsest step "
                    "meets the error, 3 from the law below the finest step, 4 not reached"
                ),
            ),
            **medians,
        },
        {
            "torque_class": ("torque_class", data["torque_class"].values, {"long_name": "class of torque"}),
            "integrator": ("integrator", data["integrator"].values, {"long_name": "key of the method"}),
            "step": ("step", step, about("step size in radians: initial angular velocity times dt")),
            "target": ("target", list(TARGETS), about("error per radian: the larger of the angle and the angular velocity")),
        },
    )


def _rounded(name: str, values: ArrayLike) -> Array:
    """Values as they are stored: whole multiples of a step, within the range of their type; NaN stays."""
    kind, unit = PACKED[name]
    most = np.iinfo(kind).max
    return np.asarray(np.clip(np.rint(np.asarray(values, float) / unit), -most, most) * unit)


def unpacked(data: "xr.Dataset") -> "xr.Dataset":
    """The laws in a dataset of :func:`condensed`, as :func:`polhode.fits.laws.laws` has them for the larger error.

    Without the dimension quantity: over torque_class, method and body.
    """
    import xarray as xr

    dims = ("torque_class", "integrator", "body")
    data = data.transpose(*dims, ...)
    order, logarithm, finest = (data[name].values.astype(float) for name in ("order", "log10_coefficient", "finest"))
    step = data["step"].values.astype(float)
    at = {name: np.where(data[name].values < 0, np.nan, step[data[name].values]) for name in PLACES}
    # The line is turned about the middle of its finest steps.
    middle = np.log10(step[np.clip(finest.astype(int) + laws.FEWEST // 2, 0, len(step) - 1)])
    with np.errstate(over="ignore"):
        leading = np.where(finest < 0, np.nan, 10.0 ** (logarithm + (order - np.rint(order)) * middle))
        columns = {"order": order, "coefficient": 10.0**logarithm, "leading": leading, "growth": data["growth"].values, **at}
    laws_of_bodies = xr.Dataset({name: (dims, np.asarray(values, float)) for name, values in columns.items()})
    laws_of_bodies["stable_at_least"] = (dims, at["stable"] == step[-1])
    return laws_of_bodies.assign_coords({name: data[name].values for name in dims[:2]})


def packed(data: "xr.Dataset") -> "xr.Dataset":
    """The dataset of :func:`condensed` with the encodings under which it is written: whole numbers, compressed."""
    data = data.copy()
    for name, variable in data.variables.items():
        if variable.ndim < 2:
            continue
        variable.encoding = {"zlib": True, "complevel": 9, "shuffle": True}
        if name in PACKED:
            kind, unit = PACKED[str(name)]
            variable.encoding |= {"dtype": kind, "scale_factor": unit, "_FillValue": np.iinfo(kind).min}
    return data


def _of_law(order: Array, logarithm: Array, target: ArrayLike) -> Array:
    """log10 of the steps per radian for log10 of errors per radian, (..., target); 0 where there is no law."""
    result = (logarithm[..., None] - np.asarray(target, float)) / order[..., None]
    return np.where(np.isfinite(result), result, 0.0)


def steps_per_radian(data: "xr.Dataset", targets: Sequence[float] = laws.TARGETS, radians: float | None = None) -> "xr.Dataset":
    """The number of steps per radian that keep an error below each target, of every body.

    Parameters
    ----------
    data : from :func:`condensed`, or a file laws.nc
    targets : errors per radian after the time of the laws, ``data.attrs["radians"]``; with ``radians``, errors after so
        many
    radians : the time in radians turned after which the error is meant. Before the time of the laws it counts as the time of
        the laws: in the first radians errors oscillate, and no power of time leads back safely. Beyond, errors grow with the
        median exponent of the method, from :data:`SLOWEST_GROWTH` to :data:`FASTEST_GROWTH`.

    Returns
    -------
    As :func:`polhode.fits.laws.steps_per_radian`.
    """
    import xarray as xr

    steps, how = steps_of_bodies(data, targets, radians)
    over = ("torque_class", "integrator", "body")
    dims = (*over, "target")
    return xr.Dataset(
        {"steps": (dims, steps, {"long_name": "steps per radian"}), "how": (dims, how)},
        {**{name: data[name] for name in over if name in data.coords}, "target": list(targets)},
    )


def steps_of_bodies(
    data: "xr.Dataset | PlainDataset", targets: Sequence[float], radians: float | None = None
) -> tuple[Array, NDArray[np.int8]]:
    """The numbers of :func:`steps_per_radian` as arrays (torque_class, method, body, target): the steps, and how they are
    known.

    Steps are per radian, infinite where the target is not reached and NaN where nothing was run; how they are known is one of
    :data:`~polhode.fits.largest_step.NOT_RUN` to :data:`~polhode.fits.largest_step.UNREACHED`.
    """

    def over_bodies(name: str, *further: str) -> np.ndarray:
        return np.asarray(data[name].transpose("torque_class", "integrator", "body", *further).values)

    order, logarithm = over_bodies("order").astype(float), over_bodies("log10_coefficient").astype(float)
    wanted = np.broadcast_to(np.log10(np.asarray(targets, float)), (*order.shape, len(targets)))
    if radians is not None:
        total = float(data.attrs["radians"])
        exponent = _exponents(over_bodies("growth").astype(float))
        wanted = wanted + (np.log10(total / max(radians, total)) * exponent)[..., None] - np.log10(total)
    grid = np.log10(data["target"].values.astype(float))
    how = over_bodies("how", "target")
    coarsest = -np.log10(float(data["step"].values.max()))
    known = np.where(how == COARSEST, coarsest, _of_law(order, logarithm, grid) + over_bodies("departure", "target"))
    known = np.where(how == UNREACHED, np.inf, np.where(how == NOT_RUN, np.nan, known))
    # The stored errors on either side; one larger than all of them is answered as the largest, which is safe.
    after = (wanted[..., None] < grid - 1e-9).sum(axis=-1)
    beyond = after == len(grid)
    after = np.minimum(after, len(grid) - 1)
    before = np.maximum(after - 1, 0)
    low, high = (np.take_along_axis(known, place, axis=-1) for place in (before, after))
    law = _of_law(order, logarithm, wanted)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        share = np.where(after > before, np.clip((wanted - grid[before]) / (grid[after] - grid[before]), 0.0, 1.0), 1.0)
        steps = np.where(share == 1, high, low + share * (high - low))
        how_known = np.take_along_axis(how, after, axis=-1)
        # Between an error that is reached and one that is not, and below the smallest, the law leads on as far
        # as round-off lets it.
        onward = np.where(beyond, np.isfinite(high), np.isfinite(low) & np.isinf(steps) & (share < 1))
        finest = over_bodies("finest")[..., None]
        possible = (finest == 0) | ((finest > 0) & (law <= -np.log10(float(data["step"].values.min()))))
        possible &= round_off(10.0**-law, 1.0) <= 10.0**wanted
    steps = np.where(onward, np.maximum(law, np.where(beyond, high, low)), steps)
    how_known = np.where(onward, np.where(possible, EXTRAPOLATED, UNREACHED), how_known)
    with np.errstate(over="ignore"):
        steps = np.select([how_known == NOT_RUN, how_known == UNREACHED], [np.nan, np.inf], 10.0**steps)
    return steps, how_known.astype("int8")


def _exponents(growth: Array) -> Array:
    """The exponent of time beyond what was run, (torque_class, method, body): the median one of each method."""
    typical = laws.spread(growth).median
    typical = np.where(np.isfinite(typical), typical, SLOWEST_GROWTH)[..., None]
    return np.broadcast_to(np.clip(typical, SLOWEST_GROWTH, FASTEST_GROWTH), growth.shape)
