"""The page as a reader uses it, in headless Chromium: filters, keys, addresses, the slider, phones and both themes."""

import os
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from browser import MISSING, Browser
from page_runs import GATES, result_of, write_run

from vlgate.record.folder import read_run
from vlgate.report.page.page import write_page
from vlgate.run.planning import make_plan
from vlgate.studies.analyses.saved import save

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

SHOWN = "return [...document.querySelectorAll('.cards .card')].filter((c) => c.checkVisibility()).map((c) => c.id)"
IN_TASKS = SHOWN.replace(".cards .card", ".task .cards .card")
OPEN = "return [...document.querySelectorAll('details.task[open]')].map((task) => task.id)"
FOCUS = "return document.activeElement.id"
CLIPBOARD = """
return navigator.clipboard.read().then(async ([item]) => {
  const type = item.types[0], blob = await item.getType(type);
  if (type !== "image/png") return blob.text();
  const image = await createImageBitmap(blob), canvas = new OffscreenCanvas(image.width, image.height);
  canvas.getContext("2d").drawImage(image, 0, 0);
  const corner = canvas.getContext("2d").getImageData(image.width - 1, image.height - 1, 1, 1);
  return [image.width, image.height, corner.data[3]];
})"""
PAIR = "[...(document.activeElement.closest('.card')).querySelectorAll('img.picture')]"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("downloads"))
    yield browser
    browser.close()


@pytest.fixture
def address(folder):
    return (folder / "report.html").as_uri()


def opened(browser, address):
    browser.open("about:blank")
    browser.open(address)
    return browser


@pytest.fixture
def page(browser, address):
    return opened(browser, address)


def choose(page, name, value):
    page.run(
        "const field = document.getElementById(arguments[0]); field.value = arguments[1];"
        "field.dispatchEvent(new Event('input', {bubbles: true}))",
        name,
        value,
    )


def test_it_opens_without_a_complaint_of_the_browser(page):
    assert [line["message"] for line in page.log("browser")] == []
    assert page.run("return document.querySelector('h1').textContent") == "This release may not ship: 1 gate fails."
    assert page.run("return document.getElementById('found').textContent") == "4 of 4 tasks, 48 of 48 cases"
    assert page.run(SHOWN) == []


def test_a_tag_opens_the_cases_that_have_it(page):
    choose(page, "tag", "relation=above")
    shown = page.run(SHOWN)
    assert 0 < len(shown) < 24
    assert set(page.run(OPEN)) == {case.rpartition("/")[0] for case in shown}
    texts = page.run("return arguments[0].map((id) => document.getElementById(id).innerText)", shown)
    assert all("relation: above" in text for text in texts)


def test_a_capability_and_a_verdict_choose_tasks(page):
    shown = "return [...document.querySelectorAll('details.task:not([hidden])')].map((task) => task.id)"
    choose(page, "capability", "compositional")
    assert page.run(shown) == ["scenes/coordination", "scenes/word-swap"]
    page.click(".filters button[type=reset]")
    choose(page, "verdict", "gate fail")
    assert page.run(shown) == ["scenes/relations"]


def test_slash_begins_a_search_and_clear_ends_it(page):
    page.press("/", *"umbrella")
    assert page.run("return document.getElementById('search').value") == "umbrella"
    shown = page.run(SHOWN)
    assert shown
    texts = page.run("return arguments[0].map((id) => document.getElementById(id).textContent.toLowerCase())", shown)
    assert all("umbrella" in text for text in texts)
    page.click(".filters button[type=reset]")
    time.sleep(0.1)
    assert page.run("return document.getElementById('found').textContent") == "4 of 4 tasks, 48 of 48 cases"


def test_j_and_k_go_from_case_to_case(page):
    cards = page.run("return [...document.querySelectorAll('.cards .card')].map((card) => card.id)")
    page.press("j")
    assert page.run(FOCUS) == cards[0]
    page.press("j", "j")
    assert page.run(FOCUS) == cards[2]
    page.press("k")
    assert page.run(FOCUS) == cards[1]
    assert page.run("return decodeURIComponent(location.hash)") == f"#{cards[1]}"


def test_the_address_of_a_case_shows_it_and_one_that_is_not_shown_leads_to_its_task(browser, address):
    opened(browser, address)
    case = browser.run("return document.querySelector(`.cards [id^='scenes/relations/']`).id")
    for wanted, element in ((case, case), ("scenes/word-swap/none", "scenes/word-swap")):
        opened(browser, f"{address}#{wanted}")
        assert browser.run(OPEN) == ["/".join(wanted.split("/")[:2])]
        top = browser.run(
            "return document.getElementById(arguments[0]).getBoundingClientRect().top / innerHeight", element
        )
        assert 0 <= top < 1
    opened(browser, f"{address}#newly-broken/{case}")  # on a page without a comparison
    assert browser.run(FOCUS) == case


def test_two_images_stand_side_by_side_until_the_slider_or_x_lays_them_over_each_other(page):
    page.press("j")
    assert page.run(f"return {PAIR}.map((image) => image.style.clipPath)") == ["", ""]
    left, right = page.run(f"return {PAIR}.map((image) => image.getBoundingClientRect().x)")
    assert left < right
    for clip in ("inset(0px 0px 0px 100%)", "inset(0px 0px 0px 0%)", "inset(0px 0px 0px 100%)"):
        page.press("x")
        assert page.run(f"return {PAIR}[1].style.clipPath") == clip
    boxes = page.run(f"return {PAIR}.map((image) => [...Object.values(image.getBoundingClientRect().toJSON())])")
    assert boxes[0] == boxes[1]
    page.run("document.activeElement.querySelector('.choice button').click()")
    assert page.run(f"return {PAIR}.map((image) => image.style.clipPath)") == ["", ""]


def test_buttons_copy_the_command_the_prompt_and_the_images(page):
    page.command("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    page.press("j")
    sizes = page.run(f"return {PAIR}.map((image) => [image.naturalWidth, image.naturalHeight])")
    prompts = page.run("return [...document.activeElement.querySelectorAll('.text')].map((one) => one.innerText)")
    copied = []
    for name in ("Command", "Prompt", "Image"):
        button = f"document.activeElement.closest('.card').querySelector('[aria-label=\"Copy {name.lower()}\"]')"
        page.run(f"{button}.click()")
        time.sleep(0.3)
        assert page.run(f"return {button}.textContent") == "Copied"
        copied.append(page.run(CLIPBOARD))
    assert copied[0].startswith("pytest --pyargs ")
    assert copied[1].splitlines() == [prompt.partition(" ")[2] for prompt in prompts]  # without the letter of the image
    size = sum(width for width, _ in sizes), max(height for _, height in sizes)
    assert copied[2] == [*size, 255]  # opaque to the corner


@pytest.fixture
def compared(browser, releases):
    return opened(browser, (releases / "later/report.html").as_uri())


def test_a_change_since_the_baseline_chooses_cases(compared):
    for change in ("newly broken", "still wrong"):
        choose(compared, "change", change)
        assert set(compared.run(IN_TASKS.replace("c.id", "c.dataset.change"))) == {change}


def test_a_count_of_the_comparison_leads_to_its_cases(compared):
    link = "a[href='#scenes/relations'][data-change='newly broken']"
    count = int(compared.run("return document.querySelector(arguments[0]).textContent", link))
    compared.click(link)
    assert compared.run("return document.getElementById('change').value") == "newly broken"
    assert len([case for case in compared.run(IN_TASKS) if case.startswith("scenes/relations/")]) == count > 0
    top = compared.run("return document.getElementById('scenes/relations').getBoundingClientRect().top / innerHeight")
    assert 0 <= top < 1


def test_j_begins_with_what_is_newly_broken_and_its_address_shows_it(compared):
    compared.press("j")
    case = compared.run(FOCUS)
    assert case.startswith("newly-broken/scenes/")
    address = compared.run("return location.href")
    opened(compared, address)
    assert compared.run(FOCUS) == case


def test_a_slice_leads_to_its_missed_cases(page):
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    page.click("a[href='#scenes/relations'][data-tag='relation=above']")
    assert page.run("return document.getElementById('tag').value") == "relation=above"
    assert any(case.startswith("scenes/relations/") for case in page.run(SHOWN))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone_and_the_themes_differ(browser, address, theme):
    browser.command("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    browser.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    try:
        opened(browser, address)
        browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        assert browser.run("return document.documentElement.scrollWidth") == 390
        colour = browser.run("return getComputedStyle(document.body).backgroundColor")
        assert colour == {"light": "rgb(247, 247, 245)", "dark": "rgb(18, 20, 23)"}[theme]
    finally:
        browser.command("Emulation.clearDeviceMetricsOverride")
        browser.command("Emulation.setEmulatedMedia", features=[])


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)])
def test_the_first_screen_has_the_sentence_the_rule_and_figures(browser, address, size):
    width, height = size
    browser.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
    try:
        opened(browser, address)
        ends = "return arguments[0].map((one) => document.querySelector(one).getBoundingClientRect().bottom)"
        places = browser.run(ends, ["h1", ".rule", ".column li .figures"])
    finally:
        browser.command("Emulation.clearDeviceMetricsOverride")
    assert places == sorted(places)
    assert places[-1] < height


def test_everything_is_printed(page):
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert len(page.run(SHOWN)) == 48
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run(SHOWN) == []


AXE = find_spec("axe_playwright_python")  # found and not imported: its browsers are not needed
MORE = [name for name in os.environ.get("AXE_PAGES", "").split(os.pathsep) if name]
SERIOUS = """
return axe.run(document, arguments[0] ? {runOnly: {type: "rule", values: arguments[0]}} : {}).then((found) =>
  found.violations.filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.html).join(" ")}`))
"""
UNFOLD = """
document.querySelectorAll("details").forEach((one) => { one.open = true });
document.querySelectorAll(".cards").forEach((one) => [...one.children].slice(2).forEach((card) => card.remove()));
"""
"""Two cards of each list stay: the others are made in the same way, and axe takes a second for some of them."""
THEMES = {"light": None, "dark": ["color-contrast"]}
"""The rules by theme; None for all. The others do not depend on colours."""
ROW = {"model": "oracle", "value": 0.1, "low": 0.0, "high": 0.2, "p_c": None}
TABLE = {
    "title": "Captions and foils",
    "about": "share of captions less that of foils",
    "labels": ["model", "task"],
    "value": "p_c - p_f",
    "more": ["p_c"],
    "rows": [{**ROW, "task": f"t{number}", "n": number, "small": number < 30} for number in range(20, 40)],
}
ANALYSED = {
    "analysis": "valse",
    "tasks": "scenes/*",
    "runs": ["oracle"],
    "tables": [TABLE],
    "notes": ["agreement: none"],
}


@pytest.fixture(scope="module")
def passing(tmp_path_factory, options):
    """The folder of a run whose gate passes, with an analysis on its page."""
    place = tmp_path_factory.mktemp("passing")
    given = replace(options, suite=("scenes/visual-inv", "scenes/foil-it"), limit=6, results=place)
    tasks = make_plan(given).tasks
    result = result_of(tasks, (replace(GATES[1], min_cases=2),))
    save(write_run(result, given, tasks), ANALYSED)
    write_page(read_run(place, str(place)), tasks)
    return place


@pytest.fixture(params=["passing", "failing", "comparison", *MORE])
def axe_page(request, folder, releases, passing):
    known = {"passing": passing, "failing": folder, "comparison": releases / "later"}
    return known[request.param] / "report.html" if request.param in known else Path(request.param).resolve()


@pytest.mark.skipif(AXE is None, reason="needs axe-core (pip install axe-playwright-python)")
def test_axe_finds_nothing_serious(browser, axe_page):
    """``AXE_PAGES=FILE[:FILE]`` names further pages, such as that of the default run."""
    library = (Path(AXE.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")
    found = {}
    for theme, rules in THEMES.items():
        browser.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        opened(browser, axe_page.as_uri())
        browser.run(UNFOLD)
        browser.run(library)
        found[theme] = browser.run(SERIOUS, rules)
    assert found == {"light": [], "dark": []}
