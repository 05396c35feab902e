from dataclasses import replace

import pytest

from vlgate.record.model_card import ModelCard
from vlgate.record.results import RunResult
from vlgate.report.rows import HEADINGS
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


def test_a_bar_in_a_cell_is_escaped(written, run, card, options):
    [result, *_] = run.results
    odd = replace(result, task=replace(result.task, id="scenes/a|b"))
    body = task_of(written(RunResult(results=(odd,), decisions=()), card, options))[2:]
    assert [len(row) for row in body] == [len(HEADINGS)]
    assert body[0][1] == "scenes/a\0b"
