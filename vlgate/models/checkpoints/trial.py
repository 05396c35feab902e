"""Send a trial request to a freshly loaded model, to find out early if its parts do not fit together."""

from __future__ import annotations

from typing import TypeVar

from vlgate.errors import ModelLoadError, ModelReplyError, NoReplyError
from vlgate.models.checkpoints.damaged import one_line
from vlgate.types import Answerer, Ask, LazyImage, Match, Matcher

M = TypeVar("M", bound=Matcher | Answerer)
_MISFITS = (RuntimeError, ValueError, LookupError, TypeError, AttributeError, NoReplyError, ModelReplyError)


def tried(model: M, asked: str) -> M:
    """Send a model one request about a blank image: a question, or a text to score.

    Args:
        model: a matcher or an answerer.
        asked: what the user wrote, for the message.

    Returns: the model.
    Raises: ModelLoadError if the model cannot reply.
    """
    from PIL import Image

    image = LazyImage(key="drawn", load=lambda: Image.new("RGB", (64, 64)))
    what = "answer a question" if isinstance(model, Answerer) else "score an image and a text"
    try:
        if isinstance(model, Answerer):
            model.answer([Ask(image=image, question="a")])
        else:
            model.match([Match(image=image, text="a")])
    except _MISFITS as error:
        raise ModelLoadError(
            f"{asked} cannot {what} ({type(error).__name__}: {one_line(error)}); check that its configuration, "
            "image processor and tokenizer belong to one model"
        ) from error
    return model
