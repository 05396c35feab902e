"""VALSE's released plurality foils are among the candidates from their captions."""

import json
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from vlgate.perturb.foils.captions.numbers import plurals

RELEASED = Path(__file__).resolve().parents[4] / "shared/data/valse/data/plurals.json"
BAR = 0.9


@pytest.mark.slow
@pytest.mark.skipif(not RELEASED.is_file(), reason="needs plurals.json of VALSE in ../shared/data")
def test_released_noun_phrases_directions_and_quantifiers_are_among_the_candidates(parser):
    records = [load for load in json.loads(RELEASED.read_text("utf-8")).values() if load["mturk"]["caption"] >= 2]
    missed = Counter()
    for record, parsed in zip(records, parser.parse([one["orig_caption"] for one in records]), strict=True):
        found = plurals(parsed, doubtful=True)
        if not any(_is_released(foil, record) for foil in found.candidates):
            missed[_why(record, found)] += 1
    hits = len(records) - missed.total()
    sys.stdout.write(f"{hits} of {len(records)} valid records; missed: {dict(missed.most_common())}\n")
    assert hits >= BAR * len(records), missed


def _is_released(foil, record):
    """Whether caption and classes are equal: the caption has the quantifier at its place, the classes the direction."""
    same = _plain(foil.caption) == _plain(record["caption"])
    words = (record["classes"], record["classes_foil"])
    # The foil is compared by its quantifier: the release does not mend every verb and pronoun.
    quantifier = foil.tags["quantifiers"].partition("/")[2]
    said = f"{quantifier} " in _plain(record["foil"])
    return same and said and tuple(map(_plain, foil.classes)) == tuple(map(_plain, map(str, words)))


def _plain(text):
    return re.sub(r"[\s.-]+", " ", text).strip().lower()


def _why(record, found):
    noun = record["classes"]
    if noun != noun.lower() or record["orig_caption"].isupper():
        return "the original is in capitals"
    if noun in {foil.classes[0] for foil in found.candidates}:
        return "another phrase or quantifier"
    for reason in ("the noun has no plural", "the noun has no singular", "one and several are the same word"):
        if reason in found.refused:
            return reason
    return "the parser finds no such noun phrase"
