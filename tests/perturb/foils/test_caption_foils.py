"""What holds for the foils of all captions: bad texts are refused, and sources lose nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.perturb.foils.captions.mentions import mentions
from vlgate.perturb.foils.captions.nouns import noun_foils
from vlgate.perturb.foils.captions.numbers import counted, plurals

KINDS = (plurals, noun_foils, counted)
BAD = (
    "",
    "   \n\t",
    "ride, run and jump!",
    "Deux chiens courent dans un champ vert.",
    "二匹の犬が草の上を走る。",
    "🐕🐕 🎉",
    "<p>Two <b>dogs</b> &amp; a cat</p>",
    "TWO DOGS SIT ON A BED NEAR A CAT",
    "dog " * 10_000,
    "a\ud800dog",
)
WORDS = st.lists(
    st.sampled_from("a the two one dog dogs man people is are has that it their and with of some cup 's , . A".split()),
    max_size=14,
).map(" ".join)


@pytest.mark.parametrize("text", BAD)
@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_text_gives_no_foil_but_a_reason(parser, kind, text):
    found = kind(next(parser.parse([text])))
    assert not found.candidates
    assert found.refused
    assert all(isinstance(reason, str) and reason for reason in found.refused)


@settings(max_examples=50)
@given(text=WORDS, other=WORDS)
def test_any_words_give_foils_that_differ_from_their_captions(parser, text, other):
    parsed, beside = parser.parse([text, other])
    for found in (
        plurals(parsed, [mentions(beside)], doubtful=True),
        noun_foils(parsed, [mentions(beside)]),
        counted(parsed, [mentions(beside)]),
    ):
        for foil in found.candidates:
            assert foil.caption != foil.foil
            assert foil.classes[0] != foil.classes[1] or foil.classes[0] in {"sheep", "fish"}
            assert foil.why
