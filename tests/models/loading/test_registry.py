import importlib
import json
import re
import subprocess
import sys
import textwrap
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers
from builders import refusal, tabled
from torch import nn

from vlgate.errors import ModelLoadError
from vlgate.models import LoadedModel, check, load
from vlgate.models.loading.catalogue import all_offered
from vlgate.models.loading.compiled import blocks, compiled
from vlgate.models.loading.registry import fetch, takes
from vlgate.types import LazyImage, Match

GOOD = """
import numpy as np
class Model:
    def __init__(self, **given):
        self.given = given
    def match(self, pairs):
        return np.zeros(len(pairs))
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Write a module into the folder that the user starts in, and forget it after the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    written = []

    def write(name, source):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source))
        written.append(name)
        return tmp_path

    yield write
    for name in written:
        sys.modules.pop(name, None)


def problem(spec, folder, **options):
    return refusal(load, spec, folder=folder, device="cpu", **options)


@pytest.mark.parametrize("name", ["oracle", "constant", "random", "blind", "reader"])
def test_registered_names_load(name, tmp_path):
    check(name)
    loaded = load(name, folder=tmp_path)
    assert isinstance(loaded, LoadedModel)
    assert (loaded.name, loaded.weights) == (name, "")
    assert len(loaded.fingerprint) == 64
    assert hasattr(loaded.model, "match")


@pytest.mark.parametrize("ask", [check, lambda spec: load(spec, folder=Path.cwd())])
@pytest.mark.parametrize(("spec", "nearest"), [("oracel", "'oracle'"), ("replya:/x.jsonl", "'replay'"), ("", "known")])
def test_an_unknown_name_gives_the_nearest(spec, nearest, ask):
    with pytest.raises(ModelLoadError, match=nearest):
        ask(spec)


def test_an_own_callable_gets_the_keywords_that_it_names(own):
    folder = own("own_a", GOOD + "def build(*, device, seed, weights='none', other=1):\n"
                 "    return Model(device=device, seed=seed, weights=weights, other=other)\n")  # fmt: skip
    check("own_a:build", folder=folder)
    assert load("own_a:build", folder=folder, device="cpu", seed=7).model.given == {
        "device": "cpu", "seed": 7, "weights": "none", "other": 1}  # fmt: skip
    loaded = load("own_a:build:some/where:else", folder=folder, device="cpu")
    assert loaded.model.given["weights"] == loaded.weights == "some/where:else"
    assert loaded.name == "own_a:build"
    nested = own("own_b", GOOD + "class Zoo:\n    model = Model\n")
    assert load("own_b:Zoo.model", folder=nested).model.given == {}  # variadic keywords are not filled


@tabled
def test_what_can_be_wrong_with_an_own_callable(own, source, spec, expected):
    folder = own("own_e", GOOD + source if "Model" in source else source)
    with pytest.raises(ModelLoadError, match=expected) as caught:
        load(spec, folder=folder, device="cpu")
    assert str(caught.value).startswith(f"model='{spec}'")


def test_its_own_load_error_passes_through(own):
    folder = own("own_f", "from vlgate.errors import ModelLoadError\ndef build(): raise ModelLoadError('as I say')")
    assert problem("own_f:build", folder) == "as I say"


def test_a_reference_model_takes_no_weights_and_leaves_the_path_alone(tmp_path):
    with pytest.raises(ModelLoadError, match="takes no weights"):
        check("oracle:large")
    assert "takes no weights" in problem("oracle:large", tmp_path)
    load("oracle", folder=tmp_path)
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize("text", ["x" * 5000, "x/" * 3000, "a\0b", "a\nb", "a\ud800b", "~no-such-user/x"], ids=ascii)
@pytest.mark.parametrize("form", ["{}", "{}:build", "{}.py:build", "replay:{}", "clip:{}", "lxmert:?regions={}"])
def test_a_text_that_can_be_no_path_is_no_model(tmp_path, form, text):
    with pytest.raises(ModelLoadError):
        check(form.format(text), folder=tmp_path)


@pytest.mark.parametrize("weights", ["a prompt. " * 500, "~no-such-user/x", "a\0b"])
def test_a_model_of_the_users_takes_any_text_as_its_weights(own, weights):
    folder = own("own_w", GOOD + "\ndef build(weights):\n    return Model()\n")
    assert load(f"own_w:build:{weights}", folder=folder).weights == weights


def test_a_missing_module(own, tmp_path):
    with pytest.raises(ModelLoadError, match=r"no module 'nowhere_pkg\.models' in .* no registered model of"):
        check("nowhere_pkg.models:build", folder=tmp_path)
    assert "no module 'nowhere_pkg.models', nor 'nowhere_pkg';" in problem("nowhere_pkg.models:build", tmp_path)
    check("own_g.sub:build", folder=own("own_g", ""))
    assert "no module 'own_g.sub'" in problem("own_g.sub:build", tmp_path)


def test_the_check_runs_nothing_of_the_users_and_the_folder_comes_first_once(own):
    check("own_h:build", folder=own("own_h", "raise RuntimeError('imported')"))
    assert "own_h" not in sys.modules
    check("__main__:build")
    folder = own("own_i", GOOD)
    load("own_i:Model", folder=folder)
    load("own_i:Model", folder=folder)
    assert sys.path[0] == str(folder)
    assert sys.path.count(str(folder)) == 1


def fingerprint(spec, folder, **options):
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]
    return load(spec, folder=folder, device="cpu", **options).fingerprint


def test_the_fingerprint_follows_all_that_replies_depend_on(own, tmp_path):
    source = GOOD + "def build(weights='', seed=0, dtype=''): return Model()\n"
    own("own_k", source)
    weights = tmp_path / "w.bin"
    weights.write_bytes(b"1")
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "w.bin").write_bytes(b"1")
    seen = [
        fingerprint("own_k:build", tmp_path),
        fingerprint("own_k:Model", tmp_path),
        fingerprint("own_k:build", tmp_path, seed=1),
        fingerprint("own_k:build", tmp_path, dtype="bfloat16"),
        fingerprint("own_k:build:w.bin", tmp_path),
        fingerprint("own_k:build:dir", tmp_path),
    ]
    assert seen[0] == fingerprint("own_k:build", tmp_path)
    assert seen[1] == fingerprint("own_k:Model", tmp_path, seed=1)
    weights.write_bytes(b"2")
    seen.append(fingerprint("own_k:build:w.bin", tmp_path))
    (tmp_path / "dir" / "more.bin").write_bytes(b"1")
    seen.append(fingerprint("own_k:build:dir", tmp_path))
    own("own_k", source + "# another\n")
    seen.append(fingerprint("own_k:build", tmp_path))
    assert len(set(seen)) == len(seen)


def test_the_fingerprint_is_the_models_own_or_that_of_name_and_seed(own, tmp_path):
    own("own_l", GOOD + "def build(seed, weights):\n  m = Model()\n  m.fingerprint = weights\n  return m\n")
    first = fingerprint("own_l:build:a", tmp_path)
    assert first == fingerprint("own_l:build:a", tmp_path, seed=1)
    assert first != fingerprint("own_l:build:b", tmp_path)
    seen = {fingerprint(name, tmp_path) for name in ("oracle", "constant", "random", "blind")}
    assert len(seen | {fingerprint("random", tmp_path, seed=1)}) == 5
    assert fingerprint("oracle", tmp_path) == fingerprint("oracle", tmp_path, seed=1)


def test_nothing_heavy_is_imported(tmp_path):
    (tmp_path / "m.jsonl").write_text('{"text": "a", "perplexity": 2.0}\n')
    (tmp_path / "own_m.py").write_text("import torch")
    script = f"""
    import sys
    from pathlib import Path
    import vlgate.models
    from vlgate.models import check, load
    folder = Path({str(tmp_path)!r})
    for spec in ("oracle", "blind", "open_clip:ViT-B-32/openai", "replay:m.jsonl", "own_m:build", "tiny-lxmert"):
        check(spec, folder=folder)
    load("oracle", folder=folder), load("replay:m.jsonl", folder=folder)
    heavy = {{"torch", "open_clip", "PIL", "transformers", "pyarrow", "pytest", "own_m"}} & set(sys.modules)
    assert not heavy, heavy
    family = [name for name in sys.modules if name.startswith("vlgate.models.region_models")]
    assert not family, family
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)


@pytest.mark.parametrize("name", ["lxmert:{0}", "lxmert-vqa:{0}", "visualbert:{0}", "volta-uniter:{0}/uniter.bin"])
def test_missing_region_features_are_reported_before_any_worker_starts(name, tmp_path):
    (tmp_path / "uniter.bin").write_bytes(b"x")
    with pytest.raises(ModelLoadError, match=r"regions='none\.tsv'.*none\.tsv"):
        check(f"{name.format(tmp_path)}?regions=none.tsv", folder=tmp_path)


BERT, DETECTOR = "hf download google-bert/bert-base-uncased", "hf download unc-nlp/frcnn-vg-finetuned"


@tabled
def test_all_parts_of_a_model_on_regions_are_fetched_before_any_worker_starts(tmp_path, spec, files, missing):
    for name, content in {"model.safetensors": {}, "config.json": {}, **files}.items():
        (tmp_path / "saved" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "saved" / name).write_text(json.dumps(content))
    (tmp_path / "features.tsv").write_text("")
    named = {"BERT": BERT, "DETECTOR": DETECTOR}
    with pytest.raises(ModelLoadError) as caught:
        fetch(spec, folder=tmp_path)
    said = str(caught.value)
    assert all(named.get(words, words) in said for words in missing)
    assert [key for key, command in named.items() if command in said] == [key for key in named if key in missing]


@tabled
def test_a_file_in_place_of_a_module_is_named(own, spec, says):
    folder = own("own_m", "def build(): ...")
    with pytest.raises(ModelLoadError) as caught:
        check(spec, folder=folder)
    assert says in str(caught.value)


@tabled
def test_a_checkpoint_without_the_name_of_its_family_is_told_what_to_write(tmp_path, file, content, spec, says):
    for name in ("my-clip", "my_clip"):  # the second could be a module
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(ModelLoadError, match=re.escape(says)):
        check(spec, folder=tmp_path)


MISLEADING = """individual-7b residual-attention alignment-v2 eclipse-vl causality-llm unmasked-teacher gpt-1.5b
flavanol-3b instructblip-vicuna-7b MobileCLIP-S1 blip3-phi3 anvilt""".split()


@pytest.mark.parametrize("name", MISLEADING)
def test_a_part_of_a_word_does_not_tell_a_checkpoints_kind_and_its_cached_configuration_does(name, tmp_path):
    said = f"names no model; write --model=vlm:org/{name} if it writes text about images, or another name in its place"
    assert said in refused(check, f"org/{name}", tmp_path)
    cached = tmp_path / "cache" / f"models--org--{name}"
    for file, content in {"refs/main": "0" * 40, f"snapshots/{'0' * 40}/config.json": '{"model_type": "vilt"}'}.items():
        (cached / file).parent.mkdir(parents=True)
        (cached / file).write_text(content)
    assert f"write --model=vilt:org/{name} or --model=vilt-vqa:org/{name} (" in refused(check, f"org/{name}", tmp_path)


@pytest.mark.parametrize("name", ["tiny-lxmert", "lxmert"])
def test_options_without_a_colon_are_named(name, tmp_path):
    with pytest.raises(ModelLoadError, match=rf"options stand after a colon; write {name}:\?mode=open$"):
        check(f"{name}?mode=open", folder=tmp_path)


SOURCE = """
import numpy as np
class Model:
    def match(self, pairs):
        return np.full(len(pairs), 3.0)
def build(weights="none", dtype="float32"):
    return Model()
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution that offers models, with the files that pip would write."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    modules = set(sys.modules)

    def write(points, *, name="their-package", version="1.2", source=SOURCE, module="their_module"):
        folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = "\n".join(f"{point} = {target}" for point, target in points.items())
        (folder / "entry_points.txt").write_text(f"[vlgate.models]\n{lines}\n")
        (site / f"{module}.py").write_text(source)
        importlib.invalidate_caches()
        return folder

    yield write
    for new in set(sys.modules) - modules:
        if new.startswith("their_"):
            del sys.modules[new]


def refused(ask, spec, tmp_path):
    return refusal(ask, spec, folder=tmp_path)


def test_a_model_of_an_installed_package(install, tmp_path):
    install({"their-model": "their_module:build"})
    check("their-model", folder=tmp_path)
    assert "their_module" not in sys.modules  # it is imported only if it is loaded
    loaded = load("their-model:small", folder=tmp_path, device="cpu")
    assert (loaded.name, loaded.weights) == ("their-model", "small")
    assert np.array_equal(loaded.model.match([1, 2]), [3.0, 3.0])
    assert str(tmp_path) not in sys.path
    assert [(one.name, one.by) for one in all_offered() if one.name == "their-model"] == [
        ("their-model", "their-package 1.2")
    ]


def test_the_fingerprint_follows_the_packages_version(install, tmp_path):
    folder = install({"their-model": "their_module:build"})
    first = load("their-model", folder=tmp_path).fingerprint
    assert (
        first == load("their-model", folder=tmp_path).fingerprint != load("their-model:w", folder=tmp_path).fingerprint
    )
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.3\n")
    assert load("their-model", folder=tmp_path).fingerprint != first


def test_a_name_of_vlgates_own_is_refused_with_the_packages_name(install, tmp_path):
    install({"oracle": "their_module:build"})
    for ask in (check, load):
        message = refused(ask, "oracle", tmp_path)
        assert "their-package 1.2" in message
        assert "their_module:build" in message
    check("constant", folder=tmp_path)  # the others are not touched by it
    check("their_module:build", folder=tmp_path)


def test_a_name_that_two_packages_offer(install, tmp_path):
    install({"their-model": "their_module:build"})
    install({"their-model": "their_other:build"}, name="other-package", module="their_other")
    message = refused(check, "their-model", tmp_path)
    for words in ("other-package 1.2", "their-package 1.2", "their_other:build", "their_module:build"):
        assert words in message


@tabled
def test_a_broken_one_is_reported_only_if_it_is_asked_for(install, tmp_path, target, source, why):
    install({"their-model": target}, source=source or SOURCE)
    message = refused(load, "their-model", tmp_path)
    assert why in message
    assert "their-package 1.2" in message
    load("constant", folder=tmp_path)


def test_an_unknown_name_gives_the_nearest_of_theirs_too(install, tmp_path):
    install({"their-model": "their_module:build"})
    assert "did you mean 'their-model'" in refused(check, "their-modle", tmp_path)


def test_what_a_model_is_built_with(install, tmp_path):
    install({"their-model": "their_module:build"})
    assert takes("their-model", "dtype", folder=tmp_path)
    assert not takes("their-model", "seed", folder=tmp_path)
    assert not takes("their_module:Model", "dtype", folder=tmp_path)


SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
GPT2 = {"n_embd": 16, "n_layer": 2, "n_head": 2, "vocab_size": 20, "n_positions": 8}


class Block(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.inside = nn.Linear(width, width)

    def forward(self, states):
        return states + torch.nn.functional.gelu(self.inside(states))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Block(), Block(), Block()])
        self.rest = nn.Linear(4, 1)

    def score(self, states):
        for layer in self.layers:
            states = layer(states)
        return self.rest(states)


class Model:
    """A user's model, which holds a network in an attribute or deeper."""

    def __init__(self, held, net):
        self.held, self.net = held, net

    def match(self, pairs):
        with torch.inference_mode():
            lengths = torch.tensor([[float(len(pair.text))] * 4 for pair in pairs])
            return self.net().score(lengths / 10)[:, 0].double().numpy()


def model(wrap=lambda net: net):
    torch.manual_seed(0)
    net = Net().eval()
    return net, Model(wrap(net), lambda: net)


def loaded(one):
    return LoadedModel(name="one", weights="", fingerprint="f" * 64, model=one)


@pytest.fixture
def compiled_parts(monkeypatch):
    """The modules that were compiled, in order."""
    found, compile_module = [], nn.Module.compile

    def record(module, **options):
        found.append(module)
        compile_module(module, **options)

    monkeypatch.setattr(nn.Module, "compile", record)
    return found


@cache
def pairs(n):
    image = LazyImage(key="1.jpg", load=lambda: pytest.fail("an image was decoded"))
    return [Match(image=image, text="x" * (number + 3)) for number in range(n)]


@pytest.mark.slow
def test_a_compiled_model_gives_the_same_scores_under_another_fingerprint(compiled_parts):
    net, one = model()
    plain = {n: one.match(pairs(n)) for n in (1, 5, 3, 8)}
    found = compiled(loaded(one), "cpu")
    assert compiled_parts == [*net.layers]
    for n, scores in plain.items():
        np.testing.assert_allclose(found.model.match(pairs(n)), scores, rtol=1e-5)
    assert found.model is one
    assert len(found.fingerprint) == 64
    assert found.fingerprint != "f" * 64


@pytest.mark.parametrize(
    "wrap",
    [
        pytest.param(lambda net: [{"a": net}], id="in a list of mappings"),
        pytest.param(lambda net: partial(Net.score, net), id="in a partial function"),
        pytest.param(lambda net: net.score, id="as a method"),
        pytest.param(lambda net: Model(net, None), id="in an object of its own"),
    ],
)
def test_a_network_is_found_wherever_it_is_held(wrap, compiled_parts):
    net, one = model(wrap)
    compiled(loaded(one), "cpu")
    assert net.layers[0] in compiled_parts


def test_objects_of_other_packages_are_left_alone_or_compile_themselves_once():
    _, one = model(lambda net: SimpleNamespace(net=net))
    with pytest.raises(ModelLoadError, match=r"'one'.*--compile"):
        compiled(loaded(one), "cpu")

    class Own:
        calls = 0

        def compile(self):
            self.calls += 1

    own = Own()
    _, one = model(lambda _: [own, own])
    compiled(loaded(one), "cpu")
    assert own.calls == 1


def test_a_machine_that_cannot_compile_is_reported_before_any_request(monkeypatch, compiled_parts):
    def fails(_):
        raise RuntimeError("no C++ compiler\nand much more")

    monkeypatch.setattr(torch, "compile", fails)
    _, one = model()
    with pytest.raises(ModelLoadError, match=r"RuntimeError: no C\+\+ compiler\).*--compile"):
        compiled(loaded(one), "cpu")
    assert compiled_parts == []


def names(module):
    by_id = {id(part): name for name, part in module.named_modules()}
    return sorted(by_id[id(part)] for part in blocks(module))


def test_a_network_without_repeated_blocks_is_taken_whole():
    plain = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
    assert blocks(plain) == [plain, *plain]
    mixed = nn.Sequential(Block(4), nn.Linear(4, 3), Block(3))
    assert blocks(mixed)[0] is mixed
    inner = [nn.Sequential(Block(), Block()) for _ in range(2)]
    assert blocks(nn.Sequential(*inner)) == inner  # blocks within blocks are not taken twice


def test_the_blocks_of_both_encoders_are_taken_or_the_parts_without_a_cache_of_a_block_with_one():
    config = transformers.CLIPConfig(text_config=SIZES, vision_config=SIZES | {"image_size": 16, "patch_size": 8})
    encoders = [f"{side}_model.encoder.layers.{number}" for side in ("text", "vision") for number in (0, 1)]
    assert names(transformers.CLIPModel(config)) == encoders
    gpt2 = transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2))
    assert names(gpt2) == ["transformer.h.0.mlp", "transformer.h.1.mlp"]
