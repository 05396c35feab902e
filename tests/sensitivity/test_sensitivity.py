"""Which task catches which defect, what texts say to a model with one, and what is said about it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from builders import image, pair_case, question_case, table, task_of, texts_task, write_lines

from vlgate.errors import UnknownNameError
from vlgate.models.reference.defects import SAYS
from vlgate.record.options import Options
from vlgate.sources.scenes import TASKS
from vlgate.studies.sensitivity.matrix import Matrix, asked, claims, labelled, lines, page, record
from vlgate.studies.sensitivity.readings import READINGS, alike, named, said
from vlgate.types import Case, Match, Metric

# One of each shape, and every faculty that is claimed at all.
SOME = [
    *("existence", "counting-small", "actant-swap", "coreference", "foil-it", "attributes", "word-swap", "depth"),
    *("attribute-state", "active-passive", "relative-clause", "visual-inv"),
]
NOT_CLAIMED = {"synonyms"}


@pytest.fixture(scope="module")
def found():
    suite = tuple(f"scenes/{name}" for name in SOME)
    return asked(Options(folder=Path.cwd(), suite=suite, thresholds=None, results=Path("none")), tuple(SAYS))


@pytest.mark.slow
def test_every_cell_is_as_claimed(found):
    assert found.problems == []
    assert len(found.cells) == len(SOME) * len(SAYS)


@pytest.mark.slow
def test_every_defect_is_caught_by_a_task_and_passed_by_another(found):
    by_defect = {name: [cell.caught for (_, defect), cell in found.cells.items() if defect == name] for name in SAYS}
    assert {name for name, caught in by_defect.items() if not any(caught)} == NOT_CLAIMED
    always = {"constant", "random", "prefers-short", "prefers-long", "prefers-frequent", "blind", "always-yes"}
    assert {name for name, caught in by_defect.items() if all(caught)} == always | {"centre-only"}


def test_the_claims_are_about_all_drawn_tasks():
    known = claims()
    assert set(known.needs) == set(TASKS)
    assert set(known.faculties) == set(SAYS)
    assert known.claimed("scenes/counting-adversarial", "blind") is False
    assert known.claimed("scenes/visual-inv", "colour-blind") is None  # some cases need it
    assert known.claimed("scenes/visual-inv", "shape-blind") is True
    assert all(known.some[task].isdisjoint(known.needs[task]) for task in known.some)


def changed(matrix, task, defect, **change):
    cell = replace(matrix.cells[task, defect], **change)
    return replace(matrix, cells={**matrix.cells, (task, defect): cell})


def metric(value, low, high):
    return Metric(value=value, low=low, high=high, n=60)


MISSES, CATCHES = "claims to catch negation-deaf, and does not", "catches colour-blind, and does not claim it"


@pytest.mark.slow
@pytest.mark.parametrize(("defect", "figure", "says"), [
    ("negation-deaf", (1.0, 0.94, 1.0), MISSES), ("negation-deaf", (0.99, 0.91, 0.998), MISSES),
    ("negation-deaf", (0.9, 0.8, 0.96), MISSES), ("negation-deaf", (0.9, 0.8, 0.95), ""),
    ("colour-blind", (0.9, 0.8, 0.95), CATCHES), ("colour-blind", (0.9, 0.8, 0.96), ""),
    ("colour-blind", (0.96, 0.88, 0.99), ""),
])  # fmt: skip
def test_wrong_cells(found, defect, figure, says):
    wrong = changed(found, "scenes/existence", defect, metric=metric(*figure))
    assert [says in problem for problem in wrong.problems] == [True] * bool(says)
    shown = list(lines(wrong))
    assert shown[-1 - bool(says)] == f"{len(wrong.cells)} cells, {len(wrong.problems)} not as claimed"
    [row] = [line for line in shown if line.startswith(defect)]
    assert ("!" in row) == bool(says)
    assert page(wrong).count('wrong"') == bool(says)


@pytest.mark.slow
def test_a_figure_is_held_against_the_intact_one_and_marked_if_it_may_be_below(found):
    lower = changed(found, "scenes/existence", "colour-blind", metric=metric(0.9, 0.8, 0.95), intact=0.92)
    assert lower.problems == []
    unclear = changed(found, "scenes/existence", "colour-blind", metric=metric(0.9, 0.8, 0.96))
    assert unclear.problems == []
    assert unclear.unclear == found.unclear + 1
    shown = list(lines(unclear))
    [row] = [line for line in shown if line.startswith("colour-blind")]
    assert " 0.90?" in row
    assert "? scenes/existence        0.90 (0.80 - 0.96), n = 60  colour-blind" in shown
    assert shown[-2].startswith(f"{unclear.unclear} unclear (?)")
    empty = Matrix(tasks=("a/b",), defects=("constant",), cells={})  # without a reply there is no cell
    assert (next(iter(lines(empty))), "<td></td>" in page(empty)) == ("defect       1", True)
    assert "0.90?<small>0.80-0.96, n 60</small>" in page(unclear)
    cells = {(one["task"], one["defect"]): one for one in record(unclear)["cells"]}
    cell = cells["scenes/existence", "colour-blind"]
    assert (cell["caught"], cell["unclear"], cell["n"]) == (False, True, 60)


def test_claims_that_cannot_be(tmp_path):
    file = tmp_path / "claims.toml"
    text = (Path(__file__).parents[2] / "vlgate/studies/sensitivity/claims.toml").read_text(encoding="utf-8")
    for old, new, error, says in (
        ('"colour-blind"', '"color-blind"', UnknownNameError, "'colour-blind'"),
        ('["negation-deaf"]', '["negation-deaf", "roles"]', ValueError, "'roles' breaks"),
        ('["negation-deaf"]', "[]", ValueError, "no faculty names the defect 'negation-deaf'"),
        ('["modifiers", "kinds"]', '["modifier", "kinds"]', UnknownNameError, "'modifiers'"),
    ):
        file.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(error, match=says):
            claims(file)


def test_the_command(vlgate, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    some = ["--suite", "scenes/existence,scenes/actant-swap", "--defects", "negation-deaf,roles", "--limit", "30"]
    shown = vlgate("analyse", "sensitivity", *some, "--out", "found").splitlines()
    assert shown[0].split() == ["defect", "1", "2"]
    assert shown[1].split()[0] == "negation-deaf"
    assert shown[-1] == "4 cells, 0 not as claimed"
    assert {file.name for file in (tmp_path / "found").iterdir()} == {"sensitivity.html", "sensitivity.json"}
    assert vlgate("analyse", "sensitivity", "--list", "--defects", "ro*") == f"roles: {SAYS['roles']}\n"
    assert "'roles'" in vlgate("analyse", "sensitivity", "--defects", "rolls", status=4)
    vlgate("analyse", "sensitivity", "--limit", "0", status=4)
    shown = vlgate("analyse", "sensitivity", *some, "--seed", "0,1,2", "--out", "seeds").splitlines()
    assert [line for line in shown if line.startswith("seed")] == ["seed 0", "seed 1", "seed 2"]
    assert shown.count("4 cells, 0 not as claimed") == 3
    cells = json.loads((tmp_path / "seeds" / "sensitivity.json").read_text(encoding="utf-8"))["cells"]
    assert [cell["seed"] for cell in cells] == [0] * 4 + [1] * 4 + [2] * 4
    assert (tmp_path / "seeds" / "sensitivity.html").read_text(encoding="utf-8").count("<h2>Seed ") == 3
    with pytest.raises(SystemExit):
        vlgate("analyse", "sensitivity", "--seed", "one")


def test_tasks_about_other_images(vlgate, tmp_path, monkeypatch):
    """The reader sees no photographs: defects of reading are told from the texts, and other defects of it are not."""
    monkeypatch.chdir(tmp_path)
    cases = [
        {"task": "mine/all", "id": name, "image": f"{name}.jpg", "caption": "a red cup", "foil": foil}
        for name, foil in zip("1234", ("a blue ball", "a blue cup", "a green cup", "a red ball"), strict=True)
    ]
    (tmp_path / "data" / "images").mkdir(parents=True)
    write_lines(tmp_path / "data" / "cases.jsonl", cases)
    given = ["--data", "data", "--suite", "mine/all", "--defects", "prefers-long,colour-blind,count-blind,large-only"]
    shown = vlgate("analyse", "sensitivity", *given, "--out", "found")
    assert "3 cells, 0 not as claimed\nmine/all: colour-blind guesses 50%, reaches 0.75 (" in shown
    assert shown.count("guesses") == 1
    cells = json.loads((tmp_path / "found" / "sensitivity.json").read_text(encoding="utf-8"))["cells"]
    guessed = {"prefers-long": None, "colour-blind": 0.5, "count-blind": 0.0}
    assert {cell["defect"]: cell["guessed"] for cell in cells} == guessed


ALIKE, NOT_ALIKE = (table(Path(__file__).with_name(f"{name}.tsv")) for name in ("alike", "not_alike"))


@pytest.mark.parametrize(("defect", "one", "other"), [*ALIKE, *NOT_ALIKE])
def test_only_the_broken_faculty_tells_some_texts_apart(defect, one, other):
    assert alike(defect, one, other) == ((defect, one, other) in ALIKE)
    assert said(one) != said(other)


def test_every_reading_is_tried_and_is_a_defect():
    assert {defect for defect, *_ in ALIKE} == {defect for defect, *_ in NOT_ALIKE} == set(READINGS)
    assert set(READINGS) < set(SAYS)


def test_what_an_intact_model_does_not_tell_apart_shows_no_defect():
    assert said("There's a dog.") != said("")
    assert not any(alike(defect, "A dog runs.", "the dog run") for defect in READINGS)
    words = [word for word, names in named("A metal bowl, a teddy bear and swimmers.") if names]
    assert words == ["bowl", "teddy bear", "swimmer"]


def test_a_guess_counts_half():
    foils = ["A man chases a dog.", "A man chases a dog.", "A dog chases a cat.", "A dog bites a man."]
    task = task_of(pair_case(number, "A dog chases a man.", foil) for number, foil in enumerate(foils))
    found = labelled(task, "bag-of-words")
    assert (found.guessed, found.metric.value) == (0.5, 0.75)
    assert found.metric.low < 0.75 < found.metric.high
    assert labelled(task, "negation-deaf").metric.value == 1.0


def test_texts_are_compared_about_one_image_and_in_one_case_only():
    one, other = "A dog chases a man.", "A cat sleeps."
    assert labelled(texts_task(("same", one, other), ("same", other, one)), "bag-of-words").metric.value == 1.0
    texts = ("A dog chases a man.", "A man chases a dog.")
    requests = tuple(Match(image=image(name), text=text) for name in "ab" for text in texts)
    task = task_of([Case(id="1", requests=requests, truths=(True, False, False, True))], shape="quad")
    assert labelled(task, "count-blind").metric.value == 1.0
    found = labelled(task, "bag-of-words")
    assert (found.guessed, found.metric.value) == (1.0, 0.5**4)
    apart = Case(id="1", requests=(requests[0], requests[3]), truths=(True, False))
    assert labelled(task_of([apart]), "bag-of-words").guessed == 0.0


def test_a_set_whose_passive_is_read_as_active():
    true = ("The dog chases the man.", "The man is chased by the dog.")
    false = ("The man chases the dog.", "The dog is chased by the man.")
    task = texts_task(("a", *true, *false), shape="active_passive_set", truths=(True, True, False, False))
    assert labelled(task, "active-passive").metric.value < 0.5
    assert labelled(task, "colour-blind").metric.value == 1.0


def test_questions_and_no_cases_have_no_label_of_a_text():
    for cases in ([question_case(1, "Is there a dog?")], []):
        assert labelled(task_of(cases, shape="single"), "colour-blind") is None
