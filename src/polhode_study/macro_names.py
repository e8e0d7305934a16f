"""Keys of methods as parts of the names of LaTeX macros, which consist of letters only."""

import re
from collections.abc import Iterable

_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def macro_name(key: str) -> str:
    """A method key as part of a macro name, letters only: ``buss2000_delvalle2024`` -> ``BussPublished``.

    The year of the publication is left out, other digits are spelt.
    """
    parts = [word for word in key.replace("_delvalle2024", "_published").split("_") if word]
    words = [re.sub(r"(19|20)\d\d$", "", word) for word in parts]
    return "".join(re.sub(r"\d", lambda m: _DIGITS[int(m[0])], word[:1].upper() + word[1:]) for word in words)


def check_distinct(keys: Iterable[str]) -> None:
    """Refuse keys whose macros would have the same name: one would replace the numbers of the other in the report.

    Raises
    ------
    ValueError
        Naming both keys and the part of the name that they share.
    """
    seen: dict[str, str] = {}
    for key in keys:
        name = macro_name(key)
        if seen.setdefault(name, key) != key:
            raise ValueError(
                f"the methods {seen[name]!r} and {key!r} would share the names of their numbers in the report (...{name}), "
                "which leave out years and underscores; give your method another key"
            )
