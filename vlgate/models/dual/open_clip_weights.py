"""The weights after ``open_clip:``: their name, their file, and its shapes, checked against the model."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from vlgate.errors import ModelLoadError, nearest
from vlgate.models.checkpoints.fingerprint import digest_path
from vlgate.models.checkpoints.load_errors import damaged

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
    if weights.startswith(HUB):
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", weights.removeprefix(HUB)):
            raise ModelLoadError(f"open_clip:{weights} is not a hub repository; expected {HUB}ORG/NAME")
        return OpenClipName(kind="hub", name=weights)
    path = folder / Path(weights.removeprefix(LOCAL)).expanduser()
    if weights.startswith((LOCAL, "/", ".", "~")) or (weights and path.is_dir()):
        if not path.is_dir():
            raise ModelLoadError(f"open_clip: there is no folder {path}; expected {_FORMS}")
        if not (path / CONFIG).is_file() or not any((path / name).is_file() for name in IN_FOLDER):
            has = ", ".join(sorted(file.name for file in path.iterdir())) or "nothing"
            raise ModelLoadError(
                f"open_clip: the folder {path} holds {has}; expected {CONFIG} and one of {', '.join(IN_FOLDER)}"
            )
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


def _check_file(file: Path) -> None:
    if not file.is_file():
        beside = sorted(other.name for other in file.parent.iterdir()) if file.parent.is_dir() else []
        raise ModelLoadError(f"open_clip: there is no file {file}; {nearest(file.name, beside)}")
    if file.suffix not in SUFFIXES:
        raise ModelLoadError(
            f"open_clip: the name of {file} must end in one of {', '.join(SUFFIXES)}; convert it to safetensors"
        )


def check_names(source: OpenClipName) -> None:
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


def weights_file(source: OpenClipName) -> Path | None:
    """Return the local file of weights, downloaded from the hub if it is not cached yet; None for ``random``."""
    import open_clip
    from huggingface_hub import constants
    from open_clip.pretrained import download_pretrained_from_hf

    if source.kind == "folder" and source.path is not None:
        return next(source.path / name for name in IN_FOLDER if (source.path / name).is_file())
    if source.kind in ("file", "random"):
        return source.path
    wanted: dict[str, Any] = open_clip.get_pretrained_cfg(source.name, source.tag) if source.kind == "tag" else {}
    place = wanted.get("hf_hub") or f"{source.name.removeprefix(HUB)}/"
    try:
        if source.kind == "tag":
            return Path(open_clip.download_pretrained(wanted))
        download_pretrained_from_hf(place.rstrip("/"), filename=CONFIG)
        return Path(download_pretrained_from_hf(place.rstrip("/")))
    except (OSError, RuntimeError, ValueError) as error:
        repository, _, name = place.rpartition("/")
        looked_for = name or f"{IN_FOLDER[0]} or {IN_FOLDER[2]}"
        if source.kind == "hub":
            looked_for = f"{CONFIG} and {looked_for}"
        offline = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else "the download failed"
        raise ModelLoadError(
            f"open_clip: no weights for {source.name}{'/' if source.tag else ''}{source.tag}: looked for {looked_for} "
            f"of {repository} in {constants.HF_HUB_CACHE}, and {offline} ({error}); download it on a machine with a "
            f"network (hf download {repository}) or name a local folder or file"
        ) from error


def shapes(file: Path) -> dict[str, tuple[int, ...]]:
    """Return the names and shapes of the tensors in a file of weights, and check that it holds nothing else."""
    import torch
    from safetensors import safe_open

    try:
        if file.suffix == ".safetensors":
            with safe_open(file, framework="numpy") as opened:
                return {name: tuple(opened.get_slice(name).get_shape()) for name in opened.keys()}  # noqa: SIM118  # not a mapping
        # A pickle is read as tensors only, so that no code in it is run. open_clip itself falls back to a full
        # unpickling if that raises TypeError; a file that passes this function does not raise it.
        with warnings.catch_warnings():
            # torch warns of unknown pickle protocols; if it cannot read one, it also raises
            warnings.simplefilter("ignore")
            content = torch.load(file, map_location="cpu", weights_only=True)
        states = content.get("state_dict", content)
        if not states:
            raise ValueError("it holds nothing")
        return {name.removeprefix("module."): tuple(tensor.shape) for name, tensor in states.items()}
    except damaged() as error:
        pickled = "" if file.suffix == ".safetensors" else "holds more than tensors, or "
        raise ModelLoadError(
            f"open_clip: {file} {pickled}is damaged, so it is not opened ({type(error).__name__}); "
            "download it again, or convert it to safetensors"
        ) from error


def check_sizes(source: OpenClipName, sizes: Mapping[str, tuple[int, ...]], model: Any) -> None:
    """Check local weights for differences from the model that open_clip silently adapts to."""
    # It interpolates positions that were trained for images or texts of another size, and sets a missing bias to 0,
    # which would give a wrong decision threshold.
    if source.kind not in ("file", "folder"):
        return
    states = model.state_dict()
    if "logit_bias" in states and "logit_bias" not in sizes:
        raise ModelLoadError(
            f"open_clip: {source.path} lacks logit_bias, which {source.name} was trained with; name the architecture "
            "of these weights"
        )
    for name, tensor in states.items():
        has, wants = sizes.get(name), tuple(tensor.shape)
        if name.endswith("positional_embedding") and has not in (None, wants):
            raise ModelLoadError(
                f"open_clip: {name} of {source.path} is of shape {has} instead of {wants}: the weights were trained "
                f"with images or texts of another size than {source.name} takes; name their own architecture"
            )


def identity(source: OpenClipName, file: Path | None, seed: int) -> str:
    """Return the weights' part of a fingerprint: a hash of their content, or the seed of an untrained model."""
    if file is None:
        return f"{source.name} random {seed}"
    # A file in the hub's cache is a link to a blob whose name is the hash of its content.
    blob = file.resolve().name
    content = blob if re.fullmatch(r"[0-9a-f]{64}", blob) else digest_path(file)
    beside = file.parent / CONFIG
    config = digest_path(beside) if source.kind in ("folder", "hub") and beside.is_file() else ""
    return f"{source.name if source.kind != 'folder' else ''} {source.tag} {content} {config}"
