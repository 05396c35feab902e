import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vlgate.judging.answers import normal_answer, read_answer

YES_NO = ("yes", "no")
COLOURS = ("red", "blue")
LABELS = ("1", "2")


@pytest.mark.parametrize("text", ["yes", "Yes", " YES. ", '"yes"', "`yes`!", "yes,"])
def test_a_normal_answer_has_no_case_blanks_quotes_or_closing_marks(text):
    assert normal_answer(text) == "yes"


def test_without_choices_none_is_named():
    assert read_answer("red", ()) is None


word = st.from_regex(r"[a-z]{3,8}", fullmatch=True)
phrases = st.lists(word, min_size=1, max_size=3).map(" ".join)


@given(
    st.lists(phrases, min_size=2, max_size=4, unique=True),
    st.sampled_from([str, str.upper, str.title, str.capitalize]),
    st.sampled_from(["{}", "{}.", '"{}"', " {}!", "'{}'", "**{}**", "{}\n", "({})"]),
    st.sampled_from(["", "the ", "a ", "An ", "The answer is ", "Answer: ", "It is the "]),
)
def test_a_choice_in_any_case_with_any_marks_is_read_as_it(choices, case, marks, before):
    for choice in choices:
        forms = {" ".join(other.split()) for other in choices if other != choice}
        assume(not any(f" {form} " in f" {choice} " for form in forms))
        found = read_answer(before + marks.format(case(choice)), choices)
        assert found == choice or (found is None and _alike(choice, choices))


def _alike(choice, choices):
    """Whether another choice might be the same words in another number."""
    stem = choice.split()[-1][:3]
    return any(other != choice and other.split()[-1].startswith(stem) for other in choices)


@given(word, st.from_regex(r"[a-z]{1,4}", fullmatch=True), st.from_regex(r"[a-z]{1,4}", fullmatch=True))
def test_a_choice_within_a_longer_word_is_never_read(choice, before, after):
    other = "qqqq"
    for longer in (before + choice + after, f"{before}{choice}qq", f"{before}-{choice}", f"{choice}'{after}"):
        assume(other not in longer)
        assert read_answer(f"It is {longer}.", (choice, other)) is None


@given(st.sampled_from(YES_NO), st.from_regex(r"[a-z]{1,5}", fullmatch=True), st.booleans())
def test_yes_and_no_within_a_longer_word_are_never_read(answer, letters, first):
    longer = letters + answer if first else answer + letters
    assume(longer not in {*YES_NO, "nope", "yep", "yup", "yeah", "nah"})
    assert read_answer(longer, YES_NO) is None
    assert read_answer(f"The {longer} is here.", YES_NO) is None


@given(st.permutations(COLOURS), st.sampled_from([" and ", ", ", " or ", "/", " ", ". ", "\n", " but "]))
def test_two_choices_are_never_read_as_one(colours, joint):
    assert read_answer(joint.join(colours), COLOURS) is None
    assert read_answer(joint.join(reversed(YES_NO)), YES_NO) is None


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=4), st.booleans())
def test_any_reply_to_any_choices_is_read_as_one_of_them_or_none(reply, choices, numbered):
    assert read_answer(reply, choices, aliases=LABELS[: len(choices)] if numbered and len(choices) == 2 else ()) in {
        None,
        *choices,
    }


@given(st.text(alphabet="yesno .,!|()12ab\n'-", max_size=30))
def test_the_order_of_the_choices_makes_no_difference_without_numbers(reply):
    assert read_answer(reply, YES_NO) == read_answer(reply, YES_NO[::-1])
