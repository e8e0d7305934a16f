"""The JSON schema, the tables of keys and a commented start, generated from the models of the configuration.

``python -m polhode_study.documentation.configuration`` writes the schema again after an edit of the models; a test holds it to
them.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any

import yaml

from polhode_study.configuration.schema import choices, resolved, schema
from polhode_study.documentation.markdown import put, table
from polhode_study.workflow.entry import HOME

#: The schema, for editors: where it lies, and what it begins with.
SCHEMA = Path("workflow/schemas/config.schema.yaml")
HEAD = "# Made from src/polhode_study/configuration/models.py by python -m polhode_study.documentation.configuration\n"
#: Placeholders for names that the user chooses, by the key above them.
NAMES = {"problems": "PROBLEM", "many_body": "SCENE", "dt": "SET"}
#: Kinds of values in words.
WORDS = {"object": "keys", "array": "list", "string": "text", "integer": "whole number", "boolean": "true, false"}
#: Bounds with their signs.
BOUNDS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤"}
#: The study that :func:`start_text` writes: four methods on a top under gravity and on the cylinder of del Valle et al. (2024),
#: whose figures show errors against the step, with plug-ins. Other problems are left out.
START: dict[str, Any] = {
    "results": "results",
    "methods": ["spiral_leapfrog", "fincham1992", "no_squish", "rk4"],
    "checks": [],
    "notebooks": [],
    "cost": None,
    "problems": {
        "spiral_cylinder": {"dt": {"published": None, "fit": {"divisions": [16, 4096, 9]}}, "long_run": None, "targets": None},
        "heavy_top": {"dt": {"fit": {"divisions": [16, 4096, 9]}}, "long_run": None},
    },
    "many_body": None,
    "ensembles": None,
}
#: What stands above it.
START_HEAD = """\
# A study of your own. Start it with: polhode run {name}
# It takes about a minute of processor time, and ends with report.pdf and supplement.pdf in `results`, beside this file.
#
# A key that is not here has its value in config.yaml of polhode, which this file changes. Above each key: what it means, and in
# brackets its values. Keys behind a # show that value where there is one; take the # away to change it.
"""
#: Longest line of it.
WIDTH = 128


def every_key(home: Path = HOME) -> Iterator[tuple[str, str, str, str, str]]:
    """Every key of the configuration: path, kind, whether required, default, meaning.

    A path gives the keys of the file, level by level: ``problems.PROBLEM.dt.SET.values``. The default is that of config.yaml,
    or of the models where that does not have the key.
    """
    yield from _keys(schema(), "", yaml.safe_load((home / "config.yaml").read_text(encoding="utf-8")), required=True)


def _keys(node: Mapping[str, Any], path: str, default: Any, required: bool) -> Iterator[tuple[str, str, str, str, str]]:
    (section,) = [choice for choice in choices(node) if choice.get("type") == "object"][:1] or [{}]
    if path:
        meaning = node.get("description") or section.get("description", "")
        yield path, kind(node), "yes" if required else "no", shown_default(default), meaning
    inside = default if isinstance(default, dict) else {}
    for name, child in section.get("properties", {}).items():
        child = resolved(child)
        value = inside.get(name, child.get("default"))
        yield from _keys(child, f"{path}.{name}" if path else name, value, name in section.get("required", []))
    if isinstance(others := section.get("additionalProperties"), dict):
        yield from _keys(resolved(others), f"{path}.{NAMES[path.rpartition('.')[2]]}", None, False)


def kind(node: Mapping[str, Any]) -> str:
    """The allowed values, in words."""
    others = [choice for choice in choices(node) if choice.get("type") != "null"]
    text = " or ".join(f"`{choice['const']}`" if "const" in choice else _kind(choice) for choice in others)
    return f"{text}; or null" if len(others) < len(choices(node)) else text


def _kind(node: Mapping[str, Any]) -> str:
    limits = [f"{sign} {node[name]:g}" for name, sign in BOUNDS.items() if name in node]
    least, most = node.get("minItems"), node.get("maxItems")
    if most is not None:
        limits.append(f"{most} entries")
    elif least:
        limits.append(f"entries ≥ {least}")
    return ", ".join([WORDS.get(node["type"], node["type"]), *limits])


def shown_default(value: Any) -> str:
    """A default as written in the file; sections show theirs key by key."""
    if value is None or isinstance(value, dict):
        return ""
    text = json.dumps(value)
    return f"`{text}`" if len(text) < 90 else "see `config.yaml`"


def tables(home: Path = HOME) -> str:
    """The keys of the configuration, a table for each section."""
    sections: dict[str, list[tuple[str, ...]]] = {}
    for path, *rest in every_key(home):
        top = path.partition(".")[0]
        section = top if top in ("problems", "many_body", "cost", "limits") else ""
        sections.setdefault(section, []).append((f"`{path}`", *rest))
    titles = {"": "General", "cost": "cost", "limits": "limits", "problems": "problems", "many_body": "many_body"}
    head = ["key", "value", "required", "default", "meaning"]
    return "\n".join(f"## {titles[name]}\n\n{table(head, rows)}" for name, rows in sections.items())


def start_text(name: str, home: Path = HOME) -> str:
    """A commented configuration of a small study with every key, to be saved as ``name``: what ``polhode init`` writes."""
    default = yaml.safe_load((home / "config.yaml").read_text(encoding="utf-8"))
    values = START | {"problems": dict.fromkeys(default["problems"]) | START["problems"]}
    return "\n".join([START_HEAD.format(name=name), *_start_lines(schema(), values, default), ""])


def _start_lines(
    node: Mapping[str, Any], values: Mapping[str, Any], default: Any, above: str = "", commented: bool = False
) -> Iterator[str]:
    """The keys of a section with their meanings: those of ``values``, and the others as comments with their defaults.

    If the section is itself ``commented``, its keys are as they would have to stand, and those without a default are comments.
    """
    (section,) = [choice for choice in choices(node) if choice.get("type") == "object"]
    keys = {name: resolved(child) for name, child in section.get("properties", {}).items()}
    others, default = section.get("additionalProperties"), default if isinstance(default, dict) else {}
    if isinstance(others, dict):
        keys |= dict.fromkeys([*values] or [*default][-1:] or [NAMES[above]], resolved(others))
    for name, child in keys.items():
        sections = [choice for choice in choices(child) if choice.get("type") == "object"]
        required = name in section.get("required", [])
        below, value = default.get(name, child.get("default")), values.get(name)
        if name in section.get("properties", {}):
            meaning = child.get("description") or sections[0].get("description", "")
            words = f"{kind(child)}; required" if required and below is None else kind(child)
            yield from wrap(f"{meaning} [{words}]", WIDTH - 12, initial_indent="# ", subsequent_indent="# ")
        if name in values and not isinstance(value, dict):
            yield f"{name}: {_in_a_line(value)}"
            if not sections or "properties" not in section:
                continue
        live = isinstance(value, dict)
        if sections:
            inside = _start_lines(child, value or {}, below, name, commented=not live)
            lines = [f"{name}:", *(f"  {line}" for line in inside)]
        else:
            lines = [f"{name}:" if below is None else f"{name}: {_in_a_line(below)}"]
        off = not live and not (commented and (required or below is not None or "properties" not in section))
        yield from (f"#{line}" for line in lines) if off else lines


def _in_a_line(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=True, width=10**6).removesuffix("...\n").strip()


def short_table() -> str:
    """The keys at the top level, with their meanings."""
    return table(["key", "meaning"], [(f"`{path}`", meaning) for path, *_, meaning in every_key() if "." not in path])


def write(home: Path = HOME) -> None:
    """Write the schema."""
    put(home / SCHEMA, HEAD + yaml.safe_dump(schema(), sort_keys=False, allow_unicode=True, width=120))


if __name__ == "__main__":
    write()
