"""The JSON schema of a configuration, made from its models: for editors, the documentation and error messages."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from polhode_study.configuration.models import Configuration


class _Schema(GenerateJsonSchema):
    """A schema without titles, which repeat the keys; name patterns become ``propertyNames``: other names are errors."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        json_schema = super().dict_schema(schema)
        for pattern, values in json_schema.pop("patternProperties", {}).items():
            json_schema["propertyNames"] = {**json_schema.get("propertyNames", {}), "pattern": pattern}
            json_schema["additionalProperties"] = values
        return json_schema


def _without_titles(node: Any) -> Any:
    """The node without titles; models have them too, from the names of their classes."""
    if isinstance(node, dict):
        return {key: _without_titles(value) for key, value in node.items() if not (key == "title" and isinstance(value, str))}
    return [_without_titles(item) for item in node] if isinstance(node, list) else node


@cache
def schema() -> dict[str, Any]:
    """The schema as JSON data."""
    document = Configuration.model_json_schema(schema_generator=_Schema)
    return {"$schema": _Schema.schema_dialect, **_without_titles(document)}


def resolved(node: Mapping[str, Any]) -> dict[str, Any]:
    """A node merged with the one that it refers to; its own entries take precedence."""
    merged = dict(node)
    if "$ref" in merged:
        target = schema()["$defs"][str(merged.pop("$ref")).rpartition("/")[2]]
        merged = {**resolved(target), **merged}
    return merged


def choices(node: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The alternatives of a node, or a list of the node itself."""
    merged = resolved(node)
    return [resolved(choice) for choice in merged.get("anyOf", merged.get("oneOf", [merged]))]


def _below(node: Mapping[str, Any], key: str | int) -> Iterator[dict[str, Any]]:
    for choice in choices(node):
        if isinstance(key, int):
            items = choice.get("prefixItems", [])
            if key < len(items):
                yield resolved(items[key])
            elif isinstance(choice.get("items"), dict):
                yield resolved(choice["items"])
        elif key in choice.get("properties", {}):
            yield resolved(choice["properties"][key])
        elif isinstance(choice.get("additionalProperties"), dict):
            yield resolved(choice["additionalProperties"])


def node_at(path: Iterable[str | int]) -> dict[str, Any]:
    """The node that describes the value at a path of keys; empty if the schema has none."""
    node = resolved(schema())
    for key in path:
        node = next(_below(node, key), {})
    return node
