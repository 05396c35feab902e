"""Parse the weights after ``open_clip:``, and check them against the names that open_clip knows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vlgate.errors import ModelLoadError, nearest

CONFIG = "open_clip_config.json"
# The files of weights that open_clip looks for in a folder, in its order.
IN_FOLDER = ("open_clip_model.safetensors", "open_clip_pytorch_model.safetensors", "open_clip_pytorch_model.bin")
SUFFIXES = (".safetensors", ".bin", ".pt", ".pth")
HUB = "hf-hub:"
LOCAL = "local-dir:"
_FORMS = (
    "ARCH/TAG (ViT-B-32/laion2b_s34b_b79k), ARCH//path/to/weights.safetensors, /path/to/folder, hf-hub:ORG/NAME, "
    "or ARCH/random for an untrained model"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenClipName:
    """A parsed name: ``name`` is the model's name in open_clip, ``tag`` or ``path`` gives its weights."""

    kind: Literal["tag", "file", "folder", "hub", "random"]
    name: str
    tag: str = ""
    path: Path | None = None


def parse(weights: str, folder: Path) -> OpenClipName:
    """Parse the part after ``open_clip:``; imports nothing.

    Args:
        weights: one of ``ARCH/TAG``, ``ARCH//path/to/file``, a folder, ``hf-hub:ORG/NAME`` and ``ARCH/random``.
        folder: the folder that the user started in; relative paths begin there.

    Raises: ModelLoadError if no weights are named, or if a path does not exist.
    """
    if weights.startswith(HUB):
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", weights.removeprefix(HUB)):
            raise ModelLoadError(f"open_clip:{weights} is not a hub repository; expected {HUB}ORG/NAME")
        return OpenClipName(kind="hub", name=weights)
    path = folder / Path(weights.removeprefix(LOCAL)).expanduser()
    if weights.startswith((LOCAL, "/", ".", "~")) or (weights and path.is_dir()):
        _check_folder(path)
        return OpenClipName(kind="folder", name=f"{LOCAL}{path}", path=path)
    arch, _, rest = weights.partition("/")
    if not arch or not rest:
        raise ModelLoadError(
            f"open_clip:{weights} names no weights, and open_clip would make an untrained model that scores at chance; "
            f"expected {_FORMS}"
        )
    if rest == "random":
        return OpenClipName(kind="random", name=arch)
    file = folder / Path(rest).expanduser()
    if rest.startswith(("/", "~")) or rest.endswith(SUFFIXES):
        _check_file(file)
        return OpenClipName(kind="file", name=arch, path=file)
    return OpenClipName(kind="tag", name=arch, tag=rest)


def _check_folder(path: Path) -> None:
    if not path.is_dir():
        raise ModelLoadError(f"open_clip: there is no folder {path}; expected {_FORMS}")
    if not (path / CONFIG).is_file() or not any((path / name).is_file() for name in IN_FOLDER):
        has = ", ".join(sorted(file.name for file in path.iterdir())) or "nothing"
        raise ModelLoadError(
            f"open_clip: the folder {path} holds {has}; expected {CONFIG} and one of {', '.join(IN_FOLDER)}"
        )


def _check_file(file: Path) -> None:
    if not file.is_file():
        beside = sorted(other.name for other in file.parent.iterdir()) if file.parent.is_dir() else []
        raise ModelLoadError(f"open_clip: there is no file {file}; {nearest(file.name, beside)}")
    if file.suffix not in SUFFIXES:
        raise ModelLoadError(
            f"open_clip: the name of {file} must end in one of {', '.join(SUFFIXES)}; convert it to safetensors"
        )


def check_names(source: OpenClipName) -> None:
    """Check the architecture and the tag against open_clip's own lists.

    Raises: ModelLoadError with the nearest name if one is unknown.
    """
    import open_clip

    if source.kind in ("folder", "hub"):
        return
    known = open_clip.list_models()
    if source.name not in known:
        hint = nearest(source.name, known)
        hint = hint if hint.startswith("did you mean") else "open_clip.list_models() lists them"
        raise ModelLoadError(f"open_clip: unknown architecture {source.name!r}; {hint}")
    if source.kind == "tag" and not open_clip.get_pretrained_cfg(source.name, source.tag):
        tags = open_clip.list_pretrained_tags_by_model(source.name)
        raise ModelLoadError(
            f"open_clip: unknown weights {source.tag!r} of {source.name}; {nearest(source.tag, tags)}; "
            f"for a file, write {source.name}//path/to/weights.safetensors"
        )
