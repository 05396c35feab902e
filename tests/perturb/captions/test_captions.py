"""Captions rewritten by their parse: what comes out, and what is refused with which reason."""

from pathlib import Path

import pytest
from builders import table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vlgate.perturb.text.conjunct_order import reordered
from vlgate.perturb.text.counts import recounted
from vlgate.perturb.text.exchanging import exchanged, replaced
from vlgate.perturb.text.fitness import unfit
from vlgate.perturb.text.negating import negated
from vlgate.perturb.text.spatial import opposed

TABLE = Path(__file__).with_name("captions.tsv")
REWRITE = {
    "negated": lambda parsed, _: negated(parsed),
    "opposed": lambda parsed, _: opposed(parsed),
    "exchanged": lambda parsed, _: exchanged(parsed),
    "reordered": lambda parsed, _: reordered(parsed),
    "recounted": lambda parsed, number: recounted(parsed, int(number or 3)),
    "replaced": lambda parsed, words: replaced(parsed, *(words or "a cat").split()),
}


@pytest.fixture(scope="session")
def parse(parser):
    return lambda text: next(parser.parse([text]))


def texts(found, caption):
    """The other texts, each behind its own caption if that is not the caption given."""
    foils = getattr(found, "candidates", ())
    pairs = [foil.foil if foil.caption == caption else f"{foil.caption} / {foil.foil}" for foil in foils]
    return pairs + list(getattr(found, "texts", ()))


@pytest.mark.parametrize(("how", "caption", "argument", "other"), table(TABLE, "made"))
def test_what_is_made_of_a_caption(parse, how, caption, argument, other):
    assert texts(REWRITE[how](parse(caption), argument), caption) == [other]


@pytest.mark.parametrize(("how", "caption", "argument", "reason"), table(TABLE, "refused"))
def test_what_is_refused_has_its_reason(parse, how, caption, argument, reason):
    found = REWRITE[how](parse(caption), argument)
    assert texts(found, caption) == []
    if how in {"exchanged", "reordered"}:  # every pair of things has its own reason
        assert found.refused
        assert reason == "*" or reason in found.refused
    else:
        assert found.refused == (reason,)


def test_the_classes_of_a_foil_are_the_words_that_changed(parse):
    [one] = opposed(parse("A man standing behind a fence.")).candidates
    assert one.classes == ("behind", "in front of")


STRANGE = (
    *("", "   ", "?", "🐶🐱", "<b>A dog</b> on a mat.", "Ein Hund sitzt auf einer Bank."),
    *("犬がベンチに座っている。", "A DOG AND A CAT ARE UNDER TWO TABLES."),
    *("dog " * 10_000, "http://a.b/c.jpg", "Running.", "\ud800", "and or and"),
)


@pytest.mark.parametrize("text", STRANGE)
def test_strange_texts_are_refused_with_a_reason(parse, text):
    parsed = parse(text)
    for rewrite in REWRITE.values():
        found = rewrite(parsed, "")
        assert found.refused
        assert texts(found, text) == []


WORDS = "a two the dog dogs cat and or on under is are riding no , . THERE there of men with one behind".split()


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_no_text_raises_and_each_has_a_candidate_or_a_reason(parse, text):
    parsed = parse(text)
    for rewrite in REWRITE.values():
        found = rewrite(parsed, "")
        made = texts(found, text)
        assert made or found.refused
        assert text not in made


CONTROL = [(f"A dog{code} is on a bed.", "markup or symbols") for code in ("\x00", "\x1b", "\x85")]


@pytest.mark.parametrize(("caption", "reason"), [*table(TABLE, "unfit"), *CONTROL])
def test_a_text_with_a_slip_is_unfit_and_a_rare_word_is_none(parse, caption, reason):
    assert unfit(parse(caption)) == reason
