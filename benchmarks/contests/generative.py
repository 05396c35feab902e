"""A generative model of LLaVA's kind, asked through its chat template: match scores and answers.

Each loop renders the prompts, runs the processor on the batch and the model once, each request with its own image.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from contests.contest import LARGE, SIDE, Contest, against, asked, drawn, imported, loaded, pairs, sentences
from vlgate.models.generative.prompts import VQASCORE
from vlgate.types import Ask, Match

REQUESTS = 12
CHOICES = ("red", "blue", "big cup")
CONTEXT = 512


def vlm(folder: Path) -> Contest:
    """VQAScore, one text per image: the probability of "Yes" as the next token."""
    model, processor, words = _llava(folder)
    requests = pairs(drawn(REQUESTS), sentences(words, REQUESTS))
    return against("vlm match", f"vlm:{folder}", requests, _vqascore(model, processor))


def vlm_shared(folder: Path) -> Contest:
    """VQAScore, six texts per image: the adapter reads each image once, the loop once per text."""
    model, processor, words = _llava(folder)
    requests = pairs(drawn(REQUESTS // 6), sentences(words, REQUESTS))
    return against("vlm match, 6 texts per image", f"vlm:{folder}", requests, _vqascore(model, processor))


def vlm_choices(folder: Path) -> Contest:
    """The likeliest of three choices: the loop caches the prompts, and continues with each choice.

    A choice may begin with a capital or a blank, and ends the turn or is followed by a full stop.
    """
    model, processor, words = _llava(folder)
    requests = asked(drawn(REQUESTS), sentences(words, REQUESTS), CHOICES)
    return against("vlm choices", f"vlm:{folder}", requests, _choices(model, processor))


def vlm_writing(folder: Path) -> Contest:
    """The text that the model generates: the library's ``generate``, greedy, at most 32 tokens."""
    model, processor, words = _llava(folder)

    def bare(some: Sequence[Ask]) -> list[str]:
        texts = [f"{one.question} Answer with a word or a short phrase." for one in some]
        inputs = _inputs(processor, some, texts)
        written = model.generate(**inputs, do_sample=False, max_new_tokens=32)[:, inputs["input_ids"].shape[1] :]
        return [text.strip() for text in processor.batch_decode(written, skip_special_tokens=True)]

    requests = asked(drawn(REQUESTS), sentences(words, REQUESTS))
    return against("vlm writing", f"vlm:{folder}", requests, bare)


CONTESTS: tuple[Callable[[Path], Contest], ...] = (vlm, vlm_shared, vlm_choices, vlm_writing)


def _llava(folder: Path) -> tuple[Any, Any, list[str]]:
    hf, tiny_vlms = imported("transformers"), imported("tiny_vlms")
    tokenizer = tiny_vlms.tokenizer(bos=True)
    more = {"num_key_value_heads": 3, "max_position_embeddings": CONTEXT, "initializer_range": 0.1}  # replies differ
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(**LARGE, image_size=SIDE, patch_size=16),
        text_config=hf.LlamaConfig(**tiny_vlms.BASES["TEXT"] | LARGE | more),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
    )
    images = hf.CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE})
    processor = hf.LlavaProcessor(
        images, tokenizer, patch_size=16, vision_feature_select_strategy="default", num_additional_image_tokens=1,
        chat_template=tiny_vlms.LLAVA_TEMPLATE,
    )  # fmt: skip
    processor.save_pretrained(folder)
    cls = hf.LlavaForConditionalGeneration
    prepare = hf.AutoProcessor.from_pretrained(folder)
    prepare.tokenizer.padding_side = "left"
    words = [word for word in tiny_vlms.WORDS.split() if word.isalpha() and word.islower()]
    return loaded(cls, cls(config), folder), prepare, words


def _inputs(processor: Any, some: Sequence[Match] | Sequence[Ask], texts: Sequence[str]) -> Any:
    prompts = [
        processor.apply_chat_template(
            [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": text}]}],
            add_generation_prompt=True,
        )
        for text in texts
    ]
    return processor(text=prompts, images=[one.image.load() for one in some], padding=True, return_tensors="pt")


def _vqascore(model: Any, processor: Any) -> Callable[[Sequence[Match]], list[float]]:
    words = [f"{space}{word}" for word in ("Yes", "yes", "YES") for space in ("", " ")]
    found = processor.tokenizer(words, add_special_tokens=False)["input_ids"]
    yes = sorted({ids[0] for ids in found if len(ids) == 1})

    def bare(some: Sequence[Match]) -> list[float]:
        inputs = _inputs(processor, some, [VQASCORE.format(one.text) for one in some])
        logits = model(**inputs, logits_to_keep=1).logits[:, -1]
        scores: list[float] = logits.double().softmax(-1)[:, yes].sum(-1).tolist()
        return scores

    return bare


def _choices(model: Any, processor: Any) -> Callable[[Sequence[Ask]], list[str]]:
    import torch

    tokenizer = processor.tokenizer
    ends = [tokenizer.eos_token_id, tokenizer("a.", add_special_tokens=False)["input_ids"][-1]]

    def written(choice: str) -> list[list[int]]:
        forms = [f"{space}{form}" for form in (choice, choice.capitalize()) for space in ("", " ")]
        ids: list[list[int]] = tokenizer(forms, add_special_tokens=False)["input_ids"]
        return ids

    def bare(some: Sequence[Ask]) -> list[str]:
        named = [f"{one.question} Answer with one of: {', '.join(one.choices)}." for one in some]
        inputs = _inputs(processor, some, named)
        state = model(**inputs, use_cache=True, logits_to_keep=1)
        cache = "cache" if hasattr(state, "cache") else "past_key_values"  # transformers renamed it in 5.24
        mask = inputs["attention_mask"]
        likely: dict[str, Any] = {}
        for choice in CHOICES:
            sums = []
            for ids in written(choice):
                rows = torch.tensor([ids] * len(some))
                seen = torch.cat([mask, torch.ones_like(rows)], dim=1)
                after = model(input_ids=rows, attention_mask=seen, **{cache: deepcopy(getattr(state, cache))})
                logits = torch.cat([state.logits[:, -1:], after.logits], dim=1).double().log_softmax(-1)
                said = logits[:, :-1].gather(2, rows[..., None]).sum(dim=(1, 2))
                sums.append(said + logits[:, -1, ends].logsumexp(-1))
            likely[choice] = torch.stack(sums).logsumexp(0).tolist()
        return [max(one.choices, key=lambda choice: likely[choice][row]) for row, one in enumerate(some)]

    return bare
