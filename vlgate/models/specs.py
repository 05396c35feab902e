"""What ``models.toml`` says of each registered model: how it is built, its default weights, its options."""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import ModelLoadError, nearest

FILE = Path(__file__).parent / "loading" / "models.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    help: str = ""
    values: tuple[str, ...] = ()  # the default first; empty if the value is free
    form: str = ""
    default: str = ""


class Options(dict[str, str]):
    """The options that a user gave; one that was not given reads as its default, empty if it has none."""

    def __init__(self, given: Mapping[str, str], known: Mapping[str, Option]) -> None:
        super().__init__(given)
        self._known = known

    def __missing__(self, name: str) -> str:
        return next(iter(self._known[name].values), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    name: str
    build: str
    can: tuple[str, ...] = ()
    files: str = ""
    classes: Mapping[str, str] = field(default_factory=dict)
    weights: str = ""
    form: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    licence: str = ""
    millions: int | None = None
    packages: tuple[str, ...] = ()
    extra: str = ""
    note: str = ""

    def parsed(self, weights: str) -> tuple[str, Options]:
        rest, given = split_options(weights, self.options)
        for name, value in given.items():
            known = self.options[name].values
            if known and value not in known:
                raise ModelLoadError(f"{name}={value!r}: expected {' or '.join(known)}; {nearest(value, known)}")
        return rest, Options(given, self.options)


def split_options(weights: str, allowed: Collection[str]) -> tuple[str, dict[str, str]]:
    """Split weights from the options after the question mark; values are not URL-decoded."""
    rest, mark, tail = weights.partition("?")
    found: dict[str, str] = {}
    for part in tail.split("&") if mark else ():
        name, _, value = part.partition("=")
        if name not in allowed:
            raise ModelLoadError(f"weights={weights!r}: unknown option {name!r}; {nearest(name, sorted(allowed))}")
        if not value or name in found:
            raise ModelLoadError(
                f"weights={weights!r}: the option {name!r} needs exactly one value; write {name}=VALUE once"
            )
        found[name] = value
    return rest, found


@cache
def registered() -> Mapping[str, ModelSpec]:
    sections = tomllib.loads(FILE.read_text(encoding="utf-8"))
    specs = {}
    for name, section in sections.items():
        options = section.get("options", {})
        if isinstance(options, str):  # those of another model
            options = sections[options]["options"]
        known = {option: Option(**_with_tuples(settings)) for option, settings in options.items()}
        specs[name] = ModelSpec(name=name, **_with_tuples({**section, "options": known}))
    return MappingProxyType(specs)


def _with_tuples(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in section.items()}
