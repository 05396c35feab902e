"""What Allure is given: the statuses, a page per missed case, the gates and the files of the overview."""

import base64
import io
import json

import pytest
from PIL import Image

GATES = '[gate."valse/*".acc_r]\nmin = 0.75\nconfidence = 0.9\nwhy = "better than a coin"\n'


@pytest.fixture
def report(place):
    """Runs the suite with ``--alluredir`` and returns the folder, and the results by name."""
    place.valse(n=40)
    place.thresholds(GATES)

    def start(model, *arguments):
        place.run(model, "--alluredir=allure", *arguments)
        folder = place.path / "allure"
        results = [json.loads(file.read_text()) for file in folder.glob("*-result.json")]
        return folder, {one["name"]: one for one in results}

    return start


def only(folder, pattern):
    [file] = folder.glob(pattern)
    return file


def test_a_missed_case_lowers_the_share_of_green_and_is_not_a_failure(report, wrong):
    _, results = report(wrong)
    statuses = [one["status"] for name, one in results.items() if name.startswith("valse/")]
    assert statuses == ["broken"] * 40
    failed = [name for name, one in results.items() if one["status"] == "failed"]
    assert sorted(failed) == ["results of wrong_model:build", "thresholds.toml::valse/existence:acc_r"]
    assert not [name for name, one in results.items() if one["status"] == "unknown"]


def test_a_missed_case_shows_its_image_without_a_click(report, wrong):
    _, results = report(wrong)
    missed = next(one for name, one in results.items() if name.startswith("valse/"))
    assert "description" not in missed
    page = missed["descriptionHtml"]
    assert "dogs." in page
    data = page.partition('<img src="data:image/png;base64,')[2].partition('"')[0]
    assert Image.open(io.BytesIO(base64.b64decode(data))).size == (32, 24)
    assert {attachment["type"] for attachment in missed["attachments"]} == {"image/png", "text/plain"}


def test_a_users_text_is_no_markup(place, report):
    place.valse(n=40, change=lambda i, record: record.update(caption=f"<b>{i}</b> & a <script>dog</script>, at night"))
    right = place.model(
        "def match(self, pairs):\n    return np.array([-float(len(p.text)) for p in pairs])\n", "longer"
    )
    _, results = report(right)
    pages = [one["descriptionHtml"] for name, one in results.items() if name.startswith("valse/")]
    assert all("&lt;script&gt;dog&lt;/script&gt;" in page and "<script>" not in page for page in pages)


def test_a_batchs_missed_cases_are_no_green_ticks(report, wrong):
    _, results = report(wrong, "--items=batch")
    [batch] = [one for name, one in results.items() if name.startswith("valse/")]
    steps = [(step["name"].partition("_")[0], step["status"]) for step in batch["steps"]]
    assert steps == [("missed: record", "broken")] * 8
    assert batch["descriptionHtml"].count("<img ") == 8
    assert "missed 40 of 40 cases" in batch["descriptionHtml"]


def test_a_gate_shows_value_interval_n_chance_and_threshold(report, right):
    _, results = report(right)
    gate = results["thresholds.toml::valse/existence:acc_r"]
    assert gate["status"] == "passed"
    shown = {one["name"]: one["value"] for one in gate["parameters"]}
    metric = {"value": "1.000", "n": "40", "chance": "0.500", "threshold": ">= 0.75"}
    assert shown.items() >= metric.items()
    assert list(shown) == ["value", "interval (90 %)", "n", "chance", "blind", "threshold"]
    low, _, high = shown["interval (90 %)"].partition(" - ")
    assert 0.75 < float(low) < float(high) == 1.0
    for told in ("pass: acc_r is 1.0000", "min = 0.75", "better than a coin"):
        assert told in gate["description"]


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["serial", "xdist"])
def test_the_overview_names_the_model_and_holds_the_table(report, wrong, workers):
    folder, results = report(wrong, *workers)
    table = results["results of wrong_model:build"]
    assert table["titlePath"] == ["results"]
    assert table["statusDetails"]["message"] == "gates do not pass; 40 cases: 0 right, 40 missed"
    for told in ("wrong_model:build", "valse/existence", "acc_r", "&gt;= 0.75", "0.500", "fail"):
        assert told in table["descriptionHtml"]
    everything = json.loads(only(folder, "*-globals.json").read_text())
    [shown] = everything["attachments"]
    assert (folder / shown["source"]).read_text().endswith(table["descriptionHtml"])
    assert [one["message"].partition(":")[0] for one in everything["errors"]] == ["fail"]
    title = "wrong_model:build: gates do not pass"
    assert json.loads((folder / "executor.json").read_text())["reportName"] == title
    assert json.loads((folder / "allurerc.json").read_text())["name"] == title
    assert (folder / "environment.properties").read_text().startswith("model = wrong_model:build\n")


def test_the_categories_of_allure_2_and_3_know_every_miss(report, wrong):
    folder, results = report(wrong)
    two = json.loads((folder / "categories.json").read_text())
    three = json.loads((folder / "allurerc.json").read_text())["categories"]["rules"]
    assert [one["name"] for one in two] == [one["name"] for one in three]
    assert two[0]["matchedStatuses"] == three[0]["matchers"][0]["statuses"] == ["broken"]
    missed = [one for name, one in results.items() if name.startswith("valse/")]
    assert all(one["statusDetails"]["message"].startswith("missed") for one in missed)


def test_an_executor_of_continuous_integration_is_kept(place, report, right):
    (place.path / "allure").mkdir()
    (place.path / "allure/executor.json").write_text('{"name": "CI"}')
    folder, _ = report(right)
    assert json.loads((folder / "executor.json").read_text()) == {"name": "CI"}


def test_the_fixtures_of_the_suite_have_no_tear_down(report, right):
    folder, _ = report(right)
    containers = [json.loads(file.read_text()) for file in folder.glob("*-container.json")]
    assert containers
    assert not [after["name"] for container in containers for after in container.get("afters", [])]
