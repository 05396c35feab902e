"""Flaws of the data: cases that cannot be judged, twice the same, given away by their order, or asked elsewhere."""

import json
from itertools import product
from pathlib import Path

import pytest
from builders import asked_task, image, quads_task, tabled, task_of
from builders import texts_task as pairs
from hypothesis import given
from hypothesis import strategies as st

from vlgate.audit.flaws import EXAMPLES, Flaw, examine, true_texts
from vlgate.audit.near_copies import near_copies
from vlgate.sources.benchmarks.valse import VALSE
from vlgate.sources.reading.source import ReadOptions
from vlgate.types import Ask, Case, Match, Read

REAL = Path(__file__).parents[3] / "shared/data"
CHECKLIST = REAL / "vl-checklist/data"
needs_data = pytest.mark.skipif(not CHECKLIST.is_dir(), reason="needs ../shared/data")


def counts(task, elsewhere=frozenset()):
    return {flaw.name: flaw.count for flaw in examine(task, elsewhere)}


@tabled
def test_the_flaws_of_pairs(rows, expected):
    assert counts(pairs(*rows)) == expected


def test_a_foil_that_another_task_calls_true_is_found():
    colour = pairs(("a", "red cup", "old cup"), ("b", "red cup", "old cup"), ("c", "tin cup", "red cup"))
    state = pairs(("a", "old cup", "new cup"), ("c", "thin cup", "thick cup"))
    assert counts(colour) == {}
    assert counts(colour, true_texts([state])) == {"true foil elsewhere": 1}
    assert counts(colour, true_texts([colour, state])) == {"true foil elsewhere": 1}
    twice = pairs(("a", "red cup", "tin cup"), ("a", "tin cup", "old cup"))
    assert counts(twice, true_texts([twice])) == {"true foil": 1}
    assert true_texts([state]) == {("a", "old cup"), ("c", "thin cup")}


def test_a_flaw_has_the_ids_of_its_first_cases_and_a_sentence():
    found = examine(pairs(("a", "red cup", "tin cup"), *[(str(n), "cup", "cup") for n in range(9)]))
    why = "a caption equals its foil: no model can be right"
    assert found == (Flaw(name="equal texts", count=9, examples=("case-1", "case-2", "case-3"), why=why),)
    assert len(found[0].examples) == EXAMPLES


@tabled
def test_the_flaws_of_questions(rows, choices, expected):
    """Rows of an image, a question, its answer, another question and its answer."""
    assert counts(asked_task(*rows, choices=choices)) == expected


def test_other_orders_of_choices_and_perturbed_copies_are_no_flaws_and_texts_without_images_are_examined():
    row = ("a", "Is it?", "yes", "Was it?", "no")
    both = asked_task(row, choices=("yes", "no")).cases + asked_task(row, choices=("no", "yes")).cases
    assert counts(task_of(both, shape="questions")) == {"duplicate": 1}
    requests = tuple(Ask(image=image(key), question="Is it?") for key in ("a", "a#blur6"))
    assert counts(task_of([Case(id="1", requests=requests, truths=("yes", "yes"))], shape="questions")) == {}
    case = Case(id="1", requests=(Read(text="a cup "), Read(text="a cup")), truths=(True, False))
    assert counts(task_of((case, case))) == {"duplicate": 1, "stray blanks": 2}


@tabled
def test_the_flaws_of_quads_and_sets(shape, texts, expected):
    """Texts, each after the key of its image."""
    requests = tuple(Match(image=image(key), text=text) for key, _, text in (one.partition(" ") for one in texts))
    truths = (True, False, False, True) if shape == "quad" else (True, True, False, False)
    assert counts(task_of([Case(id="1", requests=requests, truths=truths)], shape=shape)) == expected


def singles(truths, ids=None):
    """Statements, true or false, or questions with the answers yes and no, if the truths are these."""
    cases = []
    for number, truth in enumerate(truths):
        asked = Match(image=image("a"), text=f"cup {number}")
        if isinstance(truth, str):
            asked = Ask(image=image("a"), question=f"Is it {number}?", choices=("yes", "no"))
        cases.append(Case(id=str(ids[number]) if ids else f"case-{number}", requests=(asked,), truths=(truth,)))
    return task_of(cases, shape="single")


@pytest.mark.parametrize(
    ("task", "found"),
    [
        (singles(["yes", "no"] * 10), 20),
        (singles([False, True] * 10), 20),
        (singles(["yes", "no"] * 10 + ["yes"]), 21),
        (singles([True] * 10, range(1, 21, 2)), 0),
        (singles((["yes", "no"] * 50)[3:60:3], range(3, 60, 3)), 0),  # too few of them
        (singles((["yes", "no"] * 50)[2::3], range(2, 100, 3)), 33),  # a sample, known by the numbers of its lines
        (singles((["yes", "no"] * 50)[2::3], [f"q{n}" for n in range(2, 100, 3)]), 33),
        (singles(["yes", "no"] * 9 + ["no", "yes"]), 0),
        (singles(["yes", "no"] * 9), 0),
        (singles(["yes"] * 20), 0),
        (singles(["yes"] * 10 + ["no"] * 10), 0),
    ],
)
def test_truths_that_alternate_from_line_to_line(task, found):
    assert counts(task).get("alternating truths", 0) == found


words = st.sampled_from(["cup", "red cup", "cup ", "the tin cup", "frying pan"])


@given(st.lists(st.tuples(st.sampled_from("ab"), words, words), max_size=12))
def test_the_counts_are_those_of_plain_lines(rows):
    true = {(key, caption) for key, caption, _ in rows}
    expected = {
        "equal texts": sum(c == f for _, c, f in rows),
        "true foil": sum(c != f and (key, f) in true for key, c, f in rows),
        "unrelated foil": sum(len(c.split()) > 2 and not set(c.split()) & set(f.split()) for _, c, f in rows),
        "duplicate": len(rows) - len(set(rows)),
        "stray blanks": sum("cup " in (c, f) for _, c, f in rows),
    }
    assert counts(pairs(*rows)) == {name: count for name, count in expected.items() if count}


def released(file):
    records = json.loads((CHECKLIST / f"{file}.json").read_text(encoding="utf-8"))
    return pairs(*((key, *texts) for key, both in records for texts in zip(both["POS"], both["NEG"], strict=True)))


@pytest.mark.slow
@needs_data
@tabled
def test_the_known_flaws_of_vl_checklist(file, expected):
    assert counts(released(file)) == expected


@needs_data
def test_the_24_records_of_valse_whose_caption_is_its_foil_are_none_of_them_valid():
    def found(*protocols):
        reading = ReadOptions(folders=(REAL,), seed=0, wanted=lambda _: True, protocols=frozenset(protocols))
        return {task.id: counts(task).get("equal texts", 0) for task in VALSE.read(reading)}

    every = found("valse_all")
    assert sum(every.values()) == 24
    assert (every["valse/existence"], every["valse/counting-balanced"], every["valse/actant-swap"]) == (1, 9, 14)
    assert sum(found().values()) == 0


@needs_data
def test_five_pairs_of_carets_are_one_question_each():
    file = REAL / "carets/data/questions/action_choice_template_test.json"
    by_id = {record["question_id"]: record for record in json.loads(file.read_text(encoding="utf-8"))}
    rows = [
        (record["img_id"], record["sent"], next(iter(record["label"])), other["sent"], next(iter(other["label"])))
        for record in by_id.values()
        if (other := by_id.get(f"{record['question_id']}-t"))
    ]
    assert len(rows) == 248
    assert counts(asked_task(*rows, choices=())) == {"same question": 5}


@pytest.mark.parametrize(
    ("others", "found"),
    [
        (["hub.jpg"] * 30, 30),
        (["hub.jpg"] * 16 + [f"{n}.png" for n in range(14)], 16),
        (["hub.jpg#1,2,3,4"] * 8 + ["hub.jpg"] * 8 + [f"{n}.png" for n in range(14)], 16),
        ([f"{n + 1}.jpg" for n in range(30)], 30),
        (["hub.jpg"] * 15 + [f"{n}.png" for n in range(15)], 0),
        ([f"{n}.png" for n in range(30)], 0),
    ],
)
def test_an_image_that_joins_most_cases_is_named(others, found):
    """Each case has an image of its own and another one, in either order."""
    rows = []
    for number, other in enumerate(others):
        keys = (f"{number}.jpg", other) if number % 2 else (other, f"{number}.jpg")
        rows.append((*keys, f"{number} one", f"{number} two"))
    assert counts(quads_task(*rows)).get("joined images", 0) == found


def copies(*tasks):
    return {name.removeprefix("x/"): flaw.count for name, flaw in near_copies(tasks).items()}


def named(name, *rows, shape="pair"):
    return pairs(*rows, shape=shape, name=f"x/{name}", case=f"{name}-")


def asked(name, *rows):
    """A task of rows of the key of an image and questions with the answer yes."""
    shape = "questions" if len(rows[0]) > 2 else "single"
    answered = ((key, *(part for text in texts for part in (text, "yes"))) for key, *texts in rows)
    return asked_task(*answered, shape=shape, name=f"x/{name}")


A = ("000000000139.jpg", "A dog on a mat.", "A cat on a mat.")


@tabled
def test_copies_have_the_same_texts_and_image_but_for_articles_case_and_punctuation(other, copied):
    """What is true in one and false in the other is another text, and images of other folders are others."""
    assert copies(named("one", A), named("two", other)) == ({"one": 1, "two": 1} if copied else {})


def test_images_of_one_name_in_different_folders_and_copies_within_a_task_are_no_copies_of_another_task():
    assert copies(*(named(name, (f"{name}/dog.jpg", *A[1:])) for name in ("one", "two"))) == {}
    assert copies(named("one", A, A), named("two", ("b", "s", "t"))) == {}


def test_a_pair_in_a_case_of_another_shape_is_found_on_both_sides():
    twice = named("twice", (A[0], A[1], "A dog is on a mat.", A[2]), shape="two_true")
    several = named("several", (A[0], A[1], "A cow.", A[2]), shape="choice")
    tasks = named("one", A, ("b", "s", "t")), twice, several
    assert copies(*tasks) == {"one": 1, "twice": 1, "several": 1}
    why = "nearly the same is asked of the same image in x/several (1), x/twice (1)"
    assert near_copies(tasks)["x/one"] == Flaw(name="near-copy", count=1, examples=("one-0",), why=why)


def test_questions_are_copies_if_all_of_the_case_are_and_texts_without_images_too():
    single = asked("single", ("a", "Is there a dog?"), ("b", "Is there a dog?"))
    assert copies(single, asked("again", ("a", "Is there a dog ?"), ("c", "Is there a dog?"))) == {
        "single": 1,
        "again": 1,
    }
    both = asked("both", ("a", "Is there a dog?", "Is there no dog?"))
    assert copies(both, asked("other", ("a", "Is there a dog?", "Is there a pet?")), single) == {}
    assert copies(both, asked("same", ("a", "is there a dog", "is there no dog"))) == {"both": 1, "same": 1}
    case = Case(id="1", requests=(Read(text="a cup"), Read(text="no cup")), truths=(True, False))
    assert copies(*(task_of([case], f"x/{name}") for name in "ab")) == {"a": 1, "b": 1}


def test_the_most_frequent_of_the_other_tasks_are_named_and_the_rest_are_counted():
    rows = [(f"{number}.jpg", "a dog", "a cat") for number in range(5)]
    found = near_copies([named(f"{size}", *rows[:size]) for size in (5, 4, 3, 2, 1)])
    said = "nearly the same is asked of the same image in"
    assert found["x/5"].count == 4
    assert found["x/5"].why == f"{said} x/4 (4), x/3 (3), x/2 (2) and 1 more"
    assert found["x/1"].why == f"{said} x/2 (1), x/3 (1), x/4 (1) and 1 more"


def test_the_copies_are_those_of_comparing_each_case_with_each():
    rows = list(product("ab", ("a dog", "the dog", "cat"), ("cat", "cow")))
    tasks = [named(f"{step}", *rows[::step]) for step in (2, 3, 5)]

    def plain(case):
        return [(asked.image.key, asked.text.replace("a ", "").replace("the ", "")) for asked in case.requests]

    expected = {
        task.id.removeprefix("x/"): sum(
            any(plain(case) == plain(other) for them in tasks if them is not task for other in them.cases)
            for case in task.cases
        )
        for task in tasks
    }
    assert all(expected.values())
    assert copies(*tasks) == expected
