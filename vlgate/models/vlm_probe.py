"""Whether a model is read here as its own library reads it, tried on two drawn pictures before anything is scored.

What is shared, padded and batched rests on how an architecture places and hides tokens, which differs between families
and between versions of the library. The library's own ``generate``, alone and token by token, is the measure.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.damaged import DAMAGED, one_line
from vlgate.types import Picture

if TYPE_CHECKING:
    from PIL.Image import Image

    from vlgate.models.vlm_engine import Engine

# Nats a token by which the two may differ: what rounding leaves of thousands of sums; a GPU may round float32, too.
MOST_APART = {"float32": 0.05, "float16": 0.5, "bfloat16": 0.5}
_SIZES = {"wide": (96, 64), "high": (64, 128)}
_TRIED = (
    ("wide", "What is this?", "a red cup on the table"),
    ("wide", "Is there a dog on the left of the small red table?", "no"),
    ("high", "Why?", "blue"),
)
_OWN = "write an adapter of your own (package.module:callable)"


def check_reading(engine: Engine, name: str, dtype: str) -> None:
    """Weigh replies of two lengths about pictures of two sizes, in one batch and step by step.

    Args:
        engine: the model.
        name: what the user calls it, for messages.
        dtype: the precision that it runs in.

    Raises: ModelLoadError where the two differ by more than ``MOST_APART``, or the model fails on what it is asked.
    """
    try:
        apart = _apart(engine)
    except ModelLoadError:
        raise
    except DAMAGED as error:
        why = f"{type(error).__name__}: {one_line(error)}"
        raise ModelLoadError(
            f"{name} fails on a picture and a question put into its prompt ({why}); save the processor and chat "
            f"template that it was published with, or {_OWN}"
        ) from error
    if not apart <= MOST_APART[dtype]:  # NaN is no agreement
        raise ModelLoadError(
            f"{name} reads otherwise than is assumed here: a reply weighed in a batch and one weighed by its own "
            f"generate() are {apart:.3g} nats a token apart (at most {MOST_APART[dtype]} in {dtype}); {_OWN}"
        )


def _apart(engine: Engine) -> float:
    """The largest difference, in nats a token."""
    pictures = {name: Picture(key=name, load=partial(_drawn, size)) for name, size in _SIZES.items()}
    prompts = [(pictures[name], engine.prompter.prompt(question)) for name, question, _ in _TRIED]
    replies = [
        engine.prompter.continuation(prompt, reply) for (_, prompt), (_, _, reply) in zip(prompts, _TRIED, strict=True)
    ]
    together = engine.likelihoods(list(zip(prompts, replies, strict=True)))
    alone = [engine.step_by_step(prompt, reply) for prompt, reply in zip(prompts, replies, strict=True)]
    return float(np.max(np.abs(together - alone) / [len(reply) for reply in replies]))  # NaN where there is one


def _drawn(size: tuple[int, int]) -> Image:
    from PIL import Image

    return Image.linear_gradient("L").resize(size).convert("RGB")
