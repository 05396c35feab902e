"""What stands after ``open_clip:``, and whether open_clip knows it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from vlgate.errors import ModelLoadError, nearest

CONFIG = "open_clip_config.json"
# The first files that open_clip itself looks for in a folder, in its order.
IN_FOLDER = ("open_clip_model.safetensors", "open_clip_pytorch_model.safetensors", "open_clip_pytorch_model.bin")
SUFFIXES = (".safetensors", ".bin", ".pt", ".pth")
HUB = "hf-hub:"
LOCAL = "local-dir:"
_FORMS = (
    "ARCH/TAG (ViT-B-32/laion2b_s34b_b79k), ARCH//path/to/weights.safetensors, /path/to/folder, hf-hub:ORG/NAME, "
    "or ARCH/random for an untrained model"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a model comes from: ``name`` is what open_clip calls it, ``tag`` and ``path`` are its weights."""

    kind: Literal["tag", "file", "folder", "hub", "random"]
    name: str
    tag: str = ""
    path: Path | None = None


def parse(weights: str, folder: Path) -> Source:
    """Read what stands after ``open_clip:``; imports nothing.

    Args:
        weights: see the forms in the error's text.
        folder: where the user started; relative paths begin there.

    Raises: ModelLoadError where no weights are named, or a path is not there.
    """
    if weights.startswith(HUB):
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", weights.removeprefix(HUB)):
            raise ModelLoadError(f"open_clip:{weights}: expected {HUB}ORG/NAME")
        return Source(kind="hub", name=weights)
    path = folder / Path(weights.removeprefix(LOCAL)).expanduser()
    if weights.startswith((LOCAL, "/", ".", "~")) or (weights and path.is_dir()):
        _check_folder(path)
        return Source(kind="folder", name=f"{LOCAL}{path}", path=path)
    arch, _, rest = weights.partition("/")
    if not arch or not rest:
        raise ModelLoadError(
            f"open_clip:{weights} names no weights, and an untrained model would score at chance as if it had been "
            f"tested; expected {_FORMS}"
        )
    if rest == "random":
        return Source(kind="random", name=arch)
    file = folder / Path(rest).expanduser()
    if rest.startswith(("/", "~")) or rest.endswith(SUFFIXES):
        _check_file(file)
        return Source(kind="file", name=arch, path=file)
    return Source(kind="tag", name=arch, tag=rest)


def _check_folder(path: Path) -> None:
    if not path.is_dir():
        raise ModelLoadError(f"open_clip: there is no folder {path}; expected {_FORMS}")
    if not (path / CONFIG).is_file() or not any((path / name).is_file() for name in IN_FOLDER):
        has = ", ".join(sorted(file.name for file in path.iterdir())) or "nothing"
        raise ModelLoadError(f"open_clip: {path} holds {has}; expected {CONFIG} and one of {', '.join(IN_FOLDER)}")


def _check_file(file: Path) -> None:
    if not file.is_file():
        beside = sorted(other.name for other in file.parent.iterdir()) if file.parent.is_dir() else []
        raise ModelLoadError(f"open_clip: there is no file {file}; {nearest(file.name, beside)}")
    if file.suffix not in SUFFIXES:
        raise ModelLoadError(f"open_clip: {file} must be one of {', '.join(SUFFIXES)}; convert it to safetensors")


def check_names(source: Source) -> None:
    """Hold the architecture and the tag against open_clip's own lists.

    Raises: ModelLoadError with the nearest name.
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
            f"a file is {source.name}//path/to/weights.safetensors"
        )
