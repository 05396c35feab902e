"""The Visual Genome Faster R-CNN of bottom-up attention, as LXMERT uses it (Anderson et al., CVPR 2018).

A ResNet-101 up to res4, a region proposal network, RoI pooling to 14 x 14 and res5 on each box, whose mean is the
box's feature; 1,600 objects, 400 attributes, 36 boxes a picture. Reference: ``unc-nlp/frcnn-vg-finetuned``, with the
research project ``lxmert`` of transformers, and airsplay/py-bottom-up-attention. Two things differ on purpose:

- a picture has the same regions in a batch as alone, where the reference lets padding shine through;
- a picture goes in blue first, as in training; the reference swaps the colours of files (transformers #19601).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.frcnn.config import Config
from vlgate.models.frcnn.detector import AT_ONCE, detect
from vlgate.models.frcnn.weights import PUBLISHED, detector_folder, load_detector
from vlgate.models.inputs import rgb_images
from vlgate.models.missing import missing_package
from vlgate.models.region_cache import RegionCache
from vlgate.models.regions import COUNT, WIDTH, Regions
from vlgate.types import Picture


class DetectorSource:
    """Regions that a detector finds as pictures are asked for; a ``RegionSource``."""

    def __init__(
        self, network: Any, config: Config, *, device: str, fingerprint: str, name: str, at_once: int = AT_ONCE
    ) -> None:
        """Take a network that ``load_detector`` gave, and how many pictures go through it together."""
        self.fingerprint = f"detector {fingerprint}"
        self.note = f"regions found by {name} as the run went"
        self._network, self._config, self._device, self._at_once = network, config, device, at_once
        self._cache = RegionCache()

    def regions(self, pictures: Sequence[Picture]) -> list[Regions]:
        """Find the regions of each picture, as ``RegionSource.regions`` says."""
        lacking = f"the detector finds fewer than {self._config.detections} regions in {{keys}}"
        return self._cache.regions(pictures, self.look, lacking)

    def look(self, pictures: Sequence[Picture]) -> list[Regions | None]:
        """Find the regions of each picture anew.

        Returns: None where the detector finds too few.
        Raises: PictureError of the first picture that cannot be decoded.
        """
        return detect(self._network, self._config, rgb_images(pictures), self._device, self._at_once)


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
        folder: where the user started.
        device: a name that ``torch.device`` takes.
        width: how many numbers a box it has to give; None for any.
        count: how many boxes a picture it has to give; None for any.
        at_once: how many pictures go through the network together.

    Raises: ModelLoadError.
    """
    try:
        import torch  # noqa: F401  # is it there?
        import torchvision  # noqa: F401  # likewise
    except ModuleNotFoundError as error:
        raise missing_package(error.name or "torch", "hf") from None
    network, config, what = load_detector(detector_folder(spec, folder), device)
    for name, wanted, given in (("numbers a box", width, config.features), ("boxes", count, config.detections)):
        if wanted not in (None, given):
            raise ModelLoadError(
                f"regions={spec!r}: the model takes {wanted} {name}, the detector gives {given}; name a file of "
                "features with regions=FILE"
            )
    return DetectorSource(network, config, device=device, fingerprint=what, name=spec or PUBLISHED, at_once=at_once)
