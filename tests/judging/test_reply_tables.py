"""Replies as models, services and dumps have them, with the choice that each names: ``replies/*.tsv``."""

import json
import re
from pathlib import Path

import pytest
from builders import image, json_table, judged, table, tabled, task_of
from hypothesis import assume, given
from hypothesis import strategies as st

from vlgate.judging.announced import after_thought, has_thought
from vlgate.judging.answers import read_answer, read_reply, told_apart_by_the_letter
from vlgate.judging.labels import listed_aliases
from vlgate.judging.normal import normal_answer, normal_choice
from vlgate.types import Ask, Case

FOLDER = Path(__file__).parent / "replies"
TABLES = Path(__file__).with_suffix(".tsv")
IMAGE = image("a.jpg")
OTHER = {"yes": "no", "no": "yes", None: None}


def exchanged(reply):
    """The reply with yes and no exchanged, in the case in which they stand."""

    def other(word):
        turned = "no" if word[0].lower() == "yes" else "yes"
        return turned.upper() if word[0].isupper() else turned.capitalize() if word[0][0].isupper() else turned

    wide = reply.replace("\uff39\uff45\uff53", "\uff2e\uff4f")
    return re.sub(r"(?<![a-z])(yes|no)(?![a-z])", other, wide, flags=re.IGNORECASE)


@pytest.mark.parametrize(("expected", "reply"), table(FOLDER / "yes_no.tsv"))
def test_yes_and_no_are_read_alike(expected, reply):
    assert read_answer(reply, ("yes", "no")) == expected
    assert read_answer(exchanged(reply), ("yes", "no")) == OTHER[expected]


@pytest.mark.parametrize(("expected", "choices", "aliases", "reply"), table(FOLDER / "choices.tsv"))
def test_one_of_several_choices_is_read(expected, choices, aliases, reply):
    names = tuple(aliases.split("|")) if aliases else ()
    assert read_answer(reply, choices.split("|"), aliases=names) == expected


@pytest.mark.parametrize(("question", "choices", "aliases"), json_table(TABLES, "listed"))
def test_the_question_tells_what_its_letters_mean(question, choices, aliases):
    assert listed_aliases(question, tuple(choices)) == tuple(aliases)


def asked(question, choices, **more):
    return Ask(image=IMAGE, question=question, choices=choices, **more)


def test_a_question_that_lists_its_choices_gives_them_their_names():
    letters = asked("What is it doing?\nOption: A:sleeping; B:playing;", ("a", "b"))
    assert [read_reply(reply, letters) for reply in ("playing", "(A) sleeping", "(A) playing", "B")] == [
        "b", "a", None, "b",
    ]  # fmt: skip
    texts = asked("Is the door (a) Closed or (b) Open?", ("Open", "Closed"))
    assert [read_reply(reply, texts) for reply in ("(a)", "b", "(b) Open", "open")] == ["Closed", *["Open"] * 3]
    assert read_reply("(a)", asked("Is the door open?", ("Open", "Closed"))) is None
    assert read_reply("(a)", asked("Is it open?", ("Open", "Closed"), aliases=("a", "b"))) == "Open"


def test_choices_that_differ_by_a_mark_are_judged_as_different():
    choices = ('"Happy Easter"', '"Happy Easter!"')
    asks = tuple(asked(question, choices) for question in ("First?", "Second?"))
    case = Case(id="1", requests=asks, truths=choices)
    task = task_of([case], capability="directional", shape="questions")
    for answers, right in ((choices, True), (choices[::-1], False), (choices[:1] * 2, False)):
        [verdict] = judged(task, [[{"answer": answer} for answer in answers]])
        assert (verdict.right, verdict.facts["read"]) == (right, 1.0)
    assert [normal_choice(choice, choices) for choice in choices] == list(choices)


def test_choices_that_only_the_letter_tells_apart_are_named():
    assert told_apart_by_the_letter(("C", "C#", "C++")) == []
    assert told_apart_by_the_letter(("3", "-3", "3.")) == [("3", "3.")]
    assert told_apart_by_the_letter(("red", "Red", "blue", "red")) == [("red", "Red"), ("red", "red"), ("Red", "red")]


@pytest.mark.parametrize(("reply", "answer"), json_table(TABLES, "unlimited"))
def test_an_answer_without_choices_is_what_the_reply_says_in_the_end(reply, answer):
    assert read_reply(reply, asked("What colour is it?", ())) == answer


@pytest.mark.parametrize("reply", ["\ue0005", "\ue0000", "\ue000-1", "\ue000" + "9" * 5000, "\ue001a", "\ue002a"])
def test_private_characters_of_a_reply_are_no_options(reply):
    assert read_answer(reply, ("yes", "no")) is None
    assert read_answer(f"x {reply} y", ("A", "B")) is None


def test_aliases_that_are_not_one_for_each_choice_are_left_out():
    assert read_answer("B", ("a", "b"), aliases=("x", "y", "b")) == "b"


@pytest.mark.parametrize(
    "reply",
    ["yes " * 25_000, "<pad>" * 20_000 + "Yes", "Yes" + "\n" * 100_000 + "x", '{"answer":' + " " * 100_000 + "x",
     "Question:" + "\n" * 100_000 + "x", "\\boxed{" * 10_000, "Answer: x\n" * 10_000, "<think>" * 14_000],
    ids=["loop", "tokens", "lines", "json", "question", "boxes", "answers", "thoughts"],
)  # fmt: skip
def test_a_reply_without_end_is_read_in_time(reply):
    assert read_answer(reply, ("yes", "no")) in {None, "yes"}


@tabled
def test_what_follows_the_list_of_a_question_is_no_option(question, choices, reply, meant):
    assert read_reply(reply, asked(question, choices)) == meant


def test_a_truth_in_decomposed_letters_is_the_choice_in_composed_ones():
    asks = tuple(asked(question, ("caf\u00e9", "tea room")) for question in ("First?", "Second?"))
    case = Case(id="1", requests=asks, truths=("cafe\u0301", "caf\u00e9"))
    task = task_of([case], capability="invariance", shape="questions")
    for answer in ("caf\u00e9", "Cafe\u0301."):
        assert judged(task, [[{"answer": answer}] * 2])[0].right


RECORDED = Path(__file__).parents[3] / "shared/data/recorded-outputs/sugarcrepe-gpt4v/negative-first"


@pytest.mark.skipif(not RECORDED.is_dir(), reason="needs ../shared/data")
@pytest.mark.parametrize(
    ("name", "n", "right", "recorded", "unread", "disagreeing"),
    [
        ("add_obj", 2062, 1919, 1918, 35, ["add_obj 583"]),  # the recorded parse leaves out "2"
        ("replace_att", 788, 740, 740, 9, []),
        # and "Neither ... However, if I must choose, it would be (2)"
        ("swap_obj", 246, 199, 198, 4, ["swap_obj 214"]),
    ],
)
def test_recorded_answers_are_read_as_by_eye(name, n, right, recorded, unread, disagreeing):
    """The captions were offered as a numbered list, the negative one first."""
    records = json.loads((RECORDED / f"gpt4v-{name}.json").read_text(encoding="utf-8"))
    found = {}
    for number, record in records.items():
        answer, choices = record["answer"], (record["negative_caption"], record["caption"])
        assert record["correct"] == (answer["multiple_choice_answer"] == record["caption"])
        reading = read_answer(answer["free_form_answer"], choices, aliases=("1", "2"))
        found[f"{name} {number}"] = reading, answer["multiple_choice_answer"], record["caption"]
    readings = [reading for reading, *_ in found.values()]
    assert (len(found), readings.count(None)) == (n, unread)
    assert sum(reading == caption for reading, _, caption in found.values()) == right
    assert sum(parsed == caption for _, parsed, caption in found.values()) == recorded
    assert [case for case, (reading, parsed, _) in found.items() if (reading or "") != parsed] == disagreeing


PAIRS = json_table(TABLES, "thought")
"""The beginning and the end of a thought."""


@pytest.mark.parametrize(("begin", "end"), PAIRS)
def test_what_follows_the_last_thought_is_the_answer(begin, end):
    for thought in ("A dog?", "Yes. Wait, no.", f"one{end}{begin}two", ""):
        assert after_thought(f"{begin}{thought}{end}Yes") == "Yes"
        assert after_thought(f"{thought}{end} There is no dog.") == "There is no dog."  # its template opened it
        assert has_thought(f"{thought}{end}Yes")
    assert after_thought(f"{end}") == ""


@pytest.mark.parametrize("begin", [begin for begin, _ in PAIRS])
def test_a_thought_that_does_not_end_has_no_answer(begin):
    assert after_thought(f"{begin}Yes, I see a dog") is None
    assert after_thought(f"Yes. {begin}Or is it") is None
    assert after_thought(f"{begin}It is. <answer>No</answer><|im_end|>") == "<answer>No</answer><|im_end|>"
    assert after_thought(f"{begin}I write <answer>No</answer>, or") is None


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Yes.<think>It barks.</think>", "Yes."),
        ("analysisIs it a dog? No dog.assistantfinalYes", "Yes"),
        ("finalNo", "No"),
        *((text, text) for text in ("Yes", "", "finally, no", "The man is thinking.", "[analysis] Yes", "a < b > c")),
    ],
)
def test_an_answer_may_stand_before_its_thought_in_a_bare_channel_or_alone(reply, answer):
    assert after_thought(reply) == answer
    assert has_thought(reply) == (reply != answer)


YES_NO = ("yes", "no")
COLOURS = ("red", "blue")


@pytest.mark.parametrize("text", ["yes", "Yes", " YES. ", '"yes"', "`yes`!", "yes,"])
def test_a_normal_answer_has_no_case_blanks_quotes_or_closing_marks(text):
    assert normal_answer(text) == "yes"


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
    aliases = ("1", "2") if numbered and len(choices) == 2 else ()
    assert read_answer(reply, choices, aliases=aliases) in {None, *choices}


@given(st.text(alphabet="yesno .,!|()12ab\n'-", max_size=30))
def test_the_order_of_the_choices_makes_no_difference_without_numbers(reply):
    assert read_answer(reply, YES_NO) == read_answer(reply, YES_NO[::-1])
