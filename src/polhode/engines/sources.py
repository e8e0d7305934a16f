"""Where the source of each engine has the step that was identified: file and function, found by reading, cited and not copied."""

#: (engine, start of the option) -> file and function.
SOURCES: dict[tuple[str, str], str] = {
}


def source_of(key: str, option: str) -> str:
    """File and function, empty if not known: the longest entry that the option begins with."""
    fitting = [start for engine, start in SOURCES if engine == key and option.startswith(start)]
    return SOURCES[key, max(fitting, key=len)] if fitting else ""
