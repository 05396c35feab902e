"""A first request as a model is loaded, so that parts that do not fit together show before anything is judged."""

from __future__ import annotations

from typing import TypeVar

from vlgate.errors import ModelLoadError, ModelReplyError, NoReplyError
from vlgate.models.damaged import one_line
from vlgate.types import Answerer, Ask, Match, Matcher, Picture

M = TypeVar("M", bound=Matcher | Answerer)
_MISFITS = (RuntimeError, ValueError, LookupError, TypeError, AttributeError, NoReplyError, ModelReplyError)


def tried(model: M, asked: str) -> M:
    """Ask a model a question of a drawn picture, or to score a text with it.

    Args:
        model: a matcher or an answerer.
        asked: what the user wrote, for the message.

    Returns: the model.
    Raises: ModelLoadError where it cannot reply.
    """
    from PIL import Image

    picture = Picture(key="drawn", load=lambda: Image.new("RGB", (64, 64)))
    what = "answer a question" if isinstance(model, Answerer) else "score a picture and a text"
    try:
        if isinstance(model, Answerer):
            model.answer([Ask(picture=picture, question="a")])
        else:
            model.match([Match(picture=picture, text="a")])
    except _MISFITS as error:
        raise ModelLoadError(
            f"{asked} cannot {what} ({type(error).__name__}: {one_line(error)}); see that its configuration, image "
            "processor and tokenizer are those of one model"
        ) from error
    return model
