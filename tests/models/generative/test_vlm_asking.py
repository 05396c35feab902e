"""How a generative model is asked: its template, its checkpoint's settings, and the check of its likelihoods."""

import numpy as np
import pytest
import tiny_vlms
import torch
from builders import tabled
from vlm_cases import ASKS, CHOICES, EVERY, IMAGES, PAIRS, QUESTIONS, asked, family, next_tokens, of, processed

from vlgate.errors import ModelLoadError
from vlgate.models import load
from vlgate.models.generative import reading
from vlgate.models.generative.engine import Engine, check_reading, check_several, engine_for
from vlgate.models.generative.prompts import Prompter, forms
from vlgate.models.text import text_only
from vlgate.types import Compare, Comparer


@pytest.mark.slow
@tabled
def test_a_checkpoints_settings_for_chatting_are_ignored(setting):
    """Sampling, beams, penalties and suppressed tokens of generation_config.json change no reply."""
    model, processor = tiny_vlms.llava()
    for name, value in setting.items():
        setattr(model.generation_config, name, [*value] if isinstance(value, tuple) else value)
    found = asked(Engine(model, processor), mode="generate").answer(ASKS)
    assert found == of("llava", mode="generate").answer(ASKS)


def test_a_reply_ends_with_any_of_the_tokens_that_end_a_turn():
    model, processor = tiny_vlms.llava()
    prompt = (IMAGES[0], Engine(model, processor).prompter.prompt("Why?"))
    inputs = processed(processor, prompt[1].text, prompt[0])
    ids = model.generate(**inputs, max_new_tokens=8, do_sample=False)[0, inputs["input_ids"].shape[1] :].tolist()
    assert ids[3] not in {2, *ids[:3]}
    words = processor.tokenizer

    def ends_after(number):
        """Generate until the checkpoint's fourth token or the tokenizer's own, and compare with the first tokens."""
        model.generation_config.eos_token_id = [ids[3]]  # an engine replaces these settings
        shorter, longer = (words.decode(part, skip_special_tokens=True).strip() for part in (ids[:number], ids))
        assert Engine(model, processor).generate([prompt], 8) == [shorter] != [longer]

    ends_after(4)
    words.eos_token = words.convert_ids_to_tokens(ids[0])
    ends_after(1)


def test_a_family_without_a_chat_template_or_with_one_of_its_tokenizer():
    model, processor = tiny_vlms.llava(template=False)
    match = asked(Engine(model, processor)).match(PAIRS)
    assert match == pytest.approx(of("llava").match(PAIRS), rel=1e-5)
    with pytest.raises(ModelLoadError, match=r"mystery without a chat template.*llava"):
        Prompter(processor, "mystery")
    model, processor = templated(None)
    processor.tokenizer.chat_template = tiny_vlms.QWEN_TEMPLATE
    match = asked(Engine(model, processor)).match(PAIRS)
    assert match == pytest.approx(of("qwen3_vl").match(PAIRS), rel=1e-6)


def templated(template, base=tiny_vlms.qwen3_vl):
    model, processor = base()
    processor.chat_template = template
    return model, processor


def test_thoughts_that_a_template_opens_are_closed():
    opened = tiny_vlms.QWEN_TEMPLATE.replace("assistant\n{% endif", "assistant\n<think>\n{% endif")
    model, processor = templated(opened)
    engine = Engine(model, processor)
    assert engine.prompter.prompt("Why?").text.endswith("assistant\n<think>\n\n</think>\n\n")
    assert "thoughts" in asked(engine).note
    assert "thoughts" not in of("qwen3_vl").note
    optional = opened.replace("<think>", "{% if enable_thinking is not defined or enable_thinking %}<think>{% endif %}")
    prompter = Prompter(templated(optional)[1], "qwen3_vl")
    assert prompter.prompt("Why?").text.endswith("<|im_start|>assistant\n")
    assert not prompter.thoughtless


def test_the_note_counts_pairs_to_which_a_model_says_neither_yes_nor_no(monkeypatch):
    engine = Engine(*family("qwen3_vl"))
    model = asked(engine)
    assert "of the pairs" not in model.note
    rows = np.array([[0.9, 0.05], [0.1, 0.2], [0.3, 0.3], [0.0, 0.001]])
    monkeypatch.setattr(engine, "next_of", lambda *_: rows)
    assert model.match(PAIRS[:4]).tolist() == [0.9, 0.1, 0.3, 0.0]
    assert "50.0% of the pairs" in model.note


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (tiny_vlms.QWEN_TEMPLATE.replace("<|vision_start|><|image_pad|><|vision_end|>", ""), "^x fails on an image"),
        ("{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}", "leaves out the user's text"),
        ("{% for m in messages %}{{ m.role + m.content }}{% endfor %}", "chat template.*TypeError"),
        ("{% for m in messages %}", "chat template.*TemplateSyntaxError"),
        ("{{ raise_exception('only strings') }}", "chat template.*only strings"),
    ],
)
def test_a_template_without_the_image_or_the_text(template, message, tmp_path):
    for part in templated(template):
        part.save_pretrained(tmp_path / "x")
    with pytest.raises(ModelLoadError, match=message):
        load("vlgate.models.generative.adapter:build:x", folder=tmp_path, device="cpu")


@pytest.mark.parametrize(("name", "between"), [("llava", " "), ("qwen3_vl", ""), ("paligemma", ""), ("mistral3", "")])
def test_a_reply_follows_a_word_with_a_space_and_a_special_token_without(name, between):
    prompter = Engine(*family(name)).prompter
    assert prompter.space(prompter.prompt("Why?")) == between


@pytest.mark.parametrize("name", EVERY)
def test_wrong_positions_are_found(name, monkeypatch):
    engine = Engine(*family(name))
    check_reading(engine, name, "float32")
    right = reading.positions_of
    monkeypatch.setattr(reading, "positions_of", lambda mask: right(mask) * 2)
    with pytest.raises(ModelLoadError, match=rf"^{name} .* nats per token apart"):
        check_reading(engine, name, "float32")


def test_log_probabilities_are_float64_if_the_device_has_it():
    found = text_only.log_probabilities(torch.tensor([[0.5, 2.0]], dtype=torch.bfloat16))
    assert found.dtype == torch.float64
    assert found.exp().sum().item() == pytest.approx(1, abs=1e-12)
    assert text_only.widest(torch.device("mps")) == torch.float32


@pytest.mark.parametrize(("change", "value"), [("model_type", "udop"), ("is_encoder_decoder", True)])
def test_models_with_another_architecture_are_refused(change, value, monkeypatch):
    model, processor = tiny_vlms.llava()
    monkeypatch.setattr(model.config, change, value, raising=False)
    with pytest.raises(ModelLoadError, match=r"openai:.*adapter of your own|names no decoder_start_token_id"):
        engine_for(model, processor)


def test_a_tokenizer_without_a_word_for_yes():
    _, processor = tiny_vlms.llava()
    prompter = Prompter(processor, "llava")
    with pytest.raises(ModelLoadError, match="token for 'zzz'"):
        prompter.single(("zzz",))


@pytest.mark.parametrize("name", ["llava", "qwen2_vl", "paligemma"])
def test_a_question_without_an_image_is_continued_from_its_text_alone(name):
    """The reply is that of the library's own generate to the text, whatever image the question names."""
    model, processor = EVERY[name]()
    engine = Engine(model, processor)
    prompt = engine.prompter.without_image("Why so?")
    found = engine.generate_without_image(["Why so?", "Is there a dog on the left of the table?"], 4)
    assert "Why so?" in prompt
    assert "<image>" not in prompt
    ids = processor.tokenizer([prompt], return_tensors="pt", add_special_tokens=engine.prompter.special)
    written = model.generate(**{key: ids[key] for key in ("input_ids", "attention_mask")}, max_new_tokens=4)
    alone = processor.tokenizer.decode(written[0, ids["input_ids"].shape[1] :], skip_special_tokens=True).strip()
    assert found[0] == alone
    assert len(asked(engine).answer_without_image(ASKS)) == len(ASKS)


TAKES_SEVERAL = ("idefics3", "qwen3_vl", "internvl", "llava_next", "gemma3", "gemma3n")
AROUND = {
    "llava": "USER: <image>\n<image>\n{} ASSISTANT:",
    "idefics3": "<s>User:<image><image>{}<end_of_utterance>\nAssistant:",
    "paligemma": "<image><image>answer en {}",
    "qwen2_5_vl": "<|im_start|>user\n" + "<|vision_start|><|image_pad|><|vision_end|>" * 2
    + "{}<|im_end|>\n<|im_start|>assistant\n",
}  # fmt: skip
SHOWN = [(IMAGES[0], IMAGES[1]), (IMAGES[1], IMAGES[0]), (IMAGES[1], IMAGES[2])]


def ended_by_hand(name, images, prompt, ids):
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
                [ended_by_hand(name, question.images, text, ids) for ids in prompter.replies(prompt, forms(choice))]
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
    alone = [ended_by_hand(name, shown, prompt.text, ids) for (shown, prompt), ids in wanted]
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


def test_several_images_are_checked_once_and_refused_by_a_template_of_one(monkeypatch):
    with pytest.raises(ModelLoadError, match=r"in one prompt \(ValueError: .*4 images.*--ask=together.*Qwen2.5-VL"):
        of("mistral3").compare([Compare(images=SHOWN[0], question="Why?", choices=CHOICES)])
    model = asked(Engine(*family("llava")))
    model.check_compare()
    monkeypatch.setattr(model._engine, "step_by_step", lambda *_: pytest.fail("checked again"))
    model.check_compare()


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


def test_wrong_positions_of_several_images_are_found(monkeypatch):
    engine = Engine(*EVERY["llava_onevision"]())
    check_several(engine, "x", "float32")
    right = reading.positions_of
    monkeypatch.setattr(reading, "positions_of", lambda mask: right(mask) * 2)
    with pytest.raises(ModelLoadError, match=r"^x cannot be asked .*nats per token apart"):
        check_several(engine, "x", "float32")
