"""Data of the package, in YAML files beside the modules that use them: read strictly, and checked by their dataclasses."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from polhode.interface.reading import ConfigurationError, Keys, dotted, load_yaml, shown
from polhode.registry import nearest

T = TypeVar("T")


def declared(kind: type[T], file: Path, **known: Any) -> T:
    """The contents of a file as an object of this kind, with the values that are known without the file.

    Parameters
    ----------
    kind : a dataclass, a mapping or a tuple, of dataclasses, mappings, tuples, literals, numbers and texts

    Raises
    ------
    ConfigurationError
        If the file is no YAML, or a key or a value is refused; the message names the file and the key.
    """
    values = load_yaml(file)
    try:
        return _built(kind, {**values, **known} if known else values, ())  # type: ignore[no-any-return]
    except _RefusedError as error:
        raise ConfigurationError(f"{shown(file)}: {error}") from None


class _RefusedError(ValueError):
    """A key or a value that does not fit."""

    def __init__(self, path: Keys, message: str) -> None:
        super().__init__(f"{dotted(path)}: {message}")


def _built(kind: Any, value: Any, path: Keys) -> Any:
    """The value as an object of a kind; ``path`` leads to it."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _object(kind, _checked(value, dict, path), path)
    if origin is tuple:
        return tuple(_built(arguments[0], item, (*path, i)) for i, item in enumerate(_checked(value, list, path)))
    if origin in (dict, Mapping):
        key_kind, item_kind = arguments
        items = _checked(value, dict, path).items()
        return {_built(key_kind, key, (*path, key)): _built(item_kind, item, (*path, key)) for key, item in items}
    if origin is Literal:
        if value not in arguments:
            *first, last = map(repr, arguments)
            raise _RefusedError(path, f"must be {', '.join(first)} or {last}, got {value!r}")
        return value
    if kind is float and type(value) is int:
        return float(value)
    return _checked(value, kind, path)


def _object(kind: Any, values: dict[str, Any], path: Keys) -> Any:
    hints = get_type_hints(kind)
    for name in values:
        if name not in hints:
            raise _RefusedError((*path, name), f"no such key; {nearest(name, list(hints))}")
    for one in fields(kind):
        if one.name not in values and one.default is MISSING and one.default_factory is MISSING:
            raise _RefusedError((*path, one.name), "is missing")
    built = {name: _built(hints[name], value, (*path, name)) for name, value in values.items()}
    try:
        return kind(**built)
    except ValueError as error:
        raise _RefusedError(path, str(error)) from None


def _checked(value: Any, kind: type, path: Keys) -> Any:
    """The value, if it is of this kind; the truth values are no numbers."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _RefusedError(path, f"must be {_WORDS.get(kind, kind.__name__)}, got {value!r:.80}")
    return value


_WORDS = {
    str: "a text",
    bool: "true or false",
    float: "a number",
    int: "a whole number",
    list: "a list",
    dict: "keys with values",
}
