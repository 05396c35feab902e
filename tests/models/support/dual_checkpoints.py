"""Small random checkpoints of the dual encoders of transformers, in the form that their authors save."""

import string
from pathlib import Path

import tables
import tokenizers
import torch
import transformers

LETTERS = string.ascii_lowercase
WORDS = ["a", "red", "blue", "square", "dot", "of", "the", "big", "."]
TABLE, BASES = tables.read(__file__)
TEXT = BASES["TEXT"]
KINDS = tuple(TABLE)


def numbered(*tokens):
    return {token: index for index, token in enumerate(tokens)}


def _clip_tokenizer():
    letters = numbered(*LETTERS, *(letter + "</w>" for letter in LETTERS))
    return transformers.CLIPTokenizer(vocab=letters | {"<|startoftext|>": 98, "<|endoftext|>": 99}, merges=[])


def _words_tokenizer():
    fast = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbered("<pad>", "</s>", "<unk>", *WORDS), "<unk>"))
    fast.normalizer = tokenizers.normalizers.Lowercase()
    fast.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    fast.post_processor = tokenizers.processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=fast, pad_token="</s>", eos_token="</s>", unk_token="<unk>"
    )


NAMES = {
    "bert": numbered("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS),
    "gemma": numbered("<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "▁", *string.ascii_letters, "."),
    "tips": numbered("<pad>", "<unk>", "▁", *LETTERS, "."),
    "roberta": [
        *((token, 0.0) for token in ("<s>", "<pad>", "</s>", "<unk>")),
        *(("▁" + word, -1.0) for word in WORDS), ("▁", -2.0), ("<mask>", 0.0),
    ],
}  # fmt: skip


def save(kind: str, folder: Path) -> Path:
    """Write a checkpoint into ``folder``, with weights of seed 0, large enough for inputs to differ."""
    about, names = TABLE[kind], {**NAMES, "clip": _clip_tokenizer(), "words": _words_tokenizer()}
    config, *inputs = (tables.filled(about[part], BASES, names) for part in ("config", "tokenizer", "images"))
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        model = getattr(transformers, about["model"])(config)
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
