"""``bridgetower:WEIGHTS``: BridgeTower's image-text matching head (Xu et al. 2023).

The score is the logit of a match minus the logit of no match. A match is index 1: the labels of
``BridgeTowerForImageAndTextRetrieval`` are 0 for pairs that do not match and 1 for those that do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vlgate.models.checkpoints.architecture import Architecture
from vlgate.models.cross.cross_encoder import Inputs
from vlgate.models.cross.matching_head import MatchingHead

if TYPE_CHECKING:
    import torch

DEFAULT = "BridgeTower/bridgetower-base-itm-mlm"
MATCH = 1
_RETRIEVAL = Architecture(
    kind="bridgetower",
    model="BridgeTowerForImageAndTextRetrieval",
    processor="BridgeTowerProcessor",
    # Parts of the two encoders that are used only if an encoder is used alone.
    may_miss=(r"bridgetower\.text_model\.pooler\..*", r"bridgetower\.vision_model\.visual\.ln_separate\..*"),
)


def _logits(model: Any, inputs: Inputs) -> torch.Tensor:
    """Return the logits of no match and of a match, shape (n, 2).

    The patches of an image are embedded once; the layers above mix image and text, so they run once per request.
    """
    patches = model.bridgetower.vision_model.visual.forward_pre(inputs.pixels["pixel_values"]).permute(1, 0, 2)
    reply = model(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask, image_embeds=inputs.each(patches))
    found: torch.Tensor = reply.logits
    return found


def _places(config: Any) -> int:
    # As in RoBERTa, positions are numbered from the padding token's id + 1.
    return int(config.text_config.max_position_embeddings - config.text_config.pad_token_id - 1)


HEAD = MatchingHead(
    default=DEFAULT,
    architecture=_RETRIEVAL,
    logits=_logits,
    places=_places,
    match=MATCH,
)
check, build = HEAD.check, HEAD.build
