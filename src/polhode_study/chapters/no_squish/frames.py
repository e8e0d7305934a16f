"""How much the order of the rotors matters: each order in checks/rotor_order.nc, and the one that methods choose."""

import xarray as xr

#: The name of the order that the methods choose, among the others.
CHOSEN = "chosen"


def chosen(data: xr.Dataset) -> xr.DataArray:
    """The energy error (family, body) of the order with the least score, which the methods take."""
    return data["energy_error"].isel(order=data["score"].argmin("order")).drop_vars("order")


def summary(data: xr.Dataset) -> xr.Dataset:
    """Per family and order, and for the order chosen by score (:data:`CHOSEN`): how it compares with the best of the family.

    Returns
    -------
    ``best`` (share of the bodies for which it is the best), and ``median``, ``p95`` and ``largest`` of the ratio of its energy
    error to that of the best order; ``typical``, the median energy error itself.
    """
    error = xr.concat([data["energy_error"], chosen(data).expand_dims(order=[CHOSEN])], "order")
    ratio = error / data["energy_error"].min("order")
    return xr.Dataset(
        {
            "best": (ratio == 1).mean("body"),
            "median": ratio.median("body"),
            "p95": ratio.quantile(0.95, "body").drop_vars("quantile"),
            "largest": ratio.max("body"),
            "typical": error.median("body"),
        }
    )


def spread(data: xr.Dataset) -> xr.DataArray:
    """The energy error of the worst order over that of the best (family, body)."""
    error = data["energy_error"]
    return error.max("order") / error.min("order")
