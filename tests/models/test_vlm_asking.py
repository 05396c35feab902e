"""How a generative model is asked: its template, its checkpoint's own settings, and whether it is read as it should."""

import numpy as np
import pytest
import tiny_vlms
import torch
from huggingface_hub import constants
from vlm_cases import ASKS, EVERY, PAIRS, PICTURES, family, of, processed

from vlgate.errors import ModelLoadError
from vlgate.models import likelihood, load, vlm_states
from vlgate.models.vlm import Vlm
from vlgate.models.vlm_engine import Engine
from vlgate.models.vlm_probe import check_reading
from vlgate.models.vlm_prompts import Prompter


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


def test_what_a_checkpoint_recommends_for_chatting_is_put_aside():
    """Sampling, beams, penalties and suppressed tokens of generation_config.json change no reply."""
    for setting in (
        {"no_repeat_ngram_size": 2}, {"suppress_tokens": list(range(20, 300))}, {"guidance_scale": 3.0},
        {"repetition_penalty": 1.5}, {"num_beams": 3}, {"do_sample": True, "temperature": 5.0}, {"min_new_tokens": 30},
        {"num_return_sequences": 2}, {"penalty_alpha": 0.6, "top_k": 4},
    ):  # fmt: skip
        model, processor = tiny_vlms.llava()
        for name, value in setting.items():
            setattr(model.generation_config, name, value)
        asked = Vlm(Engine(model, processor), score="vqascore", mode="generate", fingerprint="")
        assert asked.answer(ASKS) == of("llava", mode="generate").answer(ASKS), setting


def test_a_reply_ends_with_any_of_the_tokens_that_end_a_turn():
    model, processor = tiny_vlms.llava()
    engine = Engine(model, processor)
    asked = (PICTURES[0], engine.prompter.prompt("Why?"))
    inputs = processed(processor, asked[1].text, asked[0])
    ids = model.generate(**inputs, max_new_tokens=8, do_sample=False)[0, inputs["input_ids"].shape[1] :].tolist()
    assert ids[3] not in {2, *ids[:3]}
    model.generation_config.eos_token_id = [ids[3]]
    shorter, whole = (processor.tokenizer.decode(part, skip_special_tokens=True).strip() for part in (ids[:4], ids))
    engine = Engine(model, processor)
    assert engine.generate([asked], 8) == [shorter] != [whole]
    assert engine._ends == sorted({ids[3], processor.tokenizer.eos_token_id})


def test_a_family_without_a_chat_template():
    model, processor = tiny_vlms.llava(template=False)
    found = Vlm(Engine(model, processor), score="vqascore", mode="choices", fingerprint="").match(PAIRS)
    assert found == pytest.approx(of("llava").match(PAIRS), rel=1e-5)
    with pytest.raises(ModelLoadError, match=r"mystery without a chat template.*llava"):
        Prompter(processor, "mystery")


def templated(template, base=tiny_vlms.qwen3_vl):
    model, processor = base()
    processor.chat_template = template
    return model, processor


def test_thoughts_that_a_template_opens_are_closed():
    opened = tiny_vlms.QWEN_TEMPLATE.replace("assistant\n{% endif", "assistant\n<think>\n{% endif")
    model, processor = templated(opened)
    thinking = Vlm(Engine(model, processor), score="vqascore", mode="choices", fingerprint="")
    assert thinking._engine.prompter.prompt("Why?").text.endswith("assistant\n<think>\n\n</think>\n\n")
    assert "thoughts are closed" in thinking.note
    assert "thoughts" not in of("qwen3_vl").note
    asked = opened.replace("<think>", "{% if enable_thinking is not defined or enable_thinking %}<think>{% endif %}")
    prompter = Prompter(templated(asked)[1], "qwen3_vl")
    assert prompter.prompt("Why?").text.endswith("<|im_start|>assistant\n")
    assert not prompter.thoughtless


def test_pairs_to_which_a_model_says_neither_yes_nor_no_are_told(monkeypatch):
    model = of("qwen3_vl")
    assert "together" not in model.note
    rows = np.array([[0.9, 0.05], [0.1, 0.2], [0.3, 0.3], [0.0, 0.001]])
    monkeypatch.setattr(model._engine, "next_of", lambda *_: rows)
    assert model.match(PAIRS[:4]).tolist() == [0.9, 0.1, 0.3, 0.0]
    assert '"Yes" and "No" together had less than half of the probability in 50.0% of the pairs' in model.note


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (tiny_vlms.QWEN_TEMPLATE.replace("<|vision_start|><|image_pad|><|vision_end|>", ""), "fails on a picture"),
        ("{% for m in messages %}{{ m.role }}: {{ m.content }}{% endfor %}", "leaves out what the user says"),
        (
            "{% for m in messages %}{{ m.role + m.content }}{% endfor %}",
            "does not take a picture and a text.*TypeError",
        ),
        ("{% for m in messages %}", "does not take a picture and a text.*TemplateSyntaxError"),
        ("{{ raise_exception('only strings') }}", "does not take a picture and a text.*only strings"),
    ],
)
def test_a_template_without_the_picture_or_the_text(template, message, tmp_path):
    for part in templated(template):
        part.save_pretrained(tmp_path / "x")
    with pytest.raises(ModelLoadError, match=message):
        load("vlgate.models.vlm:build:x", folder=tmp_path, device="cpu")


def test_the_tokenizers_template_stands_in_for_the_processors():
    model, processor = templated(None)
    processor.tokenizer.chat_template = tiny_vlms.QWEN_TEMPLATE
    found = Vlm(Engine(model, processor), score="vqascore", mode="choices", fingerprint="").match(PAIRS)
    assert found == pytest.approx(of("qwen3_vl").match(PAIRS), rel=1e-6)


@pytest.mark.parametrize(("name", "between"), [("llava", " "), ("qwen3_vl", ""), ("paligemma", ""), ("mistral3", "")])
def test_a_reply_follows_a_word_with_a_space_and_a_special_token_without(name, between):
    prompter = of(name)._engine.prompter
    assert prompter.space(prompter.prompt("Why?")) == between


@pytest.mark.parametrize("name", EVERY)
def test_what_is_read_here_is_what_the_library_reads(name, monkeypatch):
    engine = Engine(*family(name))
    check_reading(engine, name, "float32")
    kept = vlm_states._positions
    monkeypatch.setattr(vlm_states, "_positions", lambda mask: kept(mask) * 2)
    with pytest.raises(ModelLoadError, match=rf"{name} reads otherwise.*nats a token apart"):
        check_reading(engine, name, "float32")


def test_log_probabilities_are_float64_where_the_device_has_it():
    found = likelihood.log_probabilities(torch.tensor([[0.5, 2.0]], dtype=torch.bfloat16))
    assert found.dtype == torch.float64
    assert found.exp().sum().item() == pytest.approx(1, abs=1e-12)
    assert likelihood.widest(torch.device("mps")) == torch.float32


@pytest.mark.parametrize(("change", "value"), [("model_type", "mllama"), ("is_encoder_decoder", True)])
def test_models_that_read_otherwise_are_refused(change, value, monkeypatch):
    model, processor = tiny_vlms.llava()
    monkeypatch.setattr(model.config, change, value, raising=False)
    with pytest.raises(ModelLoadError, match="adapter of your own"):
        Engine(model, processor)


def test_a_tokenizer_without_a_word_for_yes():
    _, processor = tiny_vlms.llava()
    prompter = Prompter(processor, "llava")
    with pytest.raises(ModelLoadError, match="no token for 'zzz'"):
        prompter.single(("zzz",))
