"""Which cases a page shows if it cannot show all, how large it gets, and what its first sentence says."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from builders import json_table
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pyarrow.parquet import write_table

from vlgate.record.folder import RecordedRun
from vlgate.record.verdict import RunOutcome
from vlgate.report.page.answer import answer
from vlgate.report.page.page import write_page
from vlgate.report.page.rows import chosen, margins
from vlgate.types import Case, LazyImage, Match, Task

TABLES = Path(__file__).with_suffix(".tsv")

TASKS, CASES = 60, 200


def gate(decision, name="mine/a:acc_r", kind="gate"):
    return {"gate": name, "kind": kind, "decision": decision, "why": "the reason"}


@pytest.mark.parametrize(
    ("decisions", "why", "tone", "sentence", "tests"), json_table(TABLES, "the_answer_is_that_of_the_gates")
)
def test_the_answer_is_that_of_the_gates(decisions, why, tone, sentence, tests):
    outcome = RunOutcome(outcomes=tuple(decisions), unfinished=why, tests=tests)
    said = answer({"gates": list(map(gate, decisions))}, outcome)
    assert said.tone == tone
    assert said.sentence.endswith(sentence)
    assert len(said.reasons) == bool(why) + sum(decision in {"fail", "inconclusive"} for decision in decisions)


def slow_margin(headline, row):
    """The largest score of a false text minus that of the true one that a case compares it with."""
    if headline == "acc_r":
        return row[1] - row[0]
    if headline == "set_acc":
        return max(row[2:]) - min(row[:2])
    (right_0, wrong_0), (wrong_1, right_1) = row[:2], row[2:]
    return max(wrong_0 - right_0, wrong_1 - right_1, wrong_1 - right_0, wrong_0 - right_1)


@given(st.sampled_from(["acc_r", "set_acc", "group"]), st.lists(st.lists(st.integers(-5, 5), min_size=4, max_size=4)))
def test_a_margin_is_the_most_by_which_a_false_text_wins(headline, rows):
    k = 2 if headline == "acc_r" else 4
    scores = np.array([row[:k] for row in rows], dtype=np.float64).reshape(-1, k)
    found = margins(headline, scores, np.zeros(len(rows)))
    assert found.tolist() == [slow_margin(headline, row) for row in scores.tolist()]


@given(st.lists(st.integers(-5, 5), max_size=30).map(lambda row: np.array(row, np.float64)), st.integers(2, 12))
def test_the_worst_two_come_first_and_the_others_are_a_sample_in_order(margin, most):
    places = chosen(margin, most, "seed")
    assert len(set(places)) == len(places) == min(most, len(margin))
    assert [margin[place] for place in places[:2]] == sorted(margin, reverse=True)[:2]
    assert places[2:] == sorted(places[2:])
    assert places == chosen(margin, most, "seed")


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=30).map(lambda row: np.array(row, np.float64)),
    st.integers(2, 12),
    st.data(),
)
def test_what_must_be_shown_is_shown_beside_the_worst_and_the_sample(margin, most, data):
    kept = data.draw(st.lists(st.integers(0, len(margin) - 1), unique=True))
    places = chosen(margin, most, "seed", kept)
    assert set(kept) <= set(places)
    assert len(set(places)) == len(places) == max(min(most, len(margin)), len({*kept, *places[:2]}))
    assert [margin[place] for place in places[:2]] == sorted(margin, reverse=True)[:2]
    assert places[2:] == sorted(places[2:])


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The folder of a run with 60 tasks of 200 cases, all missed, on images that compress badly; and its tasks."""
    folder = tmp_path_factory.mktemp("many")
    coarse = Image.fromarray(np.random.default_rng(0).integers(0, 255, (60, 80, 3), dtype=np.uint8))
    noise = coarse.resize((400, 300))
    image = [LazyImage(key=f"{number}.jpg", load=noise.copy) for number in range(50)]
    tasks = [
        Task(
            id=f"mine/task-{name:02}",
            capability="foil",
            shape="pair",
            cases=tuple(
                Case(
                    id=f"{number:04}",
                    requests=tuple(Match(image=image[number % 50], text=f"{word} {number}") for word in ("cat", "dog")),
                    truths=(True, False),
                )
                for number in range(CASES)
            ),
        )
        for name in range(TASKS)
    ]
    rows = [(task.id, case) for task in tasks for case in task.cases]
    columns = {
        "task": [task for task, _ in rows],
        "case": [case.id for _, case in rows],
        "state": ["judged"] * len(rows),
        "right": [False] * len(rows),
        "images": [[request.image.key for request in case.requests] for _, case in rows],
        "texts": [[request.text for request in case.requests] for _, case in rows],
        "truths": [["true", "false"]] * len(rows),
        "scores": [[0.0, float(number % 97)] for number in range(len(rows))],
        "answers": pa.array([[None, None]] * len(rows), pa.list_(pa.string())),
        "tags": [json.dumps({})] * len(rows),
        "origin": [""] * len(rows),
        "why": ["the caption scores less"] * len(rows),
    }
    write_table(pa.table(columns), folder / "cases.parquet")
    metric = {"value": 0.0, "low": 0.0, "high": 0.1, "n": CASES, "deff": 1.0, "chance": 0.5}
    counts = dict.fromkeys(("unscored", "skipped", "deselected", "tied", "unread", "cut"), 0)
    figure = {"capability": "foil", "cases": CASES, "judged": CASES, "images": 50, "left_out": {}, "note": "", **counts}
    model = {"name": "m", "weights": "", "fingerprint": "", "adapters": {}, "notes": [], "checks": []}
    run = {"seed": 0, "limit": None, "ties": "strict", "thresholds": None, "protocols": [], "scenes": None}
    figures = {
        "schema": 2,
        "complete": True,
        "model": model,
        "run": run,
        "tasks": {task.id: {**figure, "metrics": {"acc_r": metric}, "slices": {}} for task in tasks},
        "averages": {},
        "gaps": {},
        "gates": [],
    }
    return RecordedRun(folder=folder, named="many", figures=figures, environment={}), tasks


def test_a_page_of_many_missed_cases_stays_small_and_says_what_it_leaves_out(many):
    run, tasks = many
    content = write_page(run, tasks)
    folder = run.folder
    cards = [card for section in content["sections"] for card in section.cards]
    assert len(cards) == 600
    assert all(len(section.cards) == 10 for section in content["sections"])
    assert (folder / "report.html").stat().st_size < 15_000_000
    page = (folder / "report.html").read_text(encoding="utf-8")
    left = sum(bool(picture.problem) for card in cards for picture in card.pictures)
    assert left > 0
    assert all(card.thumb.source for section in content["sections"] for card in section.cards[:2])
    assert "600 of 12,000 missed cases are shown: of each task the worst two and a sample" in content["left_out"][0]
    assert content["left_out"][1].endswith("images are left out, because the page has its most images")
    assert page.count("left out, because the page has its most images") >= left
    assert "the chart shows the first" not in page


def test_equal_runs_have_equal_pages(many):
    run, tasks = many
    pages = []
    for _ in range(2):
        write_page(run, tasks[:1])
        pages.append((run.folder / "report.html").read_bytes())
    assert pages[0] == pages[1]
