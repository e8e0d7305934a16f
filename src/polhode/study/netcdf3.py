"""Small netCDF-3 files, encoded and decoded without a library, whose import would take as long as many short runs.

The format is the classic one with offsets of 64 bits (CDF-2 in the specification of netCDF), without a record dimension. The
bytes are those that xarray writes through scipy, which the tests compare: floating-point numbers have NaN as fill value,
strings are characters along a last dimension, whole numbers have 32 bits, and variables follow each other by descending shape.
"""

import struct
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from polhode.arrays import Arrays, Variable

_MAGIC = b"CDF\x02"
_DIMENSION, _VARIABLE, _ATTRIBUTE = 10, 11, 12
_CHAR = 2
#: Numbers of the types in a file: bytes, characters, whole and floating-point numbers.
_TYPES = {i: np.dtype(kind) for i, kind in enumerate(("i1", "S1", ">i2", ">i4", ">f4", ">f8"), 1)}
_NUMBERS = {kind.str[1:]: number for number, kind in _TYPES.items()}
#: Readers of a whole number, of type and length, and of type, size (which follows from type and shape) and position.
_NUMBER, _PAIR, _PLACE = (struct.Struct(form).unpack_from for form in (">I", ">II", ">IIQ"))
#: Types of arrays that a file lacks, and those that hold their values there.
_NARROWED = {"i8": "i4", "u8": "i4", "u4": "i4", "u2": "i2", "u1": "i1", "b1": "i1"}
#: The values between the end of an array and the next multiple of four bytes.
_FILLS = {"i1": b"\x81", "S1": b"\0", "i2": b"\x80\x01"}


def encode(arrays: Arrays) -> bytes:
    """The bytes of a file.

    Raises
    ------
    ValueError
        If whole numbers do not fit into 32 bits, or if an array is empty or of a type that the format does not have.
    """
    variables = {name: _stored(name, *parts) for name, parts in _with_coordinates(arrays).items()}
    lengths: dict[str, int] = {}
    for name, (dims, values, _) in variables.items():
        for dim, length in zip(dims, values.shape, strict=True):
            if length == 0 or lengths.setdefault(dim, length) != length:
                raise ValueError(f"{name} has the length {length} along {dim}, which netCDF-3 cannot store")
    numbers = {dim: i for i, dim in enumerate(lengths)}
    head = [_MAGIC, _whole(0), *_listed(_DIMENSION, [_text(dim) + _whole(length) for dim, length in lengths.items()])]
    head += [_attributes(arrays.attributes), *_listed(_VARIABLE, [b""] * len(variables))]
    entries, blocks = [], []
    for name in sorted(variables, key=lambda name: variables[name][1].shape, reverse=True):
        dims, values, attributes = variables[name]
        kind = values.dtype.str[1:]
        block = values.astype(values.dtype.newbyteorder(">")).tobytes()
        missing = -len(block) % 4
        blocks.append(block + (_FILLS[kind] * missing)[:missing] if missing else block)
        over = b"".join([_whole(len(dims)), *(_whole(numbers[dim]) for dim in dims)])
        size = min(len(blocks[-1]), 2**32 - 1)
        entries.append(_text(name) + over + _attributes(attributes) + _whole(_NUMBERS[kind]) + _whole(size))
    begin = sum(map(len, head)) + sum(len(entry) + 8 for entry in entries)
    for entry, block in zip(entries, blocks, strict=True):
        head.append(entry + struct.pack(">Q", begin))
        begin += len(block)
    return b"".join([*head, *blocks])


def _with_coordinates(arrays: Arrays) -> dict[str, Variable]:
    """All arrays; those with coordinates that are not named after a dimension name these, as the CF conventions want it."""
    found = arrays.plain()
    beside = sorted(name for name in arrays.coordinates if name not in found[name][0])
    for name, (dims, _, attributes) in found.items():
        own = [other for other in beside if name not in beside and name not in dims and {*found[other][0]} <= {*dims}]
        if own:
            attributes["coordinates"] = " ".join(own)
    return found


def _stored(name: str, dims: tuple[str, ...], values: np.ndarray, attributes: dict[str, Any]) -> Variable:
    """An array as the file holds it, with the attributes that say so."""
    if values.dtype.kind in "OU":
        texts = np.array([str(text).encode() for text in values.ravel()], dtype=bytes).reshape(values.shape)
        length = texts.dtype.itemsize
        return (
            (*dims, f"string{length}"),
            texts.reshape(*values.shape, 1).view("S1"),
            attributes | {"_Encoding": "utf-8"},
        )
    if values.dtype.kind == "f" and "_FillValue" not in attributes:
        attributes = attributes | {"_FillValue": values.dtype.type(np.nan)}
    if values.dtype.kind == "b":
        attributes = attributes | {"dtype": "bool"}
    return dims, _narrowed(name, values), attributes


def _narrowed(name: str, values: np.ndarray) -> np.ndarray:
    kind = values.dtype.str[1:]
    if kind in _NARROWED:
        narrow = values.astype(_NARROWED[kind])
        if not np.array_equal(narrow, values):
            raise ValueError(f"{name} does not fit into the whole numbers of netCDF-3")
        return narrow
    if kind not in _NUMBERS:
        raise ValueError(f"{name} is of type {values.dtype}, which netCDF-3 does not have")
    return values


def _whole(number: int) -> bytes:
    return struct.pack(">I", number)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)


def _text(text: str) -> bytes:
    data = text.encode()
    return _whole(len(data)) + _padded(data)


def _listed(tag: int, entries: Sequence[bytes]) -> list[bytes]:
    return [_whole(tag), _whole(len(entries)), *entries] if entries else [_whole(0), _whole(0)]


def _attributes(attributes: Mapping[str, Any]) -> bytes:
    return b"".join(_listed(_ATTRIBUTE, [_text(name) + _attribute(name, value) for name, value in attributes.items()]))


def _attribute(name: str, value: Any) -> bytes:
    if isinstance(value, str):
        data = value.encode() or b"\0"
        return _whole(_CHAR) + _whole(len(data)) + _padded(data)
    values = _narrowed(name, np.atleast_1d(value))
    data = values.astype(values.dtype.newbyteorder(">")).tobytes()
    return _whole(_NUMBERS[values.dtype.str[1:]]) + _whole(values.size) + _padded(data)


def decode(data: bytes) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and attributes of a file by name; texts among the attributes as bytes, strings as arrays of characters.

    Raises
    ------
    ValueError, KeyError, struct.error
        If this is no complete file of this kind.
    """
    if data[:8] != _MAGIC + b"\0\0\0\0":
        raise ValueError("it does not begin as one")
    place = 8

    def whole() -> int:
        nonlocal place
        place += 4
        found: int = _NUMBER(data, place - 4)[0]
        return found

    def text() -> str:
        nonlocal place
        length = whole()
        begin, place = place, place + length + -length % 4
        return data[begin : begin + length].decode()

    def count(tag: int) -> range:
        nonlocal place
        found, entries = _PAIR(data, place)
        place += 8
        if found != (tag if entries else 0):
            raise ValueError("its header is damaged")
        return range(entries)

    def attribute() -> tuple[str, Any]:
        nonlocal place
        name = text()
        number, length = _PAIR(data, place)
        kind = _TYPES[number]
        begin, size = place + 8, length * kind.itemsize
        place = begin + size + -size % 4
        if kind.char == "S":
            return name, data[begin : begin + length].rstrip(b"\0")
        values = np.frombuffer(data, kind, length, begin).astype(kind.newbyteorder("="))
        return name, values[0] if length == 1 else values

    lengths = [(text(), whole())[1] for _ in count(_DIMENSION)]
    attributes = dict(attribute() for _ in count(_ATTRIBUTE))
    variables = {}
    for _ in count(_VARIABLE):
        name = text()
        shape = tuple([lengths[whole()] for _ in range(whole())])
        for _ in count(_ATTRIBUTE):  # passed over: most of the time of reading a small file would be spent on them
            length = _NUMBER(data, place)[0]
            place += 4 + length + -length % 4
            number, length = _PAIR(data, place)
            size = length * _TYPES[number].itemsize
            place += 8 + size + -size % 4
        number, _, begin = _PLACE(data, place)
        place += 16
        kind = _TYPES[number]
        values = np.frombuffer(data, kind, prod(shape), begin)
        variables[name] = values.astype(kind.newbyteorder("=")).reshape(shape)
    return variables, attributes
