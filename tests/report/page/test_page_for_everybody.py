"""What axe-core finds in pages, in headless Chromium: nothing serious, in both themes, with everything unfolded.

``AXE_PAGES=FILE[:FILE]`` names further pages, such as that of the default run.
"""

import os
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from browser import MISSING, Browser
from page_runs import GATES, result_of

from vlgate.record.folder import read_run
from vlgate.record.model_card import ModelCard
from vlgate.report.folder import write_figures, write_rows
from vlgate.report.page.page import write_page
from vlgate.run.planning import make_plan
from vlgate.studies.analyses.saved import save

_AXE = find_spec("axe_playwright_python")  # found and not imported: its browsers are not needed
NEEDS = MISSING or ("" if _AXE else "needs axe-core (pip install axe-playwright-python)")
pytestmark = pytest.mark.skipif(bool(NEEDS), reason=NEEDS)

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
ANALYSED = {
    "analysis": "valse",
    "tasks": "scenes/*",
    "runs": ["oracle"],
    "tables": [
        {
            "title": "Captions and foils",
            "about": "share of captions less that of foils",
            "labels": ["model", "task"],
            "value": "p_c - p_f",
            "more": ["p_c"],
            "rows": [
                {"model": "oracle", "task": f"t{number}", "value": 0.1, "low": 0.0, "high": 0.2, "n": number}
                | {"small": number < 30, "p_c": None}
                for number in range(20, 40)
            ],
        }
    ],
    "notes": ["agreement between models: left out"],
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("downloads"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def passing(tmp_path_factory, options):
    """The folder of a run whose gate passes, with an analysis on its page."""
    place = tmp_path_factory.mktemp("passing")
    given = replace(options, suite=("scenes/visual-inv", "scenes/foil-it"), limit=6, results=place)
    tasks = make_plan(given).tasks
    result = result_of(tasks, (replace(GATES[1], min_cases=2),))
    assert write_rows(result, given) == []
    assert write_figures(result, ModelCard(name="oracle"), given, 1, tasks) == []
    save(place, ANALYSED)
    write_page(read_run(place, str(place)), tasks)
    return place


@pytest.fixture(params=["passing", "failing", "comparison", *MORE])
def page(request, folder, releases, passing):
    known = {"passing": passing, "failing": folder, "comparison": releases / "later"}
    return known[request.param] / "report.html" if request.param in known else Path(request.param).resolve()


def test_axe_finds_nothing_serious(browser, page):
    library = (Path(_AXE.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")
    found = {}
    for theme, rules in THEMES.items():
        browser.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        browser.open("about:blank")
        browser.open(page.as_uri())
        browser.run(UNFOLD)
        browser.run(library)
        found[theme] = browser.run(SERIOUS, rules)
    assert found == {"light": [], "dark": []}
