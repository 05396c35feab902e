"""The Visual Genome Faster R-CNN of bottom-up attention, as LXMERT uses it (Anderson et al., CVPR 2018)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.fingerprint import digest, digest_path
from vlgate.models.checkpoints.hub import holdings, pretrained
from vlgate.models.checkpoints.inputs import rgb_images
from vlgate.models.checkpoints.load_errors import library
from vlgate.models.checkpoints.whole import read_tensors
from vlgate.models.regions.detector_network import Config, network, read_config
from vlgate.models.regions.detector_stages import feature_map, kept, predicted, proposals
from vlgate.models.regions.regions import COUNT, WIDTH, Regions, RegionSource
from vlgate.types import LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor, nn

_SHORTEST = 16  # the shortest side: below it the feature map would be empty. An image of 1 : 63 is stretched to it.


def resized_size(size: tuple[int, int], config: Config) -> tuple[int, int]:
    scale = config.short / min(size)
    height, width = (config.short, scale * size[1]) if size[0] < size[1] else (scale * size[0], config.short)
    if max(height, width) > config.long:
        scale = config.long / max(height, width)
        height, width = height * scale, width * scale
    return max(_SHORTEST, int(height + 0.5)), max(_SHORTEST, int(width + 0.5))


def pixels_of(image: Image, config: Config, device: str) -> Tensor:
    """Return an image's blue, green and red (the order of the training) minus the mean, resized bilinearly."""
    import torch
    from torch.nn.functional import interpolate

    rgb = torch.from_numpy(np.array(image)).to(device)
    bgr = rgb.flip(-1).permute(2, 0, 1).float()
    size = resized_size((image.height, image.width), config)
    smooth = interpolate(bgr[None], size, mode="bilinear", align_corners=False)[0]
    mean, std = (smooth.new_tensor(values)[:, None, None] for values in (config.mean, config.std))
    return (smooth - mean) / std


def padded(images: Sequence[Tensor]) -> tuple[Tensor, list[tuple[int, int]]]:
    sizes = [(image.shape[1], image.shape[2]) for image in images]
    height, width = max(size[0] for size in sizes), max(size[1] for size in sizes)
    batch = images[0].new_zeros((len(images), 3, height, width))
    for row, image in zip(batch, images, strict=True):
        row[:, : image.shape[1], : image.shape[2]] = image
    return batch, sizes


AT_ONCE = 8  # how many images go through the network together by default


def detect(
    network: Any, config: Config, images: Sequence[Image], device: str, at_once: int = AT_ONCE
) -> list[Regions | None]:
    """Find the regions of images of any sizes; an image has the same regions in a batch as alone."""
    import torch
    from torch.backends import cudnn

    # Images of similar shape go together, so that there is little padding.
    order = sorted(
        range(len(images)), key=lambda index: resized_size((images[index].height, images[index].width), config)
    )
    regions: dict[int, Regions | None] = {}
    # Keep a GPU's convolutions from rounding to 10 bits (TF32): small differences decide which boxes are kept. Pass
    # the other settings on: flags() switches off those it is not given, cuDNN itself included.
    settings = {"enabled": cudnn.enabled, "benchmark": cudnn.benchmark, "deterministic": cudnn.deterministic}
    with torch.inference_mode(), cudnn.flags(**settings, allow_tf32=False):
        for start in range(0, len(order), at_once):
            some = order[start : start + at_once]
            batch, sizes = padded([pixels_of(images[place], config, device) for place in some])
            features, places = feature_map(network.backbone, batch, sizes, caffe=config.caffe_maxpool)
            boxes = proposals(network.proposal_generator, config, features, places, sizes)
            heads = predicted(network.roi_heads, config, features, boxes)
            for place, head, proposed, size in zip(some, heads, boxes, sizes, strict=True):
                regions[place] = kept(config, head, proposed, size)
    return [regions[index] for index in range(len(images))]


PUBLISHED = "unc-nlp/frcnn-vg-finetuned"
CONFIG = "config.yaml"
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_COUNTER = "num_batches_tracked"  # used in training only; some checkpoints have it


def load_detector(folder: Path, device: str) -> tuple[nn.Module, Config, str]:
    file = next(folder / name for name in WEIGHTS if (folder / name).is_file())
    config = read_config(folder / CONFIG)
    built = network(config)
    _fill(built, read_tensors(file, "the weights of a detector"), file)
    try:
        return built.to(device), config, digest(digest_path(folder / CONFIG), digest_path(file))
    except RuntimeError as error:
        raise ModelLoadError(
            f"the detector cannot be moved to device={device!r} ({error}); try another device"
        ) from error


def _fill(built: nn.Module, state: Mapping[str, Tensor], file: Path) -> None:
    own = {name: value for name, value in built.state_dict().items() if not name.endswith(_COUNTER)}
    given = {name: value for name, value in state.items() if not name.endswith(_COUNTER)}
    for problem, names in (("lacks", own.keys() - given.keys()), ("has unknown", given.keys() - own.keys())):
        if names:
            some = ", ".join(sorted(names)[:3])
            raise ModelLoadError(
                f"{file} {problem} weights, {len(names)} of them ({some}); expected those of {PUBLISHED}"
            )
    wrong = sorted(name for name in own if own[name].shape != given[name].shape)
    if wrong:
        shapes = f"{tuple(given[wrong[0]].shape)}, and {CONFIG} says {tuple(own[wrong[0]].shape)}"
        raise ModelLoadError(
            f"{file}: {len(wrong)} weights have another shape ({wrong[0]} is {shapes}); use files of one detector"
        )
    built.load_state_dict(given, strict=False)


# A ResNet-101 up to res4, a region proposal network, RoI pooling to 14 x 14, and res5 on each box, whose mean is the
# box's feature. References: ``unc-nlp/frcnn-vg-finetuned`` with the research project ``lxmert`` of transformers, and
# airsplay/py-bottom-up-attention. Two differences are intended: an image has the same regions in a batch as alone (in
# the reference, padding changes them), and channels are in the order blue, green, red, as in training (the reference
# swaps those of files, transformers #19601).
def detector_source(
    spec: str,
    folder: Path,
    device: str,
    *,
    width: int | None = WIDTH,
    count: int | None = COUNT,
    at_once: int = AT_ONCE,
) -> RegionSource:
    library("torch"), library("torchvision")
    network, config, fingerprint = load_detector(detector_folder(spec, folder), device)
    for name, wanted, given in (("numbers per box", width, config.features), ("boxes", count, config.detections)):
        if wanted not in (None, given):
            raise ModelLoadError(
                f"regions={spec!r}: the model takes {wanted} {name}, the detector gives {given}; name a file "
                "of features with regions=FILE"
            )
    return RegionSource(
        partial(_look, network, config, device, at_once),
        fingerprint=f"detector {fingerprint}",
        note=f"regions found by {spec or PUBLISHED} during the run",
        lacking=f"the detector finds fewer than {config.detections} regions in {{keys}}",
    )


def detector_folder(spec: str, folder: Path) -> Path:
    """Return the folder of a detector ("": the published one) with its files, downloaded if they are not cached."""
    hub, constants = library("huggingface_hub"), library("huggingface_hub.constants")
    source, offline = pretrained(spec, folder, default=PUBLISHED), bool(constants.HF_HUB_OFFLINE)
    place, wanted = source.location, {"revision": source.revision, "allow_patterns": [CONFIG, *WEIGHTS]}
    try:
        here = Path(place if source.local else hub.snapshot_download(place, local_files_only=offline, **wanted))
    except (OSError, ValueError, RuntimeError) as error:
        why = "HF_HUB_OFFLINE is set" if offline else f"the hub did not provide them ({error})"
        raise ModelLoadError(
            f"no detector {source.asked}: looked for {CONFIG} and {WEIGHTS[1]} of {place} in "
            f"{constants.HF_HUB_CACHE}, and {why}; download them on a machine with a network (hf download "
            f"{place}), name their folder, or name a file of features"
        ) from error
    if not (here / CONFIG).is_file() or not any((here / name).is_file() for name in WEIGHTS):
        raise ModelLoadError(f"{holdings(here)}; a detector is {CONFIG} with {' or '.join(WEIGHTS)}")
    return here


def _look(network: Any, config: Config, device: str, at_once: int, images: Sequence[LazyImage]) -> list[Regions | None]:
    return detect(network, config, rgb_images(images), device, at_once)
