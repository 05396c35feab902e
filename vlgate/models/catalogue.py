"""What each model that can be named is: what it can do, where its weights come from, and whether they are here."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vlgate.models.entry_points import all_offered
from vlgate.models.registered import REGISTRY

FILE = Path(__file__).with_name("catalogue.toml")
_WEIGHTS = (".safetensors", ".bin", ".pt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A model by the name that ``--model`` takes.

    Attributes:
        name: as in ``--model NAME``.
        offered_by: the package that offers it, with its version; empty for vlgate itself.
        target: what builds it.
        ways: what it can do, out of match, encode, answer and perplexity; empty where that is not known.
        weights: the default weights, a hub repository; empty where there are none.
        form: what stands after the colon where there is no default; empty where nothing need be named.
        licence: of the default weights; empty where their card names none.
        millions: of parameters of the default weights; None where that is not known.
        source: the card that this is from.
        extra: which of vlgate's extras brings the packages that it needs.
        lacking: those of the packages that are not installed.
        cached: bytes of the default weights in the hub's cache on this machine; 0 where they are not in it, None where
            it cannot be told.
        note: what else a user must know.
    """

    name: str
    offered_by: str = ""
    target: str = ""
    ways: tuple[str, ...] = ()
    weights: str = ""
    form: str = ""
    licence: str = ""
    millions: int | None = None
    source: str = ""
    extra: str = ""
    lacking: tuple[str, ...] = ()
    cached: int | None = None
    note: str = ""


def catalogue(here: Mapping[str, int] | None) -> list[Entry]:
    """All models that can be named, vlgate's own first; imports none of them, and asks no network.

    Args:
        here: what ``cached_weights`` found.
    """
    own = [_entry(name, here) for name in sorted(REGISTRY)]
    theirs = [
        Entry(name=one.name, offered_by=one.by, target=one.target, note=_clash(one.name)) for one in all_offered()
    ]
    return own + theirs


@cache
def facts() -> Mapping[str, Mapping[str, Any]]:
    """The tables of ``catalogue.toml`` by name, also of names that are not registered."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def cached_weights() -> dict[str, int] | None:
    """The hub repositories whose weights are in this machine's cache, with their bytes; None where nobody can tell."""
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


def _entry(name: str, here: Mapping[str, int] | None) -> Entry:
    known = dict(facts().get(name, {"note": "nothing more is known of it"}))
    needed = known.pop("packages", [])
    weights = known.get("weights", "")
    return Entry(
        name=name,
        target=REGISTRY[name],
        ways=tuple(known.pop("ways", ())),
        lacking=tuple(package for package in needed if find_spec(package) is None),
        cached=here.get(weights, 0) if weights and here is not None else None,
        source=f"https://huggingface.co/{weights}" if weights else "",
        **known,
    )


def _clash(name: str) -> str:
    if name in REGISTRY:
        return "cannot be used: its name is vlgate's own"
    return "" if sum(one.name == name for one in all_offered()) == 1 else "cannot be used: two packages offer it"
