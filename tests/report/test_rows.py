import re
from dataclasses import replace
from pathlib import Path

import pytest
from builders import json_table

from vlgate.audit.flaws import Flaw
from vlgate.gates.records import Decision, Gate
from vlgate.metrics.macro import Mean
from vlgate.record.model_card import ModelCard
from vlgate.record.results import RunResult
from vlgate.report.abilities import abilities, ability_lines
from vlgate.report.ci.release import release
from vlgate.report.remarks import average_lines, published_lines, published_lines_of
from vlgate.report.rows import HEADINGS, chance_line, rows
from vlgate.report.terminal import Screen, closing_text, terminal_table
from vlgate.types import Metric


def cells(row):
    return dict(zip(HEADINGS, row.cells, strict=True))


def test_a_row_shows_the_interval_that_the_gate_was_judged_by(run):
    [decision] = [decision for decision in run.decisions if decision.gate.metric == "auroc"]
    [cell] = [cell for cell in map(cells, rows(run)) if cell["metric"] == "auroc"]
    assert cell["interval"] == f"{decision.metric.low:.3f} - {decision.metric.high:.3f}"
    assert decision.metric.low < run.results[0].metrics["auroc"].low
    assert cell["threshold"] == ">= 0.25 and <= 0.5"


def test_a_gate_on_a_metric_that_the_model_does_not_give_has_a_row_without_figures(run):
    [decision] = [decision for decision in run.decisions if decision.gate.metric == "auroc"]
    silent = replace(decision, metric=None, outcome="inconclusive")
    [cell] = map(cells, rows(RunResult(results=run.results[:1], decisions=(silent,)))[1:])
    assert (cell["metric"], cell["n"], cell["value"], cell["interval"]) == ("auroc", "38", "-", "-")
    assert cell["decision"] == "inconclusive"


def renamed(run, name, cases):
    """The first foil task under another name, with its figures over so many cases."""
    result = run.results[0]
    metrics = {metric: replace(found, n=cases) for metric, found in result.metrics.items()}
    return replace(result, task=replace(result.task, id=name), metrics=metrics)


@pytest.mark.parametrize(("cases", "marked"), [(29, True), (30, False)])
def test_a_figure_over_few_cases_beside_a_published_one_is_marked(run, cases, marked):
    [line] = published_lines(RunResult(results=(renamed(run, "valse/existence", cases),), decisions=()))
    assert ("over fewer than 30 cases" in line) == marked


def test_an_average_says_how_many_of_its_tasks_have_few_cases(run):
    results = [renamed(run, f"valse/{name}", n) for name, n in (("existence", 29), ("plurality", 30), ("foil-it", 4))]
    averages = {"valse:acc_r": Mean(value=0.5, tasks=3, of=11), "vl-checklist:acc_r": Mean(value=0.5, tasks=1, of=40)}
    first, second = average_lines(RunResult(results=tuple(results), decisions=(), averages=averages))
    assert first.endswith("over 3 of 11 tasks (over fewer than 30 cases in 2 of them)")
    assert second.endswith("over 1 of 40 tasks")


@pytest.mark.parametrize(("least", "warned"), [(0.49, True), (0.5, True), (0.51, False), (None, False)])
def test_a_gate_that_guessing_reaches_says_so(run, least, warned):
    gate = Gate(task="scenes/existence", metric="acc_r", min=least, max=0.9)
    line = chance_line(run, replace(run.decisions[0], gate=gate))
    assert (line is not None) == warned
    if line is not None:
        assert line.startswith("scenes/existence:acc_r: ")
        assert "not above chance, 0.500" in line


def beside(task, shape, judged, **values):
    metrics = {name: Metric(value=value, low=0.0, high=1.0, n=judged) for name, value in values.items()}
    return task, shape, metrics


def test_a_published_figure_stands_with_where_it_is_from_and_how_many_cases_it_is_of():
    [line] = published_lines_of(*beside("colorswap/test", "quad", 300, text=0.4, image=0.2, group=0.12))
    assert line == (
        "colorswap/test: group 0.120 here (n = 300); published (ColorSwap, abstract, 300 cases): BLIP ITM 0.870, "
        "SigLIP 0.300, CLIP 0.120; published (ColorSwap, vlm_results, 300 cases): GPT-4V 0.720, LLaVA 0.420, "
        "LLaVAR 0.083"
    )


def test_another_metric_stands_there_if_the_headline_has_no_published_figure():
    [line] = published_lines_of(*beside("aro/relation", "pair", 23937, acc_r=0.6, macro=0.59))
    assert line.startswith("aro/relation: macro 0.590 here (n = 23937); published (ARO, issue 33): NegCLIP 0.802, CLIP")
    [line] = published_lines_of(*beside("pope/coco-popular", "single", 3000, accuracy=0.8, f1=0.8))
    assert line.startswith("pope/coco-popular: f1 0.800 here")
    assert published_lines_of(*beside("mine/pairs", "pair", 30, acc_r=0.8)) == []


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
    json_table(Path(__file__).with_suffix(".tsv"), "the_middles_between_chance_or_text_alone_and_no_miss_decide"),
)
def test_the_middles_between_chance_or_text_alone_and_no_miss_decide(result, low, value, high, blind, word):
    run = RunResult(results=(result(low, value, high, blind=blind),), decisions=())
    assert [ability.word for ability in abilities(run)] == [word]


def test_a_known_limit_that_holds_says_weak(result):
    limit = Gate(task="scenes/existence", metric="acc_r", max=0.9, kind="limit")
    for outcome, word in (("cannot", "weak"), ("not run", "strong")):
        decided = Decision(gate=limit, outcome=outcome, why="")
        run = RunResult(results=(result(0.76, 0.8, 0.85),), decisions=(decided,))
        assert [ability.word for ability in abilities(run)] == [word]


def test_a_narrow_terminal_gets_the_figures_first_and_then_what_words_it_has_room_for(result):
    run = RunResult(results=(result(0.9, 0.95, 0.99),), decisions=())
    shown = {width: ability_lines(run, width)[-1] for width in (52, 80, 90, 200)}
    assert shown[52] == "strong   scenes/existence  0.95, n = 60, chance 0.50"
    assert shown[80] == "strong   scenes/existence  0.95 (0.90-0.99), n = 60, chance 0.50"
    assert shown[90].endswith("chance 0.50  Does a drawn image ...")
    assert shown[200].endswith("chance 0.50  Does a drawn image show an object, or not?")
    assert all(len(line) <= width for width in shown for line in ability_lines(run, width))


CARD = ModelCard(name="clip", weights="a/b", fingerprint="0a1b", adapters={})
ESCAPE = "\x1b"


def shown(run, width=None, colour=False, status=1):
    return closing_text(run, release(run, CARD), "tiny-lxmert", status, Screen(width=width, colour=colour))


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_a_terminal_shows_the_columns_that_it_has_room_for(run, width):
    lines = terminal_table(run, Screen(width=width)).splitlines()
    head, *body = (line for line in lines if not line.startswith(("  ", "(in ")))
    missing = {*HEADINGS, "ability"} - {"capability"} - set(head.split())
    assert max(map(len, (head, *body))) <= max(width, 90)
    assert bool(missing) == (width < 110)
    assert {"task", "value", "interval", "n", "threshold", "decision"} <= set(head.split())


def test_there_are_escape_codes_only_if_colour_is_asked_for(run):
    assert ESCAPE not in shown(run)
    assert ESCAPE in shown(run, colour=True)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown(run, colour=True))
    assert [line.rstrip() for line in plain.splitlines()] == shown(run).splitlines()


def test_a_decision_that_has_left_the_screen_is_repeated(run, passing):
    long = shown(replace(run, notes=tuple(f"note {number}" for number in range(30)))).splitlines()
    assert long[0] == long[-1]
    short = shown(passing, status=0).splitlines()
    assert short[0] == "PASS: tiny-lxmert may be released: 1 of 1 gate passes (exit status 0)"
    assert short.count(short[0]) == 1


def test_each_gate_that_did_not_pass_is_a_line_and_below_it_what_its_figures_do_not_say(run):
    assert all(decision.outcome != "pass" for decision in run.decisions)
    for width in (40, None):
        lines = shown(run, width=width).splitlines()
        for decision in run.decisions:
            line = re.compile(rf"{decision.outcome} +{re.escape(decision.gate.task)} ")
            places = [number for number, text in enumerate(lines) if line.match(text)]
            below = [lines[number + 1].strip() for number in places]
            assert decision.outcome in ("fail", "not run") or any(decision.why.endswith(text) for text in below)


def test_what_fails_comes_first_and_a_reason_that_gates_share_is_said_once(result):
    tasks = {"mine/a": "pass", "mine/b": "inconclusive", "mine/c": "fail", "mine/d": "inconclusive"}
    figures = {task: result(0.4, 0.5, 0.6, task=task) for task in tasks}
    why = {"fail": "acc_r is 0.500 (95 % interval 0.400 to 0.600), below min = 0.7", "pass": "within min = 0.3"}
    decisions = tuple(
        Decision(
            gate=Gate(task=task, metric="acc_r", min=0.7),
            outcome=outcome,
            why=why.get(outcome, "acc_r is 0.500 (95 % interval 0.400 to 0.600): the images were not there"),
            metric=figures[task].metrics["acc_r"],
        )
        for task, outcome in tasks.items()
    )
    head, *body = terminal_table(RunResult(results=tuple(figures.values()), decisions=decisions), Screen()).splitlines()
    assert head.split()[:2] == ["decision", "task"]
    assert [line.split()[:2] for line in body] == [
        ["fail", "mine/c"],
        ["inconclusive", "mine/b"],
        ["the", "images"],
        ["inconclusive", "mine/d"],
        ["pass", "mine/a"],
    ]


def test_flaws_that_no_model_can_be_right_with_are_shown_and_others_are_not(run):
    kinds = ("equal texts", "duplicate")
    flaws = tuple(Flaw(name=name, count=3, examples=("case 7",), why=f"it is {name}") for name in kinds)
    flawed = replace(run, results=tuple(replace(result, flaws=flaws) for result in run.results[:2]))
    text = shown(flawed)
    both = ", ".join(result.task.id for result in run.results[:2])
    assert f"flaw of the data: 6 x equal texts in {both}: it is equal texts; for example case 7" in text.splitlines()
    assert "duplicate" not in text
