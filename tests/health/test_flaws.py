import json
from pathlib import Path

import pytest
from builders import asked_task, image, quads_task
from builders import texts_task as pairs
from hypothesis import given
from hypothesis import strategies as st

from vlgate.audit.flaws import EXAMPLES, Flaw, examine, true_texts
from vlgate.sources.benchmarks.valse import VALSE
from vlgate.sources.reading.source import ReadOptions
from vlgate.types import Ask, Case, Match, Read, Task

REAL = Path(__file__).parents[3] / "shared/data"
CHECKLIST = REAL / "vl-checklist/data"
needs_data = pytest.mark.skipif(not CHECKLIST.is_dir(), reason="needs ../shared/data")


def questions(*rows, choices=()):
    """Rows of (image, question, answer, other question, other answer)."""
    return asked_task(*rows, choices=choices)


def matches(shape, truths, *texts):
    requests = tuple(Match(image=image(key), text=text) for key, text in texts)
    case = Case(id="case-0", requests=requests, truths=truths)
    return Task(id="x/y", capability="compositional", shape=shape, cases=(case,))


def counts(task, elsewhere=frozenset()):
    return {flaw.name: flaw.count for flaw in examine(task, elsewhere)}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("a", "a red cup", "a blue cup")], {}),
        ([("a", "red cup", "red cup")], {"equal texts": 1}),
        ([("a", "a café", "a cafe\u0301")], {"equal texts": 1}),
        ([("a", "red cup", "Red cup")], {}),
        ([("a", "red cup", "blue cup"), ("a", "blue cup", "tin cup")], {"true foil": 1}),
        ([("a", "red cup", "blue cup"), ("b", "blue cup", "tin cup")], {}),
        ([("a", "red cup", "red cup"), ("a", "red cup", "tin cup")], {"equal texts": 1}),
        ([("a", "red cup", "tin cup"), ("a", "red cup", "tin cup"), ("b", "red cup", "tin cup")], {"duplicate": 1}),
        ([("a", "red cup", "tin cup")] * 3, {"duplicate": 2}),
        (
            [("a", " red cup", "tin cup"), ("b", "red cup", "tin cup "), ("c", "red  cup", "tin cup")],
            {"stray blanks": 3},
        ),
        ([("a", "red cup ", " tin cup")], {"stray blanks": 1}),
        ([("a", "bicycle ON sidewalk", "frying pan")], {"unrelated foil": 1}),
        ([("a", "bicycle ON sidewalk", "Sidewalk")], {}),
        ([("a", "a man, smiling", "MAN")], {}),
        ([("a", "red cup", "frying pan")], {}),
    ],
)
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
    assert found == (
        Flaw(
            name="equal texts",
            count=9,
            examples=("case-1", "case-2", "case-3"),
            why="a caption equals its foil: no model can be right",
        ),
    )
    assert len(found[0].examples) == EXAMPLES


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (questions(("a", "Is it?", "yes", "Was it?", "yes")), {}),
        (questions(("a", "Is it?", "yes", "Is it?", "yes")), {"same question": 1}),
        (questions(("a", "Is it?", "yes", "Is it?", "no")), {"same question": 1, "two answers": 1}),
        (
            questions(("a", "Is it?", "yes", "Was it?", "yes"), ("a", "Is it?", "no", "Has it?", "yes")),
            {"two answers": 1},
        ),
        (questions(("a", "Is it?", "yes", "Was it?", "yes"), ("b", "Is it?", "no", "Has it?", "yes")), {}),
        (questions(("a", "Is it?", "Yes ", "Was it?", "no"), choices=("yes", "no")), {}),
        (questions(("a", "Is it?", "yes", "Was it?", "red"), choices=("yes", "no")), {"answer not offered": 1}),
        (questions(("a", "Is it?", "tin", "Was it?", "red"), choices=("yes", "no")), {"answer not offered": 1}),
        (questions(*[("a", "Is it?", "yes", "Was it?", "yes")] * 2), {"duplicate": 1}),
        (questions(("a", "Is  it?", "yes", "Was it? ", "yes")), {"stray blanks": 1}),
    ],
)
def test_the_flaws_of_questions(task, expected):
    assert counts(task) == expected


def test_the_order_of_the_choices_makes_no_other_question():
    row = ("a", "Is it?", "yes", "Was it?", "no")
    both = questions(row, choices=("yes", "no")).cases + questions(row, choices=("no", "yes")).cases
    assert counts(Task(id="x/y", capability="invariance", shape="questions", cases=both)) == {"duplicate": 1}


def test_one_question_about_an_image_and_its_perturbed_copy_is_not_a_flaw():
    requests = tuple(Ask(image=image(key), question="Is it?") for key in ("a", "a#blur6"))
    case = Case(id="1", requests=requests, truths=("yes", "yes"))
    assert counts(Task(id="x/y", capability="invariance", shape="questions", cases=(case,))) == {}


QUAD = (True, False, False, True)
SET = (True, True, False, False)


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (matches("quad", QUAD, ("a", "s t"), ("a", "t s"), ("b", "s t"), ("b", "t s")), {}),
        (matches("quad", QUAD, ("a", "s t"), ("a", "s t"), ("b", "s t"), ("b", "s t")), {"equal texts": 1}),
        (matches("quad", QUAD, ("a", "s t"), ("a", "t s"), ("a", "s t"), ("a", "t s")), {"true foil": 1}),
        (matches("set", SET, ("a", "p"), ("a", "q"), ("a", "r"), ("a", "s")), {}),
        (matches("active_passive_set", SET, ("a", "p"), ("a", "q"), ("a", "r"), ("a", "s")), {}),
        (matches("set", SET, ("a", "p"), ("a", "q"), ("a", "r"), ("a", "q")), {"equal texts": 1, "true foil": 1}),
    ],
)
def test_the_flaws_of_quads_and_sets(task, expected):
    assert counts(task) == expected


def test_texts_without_images_are_examined_too():
    case = Case(id="1", requests=(Read(text="a cup "), Read(text="a cup")), truths=(True, False))
    task = Task(id="x/y", capability="foil", shape="pair", cases=(case, case))
    assert counts(task) == {"duplicate": 1, "stray blanks": 2}


def singles(truths, ids=None):
    """Statements, true or false, or questions with the answers yes and no, if the truths are these."""
    cases = []
    for number, truth in enumerate(truths):
        asked = Match(image=image("a"), text=f"cup {number}")
        if isinstance(truth, str):
            asked = Ask(image=image("a"), question=f"Is it {number}?", choices=("yes", "no"))
        cases.append(Case(id=str(ids[number]) if ids else f"case-{number}", requests=(asked,), truths=(truth,)))
    return Task(id="x/single", capability="foil", shape="single", cases=tuple(cases))


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
    """A task of VL-CheckList in ten plain lines."""
    records = json.loads((CHECKLIST / f"{file}.json").read_text(encoding="utf-8"))
    rows = [(key, *texts) for key, both in records for texts in zip(both["POS"], both["NEG"], strict=True)]
    return pairs(*rows, name=file)


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("Attribute/vg/color", {"equal texts": 66, "true foil": 6, "duplicate": 66, "stray blanks": 261}),
        ("Attribute/vaw/size", {"true foil": 631, "duplicate": 1867}),
        ("Relation/vg/action", {"equal texts": 28, "true foil": 8, "duplicate": 22, "stray blanks": 8}),
        ("Relation/vg/spatial", {"true foil": 8, "unrelated foil": 2, "duplicate": 4448, "stray blanks": 5}),
        (
            "Object/Size/vg_size/vg_obj_small",  # 6,785 of 13,702 foils are another text: "about half"
            {"true foil": 1, "unrelated foil": 6785, "duplicate": 2, "stray blanks": 2130},
        ),
    ],
)
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
    assert counts(questions(*rows)) == {"same question": 5}


@pytest.mark.parametrize(
    ("others", "found"),
    [
        (["hub.jpg"] * 30, {"joined images": 30}),
        (["hub.jpg"] * 16 + [f"{n}.png" for n in range(14)], {"joined images": 16}),
        (["hub.jpg#1,2,3,4"] * 8 + ["hub.jpg"] * 8 + [f"{n}.png" for n in range(14)], {"joined images": 16}),
        ([f"{n + 1}.jpg" for n in range(30)], {"joined images": 30}),
        (["hub.jpg"] * 15 + [f"{n}.png" for n in range(15)], {}),
        ([f"{n}.png" for n in range(30)], {}),
    ],
)
def test_an_image_that_joins_most_cases_is_named(others, found):
    """Each case has an image of its own and another one, in either order."""
    rows = []
    for number, other in enumerate(others):
        keys = (f"{number}.jpg", other) if number % 2 else (other, f"{number}.jpg")
        rows.append((*keys, f"{number} one", f"{number} two"))
    task = quads_task(*rows)
    assert {name: count for name, count in counts(task).items() if name == "joined images"} == found
