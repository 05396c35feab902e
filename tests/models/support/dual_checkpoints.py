"""Small random checkpoints of the dual encoders of transformers, in the form that their authors save."""

import string
from pathlib import Path

import tokenizers
import torch
import transformers

LETTERS = string.ascii_lowercase
WORDS = ["a", "red", "blue", "square", "dot", "of", "the", "big", "."]
TEXT = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 37, "vocab_size": 100,
    "max_position_embeddings": 24,
}  # fmt: skip
VISION = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 37, "image_size": 32,
    "patch_size": 8,
}  # fmt: skip
EFFICIENT = {
    "image_size": 32, "width_coefficient": 1.0, "depth_coefficient": 1.0, "kernel_sizes": [3, 3],
    "in_channels": [32, 8], "out_channels": [8, 16], "strides": [1, 2], "num_block_repeats": [1, 1],
    "expand_ratios": [1, 2], "hidden_dim": 32,
}  # fmt: skip
SQUARE = {"height": 32, "width": 32}


def _letters(specials):
    tokens = [*specials, *LETTERS, *(letter + "</w>" for letter in LETTERS)]
    return {token: index for index, token in enumerate(tokens)}


def _clip_tokenizer():
    vocab = _letters([])
    vocab |= {"<|startoftext|>": 98, "<|endoftext|>": 99}
    return transformers.CLIPTokenizer(vocab=vocab, merges=[])


def _words_tokenizer():
    tokens = ["<pad>", "</s>", "<unk>", *WORDS]
    fast = tokenizers.Tokenizer(tokenizers.models.WordLevel({t: n for n, t in enumerate(tokens)}, "<unk>"))
    fast.normalizer = tokenizers.normalizers.Lowercase()
    fast.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    fast.post_processor = tokenizers.processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=fast, pad_token="</s>", eos_token="</s>", unk_token="<unk>"
    )


def _gemma(cls):
    tokens = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "▁", *string.ascii_letters, "."]
    return cls(vocab={token: index for index, token in enumerate(tokens)}, merges=[])


def _bert_tokenizer():
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    return transformers.BertTokenizer(vocab={token: index for index, token in enumerate(tokens)}, model_max_length=12)


def _tips_tokenizer():
    tokens = ["<pad>", "<unk>", "▁", *string.ascii_lowercase, "."]
    return transformers.Tipsv2Tokenizer(vocab={token: index for index, token in enumerate(tokens)})


def _roberta_tokenizer():
    specials = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    words = [("▁" + word, -1.0) for word in WORDS]
    return transformers.XLMRobertaTokenizer(vocab=[*specials, *words, ("▁", -2.0), ("<mask>", 0.0)])


def _parts(kind):
    """The class of the model, its configuration, its tokenizer and its image processor."""
    t = transformers
    clip_text = TEXT | {"bos_token_id": 98, "eos_token_id": 99, "pad_token_id": 99}
    naflex = {key: value for key, value in VISION.items() if key != "image_size"} | {"num_patches": 16}
    roberta = TEXT | {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
    plain, narrow = {"text_config": TEXT, "vision_config": VISION}, {"vision_config": VISION, "projection_dim": 16}
    cropped = t.CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=SQUARE)
    siglip = t.SiglipImageProcessor(size=SQUARE)
    made = {
        "clip": lambda: (t.CLIPModel, t.CLIPConfig(text_config=clip_text, **narrow), _clip_tokenizer(), cropped),
        "siglip": lambda: (t.SiglipModel, t.SiglipConfig(**plain), _words_tokenizer(), siglip),
        "siglip2": lambda: (t.SiglipModel, t.SiglipConfig(**plain), _gemma(t.GemmaTokenizer), siglip),
        "naflex": lambda: (
            t.Siglip2Model, t.Siglip2Config(text_config=TEXT, vision_config=naflex), _gemma(t.Siglip2Tokenizer),
            t.Siglip2ImageProcessor(patch_size=8, max_num_patches=16),
        ),
        "align": lambda: (
            t.AlignModel, t.AlignConfig(text_config=TEXT, vision_config=EFFICIENT, projection_dim=16),
            _bert_tokenizer(), t.EfficientNetImageProcessor(size=SQUARE),
        ),
        "altclip": lambda: (
            t.AltCLIPModel, t.AltCLIPConfig(text_config=roberta | {"project_dim": 32}, **narrow), _roberta_tokenizer(),
            cropped,
        ),
        "metaclip2": lambda: (
            t.MetaClip2Model, t.MetaClip2Config(text_config=roberta, **narrow), _roberta_tokenizer(), cropped
        ),
        "chinese-clip": lambda: (
            t.ChineseCLIPModel, t.ChineseCLIPConfig(text_config=TEXT | {"pad_token_id": 0}, **narrow),
            _bert_tokenizer(), t.ChineseCLIPImageProcessor(size=SQUARE, do_center_crop=False),
        ),
        "tipsv2": lambda: (
            t.Tipsv2Model, t.Tipsv2Config(**plain), _tips_tokenizer(), t.Tipsv2ImageProcessor(size=SQUARE)
        ),
    }  # fmt: skip
    return made[kind]()


KINDS = ("clip", "siglip", "siglip2", "naflex", "align", "altclip", "metaclip2", "chinese-clip", "tipsv2")


def save(kind: str, folder: Path) -> Path:
    """Write a checkpoint into ``folder``, with weights of seed 0, large enough for inputs to differ."""
    cls, config, *inputs = _parts(kind)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        model = cls(config)
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if weight.dim() > 1:
                    weight.normal_(0, 0.3)
                elif name in ("logit_bias", "logit_scale"):
                    weight.fill_({"logit_bias": -1.2, "logit_scale": 2.0}[name])
    model.save_pretrained(folder)
    for part in inputs:
        part.save_pretrained(folder)
    return folder
