"""``vilt:WEIGHTS``: ViLT, which reads patches of pixels and words in one transformer (Kim et al. 2021).

The score is the single logit of ``ViltForImageAndTextRetrieval``, higher for a better fit. Its weights are initialised
with the matching row of the two-class head of the pretraining (``itm_score.fc.weight[1:]``, dandelin/ViLT) and trained
to rank the true text first among sixteen. Such a score has no point between yes and no, so there is no threshold.
transformers has no class with the two-class head, and the checkpoints on the hub do not contain it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vlgate.explaining.record import Attended
from vlgate.models.attending.regions import attention
from vlgate.models.attending.rollout import METHOD as ROLLOUT
from vlgate.models.attending.rollout import cells, mean_of_heads, rolled_out
from vlgate.models.checkpoints.architecture import Architecture
from vlgate.models.cross.alignment import aligned
from vlgate.models.cross.cross_encoder import Inputs, Preparation
from vlgate.models.cross.matching_head import MatchingHead

if TYPE_CHECKING:
    import torch

DEFAULT = "dandelin/vilt-b32-finetuned-coco"
_RETRIEVAL = Architecture(kind="vilt", model="ViltForImageAndTextRetrieval", processor="ViltProcessor")


def pooled(vilt: Any, inputs: Inputs) -> torch.Tensor:
    """Return the pooled output of a ``ViltModel`` for each request, shape (n, d).

    transformers takes the patches of an image in random order, and drops some if ``max_image_length`` is set. Here each
    image's patches are embedded once, in order, and all of them are used.
    """
    found: torch.Tensor = _reply(vilt, inputs)[0].pooler_output
    return found


def alignment(model: Any, inputs: Inputs, tokens: list[list[str]], texts: list[str]) -> list[Attended]:
    """Return how each request's words align with the patches of its image; see ``vlgate.models.cross.alignment``."""
    reply, real = _reply(model.vilt, inputs)
    return aligned(reply, inputs.input_ids.shape[1], real, tokens, texts)


def rollout(model: Any, inputs: Inputs, texts: list[str]) -> list[Attended]:
    """Return how much of each patch is in the token that the score of each request is computed from.

    Source: Abnar and Zuidema, ACL 2020; see ``vlgate.models.attending.rollout``.
    """
    reply, real = _reply(model.vilt, inputs, attentions=True)
    start = inputs.input_ids.shape[1] + 1
    found = []
    for place, (text, here) in enumerate(zip(texts, real.cpu(), strict=True)):
        rows, columns = int(here[:, 0].sum()), int(here[0].sum())
        token = rolled_out(mean_of_heads(reply.attentions, place))[0]
        patches = token[start:].reshape(*here.shape)[:rows, :columns].ravel()
        found.append(attention(text, cells((rows, columns)), patches, ROLLOUT))
    return found


def _reply(vilt: Any, inputs: Inputs, *, attentions: bool = False) -> tuple[Any, torch.Tensor]:
    """The output of a ``ViltModel``, and which patches of each request's image are real, shape (n, h, w)."""
    import torch

    patches, mask = _embedded(vilt.embeddings, inputs.pixels["pixel_values"], inputs.pixels["pixel_mask"])
    seen = torch.cat([mask.new_ones(len(mask), 1), mask.flatten(1)], dim=1)
    reply = vilt(
        input_ids=inputs.input_ids,
        attention_mask=inputs.attention_mask,
        image_embeds=inputs.each(patches),
        pixel_mask=inputs.each(seen),
        output_attentions=attentions,
    )
    return reply, inputs.each(mask)


def _embedded(embeddings: Any, pixels: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Embed m images: the class token and patches, shape (m, 1 + patches, d); the real patches, shape (m, h, w)."""
    import torch

    patches = embeddings.patch_embeddings(pixels)
    high, wide = patches.shape[2:]
    here = mask[:, :: mask.shape[1] // high, :: mask.shape[2] // wide][:, :high, :wide]
    sizes = list(zip(here[:, :, 0].sum(dim=1).tolist(), here[:, 0].sum(dim=1).tolist(), strict=True))
    positions = {size: _positions(embeddings, size, (high, wide)) for size in set(sizes)}
    whole = (patches + torch.stack([positions[size] for size in sizes])).flatten(2).transpose(1, 2)
    first = (embeddings.cls_token + embeddings.position_embeddings[:, :1]).expand(len(whole), -1, -1)
    return torch.cat([first, whole], dim=1), here


def _positions(embeddings: Any, size: tuple[int, int], padded: tuple[int, int]) -> torch.Tensor:
    """Interpolate the learned grid of positions to ``size`` patches, with zeros up to ``padded``, shape (d, h, w)."""
    from torch.nn import functional

    learned = embeddings.position_embeddings[:, 1:].transpose(1, 2)
    side = round(learned.shape[2] ** 0.5)
    grid = learned.reshape(1, -1, side, side)
    stretched = functional.interpolate(grid, size=size, mode="bilinear", align_corners=True)[0]
    found: torch.Tensor = functional.pad(stretched, (0, padded[1] - size[1], 0, padded[0] - size[0]))
    return found


def preparation(model: Any, processor: Any) -> Preparation:
    """Return the preparation of images and texts for a ViLT; published checkpoints have 40 token positions."""
    return Preparation(processor, model.config.max_position_embeddings, model)


def _rank(model: Any, inputs: Inputs) -> torch.Tensor:
    found: torch.Tensor = model.rank_output(pooled(model.vilt, inputs))
    return found


HEAD = MatchingHead(
    default=DEFAULT,
    architecture=_RETRIEVAL,
    logits=_rank,
    places=lambda config: config.max_position_embeddings,
    match=None,
    align=alignment,
    roll=rollout,
)
check, build = HEAD.check, HEAD.build
