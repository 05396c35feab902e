"""Weights that a model has no place for: those that matter are refused by name, the others are counted and shown."""

import json
import re
import shutil

import numpy as np
import pytest
import torch
import transformers
from builders import refusal, tabled
from safetensors.torch import load_file, save_file
from vlm_cases import PAIRS

from vlgate.asking.batching import Call, Caller
from vlgate.errors import ModelLoadError, ModelReplyError
from vlgate.models import load
from vlgate.models.checkpoints import transformers_loading
from vlgate.models.checkpoints.hub import pretrained
from vlgate.models.checkpoints.transformers_loading import NOTES, load_model, load_processor, quantised, why_and_remedy
from vlgate.models.loading.registry import check
from vlgate.models.loading.unloaded import face_of, note_of

CLASSES = {
    "qwen3_vl": "AutoModelForImageTextToText", "clip": "CLIPModel", "bert": "AutoModelForMaskedLM",
    "gpt2": "AutoModelForCausalLM",
}  # fmt: skip


@pytest.fixture
def saved(checkpoint, tmp_path):
    """Copy a checkpoint with some of its weights changed, others added, and its configuration updated."""

    def save(kind, added=(), *, changed=dict, **config):
        folder = tmp_path / kind
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(checkpoint(kind), folder)
        weights = load_file(folder / "model.safetensors")
        weights |= {name: torch.full((2, 2), 0.5) for name in added} | changed(weights)
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        file = folder / "config.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | config))
        return folder

    return save


def loaded(folder, kind):
    return load_model(
        getattr(transformers, CLASSES[kind]), pretrained(str(folder), folder), device="cpu", dtype="float32"
    )


def refused(folder, kind):
    message = refusal(loaded, folder, kind)
    assert str(folder) in message
    assert "\n" not in message
    return message


LAYERS = {
    "qwen3_vl": "model.language_model.layers.0.self_attn.q_proj.",
    "clip": "text_model.encoder.layers.0.self_attn.q_proj.",
}


@tabled
def test_an_adapter_that_was_not_merged(name, saved):
    for kind, layer in LAYERS.items():
        message = refused(saved(kind, [layer + name]), kind)
        for words in ("an adapter that was not merged: 1 weight", layer + name, "merge_and_unload"):
            assert words in message


@tabled
def test_weights_of_a_quantised_checkpoint(name, saved):
    # A class of another name does not help: what is left out changes the meaning of the rest.
    for kind, layer in LAYERS.items():
        for architectures in (["Own"], []):
            message = refused(saved(kind, [layer + name], architectures=architectures), kind)
            assert re.search(r"is quantised: 1 weight \(.*" + re.escape(name), message)
            assert "openai:URL#NAME" in message


def narrow(kind):
    def change(weights):
        names = [name for name in weights if name.endswith("proj.weight")]
        return {name: weights[name].clamp(-1, 1).mul(100 if kind is torch.int8 else 1).to(kind) for name in names}

    return change


@pytest.mark.parametrize("kind", [torch.float8_e4m3fn, torch.float8_e5m2, torch.int8])
def test_weights_of_eight_bits_without_their_scales(kind, saved, checkpoint):
    vision = json.loads((checkpoint("qwen3_vl") / "config.json").read_text())["vision_config"]
    for model, config in (
        ("qwen3_vl", {}),
        ("clip", {}),
        ("qwen3_vl", {"compression_config": {"quant_method": "compressed-tensors"}}),
        ("qwen3_vl", {"vision_config": {**vision, "quantization_config": {}}}),
    ):
        message = refused(saved(model, changed=narrow(kind), **config), model)
        assert re.search(r"it holds \d+ weights \(.*proj.weight, \.\.\.\) as (F8_E4M3|F8_E5M2|I8)", message)
        assert "quantization_config" in message
    for method in ("modelopt", "own-method"):
        message = refused(
            saved("qwen3_vl", changed=narrow(kind), quantization_config={"quant_method": method}), "qwen3_vl"
        )
        assert f"is quantised by {method}, which transformers does not read" in message
        assert "openai:URL#NAME" in message
    folder = saved("clip", changed=narrow(kind))
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    assert str(kind).removeprefix("torch.") in refused(folder, "clip")


def test_a_quantisation_that_transformers_reads(saved, checkpoint):
    pytest.importorskip("accelerate")

    def blocks(weights):
        found = {}
        for name in [name for name in weights if "language_model.layers" in name and name.endswith("proj.weight")]:
            rows, columns = weights[name].shape
            parts = weights[name].reshape(rows // 16, 16, columns // 16, 16)
            scale = parts.abs().amax(dim=(1, 3), keepdim=True) / 448
            found[name] = (parts / scale).reshape(rows, columns).to(torch.float8_e4m3fn)
            found[f"{name}_scale_inv"] = scale[:, 0, :, 0]
        return found

    settings = {"quant_method": "fp8", "weight_block_size": [16, 16], "activation_scheme": "dynamic"}
    left = {"modules_to_not_convert": ["visual", "lm_head"]}
    model = loaded(saved("qwen3_vl", changed=blocks, quantization_config=settings | left), "qwen3_vl")
    plain = loaded(checkpoint("qwen3_vl"), "qwen3_vl").state_dict()
    for name, weight in model.state_dict().items():
        assert torch.allclose(weight.float(), plain[name].float(), rtol=0.1, atol=0.02), name
    assert getattr(model, NOTES) == ("the checkpoint is quantised (fp8)",)


@pytest.mark.parametrize("name", ["vision_model.extra.weight", "second_projection.weight", "text_model.more"])
def test_other_weights_of_a_checkpoint_of_the_same_class(name, saved):
    message = refused(saved("clip", [name]), "clip")
    assert f"was saved as CLIPModel, but 1 weight ({name}) would be left out" in message
    assert "save_pretrained()" in message
    model = loaded(saved("clip", [name], architectures=["CLIPForOwnTask"]), "clip")
    assert getattr(model, NOTES) == (f"1 weight ({name}) of the checkpoint left out, which CLIPModel does not use",)


@tabled
def test_published_checkpoints_are_loaded(kind, names, counted, saved, checkpoint):
    """What they hold that their class has no place for; buffers are not counted."""
    model = loaded(saved(kind, names), kind)
    plain = loaded(checkpoint(kind), kind).state_dict()
    assert all(torch.equal(weight, plain[name]) for name, weight in model.state_dict().items())
    notes = getattr(model, NOTES)
    assert len(notes) == (counted > 0)
    assert not counted or notes[0].startswith(f"{counted} weights (")


def test_what_is_left_out_is_in_the_note_of_the_model(saved):
    folder = saved("gpt2", ["v_head.summary.weight"])
    found = load(f"causal:{folder}", folder=folder, device="cpu")
    note = "1 weight (v_head.summary.weight) of the checkpoint left out, which GPT2LMHeadModel does not use"
    assert note_of(found).endswith(note)
    assert face_of(found).note == note_of(found)
    assert note_of(found).startswith(found.model.note)


LLAVA = transformers.LlavaForConditionalGeneration
SERVED = "serve it, and name it openai:URL#NAME"
AGAIN = "save or download it again"


@pytest.fixture
def original(checkpoint):
    return checkpoint("llava")


@pytest.fixture
def changed(saved):
    """Copy a LLaVA with another configuration."""

    def change(file="config.json", **settings):
        folder = saved("llava")
        content = json.loads((folder / file).read_text()) if (folder / file).is_file() else {}
        (folder / file).write_text(json.dumps(content | settings))
        return folder

    return change


def why_refused(folder):
    message = refusal(load, f"vlm:{folder}", folder=folder, device="cpu")
    assert AGAIN not in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize("kind", ["internvl_chat", "molmo", "phi4mm", "minicpmv", "own"])
def test_custom_code(kind, changed):
    code = {"AutoConfig": "configuration.Own", "AutoModelForCausalLM": "modeling.Own", "AutoProcessor": "own.Processor"}
    folder = changed(model_type=kind, auto_map=code)
    message = why_refused(folder)
    assert f"a {kind} needs custom code from its repository, and no such code is run here" in message
    for remedy in (SERVED, "-hf", "package.module:callable"):
        assert remedy in message
    with pytest.raises(ModelLoadError, match=f"a {kind} needs custom code"):
        loaded(folder, "qwen3_vl")


def test_a_processor_of_custom_code(changed):
    folder = changed(
        "processor_config.json", processor_class="OwnProcessor", auto_map={"AutoProcessor": "processing.OwnProcessor"}
    )
    for file in ("tokenizer_config.json", "preprocessor_config.json"):
        if (folder / file).is_file():
            content = json.loads((folder / file).read_text())
            (folder / file).write_text(json.dumps(content | {"processor_class": "OwnProcessor"}))
    message = why_refused(folder)
    assert SERVED in message


@tabled
def test_a_quantisation_without_its_package(method, settings, package, changed):
    content = {"quant_method": method, **settings}
    assert quantised({"text_config": {"quantization_config": content}}) == quantised({"quantization_config": content})
    message = why_refused(changed(quantization_config=content))
    for words in (f"it is quantised ({method}): ", package, SERVED, "name the checkpoint that it was made from"):
        assert words in message


def test_a_model_type_that_is_not_known_yet_or_of_another_name(changed, checkpoint, tmp_path):
    message = why_refused(changed(model_type="llava_of_next_year"))
    assert "the installed transformers does not know the model_type 'llava_of_next_year'" in message
    assert "pip install --upgrade transformers" in message
    assert SERVED in message
    for refuses in (check, load):
        with pytest.raises(ModelLoadError, match=r"'clip', a dual encoder, which writes no text; write --model=dual:"):
            refuses(f"vlm:{checkpoint('clip')}", folder=tmp_path)
    message = why_refused(checkpoint("gpt2"))
    why = "transformers has no such model of model_type 'gpt2'; name another --model (vlgate models lists them)"
    assert why in message
    assert len(message) < 600
    assert why_and_remedy(OSError("no file"), {}) == ("", "")
    assert why_and_remedy(ImportError("X requires the Foo library but"), {})[1] == "pip install 'vlgate[hf]' foo"


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
        message = why_refused(original)
    for words in ("--dtype bfloat16", "another --device", "?device_map=auto", SERVED):
        assert words in message
    if isinstance(error, RuntimeError):
        monkeypatch.setattr(LLAVA, "to", fails)
        assert "cannot be moved to device='cpu'" in why_refused(original)
        assert "--dtype bfloat16" in why_refused(original)


def test_numbers_that_overflow_in_float16(changed):
    for dtype, words in (("float16", "run with --dtype bfloat16"), ("float32", "return finite numbers only")):
        caller = Caller(name="m", size=2, dtype=dtype)
        with pytest.raises(ModelReplyError, match=words):
            caller.ask(Call(called="match", method=lambda _: np.array([0.0, np.nan])), [1, 2])
        with pytest.raises(ModelReplyError, match=words):
            caller.ask(Call(called="encode_images", method=lambda _: np.array([[0.0], [np.inf]]), kind="rows"), [1, 2])
    folder = changed()
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
    message = why_refused(original)
    assert f"this looks like a fault of transformers {transformers.__version__}" in message
    assert SERVED in message


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
