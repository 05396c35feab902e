"""Find checkpoints of transformers: a hub repository or a local folder, and the files in it.

A repository is first downloaded and then loaded as a local folder. So only the files named in ``FILES`` are fetched
(and pickled weights if there are no others), and no code of the repository is run.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError, nearest
from vlgate.models.checkpoints.fingerprint import digest, digest_path
from vlgate.models.checkpoints.missing import missing_package

CONFIG = "config.json"
SAFE = ("model.safetensors", "model.safetensors.index.json")
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json")
FILES = ("*.json", "*.txt", "*.model", "*.jinja", "model.safetensors", "model-*-of-*.safetensors")
_BINS = ("pytorch_model.bin", "pytorch_model-*-of-*.bin")
_READ = (".json", ".txt", ".model", ".jinja", ".safetensors", ".bin")
_REPOSITORY = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")
_FORMS = "expected a hub repository ORG/NAME, ORG/NAME@REVISION for a fixed revision, or a local folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pretrained:
    """The place of a checkpoint.

    ``asked`` is what the user wrote, ``location`` the hub repository (``org/name``) or the path of a local folder, and
    ``revision`` a branch, tag or commit of the repository; None for the newest commit.
    """

    asked: str
    location: str
    revision: str | None
    local: bool


def split_options(weights: str, allowed: Collection[str]) -> tuple[str, dict[str, str]]:
    """Split weights from the options after the question mark; values are not URL-decoded.

    >>> split_options("org/name?regions=vg.tsv&mode=open", ("regions", "mode"))
    ('org/name', {'regions': 'vg.tsv', 'mode': 'open'})

    Raises: ModelLoadError if an option is not allowed (the nearest one is given), has no value or is repeated.
    """
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


def pretrained(weights: str, folder: Path, *, default: str = "") -> Pretrained:
    """Parse the weights of ``--model NAME:WEIGHTS``. Imports nothing and uses no network.

    Args:
        weights: a hub repository or a path. A path begins with ``/``, ``.`` or ``~``, or is an existing folder.
        folder: the folder that the user started in; relative paths begin there.
        default: the repository if ``weights`` is empty.

    Raises: ModelLoadError if there are no weights and no default, or if a path does not exist or is a file.
    """
    asked = weights or default
    if not asked:
        raise ModelLoadError(f"no weights are named after the colon; {_FORMS}")
    path = folder / Path(asked).expanduser()
    if path.is_dir():
        return Pretrained(asked=asked, location=str(path), revision=None, local=True)
    if path.is_file():
        raise ModelLoadError(
            f"weights={asked!r} is a file; name the folder that save_pretrained() wrote, with {CONFIG}"
        )
    repository, _, revision = asked.partition("@")
    if asked.startswith(("/", ".", "~")) or not _REPOSITORY.fullmatch(repository):
        beside = [other.name for other in path.parent.iterdir() if other.is_dir()] if path.parent.is_dir() else []
        hint = nearest(path.name, sorted(beside)) if beside else f"its parent {path.parent} does not exist either"
        raise ModelLoadError(f"weights={asked!r}: there is no folder {path}; {hint}; {_FORMS}")
    return Pretrained(asked=asked, location=repository, revision=revision or None, local=False)


def folder_of(source: Pretrained) -> Path:
    """Return the local folder of a checkpoint; a repository that is not cached yet is downloaded.

    If ``HF_HUB_OFFLINE`` is set, only the hub's cache is searched.

    Raises: ModelLoadError with the files that were looked for, the folders that were searched, and what to do.
    """
    if source.local:
        return Path(source.location)
    try:
        from huggingface_hub import constants
    except ModuleNotFoundError as error:
        raise missing_package(error.name or "huggingface_hub", "hf") from None
    fetch = _in_cache if constants.HF_HUB_OFFLINE else _fetched
    try:
        return fetch(source.location, source.revision, str(constants.HF_HUB_CACHE))
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelLoadError(_not_here(source, constants.HF_HUB_CACHE, constants.HF_HUB_OFFLINE, error)) from error


def _in_cache(location: str, revision: str | None, cache: str) -> Path:
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(location, CONFIG, revision=revision, cache_dir=cache)
    if not isinstance(config, str):
        raise FileNotFoundError(f"{CONFIG} is not in the cache")
    return Path(config).parent


@functools.cache
def _fetched(location: str, revision: str | None, cache: str) -> Path:
    """Download a repository once per process, so that all files are of one commit."""
    from huggingface_hub import snapshot_download

    folder = Path(snapshot_download(location, revision=revision, cache_dir=cache, allow_patterns=list(FILES)))
    if not _holds(folder, SAFE):
        snapshot_download(location, revision=folder.name, cache_dir=cache, allow_patterns=list(_BINS))
    return folder


def _not_here(source: Pretrained, cache: str, offline: bool, error: Exception) -> str:
    why = "HF_HUB_OFFLINE is set" if offline else "the download failed"
    said = " ".join(str(error).split())
    revision = f" --revision {source.revision}" if source.revision else ""
    return (
        f"no checkpoint for {source.asked}: looked for {CONFIG} and {SAFE[0]} of {source.location} in {cache}, and "
        f"{why} ({said}); download it on a machine with a network (hf download {source.location}{revision}) or name "
        "a local folder"
    )


def read_config(source: Pretrained) -> dict[str, Any]:
    """Return the content of a checkpoint's ``config.json``; a repository that is not cached yet is downloaded.

    Raises: ModelLoadError if there is no such file, or if it is not a JSON object.
    """
    file = folder_of(source) / CONFIG
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelLoadError(f"{holdings(file.parent)}; expected {CONFIG} and {SAFE[0]}") from None
    except (OSError, ValueError) as error:
        raise ModelLoadError(f"{file} cannot be read ({error}); save the model again") from error
    if not isinstance(config, dict):
        raise ModelLoadError(f"{file} holds a JSON {type(config).__name__}, expected an object; save the model again")
    return config


def weights_form(folder: Path) -> tuple[str, ...]:
    """Return the kind of weights in a folder: ``SAFE`` (also if both are there) or ``PICKLED``; imports nothing.

    Raises: ModelLoadError if the folder holds no weights, only a PEFT adapter, or a distributed checkpoint (whose
        metadata is a pickle).
    """
    if (folder / ".metadata").exists():
        raise ModelLoadError(f"{folder} is a distributed checkpoint; load it and save it with save_pretrained()")
    for names in (SAFE, PICKLED):
        if _holds(folder, names):
            return names
    if (folder / "adapter_config.json").exists():
        raise ModelLoadError(f"{folder} holds only an adapter; merge it into its base model and save the result")
    raise ModelLoadError(f"{holdings(folder)}; expected one of {', '.join(SAFE + PICKLED)}")


def _holds(folder: Path, names: Collection[str]) -> bool:
    return any((folder / name).is_file() for name in names)


def holdings(folder: Path) -> str:
    """Return a list of the files in a folder, for messages."""
    return f"{folder} holds {', '.join(sorted(file.name for file in folder.iterdir())) or 'nothing'}"


def identity(source: Pretrained) -> str:
    """Return a checkpoint's part of a fingerprint: a hash of a local folder, or the repository and its commit.

    Raises: ModelLoadError if the checkpoint is not on this machine and cannot be downloaded.
    """
    folder = folder_of(source)
    # A folder of the hub's cache is snapshots/COMMIT.
    if not source.local and folder.parent.name == "snapshots":
        return f"{source.location}@{folder.name}"
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.suffix in _READ)
    return digest(*(part for file in files for part in (file.name, digest_path(file))))
