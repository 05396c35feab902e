"""Train small judges of captions and foils: ``python scripts/train_judges.py OUT [--captions FILE]``.

OUT gets a folder each for the options of ``vlgate make``: ``mlm`` (a masked language model, whose spans are masked as
SpanBERT's), ``nli`` (entailment, neutral, contradiction), ``grammar`` (unacceptable, acceptable) and ``lm`` (a causal
language model). They learn from captions alone, COCO's or lines of JSON, or those of the drawn scenes: enough to run
each path with models that decide something, not to judge a set that you publish.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from train.vocabulary import save_tokenizer

from vlgate.making.inputs.reading import read_inputs
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import read_source
from vlgate.types import Match

STEPS = {"mlm": 400, "nli": 500, "grammar": 100, "lm": 100}
BATCH = 32
LENGTH = 64  # tokens of a text, or of two
RATE = 3e-3
SIZE = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
# So small a model learns to compare two texts soon only if its weights begin larger and none is dropped out.
FIRM = {"initializer_range": 0.1, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
INFERENCES = ("entailment", "neutral", "contradiction")
ACCEPTABLE = ("unacceptable", "acceptable")

# Words that say the same of a scene stand in one group, and those of two groups of a row contradict one another.
_ROWS: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("exactly one", "a single"), ("some", "a number of", "several")),
    tuple((word,) for word in "two three four five".split()),
    (("on", "on top of", "atop"), ("under", "beneath"), ("in front of",), ("behind",), ("next to", "beside", "near")),
    (("in", "inside"), ("outside",)),
    (("with",), ("without",)),
    (("is", "is clearly"), ("is not",)),
    (("are", "are clearly"), ("are not",)),
    (("there is a",), ("there is no",)),
)
_SPAN = 3  # the most tokens of a masked span


def main() -> None:
    """Read the options and train."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder of the four models")
    parser.add_argument("--captions", type=Path, metavar="FILE", help="captions (default: of the drawn scenes)")
    parser.add_argument("--seed", type=int, default=0, help="decides the weights and the order")
    parser.add_argument("--times", type=int, default=1, metavar="N", help="so many times the steps (for COCO, 10)")
    given = parser.parse_args()
    captions = scene_captions() if given.captions is None else captions_of(given.captions)
    train(captions, given.out, seed=given.seed, times=given.times, log=lambda line: print(line, flush=True))


def captions_of(file: Path) -> list[str]:
    return [caption.text.strip() for caption in read_inputs((file,), ("captions",)).inputs]


def scene_captions() -> list[str]:
    """Return the true texts of the drawn scenes."""
    tasks = read_source("scenes", ReadOptions(folders=(), seed=0, wanted=lambda _: True))
    asked = (pair for task in tasks for case in task.cases for pair in zip(case.requests, case.truths, strict=True))
    return list(dict.fromkeys(request.text for request, true in asked if isinstance(request, Match) and true is True))


def train(
    captions: Sequence[str], out: Path, *, seed: int = 0, times: int = 1, log: Callable[[str], None] = lambda _: None
) -> dict[str, Path]:
    """Train the four models on captions; return the folder of each by its option."""
    import torch
    import transformers

    said = " ".join(word for row in _ROWS for group in row for word in group)
    tokenizer = save_tokenizer([*captions, *[said] * 3], out / "tokenizer", length=LENGTH)
    bert: dict[str, Any] = {**SIZE, **FIRM, "vocab_size": len(tokenizer), "max_position_embeddings": LENGTH}
    gpt: dict[str, Any] = {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": LENGTH}
    gpt |= {
        "vocab_size": len(tokenizer),
        "bos_token_id": tokenizer.cls_token_id,
        "eos_token_id": tokenizer.sep_token_id,
    }

    def classifier(labels: Sequence[str]) -> Any:
        named: dict[str, Any] = {
            "id2label": dict(enumerate(labels)),
            "label2id": {label: n for n, label in enumerate(labels)},
        }
        return transformers.BertForSequenceClassification(transformers.BertConfig(**bert, **named))

    recipes: dict[str, tuple[Callable[[], Any], Callable[[Any], dict[str, Any]]]] = {
        "mlm": (
            lambda: transformers.BertForMaskedLM(transformers.BertConfig(**bert)),
            lambda chance: _masked(_some(captions, chance), tokenizer, chance),
        ),
        "nli": (lambda: classifier(INFERENCES), lambda chance: _classified(_pairs(captions, chance), tokenizer)),
        "grammar": (lambda: classifier(ACCEPTABLE), lambda chance: _classified(_orders(captions, chance), tokenizer)),
        "lm": (
            lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(**gpt)),
            lambda chance: _next_words(_some(captions, chance), tokenizer),
        ),
    }
    encoder: Any = None
    for number, (name, (model_of, batch)) in enumerate(recipes.items()):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed + number)
            model = model_of()
            if name in {"nli", "grammar"}:
                model.bert.load_state_dict(encoder, strict=False)
            loss = _fit(model, batch, times * STEPS[name], np.random.default_rng([seed, number]))
        encoder = model.bert.state_dict() if name == "mlm" else encoder
        log(f"{name}: loss {loss:.3f} after {times * STEPS[name]} steps")
        model.save_pretrained(out / name)
        tokenizer.save_pretrained(out / name)
    return {name: out / name for name in recipes}


def _fit(model: Any, batch: Callable[[Any], dict[str, Any]], steps: int, chance: Any) -> float:
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=max(steps, 2), pct_start=0.1)
    model.train()
    losses = []
    for _ in range(steps):
        loss = model(**batch(chance)).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        losses.append(loss.item())
    model.eval()
    return float(np.mean(losses[-10:]))


def _some(captions: Sequence[str], chance: Any) -> list[str]:
    return [captions[place] for place in chance.integers(len(captions), size=BATCH)]


def _tokens(tokenizer: Any, texts: Sequence[Any]) -> Any:
    return tokenizer(list(texts), padding=True, truncation=True, max_length=LENGTH, return_tensors="pt")


def _masked(texts: Sequence[str], tokenizer: Any, chance: Any) -> dict[str, Any]:
    """Mask one span of each text; only its tokens are learnt. Half of the texts stand twice, to learn to compare."""
    inputs = _tokens(tokenizer, [(text, text) if place % 2 else (text, "") for place, text in enumerate(texts)])
    labels = inputs["input_ids"].new_full(inputs["input_ids"].shape, -100)
    for row, length in enumerate(inputs["attention_mask"].sum(1).tolist()):
        begin = 1 + int(inputs["token_type_ids"][row].argmax()) if row % 2 else 1
        span = int(chance.integers(1, min(_SPAN, length - begin - 1) + 1))
        start = int(chance.integers(begin, length - span))
        labels[row, start : start + span] = inputs["input_ids"][row, start : start + span]
        inputs["input_ids"][row, start : start + span] = tokenizer.mask_token_id
    return {**inputs, "labels": labels}


def _next_words(texts: Sequence[str], tokenizer: Any) -> dict[str, Any]:
    inputs = _tokens(tokenizer, texts)
    labels = inputs["input_ids"].masked_fill(inputs["attention_mask"] == 0, -100)
    return {"input_ids": inputs["input_ids"], "attention_mask": inputs["attention_mask"], "labels": labels}


def _classified(lessons: Sequence[tuple[Any, int]], tokenizer: Any) -> dict[str, Any]:
    import torch

    texts, labels = zip(*lessons, strict=True)
    return {**_tokens(tokenizer, texts), "labels": torch.tensor(labels)}


def _orders(captions: Sequence[str], chance: Any) -> list[tuple[str, int]]:
    lessons = []
    for caption in _some(captions, chance):
        text = caption if chance.integers(2) else lesson(caption, chance)[0][1]
        words = text.split()
        good = bool(chance.integers(2)) or len(words) < 3
        lessons.append((text if good else " ".join(chance.permutation(words)), int(good)))
    return lessons


def _pairs(captions: Sequence[str], chance: Any) -> list[tuple[tuple[str, str], int]]:
    return [
        (pair, INFERENCES.index(label)) for text in _some(captions, chance) for pair, label in [lesson(text, chance)]
    ]


def lesson(text: str, chance: Any) -> tuple[tuple[str, str], str]:
    """Return a caption and another text, which it entails or contradicts, or which is about something else."""
    rewritten = list(_rewritten(text.lower(), chance))
    if not rewritten or chance.random() < 0.2:
        words = text.lower().split()
        if chance.random() < 0.5:
            return (text, text), "entailment"
        words[int(chance.integers(len(words)))] = "thing"
        return (text, " ".join([*words, "near a thing"])), "neutral"
    wanted = ("entailment", "contradiction")[int(chance.integers(2))]
    fitting = [one for one in rewritten if one[1] == wanted] or rewritten
    return fitting[int(chance.integers(len(fitting)))]


def _rewritten(text: str, chance: Any) -> Iterator[tuple[tuple[str, str], str]]:
    """Rewrite both sides of each word of ``_ROWS`` that a text has: with words of its own group and of another one."""
    for row in _ROWS:
        for place, group in enumerate(row):
            found = next((word for word in group if re.search(rf"\b{word}\b", text)), None)
            if found is None:
                continue

            def with_any(words: Sequence[str], found: str = found) -> str:
                return re.sub(rf"\b{found}\b", words[int(chance.integers(len(words)))], text, count=1)

            yield (with_any(group), with_any(group)), "entailment"
            others = [word for number, other in enumerate(row) if number != place for word in other]
            yield (with_any(group), with_any(others)), "contradiction"
            yield (with_any(others), with_any(group)), "contradiction"


if __name__ == "__main__":
    main()
