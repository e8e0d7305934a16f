"""Data of the package, in YAML files beside the modules that use them: read strictly, and checked by their dataclasses."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from polhode.interface.reading import WORDS_THAT_ARE_TRUTHS, ConfigurationError, dotted, load_yaml, shown

#: For the dataclasses of pydantic: a key that they do not have is an error.
STRICT = ConfigDict(extra="forbid")

T = TypeVar("T")


def declared(kind: type[T], file: Path, **known: Any) -> T:
    """The contents of a YAML file as an object of this kind.

    Parameters
    ----------
    kind : a dataclass of pydantic
    file : the file
    known : values of fields that are known without the file

    Raises
    ------
    ConfigurationError
        If the file is no YAML, or a key or a value is refused; the message names the file and each of these keys.
    OSError
        If it cannot be read.
    """
    values, hint = load_yaml(file), f"; {WORDS_THAT_ARE_TRUTHS}"
    try:
        return TypeAdapter(kind).validate_python({**values, **known} if known else values)
    except ValidationError as error:
        refused = [
            (dotted(fault["loc"]), fault["msg"].removeprefix("Value error, ") + hint * isinstance(fault["input"], bool))
            for fault in error.errors()
        ]
        raise ConfigurationError("\n".join(f"{shown(file)}: {key}: {message}" for key, message in refused)) from None
