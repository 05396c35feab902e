"""A contest: an adapter, the loop that it is compared with, and the parts that all contests are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.models.loading.registry import load
from vlgate.record.options import DEFAULT_BATCH
from vlgate.types import Ask, FloatArray, LazyImage, Match, Prediction, Request

Item = TypeVar("Item", bound=Request)
Replies = Sequence[float] | Sequence[str]
IMAGES, SIDE = 20, 112
LARGE = {"hidden_size": 384, "num_hidden_layers": 8, "num_attention_heads": 6, "intermediate_size": 1536}
"""A middle size, large enough that the network takes most of the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """``requests`` requests, answered in two ways.

    ``entrant`` loads what competes and returns the call that replies; ``bare`` is the loop. ``remark`` says what else
    was seen, once all rounds are over.
    """

    name: str
    requests: int
    entrant: Callable[[], Callable[[], Replies]]
    bare: Callable[[], Replies]
    remark: Callable[[], str] = str


def against(name: str, spec: str, requests: Sequence[Item], bare: Callable[[Sequence[Item]], Replies]) -> Contest:
    """An adapter and a loop; ``bare`` replies to a batch of at most as many requests as the adapter's batch."""

    def loop() -> Replies:
        found: Any = []  # all numbers, or all strings
        for start in range(0, len(requests), DEFAULT_BATCH):
            found += bare(requests[start : start + DEFAULT_BATCH])
        return cast("Replies", found)

    return Contest(name=name, requests=len(requests), entrant=partial(adapter, spec, requests), bare=loop)


def adapter(spec: str, requests: Sequence[Request], batch: int = DEFAULT_BATCH) -> Callable[[], Replies]:
    """Load a model, and return it as the suite asks it."""
    model = load(spec, folder=Path(), device="cpu").model
    scorer = ModelPredictor(model=model, name="bench", caller=Caller(name="bench", size=batch))
    return lambda: [_reply(one) for one in scorer.predict(requests).values()]


def _reply(prediction: Prediction) -> Any:
    if prediction.problem is not None:
        raise ValueError(prediction.problem)
    return prediction.answer if prediction.score is None else prediction.score


def imported(name: str) -> Any:
    """Import a module without type annotations: transformers, or the tests' writers of checkpoints."""
    return import_module(name)


def loaded(cls: Any, model: Any, folder: Path) -> Any:
    """Save a model that was made here, and load it as a user would."""
    model.save_pretrained(folder)
    return cls.from_pretrained(folder).eval()


def drawn(count: int = IMAGES, high: int = SIDE + 20, wide: int = SIDE + 60) -> list[LazyImage]:
    """Images of noise."""
    from PIL import Image

    chance = np.random.default_rng(0)
    noise = [chance.integers(0, 256, (high, wide, 3), dtype=np.uint8) for _ in range(count)]
    return [LazyImage(key=f"{index}.png", load=partial(Image.fromarray, one)) for index, one in enumerate(noise)]


def sentences(words: Sequence[str], count: int, shortest: int = 4, longest: int = 12) -> list[str]:
    """Texts of random words and random lengths."""
    chance = np.random.default_rng(1)
    return [" ".join(chance.choice(words, chance.integers(shortest, longest + 1))) for _ in range(count)]


def pairs(images: Sequence[LazyImage], texts: Sequence[str]) -> list[Match]:
    """Pairs of each image with its share of the texts, one image after the other."""
    each = len(texts) // len(images)
    return [Match(image=images[index // each], text=text) for index, text in enumerate(texts)]


def asked(images: Sequence[LazyImage], questions: Sequence[str], answers: Sequence[str] = ()) -> list[Ask]:
    """One question per image, each with three choices if there are answers to draw them from."""
    chance = np.random.default_rng(2)
    return [
        Ask(image=image, question=text, choices=tuple(chance.choice(answers, 3, replace=False)) if answers else ())
        for image, text in zip(images, questions, strict=True)
    ]


def chosen(logits: Any, labels: Sequence[str], questions: Sequence[Ask]) -> list[str]:
    """The choice of each question whose label has the highest logit."""
    place = {label: number for number, label in enumerate(labels)}
    rows = logits.numpy()
    return [
        max(question.choices, key=lambda choice: float(row[place[choice]]))
        for row, question in zip(rows, questions, strict=True)
    ]


def margin(logits: Any, match: int) -> list[float]:
    """The logit of a match minus the logit of no match."""
    found: FloatArray = logits.double().numpy()
    return list(found[:, match] - found[:, 1 - match])
