"""An image that a processor refuses, and a text with a control token, cost their own requests only."""

from functools import cache

import dual_checkpoints
import numpy as np
import pytest
import text_checkpoints
import tiny_vlms
import transformers
from PIL import Image
from vlm_cases import IMAGES, asked, family

from vlgate.asking.batching import Call, Caller, Problem
from vlgate.asking.predictor import ModelPredictor
from vlgate.errors import NoReplyError
from vlgate.models import load
from vlgate.models.generative.engine import Engine
from vlgate.models.text.text_only import ControlTokens
from vlgate.types import Ask, LazyImage, Match

STRIP = LazyImage(key="strip", load=lambda: Image.new("RGB", (3, 900)))
VLMS = ("llava", "qwen3_vl", "gemma3", "gemma3n", "paligemma", "internvl")
HELD = {
    "llava": "<image>", "qwen3_vl": "<|image_pad|>", "gemma3": "<boi>", "gemma3n": "<boi>", "paligemma": "<image>",
    "internvl": "<IMG_CONTEXT>", "clip": "<|endoftext|>", "siglip": "</s>", "siglip2": "<eos>", "align": "[SEP]",
    "altclip": "</s>", "vilt": "[MASK]", "blip": "[PAD]", "blip2": "[CLS]", "bridgetower": "</s>", "flava": "[MASK]",
    "open_clip": "<end_of_text>", "blip-vqa": "[SEP]", "vilt-vqa": "[SEP]",
}  # fmt: skip
ERRORS = (
    ValueError, RuntimeError, ZeroDivisionError, AssertionError, IndexError, TypeError, Image.DecompressionBombError,
)  # fmt: skip


@pytest.fixture(scope="module")
def models(checkpoint, tmp_path_factory):
    """A function that returns the model of a name, loaded once."""

    def made(name):
        if name in VLMS:
            return asked(Engine(*family(name)))
        place = "RN50/random" if name == "open_clip" else checkpoint(name)
        called = "dual" if name == "naflex" else name
        return load(f"{called}:{place}", folder=tmp_path_factory.getbasetemp(), device="cpu").model

    return cache(made)


def predicted(model, requests, size=64):
    """The score or answer of each request, or why it has none."""
    predictor = ModelPredictor(model=model, name="x", caller=Caller(name="x", size=size), seed=0)
    found = predictor.predict(requests)
    return [found[request].problem or (found[request].answer or found[request].score) for request in requests]


def refusing(parts, error):
    """The same function of images, which raises for those of three pixels."""

    def call(*args, images=None, **settings):
        listed = images if isinstance(images, list | tuple) else [images]
        if any((one[0] if isinstance(one, list) else one).size[0] == 3 for one in listed):
            raise error("absolute aspect ratio must be smaller than 200")
        return parts(*args, images=images, **settings)

    return call


def requests_of(name, image=IMAGES[0], text="a red square"):
    if name.endswith("vqa"):
        return Ask(image=image, question=text, choices=("red", "yes"))
    return Match(image=image, text=text)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", ["llava", "clip", "naflex", "open_clip", "blip", "vilt-vqa"])
def test_whatever_a_processor_raises_for_an_image_is_the_reason_of_its_own_requests(name, error, models, monkeypatch):
    model = models(name)
    if name == "llava":
        for held in ("_processor", "_beside"):
            monkeypatch.setattr(model._engine, held, refusing(model._engine._processor, error))
    elif name == "open_clip":
        prepare = refusing(lambda images, prepare=model._prepare: prepare(images), error)
        monkeypatch.setattr(model, "_prepare", lambda image: prepare(images=image))
    else:
        inner, part = (model, "_image_processor") if name in dual_checkpoints.KINDS else (model._prepare, "_images")
        monkeypatch.setattr(inner, part, refusing(getattr(inner, part), error))
    good = [requests_of(name, image) for image in IMAGES]
    plain = predicted(model, good)
    mixed = predicted(model, [good[0], requests_of(name, STRIP), *good[1:], requests_of(name, STRIP, "blue")])
    for problem in (mixed.pop(1), mixed.pop(-1)):
        assert "refuses the image 'strip' of 3 x 900 pixels" in problem
        assert f"{error.__name__}: absolute aspect ratio" in problem
    assert mixed == (plain if name.endswith("vqa") else pytest.approx(plain, rel=1e-4))


@pytest.mark.parametrize("mode", ["match", "answer", "generate", "likelihood"])
def test_qwens_processor_refuses_a_strip_alone(mode):
    engine = Engine(*family("qwen3_vl"))
    model = asked(
        engine, "likelihood" if mode == "likelihood" else "vqascore", "generate" if mode == "generate" else "choices"
    )
    matches = mode in ("match", "likelihood")
    requests = [requests_of("x" if matches else "vqa", image) for image in (*IMAGES, STRIP)]
    *good, why = predicted(model, requests)
    assert not any(isinstance(one, str) and "refuses" in one for one in good)
    assert "'strip' of 3 x 900 pixels (ValueError: absolute aspect ratio" in why


def test_an_error_of_the_network_is_no_refusal_of_an_image(models, monkeypatch):
    model = models("llava")
    monkeypatch.setattr(model._engine, "next_of", lambda *_: {}["x"])
    with pytest.raises(KeyError):
        model.match([requests_of("llava")])


@pytest.mark.parametrize("name", HELD)
def test_a_text_with_a_control_token_is_refused_alone_and_in_every_batch(name, models):
    model, token = models(name), HELD[name]
    good = [requests_of(name, image) for image in IMAGES]
    bad = [requests_of(name, text=text) for text in (f"a sign with {token} on it", token, f"red{token}")]
    plain = predicted(model, good)
    mixed = predicted(model, [good[0], *bad, *good[1:]])
    for why in (*mixed[1:4], *predicted(model, bad[:1]), *predicted(model, [*bad, *good], size=1)[:3]):
        assert f"holds {token!r}, a control token" in why
    assert mixed[:1] + mixed[4:] == (plain if name.endswith("vqa") else pytest.approx(plain, rel=1e-4))


@pytest.mark.parametrize("text", ["a < b > c", "<3", "[1]", "it's 5 o'clock!", "a|b", "<div>", "image", "the end.", ""])
@pytest.mark.parametrize("name", ["llava", "clip", "vilt", "open_clip"])
def test_other_brackets_are_text(name, text, models):
    assert np.isfinite(predicted(models(name), [requests_of(name, text=text)])[0])


def test_which_tokens_are_control_tokens():
    words = dual_checkpoints._clip_tokenizer()
    words.add_tokens([transformers.AddedToken("<|Stop|>", special=True, normalized=True)])
    assert words("a <|stop|>")["input_ids"] == words("a <|STOP|>")["input_ids"]
    control = ControlTokens(words)
    for text in ("a <|stop|> b", "a<|STOP|>", "<|Stop|>", "a <|endoftext|>"):
        with pytest.raises(NoReplyError, match=r"<\|(Stop|endoftext)\|>"):
            control.check([(text,)])
    control.check([("<|EndOfText|>", "<|stopp|>")])
    words = tiny_vlms.tokenizer()
    words.add_special_tokens({"additional_special_tokens": ["user", "!", "<|x|>", "  ", "<|y z|>"]})
    words.add_tokens(["<think>", "<tool>"])
    control = ControlTokens(words, template="{{ '<think>' }}")
    control.check([("a user!  <tool>",)])
    for text in ("<|x|>", "a <think>", "<|y\n z|>"):
        with pytest.raises(NoReplyError, match="control token") as caught:
            control.check([("fine",), ("fine", text)])
        assert caught.value.positions == {1}


@pytest.mark.parametrize(("name", "token"), [("gpt2", "<s>"), ("bert", "[MASK]")])
def test_a_text_model_reads_no_control_token_either(name, token, tmp_path):
    folder = text_checkpoints.save(name, tmp_path / name)
    model = load(f"{'masked' if name == 'bert' else name}:{folder}", folder=tmp_path, device="cpu").model
    texts = ["the red dog sat", f"the red {token} dog sat", "a big red dog"]
    with pytest.raises(NoReplyError, match="control token") as caught:
        model.perplexity(texts)
    assert caught.value.positions == {1}
    assert np.isfinite(model.perplexity(texts[::2])).all()


def test_choices_are_texts_as_well(models):
    for name, token in (("llava", "<image>"), ("blip-vqa", "[SEP]")):
        question = Ask(image=IMAGES[0], question="Which?", choices=("red", f"blue{token}"))
        with pytest.raises(NoReplyError, match="control token"):
            models(name).answer([question])
    with pytest.raises(NoReplyError, match="control token"):
        models("llava").answer_without_image([Ask(image=IMAGES[0], question="<image>?", choices=())])


def test_the_caller_gives_each_request_its_own_reason():
    def call(items):
        if "c" not in items:
            return np.zeros(len(items))
        raise NoReplyError({1: "x", 2: "x"}, "all", {2: "own"})

    found = Caller(name="x", size=8).ask(Call(called="match", method=call), ["a", "b", "c"])
    assert [one.why for one in found if isinstance(one, Problem)] == ["all", "own"]
