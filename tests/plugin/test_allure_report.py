"""What Allure is given by a whole run: the same results in every way to run, and those of other tests beside them."""

import itertools
import json

import pytest

GATES = '[gate."valse/*".acc_r]\nmin = 0.75\nconfidence = 0.9\nwhy = "better than a coin"\n'


@pytest.fixture
def report(place):
    """Runs the suite with ``--alluredir`` and returns the exit status, the folder and the results by name."""
    place.ready(GATES, n=40)

    def start(model, *arguments):
        done = place.run(model, "--alluredir=allure", "--clean-alluredir", *arguments)
        folder = place.path / "allure"
        results = [json.loads(file.read_text()) for file in folder.glob("*-result.json")]
        return done.ret, folder, {result["name"]: result for result in results}

    return start


def told(results):
    """What is the same in every run of the same model."""
    return {
        name: (result["historyId"], result["testCaseId"], result["status"], result["fullName"], result["titlePath"])
        for name, result in results.items()
    }


@pytest.fixture
def half(place):
    """A model that is right on the records with an even number, which prefers the longer text otherwise."""
    body = """
def match(self, pairs):
    even = [sum(map(int, filter(str.isdigit, pair.text))) % 2 == 0 for pair in pairs]
    return np.array([(-1.0 if right else 1.0) * len(pair.text) for pair, right in zip(pairs, even)])
"""
    return place.model(body, "half")


@pytest.mark.slow
def test_the_results_are_the_same_in_every_way_to_run(report, half):
    status, folder, results = report(half)
    assert status == 1
    assert len(results) == 40 + 2
    missed = [result for result in results.values() if result["status"] == "failed"]
    assert len(missed) == 20 + 2  # the cases, the gate and the run
    shown = next(one for one in missed if one["name"].startswith("valse/"))
    assert shown["statusDetails"]["message"].startswith("missed: ")
    assert {one["type"] for one in shown["attachments"]} == {"image/png"}
    assert not [*folder.glob("*-container.json")]
    attached = [one["source"] for result in results.values() for one in result.get("attachments", [])]
    [globals_] = [json.loads(file.read_text()) for file in folder.glob("*-globals.json")]
    attached += [one["source"] for one in globals_["attachments"]]
    assert sorted(file.name for file in folder.glob("*-attachment.*")) == sorted(attached)
    assert [one["message"].partition(":")[0] for one in globals_["errors"]] == ["fail"]
    for arguments in (("--items=batch",), ("-n", "2", "--items=batch"), ("--seed=3",)):
        assert told(report(half, *arguments)[2]) == told(results), arguments
    assert all(result["steps"] == [] for result in results.values() if "steps" in result)


def test_the_times_of_cases_add_up_to_that_of_their_test(report, right):
    _, _, results = report(right, "--items=batch")
    cases = sorted((result["start"], result["stop"]) for name, result in results.items() if name.startswith("valse/"))
    assert all(stop <= start for (_, stop), (start, _) in itertools.pairwise(cases))


@pytest.mark.slow
def test_a_case_that_raises_is_broken_with_its_traceback(place, report):
    body = "def match(self, pairs):\n    raise ValueError('no such layer')\n"
    status, _, results = report(place.model(body, "raises"))
    assert status == 1
    broken = [result for name, result in results.items() if name.startswith("valse/")]
    assert {one["status"] for one in broken} == {"broken"}
    assert "no such layer" in broken[0]["statusDetails"]["message"]


def test_a_users_own_test_keeps_its_steps_and_its_fixtures(place, report, right):
    (place.path / "test_own.py").write_text(
        "import allure, pytest\n\n@pytest.fixture\ndef mine():\n    return 1\n\n"
        "def test_mine(mine):\n    with allure.step('my step'):\n        allure.attach('text', 'my file')\n"
    )
    _, folder, results = report(right, "test_own.py")
    own = results["test_mine"]
    assert [step["name"] for step in own["steps"]] == ["my step"]
    [step] = own["steps"]
    assert (folder / step["attachments"][0]["source"]).read_text() == "text"
    befores = [
        load["name"] for file in folder.glob("*-container.json") for load in json.loads(file.read_text())["befores"]
    ]
    assert befores == ["mine"]
    assert len(results) == 40 + 2 + 1
