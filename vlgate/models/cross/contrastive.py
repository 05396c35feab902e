"""``blip-itc:WEIGHTS`` and ``blip2-itc:WEIGHTS``: the contrastive score beside the matching head.

The score is the cosine of the features of image and text (image-text contrastive learning, ITC). BLIP projects the
class tokens of both sides (Li et al. 2022, section 3.2). BLIP-2 has one feature per query, and the score is the largest
cosine of them (Li et al. 2023, section 3.1). Both rank only: there is no point between yes and no.

Texts begin with ``[CLS]``, as in the authors' code; only the matching head takes ``[ENC]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vlgate.models.checkpoints.architecture import Architecture
from vlgate.models.cross import blip, matching_heads
from vlgate.models.cross.cross_encoder import Inputs, MatchingHead

if TYPE_CHECKING:
    import torch


def _blip(model: Any, inputs: Inputs) -> torch.Tensor:
    """Return cosines, shape (n, 1)."""
    images = model.vision_model(pixel_values=inputs.pixels["pixel_values"]).last_hidden_state[:, 0]
    texts = model.text_encoder(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask).last_hidden_state[:, 0]
    return _largest_cosine(inputs.each(model.vision_proj(images))[:, None], model.text_proj(texts))


def _blip2(model: Any, inputs: Inputs) -> torch.Tensor:
    """Return the largest cosine over the queries, shape (n, 1)."""
    seen = model.vision_model(pixel_values=inputs.pixels["pixel_values"]).last_hidden_state
    queries = model.query_tokens.expand(len(seen), -1, -1)
    images = model.qformer(query_embeds=queries, encoder_hidden_states=seen).last_hidden_state
    words = model.embeddings(input_ids=inputs.input_ids)
    texts = model.qformer(query_embeds=words, query_length=0, attention_mask=inputs.attention_mask).last_hidden_state
    # The Q-Former may stay in float32 while the rest is in half precision.
    precision = model.vision_projection.weight.dtype
    return _largest_cosine(
        inputs.each(model.vision_projection(images.to(precision))), model.text_projection(texts[:, 0].to(precision))
    )


def _largest_cosine(images: torch.Tensor, texts: torch.Tensor) -> torch.Tensor:
    """The largest cosine of a text, shape (n, d), with the features of its image, shape (n, q, d): shape (n, 1)."""
    from torch.nn.functional import cosine_similarity

    found: torch.Tensor = cosine_similarity(images.float(), texts.float()[:, None], dim=-1).amax(dim=1, keepdim=True)
    return found


BLIP = MatchingHead(
    default=blip.DEFAULT,
    architecture=Architecture(
        kind="blip", model="BlipForImageTextRetrieval", processor="BlipProcessor", may_miss=(r"itm_head\..*",)
    ),
    logits=_blip,
    places=lambda config: config.text_config.max_position_embeddings,
    match=None,
)
BLIP2 = MatchingHead(
    default=matching_heads.BLIP2_DEFAULT,
    architecture=Architecture(
        kind="blip-2", model="Blip2ForImageTextRetrieval", processor="Blip2Processor", may_miss=(r"itm_head\..*",)
    ),
    logits=_blip2,
    places=lambda config: config.qformer_config.max_position_embeddings,
    match=None,
)
