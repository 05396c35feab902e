"""``flava:WEIGHTS``: FLAVA's image-text matching head (Singh et al. 2022, section 3.2).

The score is the logit of a match minus the logit of no match. A match is index 1: ``FlavaForPreTraining`` treats pairs
with ``itm_labels`` other than 0 as matching. The head was trained on partly masked texts and images; here nothing is
masked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vlgate.models.checkpoints.architecture import Architecture
from vlgate.models.cross.cross_encoder import Inputs
from vlgate.models.cross.matching_head import MatchingHead

if TYPE_CHECKING:
    import torch

DEFAULT = "facebook/flava-full"
MATCH = 1
_PRETRAINING = Architecture(
    kind="flava",
    model="FlavaForPreTraining",
    processor="FlavaProcessor",
    # The codebook and the heads of the other losses, which the matching score does not use.
    may_miss=(
        r"image_codebook\..*", r"(mim|mlm|mmm_image|mmm_text)_head\..*", r"flava\.(image|text)_projection\..*",
        r"flava\.logit_scale", r"flava\.(image_model|text_model|multimodal_model)\.pooler\..*",
        r"flava\.image_model\.embeddings\.mask_token",
    ),
)  # fmt: skip


def _logits(model: Any, inputs: Inputs) -> torch.Tensor:
    """Return the logits of no match and of a match, shape (n, 2); each image is encoded once.

    The multimodal transformer reads the last hidden states of the other two before their final layer norms.
    """
    import torch

    flava = model.flava
    seen = flava.image_model(pixel_values=inputs.pixels["pixel_values"], output_hidden_states=True, return_dict=True)
    read = flava.text_model(
        input_ids=inputs.input_ids, attention_mask=inputs.attention_mask, output_hidden_states=True, return_dict=True
    )
    images = inputs.each(flava.image_to_mm_projection(seen.hidden_states[-1]))
    texts = flava.text_to_mm_projection(read.hidden_states[-1])
    before = images.shape[1] + int(flava.multimodal_model.use_cls_token)
    mask = inputs.attention_mask
    joined = flava.multimodal_model(
        torch.cat([images, texts], dim=1),
        attention_mask=torch.cat([mask.new_ones(len(mask), before), mask], dim=1),
        return_dict=True,
    )
    found: torch.Tensor = model.itm_head(joined.last_hidden_state)
    return found


HEAD = MatchingHead(
    default=DEFAULT,
    architecture=_PRETRAINING,
    logits=_logits,
    places=lambda config: config.text_config.max_position_embeddings,
    match=MATCH,
)
check, build = HEAD.check, HEAD.build
