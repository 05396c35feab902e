"""The models that --model can name: the sections of models.toml and the entry points of installed packages.

Find models that installed packages offer as entry points of the group ``vlgate.models``, without importing them.

A package offers a model by two lines in its ``pyproject.toml``::

    [project.entry-points."vlgate.models"]
    my-model = "my_package.vlgate_adapter:build"
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from vlgate.errors import ModelLoadError

# Read ``models.toml``, the list of models that ``--model`` takes by name.

FILE = Path(__file__).with_name("models.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredModel:
    """One section of ``models.toml``.

    ``build`` is the ``module:callable`` that builds the model. ``check`` is a function of (weights, folder) that raises
    ModelLoadError before anything is loaded; empty if there is nothing to check. ``files`` is a function of (weights,
    folder, default) that tells what the files hold; see ``contents``. The file explains the other fields.
    """

    build: str
    can: tuple[str, ...]
    check: str = ""
    files: str = ""
    weights: str = ""
    form: str = ""
    licence: str = ""
    millions: int | None = None
    packages: tuple[str, ...] = ()
    extra: str = ""
    note: str = ""


@cache
def registered() -> Mapping[str, RegisteredModel]:
    """Return the registered models by name.

    >>> registered()["oracle"].build
    'vlgate.models.reference.controls:Oracle'
    """
    found = {}
    for name, section in tomllib.loads(FILE.read_text(encoding="utf-8")).items():
        lists = {key: tuple(value) for key, value in section.items() if isinstance(value, list)}
        found[name] = RegisteredModel(**{**section, **lists})
    return MappingProxyType(found)


GROUP = "vlgate.models"
_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A model that a package offers: ``target`` is ``package.module:callable``, ``by`` the package and its version."""

    name: str
    target: str
    by: str


def all_offered() -> list[Offered]:
    """Return all models that installed packages offer, sorted by name, without duplicates."""
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


# List the models that ``--model`` can name: what each can do, its default weights, and whether they are cached.

_WEIGHTS = (".safetensors", ".bin", ".pt")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """What is known of one model without loading it.

    ``name``: the name, as in ``--model NAME``. ``offered_by``: the package that offers the model, with its version;
    empty for vlgate itself. ``target``: the ``module:callable`` that builds the model. ``can``: what the model can do,
    out of match, encode, answer, compare and perplexity; empty if that is not known. ``weights``: the default weights,
    a hub repository; empty if there are none. ``form``: what to write after the colon if there are no default weights;
    empty if nothing is needed. ``licence``: the licence of the default weights; empty if their model card names none.
    ``millions``: parameters of the default weights, in millions; None if that is not known. ``source``: the address of
    the model card that these facts are from. ``extra``: the extra of vlgate that installs the packages that the model
    needs. ``lacking``: the needed packages that are not installed. ``cached``: bytes of the default weights in the
    hub's cache on this machine; 0 if they are not cached, None if the cache cannot be read. ``note``: what else a user
    must know.
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
    return ModelEntry(
        name=name,
        target=known.build,
        can=known.can,
        weights=known.weights,
        form=known.form,
        licence=known.licence,
        millions=known.millions,
        source=f"https://huggingface.co/{known.weights}" if known.weights else "",
        extra=known.extra,
        lacking=tuple(package for package in known.packages if find_spec(package) is None),
        cached=here.get(known.weights, 0) if known.weights and here is not None else None,
        note=known.note,
    )


def _clash(name: str) -> str:
    if name in registered():
        return "cannot be used: its name is vlgate's own"
    return "" if sum(one.name == name for one in all_offered()) == 1 else "cannot be used: two packages offer it"
