"""Find checkpoints of transformers: a hub repository or a local folder, and the files in it.

A repository is first downloaded and then loaded as a local folder. So only the files named in ``FILES`` are fetched,
the shards that an index names (and pickled weights if there are no others), and no code of the repository is run.

A folder may hold a PEFT adapter: beside the weights of its base model, or alone, and then its configuration names the
base model.
"""

import functools
import glob
import json
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError, no_folder
from vlgate.models.checkpoints.fingerprint import digest, digest_path, expanded
from vlgate.models.checkpoints.load_errors import library
from vlgate.models.specs import Options, registered

CONFIG = "config.json"
SAFE = ("model.safetensors", "model.safetensors.index.json")
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
ADAPTER = "adapter_config.json"
ADAPTER_WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")
FILES = (
    "*.json", "*.txt", "*.model", "*.jinja", SAFE[0], "model-*-of-*.safetensors", ADAPTER_WEIGHTS[0],
)  # fmt: skip
_BINS = (PICKLED[0], "pytorch_model-*-of-*.bin", ADAPTER_WEIGHTS[1])
_READ = (".json", ".txt", ".model", ".jinja", ".safetensors", ".bin")
_REPOSITORY = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")
SERVE = "serve it, and name it openai:URL#NAME"
GGUF = f"GGUF is the format of llama.cpp and Ollama, which is not read here: {SERVE}"
_FORMS = "expected a hub repository ORG/NAME, ORG/NAME@REVISION for a fixed revision, or a local folder"
_COMMIT = re.compile(r"[0-9a-f]{7,40}")  # the full name of a commit of git, or its beginning
_SHOWN = 12  # names of a folder in a message
_PARTS = ("preprocessor_config.json", "processor_config.json")
_TEMPLATES = ("chat_template.jinja", "chat_template.json")
_VOCABULARIES = ("tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pretrained:
    asked: str  # what the user wrote
    location: str  # the hub repository (``org/name``) or the path of a local folder
    revision: str | None  # a branch, tag or commit of the repository; None for the newest commit
    local: bool


def requested(name: str, weights: str, folder: Path) -> tuple[Pretrained, Options]:
    spec = registered()[name]
    rest, options = spec.parsed(weights)
    return pretrained(rest, folder, default=spec.weights), options


def pretrained(weights: str, folder: Path, *, default: str = "") -> Pretrained:
    """Parse the weights of ``--model NAME:WEIGHTS``. Imports nothing and uses no network."""
    asked = weights or default
    if not asked:
        raise ModelLoadError(f"no weights are named after the colon; {_FORMS}")
    path = expanded(asked, folder)
    if path.is_dir():
        return Pretrained(asked=asked, location=str(path), revision=None, local=True)
    if path.is_file():
        remedy = GGUF if path.suffix == ".gguf" else f"name the folder that save_pretrained() wrote, with {CONFIG}"
        raise ModelLoadError(f"weights={asked!r} is a file; {remedy}")
    repository, _, revision = asked.partition("@")
    if asked.startswith(("/", ".", "~")) or not _REPOSITORY.fullmatch(repository):
        raise ModelLoadError(f"weights={asked!r}: {no_folder(path)}; {_FORMS}")
    return Pretrained(asked=asked, location=repository, revision=revision or None, local=False)


def folder_of(source: Pretrained) -> Path:
    """Return the local folder of a checkpoint; a repository that is not cached yet is downloaded."""
    if source.local:
        return Path(source.location)
    constants = library("huggingface_hub.constants")
    fetch = _in_cache if constants.HF_HUB_OFFLINE else _fetched
    try:
        return fetch(source.location, _whole_commit(source), str(constants.HF_HUB_CACHE))
    except (OSError, ValueError, RuntimeError) as error:
        why = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else "the download failed"
        revision = f" --revision {source.revision}" if source.revision else ""
        hint = f"; {GGUF}" if "gguf" in source.location.lower() else ""
        raise ModelLoadError(
            f"no checkpoint for {source.asked}: looked for {CONFIG} and {SAFE[0]} of {source.location} in "
            f"{constants.HF_HUB_CACHE}, and {why} ({' '.join(str(error).split())}); download it on a machine with a "
            f"network (hf download {source.location}{revision}) or name a local folder{hint}"
        ) from error


def here(source: Pretrained) -> Path | None:
    """Return the folder of a checkpoint; None for a repository that is not in the cache. Downloads nothing."""
    if source.local:
        return Path(source.location)
    with suppress(OSError, ValueError, ModelLoadError):
        cache = str(library("huggingface_hub.constants").HF_HUB_CACHE)
        return _in_cache(source.location, _whole_commit(source), cache)
    return None


Downloads = Iterator[Callable[[], object]]
"""Functions that each fetch one part of a model, or raise ModelLoadError."""


def downloads(weights: str, folder: Path, *, name: str) -> Downloads:
    """Yield what fetches a checkpoint: the function ``fetch`` of models that need nothing else."""
    source, _ = requested(name, weights, folder)
    yield lambda: weights_form(folder_of(source))


def _whole_commit(source: Pretrained) -> str | None:
    """The full name of the commit in the cache that begins with the revision; else the revision itself."""
    revision = source.revision
    if revision is None or not _COMMIT.fullmatch(revision):
        return revision
    home = _home(source.location, library("huggingface_hub.constants").HF_HUB_CACHE)
    if (home / "refs" / revision).is_file():  # a branch or tag whose name looks like a commit
        return revision
    commits = [name for name in _commits(home) if name.startswith(revision)]
    if len(commits) > 1:
        raise ModelLoadError(
            f"{source.asked}: {len(commits)} commits in {home} begin with {revision!r} ({', '.join(commits)}); write "
            "more letters"
        )
    return commits[0] if commits else revision


def _home(location: str, cache: str) -> Path:
    return Path(cache) / f"models--{location.replace('/', '--')}"


def _commits(home: Path) -> list[str]:
    snapshots = home / "snapshots"
    return sorted(entry.name for entry in snapshots.iterdir() if entry.is_dir()) if snapshots.is_dir() else []


def _in_cache(location: str, revision: str | None, cache: str) -> Path:
    from huggingface_hub import try_to_load_from_cache

    for name in (CONFIG, ADAPTER):
        file = try_to_load_from_cache(location, name, revision=revision, cache_dir=cache)
        if isinstance(file, str):
            return Path(file).parent
    commits = _commits(_home(location, cache))
    if revision and commits:
        raise FileNotFoundError(f"revision {revision!r} is not in the cache, which has {', '.join(commits)}")
    raise FileNotFoundError(f"{CONFIG} is not in the cache")


@functools.cache
def _fetched(location: str, revision: str | None, cache: str) -> Path:
    """Download a repository once per process, so that all files are of one commit."""
    from huggingface_hub import snapshot_download

    folder = Path(snapshot_download(location, revision=revision, cache_dir=cache, allow_patterns=list(FILES)))
    if not _holds(folder, (*SAFE, ADAPTER_WEIGHTS[0])):
        snapshot_download(location, revision=folder.name, cache_dir=cache, allow_patterns=list(_BINS))
    shards = [shard for names in (SAFE, PICKLED) if _holds(folder, names) for shard in _lost_shards(folder, names)]
    if shards:  # an index may give its shards any name
        names = [glob.escape(shard) for shard in shards]
        snapshot_download(location, revision=folder.name, cache_dir=cache, allow_patterns=names)
    return folder


def _shards(index: Path) -> list[str]:
    try:
        files = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
        names = sorted({str(name) for name in files})
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise ModelLoadError(
            f"{index} cannot be read ({type(error).__name__}: {error}); expected the object 'weight_map', from weights "
            "to files; save the model again"
        ) from error
    if not names:
        raise ModelLoadError(f"{index} names no file of weights; save the model again")
    return names


def _lost_shards(folder: Path, names: tuple[str, ...]) -> list[str]:
    single, index = names
    if (folder / single).is_file():
        return []
    return [shard for shard in _shards(folder / index) if not (folder / shard).is_file()]


def shard_paths(folder: Path, form: tuple[str, ...]) -> list[Path]:
    single, index = form
    return [folder / single] if (folder / single).is_file() else [folder / shard for shard in _shards(folder / index)]


def base_of(source: Pretrained) -> Pretrained | None:
    """Return the base model that an adapter is for, if a checkpoint holds nothing but the adapter; else None."""
    folder = folder_of(source)
    if not (folder / ADAPTER).is_file() or _holds(folder, SAFE + PICKLED):
        return None
    settings = _object(folder / ADAPTER)
    name = settings.get("base_model_name_or_path")
    remedy = f"write its folder or repository into {ADAPTER}, or merge the adapter into it and save the result"
    if not isinstance(name, str) or not name:
        raise ModelLoadError(f"{source.asked} holds only an adapter, and its {ADAPTER} names no base model; {remedy}")
    for start in (Path(), folder, folder.parent):
        path = (expanded(name, start)).resolve()
        if path.is_dir() and path != folder.resolve():
            return Pretrained(asked=name, location=str(path), revision=None, local=True)
    if name.startswith(("/", ".", "~")) or not _REPOSITORY.fullmatch(name):
        raise ModelLoadError(
            f"{source.asked} holds only an adapter for {name!r}, and there is no such folder here; {remedy}"
        )
    revision = settings.get("revision")
    return Pretrained(asked=name, location=name, revision=str(revision) if revision else None, local=False)


def weights_of(source: Pretrained) -> Pretrained:
    base = base_of(source)
    if base is None:
        return source
    if (folder_of(base) / ADAPTER).is_file():
        raise ModelLoadError(
            f"{source.asked} is an adapter for {base.asked}, which holds an adapter itself; merge that one into its "
            "base model, save the result, and name it as base model"
        )
    return base


def parts_folder(source: Pretrained, *, tokenizer_only: bool = False) -> Path:
    """Return the folder of the processor: an adapter's own, if it holds all parts, else that of its base model."""
    folder, base = folder_of(source), base_of(source)
    if base is None or (_holds(folder, _VOCABULARIES) and (tokenizer_only or _holds(folder, _PARTS))):
        return folder
    other = folder_of(base)
    own = []
    for name in (*_VOCABULARIES, *_TEMPLATES, *_PARTS):
        mine, its = folder / name, other / name
        if mine.is_file() and (not its.is_file() or mine.read_bytes() != its.read_bytes()):
            own.append(name)
    if own:
        raise ModelLoadError(
            f"the adapter {source.asked} has {' and '.join(own)} of its own, and not all of a processor; save the "
            f"whole processor beside it, or remove {'it' if len(own) == 1 else 'them'} to take that of {base.asked}"
        )
    return other


def read_config(source: Pretrained) -> dict[str, Any]:
    file = folder_of(weights_of(source)) / CONFIG
    if not file.is_file():
        raise ModelLoadError(_nothing(file.parent, f"{CONFIG} and {SAFE[0]}"))
    return _object(file)


def _object(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelLoadError(f"{file} cannot be read ({error}); save the model again") from error
    if not isinstance(content, dict):
        raise ModelLoadError(f"{file} holds a JSON {type(content).__name__}, expected an object; save the model again")
    return content


def weights_form(folder: Path) -> tuple[str, ...]:
    """Return the kind of weights in a folder: ``SAFE`` (also if both are there) or ``PICKLED``; imports nothing."""
    if (folder / ".metadata").exists():
        raise ModelLoadError(f"{folder} is a distributed checkpoint; load it and save it with save_pretrained()")
    if (folder / ADAPTER).is_file():
        # An adapter that cannot be applied is refused: without it, its base model would be judged in its place.
        if not _holds(folder, ADAPTER_WEIGHTS):
            raise ModelLoadError(
                f"{holdings(folder)}; beside {ADAPTER}, expected {' or '.join(ADAPTER_WEIGHTS)}; save the adapter "
                f"again, or remove {ADAPTER} to judge the weights without it"
            )
        if not _version("peft"):
            raise ModelLoadError(
                f"{folder} holds an adapter, and peft, which applies it, is not installed; pip install peft, or merge "
                "the adapter into its base model and save the result"
            )
        here = Pretrained(asked=str(folder), location=str(folder), revision=None, local=True)
        base = weights_of(here)
        if base is not here:
            return weights_form(folder_of(base))
    for names in (SAFE, PICKLED):
        if _holds(folder, names):
            lost = _lost_shards(folder, names)
            if lost:
                some = ", ".join(lost[:3]) + (", ..." if len(lost) > 3 else "")
                count = f"{len(lost)} file{'s' if len(lost) > 1 else ''}"
                raise ModelLoadError(f"{folder} lacks {count} that its {names[1]} names ({some}); copy the rest there")
            return names
    raise ModelLoadError(_nothing(folder, f"one of {', '.join(SAFE + PICKLED)}"))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _nothing(folder: Path, expected: str) -> str:
    hint = f"; {GGUF}" if any(folder.glob("*.gguf")) or "gguf" in str(folder).lower() else ""
    return f"{holdings(folder)}; expected {expected}{hint}"


def _holds(folder: Path, names: Collection[str]) -> bool:
    return any((folder / name).is_file() for name in names)


def holdings(folder: Path) -> str:
    names = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []
    listed = ", ".join(names) if len(names) <= _SHOWN else f"{len(names):,} files and folders"
    return f"{folder} holds {listed or 'nothing'}"


def identity(source: Pretrained) -> str:
    folder = folder_of(source)
    # An adapter adds its base model, if it is elsewhere, and the version of peft, which applies it.
    adapted = ""
    if (folder / ADAPTER).is_file():
        base = weights_of(source)
        adapted = f" {'' if base is source else 'on ' + identity(base) + ' '}with peft {_version('peft')}"
    # A folder of the hub's cache is snapshots/COMMIT.
    if not source.local and folder.parent.name == "snapshots":
        return f"{source.location}@{folder.name}{adapted}"
    names = {file.name for file in folder.iterdir() if file.is_file() and file.suffix in _READ}
    for index in (SAFE[1], PICKLED[1]):  # shards may lie in a folder below
        names |= {shard for shard in _shards(folder / index) if (folder / shard).is_file()} if index in names else set()
    return digest(*(part for name in sorted(names) for part in (name, digest_path(folder / name)))) + adapted
