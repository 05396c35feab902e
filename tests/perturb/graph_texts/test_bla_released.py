"""BLA's ten released records: the sentences that our functions make of the graphs that the records imply."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from graphs import graph, thing

from vlgate.perturb.graphs import two_persons
from vlgate.perturb.graphs import two_persons as voices
from vlgate.perturb.graphs.persons import SURE, THESIS

FOLDER = Path(__file__).resolve().parents[4] / "shared/data/bla/annotations"
FIELDS = ("True1", "True2", "False1", "False2")
FEATURE = re.compile(r"(has on|\w+) (?:an? )?(.+)")

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs BLA's records in ../shared/data/bla")

ACTIVE_PASSIVE = {"1159399": "", **dict.fromkeys(("2355939", "2325902", "2412886", "2391876"), voices.MUTUAL)}
COORDINATION = {
    "2400493": two_persons.UNSURE,  # what is purple may be called blue
    "2363063": two_persons.UNSURE,  # the kid may be a boy, and the boy's skateboard may flip as well
    "2377665": two_persons.UNSURE,  # a batter may wear face gear
    "2343378": two_persons.UNSURE,  # a white top may be a shirt
    "2374189": two_persons.UNSURE,  # a short sleeved shirt may be black
}
"""The reason for which the records' sets are refused if a false sentence must be false in the graph."""


def _released(file):
    path = FOLDER / file
    records = json.loads(path.read_text()) if path.is_file() else []
    return {str(record["image_id"]): tuple(record["caption_group"][0][field] for field in FIELDS) for record in records}


def _of_voices(sentences):
    agent, verb, patient = re.fullmatch(r"the (\w+) (\w+) the (\w+)", sentences[0]).groups()
    two = thing("1", agent, (0, 0, 400, 900), **{verb: "2"}), thing("2", patient, (300, 0, 400, 900))
    return graph(*two)


def _of_features(sentences):
    things = []
    for number, sentence in enumerate(sentences[:2]):
        name, features = re.fullmatch(r"the (\w+) (.+)", sentence).groups()
        x, relations = 500 * number, {}
        for index, text in enumerate(_split(features)):
            verb, said = FEATURE.fullmatch(text).groups()
            *attribute, noun = said.split()
            at = f"{number}{index}"
            box = (x + 10, 100 + 300 * index, 100, 100)
            things.append(thing(at, noun, box, attributes=[" ".join(attribute)] if attribute else []))
            relations[verb.replace(" ", "_")] = f"{relations.get(verb.replace(' ', '_'), '')} {at}".strip()
        things.append(thing(f"p{number}", name, (x, 0, 200, 900), **relations))
    return graph(*things)


def _split(features):
    return re.split(r" and (?=wears|rides|has|eats|reads|holds)", features)


def _said(found):
    return [(*candidate.true, *candidate.false) for candidate in found.candidates]


@pytest.mark.parametrize("image", ACTIVE_PASSIVE)
def test_released_voices_come_out_word_for_word_or_with_a_reason(image: str) -> None:
    sentences = _released("active_passive_captions.json")[image]
    assert _said(voices.active_passive(_of_voices(sentences), THESIS)) == [sentences]
    sure = voices.active_passive(_of_voices(sentences), SURE)
    assert _said(sure) == ([] if ACTIVE_PASSIVE[image] else [sentences])
    assert set(filter(None, [ACTIVE_PASSIVE[image]])) <= set(sure.refused)


@pytest.mark.parametrize("image", COORDINATION)
def test_released_coordinations_come_out_word_for_word_or_with_a_reason(image: str) -> None:
    sentences = _released("coordination_captions.json")[image]
    every = replace(THESIS, most_sets=1000)
    assert sentences in _said(two_persons.coordination(_of_features(sentences), every))
    sure = two_persons.coordination(_of_features(sentences), replace(SURE, most_sets=1000))
    assert (sentences in _said(sure)) == (not COORDINATION[image])
    assert set(filter(None, [COORDINATION[image]])) <= set(sure.refused)
