import json
import shutil

import cross_checkpoints
import numpy as np
import pytest
from cross_checkpoints import of, pairs, refused
from safetensors.torch import load_file, save_file

HEADS = {
    "vilt": "rank_output", "blip": "itm_head", "blip2": "itm_head", "bridgetower": "itm_score.fc",
    "flava": "itm_head.seq_relationship",
}  # fmt: skip


@pytest.fixture(scope="module", params=list(HEADS))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def folder(name, tmp_path_factory):
    return cross_checkpoints.save(name, tmp_path_factory.mktemp(name))


def test_a_missing_folder(name, tmp_path):
    (tmp_path / "mymodel").mkdir()
    assert "my-model; did you mean 'mymodel'" in refused(name, "./my-model", tmp_path, by_check=True)
    assert "config.json" in refused(name, "mymodel", tmp_path, by_check=True)


def copied(folder, tmp_path, weights):
    for file in folder.iterdir():
        if file.suffix == ".json":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    if weights is not None:
        save_file(weights, tmp_path / "model.safetensors", metadata={"format": "pt"})
    return tmp_path


def test_a_folder_without_weights(name, folder, tmp_path):
    assert "model.safetensors" in refused(name, copied(folder, tmp_path, None), tmp_path, by_check=True)


def test_a_head_that_would_be_random_is_refused(name, folder, tmp_path):
    weights = load_file(folder / "model.safetensors")
    assert f"{HEADS[name]}.weight" in weights
    less = {key: value for key, value in weights.items() if not key.startswith(f"{HEADS[name]}.")}
    assert f"{HEADS[name]}.bias: missing" in refused(name, copied(folder, tmp_path, less), tmp_path)


def test_a_body_that_would_be_random_is_refused(name, folder, tmp_path):
    weights = load_file(folder / "model.safetensors")
    inside = "vision_model" if name in ("blip", "blip2", "bridgetower") else "query.weight"
    key = next(key for key in weights if inside in key and key.endswith(".weight"))
    less = {other: value for other, value in weights.items() if other != key}
    assert f"{key}: missing" in refused(name, copied(folder, tmp_path, less), tmp_path)


def test_another_architecture_is_refused(name, folder, tmp_path):
    copied(folder, tmp_path, load_file(folder / "model.safetensors"))
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "model_type": "bert"}))
    message = refused(name, tmp_path, tmp_path, by_check=True)
    assert "'bert'" in message
    assert f"expected {config['model_type']!r}" in message


def changed(folder, **image_processor):
    file = folder / "processor_config.json"
    content = json.loads(file.read_text())
    content["image_processor"] |= image_processor
    file.write_text(json.dumps(content))


def test_a_folder_without_a_vocabulary_or_an_image_processor(name, folder, tmp_path):
    """Without a vocabulary, transformers silently reads every word as unknown."""
    copied(folder, tmp_path, load_file(folder / "model.safetensors"))
    (tmp_path / "tokenizer.json").rename(tmp_path / "elsewhere.json")
    assert "no vocabulary: expected tokenizer.json" in refused(name, tmp_path, tmp_path, by_check=True)
    (tmp_path / "elsewhere.json").rename(tmp_path / "tokenizer.json")
    (tmp_path / "processor_config.json").unlink()
    assert "no image processor" in refused(name, tmp_path, tmp_path, by_check=True)


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
