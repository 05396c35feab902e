"""Existence and the statements behind it: how-many questions in, captions and foils out."""

from collections import Counter

from builders import tabled
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vlgate.perturb.foils.how_many import existence, numeral, selected_existence, statement

WORDS = "how many dogs of the are is there 3 do have can you red on wearing , ' é 犬".split()


@tabled
def test_a_question_becomes_a_caption_and_a_foil(parser, question, answer, caption, foil):
    [parsed] = parser.parse([question])
    [made] = existence(parsed, answer).candidates
    assert (made.caption, made.foil) == (caption, foil)
    zero = numeral(answer) == 0
    assert made.tags == {"provenance": "zero_to_something" if zero else "something_to_zero"}
    assert made.classes == (("0", "more") if zero else ("more", "0"))


@tabled
def test_what_cannot_be_turned_is_refused_with_a_reason(parser, question, answer, reason):
    [parsed] = parser.parse([question])
    found = existence(parsed, answer)
    assert not found.candidates
    assert found.refused == (reason or found.refused[0],)


def test_ten_thousand_words_are_refused(parser):
    [parsed] = parser.parse(["How many " + "big " * 10_000 + "dogs?"])
    assert existence(parsed, "2").refused == ("not a how-many question",)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.sampled_from(WORDS), max_size=9))
def test_no_question_raises_and_none_gives_both_a_candidate_and_a_reason(parser, words):
    [parsed] = parser.parse(["How many " + " ".join(words) + "?"])
    for answer in ("0", "1", "2"):
        found = existence(parsed, answer)
        assert bool(found.candidates) != bool(found.refused)
        for made in found.candidates:
            assert made.caption != made.foil
            assert made.caption[0].isupper() or not made.caption[0].isalpha()


def test_a_numeral_is_read_from_digits_and_words_and_nothing_else():
    assert [numeral(text) for text in ("12", " Four. ", "None", "zero!")] == [12, 4, 0, 0]
    assert {numeral(text) for text in ("", "100", "two dogs", "1.5", "-1", "²", "\uff11", "many")} == {None}


def test_a_statement_is_said_of_one_only_if_its_words_allow_it(parser):
    [parsed] = parser.parse(["How many zebras are standing together?"])
    made = statement(parsed, "2")
    assert made.said("exactly 2") == "There are exactly 2 zebras standing together."
    assert made.said("exactly 1", one=True) is None
    assert statement(parsed, "1") == "no wording for one"


def test_a_zero_may_be_singular_so_that_the_number_of_the_noun_tells_nothing(parser):
    [dogs, together] = parser.parse(["How many dogs are there?", "How many dogs are standing together?"])
    [made] = existence(dogs, "0", singular=True).candidates
    assert (made.caption, made.foil) == ("There is no dog.", "There is a dog.")
    [made] = existence(together, "0", singular=True).candidates
    assert made.caption == "There are no dogs standing together."


def test_half_of_the_selected_come_from_zero_and_so_of_each_sentence(parser):
    [dogs, cats] = parser.parse(["How many dogs are there?", "How many cats are there?"])
    answers = [(dogs, "0")] * 9 + [(dogs, "3")] * 4 + [(cats, "2")] * 9
    candidates = [existence(question, answer).candidates[0] for question, answer in answers]
    kept = Counter(candidates[place].caption for place in selected_existence(candidates, seed=0))
    assert kept == {"There are no dogs.": 5, "There are dogs.": 4, "There are cats.": 1}
