"""Weights and parts of open_clip: which file a name means, what it holds, and how images and texts are prepared."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zipfile import is_zipfile

from vlgate.errors import ModelLoadError, did_you_mean, nearest, no_folder
from vlgate.models.checkpoints.fingerprint import digest_path, expanded
from vlgate.models.checkpoints.inputs import knows_words
from vlgate.models.checkpoints.load_errors import DAMAGED, damaged, library, one_line

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

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
    kind: Literal["tag", "file", "folder", "hub", "random"]
    name: str  # the model's name in open_clip
    tag: str = ""
    path: Path | None = None


def parse(weights: str, folder: Path) -> OpenClipName:
    if weights.startswith(HUB):
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", weights.removeprefix(HUB)):
            raise ModelLoadError(f"open_clip:{weights} is not a hub repository; expected {HUB}ORG/NAME")
        return OpenClipName(kind="hub", name=weights)
    path = expanded(weights.removeprefix(LOCAL), folder)
    if weights.startswith((LOCAL, "/", ".", "~")) or (weights and path.is_dir()):
        if not path.is_dir():
            raise ModelLoadError(f"open_clip: {no_folder(path)}; expected {_FORMS}")
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
    file = expanded(rest, folder)
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
    open_clip = library("open_clip", "clip")
    if source.kind in ("folder", "hub"):
        return
    known = open_clip.list_models()
    if source.name not in known:
        hint = did_you_mean(source.name, known) or "open_clip.list_models() lists them"
        raise ModelLoadError(f"open_clip: unknown architecture {source.name!r}; {hint}")
    if source.kind == "tag" and not open_clip.get_pretrained_cfg(source.name, source.tag):
        tags = open_clip.list_pretrained_tags_by_model(source.name)
        raise ModelLoadError(
            f"open_clip: unknown weights {source.tag!r} of {source.name}; {nearest(source.tag, tags)}; "
            f"for a file, write {source.name}//path/to/weights.safetensors"
        )


def weights_file(source: OpenClipName) -> Path | None:
    check_names(source)
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
        why = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else f"the download failed ({error})"
        raise ModelLoadError(
            f"open_clip: no weights for {source.name}{'/' if source.tag else ''}{source.tag}: looked for {looked_for} "
            f"of {repository} in {constants.HF_HUB_CACHE}, and {why}; download it on a machine with a network "
            f"(hf download {repository}) or name a local folder or file"
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
            # only shapes are read, so the tensors stay on disk; torch before 1.6 wrote no zip, which is read whole
            content = torch.load(file, map_location="cpu", weights_only=True, mmap=is_zipfile(file))
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
    if file is None:
        return f"{source.name} random {seed}"
    # A file in the hub's cache is a link to a blob whose name is the hash of its content.
    blob = file.resolve().name
    content = blob if re.fullmatch(r"[0-9a-f]{64}", blob) else digest_path(file)
    beside = file.parent / CONFIG
    config = digest_path(beside) if source.kind in ("folder", "hub") and beside.is_file() else ""
    return f"{source.name if source.kind != 'folder' else ''} {source.tag} {content} {config}"


_PREPROCESSING = ("mean", "std", "interpolation", "resize_mode")


def assumptions(source: OpenClipName) -> str:
    """Return a note on the settings that a file of weights lacks, and on which the published weights disagree."""
    import open_clip

    if source.kind != "file":
        return ""
    published = _published(source.name)
    taken = []
    own = open_clip.get_model_config(source.name).get("quick_gelu")
    if len({bool(config.get("quick_gelu")) for config in published}) > 1 and not own:
        taken.append(f"GELU (name {source.name}-quickgelu for QuickGELU)")
    if len({_of_images(config) for config in published}) > 1:
        taken.append("open_clip's default preparation of images")
    if not taken:
        return ""
    return f"a file of weights lacks some settings of {source.name}; assumed: {' and '.join(taken)}"


def preprocessing(arch: str) -> dict[str, Any]:
    """Return the preparation of images for an architecture, if all of its published weights agree on it; else empty."""
    # A file of weights does not contain it, and by default open_clip would prepare images for SigLIP as for CLIP.
    published = _published(arch)
    agreed = len({_of_images(config) for config in published}) == 1
    return {name: published[0][name] for name in _PREPROCESSING} if agreed else {}


def _published(arch: str) -> list[dict[str, Any]]:
    import open_clip

    return [open_clip.get_pretrained_cfg(arch, tag) for tag in open_clip.list_pretrained_tags_by_model(arch)]


def _of_images(config: dict[str, Any]) -> str:
    return json.dumps({name: config[name] for name in _PREPROCESSING})


PRECISIONS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


def refuse_code(source: OpenClipName) -> None:
    import open_clip

    try:
        written = json.dumps(dict(open_clip.get_model_config(source.name)))
    except DAMAGED as error:
        raise ModelLoadError(
            f"open_clip: {CONFIG} of {source.name} cannot be read ({one_line(error)}); save it again"
        ) from error
    if "trust_remote_code" in written:
        raise ModelLoadError(
            f"open_clip: the configuration of {source.name} sets trust_remote_code, which vlgate refuses; remove it"
        )


def create(source: OpenClipName, file: Path | None, *, device: str, dtype: str, seed: int) -> Any:
    import open_clip
    import torch
    from huggingface_hub import constants

    untrained = source.kind == "random"
    # Weights need QuickGELU if the tag says so, or all published ones of the architecture, as of RN50.
    published = _published(source.name) if source.kind == "file" else []
    quick = bool(published) and all(config.get("quick_gelu") for config in published)
    if source.kind == "tag":
        quick = bool(open_clip.get_pretrained_cfg(source.name, source.tag).get("quick_gelu"))
    try:
        with torch.random.fork_rng(devices=[]) if untrained else _undrawn(), warnings.catch_warnings():
            # open_clip also warns if only the configuration has QuickGELU and the tag does not say so
            # (roberta-ViT-B-32), which is right.
            warnings.filterwarnings("ignore", message="QuickGELU mismatch")
            if untrained:
                torch.default_generator.manual_seed(seed)
            return open_clip.create_model(
                source.name,
                {"tag": source.tag, "file": str(source.path)}.get(source.kind),
                precision=PRECISIONS[dtype],
                device=device,
                load_weights=not untrained,
                require_pretrained=not untrained,
                pretrained_text=False,
                force_quick_gelu=quick,
                force_preprocess_cfg=preprocessing(source.name) if source.kind in ("file", "random") else None,
            ).eval()
    except damaged() as error:
        tower = open_clip.get_model_config(source.name).get("text_cfg", {})
        named = tower.get("hf_model_name") if isinstance(tower, dict) else None
        if named and isinstance(error, OSError):
            raise ModelLoadError(
                f"open_clip: no text tower for {source.name}: looked for config.json of {named} in "
                f"{constants.HF_HUB_CACHE} ({one_line(error)}); download it on a machine with a network "
                f"(hf download {named} config.json)"
            ) from error
        raise ModelLoadError(
            f"open_clip: {source.name} cannot be built from {file or 'its configuration'} ({type(error).__name__}: "
            f"{one_line(error)}); name the architecture of these weights, or save both again"
        ) from error


def _undrawn() -> AbstractContextManager[object]:
    """Draw no random numbers for the parameters of a network: it takes 3 s for ViT-B-32, and loading replaces them."""
    from torch.overrides import TorchFunctionMode

    class Undrawn(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: object, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
        ) -> Any:
            given = kwargs or {}
            if func.__name__.endswith(("uniform_", "normal_")):  # of tensors and of torch.nn.init
                return args[0] if args else given["tensor"]
            return func(*args, **given)

    return Undrawn()


def tokenizer_of(source: OpenClipName) -> Any:
    import open_clip

    try:
        tokenizer = open_clip.get_tokenizer(source.name)
    except DAMAGED as error:
        raise ModelLoadError(_no_tokenizer(source, one_line(error))) from error
    inner = getattr(tokenizer, "tokenizer", None)
    if inner is not None:
        inner.padding_side = "right"  # as in training, whatever was saved: positions are counted from the left
        if not knows_words(inner):
            raise ModelLoadError(_no_tokenizer(source, "found one without a vocabulary"))
    # Some configurations drop words at random from texts that are too long; that is for training only.
    tokenizer.reduction_fn = None
    return tokenizer


def _no_tokenizer(source: OpenClipName, why: str) -> str:
    import open_clip
    from huggingface_hub import constants

    named = open_clip.get_model_config(source.name)["text_cfg"].get("hf_tokenizer_name", "")
    place = source.path if source.kind == "folder" else f"{named} in {constants.HF_HUB_CACHE}"
    return (
        f"open_clip: no tokenizer for {source.name}: looked for {place} ({why}); "
        f"download it on a machine with a network (hf download {named}), or save it into the model's own folder"
    )


def transform_of(source: OpenClipName, model: Any) -> Callable[[Image], torch.Tensor]:
    from open_clip.transform import PreprocessCfg, image_transform_v2

    settings = model.visual.preprocess_cfg
    try:
        transform: Callable[[Image], torch.Tensor] = image_transform_v2(PreprocessCfg(**settings), is_train=False)
    except DAMAGED as error:
        raise ModelLoadError(
            f"open_clip: preprocess_cfg={settings!r} of {source.name} is not valid ({type(error).__name__}); "
            f"correct its {CONFIG}"
        ) from error
    return transform
