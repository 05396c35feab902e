"""What the tests of checkpoints share: a tiny BERT, as ``save_pretrained`` writes it."""

import pytest


@pytest.fixture(scope="session")
def original(tmp_path_factory):
    """A BERT with a head of two classes, and its tokenizer."""
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("hub") / "bert"
    config = transformers.BertConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, vocab_size=20, num_labels=2
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        transformers.BertForSequenceClassification(config).save_pretrained(folder)
    words = {word: index for index, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "cat"])}
    transformers.BertTokenizer(vocab=words).save_pretrained(folder)
    return folder
