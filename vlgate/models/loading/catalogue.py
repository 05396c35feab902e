"""The models that --model can name: the sections of models.toml and the entry points of installed packages.

Find models that installed packages offer as entry points of the group ``vlgate.models``, without importing them.

A package offers a model by two lines in its ``pyproject.toml``::

    [project.entry-points."vlgate.models"]
    my-model = "my_package.vlgate_adapter:build"
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import ModelLoadError, nearest

FILE = Path(__file__).with_name("models.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What may follow the weights as ``?name=value``: one of ``values``, the default first, or a free ``form``."""

    help: str = ""
    values: tuple[str, ...] = ()
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
    """One section of ``models.toml``, which explains the fields."""

    name: str
    build: str
    can: tuple[str, ...]
    files: str = ""
    weights: str = ""
    form: str = ""
    options: Mapping[str, Option] = field(default_factory=dict)
    licence: str = ""
    millions: int | None = None
    packages: tuple[str, ...] = ()
    extra: str = ""
    note: str = ""

    def parsed(self, weights: str) -> tuple[str, Options]:
        """Split what a user wrote after the colon into the weights and the options, whose values are checked."""
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
    """Return the registered models by name.

    >>> registered()["oracle"].build
    'vlgate.models.reference.controls:Oracle'
    """
    sections = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return MappingProxyType({name: _spec(name, sections) for name in sections})


def _spec(name: str, sections: Mapping[str, Any]) -> ModelSpec:
    section = sections[name]
    options = section.get("options", {})
    if isinstance(options, str):  # those of another model
        options = sections[options]["options"]
    known = {option: Option(**_with_tuples(settings)) for option, settings in options.items()}
    return ModelSpec(name=name, **_with_tuples({**section, "options": known}))


def _with_tuples(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in section.items()}


GROUP = "vlgate.models"
_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A model that a package offers: ``target`` is ``package.module:callable``, ``by`` the package and its version."""

    name: str
    target: str
    by: str


def all_offered() -> list[Offered]:
    found = {Offered(name=point.name, target=point.value, by=_by(point)) for point in entry_points(group=GROUP)}
    return sorted(found, key=lambda one: (one.name, one.by, one.target))


def offered(name: str, *, builtin: bool) -> Offered | None:
    """Return the model that a package offers under a name; None if no package does."""
    found = [one for one in all_offered() if one.name == name]
    if not found:
        return None
    packages = " and ".join(one.by for one in found)
    if builtin:
        raise ModelLoadError(
            f"model={name!r} is a model of vlgate, and {packages} offers a model of that name too; uninstall that "
            f"package, ask its authors for another name, or name its model in full: {found[0].target}"
        )
    if len(found) > 1:
        targets = " or ".join(one.target for one in found)
        raise ModelLoadError(f"model={name!r} is offered by {packages}; name one of them in full: {targets}")
    if not _TARGET.fullmatch(found[0].target):
        wrong = f"its entry point is {found[0].target!r}, expected package.module:callable"
        raise ModelLoadError(f"model={name!r} (offered by {packages}): {wrong}; tell its authors")
    return found[0]


def _by(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "an unknown package"


_WEIGHTS = (".safetensors", ".bin", ".pt")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """What is known of one model without loading it; the fields of ``models.toml`` and these.

    ``offered_by`` names the package that offers the model, with its version; it is empty for vlgate itself. ``source``
    is the address of the model card that the facts are from, and ``lacking`` the needed packages that are not
    installed. ``cached`` are the bytes of the default weights in the hub's cache on this machine: 0 if they are not
    there, None if the cache cannot be read.
    """

    name: str
    offered_by: str = ""
    target: str = ""
    can: tuple[str, ...] = ()
    weights: str = ""
    form: str = ""
    licence: str = ""
    millions: int | None = None
    source: str = ""
    extra: str = ""
    lacking: tuple[str, ...] = ()
    cached: int | None = None
    note: str = ""


def catalogue(here: Mapping[str, int] | None) -> list[ModelEntry]:
    """Return all models that can be named, vlgate's own first. Imports none of them and uses no network.

    ``here``: the result of ``cached_weights``.
    """
    own = [_entry(name, here) for name in sorted(registered())]
    theirs = [
        ModelEntry(name=one.name, offered_by=one.by, target=one.target, note=_clash(one.name)) for one in all_offered()
    ]
    return own + theirs


def cached_weights() -> dict[str, int] | None:
    """Return the hub repositories whose weights are cached on this machine, with their bytes; None if unreadable."""
    try:
        from huggingface_hub import CacheNotFound, constants, scan_cache_dir
    except ModuleNotFoundError:
        return None
    try:
        found = scan_cache_dir(constants.HF_HUB_CACHE)
    except CacheNotFound:
        return {}
    except (OSError, ValueError):
        return None
    return {
        repository.repo_id: repository.size_on_disk
        for repository in found.repos
        if repository.repo_type == "model"
        and any(file.file_name.endswith(_WEIGHTS) for revision in repository.revisions for file in revision.files)
    }


def _entry(name: str, here: Mapping[str, int] | None) -> ModelEntry:
    known = registered()[name]
    copied = ("can", "weights", "form", "licence", "millions", "extra", "note")
    return ModelEntry(
        name=name,
        target=known.build,
        source=f"https://huggingface.co/{known.weights}" if known.weights else "",
        lacking=tuple(package for package in known.packages if find_spec(package) is None),
        cached=here.get(known.weights, 0) if known.weights and here is not None else None,
        **{name: getattr(known, name) for name in copied},
    )


def _clash(name: str) -> str:
    if name in registered():
        return "cannot be used: its name is vlgate's own"
    return "" if sum(one.name == name for one in all_offered()) == 1 else "cannot be used: two packages offer it"
