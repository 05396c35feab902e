"""A WordPiece vocabulary of the words of some texts, saved as the files that the loaders of tokenizers read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
OFTEN = 3
"""How often a word must occur to be a piece of its own; the letters make up the others."""


def save_tokenizer(texts: Iterable[str], folder: Path, *, length: int) -> Any:
    """Save a BERT tokenizer of the words of texts: ``vocab.txt``, ``tokenizer.json`` and its configuration.

    Returns: the tokenizer.
    """
    import transformers

    words = Counter(word for text in texts for word in re.findall(r"[a-z0-9]+|[^\sa-z0-9]", text.lower()))
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    pieces = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters)]
    pieces += [word for word in sorted(words) if words[word] >= OFTEN and word not in set(pieces)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")
    tokenizer = transformers.BertTokenizer(
        vocab={piece: index for index, piece in enumerate(pieces)}, do_lower_case=True, model_max_length=length
    )
    tokenizer.save_pretrained(folder)
    return tokenizer
