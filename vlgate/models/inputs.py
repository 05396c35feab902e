"""What goes into a model: pictures decoded side by side, and texts that would not go in whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeVar

from vlgate.types import Picture

if TYPE_CHECKING:
    from PIL.Image import Image

T = TypeVar("T")

_MOST_THREADS = 8


def rgb_images(pictures: Sequence[Picture]) -> list[Image]:
    """Decode pictures in threads.

    Returns: PIL images in mode RGB, in the order of ``pictures``; a picture that stands there twice is decoded once.
    Raises: PictureError of the first picture, in that order, that cannot be decoded.
    """
    return prepared(pictures, lambda image: image)


def prepared(pictures: Sequence[Picture], prepare: Callable[[Image], T]) -> list[T]:
    """Decode pictures and prepare each for a model, in threads: PIL and numpy let go of the interpreter's lock.

    Args:
        pictures: n of them; one that stands there twice is decoded once.
        prepare: takes a PIL image in mode RGB and leaves it as it is.

    Returns: what ``prepare`` returned, in the order of ``pictures``.
    Raises: PictureError of the first picture, in that order, that cannot be decoded.
    """
    distinct = list(dict.fromkeys(pictures))
    with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as pool:
        found = dict(zip(distinct, pool.map(lambda picture: prepare(picture.image()), distinct), strict=True))
    return [found[picture] for picture in pictures]


def cut_texts(tokenizer: Any, texts: Sequence[str], length: int) -> set[str]:
    """Those of the texts that lose their end where they are cut at ``length`` tokens; see ``cut_off``."""
    return set(compress(texts, cut_off(tokenizer, texts, length)))


def cut_off(tokenizer: Any, texts: Sequence[str], length: int) -> list[bool]:
    """Say which texts lose their end where they are cut at ``length`` tokens, special tokens included.

    Args:
        tokenizer: of transformers.
        texts: n of them.
        length: the model's context.

    Returns: n truths.
    """
    if not texts:
        return []
    # The tokenizer would warn of texts that are longer than the model takes, which is what is looked for here.
    return [len(ids) > length for ids in tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]]


def knows_words(tokenizer: Any) -> bool:
    """Whether a tokenizer has a vocabulary beside its special tokens; True for what is no tokenizer.

    Args:
        tokenizer: of transformers.
    """
    special = getattr(tokenizer, "all_special_tokens", None)
    if special is None or tokenizer.vocab_size > len(special) + 1:
        return True
    return bool(set(tokenizer.get_vocab()) - {*special, "▁"})  # T5's has the blank even where it has no words
