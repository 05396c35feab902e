"""``vlgate acuity``: the cost first, then the table; files, gates and exit status."""

import json

import pytest

from vlgate.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def acuity(*arguments):
    return main(["acuity", "--model=defect:large-only", "--faculty=noun,count", *arguments])


def test_the_cost_is_said_first_and_three_files_are_written(folder, capsys):
    assert acuity("--limit=600", "--out=charts") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2 charts, at most 600 calls to defect:large-only (142 trials each)"
    assert lines[1].startswith("at most ")
    content = json.loads((folder / "charts" / "acuity.json").read_text())
    assert content["calls"] <= 600 - 32
    chart = content["charts"]["noun"]
    assert chart["low"] < 50.2 < chart["high"] + 2
    assert content["charts"]["count"]["level"] is None
    assert (folder / "charts" / "acuity.svg").read_text().startswith("<svg")
    assert "acuity.html" in lines[-1]


@pytest.mark.parametrize(("bound", "status", "outcome"), [(64, 0, "pass"), (20, 1, "fail")])
def test_gates_decide_the_exit_status(folder, capsys, bound, status, outcome):
    (folder / "thresholds.toml").write_text(f"schema = 1\n[acuity.noun]\nmax = {bound}\n[acuity.blur]\nmin = 2\n")
    assert acuity("--limit=400") == status
    out = capsys.readouterr().out
    assert f"acuity.noun: {outcome}: " in out
    assert "acuity.blur: not run: not in --faculty\n" in out
    assert json.loads((folder / "results/acuity/acuity.json").read_text())["gates"][0]["decision"] == outcome


def test_an_earlier_release_is_in_the_table(capsys):
    assert main(["acuity", "--model=reader", "--faculty=noun", "--out=before"]) == 0
    assert acuity("--limit=400", "--against=before") == 0
    assert "beyond the range" in capsys.readouterr().out


def test_a_limit_for_one_chart_asks_for_more_calls_only(capsys, vlgate):
    said = vlgate("acuity", "--model=oracle", "--faculty=noun", "--limit=5", status=4)
    assert "1 chart needs at least " in said
    assert "raise --limit" in said
    assert "fewer" not in said
    assert main(["acuity", "--model=oracle", "--limit=5"]) == 4
    assert "raise --limit, or draw fewer of them with --faculty" in capsys.readouterr().err


def test_a_model_that_raises_is_named_in_one_line(folder, vlgate):
    match = "def match(self, pairs):\n        raise ValueError('no such layer')"
    (folder / "raising.py").write_text(f"class Model:\n    {match}\n\ndef build():\n    return Model()\n")
    said = vlgate("acuity", "--model=raising:build", "--faculty=noun", "--limit=200", status=4)
    assert said == "vlgate acuity: --model=raising:build: the model raised ValueError: no such layer; correct it\n"
