import pytest

from vlgate.report.rows import HEADINGS, rows
from vlgate.report.terminal import results_line, terminal_table

ESCAPE = "\x1b"


def plain(text):
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("width", [20, 80, 300])
@pytest.mark.parametrize("colour", [False, True])
def test_each_row_is_one_line_with_all_its_cells_in_order(run, width, colour):
    head, *body = plain(terminal_table(run, width=width, colour=colour)).splitlines()
    assert head.split() == list(HEADINGS)
    for row, line in zip(rows(run), body, strict=False):
        place = -1
        for cell in row.cells:
            place = line.find(cell, place + 1)
            assert place >= 0, f"{cell!r} is not in {line!r}"


def test_there_are_escape_codes_only_if_colour_is_asked_for(run):
    assert ESCAPE not in terminal_table(run, width=100, colour=False)
    assert ESCAPE in terminal_table(run, width=100, colour=True)


def test_outcomes_have_colours_of_their_own(run, passing):
    def colours(result, word):
        text = terminal_table(result, width=150, colour=True)
        [line, *_] = [line for line in text.splitlines() if plain(line).rstrip().endswith(word)]
        return line[: line.index("m") + 1]

    assert len({colours(run, "fail"), colours(run, "inconclusive"), colours(passing, "pass")}) == 3


def test_each_gate_that_did_not_pass_is_listed_with_its_whole_reason_on_one_line(run):
    text = terminal_table(run, width=40, colour=False).splitlines()
    assert all(decision.outcome != "pass" for decision in run.decisions)
    for decision in run.decisions:
        assert f"{decision.outcome}: {decision.gate.id}: {decision.why}" in text


def test_what_was_not_judged_is_listed(run):
    text = terminal_table(run, width=100, colour=False).splitlines()
    assert (
        "scenes/existence: 38 of 40 cases judged; 1 unscored, 1 skipped, 4 with a tie, 2 caption equals foil "
        "(first: image 'missing.jpg': not found)" in text
    )


def test_if_all_gates_pass_there_is_the_table_and_nothing_else(passing):
    lines = terminal_table(passing, width=100, colour=False).splitlines()
    assert len(lines) == 1 + len(rows(passing))
    assert lines[1].split()[-1] == "pass"


def test_no_line_ends_in_blanks(run):
    assert all(line == line.rstrip() for line in terminal_table(run, width=100, colour=False).splitlines())


def test_the_last_line_says_where_the_gates_and_files_are(options):
    line = results_line(options)
    assert str(options.thresholds) in line
    assert str(options.results) in line
