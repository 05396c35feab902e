"""Hold the content of a JSON file against its schema, to say which key is wrong before it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def faults(value: object, schema: Mapping[str, Any], root: Mapping[str, Any], place: str) -> Iterator[str]:
    """Yield what is wrong with a value: keys that are missing, and values of another type than the schema's.

    Of JSON Schema these words count: ``$ref``, ``type``, ``enum``, ``required``, ``properties``,
    ``additionalProperties`` and ``items``. Keys that the schema does not know are allowed, so that a later version may
    write more.

    Args:
        value: a value as ``json`` reads it.
        schema: the schema of the value.
        root: the whole schema, in which references are looked up.
        place: the path of the value, for the sentences; empty for the whole file.

    >>> list(faults({"n": "7"}, {"required": ["n"], "properties": {"n": {"type": "integer"}}}, {}, ""))
    ["n='7' is not an integer"]
    >>> list(faults({}, {"required": ["n"]}, {}, "metrics.acc"))
    ['metrics.acc.n is missing']
    """
    schema = _resolved(schema, root)
    if (said := _of_type(value, schema)) is not None:
        yield f"{place}={_short(value)} is not {said}"
    elif isinstance(value, dict):
        for key in schema.get("required", ()):
            if key not in value:
                yield f"{_below(place, key)} is missing"
        known, others = schema.get("properties", {}), schema.get("additionalProperties")
        for key, inner in value.items():
            given = known.get(key, others)
            if isinstance(given, dict):
                yield from faults(inner, given, root, _below(place, key))
    elif isinstance(value, list) and "items" in schema:
        for number, inner in enumerate(value):
            yield from faults(inner, schema["items"], root, f"{place}[{number}]")


def _of_type(value: object, schema: Mapping[str, Any]) -> str | None:
    """The type or the values that the schema names, if this value is not one of them."""
    if "enum" in schema:
        return None if value in schema["enum"] else f"one of {schema['enum']}"
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    types = tuple(one for name in names for one in _TYPES[name])
    if not types or (isinstance(value, types) and (bool in types or not isinstance(value, bool))):
        return None
    return " or ".join(f"an {name}" if name[0] in "aio" else name if name == "null" else f"a {name}" for name in names)


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        found: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema


def _below(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key


def _short(value: object) -> str:
    said = repr(value)
    return said if len(said) <= 40 else f"{said[:40]}..."
