"""``blip2:``, ``bridgetower:`` and ``flava:``: image-text matching heads of transformers, one row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vlgate.models.checkpoints.architecture import Architecture
from vlgate.models.cross.cross_encoder import Inputs, MatchingHead

if TYPE_CHECKING:
    import torch


# ``blip2:WEIGHTS``: BLIP-2's image-text matching head over its Q-Former (Li et al. 2023, section 3.1).
#
# The score is the logit of a match minus the logit of no match, each averaged over the query tokens. A match is index
# 1: the authors take ``softmax(...)[:, 1]`` (salesforce/LAVIS), as does the example of ``Blip2ForImageTextRetrieval``.
#
# Texts are not changed and not shortened; LAVIS removes ``.!"()*#:;~`` from them and cuts them at 32 tokens.

BLIP2_DEFAULT = "Salesforce/blip2-itm-vit-g"
BLIP2_MATCH = 1
_BLIP2 = Architecture(
    kind="blip-2",
    model="Blip2ForImageTextRetrieval",
    processor="Blip2Processor",
    may_miss=(r"(vision|text)_projection\..*",),  # only the contrastive score uses them
)


def _blip2_logits(model: Any, inputs: Inputs) -> torch.Tensor:
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


BLIP2 = MatchingHead(
    default=BLIP2_DEFAULT,
    architecture=_BLIP2,
    logits=_blip2_logits,
    places=lambda config: config.qformer_config.max_position_embeddings,
    match=BLIP2_MATCH,
)
check_blip2, build_blip2 = BLIP2.check, BLIP2.build


# ``bridgetower:WEIGHTS``: BridgeTower's image-text matching head (Xu et al. 2023).
#
# The score is the logit of a match minus the logit of no match. A match is index 1: the labels of
# ``BridgeTowerForImageAndTextRetrieval`` are 0 for pairs that do not match and 1 for those that do.

BRIDGETOWER_DEFAULT = "BridgeTower/bridgetower-base-itm-mlm"
BRIDGETOWER_MATCH = 1
_BRIDGETOWER = Architecture(
    kind="bridgetower",
    model="BridgeTowerForImageAndTextRetrieval",
    processor="BridgeTowerProcessor",
    # Parts of the two encoders that are used only if an encoder is used alone.
    may_miss=(r"bridgetower\.text_model\.pooler\..*", r"bridgetower\.vision_model\.visual\.ln_separate\..*"),
)


def _bridgetower_logits(model: Any, inputs: Inputs) -> torch.Tensor:
    """Return the logits of no match and of a match, shape (n, 2).

    The patches of an image are embedded once; the layers above mix image and text, so they run once per request.
    """
    patches = model.bridgetower.vision_model.visual.forward_pre(inputs.pixels["pixel_values"]).permute(1, 0, 2)
    reply = model(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask, image_embeds=inputs.each(patches))
    found: torch.Tensor = reply.logits
    return found


def _bridgetower_positions(config: Any) -> int:
    # As in RoBERTa, positions are numbered from the padding token's id + 1.
    return int(config.text_config.max_position_embeddings - config.text_config.pad_token_id - 1)


BRIDGETOWER = MatchingHead(
    default=BRIDGETOWER_DEFAULT,
    architecture=_BRIDGETOWER,
    logits=_bridgetower_logits,
    places=_bridgetower_positions,
    match=BRIDGETOWER_MATCH,
)
check_bridgetower, build_bridgetower = BRIDGETOWER.check, BRIDGETOWER.build


# ``flava:WEIGHTS``: FLAVA's image-text matching head (Singh et al. 2022, section 3.2).
#
# The score is the logit of a match minus the logit of no match. A match is index 1: ``FlavaForPreTraining`` treats
# pairs with ``itm_labels`` other than 0 as matching. The head was trained on partly masked texts and images; here
# nothing is masked.

FLAVA_DEFAULT = "facebook/flava-full"
FLAVA_MATCH = 1
_FLAVA = Architecture(
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


def _flava_logits(model: Any, inputs: Inputs) -> torch.Tensor:
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


FLAVA = MatchingHead(
    default=FLAVA_DEFAULT,
    architecture=_FLAVA,
    logits=_flava_logits,
    places=lambda config: config.text_config.max_position_embeddings,
    match=FLAVA_MATCH,
)
check_flava, build_flava = FLAVA.check, FLAVA.build
