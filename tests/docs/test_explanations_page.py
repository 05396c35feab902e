"""The page of explanations has the rates of the release, which its script measures."""

from types import SimpleNamespace

import pytest

from vlgate.explaining.rates import measured


@pytest.fixture(scope="module")
def script(scripts):
    return scripts("write_explanations")


def test_the_page_shows_the_rates_that_stand_beside_the_pictures(script):
    assert script.table(measured(), script.CASES) in script.PAGE.read_text(encoding="utf-8")


def test_the_script_finds_the_deciding_objects_again(script, monkeypatch):
    plan = script.make_plan
    few = ("scenes/foil-it", "scenes/attributes")
    monkeypatch.setattr(
        script,
        "make_plan",
        lambda options: SimpleNamespace(tasks=[task for task in plan(options).tasks if task.id in few]),
    )
    rates = {one.method: one for one in script.measured("tiny-clip", 2)}
    assert set(rates) == {"hide windows", "Grad-CAM"}
    assert all(rate.n == 4 for rate in rates.values())
    assert rates["hide windows"].touches >= 0.75
    assert rates["hide windows"].chance_touches < 0.6
