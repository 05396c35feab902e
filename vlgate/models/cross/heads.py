"""Heads of transformers that read pixels and text together, by the name of the model; and how each is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from vlgate.models.checkpoints.hub import downloads, requested
from vlgate.models.checkpoints.load_errors import tried
from vlgate.models.cross import blip, vilt
from vlgate.models.cross.answer_lists import check_answers
from vlgate.models.cross.cross_encoder import (
    AnsweringHead,
    CrossEncoder,
    Inputs,
    MatchingHead,
    Preparation,
    QuestionAnswerer,
    check_files,
    loaded,
    rank_score,
)
from vlgate.models.specs import Options, registered

if TYPE_CHECKING:
    import torch

# The score of ``blip2``, ``bridgetower`` and ``flava`` is the logit of a match minus the logit of no match. A match is
# index 1 of the logits, of shape (n, 2). Texts are not changed and not shortened.
MATCH = 1
fetch = downloads


def _blip2_logits(model: Any, inputs: Inputs) -> torch.Tensor:
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
    logits: torch.Tensor = model.itm_head(joined[:, : queries.shape[1]].to(model.itm_head.weight.dtype)).mean(dim=1)
    return logits


# BLIP-2's head over its Q-Former, averaged over the query tokens (Li et al. 2023, section 3.1). The authors take
# ``softmax(...)[:, 1]`` (salesforce/LAVIS), as does the example of ``Blip2ForImageTextRetrieval``. LAVIS removes
# ``.!"()*#:;~`` from texts and cuts them at 32 tokens.
BLIP2 = MatchingHead(
    processor="Blip2Processor",
    may_miss=(r"(vision|text)_projection\..*",),  # only the contrastive score uses them
    logits=_blip2_logits,
    places=lambda config: config.qformer_config.max_position_embeddings,
    match=MATCH,
)


def _bridgetower_logits(model: Any, inputs: Inputs) -> torch.Tensor:
    # The patches of an image are embedded once; the layers above mix image and text, so they run once per request.
    patches = model.bridgetower.vision_model.visual.forward_pre(inputs.pixels["pixel_values"]).permute(1, 0, 2)
    reply = model(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask, image_embeds=inputs.each(patches))
    logits: torch.Tensor = reply.logits
    return logits


# BridgeTower's head (Xu et al. 2023): the labels of ``BridgeTowerForImageAndTextRetrieval`` are 1 for pairs that match.
BRIDGETOWER = MatchingHead(
    processor="BridgeTowerProcessor",
    # Parts of the two encoders that are used only if an encoder is used alone.
    may_miss=(r"bridgetower\.text_model\.pooler\..*", r"bridgetower\.vision_model\.visual\.ln_separate\..*"),
    logits=_bridgetower_logits,
    # As in RoBERTa, positions are numbered from the padding token's id + 1.
    places=lambda config: config.text_config.max_position_embeddings - config.text_config.pad_token_id - 1,
    match=MATCH,
)


def _flava_logits(model: Any, inputs: Inputs) -> torch.Tensor:
    import torch

    # Each image is encoded once. The multimodal transformer reads the last hidden states of the other two before their
    # final layer norms.
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
    logits: torch.Tensor = model.itm_head(joined.last_hidden_state)
    return logits


# FLAVA's head (Singh et al. 2022, section 3.2): ``FlavaForPreTraining`` treats pairs with ``itm_labels`` other than 0
# as matching. The head was trained on partly masked texts and images; here nothing is masked.
FLAVA = MatchingHead(
    processor="FlavaProcessor",
    # The codebook and the heads of the other losses, which the matching score does not use.
    may_miss=(
        r"image_codebook\..*", r"(mim|mlm|mmm_image|mmm_text)_head\..*", r"flava\.(image|text)_projection\..*",
        r"flava\.logit_scale", r"flava\.(image_model|text_model|multimodal_model)\.pooler\..*",
        r"flava\.image_model\.embeddings\.mask_token",
    ),
    logits=_flava_logits,
    places=lambda config: config.text_config.max_position_embeddings,
    match=MATCH,
)  # fmt: skip


# ``blip-itc`` and ``blip2-itc``: the contrastive score beside the matching head (image-text contrastive learning), the
# cosine of the features of image and text. BLIP projects the class tokens of both sides (Li et al. 2022, section 3.2).
# BLIP-2 has one feature per query, and the score is the largest cosine of them (Li et al. 2023, section 3.1). Both rank
# only: there is no point between yes and no. Texts begin with ``[CLS]``, as in the authors' code; only the matching
# head takes ``[ENC]``.


def _blip_cosines(model: Any, inputs: Inputs) -> torch.Tensor:
    images = model.vision_model(pixel_values=inputs.pixels["pixel_values"]).last_hidden_state[:, 0]
    texts = model.text_encoder(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask).last_hidden_state[:, 0]
    return _largest_cosine(inputs.each(model.vision_proj(images))[:, None], model.text_proj(texts))


def _blip2_cosines(model: Any, inputs: Inputs) -> torch.Tensor:
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

    cosines: torch.Tensor = cosine_similarity(images.float(), texts.float()[:, None], dim=-1)
    return cosines.amax(dim=1, keepdim=True)


BLIP_ITC = replace(blip.ITM, may_miss=(r"itm_head\..*",), logits=_blip_cosines, match=None, begins=None)
BLIP2_ITC = replace(BLIP2, may_miss=(r"itm_head\..*",), logits=_blip2_cosines, match=None)

HEADS: Mapping[str, MatchingHead | AnsweringHead] = MappingProxyType(
    {
        "blip": blip.ITM,
        "blip-itc": BLIP_ITC,
        "blip-vqa": blip.VQA,
        "blip2": BLIP2,
        "blip2-itc": BLIP2_ITC,
        "bridgetower": BRIDGETOWER,
        "flava": FLAVA,
        "vilt": vilt.RANKING,
        "vilt-vqa": vilt.VQA,
    }
)


def check(weights: str, folder: Path, *, name: str) -> None:
    source, options = requested(name, weights, folder)
    _check_options(HEADS[name], options, folder)
    if source.local:
        check_files(source, registered()[name])


def build(
    weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32", *, name: str
) -> CrossEncoder | QuestionAnswerer:
    source, options = requested(name, weights, folder)
    head = HEADS[name]
    _check_options(head, options, folder)
    model, processor, what = loaded(registered()[name], head, source, device=device, dtype=dtype)
    prepare = Preparation(processor, head.places(model.config), model)
    if isinstance(head, MatchingHead):
        return tried(CrossEncoder(head, model, prepare, options, what), source.asked)
    return tried(head.answerer(model, prepare, options, folder, what), source.asked)


def _check_options(head: MatchingHead | AnsweringHead, options: Options, folder: Path) -> None:
    if isinstance(head, MatchingHead):
        rank_score(options, head.match)
    else:
        check_answers(options.get("answers", ""), folder)
