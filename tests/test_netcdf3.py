"""The encoder and decoder of netCDF-3: the bytes of xarray and scipy, the values of other readers."""

import io

import netCDF4
import numpy as np
import pytest
import xarray as xr
from scipy.io import netcdf_file

import polhode
from polhode import manybody
from polhode.arrays import Arrays
from polhode.study import netcdf3


def everything() -> xr.Dataset:
    """Arrays of every type and shape that is stored, with lengths that need padding."""
    about = {"long_name": "a length, 1 \u00b5m", "units": "m"}
    return xr.Dataset(
        {
            "table": (("row", "axis"), np.array([[1.5, -np.inf, np.nan]] * 5), about),
            "single": ("row", np.arange(5, dtype="float32"), about),
            "flags": ("row", np.array([1, 0, 1, 1, 0], "int8"), about | {"least": -3, "range": [0.5, 1.5], "empty": ""}),
            "short": ("axis", np.array([1, -2, 300], "int16")),
            "numbers": ("row", np.array([2**31 - 1, -(2**31), 0, 7, 8])),
            "yes": ("axis", np.array([True, False, True])),
            "texts": ("row", ["", "a", "four", "\u00e9t\u00e9", "three"]),
            "blank": ("axis", [""] * 3),
            "scalar": ((), 3.0, about),
            "whole": ((), 4),
            "name": ((), "Euler"),
        },
        {
            "axis": ("axis", ["x", "y", "z"], {"long_name": "axis"}),
            "row": ("row", np.linspace(0, 1, 5)),
            "kind": ("row", ["a", "b", "c", "d", "e"]),
            "weight": ("row", np.arange(5.0)),
        },
        {"title": "everything", "dt": 1e-3, "seed": 3, "several": [1.0, 2.0], "flag": True},
    )


def samples() -> dict[str, xr.Dataset]:
    return {
        "everything": everything(),
        "run": polhode.simulate("damped_top", "rk4", 0.25, samples=3).drop_vars("steps"),
        "clumps": manybody.simulate("rods", "euler", 1e-5, t_end=1e-4, samples=2, record=True),
        "no attributes": xr.Dataset({"x": ("t", [1.0, 2.0])}),
        "nothing": xr.Dataset(),
    }


@pytest.fixture(scope="module")
def datasets() -> dict[str, xr.Dataset]:
    return samples()


@pytest.mark.parametrize("name", ["everything", "run", "clumps", "no attributes", "nothing"])
def test_bytes_are_those_of_xarray_and_scipy(datasets, name):
    buffer = io.BytesIO()
    datasets[name].to_netcdf(buffer, engine="scipy", format="NETCDF3_64BIT")
    assert netcdf3.encode(Arrays.of(datasets[name])) == buffer.getvalue()


def test_values_are_those_of_other_readers(datasets):
    data = netcdf3.encode(Arrays.of(datasets["everything"]))
    variables, attributes = netcdf3.decode(data)
    with netcdf_file(io.BytesIO(data), mmap=False) as file:
        assert list(file.variables) == list(variables) and list(file._attributes) == list(attributes)
        for name, found in variables.items():
            there = np.array(file.variables[name].data)
            assert found.dtype.isnative and found.shape == there.shape and found.dtype.kind == there.dtype.kind
            np.testing.assert_array_equal(found, there)
        for name, value in attributes.items():
            np.testing.assert_array_equal(value, file._attributes[name])
    with netCDF4.Dataset("memory", memory=data) as file:
        assert file.data_model == "NETCDF3_64BIT_OFFSET"
        np.testing.assert_array_equal(file["numbers"][:], variables["numbers"])
        np.testing.assert_array_equal(np.ma.filled(file["table"][:], np.nan), variables["table"])
        assert file["texts"][:].tolist() == ["", "a", "four", "\u00e9t\u00e9", "three"]


def test_a_dataset_goes_through_plain_arrays_unchanged(datasets):
    for dataset in datasets.values():
        xr.testing.assert_identical(Arrays.of(dataset).dataset(), dataset)


def test_a_file_cut_anywhere_is_refused(datasets):
    data = netcdf3.encode(Arrays.of(datasets["everything"]))
    for size in range(0, len(data) - 4, 7):
        with pytest.raises((ValueError, KeyError, IndexError, netcdf3.struct.error)):
            netcdf3.decode(data[:size])
    with pytest.raises(ValueError, match="begin"):
        netcdf3.decode(b"CDF\x01" + data[4:])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.array([2**31]), "x does not fit into the whole numbers"),
        (np.array([2**32 - 1], "uint32"), "x does not fit"),
        (np.empty(0), "x has the length 0 along t"),
        (np.array([1j]), "x is of type complex128"),
    ],
)
def test_what_the_format_cannot_hold_is_refused(values, said):
    with pytest.raises(ValueError, match=said):
        netcdf3.encode(Arrays({"x": ("t", values)}, {}, {}))
    with pytest.raises(ValueError, match="y has the length 3 along t"):
        netcdf3.encode(Arrays({"x": ("t", np.zeros(2)), "y": ("t", np.zeros(3))}, {}, {}))
