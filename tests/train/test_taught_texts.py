"""What the models are taught about a scene: the phrases that are true of it, and true texts against false ones.

Training computes in bfloat16 only on processors that have instructions for it: on others, it is slower.
"""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch

from vlgate.fixtures.scenes.scene_graphs import as_gqa
from vlgate.perturb.scene_graph import Box, SceneGraph, SceneObject
from vlgate.perturb.text.rewriting import NUMBER_WORDS

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture(scope="module")
def train():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPTS)
        from train import captions, glossary, pairs, scenes

        patch.setattr(scenes, "portion", cache(scenes.portion))
        yield type("Modules", (), {"captions": captions, "glossary": glossary, "pairs": pairs, "scenes": scenes})


def graph(*looks):
    things = {
        str(n): SceneObject(id=str(n), name=name, attributes=words, box=Box(x=9, y=9, w=40, h=40))
        for n, (name, *words) in enumerate(looks)
    }
    return as_gqa(SceneGraph(id="one", objects=things, width=400, height=300))


def test_phrases_name_things_their_hypernyms_attributes_and_numbers(train):
    found = train.glossary.phrases_of(graph(("duck", "yellow"), ("duck", "brown"), ("cup", "red")))
    said = {("yellow", "duck"), ("", "animal"), ("brown", "bird"), ("red", ""), ("one", "cup"), ("several", "duck")}
    assert said <= set(found)
    assert not {("red", "duck"), ("several", "cup"), ("one", "duck"), ("three", "duck"), ("", "dog")} & set(found)


def test_a_phrase_is_written_with_a_text_that_says_the_opposite(train):
    chance = np.random.default_rng(0)
    texts = {train.glossary.written(("red", "cup"), chance) for _ in range(200)}
    assert ("There is a red cup.", "There is no red cup.") in texts
    assert ("A picture of a red cup.", "") in texts
    assert ("Does the image include a red cup? yes", "Does the image include a red cup? no") in texts
    # A question that denies has the other answer.
    assert ("Does the image include no red cup? no", "Does the image include no red cup? yes") in texts


def test_captions_are_paired_with_their_foils_and_answers_with_the_other_choices(train):
    scene = train.scenes.Scene(
        graph=graph(("cup", "red")),
        texts=(("A cup.", True), ("A hat.", False), ("A cup on a table.", True), ("No hat.", True), ("No cup.", False)),
        questions=(("Is it red or blue?", "red"), ("Is there a cup?", "yes")),
        choices=(("blue", "red", "pink"), ("yes", "no")),
    )
    told = []

    def tokenizer(texts, **_):
        told.extend(texts)
        return {"input_ids": np.zeros((len(texts), 1), int)}

    found = train.pairs.pairs_of([scene], tokenizer).pairs
    assert {(told[true], told[false] if false >= 0 else "") for _, true, false in found} == {
        ("A cup.", "A hat."),
        ("A cup on a table.", ""),
        ("No hat.", "No cup."),
        ("Is it red or blue? red", "Is it red or blue? blue"),
        ("Is it red or blue? red", "Is it red or blue? pink"),
        ("Is there a cup? yes", "Is there a cup? no"),
    }


def test_a_number_is_said_as_often_of_a_scene_that_has_it_as_of_one_that_has_not(train):
    chance = np.random.default_rng(0)
    looks = [("duck",), ("duck",), ("duck",), ("cup",), ("hat",), ("hat",)]
    said = [text for _ in range(800) for text in train.captions.captions_of(graph(*looks), chance)]
    for words in ("exactly one", "exactly two", "exactly three", "exactly zero", "a single", "some", "a number of"):
        truths = [truth for text, truth in said if words in text]
        assert len(truths) > 100
        assert abs(np.mean(truths) - 1 / 2) < 4 * np.sqrt(0.25 / len(truths)), words


@pytest.mark.slow
def test_whether_a_number_is_large_does_not_tell_whether_a_text_is_true(train):
    first = train.scenes.FIRST_SEED
    said = [text for seed in (first, first + 1) for scene in train.scenes.portion(seed) for text in scene.texts]
    for numbers in (NUMBER_WORDS[:2], NUMBER_WORDS[2:4], NUMBER_WORDS[4:]):
        truths = [truth for text, truth in said if re.search(rf"exactly ({'|'.join(numbers)})\b", text)]
        assert len(truths) > 100
        assert abs(np.mean(truths) - 1 / 2) < 4 * np.sqrt(0.25 / len(truths)), numbers


def test_no_number_is_said_of_a_kind_without_a_plural(train):
    chance = np.random.default_rng(0)
    said = [
        text
        for _ in range(400)
        for text, _ in train.captions.captions_of(graph(("pants", "red"), ("pants", "blue"), ("broccoli",)), chance)
    ]
    wrong = re.compile(r"None|exactly one pants|\bis pants|[Pp]ants is|\b[Aa] (red |blue )?pants")
    assert not [text for text in said if wrong.search(text)]
    assert "There are red pants." in said
    assert "There are no red pants." in said
    phrases = {("several", "pants"), ("one", "furniture"), ("several", "cup"), ("red", "pants")}
    assert {phrase for phrase in phrases if train.glossary.can_be_written(phrase)} == {
        ("several", "cup"),
        ("red", "pants"),
    }


@pytest.mark.slow
def test_as_many_denials_are_true_as_false(train):
    first = train.scenes.FIRST_SEED
    chance = np.random.default_rng(0)
    graphs = [scene.graph for scene in train.scenes.portion(first)[:600]]
    for known in graphs:
        captions = train.captions.captions_of(known, chance)
        denied = [truth for text, truth in captions if re.search(r"\bno\b", text, re.IGNORECASE)]
        assert denied.count(True) == denied.count(False)
        assert not [text for text, _ in captions if "None" in text]


@pytest.mark.parametrize(
    ("has", "kind"),
    [
        ({"avx2": True, "avx512_f": True}, torch.float32),
        ({"avx512_bf16": True}, torch.bfloat16),
        ({"amx_bf16": True}, torch.bfloat16),
        ({"neon": True, "bf16": True}, torch.bfloat16),
        ({}, torch.float32),
    ],
)
def test_bfloat16_is_for_processors_that_have_it(monkeypatch, has, kind):
    monkeypatch.syspath_prepend(SCRIPTS)
    from train.half import halved

    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: has)
    with halved():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == kind
