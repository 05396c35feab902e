"""``blip2:WEIGHTS``: BLIP-2's image-text matching head over its Q-Former (Li et al. 2023, section 3.1).

The score is the logit of a match minus the logit of no match, each averaged over the query tokens. A match is index 1:
the authors take ``softmax(...)[:, 1]`` (salesforce/LAVIS), as does the example of ``Blip2ForImageTextRetrieval``.

Texts are not changed and not shortened; LAVIS removes ``.!"()*#:;~`` from them and cuts them at 32 tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vlgate.models.checkpoints.architecture import Architecture
from vlgate.models.cross.cross_encoder import Inputs
from vlgate.models.cross.matching_head import MatchingHead

if TYPE_CHECKING:
    import torch

DEFAULT = "Salesforce/blip2-itm-vit-g"
MATCH = 1
_RETRIEVAL = Architecture(
    kind="blip-2",
    model="Blip2ForImageTextRetrieval",
    processor="Blip2Processor",
    may_miss=(r"(vision|text)_projection\..*",),  # only the contrastive score uses them
)


def _logits(model: Any, inputs: Inputs) -> torch.Tensor:
    """Return the logits of no match and of a match, shape (n, 2)."""
    import torch

    images = inputs.each(model.vision_model(pixel_values=inputs.pixels["pixel_values"]).last_hidden_state)
    queries = model.query_tokens.expand(len(inputs.which), -1, -1)
    mask = torch.cat([inputs.attention_mask.new_ones(queries.shape[:2]), inputs.attention_mask], dim=1)
    joined = model.qformer(
        query_embeds=model.embeddings(input_ids=inputs.input_ids, query_embeds=queries),
        query_length=queries.shape[1],
        attention_mask=mask,
        encoder_hidden_states=images,
    ).last_hidden_state
    # The Q-Former may stay in float32 while the rest is in half precision.
    found: torch.Tensor = model.itm_head(joined[:, : queries.shape[1]].to(model.itm_head.weight.dtype)).mean(dim=1)
    return found


HEAD = MatchingHead(
    default=DEFAULT,
    architecture=_RETRIEVAL,
    logits=_logits,
    places=lambda config: config.qformer_config.max_position_embeddings,
    match=MATCH,
)
check, build = HEAD.check, HEAD.build
