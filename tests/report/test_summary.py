from dataclasses import replace

import pytest

from vlgate.record.model_card import ModelCard
from vlgate.record.results import RunResult
from vlgate.report.rows import HEADINGS, rows
from vlgate.report.summary import write_summary


@pytest.fixture
def written(tmp_path):
    def write(*args):
        write_summary(tmp_path / "summary.md", *args)
        return (tmp_path / "summary.md").read_text(encoding="utf-8")

    return write


def task_of(text):
    return [
        [cell.strip() for cell in line.strip("|").replace("\\|", "\0").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def test_the_title_says_the_model_and_whether_the_gates_pass(written, run, passing, card, options):
    assert written(run, card, options).startswith("# lxmert:unc-nlp/lxmert: broken\n")  # a case was not scored
    failed = replace(run, results=())
    assert written(failed, card, options).startswith("# lxmert:unc-nlp/lxmert: gates do not pass\n")
    neighbour = written(replace(passing, tests=1), card, options)
    assert neighbour.startswith("# lxmert:unc-nlp/lxmert: a test that is not a gate fails\n")
    assert "\n- **fail**: a test that is not a gate fails\n" in neighbour
    assert written(passing, ModelCard(name="random"), options).startswith("# random: gates pass\n")


def test_the_outcomes_are_counted_and_the_ties_and_seed_named(written, run, passing, card, options):
    assert "\nGates: 2 fail, 3 inconclusive, 1 not run. Ties: strict. Seed: 7.\n" in written(run, card, options)
    assert "\nGates: 1 pass. Ties: credit." in written(passing, card, replace(options, ties="credit"))
    assert "\nGates: none. " in written(RunResult(results=run.results, decisions=()), card, options)


def test_the_task_holds_the_same_cells_as_the_terminals(written, run, card, options):
    head, rule, *body = task_of(written(run, card, options))
    assert head == list(HEADINGS)
    assert set(rule) == {"---"}
    assert body == [list(row.cells) for row in rows(run)]


def test_each_gate_that_did_not_pass_gives_its_reason_and_those_that_passed_none(written, run, passing, card, options):
    text = written(run, card, options)
    for decision in run.decisions:
        assert f"\n- **{decision.outcome}** `{decision.gate.id}`: {decision.why}\n" in text
    assert "**pass**" not in written(passing, card, options)


def test_coverage_adapters_and_notes_are_listed(written, run, card, options):
    lines = written(run, card, options).splitlines()
    assert (
        "- scenes/existence: 38 of 40 cases judged; 1 unscored, 1 skipped, 4 with a tie, 2 caption equals foil "
        "(first: image 'missing.jpg': not found)" in lines
    )
    assert "- Match requests: match(): scores pairs together" in lines
    assert "- Ask requests: answer()" in lines
    assert "- 3 texts were cut at the model's context length" in lines


def test_a_bar_in_a_cell_is_escaped(written, run, card, options):
    [result, *_] = run.results
    odd = replace(result, task=replace(result.task, id="scenes/a|b"))
    body = task_of(written(RunResult(results=(odd,), decisions=()), card, options))[2:]
    assert [len(row) for row in body] == [len(HEADINGS)]
    assert body[0][1] == "scenes/a\0b"
