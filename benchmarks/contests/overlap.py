"""A model whose network waits for a GPU that is not here, against itself without inputs that are made ahead."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np

from contests.contest import imported, pairs
from vlgate.asking import image_prefetch
from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.models.loading.registry import load
from vlgate.types import LazyImage

FAMILIES = {"clip": "dual_checkpoints", "vilt": "cross_checkpoints", "vlm": "tiny_vlms"}
BATCH, BATCHES, DEVICE = 8, 16, 0.1  # DEVICE: the seconds that the network waits on each batch of images


def overlaps(folder: Path) -> Iterator[tuple[str, float, float, float, float]]:
    """Per family: the seconds of preparing the inputs, of the model, of both in turn, and of a run."""
    requests = pairs(photographs(BATCH * BATCHES), ["red dog"] * (BATCH * BATCHES))
    for name, module in FAMILIES.items():
        imported(module).save("llava" if name == "vlm" else name, folder / name)
        spec = f"{name}:{folder / name}"
        with waiting():
            spent: list[float] = [0.0]
            ahead: Any = load(spec, folder=Path(), device="cpu").model
            make = ahead.inputs_ahead.make
            ahead.inputs_ahead.make = partial(clocked, make, spent)
            turns = seconds(ahead, requests)
            yield name, spent[0], turns - spent[0], turns, beside(spec, requests)


def beside(spec: str, requests: Any) -> float:
    """The seconds of a run whose inputs are made as beside a GPU."""
    with patch.object(image_prefetch, "BESIDE", {"cpu"}):
        return seconds(load(spec, folder=Path(), device="cpu").model, requests)


def clocked(make: Any, spent: list[float], parts: Any) -> Any:
    start = perf_counter()
    made = make(parts)
    spent[0] += perf_counter() - start
    return made


def seconds(model: Any, requests: Any) -> float:
    predictor = ModelPredictor(model=model, name="bench", caller=Caller(name="bench", size=BATCH))
    predictor.predict(requests[:BATCH])
    start = perf_counter()
    predictor.predict(requests[BATCH:])
    return perf_counter() - start


@contextmanager
def waiting() -> Iterator[None]:
    """Each batch's patches wait, without a processor; they are embedded by the only convolution of these networks."""
    import torch

    def wait(module: Any, _: Any) -> None:
        if isinstance(module, torch.nn.Conv2d):
            time.sleep(DEVICE)

    hook = torch.nn.modules.module.register_module_forward_pre_hook(wait)
    try:
        yield
    finally:
        hook.remove()


def photographs(count: int) -> list[LazyImage]:
    """JPEG files in memory, of the size of COCO's."""
    from PIL import Image

    def file(number: int) -> bytes:
        pixels = np.random.default_rng(number).integers(0, 256, (60, 80, 3), dtype=np.uint8)
        Image.fromarray(pixels).resize((640, 480)).save(stream := BytesIO(), "JPEG")
        return stream.getvalue()

    def opened(content: bytes) -> Any:
        return Image.open(BytesIO(content)).convert("RGB")

    return [LazyImage(key=f"{number}.jpg", load=partial(opened, file(number))) for number in range(count)]
