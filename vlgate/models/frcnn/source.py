"""The Visual Genome Faster R-CNN of bottom-up attention, as LXMERT uses it (Anderson et al., CVPR 2018).

It is a ResNet-101 up to res4, a region proposal network, RoI pooling to 14 x 14, and res5 on each box, whose mean is
the box's feature; 1,600 objects, 400 attributes, 36 boxes per image. References: ``unc-nlp/frcnn-vg-finetuned`` with
the research project ``lxmert`` of transformers, and airsplay/py-bottom-up-attention. Two differences are intended:

- an image has the same regions in a batch as alone; in the reference, padding changes them;
- channels are in the order blue, green, red, as in training; the reference swaps those of files (transformers #19601).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.inputs import rgb_images
from vlgate.models.checkpoints.missing import missing_package
from vlgate.models.frcnn.config import Config
from vlgate.models.frcnn.detector import AT_ONCE, detect
from vlgate.models.frcnn.weights import PUBLISHED, detector_folder, load_detector
from vlgate.models.regions.cache import RegionCache
from vlgate.models.regions.regions import COUNT, WIDTH, Regions
from vlgate.types import LazyImage


class DetectorSource:
    """A ``RegionSource`` that runs a detector on the images it is asked for."""

    def __init__(
        self, network: Any, config: Config, *, device: str, fingerprint: str, name: str, at_once: int = AT_ONCE
    ) -> None:
        """Take a network of ``load_detector``, and how many images go through it together."""
        self.fingerprint = f"detector {fingerprint}"
        self.note = f"regions found by {name} during the run"
        self._network, self._config, self._device, self._at_once = network, config, device, at_once
        self._cache = RegionCache()

    def regions(self, images: Sequence[LazyImage]) -> list[Regions]:
        """Find the regions of each image, as ``RegionSource.regions`` says."""
        lacking = f"the detector finds fewer than {self._config.detections} regions in {{keys}}"
        return self._cache.regions(images, self.look, lacking)

    def look(self, images: Sequence[LazyImage]) -> list[Regions | None]:
        """Find the regions of each image, without the cache.

        Returns: n regions; None for an image in which the detector finds too few.
        Raises: ImageError for the first image that cannot be decoded.
        """
        return detect(self._network, self._config, rgb_images(images), self._device, self._at_once)


def detector_source(
    spec: str,
    folder: Path,
    device: str,
    *,
    width: int | None = WIDTH,
    count: int | None = COUNT,
    at_once: int = AT_ONCE,
) -> DetectorSource:
    """Load a detector.

    Args:
        spec: a hub repository, a folder with ``config.yaml`` and weights, or empty for the published detector.
        folder: the folder that relative paths start from.
        device: a name that ``torch.device`` takes.
        width: the numbers per box that the model takes; None for any.
        count: the boxes per image that the model takes; None for any.
        at_once: how many images go through the network together.

    Raises: ModelLoadError if it cannot be loaded, or gives other numbers of boxes or of numbers per box.
    """
    try:
        import torch  # noqa: F401  # is it installed?
        import torchvision  # noqa: F401  # likewise
    except ModuleNotFoundError as error:
        raise missing_package(error.name or "torch", "hf") from None
    network, config, what = load_detector(detector_folder(spec, folder), device)
    for name, wanted, given in (("numbers per box", width, config.features), ("boxes", count, config.detections)):
        if wanted not in (None, given):
            raise ModelLoadError(
                f"regions={spec!r}: the model takes {wanted} {name}, the detector gives {given}; name a file "
                "of features with regions=FILE"
            )
    return DetectorSource(network, config, device=device, fingerprint=what, name=spec or PUBLISHED, at_once=at_once)
