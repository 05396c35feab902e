"""Texts of users on the page: markup, quotes, escapes of terminals, marks of direction and emoji come out as text."""

import pytest
from browser import MISSING, Browser
from builders import pair_case, task_of
from page_runs import Reading, compared, every_third, result_of, write_run
from PIL import Image

from vlgate.gates.records import Gate
from vlgate.record.options import Options
from vlgate.types import Ask, Case, LazyImage

SCRIPT = "<script>alert('x')</script><img src=x onerror=alert(1)>"
QUOTES = """a "double" and 'single' {{ quote }} {% raw %} &amp; `tick`"""
ANSI = "red \x1b[31mred\x1b[0m \x00\x9b bell\x07"
RIGHT_TO_LEFT = "כלב רודף אחרי חתול"
OVERRIDE = "a dog \u202egod a\u202c \u2066x\u2069 \u2028 line"
FAMILY = "the 👩‍👩‍👧‍👦 waves 👋🏽"
FOLDER = "<img src=x onerror=alert(1)> \x1b[31m \u202e'\""
HOSTILE = (SCRIPT, QUOTES, ANSI, RIGHT_TO_LEFT, OVERRIDE, FAMILY)
SHOWN = {
    ANSI: r"red \x1b[31mred\x1b[0m \x00\x9b bell\x07",
    OVERRIDE: r"a dog \u202egod a\u202c \u2066x\u2069 \u2028 line",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run whose texts are hostile, and the run that it is compared with, in a folder with a hostile name."""
    place = tmp_path_factory.mktemp("hostile")
    drawn = Image.new("RGB", (8, 8))
    texts = [(number, text) for number, text in enumerate(text for text in HOSTILE for _ in range(3))]
    pairs = [
        pair_case(
            f"{number} {text}",
            *(f"{word}: {text}" for word in ("true", "false")),
            picture=LazyImage(key=f"{number}{text}.jpg", load=drawn.copy),
            tags={text: text, "odd": str(number)},
            file=text,
        )
        for number, text in texts
    ]
    matches = task_of(pairs, f"mine/{SCRIPT}", note=QUOTES, left_out={SCRIPT: 1})
    asked = []
    for number, text in texts:
        image, choices = LazyImage(key=f"{number}.jpg", load=drawn.copy), (f"not {text}", text)
        asks = tuple(Ask(image=image, question=f"{number} {word}?", choices=choices) for word in ("one", "two"))
        asked.append(Case(id=f"{number} {text}", requests=asks, truths=(text, text)))
    questions = task_of(asked, "mine/questions", "invariance", "questions")
    runs = []
    for name, missed in ((FOLDER, lambda number: number % 3 == 1), ("later", every_third)):
        options = Options(folder=place, model=QUOTES, thresholds=None, results=place / name)
        gates = (Gate(task=matches.id, metric="acc_r", min=0.9, why=SCRIPT),)
        result = result_of([matches, questions], gates, missed=missed)
        result = compared(result, runs[0]) if runs else result
        told = {"name": SCRIPT, "weights": OVERRIDE, "notes": HOSTILE}
        runs.append(write_run(result, options, [matches, questions], **told))
    return runs[1]


@pytest.fixture(scope="module")
def page(folder):
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
    assert not [id_ for id_ in ids if set(id_) & set(" \"'<>&")]


def test_the_newly_broken_cases_and_the_name_of_the_earlier_run_are_texts(page):
    shown = Reading(page)
    first = shown.text[shown.text.index("cases are newly broken") : shown.text.index("What the model is")]
    assert "Compared with <img src=x onerror=alert(1)> \\x1b[31m \\u202e'\"" in first
    for text in HOSTILE:
        assert f"true: {SHOWN.get(text, text)}" in first
        assert f"before: {SHOWN.get(text, text)}" in first


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_the_address_of_a_hostile_case_shows_it_and_runs_nothing(folder, page, tmp_path):
    browser = Browser(tmp_path)
    try:
        address = (folder / "report.html").as_uri()
        cases = [one["id"] for one in Reading(page).all("article") if "id" in one]
        assert any(case.startswith("newly-broken/") for case in cases)
        for case in [*cases[::7], "%", "%E0%A4", "<script>alert(1)</script>", "newly-broken/"]:
            browser.open("about:blank")
            browser.open(f"{address}#{case}")
            assert browser.run("return document.activeElement.id") == (case if case in cases else "")
        browser.write("#search", SCRIPT)
        assert browser.run("return document.getElementById('found').textContent") == "2 of 2 tasks, 7 of 12 cases"
        assert [line["message"] for line in browser.log("browser")] == []
    finally:
        browser.close()
