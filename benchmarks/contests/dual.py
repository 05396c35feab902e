"""Dual encoders of transformers, each image with two texts of its own; open_clip has a script of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from contests.contest import IMAGES, LARGE, SIDE, Contest, against, drawn, imported, loaded, pairs, sentences
from vlgate.types import Match

CONTEXT = 64
VISION = LARGE | {"image_size": SIDE, "patch_size": 16}


def clip(folder: Path) -> Contest:
    """CLIP; the texts are padded to the longest of the batch."""
    hf, dual_checkpoints = imported("transformers"), imported("dual_checkpoints")
    text = dual_checkpoints.TEXT | {"bos_token_id": 98, "eos_token_id": 99, "pad_token_id": 99}
    config = hf.CLIPConfig(text_config=text | LARGE | _PLACES, vision_config=VISION, projection_dim=128)
    side = {"height": SIDE, "width": SIDE}
    images = hf.CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size=side)
    tokenizer = dual_checkpoints._clip_tokenizer()  # noqa: SLF001
    return _contest("clip", hf.CLIPModel(config), images, tokenizer, folder, {"padding": True})


def siglip(folder: Path) -> Contest:
    """SigLIP; every text is padded to the whole context, as in its training."""
    hf, dual_checkpoints = imported("transformers"), imported("dual_checkpoints")
    config = hf.SiglipConfig(text_config=dual_checkpoints.TEXT | LARGE | _PLACES, vision_config=VISION)
    images = hf.SiglipImageProcessorPil(size={"height": SIDE, "width": SIDE})
    tokenizer = dual_checkpoints._words_tokenizer()  # noqa: SLF001
    padding = {"padding": "max_length", "max_length": CONTEXT, "return_attention_mask": False}
    return _contest("siglip", hf.SiglipModel(config), images, tokenizer, folder, padding)


_PLACES = {"max_position_embeddings": CONTEXT}
CONTESTS: tuple[Callable[[Path], Contest], ...] = (clip, siglip)


def _contest(name: str, model: Any, processor: Any, tokenizer: Any, folder: Path, padding: dict[str, Any]) -> Contest:
    words = imported("dual_checkpoints").WORDS
    for part in (processor, tokenizer):
        part.save_pretrained(folder)
    ours = loaded(type(model), model, folder)

    def bare(some: Sequence[Match]) -> list[float]:
        """Encode each image and each text once, and multiply row by row."""
        from torch.nn.functional import normalize

        images = list(dict.fromkeys(pair.image for pair in some))
        pixels = processor(images=[image.load() for image in images], return_tensors="pt")
        tokens = tokenizer([pair.text for pair in some], return_tensors="pt", **padding)
        found = (ours.get_image_features(**pixels), ours.get_text_features(**tokens))
        rows, texts = (normalize(one.pooler_output, dim=-1).double() for one in found)
        scores: list[float] = (rows.repeat_interleave(2, dim=0) * texts).sum(dim=1).tolist()
        return scores

    return against(name, f"{name}:{folder}", pairs(drawn(), sentences(words, 2 * IMAGES)), bare)
