"""Checks on two drawn images, before anything is scored, that a batch gives what the library's own code gives.

Sharing, padding and batching depend on how an architecture positions and masks tokens, which differs between families
and between versions of the library. The reference is the library's own ``generate``, alone and token by token.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from vlgate.asking.batching import OVERFLOW, out_of_memory
from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.hub import SERVE
from vlgate.models.checkpoints.load_errors import DAMAGED, one_line
from vlgate.models.checkpoints.transformers_loading import OWN, memory_remedy
from vlgate.types import LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image

    from vlgate.models.generative.engine import Engine
    from vlgate.models.generative.reading import Shown

# The most nats per token by which the two may differ, from rounding in thousands of sums; a GPU may round float32, too.
MOST_APART = {"float32": 0.05, "float16": 0.5, "bfloat16": 0.5}
_SIZES = {"wide": (96, 64), "high": (64, 128)}
_TRIED = (
    ("wide", "What is this?", "a red cup on the table"),
    ("wide", "Is there a dog on the left of the small red table?", "no"),
    ("high", "Why?", "blue"),
)


def check_reading(engine: Engine, name: str, dtype: str) -> None:
    try:
        apart = _apart(engine)
    except ModelLoadError:
        raise
    except DAMAGED as error:
        why = f"{type(error).__name__}: {one_line(error)}"
        if out_of_memory(error):
            raise ModelLoadError(f"{name} is loaded, but fails on an image ({why}); {memory_remedy()}") from error
        remedy = "save the processor and chat template that it was published with"
        if isinstance(error, AttributeError | TypeError):
            from transformers import __version__

            fault = f"this looks like a fault of transformers {__version__} in its code of this model"
            remedy = f"{fault}; install another version"
        raise ModelLoadError(
            f"{name} fails on an image with a question in its prompt ({why}); {remedy}, {SERVE}, or {OWN}"
        ) from error
    if np.isnan(apart):
        remedy = OVERFLOW if dtype == "float16" else "check its weights"
        raise ModelLoadError(f"{name} gives NaN for an image with a question in its prompt in {dtype}: {remedy}")
    if not apart <= MOST_APART[dtype]:
        raise ModelLoadError(
            f"{name} gives another likelihood in a batch than by its own generate(): they are {apart:.3g} nats per "
            f"token apart (expected at most {MOST_APART[dtype]} in {dtype}); {SERVE}, or {OWN}"
        )


def check_several(engine: Engine, name: str, dtype: str) -> None:
    """Check that a model takes two images in one prompt, sees both, and gives in a batch what it gives alone."""
    try:
        apart, why = _apart(engine, several=True), _unseen(engine)
    except ModelLoadError:
        raise
    except DAMAGED as error:
        if out_of_memory(error):
            raise
        apart, why = 0.0, f"{type(error).__name__}: {one_line(error)}"
    if not apart <= MOST_APART[dtype]:
        why = f"a batch is {apart:.3g} nats per token apart from its own generate()"
    if why:
        raise ModelLoadError(
            f"{name} cannot be asked about two images in one prompt ({why}); leave out --ask=together, or take a "
            "model that was trained with several images, such as Qwen2.5-VL, InternVL3 or Idefics3"
        )


def _unseen(engine: Engine) -> str:
    """Say if a model does not look at one of two images; empty if it looks at both."""
    one, other = (LazyImage(key=str(turn), load=partial(_drawn, _SIZES["wide"], turn)) for turn in (0, 180))
    prompt = engine.prompter.prompt("What is this?", 2)
    reply = engine.prompter.continuation(prompt, "a red cup on the table")
    both, first, second = (
        engine.step_by_step((shown, prompt), reply) for shown in ((one, other), (one, one), (other, other))
    )
    if both == first:
        return "its reply does not depend on the second image"
    return "its reply does not depend on the first image" if both == second else ""


def _apart(engine: Engine, *, several: bool = False) -> float:
    """The largest difference, in nats per token; NaN if there is any NaN."""
    images = {name: LazyImage(key=name, load=partial(_drawn, size)) for name, size in _SIZES.items()}
    wide, high = images.values()
    shown: dict[str, Shown] = {"wide": (wide, high), "high": (high, wide)} if several else {**images}
    prompts = [(shown[name], engine.prompter.prompt(question, 2 if several else 1)) for name, question, _ in _TRIED]
    texts = [text for _, _, text in _TRIED]
    replies = [engine.prompter.continuation(prompt, text) for (_, prompt), text in zip(prompts, texts, strict=True)]
    together = engine.likelihoods(list(zip(prompts, replies, strict=True)))
    alone = [engine.step_by_step(prompt, reply) for prompt, reply in zip(prompts, replies, strict=True)]
    return float(np.max(np.abs(together - alone) / [len(reply) for reply in replies]))


def _drawn(size: tuple[int, int], turn: int = 0) -> Image:
    from PIL import Image

    return Image.linear_gradient("L").rotate(turn).resize(size).convert("RGB")
