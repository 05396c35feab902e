"""Small random checkpoints of language models, which see no image."""

from functools import cache

import tokenizers
import torch
import transformers

SOME = "a the cat dog tree hill red blue runs sleeps on under two big small and sees no stop"
WORDS = SOME.split()
KINDS = ("gpt2", "gpt1", "bert")


@cache
def tokenizer(kind, more=()):
    """Return a tokenizer of whole words, with the special tokens of its kind; ``more`` are words beside ``WORDS``."""
    tokens = ["[PAD]", "[UNK]", "<s>", "[CLS]", "[SEP]", "[MASK]", *WORDS, *more]
    ids = {token: number for number, token in enumerate(tokens)}
    fast = tokenizers.Tokenizer(tokenizers.models.WordLevel(ids, "[UNK]"))
    fast.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    special = {"unk_token": "[UNK]", "pad_token": "[PAD]"}
    if kind == "gpt2":
        special["bos_token"] = "<s>"
    if kind == "bert":
        ends = [("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])]
        fast.post_processor = tokenizers.processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=ends)
        special |= {"cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=fast, **special)


@cache
def network(kind):
    """Return a model with weights of seed 0, large enough for texts to differ."""
    small = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 32}
    bert = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    cls, config, settings = {
        "gpt2": ("GPT2LMHeadModel", "GPT2Config", small | {"bos_token_id": 2, "eos_token_id": 2}),
        "gpt1": ("OpenAIGPTLMHeadModel", "OpenAIGPTConfig", small),
        "bert": ("BertForMaskedLM", "BertConfig", bert | {"max_position_embeddings": 32}),
    }[kind]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = getattr(transformers, cls)(getattr(transformers, config)(**settings, vocab_size=len(WORDS) + 6))
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.3)
    return model.eval()


def save(kind, folder):
    """Write a checkpoint, as ``save_pretrained`` does."""
    network(kind).save_pretrained(folder)
    tokenizer(kind).save_pretrained(folder)
    return folder
