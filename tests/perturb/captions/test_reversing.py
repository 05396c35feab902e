"""No foil of a text in which a false word may be true: "No one is riding the cat"."""

import pytest

from vlgate.perturb.foils.captions.nouns import noun_foils
from vlgate.perturb.foils.captions.numbers import counted, plurals
from vlgate.perturb.foils.relations import relations
from vlgate.perturb.text.counts import recounted
from vlgate.perturb.text.exchanging import exchanged, replaced
from vlgate.perturb.text.fitness import reverses
from vlgate.perturb.text.spatial import opposed

ATTESTED = ("on", "under", "next to", "in", "in front of", "behind", "on top of", "beside")
MAKERS = {
    "foil-it": noun_foils,
    "relations": lambda parsed: relations(parsed, ATTESTED),
    "plurality": plurals,
    "counting-captions": counted,
    "opposed": opposed,
    "exchanged": exchanged,
    "recounted": lambda parsed: recounted(parsed, 3),
    "replaced": lambda parsed: replaced(parsed, "horse", "cow"),
}
REVERSING = [
    "No one is riding the horse on the bench.",
    "There are hardly any dogs on the bench.",
    "Few people are sitting on the bench with two dogs.",
    "A man without a dog is sitting on the bench.",
    "This cat has no intention of leaving the bench.",
    "Nobody is sitting on the table behind the horse.",
    "The man never rides the horse under the bridge.",
    "A dog is not lying on the couch.",
    "Neither the boy nor the girl is on the horse.",
    "The bike lacks a wheel on the table.",
    "A horse is avoiding the dog on the bench.",
    "A car missing two wheels is on the street.",
    "There is little water in the bowl on the table.",
    "Fewer than two dogs are on the couch.",
    "The woman refuses the sandwich on the plate.",
    "Everything except the horse is on the truck.",
    "The street seldom has two horses on the road.",
    "There is a lack of chairs in the room.",
]
PLAIN = [
    "A few people are sitting on the bench.",
    "Two little girls are sitting on the bench.",
    "A little girl is sitting on a horse.",
    "A dog is lying on the couch.",
]


def parsed(parser, text):
    return next(iter(parser.parse([text])))


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("text", REVERSING)
def test_no_foil_whose_truth_may_be_reversed(parser, kind, text):
    assert MAKERS[kind](parsed(parser, text)).candidates == ()


@pytest.mark.parametrize("text", REVERSING)
def test_a_reversing_word_is_seen(parser, text):
    assert reverses(parsed(parser, text))


@pytest.mark.parametrize("text", PLAIN)
def test_other_uses_of_these_words_are_nparsed(parser, text):
    assert not reverses(parsed(parser, text))
    assert any(MAKERS[kind](parsed(parser, text)).candidates for kind in ("relations", "opposed"))
