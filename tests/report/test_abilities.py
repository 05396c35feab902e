"""What the model can and cannot do, from the intervals of the headline metrics."""

from dataclasses import replace
from pathlib import Path

import pytest
from builders import json_table

from vlgate.gates.records import Decision, Gate
from vlgate.record.results import RunResult
from vlgate.report.abilities import HEADING, abilities, ability_lines
from vlgate.types import Metric

TABLES = Path(__file__).with_suffix(".tsv")


@pytest.fixture
def result(passing):
    """The result of a pair task, which has the chance level 0.5, with figures of the test's choice."""

    def made(low, value, high, task="scenes/existence", blind=None):
        [one] = passing.results
        figures = {"acc_r": Metric(value=value, low=low, high=high, n=60)}
        text_only = {} if blind is None else {"acc_r": Metric(value=blind, low=0.0, high=1.0, n=60)}
        return replace(one, task=replace(one.task, id=task), metrics=figures, blind=text_only, chance={"acc_r": 0.5})

    return made


@pytest.mark.parametrize(
    ("low", "value", "high", "blind", "word"),
    json_table(TABLES, "the_middles_between_chance_or_text_alone_and_no_miss_decide"),
)
def test_the_middles_between_chance_or_text_alone_and_no_miss_decide(result, low, value, high, blind, word):
    run = RunResult(results=(result(low, value, high, blind=blind),), decisions=())
    assert [ability.word for ability in abilities(run)] == [word]


def test_a_known_limit_that_holds_says_cannot(result):
    limit = Gate(task="scenes/existence", metric="acc_r", max=0.9, kind="limit")
    for outcome, word in (("cannot", "cannot"), ("not run", "can")):
        decided = Decision(gate=limit, outcome=outcome, why="")
        run = RunResult(results=(result(0.76, 0.8, 0.85),), decisions=(decided,))
        assert [ability.word for ability in abilities(run)] == [word]


def test_each_line_has_the_figures_and_the_question_and_what_is_lacking_comes_first(result):
    tasks = (result(0.9, 0.95, 0.99), result(0.4, 0.5, 0.6, task="scenes/relations", blind=0.55))
    counts, heading, first, second = ability_lines(RunResult(results=tasks, decisions=()))
    assert counts == "2 tasks: 1 cannot, 1 can"
    assert heading == HEADING
    assert first.startswith("cannot   scenes/relations  0.50 (0.40-0.60), n = 60, text only 0.55  ")
    assert second.startswith("can      scenes/existence  0.95 (0.90-0.99), n = 60, chance 0.50 ")
    assert second.endswith("Does a drawn image show an object, or not?")


def test_a_narrow_terminal_gets_the_figures_first_and_then_what_words_it_has_room_for(result):
    run = RunResult(results=(result(0.9, 0.95, 0.99),), decisions=())
    shown = {width: ability_lines(run, width)[-1] for width in (52, 80, 90, 200)}
    assert shown[52] == "can      scenes/existence  0.95, n = 60, chance 0.50"
    assert shown[80] == "can      scenes/existence  0.95 (0.90-0.99), n = 60, chance 0.50"
    assert shown[90].endswith("chance 0.50  Does a drawn image ...")
    assert shown[200].endswith("chance 0.50  Does a drawn image show an object, or not?")
    assert all(len(line) <= width for width in shown for line in ability_lines(run, width))


def test_a_run_without_results_says_nothing():
    assert ability_lines(RunResult(results=(), decisions=())) == []
