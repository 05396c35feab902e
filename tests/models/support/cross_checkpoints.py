"""Small untrained checkpoints of cross encoders that read pixels, saved in the form of users' folders."""

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as hf
from PIL import Image

from vlgate.errors import ModelLoadError
from vlgate.models.cross import heads
from vlgate.types import LazyImage, Match

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (
    *("a", "the", "red", "blue", "square", "circle", "is", "on", "it", "what", "color", "this", "of", "left", "big"),
    *("two", "one", "yes", "no", "cat", "dog", "tree", "and", "?", ".", ",", "##s", "1", "2", "3"),
    *(f"word{number}" for number in range(60)),
)
TEXTS = ["a red square", "the blue circle is on the left of a big tree .", "a dog and two cats", "no"]
LABELS = ("yes", "no", "red", "blue", "2", "on the left", "square")
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
DEC = len(SPECIAL) + len(WORDS)  # BLIP's [DEC] and [ENC] follow the words of its tokenizer
ENC = DEC + 1
PLACES = 16


def bert_words(length=PLACES):
    vocabulary = {token: index for index, token in enumerate((*SPECIAL, *WORDS))}
    return hf.BertTokenizer(vocab=vocabulary, model_max_length=length)


def roberta_words():
    letters = sorted(set("".join(WORDS)) | {"Ġ"})
    tokens = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *letters]
    merges = [("Ġ", "r"), ("Ġr", "e"), ("Ġre", "d"), ("b", "l"), ("bl", "u"), ("blu", "e"), ("r", "e"), ("re", "d")]
    tokens += ["".join(pair) for pair in merges]
    vocabulary = {token: index for index, token in enumerate(dict.fromkeys(tokens))}
    return hf.RobertaTokenizer(vocab=vocabulary, merges=merges, model_max_length=PLACES), len(vocabulary)


def wider(model, seed):
    """Draw larger weights, biases included, so that different images and words give different scores."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1 or "bias" in name or "token" in name or "embedding" in name:
                scale = 0.5 if "embedding" in name or "token" in name else 0.15
                weight.copy_(torch.randn(weight.shape, generator=generator) * scale)
    return model.eval()


def vilt(cls="ViltForImageAndTextRetrieval", **options):
    config = hf.ViltConfig(
        **SMALL, vocab_size=DEC, max_position_embeddings=PLACES, image_size=64, patch_size=16, **options
    )
    processor = hf.ViltProcessor(hf.ViltImageProcessor(size={"shortest_edge": 48}, size_divisor=16), bert_words())
    return getattr(hf, cls)(config), processor


def vilt_vqa():
    return vilt("ViltForQuestionAnswering", id2label=dict(enumerate(LABELS)))


def blip(cls="BlipForImageTextRetrieval"):
    text = {
        **SMALL, "vocab_size": ENC + 1, "encoder_hidden_size": 32, "max_position_embeddings": PLACES,
        "bos_token_id": DEC, "pad_token_id": 0, "sep_token_id": 3, "eos_token_id": 3,
    }  # fmt: skip
    vision = {**SMALL, "image_size": 32, "patch_size": 16}
    config = hf.BlipConfig(text_config=text, vision_config=vision, image_text_hidden_size=16)
    processor = hf.BlipProcessor(hf.BlipImageProcessor(size={"height": 32, "width": 32}), bert_words())
    return getattr(hf, cls)(config), processor


def blip_vqa():
    return blip("BlipForQuestionAnswering")


def blip2():
    qformer = {
        **SMALL, "vocab_size": DEC + 1, "max_position_embeddings": PLACES, "encoder_hidden_size": 32,
        "cross_attention_frequency": 1, "use_qformer_text_input": True,
    }  # fmt: skip
    vision = {**SMALL, "image_size": 32, "patch_size": 16}
    config = hf.Blip2Config(
        vision_config=vision, qformer_config=qformer, num_query_tokens=4, image_text_hidden_size=16,
        image_token_index=DEC, text_config={"model_type": "opt", "hidden_size": 32, "num_hidden_layers": 1},
    )  # fmt: skip
    images = hf.BlipImageProcessor(size={"height": 32, "width": 32})
    return hf.Blip2ForImageTextRetrieval(config), hf.Blip2Processor(images, bert_words(), num_query_tokens=4)


def bridgetower():
    tokenizer, size = roberta_words()
    text = {**SMALL, "hidden_size": 64, "vocab_size": size, "max_position_embeddings": PLACES + 2}
    vision = {"hidden_size": 64, "num_hidden_layers": 2, "image_size": 32, "patch_size": 16}
    config = hf.BridgeTowerConfig(
        hidden_size=64, num_attention_heads=2, num_hidden_layers=2, text_config=text, vision_config=vision
    )
    images = hf.BridgeTowerImageProcessor(size={"shortest_edge": 32}, crop_size={"shortest_edge": 32}, size_divisor=16)
    return hf.BridgeTowerForImageAndTextRetrieval(config), hf.BridgeTowerProcessor(images, tokenizer)


def flava():
    config = hf.FlavaConfig(
        image_config={**SMALL, "image_size": 32, "patch_size": 16, "vocab_size": 12},
        text_config={**SMALL, "vocab_size": DEC, "max_position_embeddings": PLACES},
        multimodal_config=SMALL,
        image_codebook_config={"hidden_size": 4, "vocab_size": 12, "num_blocks_per_group": 1},
        hidden_size=32, projection_dim=16,
    )  # fmt: skip
    side = {"height": 32, "width": 32}
    images = hf.FlavaImageProcessor(size=side, crop_size=side)
    return hf.FlavaForPreTraining(config), hf.FlavaProcessor(images, bert_words())


MADE = {
    "vilt": vilt, "blip": blip, "blip2": blip2, "blip-itc": blip, "blip2-itc": blip2, "bridgetower": bridgetower,
    "flava": flava, "vilt_vqa": vilt_vqa, "blip_vqa": blip_vqa,
}  # fmt: skip


def save(name, folder, seed=0):
    """Write a checkpoint, as ``save_pretrained`` does."""
    model, processor = MADE[name]()
    wider(model, seed).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def of(name, weights, folder=None, **options):
    """Load a checkpoint with its adapter."""
    return heads.build(str(weights), folder or Path(), name=name.replace("_", "-"), **options)


def refused(name, weights, folder, *, by_check=False):
    """The message of ``build``, and of ``check`` if ``by_check``; both must be the same."""
    found = []
    for ask in (heads.check, heads.build) if by_check else (heads.build,):
        with pytest.raises(ModelLoadError) as caught:
            ask(str(weights), folder, name=name.replace("_", "-"))
        found.append(str(caught.value))
    assert len(set(found)) == 1
    return found[0]


def drawn(number):
    shape = ((40, 60, 3), (70, 50, 3), (33, 33, 3), (64, 90, 3))[number % 4]
    return Image.fromarray(np.random.default_rng(number).integers(0, 256, shape, dtype=np.uint8))


def images(count=4):
    return [LazyImage(key=f"p{number}", load=lambda number=number: drawn(number)) for number in range(count)]


def pairs(texts=TEXTS, count=4):
    return [Match(image=image, text=text) for image in images(count) for text in texts]
