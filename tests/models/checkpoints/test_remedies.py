"""Checkpoints that cannot be loaded: each message says what works instead."""

import json
import shutil

import numpy as np
import pytest
import tiny_vlms
import torch
import transformers

from vlgate.asking.batching import Call, Caller
from vlgate.errors import ModelLoadError, ModelReplyError
from vlgate.models import load
from vlgate.models.checkpoints import transformers_loading
from vlgate.models.checkpoints.hub import pretrained
from vlgate.models.checkpoints.transformers_loading import load_model, load_processor, quantised, why_and_remedy
from vlgate.models.loading.registry import check
from vlgate.types import LazyImage, Match

LLAVA = transformers.LlavaForConditionalGeneration
SERVED = "serve it, and name it openai:URL#NAME"
AGAIN = "save or download it again"


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vlm") / "llava"
    for part in tiny_vlms.llava():
        part.save_pretrained(folder)
    return folder


@pytest.fixture
def saved(original, tmp_path):
    """Save the same model with another configuration."""

    def save(file="config.json", **settings):
        folder = tmp_path / "llava"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(original, folder)
        content = json.loads((folder / file).read_text()) if (folder / file).is_file() else {}
        (folder / file).write_text(json.dumps(content | settings))
        return folder

    return save


def refused(folder, name="vlm"):
    with pytest.raises(ModelLoadError) as caught:
        load(f"{name}:{folder}", folder=folder, device="cpu")
    message = str(caught.value)
    assert AGAIN not in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("kind", ["internvl_chat", "molmo", "phi4mm", "minicpmv", "own"])
def test_custom_code(kind, saved):
    code = {"AutoConfig": "configuration.Own", "AutoModelForCausalLM": "modeling.Own", "AutoProcessor": "own.Processor"}
    folder = saved(model_type=kind, auto_map=code)
    message = refused(folder)
    assert f"a {kind} needs custom code from its repository, and no such code is run here" in message
    for remedy in (SERVED, "-hf", "package.module:callable"):
        assert remedy in message
    with pytest.raises(ModelLoadError, match=f"a {kind} needs custom code"):
        load_model(
            transformers.AutoModelForImageTextToText, pretrained(str(folder), folder), device="cpu", dtype="float32"
        )


def test_a_processor_of_custom_code(saved):
    folder = saved(
        "processor_config.json", processor_class="OwnProcessor", auto_map={"AutoProcessor": "processing.OwnProcessor"}
    )
    for file in ("tokenizer_config.json", "preprocessor_config.json"):
        if (folder / file).is_file():
            content = json.loads((folder / file).read_text())
            (folder / file).write_text(json.dumps(content | {"processor_class": "OwnProcessor"}))
    message = refused(folder)
    assert SERVED in message


METHODS = {
    "gptq": ({"bits": 4}, "pip install optimum"),
    "awq": ({"bits": 4}, "pip install gptqmodel"),
    "bitsandbytes": ({"load_in_4bit": True}, "bitsandbytes"),
    "compressed-tensors": ({"format": "pack-quantized"}, "compressed-tensors"),
    "torchao": ({"quant_type": {"default": "int8_weight_only"}}, "torchao"),
    "hqq": ({"skip_modules": []}, "pip install hqq"),
    "aqlm": ({}, "pip install aqlm"),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("below", [False, True])
def test_a_quantisation_without_its_package(method, below, saved):
    settings, package = METHODS[method]
    content = {"quant_method": method, **settings}
    folder = saved(quantization_config=content)
    if below:
        text = json.loads((folder / "config.json").read_text())["text_config"]
        folder = saved(text_config=text | {"quantization_config": content})
    assert quantised(json.loads((folder / "config.json").read_text())) == method
    if below:
        return
    message = refused(folder)
    for words in (f"it is quantised ({method}): ", package, SERVED, "name the checkpoint that it was made from"):
        assert words in message


def test_a_model_type_that_is_not_known_yet(saved):
    message = refused(saved(model_type="llava_of_next_year"))
    assert "the installed transformers does not know the model_type 'llava_of_next_year'" in message
    assert "pip install --upgrade transformers" in message
    assert SERVED in message


def test_a_model_of_another_name(tmp_path):
    small = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = transformers.CLIPConfig(
        text_config={**small, "vocab_size": 20}, vision_config={**small, "image_size": 8, "patch_size": 4}
    )
    transformers.CLIPModel(config).save_pretrained(tmp_path / "clip")
    for refuses in (check, lambda name, folder: load(name, folder=folder, device="cpu")):
        with pytest.raises(ModelLoadError, match=r"'clip', a dual encoder, which writes no text; write --model=dual:"):
            refuses("vlm:clip", folder=tmp_path)
    transformers.GPT2LMHeadModel(transformers.GPT2Config(n_embd=8, n_layer=1, n_head=1)).save_pretrained(tmp_path / "x")
    tiny_vlms.tokenizer().save_pretrained(tmp_path / "x")
    message = refused(tmp_path / "x")
    assert (
        "transformers has no such model of model_type 'gpt2'; name another --model (vlgate models lists them)"
        in message
    )
    assert len(message) < 600


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 99 bytes"),
        MemoryError(),
    ],
)
def test_a_model_that_does_not_fit_the_memory(error, original, monkeypatch):
    def fails(*_, **__):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(LLAVA, "from_pretrained", fails)
        message = refused(original)
    for words in ("--dtype bfloat16", "another --device", "?device_map=auto", SERVED):
        assert words in message
    if isinstance(error, RuntimeError):
        monkeypatch.setattr(LLAVA, "to", fails)
        assert "cannot be moved to device='cpu'" in refused(original)
        assert "--dtype bfloat16" in refused(original)


def test_numbers_that_overflow_in_float16():
    for dtype, words in (("float16", "run with --dtype bfloat16"), ("float32", "return finite numbers only")):
        caller = Caller(name="m", size=2, dtype=dtype)
        with pytest.raises(ModelReplyError, match=words):
            caller.ask(Call(called="match", method=lambda _: np.array([0.0, np.nan])), [1, 2])
        with pytest.raises(ModelReplyError, match=words):
            caller.ask(Call(called="encode_images", method=lambda _: np.array([[0.0], [np.inf]]), kind="rows"), [1, 2])


def test_a_generative_model_that_overflows_in_float16(saved):
    from safetensors.torch import load_file, save_file

    folder = saved()
    weights = load_file(folder / "model.safetensors")
    name = next(name for name in weights if name.endswith("layers.0.mlp.up_proj.weight") and "language" in name)
    weights[name] = weights[name] * 1e6
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelLoadError, match=r"gives NaN .* in float16: .*--dtype bfloat16"):
        load(f"vlm:{folder}", folder=folder, device="cpu", dtype="float16")
    load(f"vlm:{folder}", folder=folder, device="cpu", dtype="bfloat16")


def test_a_fault_of_the_library_is_named_as_one(original, monkeypatch):
    def fails(self, *_, **__):
        return self.no_such_attribute

    monkeypatch.setattr(LLAVA, "forward", fails)
    message = refused(original)
    assert f"this looks like a fault of transformers {transformers.__version__}" in message
    assert SERVED in message


def test_other_reasons_keep_their_words():
    assert why_and_remedy(OSError("no file"), {}) == ("", "")
    assert why_and_remedy(ImportError("X requires the Foo library but"), {})[1] == "pip install 'vlgate[hf]' foo"


PAIRS = [
    Match(
        image=LazyImage(key="1", load=lambda: __import__("PIL.Image").Image.new("RGB", (40, 32))), text="two dogs run"
    )
]


def test_a_model_spread_by_accelerate(original, monkeypatch):
    pytest.importorskip("accelerate")
    spread = load(f"vlm:{original}?device_map=auto", folder=original, device="cpu")
    plain = load(f"vlm:{original}", folder=original, device="cpu")
    assert spread.model.match(PAIRS) == pytest.approx(plain.model.match(PAIRS), rel=1e-6)
    assert spread.fingerprint != plain.fingerprint
    monkeypatch.setattr(transformers_loading.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ModelLoadError, match=r"needs accelerate.*pip install accelerate"):
        load(f"vlm:{original}?device_map=auto", folder=original, device="cpu")


def test_weights_go_to_a_gpu_one_by_one(original, monkeypatch):
    pytest.importorskip("accelerate")
    given = {}
    plain = LLAVA.from_pretrained.__func__

    def recorded(cls, *args, **kwargs):
        given.update(kwargs)
        kwargs.pop("device_map", None)  # there may be no GPU here
        return plain(cls, *args, **kwargs)

    monkeypatch.setattr(LLAVA, "from_pretrained", classmethod(recorded))
    source = pretrained(str(original), original)
    model = load_model(LLAVA, source, device="cuda:1", dtype="bfloat16")
    assert given["device_map"] == {"": "cuda:1"}
    assert given["dtype"] == model.dtype == torch.bfloat16
    given.clear()
    load_model(LLAVA, source, device="cpu", dtype="float32")
    assert "device_map" not in given


def test_the_fingerprint_names_the_classes_of_the_processor(original, monkeypatch):
    before = load(f"vlm:{original}", folder=original, device="cpu")
    for part in ("LlavaProcessor", "CLIPImageProcessor"):
        assert part in before.model.fingerprint
    plain = load_processor

    def pillow(cls, source, **kwargs):
        processor = plain(cls, source, **kwargs)
        processor.image_processor = plain(transformers.AutoImageProcessor, source, backend="pil")
        return processor

    monkeypatch.setattr("vlgate.models.generative.adapter.load_processor", pillow)
    assert load(f"vlm:{original}", folder=original, device="cpu").fingerprint != before.fingerprint
