"""Packages that ``pip install polhode`` does not bring: they belong to an extra, and whatever needs one says which."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any


class ExtraMissingError(ImportError):
    """Error for packages that are not installed; the message says how to install them."""


def require(*packages: str, what: str, extra: str = "study") -> None:
    """Refuse to go on without some packages.

    Parameters
    ----------
    packages : names under which they are imported
    what : what needs them, in words
    extra : of polhode, which brings them

    Raises
    ------
    ExtraMissingError
        Naming those that are not installed, and the extra.
    """
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise ExtraMissingError(
            f"{what} needs polhode[{extra}]: pip install 'polhode[{extra}]' (not installed: {', '.join(missing)})"
        )


def load(package: str, what: str, extra: str = "study") -> Any:
    """A package, imported by its name, that belongs to an ``extra`` of polhode; ``what`` needs it, in words.

    Raises
    ------
    ExtraMissingError
        If it is not installed; the message names the extra.
    """
    require(package, what=what, extra=extra)
    return import_module(package)
