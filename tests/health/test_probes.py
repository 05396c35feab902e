import json
import random
from pathlib import Path

import numpy as np
import pytest
from builders import image, quads_task, question_case, tabled, task_of
from builders import texts_task as pairs
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.audit.blind_baseline import Probe, probe, solved
from vlgate.metrics.stats import wilson
from vlgate.metrics.text_learning import FOLDS, likeness
from vlgate.sources.benchmarks.valse import VALSE
from vlgate.sources.reading.source import ReadOptions
from vlgate.types import Ask, Case, Match, Read

REAL = Path(__file__).parents[3] / "shared/data"
needs_data = pytest.mark.skipif(not REAL.is_dir(), reason="needs ../shared/data")
RULES = ["constant", "longer text", "shorter text", "larger number", "smaller number", "text classifier"]


def questions(*rows, each=2):
    """Rows of (question, choices, answer), two per case or one."""
    asked = [Ask(image=image("a"), question=words, choices=choices) for words, choices, _ in rows]
    answers = [answer for *_, answer in rows]
    cases = (
        Case(id=f"{n}", requests=tuple(asked[n : n + each]), truths=tuple(answers[n : n + each]))
        for n in range(0, len(rows), each)
    )
    return task_of(cases, "x/questions", "invariance", "questions")


def values(task, **options):
    return {found.name: found.value for found in probe(task, **options)}


def test_the_rules_on_pairs_by_hand():
    rows = (
        ("a", "a long caption", "a foil"), ("b", "two cups", "three mugs"), ("c", "12 red cups", "9 red cups"),
        ("d", "same", "size"),
    )  # fmt: skip
    found = values(pairs(*rows))
    assert list(found) == RULES
    assert found["constant"] == 0.5
    assert found["longer text"] == (1 + 0 + 1 + 0.5) / 4
    assert found["shorter text"] == (0 + 1 + 0 + 0.5) / 4
    assert found["larger number"] == (0.5 + 0 + 1 + 0.5) / 4
    assert found["smaller number"] == (0.5 + 1 + 0 + 0.5) / 4


@tabled
def test_numbers_are_read_in_digits_and_words(caption, foil, larger):
    assert values(pairs(("a", caption, foil)))["larger number"] == larger


def test_the_caption_that_the_foils_are_edits_of_is_found_by_comparing_them():
    rows = (
        ("a", "two red cups here", "two blue cups here", "two red mugs here"),
        ("b", "a dog on a mat", "a cat on a mat", "a dog on a bed"),
    )
    found = values(pairs(*rows, shape="choice"))
    names = ("most words in common", "least edited", "most letters in common")
    assert [found[f"{name}, of its case"] for name in names] == [1.0] * 3
    assert found["fewest words in common, of its case"] == found["most edited, of its case"] == 0.0
    assert found["first in the alphabet, of its case"] == 1 / 4
    across = values(pairs(*[("a", "two red cups here", f"two {foil} here") for foil in ("blue cups", "red mugs")]))
    assert across["most words in common, about its image"] == 1.0
    assert "most words in common, of its case" not in across


def test_choices_are_compared_if_there_are_three_by_their_words_and_then_by_those_that_differ():
    choices = ("a red cup", "a blue cup", "a red mug")
    found = values(questions(("q", choices, "a red cup"), ("r", choices[::-1], "a red mug")))
    assert (found["choice most like the others"], found["choice least like the others"]) == (1 / 2, 0.0)
    choices = ("a red old cup", "a red cup", "a red hat", "a blue cup")  # two words exchanged, one put in
    assert values(questions(("q", choices, "a red cup")))["choice most like the others"] == 1.0


AMONG_OTHERS = [(f"{n // 10}", f"w{n // 10} a true{n // 10}", f"w{n // 10} a false{n // 10}") for n in range(200)]


def test_what_texts_have_in_common_does_not_depend_on_the_other_groups():
    drawn = random.Random(0)
    texts = ["".join(chr(drawn.choice((97, 32, 0x4E00 + n % 900))) for _ in range(n % 9)) for n in range(9_000)]
    groups = [texts[start : start + 3] for start in range(0, len(texts), 3)]
    by_hand = likeness([["ab ab", "ab c", "\ud800 c", ""]])
    assert by_hand[:, :2].tolist() == [[1, -4], [2, -4], [1, -4], [0, -4]]
    assert by_hand[:, 2].tolist() == [2 / 3, 3 / 4, 1 / 3, 0]
    assert likeness(groups).tolist() == [row for group in groups for row in likeness([group]).tolist()]


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        ([(str(n), f"thing{n % 7} here", f"thing{n % 5} nowhere") for n in range(100)], 1.0),
        ([(f"{n}", f"true{n}", f"false{n}") for n in range(12)], 0.5),
        (AMONG_OTHERS, 0.5),
        ([(f"{key}#{n % 10},0,9,9", *texts) for n, (key, *texts) in enumerate(AMONG_OTHERS)], 0.5),
    ],
    ids=["a word tells", "no word twice", "cases of its own image only", "regions of a photograph not shown itself"],
)
def test_the_classifier_finds_a_word_that_gives_the_foil_away_in_other_images(rows, value):
    assert values(pairs(*rows))["text classifier"] == value


def sides(seed, n, evenly):
    """Pairs that differ in left and right, each of which is true half of the time, exactly or on average."""
    draw = random.Random(seed)
    true = ["left", "right"] * (n // 2)
    true = draw.sample(true, n) if evenly else draw.choices(true, k=n)
    other = {"left": "right", "right": "left"}
    rows = [(draw.randrange(40), side, draw.randrange(40)) for side in true]
    texts = [[f"thing{a} is {one} of thing{b}" for one in (side, other[side])] for a, side, b in rows]
    return pairs(*[(f"{seed}-{number}", *both) for number, both in enumerate(texts)])


@pytest.mark.parametrize("evenly", [True, False])
@pytest.mark.parametrize("cases", [40, 120, 500])
def test_the_classifier_is_at_chance_without_a_clue_however_the_task_is_balanced(cases, evenly):
    found = [probe(sides(seed, cases, evenly))[-1].value for seed in range(30)]
    error = np.std(found, ddof=1) / 30**0.5
    assert abs(np.mean(found) - 0.5) < max(0.02, 3 * error)


def test_a_learnt_rule_below_chance_is_reported_as_chance():
    values = {chance: Probe(name="a", value=0.4, n=30, chance=chance, learnt=True).shown for chance in (0.5, 0.25)}
    assert values == {0.5: 0.5, 0.25: 0.4}
    assert Probe(name="a", value=0.4, n=30).shown == 0.4
    assert Probe(name="a", value=None, n=0, learnt=True).shown is None
    learnt = {one.name for one in probe(sides(0, 40, evenly=True)) if one.learnt}
    assert learnt == {"text classifier"}


def test_each_text_of_a_quad_is_true_once_and_false_once_so_no_rule_gains_and_a_set_is_four_comparisons():
    found = probe(quads_task(*((f"{n}-a", f"{n}-b", f"short {n}", f"much longer {n}") for n in range(20))))
    assert [(one.name, one.value, one.n) for one in found] == [(rule, 0.5, 40) for rule in RULES]
    for shape in ("set", "active_passive_set"):
        found = probe(pairs(("a", "aaaa", "bb", "ccc", "d"), shape=shape, truths=(True, True, False, False)))
        assert (found[1].name, found[1].value, found[1].n) == ("longer text", 3 / 4, 4)


def test_a_probe_that_cannot_be_run_says_why():
    few = probe(pairs(*[(str(n), "cup", "mug") for n in range(FOLDS - 1)]))
    assert few[-1].value is None
    assert "10 images, and there are 9" in few[-1].note
    rows = pairs(*[(str(n), "cup", "mug") for n in range(FOLDS)])
    assert probe(rows)[-1].value == 1.0


def test_the_rules_on_questions_by_hand():
    yes_no = ("yes", "no")
    rows = (
        ("q", yes_no, "yes"),
        ("r", yes_no, "no"),
        ("s", ("red", "blue"), "blue"),
        ("t", ("red", "blue"), "Blue"),
        ("u", ("no", "yes"), "no"),
        ("v", (), "no"),
    )
    names = ("always yes", "first choice", "last choice", "longest choice", "shortest choice", "most common answer")
    guess = (5 / 2 + 1 / 3) / 6  # nothing is known of other images
    right = (1 / 6, 2 / 6, 3 / 6, 2 / 6, 0, pytest.approx(guess))
    assert values(questions(*rows)) == dict(zip(names, right, strict=True))
    assert [one.chance for one in probe(questions(*rows))] == pytest.approx([guess] * 6)


def test_the_most_common_answer_is_that_of_the_other_images():
    def common(*rows):
        cases = [
            question_case(n, "what colour", answer, choices, image(name))
            for n, (name, choices, answer) in enumerate(rows)
        ]
        found = probe(task_of(cases, "x/questions", "invariance", "questions"))[-1]
        return found.value, found.shown

    both = ("red", "blue")
    assert common(("a", both, "red"), ("a", both, "red"), ("b", both, "red")) == (1.0, 1.0)
    assert common(("a", both, "red"), ("a", both, "red"), ("b", both, "blue")) == (0.0, 0.5)  # each by the other image
    assert common(("a", (), "red"), ("b", (), "red"), ("c", (), "blue"))[0] == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)


def test_rules_that_do_not_apply_to_the_questions_are_not_run():
    found = {one.name: one for one in probe(questions(("q", (), "red"), ("r", (), "blue")))}
    assert found["most common answer"].value == 0.5
    for name in ("always yes", "first choice", "last choice", "longest choice", "shortest choice"):
        assert found[name].value is None
        assert "not run" in found[name].note


def test_tasks_without_images_or_cases_have_no_probes():
    case = Case(id="1", requests=(Read(text="a"), Read(text="b")), truths=(True, False))
    for task in (task_of([case]), pairs(), questions(), singles()):
        assert probe(task) == ()


def test_a_large_task_is_probed_on_a_draw_that_is_always_the_same():
    task = pairs(*[(str(n), "a" * (n % 3), "b") for n in range(500)])
    found = probe(task, limit=60)
    assert found == probe(task, limit=60)
    assert {one.n for one in found} == {60}
    assert found[1].value != probe(pairs(*[(str(n), "a" * (n % 3), "b") for n in range(60)]))[1].value


texts = st.sampled_from(["cup", "red cup", "two cups", "3 cups", "a tin cup"])


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcd"), texts, texts), min_size=1, max_size=30))
def test_exchanging_captions_and_foils_mirrors_every_probe(rows):
    found = values(pairs(*rows))
    mirrored = values(pairs(*[(key, foil, caption) for key, caption, foil in rows]))
    for name in RULES[:-1]:
        assert found[name] + mirrored[name] == pytest.approx(1)
        assert 0 <= found[name] <= 1


@pytest.mark.parametrize(("value", "n", "solves"), [
    (0.99, 2000, True), (1.0, 30, True), (1.0, 5, False), (0.78, 100, False), (0.78, 20_000, True),
])  # fmt: skip
def test_a_task_is_solved_if_the_interval_is_above_three_quarters(value, n, solves):
    best = Probe(name="shorter text", value=value, n=n)
    others = [Probe(name="constant", value=0.5, n=n), Probe(name="text classifier", value=None, n=n)]
    assert solved([*others, best]) == (best if solves else None)
    assert (wilson(value, n, 0.975)[0] > 0.75) is solves


def test_many_probes_need_more_to_solve_a_task_and_nothing_solves_one_without():
    best = Probe(name="best", value=0.87, n=60)
    rest = [Probe(name=f"{n}", value=0.5, n=60) for n in range(20)]
    assert solved([best]) == best
    assert solved([best, *rest]) is solved([]) is solved([Probe(name="text classifier", value=None, n=9)]) is None
    assert solved([Probe(name="constant", value=0.5, n=900)], threshold=0.4) is not None


def test_the_length_of_a_choice_can_give_the_answer_away():
    """Of two choices as long as each other none is the longest, and a question without one is a miss."""
    rows = [("q", ("on the table", "under it"), "on the table")] * 9 + [("r", ("cup", "mug"), "cup")]
    found = values(questions(*rows, each=1))
    assert (found["longest choice"], found["shortest choice"]) == (0.9, 0.0)
    turned = [("q", ("on the table", "it", "in it"), "it")] * 40
    assert solved(probe(questions(*turned, each=1))).name in {"shortest choice", "most common answer"}


def singles(*rows):
    """Rows of a text and whether it is true; a question, if the truth is yes or no."""
    cases = []
    for number, (text, truth) in enumerate(rows):
        case = question_case(number, text, truth, picture=image("a"))
        asked = Match(image=image("a"), text=text)
        cases.append(case if isinstance(truth, str) else Case(id=case.id, requests=(asked,), truths=(truth,)))
    return task_of(cases, "x/single", shape="single")


@pytest.mark.parametrize("truths", [("yes", "no"), (True, False)])
def test_the_rules_on_single_texts_by_hand(truths):
    yes, no = truths
    found = probe(singles(("a long one", yes), ("short", yes), ("long too", no), ("a", no), ("short", no)))
    longer = (3 + 1 + 0.5) / 6
    assert [(one.name, one.value, one.n) for one in found] == [
        ("always yes", 2 / 5, 5), ("always no", 3 / 5, 5), ("longer text", longer, 2), ("shorter text", 1 - longer, 2),
    ]  # fmt: skip


def test_single_texts_whose_length_tells_the_truth_are_solved():
    rows = [("a text that is long", True)] * 30 + [("a text", False)] * 30
    turned = [(text, not truth) for text, truth in rows]
    names = [(best := solved(probe(singles(*some)))) and best.name for some in (rows, turned, rows + turned)]
    assert names == ["longer text", "shorter text", None]


def test_single_texts_that_are_all_true_have_no_rule_of_length():
    found = {one.name: one for one in probe(singles(*[("a cup", True)] * 40))}
    assert (found["always yes"].value, found["longer text"].value) == (1.0, None)
    assert "not run" in found["shorter text"].note


@pytest.mark.slow
@needs_data
def test_the_shortcuts_of_valse():
    reading = ReadOptions(folders=(REAL,), seed=0, wanted=lambda _: True, protocols=frozenset())
    tasks = {task.id.removeprefix("valse/"): task for task in VALSE.read(reading)}
    best = {name: round(probe(task)[-1].value, 2) for name, task in tasks.items()}
    expected = {"existence": 0.77, "plurality": 0.73, "counting-balanced": 0.55, "actant-swap": 0.94}
    assert best == pytest.approx(expected | {"coreference-standard": 0.55, "foil-it": 0.76}, abs=0.02)
    by = {name: found.name for name, task in tasks.items() if (found := solved(probe(task)))}
    assert by == {"actant-swap": "text classifier"}


@needs_data
@pytest.mark.parametrize(("file", "shorter", "by"), [("add_obj", 0.99, "shorter text"), ("swap_obj", 0.55, None)])
def test_the_shortcuts_of_sugarcrepe(file, shorter, by):
    records = json.loads((REAL / f"sugarcrepe/data/{file}.json").read_text(encoding="utf-8")).values()
    found = probe(pairs(*[(r["filename"], r["caption"], r["negative_caption"]) for r in records]))
    assert found[2].value == pytest.approx(shorter, abs=0.01)
    best = solved(found)
    assert (best and best.name) == by
