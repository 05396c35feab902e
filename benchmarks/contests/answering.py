"""Question answerers over pixels, one question per image: ViLT's labels, and BLIP's decoder, which ranks or writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from contests.contest import IMAGES, LARGE, SIDE, Contest, against, asked, chosen, drawn, imported, loaded, sentences
from contests.cross import TOKENS, blip_config, blip_processor
from vlgate.types import Ask

LABELS = 3129
"""Answers of VQA v2 in the published checkpoints."""
ANSWERS = ("yes", "no", "red", "blue", "on the left", "two cats", "a big dog", "square")


def vilt_vqa(folder: Path) -> Contest:
    """ViLT over 3,129 labels: the processor on a batch, one forward, the best of each question's choices."""
    hf, cross_checkpoints = imported("transformers"), imported("cross_checkpoints")
    labels = (*ANSWERS, *(f"answer{number}" for number in range(LABELS - len(ANSWERS))))
    config = hf.ViltConfig(
        **LARGE, vocab_size=cross_checkpoints.DEC, image_size=SIDE, patch_size=16, id2label=dict(enumerate(labels))
    )
    images = hf.ViltImageProcessor(size={"shortest_edge": SIDE - 16}, size_divisor=16)
    processor = hf.ViltProcessor(images, cross_checkpoints.bert_words(TOKENS))
    processor.save_pretrained(folder)
    model = loaded(hf.ViltForQuestionAnswering, hf.ViltForQuestionAnswering(config), folder)
    prepare = hf.ViltProcessor.from_pretrained(folder)

    def bare(some: Sequence[Ask]) -> list[str]:
        return chosen(model(**_prepared(prepare, some)).logits, labels, some)

    return against("vilt-vqa", f"vilt-vqa:{folder}", asked(drawn(), _questions(), labels[:100]), bare)


def blip_vqa(folder: Path) -> Contest:
    """BLIP's likeliest choice: images and questions encoded once, all choices of a batch through the decoder.

    Questions of one length go together, in the loop too: the decoder of the library looks at a question's padding.
    """
    import torch

    hf = imported("transformers")
    prepare, model = _blip(hf, folder)
    start = model.decoder_start_token_id

    def bare(some: Sequence[Ask]) -> list[str]:
        inputs = _for_blip(prepare, some)
        texts = prepare.tokenizer([text for one in some for text in one.choices], padding=True, return_tensors="pt")
        ids = texts["input_ids"].clone()
        ids[:, 0] = start
        states = model.text_encoder(
            input_ids=inputs["input_ids"],
            encoder_hidden_states=model.vision_model(pixel_values=inputs["pixel_values"]).last_hidden_state,
        ).last_hidden_state.repeat_interleave(3, dim=0)
        mask = texts["attention_mask"]
        logits = model.text_decoder(input_ids=ids, attention_mask=mask, encoder_hidden_states=states).logits[:, :-1]
        lost = torch.nn.functional.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
        best = (lost * mask[:, 1:]).sum(dim=1).reshape(-1, 3).argmin(dim=1).tolist()
        return [one.choices[place] for one, place in zip(some, best, strict=True)]

    questions = asked(drawn(), _questions(), ANSWERS)
    return against("blip-vqa", f"blip-vqa:{folder}", questions, _by_length(bare))


def blip_vqa_open(folder: Path) -> Contest:
    """The answers that BLIP generates: the library's ``generate``, greedy, over questions of one length at a time."""
    hf = imported("transformers")
    prepare, model = _blip(hf, folder)

    def bare(some: Sequence[Ask]) -> list[str]:
        inputs = _for_blip(prepare, some)
        written = model.generate(**inputs, do_sample=False, num_beams=1, max_new_tokens=20)
        return [text.strip() for text in prepare.batch_decode(written[:, 1:], skip_special_tokens=True)]

    questions = asked(drawn(), _questions())
    return against("blip-vqa open", f"blip-vqa:{folder}?mode=open", questions, _by_length(bare))


CONTESTS: tuple[Callable[[Path], Contest], ...] = (vilt_vqa, blip_vqa, blip_vqa_open)


def _questions() -> list[str]:
    words = [word for word in imported("cross_checkpoints").WORDS if word.isalpha()]
    return [f"{text} ?" for text in sentences(words, IMAGES, 6, 8)]


def _blip(hf: Any, folder: Path) -> tuple[Any, Any]:
    blip_processor().save_pretrained(folder)
    model = loaded(hf.BlipForQuestionAnswering, hf.BlipForQuestionAnswering(blip_config()), folder)
    return hf.BlipProcessor.from_pretrained(folder), model


def _prepared(prepare: Any, some: Sequence[Ask]) -> Any:
    images, texts = [one.image.load() for one in some], [one.question for one in some]
    return prepare(images=images, text=texts, padding=True, return_tensors="pt")


def _for_blip(prepare: Any, some: Sequence[Ask]) -> Any:
    """Questions begin with [ENC], as in the authors' code."""
    inputs = _prepared(prepare, some)
    inputs["input_ids"][:, 0] = imported("cross_checkpoints").ENC
    return inputs


def _by_length(bare: Callable[[Sequence[Ask]], list[str]]) -> Callable[[Sequence[Ask]], list[str]]:
    def loop(some: Sequence[Ask]) -> list[str]:
        found: dict[Ask, str] = {}
        lengths = [len(one.question.split()) for one in some]
        for length in sorted(set(lengths)):
            same = [one for one, other in zip(some, lengths, strict=True) if other == length]
            found |= zip(same, bare(same), strict=True)
        return [found[one] for one in some]

    return loop
