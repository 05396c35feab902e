"""The page of phenomena: each example is what the kind makes now, and each kind has one."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts")
        import write_phenomena

        yield write_phenomena


def test_every_kind_has_an_example(script):
    assert set(script.INPUTS) == set(script.KINDS)


@pytest.mark.slow
def test_the_page_is_what_the_kinds_make(script):
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), "run: python scripts/write_phenomena.py"
