"""``analyses.json`` and its section of the page, as a run writes them."""

import json

import pytest

from vlgate.errors import OptionError
from vlgate.record.folder import RecordedRun
from vlgate.studies.analyses.saved import analysed


@pytest.fixture
def data(place):
    place.thresholds('[gate."valse/*".acc_r]\nmin = 0.5\n')
    return place


def test_a_run_with_a_benchmark_has_its_analysis_on_the_page(data, right):
    pytest.importorskip("scipy")
    data.valse(n=100)
    assert data.run(right).ret == 0
    found = json.loads((data.path / "out/analyses.json").read_text(encoding="utf-8"))
    assert [(one["analysis"], one["tasks"]) for one in found["analyses"]] == [("valse", "valse/*")]
    page = (data.path / "out/report.html").read_text(encoding="utf-8")
    assert '<h3 id="analysis/valse">' in page
    assert "<summary>Against text alone</summary>" in page


def test_few_cases_are_not_analysed_and_a_file_of_an_earlier_run_does_not_stay(data, right):
    data.valse(n=20)
    (data.path / "out").mkdir()
    (data.path / "out/analyses.json").write_text('{"schema": 1, "analyses": [], "lacking": {}}')
    assert data.run(right, "--no-require-gates", "--overwrite").ret == 1  # the gate is inconclusive
    assert not (data.path / "out/analyses.json").exists()
    assert 'id="analyses"' not in (data.path / "out/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("error", [ZeroDivisionError("in a table"), OptionError("in a table"), OSError("in a table")])
def test_an_analysis_that_goes_wrong_is_said_and_raises_nothing(tmp_path, monkeypatch, error):
    def wrong(_):
        raise error

    monkeypatch.setattr("vlgate.studies.analyses.saved.analyse_run", wrong)
    run = RecordedRun(folder=tmp_path, named="--results out", figures={}, environment={})
    [said] = analysed(run)
    assert said.startswith("analyses.json could not be written (")
    assert "in a table" in said
