"""Replies as models, services and dumps have them, with the choice that each names: ``replies/*.tsv``."""

import re
from pathlib import Path

import pytest
from builders import image, table

from vlgate.judging.answers import normal_choice, read_answer, read_reply, told_apart_by_the_letter
from vlgate.judging.labels import listed_aliases
from vlgate.judging.verdicts import judge
from vlgate.types import Ask, Batch, Case, Prediction, Task

FOLDER = Path(__file__).parent / "replies"
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


def test_the_tables_are_as_large_as_they_should_be():
    assert min(len(table(FOLDER / name)) for name in ("yes_no.tsv", "choices.tsv")) >= 300


@pytest.mark.parametrize(
    ("question", "choices", "aliases"),
    [
        ("What is it doing?\nOption: A:sleeping; B:playing;", ("a", "b"), ("sleeping", "playing")),
        ("What is it doing? Option: A: asleep on the mat. B: at play", ("a", "b"), ("asleep on the mat", "at play")),
        ("Which?\n(A) a red car\n(B) a blue car", ("A", "B"), ("a red car", "a blue car")),
        ("Which? A. red\nB. blue\nC. green", ("A", "B", "C"), ("red", "blue", "green")),
        ("Does it show (1) a cat or (2) a dog?", ("1", "2"), ("a cat", "a dog")),
        ("Does it show (1) a cat or (2) a dog?", ("a cat", "a dog"), ("1", "2")),
        ("Is the door (a) Open (b) Closed", ("Open", "Closed"), ("a", "b")),
        ("Is the door (a) Closed (b) Open", ("Open", "Closed"), ("b", "a")),
        ("Does this show (A) two ducks; one black, or (B) two ducks; one white? Choose one.", ("A", "B"),
         ("two ducks; one black", "two ducks; one white")),
        ("How many dogs are there?", ("2", "3"), ()),
        ("Is there a dog?", ("yes", "no"), ()),
        ("What does it do? Option: A:It sits; Bhe wall is red", ("a", "b"), ()),
        ("Is it red or blue?", ("red", "blue"), ()),
    ],
)  # fmt: skip
def test_the_question_tells_what_its_letters_mean(question, choices, aliases):
    assert listed_aliases(question, choices) == aliases


def asked(question, choices, **more):
    return Ask(image=IMAGE, question=question, choices=choices, **more)


def test_a_question_that_lists_its_choices_gives_them_their_names():
    letters = asked("What is it doing?\nOption: A:sleeping; B:playing;", ("a", "b"))
    assert [read_reply(reply, letters) for reply in ("playing", "(A) sleeping", "(A) playing", "B")] == [
        "b", "a", None, "b",
    ]  # fmt: skip
    texts = asked("Is the door (a) Closed or (b) Open?", ("Open", "Closed"))
    assert [read_reply(reply, texts) for reply in ("(a)", "b", "(b) Open", "open")] == [
        "Closed",
        "Open",
        "Open",
        "Open",
    ]
    assert read_reply("(a)", asked("Is the door open?", ("Open", "Closed"))) is None
    assert read_reply("(a)", asked("Is it open?", ("Open", "Closed"), aliases=("a", "b"))) == "Open"


def test_choices_that_differ_by_a_mark_are_judged_as_different():
    choices = ('"Happy Easter"', '"Happy Easter!"')
    asks = tuple(asked(question, choices) for question in ("First?", "Second?"))
    case = Case(id="1", requests=asks, truths=choices)
    task = Task(id="x/y", capability="directional", shape="questions", cases=(case,))
    for answers, right in ((choices, True), (choices[::-1], False), (choices[:1] * 2, False)):
        replies = {ask: Prediction(request=ask, answer=answer) for ask, answer in zip(asks, answers, strict=True)}
        [verdict] = judge(Batch(task=task, positions=(0,)), replies)
        assert (verdict.right, verdict.facts["read"]) == (right, 1.0)
    assert [normal_choice(choice, choices) for choice in choices] == list(choices)


def test_choices_that_only_the_letter_tells_apart_are_named():
    assert told_apart_by_the_letter(("C", "C#", "C++")) == []
    assert told_apart_by_the_letter(("3", "-3", "3.")) == [("3", "3.")]
    assert told_apart_by_the_letter(("red", "Red", "blue", "red")) == [("red", "Red"), ("red", "red"), ("Red", "red")]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("red", "red"),
        ("The red one.", "The red one."),
        ("It is blue?</think>red<|im_end|>", "red"),
        ("<think>blue</think><answer>red</answer>", "red"),
        ("\\boxed{red}", "red"),
        ("Final answer: red", "red"),
        ("It is warm. Answer: red", "red"),
        ("red\n\nQuestion: And this?\nAnswer: blue", "red"),
        ("", None),
        (" . ", None),
        ("<think>red", None),
        ("<answer></answer>", None),
    ],
)
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


@pytest.mark.parametrize(
    ("question", "choices", "reply", "meant"),
    [
        ("Which caption fits? (1) A cat. (2) A dog. Answer with (1) or (2).", ("a cat", "a dog"), "(2)", "a dog"),
        ("What?\nA. sleeping\nB. playing\nAnswer with the letter A or B. Do not explain.", ("A", "B"), "playing", "B"),
        ("How many? (A) 2 (B) 3 (C) 4", ("2", "3", "4"), "(B)", "3"),
        ("Which? (A) St. Louis (B) St. Paul", ("St. Louis", "St. Paul"), "(B)", "St. Paul"),
    ],
)
def test_what_follows_the_list_of_a_question_is_no_option(question, choices, reply, meant):
    assert read_reply(reply, asked(question, choices)) == meant


def test_a_truth_in_decomposed_letters_is_the_choice_in_composed_ones():
    asks = tuple(asked(question, ("caf\u00e9", "tea room")) for question in ("First?", "Second?"))
    case = Case(id="1", requests=asks, truths=("cafe\u0301", "caf\u00e9"))
    task = Task(id="x/y", capability="invariance", shape="questions", cases=(case,))
    for answer in ("caf\u00e9", "Cafe\u0301."):
        replies = {ask: Prediction(request=ask, answer=answer) for ask in asks}
        [verdict] = judge(Batch(task=task, positions=(0,)), replies)
        assert verdict.right
