"""Texts rewritten without a parse or for a mirrored image, and what single functions say of plain words."""

import importlib
import re
from collections import Counter
from pathlib import Path

import pytest
from builders import table
from hypothesis import assume, given
from hypothesis import strategies as st

from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.text.grammar import capitalised_like, plural, with_article
from vlgate.perturb.text.mirror import flip_words
from vlgate.perturb.text.rewriting import (
    NUMBER_WORDS,
    OPPOSITES,
    exchange,
    negate,
    opposite_relation,
    replace,
    replace_number,
)

TABLE = Path(__file__).with_name("rewriting.tsv")
NOUNS = ("cup", "red cup", "apple", "orange umbrella", "unicorn", "hour glass")
EXISTENCE = ("There is {}.", "Is there {}?", "there is {} in the picture", "Is there {} on the table?")


@given(st.sampled_from(NOUNS), st.sampled_from(EXISTENCE))
def test_negating_twice_is_the_identity(noun, frame):
    text = frame.format(with_article(noun))
    assert negate(text) == frame.format(f"no {noun}")
    assert negate(negate(text)) == text
    statement, question = f"There are {plural(noun)}.", f"Are there any {plural(noun)}?"
    assert negate(statement) == negate(f"There are some {plural(noun)}.") == f"There are no {plural(noun)}."
    assert negate(question) == f"Are there no {plural(noun)}?"
    assert (negate(negate(statement)), negate(negate(question))) == (statement, question)


@pytest.mark.parametrize("text", table(TABLE, "no_negation_of_other_sentences"))
def test_no_negation_of_other_sentences(text):
    assert negate(text) is None


NUMBERS = st.integers(0, len(NUMBER_WORDS) - 1)
FRAMES = ("There {} exactly {} {}.", "there {} {} {} in the picture", "{} there just {} {} at home?")


def sentence(frame, number, noun, *, digits=False):
    word = str(number) if digits else NUMBER_WORDS[number]
    verb = "is" if number == 1 else "are"
    noun = noun if number == 1 else plural(noun)
    return frame.format(verb.capitalize() if frame.startswith("{}") else verb, word, noun)


@given(NUMBERS, NUMBERS, st.sampled_from(("cup", "red berry", "fish")), st.sampled_from(FRAMES), st.booleans())
def test_the_new_sentence_is_as_if_written_for_its_number(old, new, noun, frame, digits):
    assume(old != new)
    text = sentence(frame, old, noun, digits=digits)
    entailed = new < old and "exactly" not in frame and "just" not in frame  # two cups are there if three are
    assert replace_number(text, new) == (None if entailed else sentence(frame, new, noun, digits=digits))


@pytest.mark.parametrize(("text", "new", "expected"), table(TABLE, "numbers"))
def test_numbers(text, new, expected):
    assert replace_number(text, int(new)) == expected


@given(st.sampled_from(sorted(OPPOSITES)), st.sampled_from(("The cup is {} the ball.", "A cup {} a ball")))
def test_the_opposite_of_the_opposite_is_the_relation(relation, frame):
    text = frame.format(relation)
    assert opposite_relation(text) == frame.format(OPPOSITES[relation])
    assert opposite_relation(opposite_relation(text)) == text


@pytest.mark.parametrize(("text", "expected"), table(TABLE, "relations"))
def test_relations(text, expected):
    assert opposite_relation(text) == expected


THINGS = ("cup", "ball", "apple", "umbrella", "house", "orange fish")


def words(text):
    return Counter(re.findall(r"\w+", text.lower()))


@given(
    st.lists(st.sampled_from(NOUNS), min_size=2, max_size=2, unique=True).filter(
        lambda two: not two[0].endswith(two[1])
    ),
    st.sampled_from(("{} to the left of {}.", "{} and {}", "{} sees {}. Good.")),
)
def test_exchanging_twice_is_the_identity_and_keeps_the_words(nouns, frame):
    first, second = map(with_article, nouns)
    text = capitalised_like("A", frame.format(first, second))
    swapped = exchange(text, first, second)
    assert swapped not in {None, text}
    assert words(swapped) == words(text)
    assert exchange(swapped, first, second) == text
    assert exchange(text, second, first) == swapped


@pytest.mark.parametrize(("text", "first", "second", "expected"), table(TABLE, "exchanges"))
def test_exchanges(text, first, second, expected):
    assert exchange(text, first, second) == expected


@given(st.sampled_from(THINGS), st.sampled_from(THINGS))
def test_replacing_back_is_the_identity(old, new):
    assume(old != new)
    text = capitalised_like("A", f"{with_article(old)} near the sea.")
    replaced = replace(text, old, new)
    assert replaced is not None
    assert replaced.lower().startswith(with_article(new))
    assert replace(replaced, new, old) == text


@pytest.mark.parametrize(("text", "old", "new", "expected"), table(TABLE, "replacements"))
def test_replacements(text, old, new, expected):
    assert replace(text, old, new) == expected


MIRROR = Path(__file__).with_name("mirror.tsv")
SIDES = st.permutations(("left", "right"))


@given(st.sampled_from(table(MIRROR, "frames")), SIDES, st.sampled_from((str, str.title, str.upper)))
def test_a_direction_becomes_the_other_one(frame, sides, capitals):
    one, other = map(capitals, sides)
    assert flip_words(frame.format(one)) == frame.format(other)


@given(st.sampled_from(table(MIRROR, "both")), SIDES)
def test_both_directions_change_places(frame, sides):
    assert flip_words(frame.format(*sides)) == frame.format(*reversed(sides))


@pytest.mark.parametrize(("text", "expected"), table(MIRROR, "flipped"))
def test_what_is_no_direction_stays_and_what_is_not_sure_is_refused(text, expected):
    assert flip_words(text) == expected


SIDE_WORDS = "left right Left RIGHT the of to man or is in 's - most , ? top".split()


@given(st.lists(st.sampled_from(SIDE_WORDS), max_size=8), st.sampled_from(("", " ")))
def test_any_text_is_taken_and_only_sides_change(words, between):
    text = between.join(words)
    flipped = flip_words(text)
    if flipped is not None:
        sides = re.compile("left|right", re.IGNORECASE)
        assert sides.sub("*", flipped) == sides.sub("*", text)


@pytest.mark.parametrize(("module", "call", "value"), table(Path(__file__).with_name("examples.tsv")))
def test_an_example(module, call, value):
    names = vars(importlib.import_module(f"vlgate.perturb.{module}"))
    assert repr(eval(call, {**names, "ontology": default_ontology()})) == value
