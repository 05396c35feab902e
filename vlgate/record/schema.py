"""Hold the content of a JSON file against its schema: which key is wrong, and what is left without unknown keys."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import isfinite
from operator import ge, le, lt
from pathlib import Path
from typing import Any

from vlgate.errors import halved, short

_SCHEMAS = Path(__file__).parent
_MOST = 2**63 - 1  # beyond it, neither numpy nor pyarrow takes an integer
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}
_LIMITS = (("minimum", "at least", ge), ("maximum", "at most", le), ("exclusiveMaximum", "below", lt))


@lru_cache(maxsize=8)
def schema_of(file: str) -> Mapping[str, Any]:
    path = _SCHEMAS / f"{file.removesuffix('.json')}.schema.json"
    content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def fitted(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], place: str = "") -> Any:
    """Return a value that fits its schema, without the keys that the schema does not know.

    >>> fitted({"n": 7, "new": 1}, {"properties": {"n": {"minimum": 0}}, "additionalProperties": False}, {})
    {'n': 7}
    """
    # Unknown keys are allowed, whatever additionalProperties says, and left out: a later version may write more. Beyond
    # JSON Schema, integers have at most 64 bits, numbers are finite, and texts hold no half of a surrogate pair.
    schema = _resolved(schema, root)
    problem = next((one for one in (_of_type(value, schema), *_of_range(value, schema)) if one), None)
    if problem is not None:
        raise ValueError(f"{place}={_short(value)} is not {problem}" if place else f"the file is not {problem}")
    kept = value
    if isinstance(value, dict):
        kept = _object(value, schema, root, place)
    elif isinstance(value, list):
        items = schema.get("items", {})
        kept = [fitted(inner, items, root, f"{place}[{number}]") for number, inner in enumerate(value)]
    for part in _applied(value, schema, root):
        fitted(value, part, root, place)
    return kept


def _object(value: Mapping[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], place: str) -> dict[str, Any]:
    others_of = schema.get("dependentRequired", {})
    dependent = [other for given, others in others_of.items() if given in value for other in others]
    for key in (*schema.get("required", ()), *dependent):
        if key not in value:
            raise ValueError(f"{_below(place, key)} is missing")
    if any(key in value for key in schema.get("not", {}).get("required", ())):
        raise ValueError(f"{_below(place, schema['not']['required'][0])} is there, although it does not apply")
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
    names, kept = schema.get("propertyNames"), {}
    for key, inner in value.items():
        given = properties.get(key, others)
        if given is False:
            continue
        if names is not None:
            fitted(key, names, root, f"a key of {place or 'the file'}")
        if halved(key):
            raise ValueError(f"{_below(place, key)} has a key that is not text")
        kept[key] = fitted(inner, given, root, _below(place, key))
    return kept


def _applied(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from schema.get("allOf", ())
    if "if" in schema:
        yield schema.get("then" if _fits(value, schema["if"], root) else "else", {})
    if "anyOf" in schema:
        yield next((one for one in schema["anyOf"] if _fits(value, one, root)), schema["anyOf"][0])


def _fits(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any]) -> bool:
    try:
        fitted(value, schema, root)
    except ValueError:
        return False
    return True


def _of_type(value: Any, schema: Mapping[str, Any]) -> str | None:
    if "const" in schema or "enum" in schema:
        allowed = schema.get("enum", [schema.get("const")])
        if any(value == one and type(value) is type(one) for one in allowed):
            return None
        return f"one of {allowed}" if "enum" in schema else json.dumps(allowed[0])
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    types = tuple(type_ for name in names for type_ in _TYPES[name])
    if not types or (isinstance(value, types) and (bool in types or not isinstance(value, bool))):
        return None
    return " or ".join(f"an {name}" if name[0] in "aio" else name if name == "null" else f"a {name}" for name in names)


def _of_range(value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(value, str):
        if halved(value):
            yield "text"
        if len(value) < schema.get("minLength", 0):
            yield f"a text of at least {schema['minLength']} characters"
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"of the form {schema['pattern']}"
    elif isinstance(value, list) and schema.get("uniqueItems") and len(set(map(repr, value))) < len(value):
        yield "a list of different values"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if not (isfinite(value) if isinstance(value, float) else -_MOST <= value <= _MOST):
            yield "a number of at most 64 bits"
        for word, expected, holds in _LIMITS:
            if word in schema and not holds(value, schema[word]):
                yield f"{expected} {schema[word]}"


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in schema:
        target: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        schema = target
    return schema


def _below(place: str, key: str) -> str:
    return f"{place}.{short(key)}" if place else short(key)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
