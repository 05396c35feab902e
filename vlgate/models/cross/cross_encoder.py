"""The common part of cross encoders that read pixels.

A batch is n requests about m distinct images. Each image is prepared once (and encoded once, if the architecture allows
it), the texts are padded to one length, and a head scores how well image and text fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vlgate.explaining.record import Attended
from vlgate.models.checkpoints.inputs import check_prepared, cut_texts, rgb_images, rows_as_keys
from vlgate.models.cross.rank_score import RankScore
from vlgate.models.text.control_tokens import ControlTokens
from vlgate.types import FloatArray, LazyImage, Match

if TYPE_CHECKING:
    import torch


_ALIGNED_AT_ONCE = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """n requests about m distinct images, on the model's device.

    ``pixels`` is the output of the checkpoint's image processor (``pixel_values`` of shape (m, 3, height, width), in
    the model's precision), and ``which`` the index of the image of each request, shape (n,). ``input_ids`` and
    ``attention_mask`` are the texts, padded on the right, shape (n, length). ``cut`` holds the texts that lost their
    end.
    """

    pixels: Mapping[str, torch.Tensor]
    which: torch.Tensor
    input_ids: torch.Tensor
    attention_mask: torch.Tensor
    cut: set[str]

    def each(self, of_images: torch.Tensor) -> torch.Tensor:
        """Repeat rows of the m images, shape (m, ...), for the n requests, shape (n, ...)."""
        return of_images.index_select(0, self.which)


class Preparation:
    """Turns images and texts into the inputs of a model.

    ``length`` is the model's context in tokens, special tokens included. ``control`` are the tokens that no text may
    hold.
    """

    def __init__(self, processor: Any, places: int, model: Any) -> None:
        """Use a checkpoint's processor (with ``image_processor`` and ``tokenizer``) for its model.

        ``places`` is the number of token positions of the model; the limit of its tokenizer may be lower.
        """
        self.tokenizer = processor.tokenizer
        self.control = ControlTokens(processor.tokenizer)
        self.length = min(places, processor.tokenizer.model_max_length)
        self.device = model.device
        self._images = processor.image_processor
        self._dtype = model.dtype

    def inputs(self, images: Sequence[LazyImage], texts: Sequence[str]) -> Inputs:
        """Prepare n images with their n texts.

        Raises: ImageError for the first image that cannot be decoded; NoReplyError for refused images, and for texts
            that hold a control token.
        """
        import torch

        self.control.check([(text,) for text in texts])
        distinct = {image: place for place, image in enumerate(dict.fromkeys(images))}
        pixels = self._pixels(list(distinct), images)
        tokens = self.tokens(texts)
        return Inputs(
            pixels={name: self._placed(pixels[name]) for name in pixels if name.startswith("pixel_")},
            which=torch.tensor([distinct[image] for image in images], device=self.device),
            input_ids=tokens["input_ids"],
            attention_mask=tokens["attention_mask"],
            cut=self.cut(texts) if tokens["input_ids"].shape[1] == self.length else set(),
        )

    def _pixels(self, distinct: Sequence[LazyImage], images: Sequence[LazyImage]) -> Any:
        decoded = rgb_images(distinct)
        try:
            return self._images(images=decoded, return_tensors="pt")
        except Exception as error:
            check_prepared(error, images, lambda image: self._images(images=[image], return_tensors="pt"))
            raise

    def cut(self, texts: Sequence[str]) -> set[str]:
        """Return the texts that are longer than ``length`` tokens."""
        return cut_texts(self.tokenizer, texts, self.length)

    def tokens(self, texts: Sequence[str]) -> Any:
        """Turn texts into tokens, padded on the right and cut at ``length``."""
        return self.tokenizer(
            list(texts), padding=True, padding_side="right", truncation=True, max_length=self.length,
            return_tensors="pt",
        ).to(self.device)  # fmt: skip

    def words(self, inputs: Inputs) -> list[list[str]]:
        """Return the tokens of each request's text as strings, without padding."""
        counts = inputs.attention_mask.sum(dim=1).tolist()
        rows = zip(inputs.input_ids.tolist(), counts, strict=True)
        return [list(self.tokenizer.convert_ids_to_tokens(row[:count])) for row, count in rows]

    def text_keys(self, texts: Sequence[str]) -> list[bytes]:
        """Return the tokens of each text, cut at ``length``; a padding token is none of them."""
        return rows_as_keys(self.tokens(texts)["input_ids"])

    def _placed(self, values: torch.Tensor) -> torch.Tensor:
        return values.to(self.device, self._dtype) if values.is_floating_point() else values.to(self.device)


class CrossEncoder:
    """A matcher: a head over image and text together.

    ``decision_threshold`` is 0 for a head with logits of match and no match, whose probability is one half there; it is
    None for a head that was trained to rank, and for raw logits. ``align`` is how words align with patches, and
    ``roll`` the attention through all layers, None if the architecture does not say. ``cut_texts`` holds all texts so
    far that lost their end, and ``note`` is a note for the readers of the results ("" for nothing).
    """

    def __init__(
        self,
        head: Callable[[Inputs], torch.Tensor],
        prepare: Preparation,
        *,
        rank: RankScore,
        fingerprint: str,
        note: str = "",
    ) -> None:
        """Make a matcher of a head.

        Args:
            head: a function that returns logits, shape (n, 2), or (n, 1) for a ranking score.
            prepare: the preparation of the head's inputs.
            rank: how the logits become scores.
            fingerprint: a string that changes with everything that the scores depend on.
            note: a note for the readers of the results.
        """
        self.note = "; ".join(filter(None, (rank.note, note)))
        self.fingerprint = fingerprint + rank.mark
        self.cut_texts: set[str] = set()
        self.decision_threshold = rank.threshold
        self.align: Callable[[Inputs, list[list[str]], list[str]], list[Attended]] | None = None
        self.roll: Callable[[Inputs, list[str]], list[Attended]] | None = None
        self._head = head
        self._prepare = prepare
        self._rank = rank

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        """Score pairs: the logit of a match minus the logit of no match, the raw logit, or the ranking score.

        Returns: scores of shape (n,).
        Raises: ImageError for the first image that cannot be decoded; NoReplyError for refused images.
        """
        import torch

        inputs = self._prepare.inputs([pair.image for pair in pairs], [pair.text for pair in pairs])
        with torch.inference_mode():
            logits = self._head(inputs).float().cpu().numpy()
        scores = self._rank.of(logits)
        self.cut_texts |= inputs.cut
        return scores

    def attended(self, pairs: Sequence[Match]) -> list[Attended]:
        """Return how the words of each pair align with the patches of its image, or nothing if that is not known.

        Raises: ImageError for the first image that cannot be decoded; NoReplyError for refused images.
        """
        align = self.align
        if align is None:
            return []
        return self._maps(pairs, lambda inputs, texts: align(inputs, self._prepare.words(inputs), texts))

    def attention_rollout(self, pairs: Sequence[Match]) -> list[Attended]:
        """Return the attention rollout of each pair, or nothing if the architecture does not give its attention.

        Raises: ImageError for the first image that cannot be decoded; NoReplyError for refused images.
        """
        return [] if self.roll is None else self._maps(pairs, self.roll)

    def _maps(self, pairs: Sequence[Match], of: Callable[[Inputs, list[str]], list[Attended]]) -> list[Attended]:
        import torch

        found: list[Attended] = []
        for start in range(0, len(pairs), _ALIGNED_AT_ONCE):
            some = pairs[start : start + _ALIGNED_AT_ONCE]
            texts = [pair.text for pair in some]
            inputs = self._prepare.inputs([pair.image for pair in some], texts)
            with torch.inference_mode():
                found += of(inputs, texts)
        return found

    def text_keys(self, texts: Sequence[str]) -> list[bytes]:
        """Return the tokens of each text; longer texts are cut at the model's context and added to ``cut_texts``."""
        self.cut_texts |= self._prepare.cut(texts)
        return self._prepare.text_keys(texts)
