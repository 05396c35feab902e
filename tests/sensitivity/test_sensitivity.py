"""Which task catches which defect, on a part of the drawn tasks, and what is said about it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from vlgate.cli import main
from vlgate.errors import UnknownNameError
from vlgate.models.reference.defects import SAYS
from vlgate.record.options import Options
from vlgate.sources.scenes import TASKS
from vlgate.studies.sensitivity.matrix import Matrix, asked, claims
from vlgate.studies.sensitivity.pages import lines, page, record
from vlgate.types import Metric

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


def changed(matrix, task, defect, **change):
    cell = replace(matrix.cells[task, defect], **change)
    return replace(matrix, cells={**matrix.cells, (task, defect): cell})


def metric(value, low, high):
    return Metric(value=value, low=low, high=high, n=60)


@pytest.mark.parametrize(
    ("defect", "figure", "says"),
    [
        ("negation-deaf", metric(1.0, 0.94, 1.0), "claims to catch negation-deaf, and does not"),
        ("negation-deaf", metric(0.99, 0.91, 0.998), "claims to catch negation-deaf, and does not"),
        ("negation-deaf", metric(0.9, 0.8, 0.96), "claims to catch negation-deaf, and does not"),
        ("negation-deaf", metric(0.9, 0.8, 0.95), ""),
        ("colour-blind", metric(0.9, 0.8, 0.95), "catches colour-blind, and does not claim it"),
        ("colour-blind", metric(0.9, 0.8, 0.96), ""),
        ("colour-blind", metric(0.96, 0.88, 0.99), ""),
    ],
)
def test_wrong_cells(found, defect, figure, says):
    wrong = changed(found, "scenes/existence", defect, metric=figure)
    assert [says in problem for problem in wrong.problems] == [True] * bool(says)
    shown = list(lines(wrong))
    assert shown[-1 - bool(says)] == f"{len(wrong.cells)} cells, {len(wrong.problems)} not as claimed"
    [row] = [line for line in shown if line.startswith(defect)]
    assert ("!" in row) == bool(says)
    assert page(wrong).count('wrong"') == bool(says)


def test_a_figure_is_held_against_the_intact_one(found):
    lower = changed(found, "scenes/existence", "colour-blind", metric=metric(0.9, 0.8, 0.95), intact=0.92)
    assert lower.problems == []


def test_a_figure_that_may_be_below_the_intact_one_is_marked(found):
    unclear = changed(found, "scenes/existence", "colour-blind", metric=metric(0.9, 0.8, 0.96))
    assert unclear.problems == []
    assert unclear.unclear == found.unclear + 1
    shown = list(lines(unclear))
    [row] = [line for line in shown if line.startswith("colour-blind")]
    assert " 0.90?" in row
    assert "? scenes/existence        0.90 (0.80 - 0.96), n = 60  colour-blind" in shown
    assert shown[-2].startswith(f"{unclear.unclear} unclear (?)")
    assert "0.90?<small>0.80-0.96, n 60</small>" in page(unclear)
    cells = {(one["task"], one["defect"]): one for one in record(unclear)["cells"]}
    cell = cells["scenes/existence", "colour-blind"]
    assert (cell["caught"], cell["unclear"], cell["n"]) == (False, True, 60)


def test_what_some_cases_need_may_be_caught_or_not():
    known = claims()
    assert known.claimed("scenes/visual-inv", "colour-blind") is None
    assert known.claimed("scenes/visual-inv", "shape-blind") is True
    assert all(known.some[task].isdisjoint(known.needs[task]) for task in known.some)


def test_no_reply_is_no_cell():
    empty = Matrix(tasks=("a/b",), defects=("constant",), cells={})
    assert next(iter(lines(empty))) == "defect       1"
    assert "<td></td>" in page(empty)


def test_claims_that_cannot_be(tmp_path):
    file = tmp_path / "claims.toml"
    good = Path("vlgate/studies/sensitivity/claims.toml")
    text = (Path(__file__).parents[2] / good).read_text(encoding="utf-8")
    file.write_text(text.replace('"colour-blind"', '"color-blind"'), encoding="utf-8")
    with pytest.raises(UnknownNameError, match="'colour-blind'"):
        claims(file)
    file.write_text(text.replace('["negation-deaf"]', '["negation-deaf", "roles"]'), encoding="utf-8")
    with pytest.raises(ValueError, match="'roles' breaks"):
        claims(file)
    file.write_text(text.replace('["negation-deaf"]', "[]"), encoding="utf-8")
    with pytest.raises(ValueError, match="no faculty names the defect 'negation-deaf'"):
        claims(file)
    file.write_text(text.replace('["modifiers", "kinds"]', '["modifier", "kinds"]'), encoding="utf-8")
    with pytest.raises(UnknownNameError, match="'modifiers'"):
        claims(file)


def test_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    some = ["--tasks", "scenes/existence,scenes/actant-swap", "--defects", "negation-deaf,roles", "--limit", "30"]
    assert main(["sensitivity", *some, "--out", "found"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split() == ["defect", "1", "2"]
    assert shown[1].split()[0] == "negation-deaf"
    assert shown[-1] == "4 cells, 0 not as claimed"
    assert {file.name for file in (tmp_path / "found").iterdir()} == {"sensitivity.html", "sensitivity.json"}
    assert main(["sensitivity", "--list", "--defects", "ro*"]) == 0
    assert capsys.readouterr().out == f"roles: {SAYS['roles']}\n"
    assert main(["sensitivity", "--defects", "rolls"]) == 4
    assert "'roles'" in capsys.readouterr().err
    assert main(["sensitivity", "--limit", "0"]) == 4
    assert main(["sensitivity", *some, "--seed", "0,1,2", "--out", "seeds"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in shown if line.startswith("seed")] == ["seed 0", "seed 1", "seed 2"]
    assert shown.count("4 cells, 0 not as claimed") == 3
    cells = json.loads((tmp_path / "seeds" / "sensitivity.json").read_text(encoding="utf-8"))["cells"]
    assert [cell["seed"] for cell in cells] == [0] * 4 + [1] * 4 + [2] * 4
    assert (tmp_path / "seeds" / "sensitivity.html").read_text(encoding="utf-8").count("<h2>Seed ") == 3
    with pytest.raises(SystemExit):
        main(["sensitivity", "--seed", "one"])


def test_tasks_about_other_images(tmp_path, capsys, monkeypatch):
    """The reader sees no photographs: defects of reading are told from the texts, and other defects of it are not."""
    monkeypatch.chdir(tmp_path)
    foils = {"1": "a blue ball", "2": "a blue cup", "3": "a green cup", "4": "a red ball"}
    cases = [
        {"task": "mine/all", "id": name, "image": f"{name}.jpg", "caption": "a red cup", "foil": foil}
        for name, foil in foils.items()
    ]
    (tmp_path / "data" / "images").mkdir(parents=True)
    (tmp_path / "data" / "cases.jsonl").write_text("\n".join(map(json.dumps, cases)) + "\n", encoding="utf-8")
    given = ["--data", "data", "--tasks", "mine/all", "--defects", "prefers-long,colour-blind,count-blind,large-only"]
    assert main(["sensitivity", *given, "--out", "found"]) == 0
    shown = capsys.readouterr().out
    assert "3 cells, 0 not as claimed\nmine/all: colour-blind guesses 50%, reaches 0.75 (" in shown
    assert shown.count("guesses") == 1
    cells = json.loads((tmp_path / "found" / "sensitivity.json").read_text(encoding="utf-8"))["cells"]
    assert {cell["defect"]: cell["guessed"] for cell in cells} == {
        "prefers-long": None,
        "colour-blind": 0.5,
        "count-blind": 0.0,
    }
