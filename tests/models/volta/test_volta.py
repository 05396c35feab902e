import json
from functools import partial

import numpy as np
import pytest
import torch
import volta_checkpoints as tiny
import volta_slow as slow

from vlgate.errors import ModelLoadError
from vlgate.models.regions.inputs import region_source
from vlgate.models.regions.volta import adapter, vilbert_mt
from vlgate.models.regions.volta.config import ALIGNMENT, parse
from vlgate.models.regions.volta.encoder import Seen, Weights, embed, logits, with_overall
from vlgate.types import Match


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    start = tmp_path_factory.mktemp("start")
    for kind in tiny.KINDS:
        tiny.save(f"volta-{kind}", start / kind)
    tiny.save("vilbert-12-in-1", start / "multi")
    return start


def by_hand(reference, pairs=tiny.PAIRS, **options):
    """The logits of a slow reference, a row for each pair."""
    seen = [tiny.regions_of(pair.image.key) for pair in pairs]
    return [
        reference.logits(tiny.ids_of(pair.text), one.features, one.boxes, **options)
        for pair, one in zip(pairs, seen, strict=True)
    ]


def test_a_head_that_ranks_has_no_match_logit_and_the_note_names_the_detector(folders):
    with pytest.raises(ModelLoadError, match="score='logit'"):
        tiny.built(folders, "vilbert-12-in-1", "multi?regions=any&score=logit")
    assert tiny.built(folders, "uniter", "uniter").note == "regions of a stub; ranks by the match probability"
    note = tiny.built(folders, "vilbert-12-in-1", "multi?regions=any").note
    assert note.startswith("regions of a stub; ")
    assert "ResNeXt-152" in note


VARIANTS = [
    {}, {"add_global_imgfeat": "last"}, {"add_global_imgfeat": None}, {"num_locs": 4}, {"fusion_method": "sum"},
    {"fusion_method": "text"}, {"layer_norm_eps": 0.1},
]  # fmt: skip


@pytest.mark.parametrize("kind", tiny.KINDS)
@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_it_is_the_arithmetic_of_volta(tmp_path, kind, changes):
    settings = tiny.config_of(kind, **changes)
    state = tiny.state_of(settings, seed=3)
    found = tiny.built(tiny.write(tmp_path / "saved", settings, state).parent, kind).match(tiny.PAIRS)
    outs = by_hand(slow.SlowVolta(settings, state))
    expected = [match - none for match, none in outs]
    assert found == pytest.approx(expected, rel=1e-4, abs=2e-5)
    raw = tiny.built(tmp_path, kind, "saved?score=logit").match(tiny.PAIRS)
    assert raw == pytest.approx([match for match, _ in outs], rel=1e-4, abs=2e-5)
    assert np.std(expected) > 0.01


@pytest.mark.parametrize(
    ("asked", "task"), [("", 8), ("&task=7", 7), ("&head=alignment&task=3", 3), ("&head=alignment", None)]
)
def test_it_is_the_arithmetic_of_vilbert_multi_task(tmp_path, asked, task):
    head = ALIGNMENT if "alignment" in asked else vilbert_mt.RANKING
    state = tiny.multi_state(head, task_tokens=20 if task else 0, seed=4)  # a pretrained ViLBERT has no task
    folder = tiny.write(tmp_path / "saved", tiny.MULTI, state).parent
    found = tiny.built(folder, "vilbert-12-in-1", f"saved?regions=any{asked}")
    outs = by_hand(slow.SlowVilbert(tiny.MULTI, state), task=task, head=head)
    expected = [out[0] - (out[1] if len(out) == 2 else 0) for out in outs]
    assert found.match(tiny.PAIRS) == pytest.approx(expected, rel=1e-4, abs=2e-5)
    assert found.decision_threshold == (0.0 if head == ALIGNMENT else None)


def test_a_region_of_zeros_is_one_that_was_masked():
    """As in the pretraining of VL-BERT only: it gets the vector, and maybe the word, of a masked region."""
    settings = tiny.config_of("vl-bert", visual_target_weights={"6": 1.0})
    config, state = parse(settings, "test"), tiny.state_of(settings)
    draw = torch.Generator().manual_seed(0)
    features, boxes = torch.randn(2, 4, tiny.FEATURES, generator=draw), torch.rand(2, 4, 4, generator=draw)
    features[1, 1] = 0
    ids = torch.tensor([[2, 7, 3]] * 2)
    made = with_overall(config, features, boxes, torch.ones(2, 4, dtype=torch.bool))
    seen = Seen(ids=ids, words=ids > 0, **dict(zip(("features", "locations", "regions"), made, strict=True)))
    before = embed(config, Weights(state), seen)["vision"]
    for name in ("object_mask_visual_embedding", "object_mask_word_embedding"):
        more = {f"bert.embeddings.{name}.weight": state[f"bert.embeddings.{name}.weight"] + torch.arange(16.0)}
        changed = (embed(config, Weights(state | more), seen)["vision"] - before).abs().amax(dim=-1) > 1e-4
        assert changed.nonzero().tolist() == [[1, 2]]  # the mean comes first


def test_texts_that_are_cut_are_counted(folders):
    model = tiny.built(folders, "uniter", "uniter?max_length=10")
    scores = model.match([Match(image=tiny.image(0), text=text) for text in ("a " * 8, "a " * 9, "the " * 40)])
    assert len(model.cut_texts) == 2
    assert scores[0] == pytest.approx(scores[1], rel=1e-4)
    assert scores[1] != pytest.approx(scores[2], rel=1e-3)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_is_near(folders, dtype, monkeypatch):
    used = []

    def recorded(config, weights, seen, task):
        used.append([{value.dtype for value in weights.tensors.values()}, seen.features.dtype, seen.locations.dtype])
        return logits(config, weights, seen, task)

    monkeypatch.setattr(adapter, "logits", recorded)
    precise, rounded = torch.float32, getattr(torch, dtype)
    for kind in tiny.KINDS:
        whole, half = tiny.built(folders, kind, kind), tiny.built(folders, kind, kind, dtype=dtype)
        assert half.match(tiny.PAIRS) == pytest.approx(whole.match(tiny.PAIRS), abs=0.3)
        assert used[-2:] == [[{rounded}, rounded, precise], [{precise}, precise, precise]]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["uniter", "vilbert"])
def test_it_is_compiled_whole(folders, kind, monkeypatch):
    graphs = []

    def backend(graph, _):
        """Run the traced graph as it is: compiling it to machine code takes a minute."""
        graphs.append(graph)
        return graph.forward

    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend=backend))
    model = tiny.built(folders, kind, kind)
    plain = model.match(tiny.PAIRS)
    model.compile()
    assert graphs == []
    assert model.match(tiny.PAIRS) == pytest.approx(plain, rel=1e-4, abs=1e-5)
    assert len(graphs) == 1
    assert model.match(tiny.PAIRS[:2]) == pytest.approx(plain[:2], rel=1e-4, abs=1e-5)


def test_features_that_were_made_before(tmp_path, folders, monkeypatch):
    monkeypatch.setattr("vlgate.models.regions.volta.adapter.region_source", region_source)
    draw, keys = np.random.default_rng(0), [tiny.image(number).key for number in range(4)]
    boxes = np.sort(draw.random((4, 9, 2, 2)), axis=2).reshape(4, 9, 4).astype(np.float32)
    features = draw.normal(size=(4, 9, tiny.FEATURES)).astype(np.float32)
    np.savez(tmp_path / "few.npz", images=keys, features=features, boxes=boxes)
    # The controlled models were trained with 36 regions; ViLBERT 12-in-1 takes as many as there are.
    with pytest.raises(ModelLoadError, match="9 boxes, the model takes 36"):
        tiny.built(tmp_path, "uniter", f"{folders / 'uniter'}?regions=few.npz")
    multi = tiny.built(tmp_path, "vilbert-12-in-1", f"{folders / 'multi'}?regions=few.npz")
    reference = slow.SlowVilbert(tiny.MULTI, tiny.multi_state())
    out = reference.logits(tiny.ids_of(tiny.PAIRS[3].text), features[3], boxes[3], task=8)
    assert multi.match(tiny.PAIRS[3:4])[0] == pytest.approx(out[0], rel=1e-3)
    assert "few.npz" in multi.note


def test_the_fingerprint_depends_on_all_that_scores_depend_on(tmp_path):
    settings = tiny.config_of("uniter")
    folder = tiny.write(tmp_path / "saved", settings, tiny.state_of(settings))

    def fingerprint(weights="saved", **options):
        return tiny.built(tmp_path, "uniter", weights, **options).fingerprint

    first = fingerprint()
    assert first == fingerprint("saved/pytorch_model_9.bin?config=saved/config.json") == fingerprint(seed=1)
    other = fingerprint("saved?max_length=9")
    (folder / "config.json").write_text(json.dumps(settings | {"fusion_method": "sum"}))
    assert len({first, other, fingerprint()}) == 3
