"""What stands after ``open_clip:``, and the file of weights that it means."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from vlgate.errors import ModelLoadError, nearest
from vlgate.models.damaged import damaged
from vlgate.models.fingerprint import digest_path

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


def weights_file(source: Source) -> Path | None:
    """The file of weights on this machine, fetched from the hub where it is not here yet; None for ``random``.

    Raises: ModelLoadError that says which file was looked for, where, and what to do.
    """
    import open_clip
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
        raise ModelLoadError(_not_here(source, place, error)) from error


def _not_here(source: Source, place: str, error: Exception) -> str:
    from huggingface_hub import constants

    repository, _, file = place.rpartition("/")
    looked_for = file or f"{IN_FOLDER[0]} or {IN_FOLDER[2]}"
    if source.kind == "hub":
        looked_for = f"{CONFIG} and {looked_for}"
    offline = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else "the hub did not give it"
    return (
        f"open_clip: no weights for {source.name}{'/' if source.tag else ''}{source.tag}: looked for {looked_for} of "
        f"{repository} in {constants.HF_HUB_CACHE}, and {offline} ({error}); fetch it where there is a network "
        f"(hf download {repository}) or name a local folder or file"
    )


def shapes(file: Path) -> dict[str, tuple[int, ...]]:
    """The names and shapes of the tensors in a file of weights, and that it holds nothing else.

    A file that is no safetensors is read as tensors only, so that nothing in it is run. open_clip falls back to a full
    unpickling where reading as tensors raises TypeError; a file that comes through here cannot get there.

    Raises: ModelLoadError.
    """
    try:
        return _safe_shapes(file) if file.suffix == ".safetensors" else _pickled_shapes(file)
    except damaged() as error:
        pickled = "" if file.suffix == ".safetensors" else "holds more than tensors, or "
        raise ModelLoadError(
            f"open_clip: {file} {pickled}is damaged, and is not opened ({type(error).__name__}); "
            "fetch it anew, or convert it to safetensors"
        ) from error


def _safe_shapes(file: Path) -> dict[str, tuple[int, ...]]:
    from safetensors import safe_open

    with safe_open(file, framework="numpy") as opened:
        return {name: tuple(opened.get_slice(name).get_shape()) for name in opened.keys()}  # noqa: SIM118  # no mapping


def _pickled_shapes(file: Path) -> dict[str, tuple[int, ...]]:
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of pickle protocols that it may not read; it raises then
        found = torch.load(file, map_location="cpu", weights_only=True)
    states = found.get("state_dict", found)
    if not states:
        raise ValueError("it holds nothing")
    return {name.removeprefix("module."): tuple(tensor.shape) for name, tensor in states.items()}


def check_sizes(source: Source, sizes: Mapping[str, tuple[int, ...]], model: Any) -> None:
    """Hold local weights against the model where open_clip makes up for what does not fit, and says nothing.

    It stretches positions that were trained for pictures or texts of another size, and takes a bias that is not there
    for 0, from which the decision threshold would come.

    Args:
        source: where the weights come from; what is published for an architecture is taken as it is.
        sizes: of the weights, by name.
        model: made by open_clip.

    Raises: ModelLoadError.
    """
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
                f"with pictures or texts of another size than {source.name} takes; name their own architecture"
            )


def identity(source: Source, file: Path | None, seed: int) -> str:
    """What the weights are: the hash of their content, or the seed of an untrained model."""
    if file is None:
        return f"{source.name} random {seed}"
    # A file in the hub's cache is a link to a blob that is named by the hash of its content.
    blob = file.resolve().name
    content = blob if re.fullmatch(r"[0-9a-f]{64}", blob) else digest_path(file)
    beside = file.parent / CONFIG
    config = digest_path(beside) if source.kind in ("folder", "hub") and beside.is_file() else ""
    return f"{source.name if source.kind != 'folder' else ''} {source.tag} {content} {config}"
