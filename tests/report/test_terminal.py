import re
from dataclasses import replace

import pytest

from vlgate.audit.flaws import Flaw
from vlgate.record.model_card import ModelCard
from vlgate.report.ci.release import release
from vlgate.report.rows import HEADINGS
from vlgate.report.terminal import Screen, closing_text, terminal_table

CARD = ModelCard(name="clip", weights="a/b", fingerprint="0a1b", adapters={})
ESCAPE = "\x1b"


def plain(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def shown(run, width=None, colour=False, status=1):
    return closing_text(run, release(run, CARD), "tiny-lxmert", status, Screen(width=width, colour=colour))


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_a_terminal_shows_the_columns_that_it_has_room_for_and_names_the_others(run, width):
    head, *body = terminal_table(run, Screen(width=width)).splitlines()
    missing = [heading for heading in HEADINGS if heading not in head.split()]
    if missing:
        assert body.pop() == f"(in summary.md only: {', '.join(missing)})"
    assert max(map(len, (head, *body))) <= width
    assert bool(missing) == (width < 110)
    assert {"task", "value", "threshold", "decision"} <= set(head.split())


def test_there_are_escape_codes_only_if_colour_is_asked_for(run):
    assert ESCAPE not in shown(run)
    assert ESCAPE in shown(run, colour=True)
    assert [line.rstrip() for line in plain(shown(run, colour=True)).splitlines()] == shown(run).splitlines()


def test_outcomes_have_colours_of_their_own(run, passing):
    def colours(result, word):
        text = terminal_table(result, Screen(colour=True))
        [line, *_] = [line for line in text.splitlines() if plain(line).rstrip().endswith(word)]
        return line[: line.index("m") + 1]

    assert len({colours(run, "fail"), colours(run, "inconclusive"), colours(passing, "pass")}) == 3


def test_a_decision_that_has_left_the_screen_is_repeated(run, passing):
    long = shown(replace(run, notes=tuple(f"note {number}" for number in range(30)))).splitlines()
    assert long[0] == long[-1]
    short = shown(passing, status=0).splitlines()
    assert short[0] == "PASS: tiny-lxmert may be released: 1 of 1 gate passes (exit status 0)"
    assert short.count(short[0]) == 1


def test_each_gate_that_did_not_pass_is_listed_with_its_whole_reason_on_one_line(run):
    text = shown(run, width=40)
    assert all(decision.outcome != "pass" for decision in run.decisions)
    for decision in run.decisions:
        assert re.search(
            f"^{decision.outcome}: .*{re.escape(decision.gate.id)}.*: {re.escape(decision.why)}$", text, re.MULTILINE
        )


def test_flaws_that_no_model_can_be_right_with_are_shown_and_others_are_not(run):
    flaws = [
        Flaw(name=name, count=3, examples=("case 7",), why=f"it is {name}") for name in ("equal texts", "duplicate")
    ]
    flawed = replace(run, results=tuple(replace(result, flaws=tuple(flaws)) for result in run.results[:2]))
    text = shown(flawed)
    both = ", ".join(result.task.id for result in run.results[:2])
    assert f"flaw of the data: 6 x equal texts in {both}: it is equal texts; for example case 7" in text.splitlines()
    assert "duplicate" not in text


def test_no_line_ends_in_blanks(run):
    assert all(line == line.rstrip() for line in shown(run, width=100).splitlines())
