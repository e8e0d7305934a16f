"""Named arrays: what an :class:`xarray.Dataset` holds, without the time that importing xarray takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

#: Names of the dimensions, values and attributes of one array.
Variable = tuple[tuple[str, ...], np.ndarray, dict[str, Any]]


def about(long_name: str, units: str = "1") -> dict[str, str]:
    """The attributes of an array as a dict with two keys: ``long_name``, what it is, and ``units``.

    The unit is in SI notation (``"rad s-1"``; ``"1"`` for a pure number).
    """
    return {"long_name": long_name, "units": units}


@dataclass(frozen=True)
class PlainVariable:
    """One array, of any shape, of a :class:`PlainDataset`, with the names of its dimensions and its attributes by name."""

    dims: tuple[str, ...]
    values: np.ndarray
    attrs: dict[str, Any]

    def transpose(self, *dims: str) -> "PlainVariable":
        """The array with its dimensions in this order; ``dims`` names each of them once."""
        return PlainVariable(dims, self.values.transpose([self.dims.index(name) for name in dims]), self.attrs)

    def take(self, dim: str, places: Sequence[int]) -> "PlainVariable":
        """The array at these places along a dimension, counted from 0; as it is if it has none of this name."""
        return (
            PlainVariable(self.dims, self.values.take(places, self.dims.index(dim)), self.attrs) if dim in self.dims else self
        )


@dataclass(frozen=True)
class PlainDataset:
    """As much of an :class:`xarray.Dataset` as answers need (:func:`polhode.interface.netcdf.read_table`).

    Parameters
    ----------
    variables : dict
        Name -> array; coordinates are among them.
    attrs : dict
        Of the whole.
    """

    variables: dict[str, PlainVariable]
    attrs: dict[str, Any]

    def __getitem__(self, name: str) -> PlainVariable:
        return self.variables[name]

    def __contains__(self, name: object) -> bool:
        return name in self.variables

    @property
    def sizes(self) -> dict[str, int]:
        """Dimension -> size, of all arrays."""
        return {
            dim: size for column in self.variables.values() for dim, size in zip(column.dims, column.values.shape, strict=True)
        }

    def sel(self, **wanted: Sequence[str]) -> "PlainDataset":
        """The table at these values of a coordinate, in their order; an argument has the name of the coordinate.

        Raises
        ------
        KeyError
            If there is no such coordinate, or if it does not have one of the values.
        """
        variables = self.variables
        for dim, keys in wanted.items():
            places = {str(value): i for i, value in enumerate(variables[dim].values)}
            at = [places[key] for key in keys]
            variables = {name: column.take(dim, at) for name, column in variables.items()}
        return PlainDataset(variables, self.attrs)


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
        """The :class:`xarray.Dataset` of these arrays."""
        import xarray as xr

        return xr.Dataset(*self)

    def plain(self) -> dict[str, Variable]:
        """Name -> (dimensions, array, attributes) of all arrays, first the variables; dimensions are a tuple of names."""
        variables = {}
        for name, (dims, values, *attributes) in {**self.variables, **self.coordinates}.items():
            over = (dims,) if isinstance(dims, str) else tuple(dims)
            variables[name] = over, np.asarray(values), dict(*attributes)
        return variables
