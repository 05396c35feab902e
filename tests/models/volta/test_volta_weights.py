import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import volta_checkpoints as tiny
from builders import table
from safetensors.torch import save_file

from vlgate.errors import ModelLoadError
from vlgate.models.loading.registry import load
from vlgate.models.regions.volta import adapter, vilbert_mt
from vlgate.models.regions.volta.config import aliases, parse


def named(kind):
    return kind if kind == "vilbert-12-in-1" else f"volta-{kind}"


def built(folder, weights="saved", attribute="uniter"):
    return load(f"{named(attribute)}:{weights}", folder=folder, device="cpu").model


def refused(folder, weights="saved", attribute="uniter", *, by_check=False):
    with pytest.raises(ModelLoadError) as caught:
        built(folder, weights, attribute)
    if by_check:
        with pytest.raises(ModelLoadError) as early:
            adapter.check(weights, folder, name=named(attribute))
        assert str(early.value) == str(caught.value)
    return str(caught.value)


@pytest.fixture
def saved(tmp_path):
    settings = tiny.config_of("uniter")
    return tiny.save(tmp_path / "saved", settings, tiny.state_of(settings))


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
    saved = tiny.save(tmp_path / "saved", settings, tiny.state_of(settings))
    built(tmp_path, attribute="lxmert")
    converted = tiny.state_of(settings) | {"cls.qaPredictions.logit_fc.0.weight": torch.zeros(32, 16)}
    torch.save(converted, saved / "pytorch_model_9.bin")
    message = refused(tmp_path, attribute="lxmert")
    assert "is the original LXMERT" in message
    assert "lxmert:unc-nlp/lxmert-base-uncased" in message


def test_a_model_with_other_tokens_needs_its_own_tokenizer(tmp_path):
    """For example mUNITER, which knows four times the tokens of the default BERT."""
    settings = tiny.config_of("uniter", vocab_size=len(tiny.TOKENS) + 9)
    tiny.save(tmp_path / "saved", settings, tiny.state_of(settings))
    message = refused(tmp_path)
    assert "knows 30 tokens, the tokenizer has 21" in message
    assert "tokenizer=FOLDER" in message


def test_vl_bert_needs_room_for_its_boxes():
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
    saved = tiny.save(tmp_path / "saved", tiny.MULTI, tiny.multi_state(), name="multi_task_model.bin")

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
    saved = tiny.save(tmp_path / "saved", tiny.MULTI, state, name="pretrained_model.bin")
    message = refused(tmp_path, "saved?regions=x", "vilbert-12-in-1")
    assert f"{saved / 'pretrained_model.bin'} has no head that ranks" in message
    assert "add head=alignment" in message
    assert "leave task out" in refused(tmp_path, "saved?regions=x&head=alignment&task=8", "vilbert-12-in-1")
    torch.save(tiny.multi_state(task_tokens=0), saved / "pretrained_model.bin")
    message = refused(tmp_path, "saved?regions=x", "vilbert-12-in-1")
    assert "has no tokens for tasks" in message


def test_volta_and_12_in_1_give_the_same_scores_with_the_same_weights(tmp_path):
    """One arithmetic under two names: VOLTA's ViLBERT runs a layer of text and one of vision in one sublayer."""
    state = tiny.multi_state(vilbert_mt.ALIGNMENT, task_tokens=0)
    folder = tiny.save(tmp_path / "saved", tiny.MULTI, state).parent
    expected = built(folder, "saved?regions=x&head=alignment", "vilbert-12-in-1").match(tiny.PAIRS)
    words = vilbert_mt.in_words_of_volta(tiny.MULTI, "", head=vilbert_mt.ALIGNMENT, task_tokens=0)
    names = vilbert_mt.renamed(tiny.MULTI)
    renamed = {}
    for name, value in state.items():
        start, _, last = name.rpartition(".")
        if ".q_dense" not in name:
            renamed[names.get(f"{start}.", f"{start}.") + last] = value
    tiny.save(tmp_path / "other", words, renamed)
    assert built(folder, "other", "vilbert").match(tiny.PAIRS).tolist() == expected.tolist()


@pytest.mark.usefixtures("saved")
def test_the_check_imports_no_torch(tmp_path):
    lines = (
        "import sys; from pathlib import Path; from vlgate.models.regions.volta import adapter",
        f"adapter.check('saved', Path({str(tmp_path)!r}), name='volta-uniter')",
        "assert not {'torch', 'transformers'} & set(sys.modules)",
    )
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
