"""Find every error of a thresholds file at once; reading the file stops at the first one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from vlgate.errors import ThresholdsError
from vlgate.gates.thresholds import checked_thresholds, read_thresholds, toml_of
from vlgate.types import Shape


def thresholds_errors(file: Path, tasks: Mapping[str, Shape]) -> list[str]:
    """Return the message of every error in a thresholds file; see ``read_thresholds`` for the arguments.

    Each key of the top level, each default and each gate is checked by itself, then the file as a whole.
    """
    try:
        read_thresholds(file, tasks)
    except ThresholdsError as error:
        whole = str(error)
    else:
        return []
    try:
        _, content = toml_of(file)
    except ThresholdsError:
        return [whole]
    errors: dict[str, None] = {}
    for part in _parts(content):
        try:
            checked_thresholds(file, part, tasks)
        except ThresholdsError as error:
            errors[str(error)] = None
    return list(errors) or [whole]


def _parts(content: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """Yield files with one thing to check each."""
    yield {"schema": content.get("schema")}
    for section, value in content.items():
        if section == "schema":
            continue
        if not isinstance(value, dict):
            yield {"schema": 1, section: value}
            continue
        for name, inner in value.items():
            one = inner if isinstance(inner, dict) and section in {"gate", "limit"} else {name: inner}
            for key, keys in one.items():
                alone = {name: {key: keys}} if one is inner else {name: inner}
                yield {"schema": 1, section: alone}
