"""Named arrays: what an :class:`xarray.Dataset` holds, without the time that importing xarray takes."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

#: Names of the dimensions, values and attributes of one array.
Variable = tuple[tuple[str, ...], np.ndarray, dict[str, Any]]


def about(long_name: str, units: str = "1") -> dict[str, str]:
    """The attributes of an array: what it is, and its unit in SI notation."""
    return {"long_name": long_name, "units": units}


class Arrays(NamedTuple):
    """The three arguments of :class:`xarray.Dataset`.

    Parameters
    ----------
    variables, coordinates : dict
        Name -> (dimensions, values, attributes), or without the attributes; a single dimension may be a plain name.
    attributes : dict
        Of the whole.
    """

    variables: dict[str, Any]
    coordinates: dict[str, Any]
    attributes: dict[str, Any]

    def dataset(self) -> "xr.Dataset":
        """The dataset of these arrays."""
        import xarray as xr

        return xr.Dataset(*self)

    def plain(self) -> dict[str, Variable]:
        """All arrays by name, first the variables, each with a tuple of dimensions, an array and its own attributes."""
        variables = {}
        for name, (dims, values, *attributes) in {**self.variables, **self.coordinates}.items():
            over = (dims,) if isinstance(dims, str) else tuple(dims)
            variables[name] = over, np.asarray(values), dict(*attributes)
        return variables
