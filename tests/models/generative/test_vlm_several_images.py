"""Several images in one prompt of a generative model."""

import numpy as np
import pytest
from vlm_cases import CHOICES, EVERY, IMAGES, QUESTIONS, asked, family, next_tokens, of, processed

from vlgate.errors import ModelLoadError
from vlgate.models.generative import reading
from vlgate.models.generative.engine import Engine
from vlgate.models.generative.probe import check_several
from vlgate.models.generative.prompts import forms
from vlgate.types import Compare, Comparer

TAKES_SEVERAL = ("idefics3", "qwen3_vl", "internvl", "llava_next", "gemma3")
AROUND = {
    "llava": "USER: <image>\n<image>\n{} ASSISTANT:",
    "idefics3": "<s>User:<image><image>{}<end_of_utterance>\nAssistant:",
    "paligemma": "<image><image>answer en {}",
    "qwen2_5_vl": "<|im_start|>user\n" + "<|vision_start|><|image_pad|><|vision_end|>" * 2
    + "{}<|im_end|>\n<|im_start|>assistant\n",
}  # fmt: skip
SHOWN = [(IMAGES[0], IMAGES[1]), (IMAGES[1], IMAGES[0]), (IMAGES[1], IMAGES[2])]


def by_hand(name, images, prompt, ids):
    """The log-likelihood of a reply that ends: one sequence, read as a whole by the library, without a cache."""
    model, processor = family(name)
    special = Engine(model, processor).prompter.special
    rows = next_tokens(model, processed(processor, prompt, *images, add_special_tokens=special), ids)
    ends = [2, processor.tokenizer("a.", add_special_tokens=False)["input_ids"][-1]]  # the end of a turn, a full stop
    return sum(rows[index, id_] for index, id_ in enumerate(ids)) + np.logaddexp.reduce(rows[-1, ends])


@pytest.mark.parametrize("name", AROUND)
def test_the_answer_is_the_choice_that_is_likeliest_by_hand(name):
    questions = [Compare(images=shown, question=text, choices=CHOICES) for shown in SHOWN for text in QUESTIONS]
    model = of(name)
    prompter = model._engine.prompter
    assert isinstance(model, Comparer)
    expected, every = [], []
    for question in questions:
        text = AROUND[name].format(f"{question.question} Answer with one of: {', '.join(CHOICES)}.")
        prompt = prompter.prompt(f"{question.question} Answer with one of: {', '.join(CHOICES)}.", 2)
        assert prompt.text == text
        values = [
            np.logaddexp.reduce(
                [by_hand(name, question.images, text, ids) for ids in prompter.replies(prompt, forms(choice))]
            )
            for choice in CHOICES
        ]
        every.append(values)
        expected.append(CHOICES[int(np.argmax(values))])
    assert model.compare(questions) == expected
    assert np.ptp(every, axis=0).min() > 1e-3  # the images and their order matter
    wanted = [
        ((question.images, prompter.prompt(f"{question.question} Answer with one of: {', '.join(CHOICES)}.", 2)), ids)
        for question in questions
        for ids in prompter.replies(prompter.prompt("x", 2), forms("red"))[:1]
    ]
    alone = [by_hand(name, shown, prompt.text, ids) for (shown, prompt), ids in wanted]
    assert model._engine.likelihoods(wanted, ended=True) == pytest.approx(np.array(alone), rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", TAKES_SEVERAL)
def test_a_family_sees_each_of_two_images_alone_as_in_a_batch(name):
    model = of(name)
    model.check_compare()
    asked_of = [Compare(images=(*IMAGES,), question=QUESTIONS[0], choices=CHOICES)]
    asked_of += [Compare(images=shown, question=text, choices=CHOICES) for shown in SHOWN for text in QUESTIONS]
    assert model.compare(asked_of) == [of(name).compare([one])[0] for one in asked_of]


def test_a_question_without_choices_is_answered_in_the_models_own_words():
    model = of("qwen2_5_vl")
    [found] = model.compare([Compare(images=SHOWN[0], question="What is this?")])
    assert found == of("qwen2_5_vl", mode="generate").compare([Compare(images=SHOWN[0], question="What is this?")])[0]
    assert found not in {"", *CHOICES}


def test_a_template_or_processor_of_one_image_is_refused():
    """The tiny Mistral 3 has a template with one image."""
    with pytest.raises(ModelLoadError, match=r"in one prompt \(ValueError: .*4 images.*--ask=together.*Qwen2.5-VL"):
        of("mistral3").compare([Compare(images=SHOWN[0], question="Why?", choices=CHOICES)])


@pytest.mark.parametrize("ignored", [0, 1])
def test_a_model_that_does_not_look_at_one_of_the_images_is_refused(ignored, monkeypatch):
    engine = Engine(*family("llava"))
    inputs = engine.inputs

    def blind(prompts):
        return inputs([((shown[1 - ignored],) * 2, prompt) for shown, prompt in prompts])

    monkeypatch.setattr(engine, "inputs", blind)
    which = ("first", "second")[ignored]
    with pytest.raises(ModelLoadError, match=f"^x cannot be asked .*does not depend on the {which} image"):
        check_several(engine, "x", "float32")


def test_wrong_positions_are_found(monkeypatch):
    engine = Engine(*EVERY["llava_onevision"]())
    check_several(engine, "x", "float32")
    right = reading.positions_of
    monkeypatch.setattr(reading, "positions_of", lambda mask: right(mask) * 2)
    with pytest.raises(ModelLoadError, match=r"^x cannot be asked .*nats per token apart"):
        check_several(engine, "x", "float32")


def test_the_check_is_made_once(monkeypatch):
    model = asked(Engine(*family("llava")))
    model.check_compare()
    monkeypatch.setattr(model._engine, "step_by_step", lambda *_: pytest.fail("checked again"))
    model.check_compare()
