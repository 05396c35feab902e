"""``blip2:WEIGHTS``: BLIP-2's image-text matching head over its Q-Former (Li et al. 2023, section 3.1).

The score is the logit of a match less that of none, each the mean over the query tokens. A match is index 1: the
authors take ``softmax(...)[:, 1]`` (salesforce/LAVIS), and so does the example of ``Blip2ForImageTextRetrieval``.

Texts go in as they stand, and whole; LAVIS takes ``.!"()*#:;~`` out of them and cuts them at 32 tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vlgate.models.checkpoints import Architecture
from vlgate.models.matching import Inputs
from vlgate.models.matching_head import MatchingHead

if TYPE_CHECKING:
    import torch

DEFAULT = "Salesforce/blip2-itm-vit-g"
MATCH = 1
_RETRIEVAL = Architecture(
    kind="blip-2",
    model="Blip2ForImageTextRetrieval",
    processor="Blip2Processor",
    may_miss=(r"(vision|text)_projection\..*",),  # of the contrastive score
)


def _logits(model: Any, inputs: Inputs) -> torch.Tensor:
    """Return logits of no match and match, shape (n, 2)."""
    import torch

    pictures = inputs.each(model.vision_model(pixel_values=inputs.pixels["pixel_values"]).last_hidden_state)
    queries = model.query_tokens.expand(len(inputs.which), -1, -1)
    mask = torch.cat([inputs.attention_mask.new_ones(queries.shape[:2]), inputs.attention_mask], dim=1)
    joined = model.qformer(
        query_embeds=model.embeddings(input_ids=inputs.input_ids, query_embeds=queries),
        query_length=queries.shape[1],
        attention_mask=mask,
        encoder_hidden_states=pictures,
    ).last_hidden_state
    # The Q-Former may stay in float32 where the rest is in half precision.
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
