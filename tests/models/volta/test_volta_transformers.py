import pytest
import torch
import transformers
import volta_checkpoints as tiny
from volta_in_transformers import BERT, LXMERT, embeddings_of, loaded, of_bert, of_lxmert

from vlgate.models.regions.volta.config import parse, shapes
from vlgate.models.regions.volta.encoder import Seen, Weights, embed, encode, with_overall

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
