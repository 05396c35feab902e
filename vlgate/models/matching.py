"""What cross encoders that take pixels have in common.

A batch is n requests about m distinct pictures: each picture is prepared (and, where the architecture lets it be,
encoded) once, the texts are padded side by side, and a head says how well the two fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.errors import NoReplyError
from vlgate.models.inputs import cut_texts, rgb_images
from vlgate.types import FloatArray, Match, Picture

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """n requests about m distinct pictures, on the model's device.

    ``pixels`` is what the checkpoint's image processor makes of the pictures (``pixel_values`` of shape
    (m, 3, height, width), in the model's precision), ``which`` the picture of each request, shape (n,);
    ``input_ids`` and ``attention_mask`` are the texts, padded on the right, shape (n, length). ``cut`` holds the
    texts that lost their end.
    """

    pixels: Mapping[str, torch.Tensor]
    which: torch.Tensor
    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    cut: set[str]

    def each(self, of_pictures: torch.Tensor) -> torch.Tensor:
        """Rows of the m pictures, shape (m, ...), as rows of the n requests, shape (n, ...)."""
        return of_pictures.index_select(0, self.which)


class Preparation:
    """From pictures and texts to what a model takes.

    ``length`` is how many tokens, special ones included, go into the model.
    """

    def __init__(self, processor: Any, places: int, model: Any) -> None:
        """Take a checkpoint's processor (with ``image_processor`` and ``tokenizer``) and its model.

        ``places`` is how many positions the model has for tokens; its tokenizer may say that it takes fewer.
        """
        self.tokenizer = processor.tokenizer
        self.length = min(places, processor.tokenizer.model_max_length)
        self.device = model.device
        self._images = processor.image_processor
        self._dtype = model.dtype

    def inputs(self, pictures: Sequence[Picture], texts: Sequence[str]) -> Inputs:
        """Prepare n pictures with their n texts.

        Raises: PictureError of the first picture that cannot be decoded; NoReplyError for those too narrow to prepare.
        """
        import torch

        distinct = {picture: place for place, picture in enumerate(dict.fromkeys(pictures))}
        pixels = self._pixels(list(distinct), pictures)
        tokens = self.tokens(texts)
        return Inputs(
            pixels={name: self._placed(pixels[name]) for name in pixels if name.startswith("pixel_")},
            which=torch.tensor([distinct[picture] for picture in pictures], device=self.device),
            input_ids=tokens["input_ids"],
            attention_mask=tokens["attention_mask"],
            cut=cut_texts(self.tokenizer, texts, self.length) if tokens["input_ids"].shape[1] == self.length else set(),
        )

    def _pixels(self, distinct: Sequence[Picture], pictures: Sequence[Picture]) -> Any:
        images = rgb_images(distinct)
        try:
            return self._images(images=images, return_tensors="pt")
        except ValueError:
            alone = [self._refused(image) for image in images]
            refused = {picture for picture, no in zip(distinct, alone, strict=True) if no}
            if not refused:
                raise
            width, height = images[alone.index(True)].size
            raise NoReplyError(
                [place for place, picture in enumerate(pictures) if picture in refused],
                f"a picture of {width} x {height} pixels is too narrow for the model's patches once it is resized",
            ) from None

    def _refused(self, image: Any) -> bool:
        """Whether a picture cannot be prepared: of a strip whose longer side is held to a limit, no height is left."""
        try:
            self._images(images=[image], return_tensors="pt")
        except ValueError:
            return True
        return False

    def tokens(self, texts: Sequence[str]) -> Any:
        """Texts as tokens, padded on the right and cut at the model's length."""
        return self.tokenizer(
            list(texts), padding=True, padding_side="right", truncation=True, max_length=self.length,
            return_tensors="pt",
        ).to(self.device)  # fmt: skip

    def _placed(self, values: torch.Tensor) -> torch.Tensor:
        return values.to(self.device, self._dtype) if values.is_floating_point() else values.to(self.device)


class CrossEncoder:
    """A matcher: a head over picture and text together.

    ``decision_threshold`` is 0 where the head tells no match from match: there its probability is one half. It is
    None where the head was trained to rank. ``cut_texts`` holds the texts so far that lost their end, ``note``
    says what a reader of the results must know ("" for nothing).
    """

    def __init__(
        self,
        head: Callable[[Inputs], torch.Tensor],
        prepare: Preparation,
        *,
        match: int | None,
        fingerprint: str,
        note: str = "",
    ) -> None:
        """Take a head.

        Args:
            head: returns logits, shape (n, 2), or shape (n, 1) for a rank.
            prepare: makes the head's inputs.
            match: the column of the logits that stands for a match; None for a rank.
            fingerprint: what the scores depend on.
            note: what a reader of the results must know.
        """
        self.note = note
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self.decision_threshold = None if match is None else 0.0
        self._head = head
        self._prepare = prepare
        self._match = match

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        """Score pairs: the logit of a match less that of none, or the rank.

        Returns: scores of shape (n,).
        Raises: PictureError of the first picture that cannot be decoded; NoReplyError for those too narrow to prepare.
        """
        import torch

        inputs = self._prepare.inputs([pair.picture for pair in pairs], [pair.text for pair in pairs])
        with torch.inference_mode():
            logits = self._head(inputs).float().cpu().numpy()
        scores = margin(logits, self._match)
        self.cut_texts |= inputs.cut
        return scores


def margin(logits: Any, match: int | None) -> FloatArray:
    """What a matching head's logits say of a match, as one number.

    >>> margin([[1.0, 3.0], [2.0, 0.5]], 1).tolist()
    [2.0, -1.5]

    Args:
        logits: shape (n, 2), or (n, 1) where ``match`` is None.
        match: the column that stands for a match.

    Returns: shape (n,); positive where a match is more likely than none.
    """
    columns = np.asarray(logits, dtype=np.float64)
    if match is None:
        return columns[:, 0]
    return np.asarray(columns[:, match] - columns[:, 1 - match], dtype=np.float64)
