"""Checks on two drawn images, before anything is scored, that a batch gives what the library's own code gives.

Sharing, padding and batching depend on how an architecture positions and masks tokens, which differs between families
and between versions of the library. The reference is the library's own ``generate``, alone and token by token.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.damaged import DAMAGED, one_line
from vlgate.types import LazyImage

if TYPE_CHECKING:
    from PIL.Image import Image

    from vlgate.models.generative.engine import Engine

# The most nats per token by which the two may differ, from rounding in thousands of sums; a GPU may round float32, too.
MOST_APART = {"float32": 0.05, "float16": 0.5, "bfloat16": 0.5}
_SIZES = {"wide": (96, 64), "high": (64, 128)}
_TRIED = (
    ("wide", "What is this?", "a red cup on the table"),
    ("wide", "Is there a dog on the left of the small red table?", "no"),
    ("high", "Why?", "blue"),
)
_OWN = "serve it (openai:URL#MODEL), or write an adapter of your own (package.module:callable)"


def check_reading(engine: Engine, name: str, dtype: str) -> None:
    """Compare the likelihoods of replies in one batch with those step by step, for two images of different sizes.

    Args:
        engine: the model.
        name: the user's name of the model, for messages.
        dtype: the precision that it runs in.

    Raises: ModelLoadError if the two differ by more than ``MOST_APART``, or the model fails on the images and prompts.
    """
    try:
        apart = _apart(engine)
    except ModelLoadError:
        raise
    except DAMAGED as error:
        why = f"{type(error).__name__}: {one_line(error)}"
        raise ModelLoadError(
            f"{name} fails on an image with a question in its prompt ({why}); save the processor and chat template "
            f"that it was published with, or {_OWN}"
        ) from error
    if not apart <= MOST_APART[dtype]:  # NaN is refused, too
        raise ModelLoadError(
            f"{name} gives another likelihood in a batch than by its own generate(): they are {apart:.3g} nats per "
            f"token apart (expected at most {MOST_APART[dtype]} in {dtype}); {_OWN}"
        )


def _apart(engine: Engine) -> float:
    """The largest difference, in nats per token; NaN if there is any NaN."""
    images = {name: LazyImage(key=name, load=partial(_drawn, size)) for name, size in _SIZES.items()}
    prompts = [(images[name], engine.prompter.prompt(question)) for name, question, _ in _TRIED]
    replies = [
        engine.prompter.continuation(prompt, reply) for (_, prompt), (_, _, reply) in zip(prompts, _TRIED, strict=True)
    ]
    together = engine.likelihoods(list(zip(prompts, replies, strict=True)))
    alone = [engine.step_by_step(prompt, reply) for prompt, reply in zip(prompts, replies, strict=True)]
    return float(np.max(np.abs(together - alone) / [len(reply) for reply in replies]))


def _drawn(size: tuple[int, int]) -> Image:
    from PIL import Image

    return Image.linear_gradient("L").resize(size).convert("RGB")
