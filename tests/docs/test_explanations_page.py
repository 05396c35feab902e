"""The page of explanations has the rates of the release, which its script measures."""

import pytest

from vlgate.probes.explaining.rates import measured


@pytest.fixture(scope="module")
def script(scripts):
    return scripts("write_explanations")


def test_the_page_shows_the_rates_that_stand_beside_the_pictures(script):
    assert script.table(measured(), script.CASES) in script.PAGE.read_text(encoding="utf-8")
