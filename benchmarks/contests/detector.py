"""The region detector: several images at once against one at a time, and each image detected only once.

A random network at the published depth (ResNet-101, 300 boxes of 14 x 14), an eighth as wide, on smaller images.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from contests.contest import Contest, Replies, adapter, drawn, imported, loaded, margin, pairs
from contests.regions import lxmert_sizes, sentences
from vlgate.models.regions.detector import detect, detector_source, load_detector
from vlgate.models.regions.detector_network import Config
from vlgate.models.regions.regions import Regions
from vlgate.types import LazyImage, Match

SMALL = Config(stem=8, width=8, res2=32, rpn_hidden=64, short=240, long=400, proposals_after=100)
SEEN, TEXTS = 8, 4


def frcnn(folder: Path) -> Contest:
    """Features of 8 images; the loop runs the same network on one image at a time."""
    _saved(folder)
    network, config, _ = load_detector(folder, "cpu")
    images = drawn(SEEN, 150, 200)

    def entrant() -> Callable[[], Replies]:
        source = detector_source(str(folder), Path(), "cpu", width=None)
        return lambda: _numbers(source.look(images))

    def bare() -> Replies:
        return _numbers([detect(network, config, [image.load()], "cpu")[0] for image in images])

    return Contest(name="frcnn", requests=SEEN, entrant=entrant, bare=bare)


@dataclass(slots=True)
class _Counted:
    """Counts how often images are decoded."""

    decoded: list[str] = field(default_factory=list)

    def image(self, other: LazyImage) -> LazyImage:
        """Return the image with a ``load`` that counts."""
        return replace(other, load=partial(self._load, other))

    def _load(self, other: LazyImage) -> Any:
        self.decoded.append(other.key)
        return other.load()


def lxmert_over_frcnn(folder: Path) -> Contest:
    """LXMERT on regions found on the fly, four texts per image, asked text by text in batches of one text per image.

    The loop runs the detector once over each image, one at a time, and LXMERT on all requests at once.
    """
    import torch

    hf = imported("transformers")
    _saved(folder / "detector")
    network, config, _ = load_detector(folder / "detector", "cpu")
    cls = hf.LxmertForPreTraining
    model = loaded(cls, cls(hf.LxmertConfig(**lxmert_sizes(), visual_feat_dim=config.features)), folder)
    imported("region_stubs").save_tokenizer(folder)
    tokenizer = hf.BertTokenizer.from_pretrained(folder)
    counted, plain = _Counted(), drawn(SEEN, 150, 200)
    requests = _text_by_text(pairs([counted.image(one) for one in plain], sentences(SEEN * TEXTS)))

    def entrant() -> Callable[[], Replies]:
        counted.decoded.clear()
        return adapter(f"lxmert:{folder}?regions={folder / 'detector'}", requests, batch=SEEN)

    def bare() -> Replies:
        found = [detect(network, config, [image.load()], "cpu")[0] for image in plain]
        features, boxes = (
            torch.from_numpy(np.stack([getattr(one, name) for one in found])).repeat(TEXTS, 1, 1)
            for name in ("features", "boxes")
        )
        tokens = tokenizer([request.text for request in requests], padding=True, return_tensors="pt")
        pooled = model.lxmert(visual_feats=features, visual_pos=boxes, **tokens).pooled_output
        return margin(model.cls.seq_relationship(pooled), 1)

    def remark() -> str:
        looks = len(counted.decoded)
        return f"{looks} images went through the detector, {len(requests) / looks:.1f} requests each"

    name = "lxmert over frcnn"
    return Contest(name=name, requests=len(requests), entrant=entrant, bare=bare, remark=remark)


CONTESTS: tuple[Callable[[Path], Contest], ...] = (frcnn, lxmert_over_frcnn)


def _text_by_text(requests: list[Match]) -> list[Match]:
    return [request for text in range(TEXTS) for request in requests[text::TEXTS]]


def _saved(folder: Path) -> None:
    import torch

    folder.mkdir(exist_ok=True)
    frcnn_tiny = imported("frcnn_tiny")
    resnets = {"resnets": {**_written(frcnn_tiny)["resnets"], "depth": 101}}
    (folder / "config.yaml").write_text(frcnn_tiny.config_yaml(SMALL, **resnets))
    torch.save(frcnn_tiny.lively(SMALL, 0).state_dict(), folder / "pytorch_model.bin")


def _written(frcnn_tiny: Any) -> Any:
    return imported("yaml").safe_load(frcnn_tiny.config_yaml(SMALL))


def _numbers(found: Sequence[Regions | str | None]) -> Replies:
    regions = [one for one in found if isinstance(one, Regions)]
    if len(regions) < len(found):
        raise ValueError("the detector finds too few boxes")
    numbers: list[float] = np.concatenate([region.features.ravel() for region in regions]).tolist()
    return numbers
