"""List the models that ``--model`` can name: what each can do, its default weights, and whether they are cached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from vlgate.models.loading.entry_points import all_offered
from vlgate.models.loading.registered import registered

_WEIGHTS = (".safetensors", ".bin", ".pt")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """What is known of one model without loading it.

    Attributes:
        name: the name, as in ``--model NAME``.
        offered_by: the package that offers the model, with its version; empty for vlgate itself.
        target: the ``module:callable`` that builds the model.
        can: what the model can do, out of match, encode, answer, compare and perplexity; empty if that is not known.
        weights: the default weights, a hub repository; empty if there are none.
        form: what to write after the colon if there are no default weights; empty if nothing is needed.
        licence: the licence of the default weights; empty if their model card names none.
        millions: parameters of the default weights, in millions; None if that is not known.
        source: the address of the model card that these facts are from.
        extra: the extra of vlgate that installs the packages that the model needs.
        lacking: the needed packages that are not installed.
        cached: bytes of the default weights in the hub's cache on this machine; 0 if they are not cached, None if the
            cache cannot be read.
        note: what else a user must know.
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

    Args:
        here: the result of ``cached_weights``.
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
