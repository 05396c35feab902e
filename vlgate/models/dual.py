"""The dual encoders of transformers: ``clip:``, ``siglip:``, ``siglip2:``, ``align:``, ``altclip:``, ``metaclip2:``.

``dual:`` takes a checkpoint of any of them.

The score is the cosine of the picture's and the text's features. A logit scale and bias would not change the order of
two scores; of a model that was trained with a sigmoid they make the decision threshold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.errors import ModelLoadError
from vlgate.models.cosine import sigmoid_threshold, threshold_note, unit_rows
from vlgate.models.dual_families import FAMILIES, Family, context, family_of
from vlgate.models.hub import Pretrained, folder_of, identity, pretrained, read_config, weights_form
from vlgate.models.hub_loading import load_model, load_processor
from vlgate.models.inputs import cut_off, prepared
from vlgate.models.missing import missing_package
from vlgate.types import FloatArray, Picture

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image


class DualModel:
    """A dual encoder of transformers.

    ``decision_threshold`` is the cosine above which a model that was trained with a sigmoid gives a pair more than one
    half; None for the others, which only rank. ``note`` says what a reader of the results must know, and
    ``cut_texts`` holds the texts so far that were longer than the model's context and lost their end.
    """

    def __init__(self, model: Any, tokenizer: Any, image_processor: Any, *, family: Family, fingerprint: str) -> None:
        """Take a model in evaluation mode, with what prepares its inputs; the tokenizer's padding is set here."""
        tokenizer.padding_side = "right"  # as in training, whatever was saved: positions count from the left
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self.decision_threshold = sigmoid_threshold(model)
        self.note = threshold_note(self.decision_threshold)
        self._model = model
        self._tokenizer = tokenizer
        self._image_processor = image_processor
        self._family = family
        self._length = context(family, model.config, tokenizer)

    def encode_images(self, images: Sequence[Picture]) -> FloatArray:
        """Encode pictures.

        Returns: rows of length 1, shape (n, d).
        Raises: PictureError for the first picture that cannot be decoded.
        """
        import torch

        found = prepared(images, self._prepare)
        inputs = {name: torch.cat([one[name] for one in found]) for name in found[0]}
        inputs["pixel_values"] = inputs["pixel_values"].to(self._model.dtype)
        return self._rows(self._model.get_image_features, inputs)

    def encode_texts(self, texts: Sequence[str]) -> FloatArray:
        """Encode texts; what goes beyond the model's context is cut off, and those texts are kept in ``cut_texts``.

        Returns: rows of length 1, shape (n, d).
        """
        family, length = self._family, self._length
        cased = [text.lower() for text in texts] if family.lowercase else list(texts)
        tokens = self._tokenizer(
            cased,
            padding=family.padding,
            truncation=True,
            max_length=length,
            return_attention_mask=True,
            return_tensors="pt",
        )
        # Only a text that fills the context may have lost something: the others need not be read a second time.
        full = (tokens["attention_mask"].sum(dim=1) == length).tolist()
        cut = cut_off(self._tokenizer, list(compress(cased, full)), length)
        self.cut_texts.update(compress(compress(texts, full), cut))
        names = ("input_ids", "attention_mask", "token_type_ids") if family.mask else ("input_ids",)
        return self._rows(self._model.get_text_features, {name: tokens[name] for name in names if name in tokens})

    def _prepare(self, image: Image) -> Mapping[str, torch.Tensor]:
        return dict(self._image_processor(images=image, return_tensors="pt"))

    def _rows(self, encode: Any, inputs: Mapping[str, torch.Tensor]) -> FloatArray:
        import torch

        with torch.inference_mode():
            found = encode(**{name: tensor.to(self._model.device) for name, tensor in inputs.items()})
            return unit_rows(getattr(found, "pooler_output", found))  # the features themselves came back before 5.0


def _check_words(source: Pretrained, tokenizer: Any, known: int) -> None:
    """A tokenizer of another model gives words that the model does not have, or has for something else."""
    if tokenizer.pad_token_id is None:
        raise ModelLoadError(f"{source.asked}: its tokenizer has no padding token; save the model's own beside it")
    if tokenizer.vocab_size > known:
        raise ModelLoadError(
            f"{source.asked}: its tokenizer has {tokenizer.vocab_size:,} tokens, its model knows {known:,}; save the "
            "tokenizer that the model was trained with beside the weights"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """What stands before the colon: the name of a family, or ``dual`` for any of them."""

    name: str
    default: str = ""

    def check(self, weights: str, folder: Path) -> None:
        """Say what is wrong with a local folder, as far as its names and configuration tell; imports no torch.

        Raises: ModelLoadError.
        """
        source = pretrained(weights, folder, default=self.default)
        if source.local:
            self._family(source)
            weights_form(folder_of(source))

    def build(self, weights: str = "", *, folder: Path, device: str = "cpu", dtype: str = "float32") -> DualModel:
        """Load a dual encoder.

        Args:
            weights: a hub repository or a local folder; see ``hub.pretrained``. The family's default where empty.
            folder: where the user started.
            device: a name that ``torch.device`` takes.
            dtype: ``float32``, ``float16`` or ``bfloat16``.

        Raises: ModelLoadError, which says what was looked for, where, and what to do.
        """
        source = pretrained(weights, folder, default=self.default)
        family = self._family(source)
        try:
            import transformers
        except ModuleNotFoundError as error:
            raise missing_package(error.name or "transformers", "hf") from None
        tokenizer = load_processor(transformers.AutoTokenizer, source)
        # Pillow resizes as in training; torchvision's tensors come out a little different.
        images = load_processor(transformers.AutoImageProcessor, source, backend="pil")
        cls = getattr(transformers, family.model_types[read_config(source)["model_type"]])
        model = load_model(cls, source, device=device, dtype=dtype, may_miss=family.may_miss)
        _check_words(source, tokenizer, model.config.text_config.vocab_size)
        what = (identity(source), transformers.__version__, type(tokenizer).__name__, dtype)
        return DualModel(model, tokenizer, images, family=family, fingerprint=" ".join(what))

    def _family(self, source: Pretrained) -> Family:
        name = "" if self.name == "dual" else self.name
        return family_of(read_config(source), folder_of(source), asked=source.asked, name=name)


_DOORS = {family.name: Door(name=family.name, default=family.default) for family in FAMILIES}
CLIP = _DOORS["clip"]
SIGLIP = _DOORS["siglip"]
SIGLIP2 = _DOORS["siglip2"]
ALIGN = _DOORS["align"]
ALTCLIP = _DOORS["altclip"]
METACLIP2 = _DOORS["metaclip2"]
DUAL = Door(name="dual")
