"""open_clip ViT-B-32 with random weights on 200 real photographs with two captions each.

Compares the suite's scoring with two loops written here: a bare batched one, once from the files and once over ready
tensors, and one that scores pair by pair. All run in turn in one process; ratios of throughput are printed.

Needs COCO's photographs and captions: ``--data DIR`` with ``images/coco/`` and ``captions/coco_captions_val2017.json``.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from run_all import Row

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.images.files import file_image
from vlgate.models.loading.registry import load
from vlgate.record.options import DEFAULT_BATCH
from vlgate.types import Match

BAR = 0.9
PHOTOGRAPHS, CAPTIONS, ROUNDS, PAIRS_TIMED = 200, 2, 3, 40


def main() -> None:
    """Load, time, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared/data")
    data = parser.parse_args().data
    try:
        pairs = read_pairs(data)
    except FileNotFoundError as error:
        print(f"open_clip_throughput: skipped, there is no {error.filename}; name a data folder with --data")
        return
    model: Any = load("open_clip:ViT-B-32/random", folder=Path()).model
    scorer = ModelPredictor(model=model, name="bench", caller=Caller(name="bench", size=DEFAULT_BATCH))
    report(model, scorer, pairs)


def report(model: Any, scorer: ModelPredictor, pairs: list[Match]) -> None:
    """Time the suite and the three loops in turn, and print the median of the ratios of the rounds."""
    images = list(dict.fromkeys(pair.image for pair in pairs))
    texts = [pair.text for pair in pairs]
    pixels = [model._prepare(image.load()) for image in images]  # noqa: SLF001  # the very same tensors
    rounds = []
    for _ in range(ROUNDS):
        ours, scores = timed(lambda: [p.score for p in scorer.predict(pairs).values()])
        bare, expected = timed(lambda: batched(model, pairs, [model._prepare(p.load()) for p in images], texts))  # noqa: SLF001
        ready, _ = timed(lambda: batched(model, pairs, pixels, texts))
        single, _ = timed(lambda: [one(model, pair) for pair in pairs[:PAIRS_TIMED]])
        rounds.append((bare / ours, ready / ours, single * len(pairs) / PAIRS_TIMED / ours))
        difference = float(np.abs(np.array(scores) - expected).max())
    names = ("a bare batched loop from the same files", "a bare batched loop over ready tensors", "pair by pair")
    for name, ratios in zip(names, zip(*rounds, strict=True), strict=True):
        spread = f"(rounds {min(ratios):.2f} to {max(ratios):.2f})"
        print(f"open_clip_throughput: {median(ratios):.2f} x the throughput of {name} {spread}")
        bar = BAR if name == names[0] else None
        print(Row(what=f"open_clip ViT-B-32: throughput against {name}", ratio=median(ratios), bar=bar))
    print(f"open_clip_throughput: {len(pairs)} pairs, {len(images)} photographs; largest difference {difference:.1e}")


def read_pairs(data: Path) -> list[Match]:
    """Two captions for each of the first 200 photographs in the folder."""
    content = json.loads((data / "captions/coco_captions_val2017.json").read_text())
    captions = defaultdict(list)
    for row in content["annotations"] if isinstance(content, dict) else content:
        captions[int(row["image_id"])].append(row["caption"])
    pairs = []
    for file in sorted((data / "images/coco").glob("*.jpg")):
        image = file_image(file.name, file)
        pairs += [Match(image=image, text=text) for text in captions[int(file.stem)][:CAPTIONS]]
    return pairs[: PHOTOGRAPHS * CAPTIONS]


def batched(model: Any, pairs: list[Match], pixels: list[Any], texts: list[str]) -> Any:
    """The loop that a user would write: stack, encode, multiply."""
    import torch

    images: list[Any] = []
    words: list[Any] = []
    with torch.inference_mode():
        for start in range(0, len(pixels), DEFAULT_BATCH):
            stacked = torch.stack(pixels[start : start + DEFAULT_BATCH])
            images.append(model._model.encode_image(stacked, normalize=True))  # noqa: SLF001
        for start in range(0, len(texts), DEFAULT_BATCH):
            tokens = model._tokenizer(texts[start : start + DEFAULT_BATCH])  # noqa: SLF001
            words.append(model._model.encode_text(tokens, normalize=True))  # noqa: SLF001
    place = {image: number for number, image in enumerate(dict.fromkeys(pair.image for pair in pairs))}
    rows = torch.cat(images)[[place[pair.image] for pair in pairs]]
    return (rows * torch.cat(words)).sum(dim=1).numpy()


def one(model: Any, pair: Match) -> float:
    """One pair, by itself."""
    return float(model.encode_images([pair.image])[0] @ model.encode_texts([pair.text])[0])


def timed(call: Any) -> tuple[float, Any]:
    """The seconds that a call takes, and its result."""
    start = perf_counter()
    value = call()
    return perf_counter() - start, value


if __name__ == "__main__":
    main()
