"""``vlgate demo``: what it lists, how it ends, and what it opens."""

import sys
import webbrowser

import pytest

from vlgate.cli import main
from vlgate.studies.sensitivity.sabotage import closing_lines, place_of, sabotages, stopped_by


def gate(name, decision, value, least=0.85, kind="min"):
    return {"gate": name, "decision": decision, "value": value, "min": least, "kind": kind}


FIGURES = {
    "tasks": {"scenes/attributes": {}, "scenes/attribute-size": {}, "scenes/foil-it": {}},
    "gates": [
        gate("scenes/foil-it:acc_r", "pass", 1.0),
        gate("scenes/attribute-size:acc_r", "inconclusive", 0.84),
        gate("scenes/attributes:acc_r", "fail", 0.5),
        gate("limit:scenes/depth:acc_r", "not run", None, kind="limit"),
    ],
}


def test_a_demo_ends_red_and_opens_the_page_on_what_broke(tmp_path, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("VLGATE_DATA", str(tmp_path))
    monkeypatch.setenv("VLGATE_CACHE", "off")
    folder = tmp_path / "demo"
    words = ["demo", "--sabotage", "colour-blind", "--suite", "scenes/attributes", "--results", str(folder)]
    assert main(words) == 1
    said = capsys.readouterr().out
    assert "sabotaged: colour-blind: Takes every colour for every other." in said
    assert "stopped by 1 of 1 gate: scenes/attributes:acc_r (0.000, min 0.85)" in said
    assert "claimed by 1 task of the run, and stopped by 1" in said
    assert opened == [f"{(folder / 'report.html').as_uri()}#scenes/attributes"]
    assert 'id="scenes/attributes"' in (folder / "report.html").read_text(encoding="utf-8")


def test_an_unknown_defect_names_the_nearest(capsys):
    assert main(["demo", "--sabotage", "color-blind"]) == 4
    assert "colour-blind" in capsys.readouterr().err


def test_what_broke_most_comes_first():
    stops = stopped_by(FIGURES)
    assert [one["gate"] for one in stops] == ["scenes/attributes:acc_r", "scenes/attribute-size:acc_r"]
    assert place_of(stops) == "scenes/attributes"
    assert place_of([]) == ""


def test_the_closing_lines_say_which_claims_hold():
    said = closing_lines("colour-blind", sabotages()["colour-blind"], FIGURES)
    assert said[1].startswith(
        "stopped by 2 of 3 gates (1 fail, 1 inconclusive): scenes/attributes:acc_r (0.500, min 0.85), "
    )
    assert said[1].endswith("scenes/attribute-size:acc_r (0.840, min 0.85, inconclusive)")
    assert said[2] == "claimed by 2 tasks of the run, and stopped by 2"


def test_a_sabotage_that_passes_is_called_not_caught():
    passed = {**FIGURES, "gates": FIGURES["gates"][:1]}
    said = closing_lines("colour-blind", sabotages()["colour-blind"], passed)
    assert said[1] == "NOT CAUGHT: 1 gate, and none fails"


@pytest.mark.parametrize("terminal", [True, False])
def test_nothing_is_opened_without_a_display(terminal, monkeypatch):
    from vlgate.cli import demo

    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert not demo._can_open()
