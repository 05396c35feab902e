"""A folder with an adapter is never judged as its base model: the adapter is merged, or the folder refused."""

import json
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
import tiny_vlms
import torch
import transformers
from builders import tabled
from PIL import Image
from safetensors.torch import load_file, save_file
from vlm_cases import PAIRS

from vlgate.errors import ImageError, ModelLoadError
from vlgate.models import load
from vlgate.models.checkpoints import hub
from vlgate.models.checkpoints.device import pick_device, pick_dtype
from vlgate.models.checkpoints.hub import identity, pretrained, read_config, weights_form
from vlgate.models.checkpoints.inputs import cut_texts, knows_words, prepared, rgb_images
from vlgate.models.loading.registry import check
from vlgate.models.loading.unloaded import note_of
from vlgate.types import LazyImage

pytestmark = pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # peft asks for it
TARGETS = ["q_proj", "v_proj"]


@pytest.fixture
def base(checkpoint):
    return checkpoint("qwen3_vl")


def adapt(base, folder, config=None, *, only=True):
    """Save an adapter with random weights: alone, or beside its base model. Return the merged model's folder."""
    peft = pytest.importorskip("peft")
    torch.manual_seed(1)
    model = transformers.AutoModelForImageTextToText.from_pretrained(base, dtype="float32")
    config = config or peft.LoraConfig(r=2, target_modules=TARGETS, init_lora_weights=False)
    wrapped = peft.get_peft_model(model, config)
    for name, weight in wrapped.named_parameters():
        if "lora_" in name or "ia3_" in name:
            torch.nn.init.normal_(weight, mean=1.0 if "ia3" in name else 0.0, std=0.5)
    if not only:
        shutil.copytree(base, folder)
    wrapped.save_pretrained(folder)
    settings = json.loads((folder / "adapter_config.json").read_text())
    (folder / "adapter_config.json").write_text(json.dumps(settings | {"base_model_name_or_path": str(base)}))
    whole = shutil.copytree(base, folder.parent / f"{folder.name} merged")
    wrapped.merge_and_unload().save_pretrained(whole)
    return whole


def built(folder):
    return load(f"vlm:{folder}", folder=folder.parent, device="cpu")


def scores(folder):
    return built(folder).model.match(PAIRS)


@pytest.mark.parametrize("only", [True, False])
def test_an_adapter_is_merged_into_its_base_model(only, base, tmp_path):
    whole = adapt(base, tmp_path / "lora", only=only)
    check("vlm:lora", folder=tmp_path)
    found = built(tmp_path / "lora")
    assert found.model.match(PAIRS) == pytest.approx(scores(whole), rel=1e-5)
    assert np.abs(scores(base) / scores(whole) - 1).max() > 0.01
    on = str(base) if only else "the weights beside it"
    assert f"the adapter of lora (LORA) was merged into {on} by peft" in note_of(found)
    assert read_config(pretrained("lora", tmp_path))["model_type"] == "qwen3_vl"


def test_kinds_of_adapters(base, tmp_path):
    peft = pytest.importorskip("peft")
    for name, config in {
        "dora": peft.LoraConfig(r=2, target_modules=TARGETS, init_lora_weights=False, use_dora=True),
        "ia3": peft.IA3Config(target_modules=TARGETS, feedforward_modules=[]),
        "saved": peft.LoraConfig(r=2, target_modules=TARGETS, init_lora_weights=False, modules_to_save=["lm_head"]),
    }.items():
        whole = adapt(base, tmp_path / name, config)
        assert scores(tmp_path / name) == pytest.approx(scores(whole), rel=1e-5), name
    settings = peft.PromptTuningConfig(num_virtual_tokens=2, task_type="CAUSAL_LM", base_model_name_or_path=str(base))
    settings.save_pretrained(alone(tmp_path / "prompt"))
    with pytest.raises(ModelLoadError, match=r"kind PROMPT_TUNING.*openai:"):
        built(tmp_path / "prompt")


@pytest.mark.parametrize(
    ("kind", "before"), [("qwen2_vl", "model.model.layers"), ("llava", "model.language_model.model.layers")]
)
def test_an_adapter_with_the_names_of_an_earlier_transformers(kind, before, tmp_path):
    peft = pytest.importorskip("peft")
    own = tmp_path / "base"
    for part in getattr(tiny_vlms, kind)():
        part.save_pretrained(own)
    targets = r".*language_model.*(q_proj|v_proj)"
    whole = adapt(own, tmp_path / "lora", peft.LoraConfig(r=2, target_modules=targets, init_lora_weights=False))
    file = tmp_path / "lora" / "adapter_model.safetensors"
    named = {
        name.replace("model.model.language_model.layers", before): value for name, value in load_file(file).items()
    }
    save_file(named, file)
    assert all(f"base_model.{before}" in name for name in named)
    assert scores(tmp_path / "lora") == pytest.approx(scores(whole), rel=1e-5)
    save_file({name.replace("layers", "blocks"): value for name, value in named.items()}, file)
    with pytest.raises(ModelLoadError, match=r"the adapter of .*lora"):
        built(tmp_path / "lora")


def test_weights_of_an_adapter_that_do_not_fit(base, tmp_path):
    adapt(base, tmp_path / "lora")
    file = tmp_path / "lora" / "adapter_model.safetensors"
    weights = load_file(file)
    name = min(weights)
    save_file({key: value for key, value in weights.items() if key != name}, file)
    with pytest.raises(ModelLoadError, match=r"the adapter of .*lora lacks 1 weight \(.*lora_A"):
        built(tmp_path / "lora")
    more = {**weights, name.replace("layers.0", "layers.7"): weights[name].clone()}
    save_file(more, file)
    with pytest.raises(ModelLoadError, match=r"has, and the base model does not take, 1 weight \(.*layers\.7"):
        built(tmp_path / "lora")
    file.write_bytes(b"\0" * 40)
    with pytest.raises(ModelLoadError, match=r"the adapter of .*lora cannot be applied"):
        built(tmp_path / "lora")


def test_the_fingerprint_covers_adapter_base_and_peft(base, tmp_path, monkeypatch):
    adapt(base, tmp_path / "lora")
    own = shutil.copytree(base, tmp_path / "own")
    settings = json.loads((tmp_path / "lora" / "adapter_config.json").read_text())

    def now():
        return identity(pretrained("lora", tmp_path))

    (tmp_path / "lora" / "adapter_config.json").write_text(json.dumps(settings | {"base_model_name_or_path": str(own)}))
    seen = [now(), identity(pretrained("own", tmp_path))]
    for file in (own / "config.json", own / "model.safetensors", tmp_path / "lora" / "adapter_model.safetensors"):
        with file.open("ab") as stream:
            stream.write(b" ")
        seen.append(now())
    monkeypatch.setattr(hub, "_version", lambda _: "0.0.1")
    seen.append(now())
    assert len(set(seen)) == len(seen)


def alone(folder, **settings):
    """A folder with nothing but an adapter; no peft is needed to write it."""
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", **settings}))
    save_file({"x": torch.zeros(1)}, folder / "adapter_model.safetensors")
    return folder


@pytest.mark.parametrize("only", [True, False])
def test_without_peft_a_folder_with_an_adapter_is_refused(only, base, tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "_version", lambda _: "")
    folder = alone(tmp_path / "lora", base_model_name_or_path=str(base))
    if not only:
        shutil.copytree(base, folder, dirs_exist_ok=True)
    for refuses in (check, load):
        with pytest.raises(ModelLoadError, match=r"holds an adapter, and peft, .* is not installed; pip install peft"):
            refuses("vlm:lora", folder=tmp_path)
    with pytest.raises(ModelLoadError, match="pip install peft"):
        weights_form(folder)


@tabled
def test_an_adapter_whose_base_model_is_not_at_hand(name, message, base, tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "_version", lambda _: "0.21.0")
    alone(tmp_path / "first", base_model_name_or_path=str(base))
    alone(tmp_path / "lora", base_model_name_or_path=name)
    with pytest.raises(ModelLoadError, match=message):
        check("vlm:lora", folder=tmp_path)


def test_the_weights_of_an_adapter_are_missing(base, tmp_path):
    folder = shutil.copytree(base, tmp_path / "lora")
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(ModelLoadError, match=r"expected adapter_model\.safetensors or adapter_model\.bin.*remove"):
        check("vlm:lora", folder=tmp_path)


def test_the_processor_is_that_of_the_adapter_or_of_its_base_model(base, tmp_path, monkeypatch):
    monkeypatch.setattr(hub, "_version", lambda _: "0.21.0")
    folder = alone(tmp_path / "lora", base_model_name_or_path=str(base))
    source = pretrained("lora", tmp_path)
    assert hub.parts_folder(source) == base
    shutil.copy(base / "tokenizer.json", folder)
    assert hub.parts_folder(source) == base
    assert hub.parts_folder(source, tokenizer_only=True) == folder
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    with pytest.raises(ModelLoadError, match=r"has chat_template\.jinja of its own, and not all of a processor"):
        hub.parts_folder(source)
    shutil.copy(base / "processor_config.json", folder)
    assert hub.parts_folder(source) == folder


def numbered_image(number, load=None):
    return LazyImage(key=str(number), load=load or (lambda: Image.new("RGB", (1, 1), (number, 0, 0))))


def test_the_order_is_kept_and_an_image_is_decoded_once():
    decoded = []

    def load(number):
        decoded.append(number)
        return Image.new("RGB", (1, 1), (number, 0, 0))

    images = [numbered_image(number, lambda number=number: load(number)) for number in range(20)]
    found = prepared([*reversed(images), *images], lambda image: image.getpixel((0, 0))[0])
    assert found == [*range(19, -1, -1), *range(20)]
    assert sorted(decoded) == list(range(20))
    assert rgb_images([]) == []


@pytest.mark.slow
def test_the_first_image_that_fails_is_the_one_that_is_named():
    last = threading.Event()

    def late():
        last.wait(10)  # the later image fails first, but its error is not the one that is raised
        raise ImageError("1", "it is torn", "mend it")

    def early():
        last.set()
        raise ImageError("2", "it is torn", "mend it")

    with pytest.raises(ImageError) as caught:
        rgb_images([numbered_image(0), numbered_image(1, late), numbered_image(2, early)])
    assert caught.value.key == "1"


def test_texts_that_lose_their_end_and_tokenizers_that_know_no_words():
    def tokenizer(texts, *, truncation, verbose):
        assert (truncation, verbose) == (False, False)
        return {"input_ids": [text.split() for text in texts]}

    assert cut_texts(tokenizer, ["a b c", "a b c d", "", "a b c d e"], 3) == {"a b c d", "a b c d e"}
    assert cut_texts(tokenizer, [], 3) == set()
    for name in ("Bert", "CLIP", "GPT2", "Gemma", "T5", "XLMRoberta"):
        assert not knows_words(getattr(transformers, f"{name}Tokenizer")())
    assert knows_words(transformers.BertTokenizer(vocab={"[UNK]": 0, "[PAD]": 1, "[CLS]": 2, "[SEP]": 3, "cat": 4}))
    assert knows_words(transformers.ByT5Tokenizer())
    assert knows_words(transformers.CLIPImageProcessor())


@pytest.fixture
def gpus(monkeypatch):
    def there_are(count, *, mps=False):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return there_are


def test_workers_are_spread_over_the_devices_and_dtypes_have_names(gpus):
    gpus(3)
    assert [pick_device("auto", worker) for worker in range(4)] == ["cuda:0", "cuda:1", "cuda:2", "cuda:0"]
    assert [pick_device(*how) for how in (("cuda", 4), ("gpu", 4), ("cuda:2", 1), ("cpu", 1))] == [
        *("cuda:1", "cuda:1", "cuda:2", "cpu")
    ]
    with pytest.raises(ModelLoadError, match=r"device='cuda:3'.* has 3 "):
        pick_device("cuda:3")
    gpus(0)
    assert pick_device("auto", 5) == "cpu"
    gpus(0, mps=True)
    assert pick_device("auto", 5) == pick_device("mps") == pick_device("gpu") == "mps"
    assert pick_dtype("bfloat16") is torch.bfloat16
    with pytest.raises(ModelLoadError, match="did you mean 'float16'"):
        pick_dtype("float_16")


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "mps", "cuda:x", "gpu", "", "xpu"])
def test_a_missing_device(gpus, name):
    gpus(0)
    with pytest.raises(ModelLoadError, match=f"device={name!r}.*expected auto, cpu, gpu, cuda"):
        pick_device(name)


def test_without_torch_and_without_a_gpu_which_torch_is_not_asked_for():
    script = """
import sys
from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints import device
from vlgate.models.checkpoints.device import pick_device
sys.platform, device._GPUS = "linux", ()
assert pick_device("auto") == pick_device("cpu") == "cpu" and "torch" not in sys.modules
device._GPUS = ("/",)
assert pick_device("cpu") == "cpu" and "torch" not in sys.modules
sys.modules["torch"] = None
assert pick_device("auto") == pick_device("cpu") == "cpu"
try:
    pick_device("cuda")
except ModelLoadError as error:
    assert "needs torch" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True)
