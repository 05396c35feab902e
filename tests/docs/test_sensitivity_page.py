"""The page about what the tasks catch: its defects and claims are those of the code."""

import re

import pytest


@pytest.fixture(scope="module")
def script(scripts):
    return scripts("write_sensitivity")


def test_the_page_has_every_defect_and_claim(script):
    text = script.PAGE.read_text(encoding="utf-8")
    [matrix] = re.findall(r"```text\n(.*?)\n```", text, re.DOTALL)
    assert text == script.page(matrix), "run: python scripts/write_sensitivity.py"
    assert matrix.endswith(", 0 not as claimed")
    assert all(f"\n{name} " in matrix for name in script.NAMES)
