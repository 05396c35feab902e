"""The form as a voter uses it, in headless Chromium: clicks, keys, what is kept, the file, and texts with markup."""

import json
import time

import pytest
from browser import MISSING, Browser
from voting import PAIRS, SCRIPT, read_items, write_cases

from vlgate.making.votes.form import Layout, digest, write_forms
from vlgate.making.votes.outcome import read_votes

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_cases(tmp_path_factory.mktemp("form"), {"mine/words": PAIRS})
    write_forms(read_items(folder), folder / "inline.html", Layout())
    write_forms(read_items(folder), folder / "beside.html", Layout(images="beside"))
    (folder / "downloads").mkdir()
    return folder


@pytest.fixture(scope="module")
def browser(folder):
    browser = Browser(folder / "downloads")
    yield browser
    browser.close()


@pytest.fixture
def form(browser, folder):
    """The form without any answers."""
    browser.open((folder / "inline.html").as_uri())
    browser.run("localStorage.clear()")
    browser.open((folder / "inline.html").as_uri())
    return browser


def place(browser):
    return browser.run("return document.getElementById('place').textContent")


def note(browser):
    return browser.run("return document.getElementById('note').textContent")


def pressed(browser):
    return browser.run("return [...document.querySelectorAll('[aria-pressed=true]')].map((b) => b.dataset.answer)")


def shown(browser):
    return [
        browser.run("return document.getElementById(arguments[0]).textContent", name) for name in ("first", "second")
    ]


def downloaded(folder):
    for _ in range(100):
        files = list((folder / "downloads").glob("*.json"))
        if files:
            return files[0]
        time.sleep(0.05)
    raise AssertionError("nothing was downloaded")


def test_each_item_shows_its_texts_its_image_and_the_differences_in_bold(form, folder):
    for item in read_items(folder):
        assert shown(form) == list(item.texts)
        assert form.run("return document.getElementById('image').complete")
        assert (
            form.run("return document.getElementById('image').naturalWidth")
            == {"1.png": 800, "2.png": 40}[item.image.key]
        )
        if item.caption == "A dog on a mat.":
            words = form.run("return [...document.querySelectorAll('.texts b')].map((b) => b.textContent)")
            assert sorted(words) == ["cat", "dog"]
        form.press("right")


def test_markup_in_a_text_is_shown_and_does_nothing(form, folder):
    assert any(SCRIPT in text for item in read_items(folder) for text in item.texts)
    for _ in PAIRS:
        assert form.run("return document.querySelectorAll('.texts script').length") == 0
        form.press("right")
    assert form.run("return document.title") == "Which text describes the image?"


def test_keys_answer_and_move(form):
    assert place(form) == "Item 1 of 4; 0 answered"
    form.press("3")
    assert place(form) == "Item 2 of 4; 1 answered"
    form.press("left")
    assert pressed(form) == ["both"]
    form.press("5", "right", "left", "left")
    assert place(form) == "Item 1 of 4; 1 answered"
    assert pressed(form) == ["cannot_tell"]
    form.press("left", "6", "a")
    assert place(form) == "Item 1 of 4; 1 answered"


def test_buttons_answer_and_move(form):
    form.click("[data-answer=second]")
    form.click("#forth")
    assert place(form) == "Item 3 of 4; 1 answered"
    form.click("#back")
    form.click("#back")
    assert pressed(form) == ["second"]
    form.click("#open")
    assert place(form) == "Item 2 of 4; 1 answered"
    assert form.run("return document.getElementById('progress').value") == 1


def test_keys_in_the_name_are_letters(form):
    form.write("#annotator", "Ann 12")
    assert place(form) == "Item 1 of 4; 0 answered"
    assert form.run("return document.getElementById('annotator').value") == "Ann 12"


def test_answers_name_and_place_outlive_a_reload(form, folder):
    form.press("1", "4")
    form.write("#annotator", "Ann")
    form.open((folder / "inline.html").as_uri())
    assert place(form) == "Item 3 of 4; 2 answered"
    assert form.run("return document.getElementById('annotator').value") == "Ann"
    form.press("left")
    assert pressed(form) == ["neither"]


def test_starting_anew_forgets_the_answers(form):
    form.press("1", "2")
    form.click("#anew")
    form.accept()
    assert place(form) == "Item 1 of 4; 0 answered"
    assert pressed(form) == []


def test_the_downloaded_file_is_read_as_votes(form, folder):
    form.click("#download")
    assert note(form) == "Write your name first."
    form.write("#annotator", "Zoë O'Neil")
    form.click("#place")
    form.press("1", "2", "3", "4")
    assert note(form) == "All items are answered. Write your name and download the answers."
    form.click("#download")
    file = downloaded(folder)
    items = read_items(folder)
    assert file.name == f"votes-{digest(items)[:8]}-1-Zoë-O-Neil.json"
    votes = read_votes([file], items).by_item
    assert [votes[item.id] for item in items] == [
        {"Zoë O'Neil": answer} for answer in ("first", "second", "both", "neither")
    ]


def test_kept_answers_that_make_no_sense_are_passed_over(form, folder):
    key = form.run(
        "return localStorage.setItem('x', 1), Object.keys(localStorage).find((k) => k.startsWith('vlgate')) ?? ''"
    )
    assert key == ""
    name = f"vlgate-votes-{digest(read_items(folder))}-1"
    for content in ("{", "null", '{"votes": {"zzz": "first"}, "position": 99}', json.dumps({"votes": None})):
        form.run("localStorage.setItem(arguments[0], arguments[1])", name, content)
        form.open((folder / "inline.html").as_uri())
        assert place(form).endswith("of 4; 0 answered")
        assert shown(form) != ["", ""]


@pytest.mark.parametrize("layout", ["inline", "beside"])
def test_a_form_asks_nothing_of_a_server_and_breaks_no_rule_of_its_policy(browser, folder, layout):
    browser.log("browser")
    browser.log("performance")
    browser.open((folder / f"{layout}.html").as_uri())
    browser.press("right", "left", "1")
    assert browser.run("return document.getElementById('image').naturalWidth") > 0
    assert browser.log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert asked
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}


def test_the_page_fits_a_small_window_and_every_button_has_a_name(form):
    assert form.run("return document.documentElement.scrollWidth <= innerWidth")
    nameless = "return [...document.querySelectorAll('button')].filter((b) => !b.textContent.trim()).length"
    assert form.run(nameless) == 0
    assert form.run("return document.querySelector('label[for=annotator]') !== null")
