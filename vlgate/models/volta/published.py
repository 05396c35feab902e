"""The configurations with which VOLTA's controlled models were published (``config/ctrl_*.json`` of e-bug/volta)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

NAMES = ("vilbert", "lxmert", "uniter", "vl-bert", "visualbert")


def published(name: str) -> dict[str, Any]:
    """Return the settings of a controlled model, under VOLTA's names.

    >>> published("lxmert")["tv_attn_sublayers"]
    [18, 21, 24, 27, 30]

    Args:
        name: one of ``NAMES``.
    """
    common: dict[str, Any] = {
        "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2, "bert_model": "bert-base-uncased",
        "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072, "pooler_size": 1024,
        "v_hidden_size": 768, "v_num_attention_heads": 12, "v_intermediate_size": 3072, "v_pooler_size": 1024,
        "v_feature_size": 2048, "num_locs": 5, "add_global_imgfeat": "first", "fusion_method": "mul",
        "image_embeddings": name,
    }  # fmt: skip
    return common | {"vilbert": _vilbert, "lxmert": _lxmert}.get(name, _single_stream)() | _EXTRA.get(name, {})


_EXTRA: dict[str, dict[str, Any]] = {"vl-bert": {"type_vocab_size": 3, "v_coordinate_embeddings_dim": 256}}


def _vilbert() -> dict[str, list[int]]:
    """Six layers of text, then six of co-attention, each followed by one layer of each stream by itself."""
    across, alone = range(12, 36, 4), range(14, 36, 4)
    return _lists(
        text=[*range(0, 12, 2), *alone],
        vision=alone,
        across=across,
        text_ff=range(1, 36, 2),
        vision_ff=range(13, 36, 2),
    )


def _lxmert() -> dict[str, list[int]]:
    """Nine layers of text and five of vision, then five of cross-attention (shared weights) and self-attention."""
    across, alone, after = range(18, 33, 3), range(19, 33, 3), range(20, 33, 3)
    lists = _lists(
        text=[*range(0, 18, 2), *alone],
        vision=[*range(0, 10, 2), *alone],
        across=across,
        text_ff=[*range(1, 18, 2), *after],
        vision_ff=[*range(1, 10, 2), *after],
    )
    return lists | {"shared_sublayers": list(across)}


def _single_stream() -> dict[str, list[int]]:
    """Twelve layers of BERT, in which every token attends to every token."""
    even, odd = range(0, 24, 2), range(1, 24, 2)
    lists = _lists(text=even, vision=even, across=even, text_ff=odd, vision_ff=odd)
    return lists | {"shared_sublayers": list(range(24)), "single_ln_sublayers": list(range(24))}


def _lists(
    *,
    text: Iterable[int],
    vision: Iterable[int],
    across: Iterable[int],
    text_ff: Iterable[int],
    vision_ff: Iterable[int],
) -> dict[str, list[int]]:
    return {
        "tt_attn_sublayers": list(text),
        "tv_attn_sublayers": list(across),
        "vt_attn_sublayers": list(across),
        "vv_attn_sublayers": list(vision),
        "t_ff_sublayers": list(text_ff),
        "v_ff_sublayers": list(vision_ff),
    }
