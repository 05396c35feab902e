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


def saved(model, tokenizer, folder):
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def classifier(tokenizer, labels):
    config = transformers.BertConfig(
        **SMALL, vocab_size=len(tokenizer), max_position_embeddings=64, id2label=dict(enumerate(labels)),
        num_labels=len(labels),
    )  # fmt: skip
    return transformers.BertForSequenceClassification(config)


def constant_classifier(folder, labels):
    """Write a classifier that gives each text the probabilities of ``labels``, a dictionary by label."""
    tokenizer = text_checkpoints.tokenizer("bert")
    model = empty(classifier(tokenizer, labels))
    with torch.no_grad():
        model.classifier.bias.copy_(torch.tensor([math.log(label) for label in labels.values()]))
    return saved(model, tokenizer, folder)


def random_classifier(folder, labels=("entailment", "neutral", "contradiction")):
    """Write a classifier with random weights, large enough for texts to differ."""
    tokenizer = text_checkpoints.tokenizer("bert")
    return saved(wider(classifier(tokenizer, labels), 0), tokenizer, folder)


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
    return saved(model, tokenizer, folder)


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
    return saved(wider(model, 0), tokenizer, folder)


def deciding_classifier(folder, labels, says):
    """Write a classifier that gives a text or pair the label of a word in it, of the first one in ``says``.

    ``says`` has the label of each word; a text without any of them has the first of ``labels``. Attention is uniform,
    so that the first place has the mean of the words' features, which the norms then scale to 1.
    """
    tokenizer = text_checkpoints.tokenizer("bert", tuple(says))
    model = empty(classifier(tokenizer, labels))
    layer, same = model.bert.encoder.layer[0], torch.eye(SMALL["hidden_size"])
    with torch.no_grad():
        for norm in (model.bert.embeddings.LayerNorm, layer.attention.output.LayerNorm, layer.output.LayerNorm):
            norm.weight.fill_(1)
        for dense in (layer.attention.self.value, layer.attention.output.dense, model.bert.pooler.dense):
            dense.weight.copy_(same)
        model.classifier.bias[0] = 5
        for index, (word, label) in enumerate(says.items()):
            feature = model.bert.embeddings.word_embeddings.weight[tokenizer.convert_tokens_to_ids(word)]
            feature[2 * index], feature[2 * index + 1] = 1, -1
            model.classifier.weight[list(labels).index(label), 2 * index] = 40 / 2**index
    return saved(model, tokenizer, folder)


def constant_causal(folder, words):
    """Write a causal model in which a word's probability is its number in ``words`` in proportion to 1 for the others.

    It does not depend on the words before.
    """
    tokenizer = text_checkpoints.tokenizer("gpt2", tuple(words))
    config = transformers.GPT2Config(
        n_embd=16, n_layer=1, n_head=2, n_positions=64, vocab_size=len(tokenizer), bos_token_id=2, eos_token_id=2,
        tie_word_embeddings=False,
    )  # fmt: skip
    model = empty(transformers.GPT2LMHeadModel(config))
    with torch.no_grad():
        model.transformer.ln_f.bias[0] = 1
        for word, likely in words.items():
            model.lm_head.weight[tokenizer.convert_tokens_to_ids(word), 0] = math.log(likely)
    return saved(model, tokenizer, folder)
