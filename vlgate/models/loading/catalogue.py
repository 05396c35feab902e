"""The models that --model can name: the sections of models.toml and the entry points of installed packages.

Nothing is imported. A package offers a model by two lines in its ``pyproject.toml``::

    [project.entry-points."vlgate.models"]
    my-model = "my_package.vlgate_adapter:build"
"""

import fnmatch
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints import hub
from vlgate.models.checkpoints.fingerprint import expanded, path_named
from vlgate.models.specs import ModelSpec, registered

GROUP = "vlgate.models"
_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    name: str
    target: str  # package.module:callable
    by: str  # the package and its version


def all_offered() -> list[Offered]:
    # entry_points() parses the lists of all packages, which takes 3 times as long as a look for this group.
    names = {one.name for one in distributions() if GROUP in (one.read_text("entry_points.txt") or "")}
    packages = map(distribution, filter(None, names))  # of several versions the one that is imported
    models = {
        Offered(name=point.name, target=point.value, by=f"{package.name} {package.version}")
        for package in packages
        for point in package.entry_points.select(group=GROUP)
    }
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


def readers(config: Mapping[str, Any]) -> list[str]:
    """Return the names of the models that read a checkpoint, by its ``config.json``."""
    kind, made = config.get("model_type"), config.get("architectures") or []
    sees = not {"vision", "visual", "image", "img"}.isdisjoint(word for key in config for word in key.split("_"))

    def named(spec: ModelSpec) -> bool:
        return any(of == kind and (cls in made or not made) for cls, of in spec.classes.items())

    def one_of_many(spec: ModelSpec) -> bool:
        alike = any(of == "*" and fnmatch.filter(made, cls) for cls, of in spec.classes.items())
        return alike and sees == ("match" in spec.can)

    specs = registered().values()
    return [spec.name for spec in specs if named(spec)] or [spec.name for spec in specs if one_of_many(spec)]


def _named_like(repository: str) -> str:
    # The model whose name is in that of a repository as a whole word, or as several: metaclip-2 is metaclip2
    words = re.split("[-_]", repository.rpartition("/")[2].lower())
    runs = {"".join(words[start:end]) for end in range(len(words) + 1) for start in range(end)}
    near = [name for name, spec in registered().items() if spec.weights and name.replace("-", "") in runs]
    return max(near, key=len, default="")


def meant(spec: str, folder: Path) -> str:
    """Return what to write for a file, a folder or a repository without the name of a model; empty if it is none."""
    plain = spec.partition("?")[0]
    path = path_named(plain, folder)
    if path is None and (served := _SERVED.match(plain)):
        address = "https://api.openai.com/v1" if served["openai"] else "ADDRESS"
        return f"is asked through a service with OpenAI's API; write --model='openai:{address}#{spec}'"
    if path is None and not _REPOSITORY.fullmatch(plain):
        return f"is not there: {expanded(plain, folder)}" if spec.startswith((".", "/", "~")) else ""
    if plain.endswith(_WEIGHTS):
        return f"names no architecture; write --model={shlex.quote(f'open_clip:ARCH/{spec}')}"
    if path is not None and path.is_file():
        return _to_write(spec, ["replay"]) if path.suffix in {".jsonl", ".parquet"} else ""
    return _meant_checkpoint(spec, plain, folder) if plain else ""


def _meant_checkpoint(spec: str, plain: str, folder: Path) -> str:
    path = expanded(plain, folder)
    if (path / "open_clip_config.json").is_file():
        return _to_write(spec, ["open_clip"])
    with suppress(OSError, ValueError, AttributeError, TypeError, ModelLoadError):
        if (here := hub.here(hub.pretrained(plain, folder))) is not None:
            config = json.loads((here / hub.CONFIG).read_text(encoding="utf-8"))
            names, kind = readers(config), ", ".join(config.get("architectures") or ())
            if kind and not names:
                return f"holds a {kind}, which no registered model reads (vlgate models lists them)"
            return _to_write(spec, names)
    if path.is_dir():
        modules = [module.stem for module in sorted(path.glob("[!_]*.py"))]
        return f"is a folder of Python files; start in it, and write --model={modules[0]}:build" if modules else ""
    repository = plain.partition("@")[0]
    return _to_write(
        spec, [name for name, known in registered().items() if known.weights == repository], _named_like(repository)
    )


def _to_write(spec: str, names: Sequence[str], near: str = "") -> str:
    def command(name: str) -> str:
        return f"--model={shlex.quote(f'{name}:{spec}')}"

    vlm = f"{command('vlm')} if it writes text about images"
    unsure = f"{vlm}, or another name in its place: nothing here tells its kind"
    unsure = f"{command(near)} if it is what its name says, or {vlm}" if near else unsure
    return f"names no model; write {' or '.join(map(command, names)) or unsure} (vlgate models lists the names)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    spec: ModelSpec
    offered_by: str = ""  # the package that offers the model, with its version; empty for vlgate itself
    lacking: tuple[str, ...] = ()  # the needed packages that are not installed
    cached: int | None = None  # bytes of the default weights in the hub's cache; None if that cannot be read

    @property
    def card(self) -> str:
        return f"https://huggingface.co/{self.spec.weights}" if self.spec.weights else ""


def catalogue(here: Mapping[str, int] | None) -> list[ModelEntry]:
    """Return all models that can be named, vlgate's own first. Imports none of them and uses no network."""
    entries = [
        ModelEntry(
            spec=spec,
            lacking=tuple(package for package in spec.packages if find_spec(package) is None),
            cached=here.get(spec.weights, 0) if spec.weights and here is not None else None,
        )
        for _, spec in sorted(registered().items())
    ]
    offers = all_offered()
    for offer in offers:
        clash = "" if sum(other.name == offer.name for other in offers) == 1 else "two packages offer it"
        clash = "its name is vlgate's own" if offer.name in registered() else clash
        note = clash and f"cannot be used: {clash}; write --model={offer.target}"
        entries.append(ModelEntry(spec=ModelSpec(name=offer.name, build=offer.target, note=note), offered_by=offer.by))
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
