"""Adapters of transformers' models against a bare batched loop of the same model, on the CPU with random weights.

A dual encoder, a matching head and a text-only model of middle size, on pictures drawn here. Each is timed in turn with
the loop that anybody would write, in one process; the median of the ratios of the rounds is printed (bar 0.9), and the
largest difference of the scores.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from vlgate.calling import Caller
from vlgate.models.registry import load
from vlgate.scoring import DEFAULT_BATCH, Scorer
from vlgate.types import FloatArray, Match, Picture, Read, Request

CHECKPOINTS = Path(__file__).parents[1] / "tests/models"  # who writes small tokenizers and processors for the tests
ROUNDS, PICTURES, TEXTS = 3, 64, ("a red square", "the big blue square on the left of it .")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """A checkpoint, what is asked of it, and the bare loop over the same requests."""

    name: str
    spec: str
    requests: Sequence[Request]
    bare: Callable[[Any], FloatArray]


def main() -> None:
    """Write the checkpoints, time, print."""
    try:
        import torch
        import transformers  # noqa: F401
    except ModuleNotFoundError as error:
        print(f"model_throughput: skipped, {error.name} is not installed; pip install 'vlgate[hf]'")
        return
    sys.path.insert(0, str(CHECKPOINTS))
    torch.manual_seed(0)
    with TemporaryDirectory() as folder:
        for contest in (clip(Path(folder)), vilt(Path(folder)), gpt2(Path(folder))):
            report(contest)


def imported(name: str) -> Any:
    """Import what has no types of its own."""
    return import_module(name)


def report(contest: Contest) -> None:
    """Time the adapter and the loop in turn."""
    import torch

    model: Any = load(contest.spec, folder=Path(), device="cpu").model
    scorer = Scorer(model=model, name="bench", caller=Caller(name="bench", size=DEFAULT_BATCH))
    ratios = []
    with torch.inference_mode():
        for _ in range(ROUNDS):
            start = perf_counter()
            ours = np.array([reply.score for reply in scorer.predict(contest.requests).values()])
            middle = perf_counter()
            expected = contest.bare(model)
            ratios.append((perf_counter() - middle) / (middle - start))
    spread = f"(rounds {min(ratios):.2f} to {max(ratios):.2f})"
    difference = float(np.abs(ours - expected).max())
    print(f"model_throughput: {contest.name}: {median(ratios):.2f} x a bare batched loop {spread}, bar 0.9")
    print(f"model_throughput: {contest.name}: {len(contest.requests)} requests, largest difference {difference:.1e}")


def drawn(side: int) -> list[Picture]:
    """Pictures of noise."""
    from PIL import Image

    chance = np.random.default_rng(0)
    noise = [chance.integers(0, 256, (side, side + 60, 3), dtype=np.uint8) for _ in range(PICTURES)]
    return [Picture(key=f"{place}.png", load=partial(Image.fromarray, one)) for place, one in enumerate(noise)]


def clip(folder: Path) -> Contest:
    """CLIP, each picture with two texts; the loop encodes each picture and each text once, too."""
    import torch

    hf, dual_checkpoints = imported("transformers"), imported("dual_checkpoints")

    text = dual_checkpoints.TEXT | {"bos_token_id": 98, "eos_token_id": 99, "pad_token_id": 99}
    text["max_position_embeddings"] = 64
    large = {"hidden_size": 384, "num_hidden_layers": 8, "num_attention_heads": 6, "intermediate_size": 1536}
    vision = large | {"image_size": 224, "patch_size": 16}
    model = hf.CLIPModel(hf.CLIPConfig(text_config=text | large, vision_config=vision, projection_dim=128))
    model.save_pretrained(folder / "clip")
    tokenizer = dual_checkpoints._clip_tokenizer()  # noqa: SLF001
    processor = hf.CLIPImageProcessorPil()
    tokenizer.save_pretrained(folder / "clip")
    processor.save_pretrained(folder / "clip")
    model.eval()
    pictures = drawn(224)
    requests = [Match(picture=picture, text=words) for picture in pictures for words in TEXTS]

    def bare(_: Any) -> FloatArray:
        pixels = processor(images=[picture.image() for picture in pictures], return_tensors="pt")
        tokens = tokenizer(list(TEXTS), padding=True, return_tensors="pt")
        rows = [model.get_image_features(**pixels), model.get_text_features(**tokens)]
        images, texts = (
            torch.nn.functional.normalize(getattr(row, "pooler_output", row), dim=-1).double() for row in rows
        )
        scores: FloatArray = (images @ texts.T).flatten().numpy()
        return scores

    return Contest(name="clip", spec=f"clip:{folder / 'clip'}", requests=requests, bare=bare)


def vilt(folder: Path) -> Contest:
    """ViLT's matching head, a text a picture."""
    hf, cross_checkpoints = imported("transformers"), imported("cross_checkpoints")

    large = {"hidden_size": 384, "num_hidden_layers": 8, "num_attention_heads": 6, "intermediate_size": 1536}
    config = hf.ViltConfig(**large, vocab_size=cross_checkpoints.DEC, image_size=224, patch_size=16)
    model = hf.ViltForImageAndTextRetrieval(config).eval()
    words = cross_checkpoints.bert_words(40)
    processor = hf.ViltProcessor(hf.ViltImageProcessorPil(size={"shortest_edge": 192}, size_divisor=16), words)
    model.save_pretrained(folder / "vilt")
    processor.save_pretrained(folder / "vilt")
    pictures = drawn(192)
    requests = [Match(picture=picture, text=TEXTS[place % 2]) for place, picture in enumerate(pictures)]

    def bare(_: Any) -> FloatArray:
        images, texts = [one.picture.image() for one in requests], [one.text for one in requests]
        inputs = processor(images=images, text=texts, padding=True, return_tensors="pt")
        scores: FloatArray = model(**inputs).logits[:, 0].double().numpy()
        return scores

    return Contest(name="vilt", spec=f"vilt:{folder / 'vilt'}", requests=requests, bare=bare)


def gpt2(folder: Path) -> Contest:
    """GPT-2's perplexity of 256 texts."""
    import torch

    hf, test_text_only = imported("transformers"), imported("test_text_only")

    tokenizer = test_text_only.tokenizer("gpt2")
    size = len(test_text_only.WORDS) + 6
    config = hf.GPT2Config(n_embd=384, n_layer=8, n_head=6, n_positions=64, vocab_size=size, bos_token_id=2)
    model = hf.GPT2LMHeadModel(config).eval()
    model.save_pretrained(folder / "gpt2")
    tokenizer.save_pretrained(folder / "gpt2")
    chance = np.random.default_rng(1)
    texts = [" ".join(chance.choice(test_text_only.WORDS, chance.integers(8, 30))) for _ in range(256)]

    def bare(_: Any) -> FloatArray:
        found = []
        for start in range(0, len(texts), DEFAULT_BATCH):
            some = ["<s> " + text for text in texts[start : start + DEFAULT_BATCH]]
            inputs = tokenizer(some, padding=True, return_tensors="pt")
            ids, mask = inputs["input_ids"], inputs["attention_mask"][:, 1:]
            logits = model(input_ids=ids, attention_mask=inputs["attention_mask"]).logits[:, :-1].float()
            lost = torch.nn.functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
            found.append(torch.exp((lost * mask).sum(1) / mask.sum(1)).double().numpy())
        return np.concatenate(found)

    return Contest(name="gpt2", spec=f"gpt2:{folder / 'gpt2'}", requests=[Read(text=text) for text in texts], bare=bare)


if __name__ == "__main__":
    main()
