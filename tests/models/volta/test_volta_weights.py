import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import transformers
import volta_checkpoints as tiny
from builders import refusal, table
from safetensors.torch import save_file
from volta_in_transformers import BERT, LXMERT, embeddings_of, loaded, of_bert, of_lxmert

from vlgate.errors import ModelLoadError
from vlgate.models.loading.registry import load
from vlgate.models.regions.volta import adapter, vilbert_mt
from vlgate.models.regions.volta.config import NAMES, aliases, parse, shapes
from vlgate.models.regions.volta.encoder import Seen, Weights, embed, encode, with_overall
from vlgate.models.regions.volta.sources import published


def named(kind):
    return kind if kind == "vilbert-12-in-1" else f"volta-{kind}"


def built(folder, weights="saved", attribute="uniter"):
    return load(f"{named(attribute)}:{weights}", folder=folder, device="cpu").model


def refused(folder, weights="saved", attribute="uniter", *, by_check=False):
    message = refusal(built, folder, weights, attribute)
    if by_check:
        assert refusal(adapter.check, weights, folder, name=named(attribute)) == message
    return message


@pytest.fixture
def saved(tmp_path):
    settings = tiny.config_of("uniter")
    return tiny.write(tmp_path / "saved", settings, tiny.state_of(settings))


def test_a_checkpoint_is_loaded_however_it_was_saved(tmp_path, saved):
    state = tiny.state_of(tiny.config_of("uniter"))
    scores = built(tmp_path).match(tiny.PAIRS).tolist()
    file = saved / "pytorch_model_9.bin"
    older = {name: value for name, value in state.items() if "image_token_type" not in name}
    once = {name: value for name, value in state.items() if name not in aliases(parse(tiny.config_of("uniter"), ""))}
    ways = [
        {f"module.{name}": value for name, value in state.items()},
        {"model_state_dict": state, "optimizer_state_dict": {"state": {}}, "global_step": 7},
        {name.removeprefix("bert."): value for name, value in state.items()}, older, once,
        {name: value.double() for name, value in state.items()},
    ]  # fmt: skip
    for way in ways:
        torch.save(way, file)
        assert built(tmp_path).match(tiny.PAIRS).tolist() == scores
        assert built(tmp_path, f"{file}?config=saved/config.json").match(tiny.PAIRS).tolist() == scores
    file.unlink()
    save_file({name: value.clone() for name, value in state.items()}, saved / "model.safetensors")
    assert built(tmp_path).match(tiny.PAIRS).tolist() == scores


def test_missing_and_unexpected_weights_are_listed(tmp_path, saved):
    state = tiny.state_of(tiny.config_of("uniter"))
    file = saved / "pytorch_model_9.bin"

    def said(changed):
        torch.save(changed, file)
        return refused(tmp_path)

    lost = [name for name in state if name.startswith("cls.bi_seq")]
    message = said({name: value for name, value in state.items() if name not in lost})
    assert all(f"{name} is missing" in message for name in lost)
    assert "config=FILE" in message
    message = said(state | {"bert.encoder.layer.9.intermediate.dense.bias": torch.zeros(20)})
    assert "bert.encoder.layer.9.intermediate.dense.bias is not in" in message
    message = said(state | {"bert.t_pooler.dense.bias": torch.zeros(3)})
    assert "bert.t_pooler.dense.bias is of shape (3,) instead of (14,)" in message
    message = said(state | {"bert.encoder.layer.1.output.v_dense.bias": torch.ones(16)})
    assert "v_dense.bias differs from bert.encoder.layer.1.output.dense.bias" in message
    assert "and 27 more" in said({name: value for name, value in state.items() if "encoder" not in name})
    assert "pytorch_model_9.bin does not hold" in said({"bert.a": 3})
    assert "pytorch_model_9.bin does not hold" in said([1])
    assert built_again(file, state, tmp_path)


def built_again(file, state, folder):
    torch.save(state, file)
    return built(folder)


class Evil:
    def __reduce__(self):
        return exec, ("raise SystemExit('code in a pickle was run')",)


def test_a_pickle_is_never_run(tmp_path, saved):
    torch.save({"bert": Evil()}, saved / "pytorch_model_9.bin")
    assert "pytorch_model_9.bin is damaged, or holds more than tensors" in refused(tmp_path)
    (saved / "pytorch_model_9.bin").write_bytes(b"broken")
    assert "pytorch_model_9.bin is damaged" in refused(tmp_path)
    (saved / "pytorch_model_9.bin").unlink()
    (saved / "x.safetensors").write_bytes(b"broken")
    assert "x.safetensors is damaged" in refused(tmp_path)


def test_a_configuration_of_another_model(tmp_path, saved):
    for attribute in ("vilbert", "lxmert", "visualbert", "vl-bert"):
        message = refused(tmp_path, attribute=attribute, by_check=True)
        assert "volta-uniter" in message
    settings = tiny.config_of("visualbert")
    (saved / "config.json").write_text(json.dumps(settings))
    message = refused(tmp_path, attribute="visualbert")  # of UNITER's weights
    assert "bert.embeddings.projection.weight is missing" in message
    (saved / "config.json").unlink()
    # The published configuration, which is deeper, is the default.
    assert "bert.encoder.layer.4.attention_self.query.weight is missing" in refused(tmp_path)


@pytest.mark.parametrize(("changes", "words"), table(Path(__file__).with_name("contradictions.tsv")))
def test_a_configuration_that_contradicts_itself(tmp_path, saved, changes, words):
    (saved / "config.json").write_text(json.dumps(tiny.config_of("uniter", **json.loads(changes))))
    message = refused(tmp_path, "saved?config=saved/config.json", by_check=True)
    assert words in message
    assert str(saved / "config.json") in message


def test_the_original_lxmert_is_another_model(tmp_path):
    """VOLTA converts it, but keeps neither its match at index 1 nor its pooling by a tanh."""
    settings = tiny.config_of("lxmert")
    saved = tiny.write(tmp_path / "saved", settings, tiny.state_of(settings))
    built(tmp_path, attribute="lxmert")
    converted = tiny.state_of(settings) | {"cls.qaPredictions.logit_fc.0.weight": torch.zeros(32, 16)}
    torch.save(converted, saved / "pytorch_model_9.bin")
    message = refused(tmp_path, attribute="lxmert")
    assert "is the original LXMERT" in message
    assert "lxmert:unc-nlp/lxmert-base-uncased" in message


def test_a_tokenizer_of_other_tokens_and_boxes_without_room_are_refused(tmp_path):
    settings = tiny.config_of("uniter", vocab_size=len(tiny.TOKENS) + 9)
    tiny.write(tmp_path / "saved", settings, tiny.state_of(settings))
    message = refused(tmp_path)
    assert "knows 30 tokens, the tokenizer has 21" in message
    assert "tokenizer=FOLDER" in message
    with pytest.raises(ModelLoadError, match=r"v_coordinate_embeddings_dim=3 .*v_feature_size=16"):
        parse(tiny.config_of("vl-bert", v_coordinate_embeddings_dim=3), "x")


def test_missing_and_wrong_files_are_refused(tmp_path, saved):
    assert "github.com/e-bug/volta" in refused(tmp_path, "elsewhere", by_check=True)
    with pytest.raises(ModelLoadError, match="weights"):
        built(tmp_path, "")
    with pytest.raises(ModelLoadError, match=r"volta-uniter:.*MODELS\.md"):
        adapter.check("", tmp_path, name="volta-uniter")
    assert "no.json" in refused(tmp_path, "saved?config=no.json", by_check=True)
    assert "did you mean 'config'" in refused(tmp_path, "saved?confg=no.json", by_check=True)
    (saved / "list.json").write_text("{}")
    assert "list.json lacks tt_attn_sublayers" in refused(tmp_path, "saved?config=saved/list.json", by_check=True)
    (saved / "list.json").write_text("[]")
    assert "holds a list" in refused(tmp_path, "saved?config=saved/list.json", by_check=True)
    (saved / "list.json").write_text("{")
    assert "list.json cannot be read" in refused(tmp_path, "saved?config=saved/list.json", by_check=True)
    (saved / "other.json").write_text((saved / "config.json").read_text())
    assert "(config.json, other.json)" in refused(tmp_path, by_check=True)
    torch.save({}, saved / "pytorch_model_8.bin")
    assert "pytorch_model_8.bin, pytorch_model_9.bin" in refused(tmp_path, by_check=True)
    (saved / "pytorch_model_8.bin").unlink()
    (saved / "pytorch_model_9.bin").rename(saved / "x.pth")
    assert "expected one of pytorch_model*.bin" in refused(tmp_path, by_check=True)


def test_options_of_12_in_1_that_do_not_fit_are_refused(tmp_path):
    saved = tiny.write(tmp_path / "saved", tiny.MULTI, tiny.multi_state(), name="multi_task_model.bin")

    def said(weights, *, by_check=True):
        return refused(tmp_path, weights, "vilbert-12-in-1", by_check=by_check)

    assert "ResNeXt-152" in said("saved")
    (tmp_path / "detector").mkdir()
    (tmp_path / "detector" / "config.yaml").write_text("")
    assert "needs a file of features" in said("saved?regions=detector")
    assert "did you mean 'ranking'" in said("saved?regions=x&head=rank")
    for task in ("20", "-1", "x", "\u00b2"):
        assert f"task={task!r}" in said(f"saved?regions=x&task={task}")
    assert "has tokens for tasks; add task=8" in said("saved?regions=x&head=alignment", by_check=False)
    (saved / "config.json").write_text(json.dumps(tiny.MULTI | {"v_num_hidden_layers": 1, "v_biattention_id": [0, 0]}))
    message = said("saved?regions=x", by_check=False)
    assert "has no bert.encoder.v_layer.1.attention.self.query.weight" in message
    (saved / "config.json").write_text(json.dumps(tiny.MULTI | {"v_biattention_id": [0]}))
    assert "config.json cannot be read (ValueError" in said("saved?regions=x")
    (saved / "config.json").write_text(json.dumps(tiny.config_of("vilbert")))
    message = said("saved?regions=x&config=saved/config.json")
    assert "lacks num_hidden_layers, v_num_hidden_layers" in message
    assert "unknown option 'task'" in refused(tmp_path, "saved?task=3", "uniter", by_check=True)


def test_options_of_a_pretrained_vilbert_that_do_not_fit_are_refused(tmp_path):
    state = tiny.multi_state(vilbert_mt.ALIGNMENT, task_tokens=0)
    saved = tiny.write(tmp_path / "saved", tiny.MULTI, state, name="pretrained_model.bin")
    message = refused(tmp_path, "saved?regions=x", "vilbert-12-in-1")
    assert f"{saved / 'pretrained_model.bin'} has no head that ranks" in message
    assert "add head=alignment" in message
    assert "leave task out" in refused(tmp_path, "saved?regions=x&head=alignment&task=8", "vilbert-12-in-1")
    torch.save(tiny.multi_state(task_tokens=0), saved / "pretrained_model.bin")
    message = refused(tmp_path, "saved?regions=x", "vilbert-12-in-1")
    assert "has no tokens for tasks" in message


@pytest.mark.usefixtures("saved")
def test_the_check_imports_no_torch(tmp_path):
    lines = (
        "import sys; from pathlib import Path; from vlgate.models.regions.volta import adapter",
        f"adapter.check('saved', Path({str(tmp_path)!r}), name='volta-uniter')",
        "assert not {'torch', 'transformers'} & set(sys.modules)",
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


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
    assert " ".join(expanded("{0-4/2,7-7/1}.{x,v_y}")) == "0.x 0.v_y 2.x 2.v_y 4.x 4.v_y 7.x 7.v_y"
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
