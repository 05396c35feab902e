"""Decode and prepare images in threads, and find texts that are longer than a model's context."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeVar

from vlgate.asking.batching import out_of_memory
from vlgate.asking.image_prefetch import threads
from vlgate.errors import NoReplyError, VlgateError
from vlgate.models.checkpoints.load_errors import one_line
from vlgate.types import LazyImage

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

T = TypeVar("T")


def rgb_images(images: Sequence[LazyImage]) -> list[Image]:
    return prepared(images, lambda image: image)


def prepared(images: Sequence[LazyImage], prepare: Callable[[Image], T]) -> list[T]:
    return list(preparing(images, prepare))


def preparing(images: Sequence[LazyImage], prepare: Callable[[Image], T]) -> Iterator[T]:
    """Decode images and prepare each for a model, in threads: PIL and numpy release the interpreter's lock.

    Those that are ready are yielded while the threads go on.
    """
    distinct = list(dict.fromkeys(images))
    made: dict[LazyImage, T] = {}
    try:
        with ThreadPoolExecutor(threads()) as pool:
            coming = zip(distinct, pool.map(lambda image: prepare(image.load()), distinct), strict=True)
            for image in images:
                while image not in made:
                    ready, value = next(coming)
                    made[ready] = value
                yield made[image]
    except Exception as error:
        check_prepared(error, images, prepare)
        raise


def check_prepared(error: Exception, images: Sequence[LazyImage], prepare: Callable[[Image], object]) -> None:
    # What a processor refuses differs between families: a side ratio, a side that resizing reduces to 0, a number of
    # patches; and so does the exception.
    reasons: dict[LazyImage, str] = {}
    for image in () if isinstance(error, VlgateError) or out_of_memory(error) else dict.fromkeys(images):
        decoded = image.load()
        try:
            prepare(decoded)
        except Exception as refusal:  # a processor may raise anything
            if out_of_memory(refusal):
                raise
            reasons[image] = (
                f"the model's processor refuses the image {image.key!r} of {decoded.width} x {decoded.height} pixels "
                f"({type(refusal).__name__}: {one_line(refusal)})"
            )
    whys = {index: reasons[image] for index, image in enumerate(images) if image in reasons}
    if whys:
        raise NoReplyError(whys, next(iter(whys.values())), whys) from error


def moved(values: torch.Tensor, device: torch.device, dtype: torch.dtype) -> torch.Tensor:
    on_gpu = device.type == "cuda"  # it fetches them from pinned memory, so that the copy does not hold up the process
    source = values.pin_memory() if on_gpu else values
    return source.to(device, dtype if values.is_floating_point() else None, non_blocking=on_gpu)


def cut_texts(tokenizer: Any, texts: Sequence[str], length: int) -> set[str]:
    return set(compress(texts, cut_off(tokenizer, texts, length)))


def cut_off(tokenizer: Any, texts: Sequence[str], length: int) -> list[bool]:
    """Return which texts lose their end if they are cut at ``length`` tokens, special tokens included."""
    if not texts:
        return []
    # verbose=False: the tokenizer would warn of exactly the texts that are looked for here.
    return [len(ids) > length for ids in tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]]


def rows_as_keys(tokens: torch.Tensor) -> list[bytes]:
    """Return a key per row of tokens; only keys of one call can be compared, as the longest text sets the padding."""
    return [row.tobytes() for row in tokens.cpu().numpy()]


def knows_words(tokenizer: Any) -> bool:
    """Return whether a tokenizer has words besides its special tokens; also True if it is not a tokenizer."""
    special = getattr(tokenizer, "all_special_tokens", None)
    if special is None or tokenizer.vocab_size > len(special) + 1:
        return True
    return bool(set(tokenizer.get_vocab()) - {*special, "▁"})  # T5's tokenizer has "▁" even without words
