"""Texts of users on the page: markup, quotes, escapes of terminals, marks of direction and emoji come out as text."""

import pytest
from page_runs import result_of
from PIL import Image
from reading import Reading

from vlgate.gates.records import Gate
from vlgate.report.folder import write_figures, write_rows
from vlgate.run.model_card import ModelCard
from vlgate.run.options import Options
from vlgate.types import Case, LazyImage, Match, Task

SCRIPT = "<script>alert('x')</script><img src=x onerror=alert(1)>"
QUOTES = """a "double" and 'single' {{ quote }} {% raw %} &amp; `tick`"""
ANSI = "red \x1b[31mred\x1b[0m \x00\x9b bell\x07"
RIGHT_TO_LEFT = "כלב רודף אחרי חתול"
OVERRIDE = "a dog \u202egod a\u202c \u2066x\u2069 \u2028 line"
FAMILY = "the 👩‍👩‍👧‍👦 waves 👋🏽"
HOSTILE = (SCRIPT, QUOTES, ANSI, RIGHT_TO_LEFT, OVERRIDE, FAMILY)
SHOWN = {
    ANSI: r"red \x1b[31mred\x1b[0m \x00\x9b bell\x07",
    OVERRIDE: r"a dog \u202egod a\u202c \u2066x\u2069 \u2028 line",
}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    image = Image.new("RGB", (8, 8))
    cases = tuple(
        Case(
            id=f"{number} {text}",
            requests=tuple(
                Match(image=LazyImage(key=f"{number}{text}.jpg", load=image.copy), text=f"{word}: {text}")
                for word in ("true", "false")
            ),
            truths=(True, False),
            tags={text: text, "odd": str(number)},
            origin=text,
        )
        for number, text in enumerate(text for text in HOSTILE for _ in range(3))
    )
    task = Task(id=f"mine/{SCRIPT}", capability="foil", shape="pair", cases=cases, note=QUOTES, left_out={SCRIPT: 1})
    card = ModelCard(name=SCRIPT, weights=OVERRIDE, notes=HOSTILE)
    result = result_of([task], (Gate(task=task.id, metric="acc_r", min=0.9, why=SCRIPT),))
    options = Options(folder=folder, model=QUOTES, thresholds=None, results=folder)
    assert write_rows(result, options) == []
    assert write_figures(result, card, options, 1, [task]) == []
    return (folder / "report.html").read_text(encoding="utf-8")


def test_every_text_is_on_the_page_as_text(page):
    shown = Reading(page)
    for text in HOSTILE:
        assert shown.text.count(SHOWN.get(text, text)) >= 3, text


def test_no_text_becomes_markup(page):
    shown = Reading(page)
    assert len(shown.all("script")) == 1
    assert "alert" not in "".join(shown.code["script"])
    assert not [attrs for _, attrs in shown.elements if "onerror" in attrs]
    assert all(image["src"].startswith("data:") for image in shown.all("img"))


def test_no_control_character_and_no_mark_of_direction_is_left(page):
    assert not [code for code in map(ord, page) if code < 32 and code != 10]
    assert not set(page) & set("\x7f\x9b\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029")


def test_texts_of_users_have_their_own_direction(page):
    shown = Reading(page)
    assert all(one.get("dir") == "auto" for one in shown.all("p", "text"))
    assert all(one.get("dir") == "auto" for one in shown.all("p", "why"))


def test_an_id_of_an_element_has_no_blank_or_quote(page):
    ids = [attrs["id"] for _, attrs in Reading(page).elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert not [one for one in ids if set(one) & set(" \"'<>&")]
