import json
import shutil

import cross_checkpoints
import numpy as np
import pytest
import torch
import transformers as hf
from cross_checkpoints import TEXTS, drawn, of, pairs, refused
from held_network import network
from PIL import Image
from safetensors.torch import load_file, save_file

from vlgate.asking.batching import Call, Caller
from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.models import load
from vlgate.models.cross.cross_encoder import Preparation
from vlgate.types import LazyImage, Match

CLASSES = {
    "vilt": "ViltForImageAndTextRetrieval", "blip": "BlipForImageTextRetrieval", "blip2": "Blip2ForImageTextRetrieval",
    "bridgetower": "BridgeTowerForImageAndTextRetrieval", "flava": "FlavaForPreTraining",
    "blip-itc": "BlipForImageTextRetrieval", "blip2-itc": "Blip2ForImageTextRetrieval",
}  # fmt: skip


@pytest.fixture(scope="module", params=list(CLASSES)[:5])
def name(request):
    return request.param


@pytest.fixture(scope="module")
def folder(name, tmp_path_factory):
    return cross_checkpoints.save(name, tmp_path_factory.mktemp(name))


@pytest.fixture(scope="module")
def model(name, folder):
    return of(name, folder, folder)


def logits(name, whole, inputs):
    """The logits of transformers' own forward pass, for inputs from its own processor."""
    if name in ("blip", "blip-itc"):
        return whole(**inputs, use_itm_head=name == "blip").itm_score
    if name in ("blip2", "blip2-itc"):
        return whole(**inputs, use_image_text_matching_head=name == "blip2").logits_per_image
    if name == "flava":
        inputs["bool_masked_pos"] = torch.zeros(len(inputs["input_ids"]), 4, dtype=torch.long)
        return whole(**inputs, input_ids_masked=inputs["input_ids"], return_loss=False).itm_logits
    return whole(**inputs).logits


def in_library(name, processor, images, texts):
    length = cross_checkpoints.PLACES + (4 if "blip2" in name else 0)  # with the 4 queries, which come before the text
    made = processor(images=images, text=texts, return_tensors="pt", padding=True, truncation=True, max_length=length)
    if name == "blip":  # its authors train with [ENC], although its processor begins texts with [CLS]
        made["input_ids"][:, 0] = cross_checkpoints.ENC
    return made


@pytest.mark.parametrize("name", CLASSES, indirect=True)
def test_it_agrees_with_the_library_asked_pair_by_pair(name, folder, model):
    whole = getattr(hf, CLASSES[name]).from_pretrained(folder).eval()
    processor = hf.AutoProcessor.from_pretrained(folder)
    expected, rows = [], []
    with torch.no_grad():
        for pair in pairs():
            rows.append(said := logits(name, whole, in_library(name, processor, pair.image.load(), [pair.text]))[0])
            expected.append(said.item() if name == "vilt" or "itc" in name else (said[1] - said[0]).item())
    assert np.ptp(expected) > 0.01
    assert model.decision_threshold == (None if said.numel() == 1 else 0.0)
    if said.numel() == 1:
        assert "one ranking score" in refused(name, f"{folder}?score=logit", folder, by_check=True) or "itc" in name
        return
    assert "did you mean 'logit'" in refused(name, f"{folder}?score=logits", folder, by_check=True)
    raw = of(name, f"{folder}?score=logit", folder).match(pairs())
    assert raw == pytest.approx([row[1].item() for row in rows], abs=1e-5)
    assert model.match(pairs()) == pytest.approx(expected, abs=1e-5)


def test_an_image_is_prepared_once_per_batch(folder, model):
    loaded = []
    seen = [LazyImage(key=f"p{n}", load=lambda n=n: loaded.append(n) or drawn(n)) for n in (0, 1)]
    batch = [Match(image=image, text=text) for text in TEXTS for image in seen]
    model.match(batch)
    assert sorted(loaded) == [0, 1]
    prepare = Preparation(hf.AutoProcessor.from_pretrained(folder), cross_checkpoints.PLACES, network(model))
    inputs = prepare.inputs([pair.image for pair in batch], [pair.text for pair in batch])
    assert inputs.pixels["pixel_values"].shape[0] == 2
    assert inputs.which.tolist() == [0, 1] * 4


@pytest.mark.parametrize("name", ["bridgetower", "flava"])
def test_the_score_is_what_a_match_saves_of_the_librarys_loss(name, tmp_path):
    """1 is the label of a match: the cross entropies with the labels 0 and 1 differ by the difference of the logits."""
    cross_checkpoints.save(name, tmp_path)
    whole = getattr(hf, CLASSES[name]).from_pretrained(tmp_path).eval()
    [pair] = pairs(TEXTS[:1], 1)
    inputs = in_library(name, hf.AutoProcessor.from_pretrained(tmp_path), pair.image.load(), [pair.text])
    if name == "flava":
        inputs |= {"bool_masked_pos": torch.zeros(1, 4, dtype=torch.long), "input_ids_masked": inputs["input_ids"]}
        inputs |= {"mim_labels": torch.zeros(1, 4, dtype=torch.long)}
    losses = []
    for label in (torch.tensor([0]), torch.tensor([1])):
        with torch.no_grad():
            labels = {"itm_labels": label} if name == "flava" else {"labels": label}
            found = whole(**inputs, **labels)
        losses.append((found.loss_info.itm if name == "flava" else found.loss).item())
    assert of(name, tmp_path, tmp_path).match([pair]) == pytest.approx([losses[0] - losses[1]], abs=1e-4)


def test_blip_can_begin_a_text_as_the_library_does(tmp_path):
    cross_checkpoints.save("blip", tmp_path)
    default, own, plain = (of("blip", f"{tmp_path}{option}", tmp_path) for option in ("", "?first=enc", "?first=cls"))
    inputs = hf.AutoProcessor.from_pretrained(tmp_path)(images=drawn(0), text=TEXTS[0], return_tensors="pt")
    with torch.no_grad():
        said = network(plain)(**inputs).itm_score[0]
    assert plain.match(pairs(TEXTS[:1], 1)) == pytest.approx([(said[1] - said[0]).item()], abs=1e-5)
    assert np.array_equal(default.match(pairs()), own.match(pairs()))
    assert not np.allclose(own.match(pairs()), plain.match(pairs()), atol=1e-3)
    assert default.fingerprint == own.fingerprint != plain.fingerprint
    assert "[CLS]" in plain.note
    assert "did you mean 'enc'" in refused("blip", f"{tmp_path}?first=enk", tmp_path, by_check=True)
    assert "unknown option 'firts'" in refused("blip", f"{tmp_path}?firts=enc", tmp_path, by_check=True)
    config = json.loads((tmp_path / "config.json").read_text())
    config["text_config"]["bos_token_id"] = cross_checkpoints.ENC
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert "[ENC]" in refused("blip", tmp_path, tmp_path)
    assert of("blip", f"{tmp_path}?first=cls", tmp_path).match(pairs()) == pytest.approx(plain.match(pairs()), abs=1e-5)


@pytest.mark.parametrize("name", ["vilt", "bridgetower"])
def test_a_strip_that_no_patch_covers_costs_its_own_requests(name, tmp_path):
    cross_checkpoints.save(name, tmp_path)
    model = of(name, tmp_path, tmp_path)
    strip = LazyImage(key="strip", load=lambda: Image.new("RGB", (900, 8)))
    requests = [*pairs(TEXTS[:2], 1), Match(image=strip, text="red"), *pairs(TEXTS[2:], 1)]
    with pytest.raises(NoReplyError, match="900 x 8") as caught:
        model.match(requests)
    assert caught.value.positions == {2}
    scores = Caller(name=name, size=8).ask(Call(called="match", method=model.match), requests)
    assert "refuses the image 'strip'" in scores.pop(2).why
    assert scores == pytest.approx(model.match(pairs(count=1)).tolist(), abs=1e-5)


def test_vilt_aligns_each_word_with_the_patches(tmp_path):
    model = of("vilt", cross_checkpoints.save("vilt", tmp_path), tmp_path)
    found = model.attended(pairs()[::3])
    for pair, one in zip(pairs()[::3], found, strict=True):
        assert "".join(one.words).replace("##", "") == pair.text.replace(" ", "")
        assert np.array(one.aligned).shape == (len(one.words), len(one.boxes))
        assert np.array(one.aligned).sum(axis=1) == pytest.approx(np.ones(len(one.words)))
    assert len({len(one.boxes) for one in found}) > 1


def test_vilt_looks_at_all_patches_whatever_its_training_left_out(tmp_path):
    cross_checkpoints.save("vilt", tmp_path)
    expected = of("vilt", tmp_path, tmp_path).match(pairs())
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "max_image_length": 2}))
    assert np.array_equal(of("vilt", tmp_path, tmp_path).match(pairs()), expected)


def changed(folder, **image_processor):
    file = folder / "processor_config.json"
    content = json.loads(file.read_text())
    content["image_processor"] |= image_processor
    file.write_text(json.dumps(content))


def test_a_vocabulary_that_is_not_the_models(name, folder, tmp_path):
    """A truncated one reads the lost words as unknown; a larger one gives words that the model lacks."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    file = tmp_path / "tokenizer.json"
    content = json.loads(file.read_text())
    words = content["model"]["vocab"]
    merges = {"merges": []} if "merges" in content["model"] else {}
    for size in (len(words) // 2, len(words) + 20):
        some = dict([*words.items(), *((f"more{index}", index) for index in range(len(words), size))][:size])
        content["added_tokens"] = [token for token in content["added_tokens"] if token["content"] in some]
        file.write_text(json.dumps({**content, "model": {**content["model"], "vocab": some, **merges}}))
        assert f"its tokenizer has {size} tokens" in refused(name, tmp_path, tmp_path)


def test_parts_that_do_not_fit_together_show_when_they_are_loaded(name, folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    if name == "vilt":  # it takes images of any size, but a batch must be padded to one
        changed(tmp_path, do_pad=False)
    elif name == "bridgetower":  # an old form of this setting, which its processor no longer reads
        changed(tmp_path, crop_size=32)
    else:
        changed(tmp_path, size={"height": 48, "width": 48}, crop_size={"height": 48, "width": 48})
    assert f"{tmp_path} cannot score an image and a text" in refused(name, tmp_path, tmp_path)


@pytest.mark.parametrize(
    ("name", "parts"), [("flava", ("codebook", "logit_scale")), ("bridgetower", ("text_model.pooler",))]
)
def test_what_no_score_depends_on_may_be_missing(name, parts, tmp_path):
    cross_checkpoints.save(name, tmp_path)
    expected = of(name, tmp_path, tmp_path).match(pairs())
    weights = load_file(tmp_path / "model.safetensors")
    less = {key: value for key, value in weights.items() if not any(part in key for part in parts)}
    assert len(less) < len(weights)
    save_file(less, tmp_path / "model.safetensors", metadata={"format": "pt"})
    assert np.array_equal(of(name, tmp_path, tmp_path).match(pairs()), expected)


def test_a_repository_as_it_was_published_years_ago(tmp_path):
    cross_checkpoints.save("vilt", tmp_path)
    expected = of("vilt", tmp_path, tmp_path).match(pairs())
    for file in ("processor_config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / file).unlink()
    pixels = {"do_normalize": True, "do_resize": True, "image_mean": [0.5] * 3, "image_std": [0.5] * 3, "resample": 3}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({**pixels, "size": 48, "size_divisor": 16}))
    words = "\n".join((*cross_checkpoints.SPECIAL, *cross_checkpoints.WORDS))
    (tmp_path / "vocab.txt").write_text(words + "\n")
    tokens = {"tokenizer_class": "BertTokenizer", "model_max_length": 16, "do_lower_case": True}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(tokens))
    assert np.array_equal(of("vilt", tmp_path, tmp_path).match(pairs()), expected)


@pytest.mark.parametrize("name", ["blip-itc", "blip2-itc"])
def test_the_matching_heads_checkpoint_says_which_name_has_the_contrastive_score(name, tmp_path):
    with pytest.raises(ModelLoadError, match=f"write {name}:"):
        load(f"dual:{cross_checkpoints.save(name, tmp_path)}", folder=tmp_path, device="cpu")
