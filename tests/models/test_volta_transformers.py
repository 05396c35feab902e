import re

import pytest
import torch
import transformers
import volta_checkpoints as tiny

from vlgate.models.volta.config import parse
from vlgate.models.volta.embeddings import Seen, embed, with_overall
from vlgate.models.volta.encoder import Weights, encode
from vlgate.models.volta.names import shapes

SINGLE = ("uniter", "vl-bert", "visualbert")


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


def of_bert(weights, layers, to="encoder.layer"):
    """A single stream's weights by the names of transformers."""
    found = {}
    for name, value in weights.items():
        match = re.fullmatch(
            r"bert\.encoder\.layer\.(\d+)\.(attention_self|attention_output|intermediate|output)\.(.*)", name
        )
        if match and "v_" not in match[3]:
            place, part = divmod(int(match[1]), 2)
            assert (part == 0) == match[2].startswith("attention")
            found[f"{to}.{place}.{match[2].replace('_', '.')}.{match[3]}"] = value
    assert len(found) == 16 * layers
    return found


BERT = {
    "vocab_size": len(tiny.TOKENS), "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
    "intermediate_size": 20, "max_position_embeddings": 24, "type_vocab_size": 3,
}  # fmt: skip


def loaded(model, weights):
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert unexpected == []
    assert all("pooler" in name or "position_ids" in name for name in missing)
    return model.eval()


def embeddings_of(state):
    names = ("word_embeddings", "position_embeddings", "token_type_embeddings", "LayerNorm")
    start = "bert.embeddings."
    return {name[len("bert.") :]: value for name, value in state.items() if name.removeprefix(start).startswith(names)}


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


LXMERT = {
    "tt_attn_sublayers": [0, 2, 5, 8], "vv_attn_sublayers": [0, 5, 8], "tv_attn_sublayers": [4, 7],
    "vt_attn_sublayers": [4, 7], "t_ff_sublayers": [1, 3, 6, 9], "v_ff_sublayers": [1, 6, 9],
    "shared_sublayers": [4, 7], "num_locs": 4, "add_global_imgfeat": None, "hidden_act": "gelu",
}  # fmt: skip


def of_lxmert(state):
    """A tiny LXMERT of VOLTA by the names of transformers."""
    names = {"bert.v_embeddings.image_embeddings": "encoder.visn_fc.visn_fc",
             "bert.v_embeddings.image_location_embeddings": "encoder.visn_fc.box_fc",
             "bert.v_embeddings.ImgLayerNorm": "encoder.visn_fc.visn_layer_norm",
             "bert.v_embeddings.LocLayerNorm": "encoder.visn_fc.box_layer_norm"}  # fmt: skip
    alone = {0: ("", "layer.0"), 2: ("", "layer.1"), 1: ("v_", "r_layers.0")}
    for place, (v, to) in alone.items():
        at = 0 if v else place
        names |= attention_names(
            f"bert.encoder.layer.{at}", v, f"encoder.{to}.attention.self", f"encoder.{to}.attention.output"
        )
        names |= feed_names(f"bert.encoder.layer.{at + 1}", v, f"encoder.{to}.intermediate", f"encoder.{to}.output")
    for number, at in enumerate((4, 7)):
        to = f"encoder.x_layers.{number}"
        own = f"{to}.visual_attention"
        names |= attention_names(f"bert.encoder.layer.{at}", "", f"{own}.att", f"{own}.output")
        for v, side in (("", "lang"), ("v_", "visn")):
            own = f"{to}.{side}_self_att"
            names |= attention_names(f"bert.encoder.layer.{at + 1}", v, f"{own}.self", f"{own}.output")
            names |= feed_names(f"bert.encoder.layer.{at + 2}", v, f"{to}.{side}_inter", f"{to}.{side}_output")
    found = {f"{to}.{end}": state[f"{name}.{end}"] for name, to in names.items() for end in ("weight", "bias")}
    return found | embeddings_of(state)


def attention_names(at, v, inner, outer):
    found = {f"{at}.attention_self.{v}{part}": f"{inner}.{part}" for part in ("query", "key", "value")}
    return found | {f"{at}.attention_output.{v}{part}": f"{outer}.{part}" for part in ("dense", "LayerNorm")}


def feed_names(at, v, inner, outer):
    found = {f"{at}.output.{v}{part}": f"{outer}.{part}" for part in ("dense", "LayerNorm")}
    return found | {f"{at}.intermediate.{v}dense": f"{inner}.dense"}


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
