"""The models that --model can name: the sections of models.toml and the entry points of installed packages.

Finds models that installed packages offer as entry points of the group ``vlgate.models``, without importing them.

A package offers a model by two lines in its ``pyproject.toml``::

    [project.entry-points."vlgate.models"]
    my-model = "my_package.vlgate_adapter:build"
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec

from vlgate.errors import ModelLoadError
from vlgate.models.specs import registered

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
    """Return all models that can be named, vlgate's own first. Imports none of them and uses no network."""
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
