"""The models that --model can name: the sections of models.toml and the entry points of installed packages.

Nothing is imported. A package offers a model by two lines in its ``pyproject.toml``::

    [project.entry-points."vlgate.models"]
    my-model = "my_package.vlgate_adapter:build"
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.fingerprint import expanded, path_named
from vlgate.models.specs import registered

GROUP = "vlgate.models"
_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    name: str
    target: str  # package.module:callable
    by: str  # the package and its version


def all_offered() -> list[Offered]:
    models = set()
    for point in entry_points(group=GROUP):
        by = f"{point.dist.name} {point.dist.version}" if point.dist is not None else "an unknown package"
        models.add(Offered(name=point.name, target=point.value, by=by))
    return sorted(models, key=lambda model: (model.name, model.by, model.target))


def offered(name: str, *, builtin: bool) -> Offered | None:
    offers = [offer for offer in all_offered() if offer.name == name]
    if not offers:
        return None
    packages, target = " and ".join(offer.by for offer in offers), offers[0].target
    if builtin:
        raise ModelLoadError(
            f"model={name!r} is a model of vlgate, and {packages} offers a model of that name too; uninstall that "
            f"package, ask its authors for another name, or name its model in full: {target}"
        )
    if len(offers) > 1:
        targets = " or ".join(offer.target for offer in offers)
        raise ModelLoadError(f"model={name!r} is offered by {packages}; name one of them in full: {targets}")
    if not _TARGET.fullmatch(target):
        wrong = f"its entry point is {target!r}, expected package.module:callable"
        raise ModelLoadError(f"model={name!r} (offered by {packages}): {wrong}; tell its authors")
    return offers[0]


_WEIGHTS = (".safetensors", ".bin", ".pt")
_REPOSITORY = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*(@[\w.-]+)?")
_SERVED = re.compile(r"(?P<openai>gpt-[345]|chatgpt|o[134](-|$))|claude-|gemini-")  # models without weights to fetch
_WRITES = re.compile(r"instruct|flan|-opt-|llava|conditionalgeneration", re.IGNORECASE)  # models that write text


def family_of(text: str) -> str:
    """Return the registered name that is nearest to a repository, or to the type and classes of a checkpoint."""
    of_hub = {name: spec.weights for name, spec in registered().items() if "transformers" in spec.packages}
    plain = re.sub("[-_.]", "", text.lower())
    near = [] if _WRITES.search(text) else [name for name in of_hub if name.replace("-", "") in plain]
    rest = "masked" if "formaskedlm" in plain else "causal" if re.search("forcausallm|lmhead", plain) else "vlm"
    name = next((name for name, weights in of_hub.items() if weights == text), max(near, key=len, default=rest))
    return f"{name}-vqa" if "forquestionanswering" in plain and f"{name}-vqa" in of_hub else name


def meant(spec: str, folder: Path) -> str:
    """Return what to write for a file, a folder or a repository without the name of a model; empty if it is none."""
    plain = spec.partition("?")[0]
    path = path_named(plain, folder)
    if path is None and (served := _SERVED.match(plain)):
        address = "https://api.openai.com/v1" if served["openai"] else "ADDRESS"
        return f"is asked through a service with OpenAI's API; write --model='openai:{address}#{spec}'"
    if path is None and not _REPOSITORY.fullmatch(plain):
        return f"is not there: {expanded(plain, folder)}" if spec.startswith((".", "/", "~")) else ""
    name = family_of(plain) if path is None else "replay" if path.suffix in {".jsonl", ".parquet"} else ""
    if plain.endswith(_WEIGHTS):
        return f"names no architecture; write --model={shlex.quote(f'open_clip:ARCH/{spec}')}"
    if path is not None and path.is_dir():
        name = "open_clip" if (path / "open_clip_config.json").is_file() else ""
        with suppress(OSError, ValueError, AttributeError):
            content = json.loads((path / "config.json").read_text(encoding="utf-8"))
            name = name or family_of(" ".join(map(str, (content.get("model_type"), content.get("architectures")))))
        modules = [module.stem for module in sorted(path.glob("[!_]*.py"))]
        if not name and modules:
            return f"is a folder of Python files; start in it, and write --model={modules[0]}:build"
    return name and f"names no model; write --model={shlex.quote(f'{name}:{spec}')} (vlgate models lists the names)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    name: str
    offered_by: str = ""  # the package that offers the model, with its version; empty for vlgate itself
    target: str = ""
    can: tuple[str, ...] = ()
    weights: str = ""
    form: str = ""
    licence: str = ""
    millions: int | None = None
    source: str = ""  # the address of the model card
    extra: str = ""
    lacking: tuple[str, ...] = ()  # the needed packages that are not installed
    cached: int | None = None  # bytes of the default weights in the hub's cache; None if that cannot be read
    note: str = ""


def catalogue(here: Mapping[str, int] | None) -> list[ModelEntry]:
    """Return all models that can be named, vlgate's own first. Imports none of them and uses no network."""
    copied = ("can", "weights", "form", "licence", "millions", "extra", "note")
    entries = [
        ModelEntry(
            name=name,
            target=spec.build,
            source=f"https://huggingface.co/{spec.weights}" if spec.weights else "",
            lacking=tuple(package for package in spec.packages if find_spec(package) is None),
            cached=here.get(spec.weights, 0) if spec.weights and here is not None else None,
            **{field: getattr(spec, field) for field in copied},
        )
        for name, spec in sorted(registered().items())
    ]
    offers = all_offered()
    for offer in offers:
        clash = "" if sum(other.name == offer.name for other in offers) == 1 else "two packages offer it"
        clash = "its name is vlgate's own" if offer.name in registered() else clash
        note = clash and f"cannot be used: {clash}"
        entries.append(ModelEntry(name=offer.name, offered_by=offer.by, target=offer.target, note=note))
    return entries


def cached_weights() -> dict[str, int] | None:
    """Return the hub repositories whose weights are cached on this machine, with their bytes; None if unreadable."""
    try:
        from huggingface_hub import CacheNotFound, constants, scan_cache_dir
    except ModuleNotFoundError:
        return None
    try:
        cache = scan_cache_dir(constants.HF_HUB_CACHE)
    except CacheNotFound:
        return {}
    except (OSError, ValueError):
        return None
    return {
        repository.repo_id: repository.size_on_disk
        for repository in cache.repos
        if repository.repo_type == "model"
        and any(file.file_name.endswith(_WEIGHTS) for revision in repository.revisions for file in revision.files)
    }
