"""What holds for the models of every family, each loaded by its name from a small checkpoint."""

import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MethodType

import families
import numpy as np
import pytest
import torch
from builders import noise
from families import CASES, CROSS, DUAL, EVERY, NAMES, ON_REGIONS, TASKS, TEXT_ONLY, VLMS, VOLTA, with_features
from held_network import network
from safetensors.torch import load_file, save_file

from vlgate.asking import image_prefetch
from vlgate.asking.batching import Call, Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.errors import ImageError, ModelLoadError
from vlgate.models import check, load, registered
from vlgate.types import Answerer, Ask, DualEncoder, LanguageModel, LazyImage, Match, Matcher, Read

IMAGES = [noise(number, (30 + 9 * number, 50)) for number in range(4)]
TEXTS = ("a red dog", "the blue", "the red the blue a dog", "blue a red a the blue a red")
HOW = (("?score=vqascore", "match"), ("?score=likelihood", "match"), ("", "answer"), ("?mode=generate", "answer"))
PAIRS = [Match(image=image, text=text) for image in IMAGES for text in TEXTS]
# The words "red" that fit the context, from the documented lengths and the tokens that begin and end a text.
FIT = {
    "clip": 7, "siglip": 23, "siglip2": 6, "naflex": 6, "align": 10, "altclip": 20, "metaclip2": 22, "chinese-clip": 10,
    "tipsv2": 6, **dict.fromkeys(CROSS, 14), **dict.fromkeys(ON_REGIONS, 22), "volta-vl-bert": 20, "gpt1": 32,
    "gpt2": 31, "bert": 30,
}  # fmt: skip


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    """The ``--model`` of a family, whose checkpoint is saved once."""
    start = tmp_path_factory.mktemp("families")
    keys = [image.key for image in IMAGES]
    return cache(lambda name: with_features(name, families.saved(name, start), keys, start))


def loaded(spec, **options):
    return load(spec, **{"folder": Path(), "device": "cpu", **options}).model


@pytest.fixture(scope="module")
def model(spec):
    return cache(lambda name: loaded(spec(name)))


@pytest.fixture
def copied(spec, tmp_path):
    """The ``--model`` of a copy of a family's checkpoint, and the copy."""

    def copy(name):
        called, _, rest = spec(name).partition(":")
        place, _, options = rest.partition("?")
        folder = shutil.copytree(place, tmp_path / name)
        return f"{called}:{folder}{'?' * bool(options)}{options}", folder

    return copy


def ask(model, pairs):
    """A model's own scores, cosines, perplexities or answers."""
    if isinstance(model, DualEncoder):
        images, texts = model.encode_images([p.image for p in pairs]), model.encode_texts([p.text for p in pairs])
        assert images.dtype == texts.dtype == np.float64
        assert np.linalg.norm([*images, *texts], axis=1) == pytest.approx(1, abs=1e-12)
        return (images * texts).sum(axis=1)
    if isinstance(model, Matcher):
        return model.match(pairs)
    if isinstance(model, LanguageModel):
        return model.perplexity([pair.text for pair in pairs])
    assert isinstance(model, Answerer)
    return np.array(model.answer([Ask(image=p.image, question=p.text, choices=("red", "blue", "no")) for p in pairs]))


def alike(scores, others, tolerance):
    return np.array_equal(scores, others) or scores == pytest.approx(others, rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("name", EVERY)
def test_neither_batch_nor_order_nor_neighbours_change_a_reply(name, model):
    found = ask(model(name), PAIRS)
    assert found.shape == (len(PAIRS),)
    assert name.endswith("vqa") or (found.dtype == np.float64 and np.ptp(found) > 1e-3)
    order = random.Random(0).sample(range(len(PAIRS)), len(PAIRS))
    assert alike(np.concatenate([ask(model(name), [pair]) for pair in PAIRS]), found, 1e-5)
    assert alike(ask(model(name), [PAIRS[place] for place in order]), found[order], 1e-5)
    state = torch.random.get_rng_state()
    assert np.array_equal(ask(model(name), PAIRS), found)
    assert torch.equal(torch.random.get_rng_state(), state)  # nothing is drawn


@pytest.mark.parametrize("name", EVERY)
def test_half_precision_is_near(name, spec, model):
    whole, rounded = model(name), loaded(spec(name), dtype="bfloat16")
    found, half = ask(whole, PAIRS), ask(rounded, PAIRS)
    if name not in VOLTA:
        assert {weight.dtype for weight in network(whole).parameters()} == {torch.float32}
        assert {weight.dtype for weight in network(rounded).parameters()} == {torch.bfloat16}
    if name.endswith("vqa"):
        assert set(half) <= {"red", "blue", "no"}
    elif name in TEXT_ONLY or name in VLMS:
        assert np.log(half) == pytest.approx(np.log(found), abs=0.7)
    else:
        assert half == pytest.approx(found, abs=0.3)
    assert name in VLMS or not np.array_equal(half, found) or name.endswith("vqa")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU on this machine")
@pytest.mark.parametrize("name", EVERY)
def test_a_gpu_replies_as_the_cpu(name, spec, model):
    assert alike(ask(loaded(spec(name), device="cuda"), PAIRS), ask(model(name), PAIRS), 1e-2 if name in VLMS else 1e-3)


AHEAD = [
    *((name, "encode_images") for name in DUAL), *((name, "match") for name in CROSS[:7]),
    *((name, "answer") for name in CROSS[7:]), *((f"{name}{how}", called) for name in VLMS for how, called in HOW),
]  # fmt: skip


@pytest.fixture
def ahead(spec, monkeypatch):
    """A model as on a GPU, its method, items for four batches, and a function that asks some in batches of a size."""

    def made(name, called):
        name, _, options = name.partition("?")
        items = {
            "encode_images": IMAGES, "match": PAIRS[::2],
            "answer": [Ask(image=p.image, question=p.text, choices=("red", "blue")) for p in PAIRS[::2]],
        }[called]  # fmt: skip
        kind = {"encode_images": "rows", "match": "numbers", "answer": "strings"}[called]

        def replies(model, some=items, size=0):
            call = Call(called=called, method=getattr(model, called), kind=kind)
            return Caller(name="mine", size=size or len(items) // 4).ask(call, some)

        spelled = f"{spec(name)}{'?' * bool(options)}{options}"
        alone = replies(loaded(spelled))
        monkeypatch.setattr(image_prefetch, "BESIDE", {"cuda", "cpu"})
        return loaded(spelled), items, replies, alone

    return made


@pytest.mark.parametrize(("name", "called"), AHEAD)
def test_the_inputs_of_the_next_batch_are_made_while_the_model_works(name, called, ahead, monkeypatch):
    model, items, replies, alone = ahead(name, called)
    assert np.array_equal(replies(model, items[: len(items) // 4]), alone[: len(items) // 4])  # none after it
    own, make, threads, waited = getattr(model, called), model.inputs_ahead.make, [], []
    events, order = [threading.Event() for _ in range(4)], itertools.count()

    def making(parts):
        threads.append(threading.current_thread().name)
        events[next(order)].set()
        return make(parts)

    def method(_, some):
        found = own(some)
        waited.append(events[min(len(waited) + 1, 3)].wait(30))  # for the next batch, before this one is done
        return found

    model.inputs_ahead.make = making
    monkeypatch.setattr(model, called, MethodType(method, model))
    assert np.array_equal(replies(model), alone)
    assert waited == [True] * 4
    assert threads == ["vlgate-prepare_0"] * 4
    assert not any(thread.name.startswith("vlgate-prepare") for thread in threading.enumerate())


@pytest.mark.parametrize(("name", "called"), [("clip", "encode_images"), ("vilt", "match"), ("llava", "answer")])
def test_inputs_that_cannot_be_made_ahead_fail_in_their_batch_and_leave_no_thread(name, called, ahead, monkeypatch):
    model, items, replies, alone = ahead(name, called)
    make, sizes, fails = model.inputs_ahead.make, [], [MemoryError("of the GPU")] * 4

    def failing(parts):
        sizes.append(len(parts))
        if len(sizes) > 1 and fails:
            raise fails.pop()
        return make(parts)

    model.inputs_ahead.make = failing
    halved = replies(model, size=2)
    assert halved == alone if called == "answer" else np.allclose(halved, alone, atol=1e-6)
    assert not fails
    own, stops = getattr(model, called), iter([False, True])

    def interrupted(_, some):
        found = own(some)
        if next(stops):
            raise KeyboardInterrupt
        return found

    model.inputs_ahead.make = make
    with monkeypatch.context() as patched:
        patched.setattr(model, called, MethodType(interrupted, model))
        with pytest.raises(KeyboardInterrupt):
            replies(model)
    assert not any(thread.name.startswith("vlgate-prepare") for thread in threading.enumerate())
    bad = LazyImage(key="bad", load=lambda: (_ for _ in ()).throw(ImageError("bad", "it is torn", "mend it")))
    shown = [bad if called == "encode_images" else replace(items[-1], image=bad)]
    *found, problem = replies(model, [*items, *shown])
    assert np.array_equal(found, alone)
    assert problem.why == "image 'bad': it is torn; mend it"


@pytest.mark.parametrize("name", [*DUAL, *CROSS, *VLMS])
def test_an_image_that_fails_fails_unchanged_and_no_text_is_counted(name, spec):
    model, error = loaded(spec(name)), ImageError("bad", "it is torn", "mend it")

    def fail():
        raise error

    bad = LazyImage(key="bad", load=fail)
    with pytest.raises(ImageError) as caught:
        ask(model, [*PAIRS, Match(image=bad, text="red " * 40)])
    assert caught.value is error
    assert not getattr(model, "cut_texts", ())


@pytest.mark.parametrize("name", FIT)
def test_a_text_is_read_to_the_last_word_that_fits_and_a_longer_one_is_counted(name, spec):
    model = loaded(spec(name))
    found = ask(model, [Match(image=IMAGES[0], text=" ".join(["red"] * number)) for number in range(2, 45)])
    assert sorted(len(text.split()) for text in model.cut_texts) == [*range(FIT[name] + 1, 45)]
    assert alike(found[FIT[name] :], found[-1:].repeat(43 - FIT[name]), 1e-4)
    assert name.endswith("vqa") or abs(found[FIT[name] - 2] - found[FIT[name] - 3]) > 1e-6


@pytest.mark.parametrize("name", EVERY)
def test_the_fingerprint_is_that_of_content_and_precision(name, spec, copied, model):
    copy, folder = copied(name)
    assert loaded(copy).fingerprint == model(name).fingerprint
    seen = {model(name).fingerprint, loaded(spec(name), dtype="bfloat16").fingerprint}
    changed_weights(folder, lambda weights: weights | {key: weight + 1 for key, weight in weights.items()})
    seen.add(loaded(copy).fingerprint)
    assert len(seen) == 3


def changed_weights(folder, change):
    file = next(file for file in folder.iterdir() if file.suffix in {".safetensors", ".bin"})
    if file.suffix == ".bin":
        torch.save(change(torch.load(file, weights_only=True)), file)
    else:
        save_file(change(load_file(file)), file, metadata={"format": "pt"})


LOST = {
    "vilt": "rank_output.", "blip": "itm_head.", "blip2": "itm_head.", "bridgetower": "itm_score.fc.",
    "flava": "itm_head.seq_relationship.", "blip-itc": "vision_proj.", "blip2-itc": "text_projection.",
    "vilt-vqa": "classifier.3.", "blip-vqa": "text_decoder.cls.", "clip": "visual_projection.",
    "lxmert": "cls.seq_relationship.", "visualbert": "cls.seq_relationship.", "gpt2": "transformer.ln_f.",
    "gpt1": "transformer.h.1.ln_2.", "bert": "cls.predictions.transform.", "llava": "projector",
    **dict.fromkeys(VOLTA[:5], "cls.bi_seq_relationship."), "vilbert-12-in-1": "t_pooler.",
}  # fmt: skip


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("part", ["body", "head"])
def test_a_part_that_would_be_random_is_refused_by_name(name, part, copied):
    copy, folder = copied(name)
    inside = re.compile(r"(layer|block|\.h)s?\.0\." if part == "body" else LOST.get(name, r"norm\w*\."))
    changed_weights(folder, lambda weights: {key: weights[key] for key in weights if not inside.search(key)})
    with pytest.raises(ModelLoadError, match=r"\.(weight|bias|lin1)(:| is) missing") as caught:
        loaded(copy)
    assert str(folder) in str(caught.value)
    if part == "head":
        assert inside.search(str(caught.value))


@pytest.mark.parametrize("name", EVERY)
def test_a_folder_or_an_option_that_is_not_there_is_named_with_the_nearest(name, copied):
    copy, folder = copied(name)
    called = copy.partition(":")[0]
    (folder.parent / "mymodel").mkdir()
    nearest = "no file or folder" if name in VOLTA else "did you mean 'mymodel'"
    for written, why in ((f"{called}:./my-model", nearest), (f"{copy.partition('?')[0]}?mde=x", "mde")):
        for refuses in (check, load):
            with pytest.raises(ModelLoadError, match=why):
                refuses(written, folder=folder.parent)


@pytest.mark.parametrize("name", [name for name in EVERY if name not in ON_REGIONS])
def test_a_folder_without_its_configuration_its_weights_or_a_vocabulary_is_refused(name, copied):
    copy, folder = copied(name)
    missing = {
        "tokenizer.json": "no vocabulary|cannot be loaded", "model.safetensors": r"expected one of model\.safetensors",
        "config.json": "expected config.json",
    }  # fmt: skip
    missing |= {file.name: "no image processor|cannot be loaded" for file in folder.glob("*processor_config.json")}
    for file, why in missing.items():
        content = (folder / file).read_bytes()
        (folder / file).unlink()
        for refuses in (check, load)[name not in CROSS :]:
            with pytest.raises(ModelLoadError, match=why):
                refuses(copy, folder=folder)
        (folder / file).write_bytes(content)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "vit"}))
    with pytest.raises(ModelLoadError, match="'vit'"):
        loaded(copy)


def turns(scores, others):
    """The number of pairs of requests that two scores order differently."""
    return int((np.sign(scores[:, None] - scores) != np.sign(others[:, None] - others)).sum()) // 2


RAW = ("blip", "blip2", "bridgetower", "flava", "lxmert", "visualbert", *VOLTA[:5])


@pytest.mark.parametrize("name", RAW)
def test_pairs_are_ranked_by_the_raw_match_logit_on_request(name, spec, model):
    raw = loaded(f"{spec(name)}{'&' if '?' in spec(name) else '?'}score=logit")
    assert turns(ask(raw, PAIRS), ask(model(name), PAIRS)) > 0
    assert (raw.decision_threshold, model(name).decision_threshold) == (None, 0.0)
    assert raw.note.endswith("ranks by the raw match logit (VALSE's script)")
    assert "ranks by the match probability" in model(name).note
    assert raw.fingerprint != model(name).fingerprint


MAPS = [(name, "attended") for name in ("clip", "siglip", "altclip", "metaclip2", "chinese-clip", "vilt", "lxmert")]
MAPS += [(name, "attention_rollout") for name in ("clip", "siglip", "vilt", "lxmert", "visualbert")]


@pytest.mark.parametrize(("name", "method"), MAPS)
def test_a_map_is_on_the_image_the_same_in_any_batch_and_leaves_the_model_as_it_was(name, method, model):
    draw, before = getattr(model(name), method), ask(model(name), PAIRS)
    found = draw(PAIRS)
    assert np.array_equal(ask(model(name), PAIRS), before)
    assert [one.text for one in found] == [pair.text for pair in PAIRS]
    for pair, one in zip(PAIRS, found, strict=True):
        assert len(one.boxes) == len(one.weights) > 1
        assert all(0 <= left < right <= 1 and 0 <= top < bottom <= 1 for left, top, right, bottom in one.boxes)
        assert 0 <= min(one.weights) <= max(one.weights) <= 1
        [alone] = draw([pair])
        assert np.array(one.boxes) == pytest.approx(np.array(alone.boxes))
        assert np.array(one.weights) == pytest.approx(np.array(alone.weights), abs=1e-3)
    # A rollout of a dual encoder is of the image alone.
    assert len({one.weights for one in found}) >= len(IMAGES)


@pytest.mark.parametrize("name", ["align", "naflex", "siglip2", "tipsv2", "blip", "blip2", "bridgetower", "flava"])
def test_a_model_whose_encoder_is_not_known_has_no_maps(name, model):
    assert model(name).attended(PAIRS[:2]) == model(name).attention_rollout(PAIRS[:2]) == []


DEFAULTS = [name for name, model in registered().items() if model.weights and "transformers" in model.packages]


@pytest.mark.parametrize("name", DEFAULTS)
def test_the_published_weights_are_the_default_and_are_looked_for(name, tmp_path):
    with pytest.raises(ModelLoadError) as caught:
        load(name, folder=tmp_path, device="cpu")
    for words in (registered()[name].weights, "HF_HUB_OFFLINE is set"):
        assert words in str(caught.value)


LONG = "a red dot of the big square . " * 60


@pytest.mark.parametrize("name", [name for name in EVERY if name not in VLMS])
def test_texts_that_are_equal_where_they_are_cut_and_equal_pixels_tie_exactly_in_batches_of_any_size(name, model):
    texts = (LONG + "red", LONG + "blue", *("a big red dot of the square . " * number for number in range(1, 8)))
    images = IMAGES if name in ON_REGIONS else [*IMAGES, replace(IMAGES[0], key="copy")]
    asked = [Match(image=image, text=text) for image in images for text in texts]
    asked = [Read(text=text) for text in texts] if name in TEXT_ONLY else asked
    for size in (3, 64):
        predictor = ModelPredictor(model=model(name), name=name, caller=Caller(name=name, size=size), seed=0)
        scores = [reply.score for reply in predictor.predict(asked).values()]
        assert scores[0] == scores[1]
        assert name in ON_REGIONS or scores[:9] == scores[-9:]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("families")
    command = [sys.executable, "-W", "ignore", families.__file__, str(folder)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    environment.pop("VLGATE_DATA", None)
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    return folder, ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_suite_runs_on_a_checkpoint_of_the_family(runs, name):
    folder, printed = runs
    file = folder / f"out-{name}" / "metrics.json"
    assert file.exists(), printed[-3000:]
    found = json.loads(file.read_text())
    counts = [(one["cases"], one["judged"], one["unscored"]) for one in found["tasks"].values()]
    assert counts == [(CASES, CASES, 0)] * len(TASKS)
    assert found["model"]["name"] == {"bert": "masked", **dict.fromkeys(VLMS, "vlm")}.get(name, name)
