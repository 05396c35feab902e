"""Small checkpoints of judges: classifiers and masked models with probabilities set by hand, or random ones."""

import math

import text_checkpoints
import torch
import transformers
from cross_checkpoints import bert_words, roberta_words, wider

SMALL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


def empty(model):
    """Set all weights to zero, so that the output is the last bias, whatever the text."""
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
    return model.eval()


def constant_classifier(folder, labels):
    """Write a classifier that gives each text the probabilities of ``labels``, a dictionary by label."""
    tokenizer = text_checkpoints.tokenizer("bert")
    config = transformers.BertConfig(
        **SMALL, vocab_size=len(tokenizer), max_position_embeddings=32, id2label=dict(enumerate(labels)),
        num_labels=len(labels),
    )  # fmt: skip
    model = empty(transformers.BertForSequenceClassification(config))
    with torch.no_grad():
        model.classifier.bias.copy_(torch.tensor([math.log(one) for one in labels.values()]))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def random_classifier(folder, labels=("entailment", "neutral", "contradiction")):
    """Write a classifier with random weights, large enough for texts to differ."""
    tokenizer = text_checkpoints.tokenizer("bert")
    config = transformers.BertConfig(
        **SMALL, vocab_size=len(tokenizer), max_position_embeddings=32, id2label=dict(enumerate(labels)),
        num_labels=len(labels),
    )  # fmt: skip
    wider(transformers.BertForSequenceClassification(config), 0).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def constant_filler(folder, words):
    """Write a masked model that gives each place the probabilities of ``words``; all other words have nearly none."""
    tokenizer = text_checkpoints.tokenizer("bert")
    config = transformers.BertConfig(**SMALL, vocab_size=len(tokenizer), max_position_embeddings=32)
    model = empty(transformers.BertForMaskedLM(config))
    bias = torch.full((len(tokenizer),), -60.0)
    for word, probability in words.items():
        bias[tokenizer.convert_tokens_to_ids(word)] = math.log(probability)
    with torch.no_grad():
        model.cls.predictions.bias.copy_(bias)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def random_filler(folder, kind):
    """Write a masked model with random weights and a tokenizer of word pieces: ``bert`` or ``roberta``."""
    if kind == "bert":
        tokenizer = bert_words(32)
        config = transformers.BertConfig(**SMALL, vocab_size=len(tokenizer), max_position_embeddings=32)
        model = transformers.BertForMaskedLM(config)
    else:
        tokenizer, size = roberta_words()
        config = transformers.RobertaConfig(
            **SMALL, vocab_size=size, max_position_embeddings=20, pad_token_id=1, bos_token_id=0, eos_token_id=2
        )
        model = transformers.RobertaForMaskedLM(config)
    wider(model, 0).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
