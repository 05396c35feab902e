"""``vilt:WEIGHTS``: ViLT, which reads patches of pixels and words in one transformer (Kim et al. 2021).

The score is the rank of ``ViltForImageAndTextRetrieval``, one logit, higher for a better fit: its weights begin as
the matching row of the two-way head of the pretraining (``itm_score.fc.weight[1:]``, dandelin/ViLT) and are trained to
rank the true text first among sixteen. That says no yes or no, so there is no threshold. The pretraining's own two-way
head is not among the classes of transformers, nor among the weights that its hub checkpoints hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vlgate.models.checkpoints import Architecture
from vlgate.models.matching import Inputs, Preparation
from vlgate.models.matching_head import MatchingHead

if TYPE_CHECKING:
    import torch

DEFAULT = "dandelin/vilt-b32-finetuned-coco"
_RETRIEVAL = Architecture(kind="vilt", model="ViltForImageAndTextRetrieval", processor="ViltProcessor")


def pooled(vilt: Any, inputs: Inputs) -> torch.Tensor:
    """What a ``ViltModel`` makes of each request, shape (n, d).

    The library takes the patches of a picture in a random order, and leaves some out where ``max_image_length`` is
    set; here each picture's patches are embedded once, in their order, and all of them count.
    """
    patches, mask = _embedded(vilt.embeddings, inputs.pixels["pixel_values"], inputs.pixels["pixel_mask"])
    reply = vilt(
        input_ids=inputs.input_ids,
        attention_mask=inputs.attention_mask,
        image_embeds=inputs.each(patches),
        pixel_mask=inputs.each(mask),
    )
    found: torch.Tensor = reply.pooler_output
    return found


def _embedded(embeddings: Any, pixels: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Embed m pictures: patches with their class token, shape (m, 1 + places, d), and which of them are there."""
    import torch

    patches = embeddings.patch_embeddings(pixels)
    high, wide = patches.shape[2:]
    here = mask[:, :: mask.shape[1] // high, :: mask.shape[2] // wide][:, :high, :wide]
    sizes = list(zip(here[:, :, 0].sum(dim=1).tolist(), here[:, 0].sum(dim=1).tolist(), strict=True))
    positions = {size: _positions(embeddings, size, (high, wide)) for size in set(sizes)}
    whole = (patches + torch.stack([positions[size] for size in sizes])).flatten(2).transpose(1, 2)
    first = (embeddings.cls_token + embeddings.position_embeddings[:, :1]).expand(len(whole), -1, -1)
    seen = torch.cat([here.new_ones(len(here), 1), here.flatten(1)], dim=1)
    return torch.cat([first, whole], dim=1), seen


def _positions(embeddings: Any, size: tuple[int, int], padded: tuple[int, int]) -> torch.Tensor:
    """The learned grid of positions stretched over ``size`` patches, with zeros up to ``padded``, shape (d, h, w)."""
    from torch.nn import functional

    learned = embeddings.position_embeddings[:, 1:].transpose(1, 2)
    side = round(learned.shape[2] ** 0.5)
    grid = learned.reshape(1, -1, side, side)
    stretched = functional.interpolate(grid, size=size, mode="bilinear", align_corners=True)[0]
    found: torch.Tensor = functional.pad(stretched, (0, padded[1] - size[1], 0, padded[0] - size[0]))
    return found


def preparation(model: Any, processor: Any) -> Preparation:
    """How pictures and texts reach a ViLT; its texts have 40 places as published."""
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
)
check, build = HEAD.check, HEAD.build
