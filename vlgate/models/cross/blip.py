"""``blip:WEIGHTS``: BLIP's image-text matching head (Li et al. 2022, section 3.2).

The score is the logit of a match minus the logit of no match. A match is index 1, and the authors say yes if its
softmax is above one half (salesforce/BLIP, issue 46).

The head was trained on texts that begin with the token ``[ENC]``, and the published figures were made with it
(``blip_retrieval.py`` of salesforce/BLIP, ``blip_image_text_matching.py`` of salesforce/LAVIS); so it is the default.
``BlipForImageTextRetrieval`` uses ``[CLS]`` instead (huggingface/transformers, issue 25629). ``?first=cls`` after the
weights does the same, for checkpoints that were trained in transformers.

Texts are not changed and not shortened; LAVIS removes ``.!"()*#:;~`` from them and cuts them at 35 tokens.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.architecture import Architecture, check_local, checked_option, loaded
from vlgate.models.checkpoints.hub import Pretrained, pretrained, split_options
from vlgate.models.checkpoints.trial import tried
from vlgate.models.cross.cross_encoder import CrossEncoder, Inputs, Preparation
from vlgate.models.cross.rank_score import OPTION, RankScore, rank_score

if TYPE_CHECKING:
    import torch

DEFAULT = "Salesforce/blip-itm-base-coco"
MATCH = 1
FIRST = ("cls", "enc")
NOTES = {
    "cls": "texts begin with [CLS], as in transformers; the published figures were made with [ENC] (?first=enc)",
    "enc": "",
}
_RETRIEVAL = Architecture(
    kind="blip",
    model="BlipForImageTextRetrieval",
    processor="BlipProcessor",
    may_miss=(r"(vision|text)_proj\..*",),  # only the contrastive score uses them
)


def encoded(model: Any, inputs: Inputs, first: int | None) -> torch.Tensor:
    """Return the states of BLIP's text encoder for each request, shape (n, length, d); each image is encoded once.

    Args:
        model: a model with a ``vision_model`` and a ``text_encoder``.
        inputs: n requests.
        first: the token that replaces each text's first one; None to keep it.
    """
    images = model.vision_model(pixel_values=inputs.pixels["pixel_values"]).last_hidden_state
    ids = inputs.input_ids
    if first is not None:
        ids = ids.clone()
        ids[:, 0] = first
    found: torch.Tensor = model.text_encoder(
        input_ids=ids,
        attention_mask=inputs.attention_mask,
        encoder_hidden_states=inputs.each(images),
    ).last_hidden_state
    return found


def first_token(model: Any, first: str) -> int | None:
    """Return the token that replaces the first token of a text: ``[ENC]``, which follows ``[DEC]`` in the vocabulary.

    Returns: the token's id; None if ``first`` is ``cls``, which keeps the text's own first token.
    Raises: ModelLoadError if the model has no token ``[ENC]``.
    """
    if first == "cls":
        return None
    text = model.config.text_config
    token = int(text.bos_token_id) + 1
    if token >= text.vocab_size:
        raise ModelLoadError(f"first={first!r}: the model has no token [ENC], whose id would be {token}; use first=cls")
    return token


def _logits(model: Any, first: int | None, inputs: Inputs) -> torch.Tensor:
    """Return the logits of no match and of a match, shape (n, 2)."""
    found: torch.Tensor = model.itm_head(encoded(model, inputs, first)[:, 0])
    return found


def _parsed(weights: str, folder: Path) -> tuple[Pretrained, str, RankScore]:
    name, options = split_options(weights, ("first", OPTION))
    first = checked_option("first", options.get("first", "enc"), FIRST)
    return pretrained(name, folder, default=DEFAULT), first, rank_score(options, MATCH)


def check(weights: str, folder: Path) -> None:
    """Check the options and the files of a local checkpoint. Imports no torch.

    Raises: ModelLoadError if an option is unknown, or if files are missing.
    """
    check_local(_parsed(weights, folder)[0], _RETRIEVAL)


def build(weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32") -> CrossEncoder:
    """Load a BLIP with a matching head.

    Args:
        weights: a hub repository or a local folder (empty for ``DEFAULT``), then ``?first=enc`` or ``?first=cls``,
            and ``score=logit`` to rank by the raw match logit.
        folder: the folder that the user started in.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.

    Raises: ModelLoadError if the checkpoint cannot be loaded; the message says what was looked for and what to do.
    """
    source, first, rank = _parsed(weights, folder)
    model, processor, what = loaded(_RETRIEVAL, source, device=device, dtype=dtype)
    prepare = Preparation(processor, model.config.text_config.max_position_embeddings, model)
    head = partial(_logits, model, first_token(model, first))
    encoder = CrossEncoder(head, prepare, rank=rank, fingerprint=f"{what} {first}", note=NOTES[first])
    return tried(encoder, source.asked)
