from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers
from torch import nn

from vlgate.errors import ModelLoadError
from vlgate.models.loading.compiled import blocks, compiled
from vlgate.models.loading.registry import LoadedModel
from vlgate.types import LazyImage, Match

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


def test_objects_of_other_packages_are_left_alone():
    _, one = model(lambda net: SimpleNamespace(net=net))
    with pytest.raises(ModelLoadError, match=r"'one'.*--compile"):
        compiled(loaded(one), "cpu")


def test_an_object_with_a_compile_method_compiles_itself_once():
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


def test_the_blocks_of_both_encoders_of_a_dual_one():
    config = transformers.CLIPConfig(text_config=SIZES, vision_config=SIZES | {"image_size": 16, "patch_size": 8})
    assert names(transformers.CLIPModel(config)) == [
        "text_model.encoder.layers.0", "text_model.encoder.layers.1",
        "vision_model.encoder.layers.0", "vision_model.encoder.layers.1",
    ]  # fmt: skip


def test_only_the_parts_without_a_cache_are_taken_of_a_block_with_one():
    assert names(transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT2))) == [
        "transformer.h.0.mlp",
        "transformer.h.1.mlp",
    ]


def test_a_network_without_repeated_blocks_is_taken_whole():
    plain = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
    assert blocks(plain) == [plain, *plain]
    mixed = nn.Sequential(Block(4), nn.Linear(4, 3), Block(3))
    assert blocks(mixed)[0] is mixed


def test_blocks_within_blocks_are_not_taken_twice():
    inner = [nn.Sequential(Block(), Block()) for _ in range(2)]
    outer = nn.Sequential(*inner)
    assert blocks(outer) == inner
