"""Configuration errors in words: file and line, the full key, the allowed values, and the value found."""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from polhode.interface.reading import WORDS_THAT_ARE_TRUTHS, ConfigurationError, Keys, Place, dotted
from polhode.registry import nearest
from polhode_study.configuration.models import LIST, WORD, shown
from polhode_study.configuration.schema import choices, node_at

#: The required type of a value, by its name in the schema.
KINDS = {
    "number": "a number",
    "integer": "a whole number",
    "string": "a string",
    "array": "a list",
    "object": "keys with values of their own",
    "boolean": "true or false",
    "null": "null",
}
#: Bounds: pydantic's name of the error, the name of the bound, its wording.
BOUNDS = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than_equal": ("le", "at most"),
}


def refusal(error: ValidationError, top: Place) -> ConfigurationError:
    """The error for a configuration that pydantic refuses: one line for each fault; ``top`` locates keys in their files."""
    faults = [(tuple(k for k in fault["loc"] if k not in (WORD, LIST)), fault) for fault in error.errors(include_url=False)]
    # pydantic does not count the invalid entries of a list.
    blamed = {path[:length] for path, _ in faults for length in range(len(path))}
    faults = [(path, fault) for path, fault in faults if fault["type"] != "too_short" or path not in blamed]
    lines = sorted((list(map(str, path)), number, line) for number, (path, line) in enumerate(_lines(faults, top)))
    return ConfigurationError("\n".join(dict.fromkeys(line for *_, line in lines)))


def _lines(errors: list[tuple[Keys, Any]], top: Place) -> Iterator[tuple[Keys, str]]:
    """For each error, its location for sorting and its message."""
    lacking: dict[Keys, list[str]] = {}
    for path, error in errors:
        if error["type"] != "missing":
            yield _explain(path, error, top)
        elif isinstance(path[-1], int):  # a list that is too short
            yield path[:-1], _length(path[:-1], error["input"], top)
        else:
            lacking.setdefault(path[:-1], []).append(str(path[-1]))
    for path, keys in lacking.items():
        yield path, f"{top.at(path)} lacks {', '.join(map(repr, keys))}"


def _explain(path: Keys, error: Any, top: Place) -> tuple[Keys, str]:
    place, value, kind = top.at(path), error["input"], error["type"]
    context = error.get("ctx", {})
    node = node_at(path)
    if kind == "extra_forbidden":
        *above, name = path
        allowed = [key for choice in choices(node_at(above)) for key in choice.get("properties", {})]
        said = f"{place.source}: unknown key {name!r} in {dotted(tuple(above))}: {nearest(str(name), allowed)}"
        return tuple(above), said
    if path and path[-1] == "[key]":
        *above, name, _ = path
        about = next(choice["propertyNames"] for choice in choices(node_at(above)) if "propertyNames" in choice)
        return tuple(above), f"{top.at((*above, name)).source}: {dotted(tuple(above))}: {about['description']}; got {name!r}"
    if kind in BOUNDS:
        bound, words = BOUNDS[kind]
        return path, f"{place} must be {words} {shown(context[bound])}, got {brief(value)}"
    if kind in ("too_short", "too_long", "string_too_short"):
        return path, _length(path, value, top)
    if kind == "refused":
        return path, f"{place}{context['what']}"
    if kind == "ladder_of_two_kinds":
        kinds = context["kinds"]
        stand = " and ".join(f"{name} ({(place / name).source})" for name in kinds)
        return path, (
            f"{place} has both {stand}; keep one. Files are merged: to replace one kind by another, write "
            f"{kinds[0]}: null beside it, or give the ladder another name"
        )
    hint = f"; {WORDS_THAT_ARE_TRUTHS}" * isinstance(value, bool)
    if any("const" in choice for choice in choices(node)):  # a word named in the description
        return path, f"{place}: {node['description']}; got {brief(value)}{hint}"
    return path, f"{place} must be {' or '.join(KINDS[choice['type']] for choice in choices(node))}, got {brief(value)}{hint}"


def _length(path: Keys, value: Any, top: Place) -> str:
    """The message for a list or text that is too short or too long."""
    place = top.at(path)
    return f"{place} must be {node_at(path)['description']}; got {brief(value)}" if value else f"{place} must not be empty"


def brief(value: Any) -> str:
    """A value in YAML notation, truncated if long."""
    text = {None: "null", True: "true", False: "false"}[value] if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
