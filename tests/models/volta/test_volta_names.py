import itertools
import re
from pathlib import Path

import pytest
import torch
import transformers
import volta_checkpoints as tiny
from volta_in_transformers import BERT, LXMERT, embeddings_of, loaded, of_bert, of_lxmert

from vlgate.models.regions.volta import vilbert_mt
from vlgate.models.regions.volta.config import NAMES, aliases, parse, shapes
from vlgate.models.regions.volta.encoder import Seen, Weights, embed, encode, logits, with_overall
from vlgate.models.regions.volta.sources import published

SINGLE = ("uniter", "vl-bert", "visualbert")


def in_table():
    """The table of names: the shapes of each section's names, and the names that may be missing."""
    sections, older = {}, set()
    for line in (Path(__file__).parents[1] / "support/volta_names.txt").read_text().splitlines():
        if line.startswith("["):
            section = sections.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            kind, pattern, *numbers = line.split()
            sizes = [int(number) for number in numbers if number != "older"]
            for name in expanded(pattern):
                if kind == "table":
                    section[f"{name}.weight"] = tuple(sizes)
                else:
                    section[f"{name}.weight"] = tuple(sizes[::-1])
                    section[f"{name}.bias"] = (sizes[-1],)
            older |= {f"{name}.weight" for name in expanded(pattern)} if "older" in numbers else set()
    return sections, older


def expanded(pattern):
    parts = re.split(r"{(.*?)}", pattern)
    parts[1::2] = [[one for item in part.split(",") for one in counted(item)] for part in parts[1::2]]
    parts[::2] = [[part] for part in parts[::2]]
    return ["".join(chosen) for chosen in itertools.product(*parts)]


def counted(item):
    match = re.fullmatch(r"(\d+)-(\d+)/(\d+)", item)
    return [str(number) for number in range(int(match[1]), int(match[2]) + 1, int(match[3]))] if match else [item]


def test_the_table_is_read():
    assert expanded("a.{0-4/2,7-7/1}.{x,v_y}") == [
        "a.0.x",
        "a.0.v_y",
        "a.2.x",
        "a.2.v_y",
        "a.4.x",
        "a.4.v_y",
        "a.7.x",
        "a.7.v_y",
    ]
    sections, older = in_table()
    assert len(sections) == 8
    assert older == {"bert.embeddings.image_token_type_embeddings.weight"}


@pytest.mark.parametrize("kind", NAMES)
def test_names_and_shapes_are_those_of_the_published_checkpoints(kind):
    sections, _ = in_table()
    expected = sections["every"] | sections[f"volta-{kind}"] | (sections["single stream"] if kind in SINGLE else {})
    config = parse(published(kind), kind)
    found = shapes(config)
    found |= {second: found[first] for second, first in aliases(config).items()}
    assert found == expected


def test_names_and_shapes_of_12_in_1():
    sections, _ = in_table()
    config = parse(multi_settings(), "published")
    names = vilbert_mt.renamed(vilbert_mt.published()["vilbert-12-in-1"])
    expected = {}
    for name, shape in (sections["every"] | sections["vilbert-12-in-1"]).items():
        start, _, last = name.rpartition(".")
        in_volta = names.get(f"{start}.", f"{start}.") + last
        assert in_volta not in expected
        expected[in_volta] = shape
    assert shapes(config) == expected
    assert aliases(config) == {}


def multi_settings():
    return vilbert_mt.in_words_of_volta(
        vilbert_mt.published()["vilbert-12-in-1"], "", head=vilbert_mt.RANKING, task_tokens=20
    )


ALONE, BOTH, FEED = "tt", "tt vv", "feed t v"
# The order of sublayers, from config/ctrl_*.json of e-bug/volta and the encoder of vilbert-multi-task.
SCHEDULES = {
    "vilbert": [ALONE, "feed t"] * 6 + ["tv vt", FEED, BOTH, FEED] * 6,
    "lxmert": [BOTH, FEED] * 5 + [ALONE, "feed t"] * 4 + ["shared tv vt", BOTH, FEED] * 5,
    **dict.fromkeys(SINGLE, ["shared tt tv vt vv", "shared feed t v"] * 12),
    "12-in-1": [ALONE, "feed t"] * 6
    + ["tv vt", FEED, *([ALONE, "feed t", "vv", "feed v", "tv vt", FEED] * 5)]
    + [ALONE, "feed t", "vv", "feed v"],
}


def described(sublayer):
    seen = [f"{side[0]}{other[0]}" for side, stream in sublayer.sides.items() for other in stream.sees]
    words = sorted(seen) if sublayer.attends else ["feed", *(side[0] for side in sublayer.sides)]
    return " ".join(["shared"] * sublayer.shared + words)


@pytest.mark.parametrize("kind", [*NAMES, "12-in-1"])
def test_settings_beyond_shapes_are_as_published(kind):
    """The order of sublayers, heads, activations, and how the streams and the whole image are joined."""
    config = parse(multi_settings() if kind == "12-in-1" else published(kind), kind)
    assert (config.overall, config.fusion, config.locations, config.eps) == ("first", "mul", 5, 1e-12)
    assert not config.masks_regions
    assert config.coordinates == (256 if kind == "vl-bert" else 0)
    assert [described(sublayer) for sublayer in config.sublayers] == SCHEDULES[kind]
    for sublayer in config.sublayers:
        for side, stream in sublayer.sides.items():
            wide = kind == "12-in-1" and (side == "vision" or side not in stream.sees)
            expected = ("", 8 if wide else 12) if sublayer.attends else ("gelu", 1)
            assert (stream.activation, stream.heads) == expected


@pytest.mark.parametrize("kind", [*NAMES, "12-in-1"])
def test_published_sizes_can_be_run(kind):
    """On the meta device, which has shapes but no numbers."""
    config = parse(multi_settings() if kind == "12-in-1" else published(kind), kind)
    weights = Weights({name: torch.empty(shape, device="meta") for name, shape in shapes(config).items()})
    millions = sum(tensor.numel() for tensor in weights.tensors.values()) / 1e6
    assert 110 < millions < 260
    ids = torch.ones(2, 7, dtype=torch.long, device="meta")
    there = torch.ones(2, 36, dtype=torch.bool, device="meta")
    features, boxes = torch.empty(2, 36, 2048, device="meta"), torch.empty(2, 36, 4, device="meta")
    features, locations, there = with_overall(config, features, boxes, there)
    assert features.shape == (2, 37, 2048)
    assert locations.shape == (2, 37, 5)
    seen = Seen(ids=ids, words=ids.bool(), features=features, locations=locations, regions=there)
    assert logits(config, weights, seen).shape == (2, 1 if kind == "12-in-1" else 2)


def drawn_inputs(config, *, boxes=4):
    draw = torch.Generator().manual_seed(1)
    ids = torch.randint(5, len(tiny.TOKENS), (3, 6), generator=draw)
    words = torch.tensor([[1] * 6, [1] * 4 + [0] * 2, [1] * 5 + [0]]).bool()
    features = torch.randn(3, boxes, tiny.FEATURES, generator=draw)
    corners = torch.rand(3, boxes, 4, generator=draw)
    there = torch.tensor([[True] * boxes, [True] * (boxes - 1) + [False], [True] * boxes])
    features, locations, there = with_overall(config, features, corners, there)
    return Seen(ids=ids, words=words, features=features, locations=locations, regions=there)


def through(config, weights, seen):
    with torch.no_grad():
        return encode(config, weights, embed(config, weights, seen), {"text": seen.words, "vision": seen.regions})


def test_text_alone_is_bert():
    gates = {"tv_attn_sublayers": [], "vt_attn_sublayers": [], "vv_attn_sublayers": [], "v_ff_sublayers": []}
    settings = tiny.config_of("uniter", **gates)
    state, config = tiny.state_of(settings), parse(settings, "")
    state = {name: state[name] for name in shapes(config)}
    bert = loaded(transformers.BertModel(transformers.BertConfig(**BERT)), of_bert(state, 2) | embeddings_of(state))
    seen = drawn_inputs(config)
    with torch.no_grad():
        expected = bert(input_ids=seen.ids, attention_mask=seen.words.long()).last_hidden_state
    found = through(config, Weights(state), seen)
    assert torch.allclose(found["text"][seen.words], expected[seen.words], atol=1e-5)
    assert torch.equal(found["vision"], embed(config, Weights(state), seen)["vision"])


@pytest.mark.parametrize("kind", SINGLE)
def test_a_single_stream_is_bert_over_both(kind):
    settings = tiny.config_of(kind)
    state, config = tiny.state_of(settings), parse(settings, "")
    weights = Weights({name: state[name] for name in shapes(config)})
    seen = drawn_inputs(config)
    bert = transformers.BertModel(transformers.BertConfig(**BERT))
    encoder = loaded(bert.encoder, of_bert(weights.tensors, 2, to="layer"))
    together = torch.cat(list(embed(config, weights, seen).values()), dim=1)
    there = torch.cat([seen.words, seen.regions], dim=1)
    mask = torch.zeros(there.shape).masked_fill(~there, -10000)[:, None, None, :]
    with torch.no_grad():
        expected = encoder(together, attention_mask=mask).last_hidden_state
    found = torch.cat(list(through(config, weights, seen).values()), dim=1)
    assert torch.allclose(found[there], expected[there], atol=1e-5)


def test_visualbert_is_that_of_transformers():
    settings = tiny.config_of("visualbert")
    state, config = tiny.state_of(settings), parse(settings, "")
    weights = {name: state[name] for name in shapes(config)}
    names = {
        "projection.weight": "visual_projection.weight", "projection.bias": "visual_projection.bias",
        "token_type_embeddings_visual.weight": "visual_token_type_embeddings.weight",
        "position_embeddings_visual.weight": "visual_position_embeddings.weight",
    }  # fmt: skip
    own = {f"embeddings.{new}": weights[f"bert.embeddings.{old}"] for old, new in names.items()}
    own |= {name: value for name, value in embeddings_of(weights).items() if "visual" not in name}
    named = transformers.VisualBertConfig(**BERT, visual_embedding_dim=tiny.FEATURES)
    model = loaded(transformers.VisualBertModel(named), of_bert(weights, 2) | own)
    seen = drawn_inputs(config)
    with torch.no_grad():
        expected = model(
            input_ids=seen.ids, attention_mask=seen.words.long(), visual_embeds=seen.features,
            visual_attention_mask=seen.regions.long(), visual_token_type_ids=torch.ones_like(seen.regions).long(),
            token_type_ids=torch.zeros_like(seen.ids),
        ).last_hidden_state  # fmt: skip
    found = through(config, Weights(weights), seen)
    assert torch.allclose(found["text"][seen.words], expected[:, :6][seen.words], atol=1e-5)
    assert torch.allclose(found["vision"][seen.regions], expected[:, 6:][seen.regions], atol=1e-5)


def test_lxmert_is_that_of_transformers():
    settings = tiny.config_of("lxmert", **LXMERT)
    state, config = tiny.state_of(settings), parse(settings, "")
    sizes = {name: size for name, size in BERT.items() if name != "num_hidden_layers"}
    named = transformers.LxmertConfig(
        **sizes, l_layers=2, r_layers=1, x_layers=2, visual_feat_dim=tiny.FEATURES, visual_pos_dim=4
    )
    model = loaded(transformers.LxmertModel(named), of_lxmert(state))
    seen = drawn_inputs(config)
    with torch.no_grad():
        expected = model(
            input_ids=seen.ids, attention_mask=seen.words.long(), visual_feats=seen.features,
            visual_pos=seen.locations, visual_attention_mask=seen.regions.long(),
        )  # fmt: skip
    found = through(config, Weights(state), seen)
    assert torch.allclose(found["text"][seen.words], expected.language_output[seen.words], atol=1e-5)
    assert torch.allclose(found["vision"][seen.regions], expected.vision_output[seen.regions], atol=1e-5)
