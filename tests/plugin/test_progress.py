"""The progress of a long run."""

from io import StringIO

from vlgate.plugin import progress
from vlgate.plugin.progress import Progress


class Writer:
    def __init__(self):
        self._file = StringIO()
        self.width_of_current_line = 0


class Reporter:
    def __init__(self):
        self._tw = Writer()
        self.lines = []

    def write_line(self, line):
        self.lines.append(line)


def test_the_line_has_the_count_the_rate_and_the_time_left():
    count = Progress(Reporter(), 100_000, bar=False)
    count.done = 12_400
    assert count.line(4.0) == "vlgate: 12,400 of 100,000 cases, 3,100 per second, 28 s left"


def test_a_log_gets_a_line_now_and_then_and_none_at_the_end(monkeypatch):
    clock = iter([0.0, 5.0, 16.0, 17.0, 40.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    reporter = Reporter()
    count = Progress(reporter, 400, bar=False)
    for _ in range(4):
        count.advance(100)
    assert reporter.lines == ["vlgate: 200 of 400 cases, 12 per second, 16 s left"]


def test_a_line_does_not_follow_letters_of_pytest(monkeypatch):
    clock = iter([0.0, 20.0])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    reporter = Reporter()
    reporter._tw.width_of_current_line = 30
    Progress(reporter, 400, bar=False).advance(100)
    assert reporter.lines[0] == ""


def test_a_terminal_gets_a_bar_that_is_removed_at_the_end():
    reporter = Reporter()
    count = Progress(reporter, 400, bar=True)
    count.advance(100)
    assert count.draws
    count.close()
    drawn = reporter._tw._file.getvalue()
    assert "100/400" in drawn
    assert reporter.lines == []
