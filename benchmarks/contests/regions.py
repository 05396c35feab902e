"""LXMERT and VisualBERT on region features: the adapter reads them from a file, the loop has them as arrays.

There are two texts per image. Every round opens the file and reads each image from it again. Each loop runs the
tokenizer on a batch, then the library's encoder and the requested head.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from contests import contest
from contests.contest import IMAGES, LARGE, Contest, against, asked, chosen, drawn, imported, loaded, margin, pairs
from vlgate.models.regions.regions import COUNT, WIDTH
from vlgate.types import Ask, FloatArray, LazyImage, Match

LABELS = tuple(f"answer{number}" for number in range(3129))


class Ready:
    """Region features of images as tensors, and as the file ``regions.npz`` in a folder."""

    def __init__(self, images: Sequence[LazyImage], folder: Path) -> None:
        """Draw them, and write the file."""
        import torch

        chance = np.random.default_rng(3)
        features = chance.exponential(size=(len(images), COUNT, WIDTH)).astype(np.float32)
        corners: FloatArray = np.sort(chance.random((len(images), COUNT, 2, 2)), axis=2)
        boxes = corners.reshape(len(images), COUNT, 4).astype(np.float32)
        self.file = folder / "regions.npz"
        np.savez(self.file, images=[image.key for image in images], features=features, boxes=boxes)
        self._place = {image: index for index, image in enumerate(images)}
        self._features, self._boxes = torch.from_numpy(features), torch.from_numpy(boxes)

    def of(self, requests: Sequence[Match] | Sequence[Ask]) -> tuple[Any, Any]:
        """Features of shape (n, 36, 2048) and boxes of shape (n, 36, 4)."""
        rows = [self._place[request.image] for request in requests]
        return self._features[rows], self._boxes[rows]


def lxmert(folder: Path) -> Contest:
    """LXMERT's matching head."""
    hf = imported("transformers")
    model, tokenizer, ready = _loaded(hf.LxmertForPreTraining, _lxmert_config(hf), folder)

    def bare(some: Sequence[Match]) -> list[float]:
        features, boxes = ready.of(some)
        tokens = tokenizer([one.text for one in some], padding=True, return_tensors="pt")
        pooled = model.lxmert(visual_feats=features, visual_pos=boxes, **tokens).pooled_output
        return margin(model.cls.seq_relationship(pooled), 1)

    return against("lxmert", f"lxmert:{folder}?regions={ready.file}", _pairs(), bare)


def lxmert_vqa(folder: Path) -> Contest:
    """LXMERT's answering head over 3,129 answers, the best of each question's choices."""
    hf = imported("transformers")
    config = _lxmert_config(hf, num_qa_labels=len(LABELS))
    model, tokenizer, ready = _loaded(hf.LxmertForQuestionAnswering, config, folder)
    (folder / "label2ans.json").write_text(json.dumps(LABELS))

    def bare(some: Sequence[Ask]) -> list[str]:
        features, boxes = ready.of(some)
        tokens = tokenizer([one.question for one in some], padding=True, return_tensors="pt")
        logits = model(visual_feats=features, visual_pos=boxes, **tokens).question_answering_score
        return chosen(logits, LABELS, some)

    return against("lxmert-vqa", f"lxmert-vqa:{folder}?regions={ready.file}", _questions(), bare)


def visualbert(folder: Path) -> Contest:
    """VisualBERT's sentence-image head."""
    hf = imported("transformers")
    model, tokenizer, ready = _loaded(hf.VisualBertForPreTraining, _visualbert_config(hf), folder)

    def bare(some: Sequence[Match]) -> list[float]:
        tokens = tokenizer([one.text for one in some], padding=True, return_tensors="pt")
        pooled = model.visual_bert(**tokens, **_seen(ready, some)).pooler_output
        return margin(model.cls.seq_relationship(pooled), 1)

    return against("visualbert", f"visualbert:{folder}?match=1&regions={ready.file}", _pairs(), bare)


def visualbert_vqa(folder: Path) -> Contest:
    """VisualBERT's answering head over 3,129 answers; a mask follows each question."""
    hf = imported("transformers")
    config = _visualbert_config(hf, num_labels=len(LABELS))
    model, tokenizer, ready = _loaded(hf.VisualBertForQuestionAnswering, config, folder)
    (folder / "label2ans.json").write_text(json.dumps(LABELS))

    def bare(some: Sequence[Ask]) -> list[str]:
        tokens = tokenizer([f"{one.question} [MASK]" for one in some], padding=True, return_tensors="pt")
        return chosen(model(**tokens, **_seen(ready, some)).logits, LABELS, some)

    return against("visualbert vqa", f"visualbert:{folder}?regions={ready.file}", _questions(), bare)


CONTESTS: tuple[Callable[[Path], Contest], ...] = (lxmert, lxmert_vqa, visualbert, visualbert_vqa)


def lxmert_sizes() -> dict[str, Any]:
    """An LXMERT of middle size."""
    layers = {"l_layers": 5, "r_layers": 3, "x_layers": 3}
    sizes = {name: size for name, size in LARGE.items() if name != "num_hidden_layers"}
    return sizes | layers | {"vocab_size": len(imported("region_stubs").TOKENS), "max_position_embeddings": 64}


def _lxmert_config(hf: Any, **more: int) -> Any:
    return hf.LxmertConfig(**lxmert_sizes(), visual_feat_dim=WIDTH, **more)


def _visualbert_config(hf: Any, **more: int) -> Any:
    words = len(imported("region_stubs").TOKENS)
    return hf.VisualBertConfig(
        **LARGE, vocab_size=words, visual_embedding_dim=WIDTH, max_position_embeddings=64, **more
    )


def _loaded(cls: Any, config: Any, folder: Path) -> tuple[Any, Any, Ready]:
    model = loaded(cls, cls(config), folder)
    imported("region_stubs").save_tokenizer(folder)
    tokenizer = imported("transformers").BertTokenizer.from_pretrained(folder)
    return model, tokenizer, Ready(drawn(), folder)


def _seen(ready: Ready, some: Sequence[Match] | Sequence[Ask]) -> dict[str, Any]:
    """The arguments of the library for boxes, which have token type 0 in the release."""
    import torch

    features, _ = ready.of(some)
    there = torch.ones(features.shape[:2], dtype=torch.long)
    return {
        "visual_embeds": features,
        "visual_attention_mask": there,
        "visual_token_type_ids": torch.zeros_like(there),
    }


def sentences(count: int) -> list[str]:
    """Texts of words that the tokenizer of the stubs knows."""
    return contest.sentences([word for word in imported("region_stubs").TOKENS[5:] if word.isalpha()], count)


def _pairs() -> list[Match]:
    return pairs(drawn(), sentences(2 * IMAGES))


def _questions() -> list[Ask]:
    twice = [image for image in drawn() for _ in range(2)]
    return asked(twice, [f"{text} ?" for text in sentences(len(twice))], LABELS)
