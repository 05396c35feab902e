"""Weights of VOLTA's models under the names of transformers."""

import re

import volta_checkpoints as tiny


def of_bert(weights, layers, to="encoder.layer"):
    """A single stream's weights under the names of transformers."""
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


LXMERT = {
    "tt_attn_sublayers": [0, 2, 5, 8], "vv_attn_sublayers": [0, 5, 8], "tv_attn_sublayers": [4, 7],
    "vt_attn_sublayers": [4, 7], "t_ff_sublayers": [1, 3, 6, 9], "v_ff_sublayers": [1, 6, 9],
    "shared_sublayers": [4, 7], "num_locs": 4, "add_global_imgfeat": None, "hidden_act": "gelu",
}  # fmt: skip


def of_lxmert(state):
    """A tiny LXMERT of VOLTA under the names of transformers."""
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
