"""Matching heads over pixels, one text per image: the loop and the adapter compute the same.

Each loop runs the processor on a batch, then the forward pass that the library documents for matching.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from contests.contest import IMAGES, LARGE, SIDE, Contest, against, drawn, imported, loaded, margin, pairs, sentences
from vlgate.types import Match

TOKENS = 40
SQUARE = {"height": SIDE, "width": SIDE}
VISION = LARGE | {"image_size": SIDE, "patch_size": 16}


def vilt(folder: Path) -> Contest:
    """ViLT's ranking head."""
    hf, cross_checkpoints = imported("transformers"), imported("cross_checkpoints")
    config = hf.ViltConfig(**VISION, vocab_size=cross_checkpoints.DEC)
    images = hf.ViltImageProcessor(size={"shortest_edge": SIDE - 16}, size_divisor=16)
    processor = hf.ViltProcessor(images, cross_checkpoints.bert_words(TOKENS))
    model = hf.ViltForImageAndTextRetrieval(config)
    return _contest("vilt", model, processor, folder, lambda ours, inputs: ours(**inputs).logits[:, 0].tolist())


def blip(folder: Path) -> Contest:
    """BLIP, with texts that begin with [ENC] as its authors' do."""
    hf, encoder = imported("transformers"), imported("cross_checkpoints").ENC
    model = hf.BlipForImageTextRetrieval(blip_config())

    def forward(ours: Any, inputs: Any) -> list[float]:
        inputs["input_ids"][:, 0] = encoder
        return margin(ours(**inputs, use_itm_head=True).itm_score, 1)

    return _contest("blip", model, blip_processor(), folder, forward)


def blip_config() -> Any:
    """A BLIP of middle size."""
    hf, cross_checkpoints = imported("transformers"), imported("cross_checkpoints")
    dec, encoder = cross_checkpoints.DEC, cross_checkpoints.ENC
    special = {"bos_token_id": dec, "pad_token_id": 0, "sep_token_id": 3, "eos_token_id": 3}
    text = {**LARGE, **special, "vocab_size": encoder + 1, "encoder_hidden_size": 384, "max_position_embeddings": 40}
    return hf.BlipConfig(text_config=text, vision_config=VISION, image_text_hidden_size=128)


def blip_processor() -> Any:
    """The processor of that BLIP."""
    hf, cross_checkpoints = imported("transformers"), imported("cross_checkpoints")
    return hf.BlipProcessor(hf.BlipImageProcessor(size=SQUARE), cross_checkpoints.bert_words(TOKENS))


def blip2(folder: Path) -> Contest:
    """BLIP-2's Q-Former with 32 queries; its processor writes the queries' places before each text."""
    hf, cross_checkpoints = imported("transformers"), imported("cross_checkpoints")
    size = cross_checkpoints.DEC
    qformer = {
        **LARGE, "vocab_size": size + 1, "max_position_embeddings": 80, "encoder_hidden_size": 384,
        "cross_attention_frequency": 2, "use_qformer_text_input": True,
    }  # fmt: skip
    config = hf.Blip2Config(
        vision_config=VISION, qformer_config=qformer, num_query_tokens=32, image_text_hidden_size=128,
        image_token_index=size, text_config={"model_type": "opt", "hidden_size": 32, "num_hidden_layers": 1},
    )  # fmt: skip
    tokenizer = cross_checkpoints.bert_words(80)
    processor = hf.Blip2Processor(hf.BlipImageProcessor(size=SQUARE), tokenizer, num_query_tokens=32)

    def forward(ours: Any, inputs: Any) -> list[float]:
        return margin(ours(**inputs, use_image_text_matching_head=True).logits_per_image, 1)

    return _contest("blip2", hf.Blip2ForImageTextRetrieval(config), processor, folder, forward)


def bridgetower(folder: Path) -> Contest:
    """BridgeTower, with four layers across the two towers."""
    hf, cross_checkpoints = imported("transformers"), imported("cross_checkpoints")
    tokenizer, size = cross_checkpoints.roberta_words()
    tokenizer.model_max_length = TOKENS
    text = {**LARGE, "vocab_size": size, "max_position_embeddings": TOKENS + 2}
    vision = {"hidden_size": 384, "num_hidden_layers": 8, "image_size": SIDE, "patch_size": 16}
    config = hf.BridgeTowerConfig(
        hidden_size=384, num_attention_heads=6, num_hidden_layers=4, text_config=text, vision_config=vision
    )
    side = {"shortest_edge": SIDE}
    images = hf.BridgeTowerImageProcessor(size=side, crop_size=side, size_divisor=16)
    processor = hf.BridgeTowerProcessor(images, tokenizer)
    model = hf.BridgeTowerForImageAndTextRetrieval(config)
    return _contest("bridgetower", model, processor, folder, lambda ours, inputs: margin(ours(**inputs).logits, 1))


def flava(folder: Path) -> Contest:
    """FLAVA, with four layers over both; the loop runs its three encoders and the matching head alone."""
    hf, cross_checkpoints = imported("transformers"), imported("cross_checkpoints")
    config = hf.FlavaConfig(
        image_config={**VISION, "vocab_size": 12},
        text_config={**LARGE, "vocab_size": cross_checkpoints.DEC, "max_position_embeddings": TOKENS},
        multimodal_config={**LARGE, "num_hidden_layers": 4},
        image_codebook_config={"hidden_size": 4, "vocab_size": 12, "num_blocks_per_group": 1},
        hidden_size=384,
        projection_dim=128,
    )
    images = hf.FlavaImageProcessor(size=SQUARE, crop_size=SQUARE)
    processor = hf.FlavaProcessor(images, cross_checkpoints.bert_words(TOKENS))

    def forward(ours: Any, inputs: Any) -> list[float]:
        return margin(ours.itm_head(ours.flava(**inputs).multimodal_embeddings), 1)

    return _contest("flava", hf.FlavaForPreTraining(config), processor, folder, forward)


CONTESTS: tuple[Callable[[Path], Contest], ...] = (vilt, blip, blip2, bridgetower, flava)


def _contest(
    name: str, model: Any, processor: Any, folder: Path, forward: Callable[[Any, Any], list[float]]
) -> Contest:
    words = [word for word in imported("cross_checkpoints").WORDS if word.isalpha()]
    processor.save_pretrained(folder)
    ours, prepare = loaded(type(model), model, folder), type(processor).from_pretrained(folder)

    def bare(some: Sequence[Match]) -> list[float]:
        images, texts = [one.image.load() for one in some], [one.text for one in some]
        return forward(ours, prepare(images=images, text=texts, padding=True, return_tensors="pt"))

    return against(name, f"{name}:{folder}", pairs(drawn(), sentences(words, IMAGES, 4, 7)), bare)
