"""``bridgetower:WEIGHTS``: BridgeTower's image-text matching head (Xu et al. 2023).

The score is the logit of a match less that of none. A match is index 1: the labels of
``BridgeTowerForImageAndTextRetrieval`` are 0 for pairs that do not match and 1 for those that do.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.models.checkpoints import Architecture, check_local, loaded
from vlgate.models.hub import Pretrained, pretrained
from vlgate.models.matching import CrossEncoder, Inputs, Preparation

if TYPE_CHECKING:
    import torch

DEFAULT = "BridgeTower/bridgetower-base-itm-mlm"
MATCH = 1
_RETRIEVAL = Architecture(
    kind="bridgetower", model="BridgeTowerForImageAndTextRetrieval", processor="BridgeTowerProcessor"
)


def _logits(model: Any, inputs: Inputs) -> torch.Tensor:
    """Return logits of no match and match, shape (n, 2).

    A picture is cut into embedded patches once; the layers above go to and fro between picture and text.
    """
    patches = model.bridgetower.vision_model.visual.forward_pre(inputs.pixels["pixel_values"]).permute(1, 0, 2)
    reply = model(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask, image_embeds=inputs.each(patches))
    found: torch.Tensor = reply.logits
    return found


def _source(weights: str, folder: Path) -> Pretrained:
    return pretrained(weights, folder, default=DEFAULT)


def check(weights: str, folder: Path) -> None:
    """Say whether local weights are there; imports no torch.

    Raises: ModelLoadError.
    """
    check_local(_source(weights, folder), _RETRIEVAL)


def build(weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32") -> CrossEncoder:
    """Load a BridgeTower with a matching head.

    Args:
        weights: a hub repository or a local folder; ``DEFAULT`` where empty.
        folder: where the user started.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.

    Raises: ModelLoadError, which says what was looked for, where, and what to do.
    """
    model, processor, what = loaded(_RETRIEVAL, _source(weights, folder), device=device, dtype=dtype)
    text = model.config.text_config
    # As in RoBERTa, positions begin behind that of the padding.
    prepare = Preparation(processor, text.max_position_embeddings - text.pad_token_id - 1, model)
    return CrossEncoder(partial(_logits, model), prepare, match=MATCH, fingerprint=what)
