"""``blip:WEIGHTS``: BLIP's image-text matching head (Li et al. 2022, section 3.2).

The score is the logit of a match less that of none. A match is index 1, and one half of its softmax is where the
authors say yes (salesforce/BLIP, issue 46).

The head was trained, and its published figures made, on texts that begin with a token of their own, ``[ENC]``
(``blip_retrieval.py`` of salesforce/BLIP, ``blip_image_text_matching.py`` of salesforce/LAVIS), and so they begin here.
``BlipForImageTextRetrieval`` begins them with ``[CLS]`` (huggingface/transformers, issue 25629): ``?first=cls`` after
the weights does so too, for checkpoints that were trained in transformers.

Texts go in as they stand, and whole; LAVIS takes ``.!"()*#:;~`` out of them and cuts them at 35 tokens.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints import Architecture, check_local, checked_option, loaded
from vlgate.models.hub import Pretrained, pretrained, split_options
from vlgate.models.matching import CrossEncoder, Inputs, Preparation
from vlgate.models.trial import tried

if TYPE_CHECKING:
    import torch

DEFAULT = "Salesforce/blip-itm-base-coco"
MATCH = 1
FIRST = ("cls", "enc")
NOTES = {
    "cls": "its texts begin with [CLS], as in transformers; the published figures were made with [ENC] (?first=enc)",
    "enc": "",
}
_RETRIEVAL = Architecture(
    kind="blip",
    model="BlipForImageTextRetrieval",
    processor="BlipProcessor",
    may_miss=(r"(vision|text)_proj\..*",),  # of the contrastive score
)


def encoded(model: Any, inputs: Inputs, first: int | None) -> torch.Tensor:
    """What BLIP's text encoder makes of each request, shape (n, length, d); each picture is encoded once.

    Args:
        model: with a ``vision_model`` and a ``text_encoder``.
        inputs: n requests.
        first: the token that takes the place of each text's first; None to leave it.
    """
    pictures = model.vision_model(pixel_values=inputs.pixels["pixel_values"]).last_hidden_state
    ids = inputs.input_ids
    if first is not None:
        ids = ids.clone()
        ids[:, 0] = first
    found: torch.Tensor = model.text_encoder(
        input_ids=ids,
        attention_mask=inputs.attention_mask,
        encoder_hidden_states=inputs.each(pictures),
    ).last_hidden_state
    return found


def first_token(model: Any, way: str) -> int | None:
    """The token that a text begins with instead of its own first: ``[ENC]``, which follows ``[DEC]`` in the vocabulary.

    Raises: ModelLoadError where the model has no such token.
    """
    if way == "cls":
        return None
    text = model.config.text_config
    token = int(text.bos_token_id) + 1
    if token >= text.vocab_size:
        raise ModelLoadError(
            f"first={way!r}: the model has no token [ENC], whose number would be {token}; use first=cls"
        )
    return token


def _logits(model: Any, first: int | None, inputs: Inputs) -> torch.Tensor:
    """Return logits of no match and match, shape (n, 2)."""
    found: torch.Tensor = model.itm_head(encoded(model, inputs, first)[:, 0])
    return found


def _parsed(weights: str, folder: Path) -> tuple[Pretrained, str]:
    name, options = split_options(weights, ("first",))
    return pretrained(name, folder, default=DEFAULT), checked_option("first", options.get("first", "enc"), FIRST)


def check(weights: str, folder: Path) -> None:
    """Say whether local weights are there and the options known; imports no torch.

    Raises: ModelLoadError.
    """
    check_local(_parsed(weights, folder)[0], _RETRIEVAL)


def build(weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32") -> CrossEncoder:
    """Load a BLIP with a matching head.

    Args:
        weights: a hub repository or a local folder (``DEFAULT`` where empty), then ``?first=enc`` or ``?first=cls``.
        folder: where the user started.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.

    Raises: ModelLoadError, which says what was looked for, where, and what to do.
    """
    source, way = _parsed(weights, folder)
    model, processor, what = loaded(_RETRIEVAL, source, device=device, dtype=dtype)
    prepare = Preparation(processor, model.config.text_config.max_position_embeddings, model)
    head = partial(_logits, model, first_token(model, way))
    return tried(CrossEncoder(head, prepare, match=MATCH, fingerprint=f"{what} {way}", note=NOTES[way]), source.asked)
