import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from vlgate.judging.answers import normal_answer, read_answer

YES_NO = ("yes", "no")
COLOURS = ("red", "blue")
ANIMALS = ("a cat", "a dog")
LABELS = ("1", "2")


@pytest.mark.parametrize("text", ["yes", "Yes", " YES. ", '"yes"', "`yes`!", "yes,"])
def test_a_normal_answer_has_no_case_blanks_quotes_or_closing_marks(text):
    assert normal_answer(text) == "yes"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("yes", "yes"),
        ("No.", "no"),
        ('"Yes"', "yes"),
        ("\u201cNo\u201d", "no"),
        ("**Yes**", "yes"),
        ("_no_", "no"),
        ("NO!!", "no"),
        ("Yes, there is.", "yes"),
        ("Yes it is", "yes"),
        ("No there is not", "no"),
        ("No, not at all.", "no"),
        ("No - there is a cat", "no"),
        ("No\u2014none.", "no"),
        ("The answer is no", "no"),
        ("The answer to the question is no.", "no"),
        ("Answer: no", "no"),
        ("Answer:\n\nYes", "yes"),
        ("<answer>yes</answer>", "yes"),
        ("So, I would say yes.", "yes"),
        ("I think yes, because it is round.", "yes"),
        ("Is there a dog? Yes.", "yes"),
        ("Yes, yes.", "yes"),
        ("No, I can't see a dog", "no"),
        ("No, there is no dog", "no"),
        ("Yes, there is no dog", "yes"),
        ("Yes. No dog is visible.", "yes"),
        ("No, and it is red", "no"),
        ("No, the sky is not clear", "no"),
        ("I'm not sure, but the answer is yes", "yes"),
        ("No, neither a cat nor a dog is there.", "no"),
        ("Yes, it is neither red nor blue", "yes"),
        ("No, none of them.", "no"),
        ("Yes. The unknown man waves.", "yes"),
        ("The final answer is $\\boxed{no}$.", "no"),
    ],
)
def test_yes_and_no_are_read_as_they_are_said(reply, expected):
    assert read_answer(reply, YES_NO) == expected


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "?",
        "notice",
        "Know.",
        "not",
        "yesterday",
        "nobody",
        "no-one",
        "There is no dog.",
        "No dogs.",
        "No one is there",
        'The sign says "no".',
        "yes and no",
        "Yes or no?",
        "Yes/No",
        "yes-no",
        "No, yes",
        "yes\nNo",
        "yes yes no",
        "No yes",
        "no no yes",
        "Neither, no",
        "Yes, maybe",
        "Maybe yes",
        "It is neither yes nor no",
        "The answer is not no",
        "I cannot tell",
        "I can't tell. Yes, perhaps",
        "I cannot tell whether the answer is yes",
        "Yes, but I'm not sure",
        "It is unclear.",
        "I don't know",
        "If it is a dog, yes; otherwise no",
        "Sorry, I can't assist with that request.",
        "Neither.",
    ],
)
def test_a_reply_that_is_not_a_plain_yes_or_no_is_unread(reply):
    assert read_answer(reply, YES_NO) is None


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("It's red.", "red"),
        ("A red one", "red"),
        ("The car is RED", "red"),
        ("reds", "red"),
        ("blue, not red", "blue"),
        ("It is not red but blue", "blue"),
        ("I think that it is blue", "blue"),
        ("It is probably blue.", "blue"),
        ("It isn't blue, it's red", "red"),
        ("I cannot be sure, but the answer is red.", "red"),
        ("red and blue", None),
        ("either red or blue", None),
        ("It is not red", None),
        ("It isn\u2019t red", None),
        ("I do not think that it is red", None),
        ("It might be red", None),
        ("Perhaps red", None),
        ("without red", None),
        ("red is wrong", None),
        ("red is not the colour", None),
        ("both red and blue are incorrect", None),
        ("Neither is red", None),
        ("I cannot tell; red", None),
        ("red-haired", None),
        ("infrared", None),
        ("green", None),
    ],
)
def test_one_of_some_choices(reply, expected):
    assert read_answer(reply, COLOURS) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("It is inappropriate.", "inappropriate"),
        ("Appropriate", "appropriate"),
        ("not appropriate", None),
        ("inappropriately", None),
    ],
)
def test_a_choice_within_another_is_not_read(reply, expected):
    assert read_answer(reply, ("appropriate", "inappropriate")) == expected


@pytest.mark.parametrize(
    ("reply", "choices", "expected"),
    [
        ("dogs", ("dog", "cat"), "dog"),
        ("the boxes", ("a box", "a bag"), "a box"),
        ("men", ("woman", "man"), "man"),
        ("A dog.", ("dog", "dogs"), "dog"),
        ("The dogs", ("dog", "dogs"), "dogs"),
        ("the dog", ("a dog", "the dog"), "the dog"),
        ("dog", ("a dog", "the dog"), None),
        ("dark red", ("red", "dark red"), "dark red"),
        ("red", ("red", "dark red"), "red"),
        ("It is not red", ("red", "not red"), "not red"),
        ("2.5", ("2", "3"), None),
        ("There are 2 dogs.", ("2", "3"), "2"),
        ("T-shirt", ("t-shirt", "shirt"), "t-shirt"),
        ("t-shirt", ("coat", "shirt"), None),
        ("A dog", ("A", "B"), None),
        ("B", ("A", "B"), "B"),
        ("unknown", ("unknown", "red"), "unknown"),
        ("a man, on a bike, waves", ("A man on a bike waves.", "A man waves"), "A man on a bike waves."),
        ("ye", YES_NO, None),
        ("red", ("red", "Red"), "red"),
        ("RED", ("red", "Red"), None),
        ("red", ("red", "red"), "red"),
        ("red", (), None),
        ("red", ("", "red"), "red"),
    ],
)
def test_choices_that_are_like_each_other(reply, choices, expected):
    assert read_answer(reply, choices) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("(2)", "a dog"),
        ("2)", "a dog"),
        ("2", "a dog"),
        ("2.", "a dog"),
        ("[2]", "a dog"),
        ("**(2)**", "a dog"),
        ("B", "a dog"),
        ("b)", "a dog"),
        ("Answer: (b)", "a dog"),
        ("option 2", "a dog"),
        ("Option B is correct.", "a dog"),
        ("The correct option is 1.", "a cat"),
        ("The answer is **2**", "a dog"),
        ("I choose 2", "a dog"),
        ("Output (2).", "a dog"),
        ("Caption 2", "a dog"),
        ("(2) A dog.", "a dog"),
        ("2. A dog", "a dog"),
        ("A: cat", "a cat"),
        ("(1) is incorrect. (2)", "a dog"),
        ("Neither is right, so the answer would be:\n\n(2)", "a dog"),
        ("2 cats", "a cat"),
        ("a", "a cat"),
        ("(1) a dog", None),
        ("(b) cat", None),
        ("(3)", None),
        ("(1) and (2)", None),
        ("Neither (1) nor (2)", None),
        ("Both (1) and (2) are incorrect.", None),
        ("Neither fits: option (1) is incorrect, and option (2) has a spelling error", None),
        ("A man", None),
        ("I", None),
        ("hotdog", None),
    ],
)
def test_an_option_is_read_by_its_number_or_letter(reply, expected):
    assert read_answer(reply, ANIMALS, aliases=LABELS) == expected


@pytest.mark.parametrize("reply", ["(2)", "b)", "option b", "2."])
def test_numbers_and_letters_mean_nothing_if_the_question_had_none(reply):
    assert read_answer(reply, ANIMALS) is None


def test_a_number_that_is_one_choice_and_the_place_of_another_is_that_choice_to_the_letter_only():
    assert read_answer("2", ("2", "3"), aliases=LABELS) == "2"
    assert read_answer("(2)", ("2", "3"), aliases=LABELS) is None
    assert read_answer("Option 2", ("2", "3"), aliases=LABELS) is None
    assert read_answer("2", ("3", "2"), aliases=LABELS) == "2"
    assert read_answer("2", ("2", "3")) == "2"


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


@pytest.mark.parametrize(
    ("choice", "reply"),
    [
        ("cookies", "a cookie"),
        ("larva", "two larvae"),
        ("calf", "calves"),
        ("skies", "the sky"),
        ("scissors", "a scissor"),
    ],
)
def test_the_other_number_of_a_choice_is_read(choice, reply):
    assert read_answer(reply, (choice, "something else")) == choice


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("A: sleeping", "a"),
        ("The correct option is A: sleeping", "a"),
        ("b: playing", "b"),
        ("A dog: it sleeps", None),
        ("A: sleeping or B: playing", None),
        ("Neither A: sleeping nor B: playing", None),
    ],
)
def test_a_letter_with_a_colon_before_the_text_of_an_option_is_the_letter(reply, meant):
    assert read_answer(reply, ("a", "b")) == meant
