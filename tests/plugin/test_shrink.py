"""The search for smallest changes: off unless ``-m`` asks for it, and then a run of its own kind."""

import json

import pytest
from builders import read_lines

from vlgate.errors import OptionError
from vlgate.record.folder import read_run

BODY = """
image_names = True

def match(self, pairs):
    with open({log!r}, "a") as log:
        log.writelines(f"{{pair.image.key}} {{pair.text}}\\n" for pair in pairs)
    return np.array([self.score(pair.image.key.partition("#")[2], pair.text) for pair in pairs])

def score(self, change, text):
    return float(len(text)) if self.breaks(change) else -float(len(text))

def breaks(self, change):
    return {breaks}
"""
"""Right on every record of ``Workplace.valse`` until ``breaks`` says otherwise; keeps a log of what it was asked."""
BLURRED = 'change.startswith("blur") and "+" not in change and float(change[4:]) >= 2.0'


@pytest.fixture
def asked(place):
    """Make a model that keeps a log of what it is asked."""
    place.thresholds()
    return lambda breaks: place.model(BODY.format(log=str(place.path / "log.txt"), breaks=breaks), name="logging_model")


def log(place):
    return (place.path / "log.txt").read_text().splitlines()


def finds(place, folder="out"):
    return read_lines(place.path / folder / "shrunk.jsonl")


def test_without_the_marker_no_search_is_made_counted_or_listed(place, right):
    place.ready(n=4)
    result = place.run(right, "-v")
    result.assert_outcomes(passed=4, failed=1)  # the gate: too few cases
    result.stdout.no_fnmatch_line("*shrink*")
    result.stdout.no_fnmatch_line("*deselected*")
    result.stdout.no_fnmatch_line("*smallest changes*")
    assert not (place.path / "out/shrunk.jsonl").exists()
    listed = place.run(right, "--collect-only", "-q")
    listed.stdout.no_fnmatch_line("*shrink*")
    listed.stdout.fnmatch_lines(["4 tests collected in *"])


def test_with_the_marker_alone_nothing_else_is_asked_and_no_gate_is_judged(place, asked):
    place.valse(n=12)
    place.thresholds('[gate."valse/*".acc_r]\nmin = 0.99\n', 'schema = 1\n[defaults]\nrequire = ["valse/*"]\n')
    result = place.run(asked(BLURRED), "-m", "shrink", "--shrink-cases=3", ret=0)
    result.assert_outcomes(skipped=1, deselected=12)  # a gate that is not run
    result.stdout.fnmatch_lines(
        [
            "NOT GATED: * no gate was judged, 1 not run *",
            "*= smallest changes that break the model =*",
            "valse/existence:record_*: broken by blur with sigma 2 (* of 200 calls)",
            "3 of 3 cases broken",
            "*1 skipped,* 3 broken in *",
        ]
    )
    written = " ".join(sorted(file.name for file in (place.path / "out").iterdir()))
    assert written == "environment.json shrunk shrunk.html shrunk.jsonl summary.md"
    with pytest.raises(OptionError, match=r"holds no metrics.json, because the run only searched .* shrunk.jsonl;"):
        read_run(place.path / "out", "out")
    found = finds(place)
    assert len(found) == 3
    assert {find["steps"][0]["strength"] for find in found} == {2.0}
    # One request more than the searches count would be one that the budget did not allow.
    assert sum(find["calls"] for find in found) == len(log(place))
    one = found[0]["requests"][0]
    assert one["changed_image"] == f"{one['image']}#blur2"
    assert (one["score"], one["changed_score"]) == (-len(one["text"]), len(one["text"]))


@pytest.mark.parametrize(
    ("marks", "how", "workers"),
    [
        ("shrink", "--require-gates", ()),
        pytest.param("shrink", "CI", ("-n", "2"), marks=pytest.mark.slow),
        ("shrink and not foil", "CI", ()),
        ("not foil and (shrink or slow)", "CI", ()),
    ],
)
def test_a_search_alone_does_not_pass_if_gates_are_required(place, asked, monkeypatch, marks, how, workers):
    place.valse(n=4)
    few = ("--shrink-cases=1", "--shrink-budget=2", "--device=cpu", *workers)
    if how == "CI":
        monkeypatch.setenv("CI", "true")
    required = (how,) if how != "CI" else ()
    result = place.run(asked("True"), "-m", marks, *few, *required, ret=1)
    result.stdout.fnmatch_lines(
        ["inconclusive: run:require-gates: no gate was judged: the session only searched *; leave -m shrink out, or *"]
    )
    if required:
        assert place.run(asked("True"), "-m", marks, *few, "--no-require-gates").ret == 0


@pytest.mark.slow
def test_a_parallel_run_finds_what_a_serial_one_does(place, asked):
    place.valse(n=12)
    model = asked(BLURRED)
    place.run(model, "-m", "shrink", "--results=one")
    parallel = place.run(model, "-m", "shrink", "--results=two", "-n", "2", ret=0)
    parallel.stdout.fnmatch_lines(["NOT GATED: *", "5 of 5 cases broken", "*5 broken*"])
    assert finds(place, "one") == finds(place, "two")
    assert len(finds(place, "one")) == 5


@pytest.mark.parametrize("budget", [2, 31, 200])
def test_a_robust_model_is_asked_as_much_as_the_budget_allows(place, asked, budget):
    place.valse(n=4)
    result = place.run(asked("False"), "-m", "shrink", "--shrink-cases=1", f"--shrink-budget={budget}", ret=0)
    result.stdout.fnmatch_lines(["0 of 1 cases broken; 1 not broken*"])
    assert budget - 2 < len(log(place)) <= budget
    assert len(set(log(place))) == len(log(place))
    assert finds(place) == []


def test_a_case_that_is_wrong_without_a_change_is_not_searched(place, asked, right):
    place.valse(n=4)
    (place.path / "out").mkdir()
    (place.path / "out/shrunk.jsonl").write_text("of an earlier search")
    result = place.run(asked("True"), "-m", "shrink", ret=0)
    result.stdout.fnmatch_lines(["0 of 4 cases broken; 4 not searched, *wrong*", "*4 passed*"])
    assert len(log(place)) == 8
    assert finds(place) == []
    place.run(right)
    assert not (place.path / "out/shrunk.jsonl").exists()


@pytest.mark.slow
def test_searches_together_with_other_tests_change_no_figure_and_no_gate(data, asked, workers):
    result = data.run(asked(BLURRED), "-m", "shrink or foil", "--shrink-cases=2", *workers, ret=0)
    result.stdout.fnmatch_lines(["valse/existence:record_*: broken by blur with sigma 2 (*", "*41 passed, 2 broken*"])
    task = data.task()
    assert (task["cases"], task["judged"], task["deselected"]) == (40, 40, 0)
    assert data.metrics()["gates"][0]["decision"] == "pass"
    assert len(finds(data)) == 2
    assert not (data.path / "out/shrunk.html").exists()
    assert "blur with sigma 2" in (data.path / "out/report.html").read_text()


def test_allure_shows_the_case_as_it_was_and_as_it_broke(place, asked):
    place.valse(n=4)
    result = place.run(asked(BLURRED), "-m", "shrink", "-v", "--shrink-cases=1", "--alluredir=allure")
    result.stdout.fnmatch_lines(["*test_shrink.py::test_shrink[[]shrink:valse/existence:record_*] BROKEN*"])
    results = [json.loads(file.read_text()) for file in (place.path / "allure").glob("*-result.json")]
    [shown] = [result for result in results if result["name"].startswith("shrink:")]
    assert shown["status"] == "failed"
    assert shown["statusDetails"]["message"].startswith("broken by blur with sigma 2 (")
    page = shown["descriptionHtml"]
    assert page.index("unchanged</h3>") < page.index("changed</h3>", page.index("unchanged</h3>") + 20)
    assert page.count("<img ") == 2
    [attached] = shown["attachments"]
    assert attached["type"] == "application/vnd.allure.image.diff"
    assert attached["name"].endswith("#blur2")
    images = json.loads((place.path / "allure" / attached["source"]).read_text())
    assert set(images) == {"expected", "actual", "diff"}


def test_replies_made_elsewhere_are_not_searched_and_without_hypothesis_it_says_what_to_install(
    place, right, monkeypatch
):
    place.ready(n=4)
    place.run(right)
    (place.path / "out/predictions.parquet").rename(place.path / "kept.parquet")
    search = ("-m", "shrink", "--shrink-cases=1", "--shrink-budget=9")
    result = place.run("--model=replay:kept.parquet", *search, ret=0)
    result.assert_outcomes(skipped=2, deselected=4)  # the case, and the gate that is not run
    result.stdout.fnmatch_lines(["*1 not searched, *no image, or no reply*"])
    place.valse()
    monkeypatch.setattr("vlgate.plugin.asked.find_spec", lambda _: None)
    result = place.run(right, "-m", "shrink", ret=4)
    result.stderr.fnmatch_lines(["ERROR: -m shrink: needs hypothesis, * pip install 'vlgate[[]shrink]'"])
    assert place.run(right).ret == 0


def test_missing_images_fail_or_skip_as_elsewhere(place):
    model = place.model("def match(self, pairs):\n    return [float(pair.image.load().width) for pair in pairs]\n")
    place.valse(n=40)
    (place.path / "data/images/vg/103.jpg").unlink()
    place.thresholds()
    search = ("-m", "shrink", "--shrink-cases=40", "--shrink-budget=4")
    failed = place.run(model, *search, ret=1)
    assert failed.parseoutcomes()["failed"] == 2
    failed.stdout.fnmatch_lines(
        ["*image 'v7w_103.jpg': not found*", "0 of 40 cases broken; *2 not searched, *no reply"]
    )
    skipped = place.run(model, *search, "--missing-images=skip", ret=0)
    assert "failed" not in skipped.parseoutcomes()


DARK = """
def match(self, pairs):
    return np.array([self.score(np.asarray(pair.image.load())[..., 1].mean(), pair.text) for pair in pairs])

def score(self, green, text):
    return float(len(text)) if green < 70 else -float(len(text))
"""
"""Right on every record of ``Workplace.valse``, whose images have 90 as green, unless the image is darker."""
HELD = 'schema = 1\n[defaults]\nmust_hold = "kept/must-hold.jsonl"\n'


@pytest.mark.slow
def test_the_model_that_broke_fails_the_kept_cases_and_a_right_one_passes_them(place, vlgate, monkeypatch):
    place.ready(n=4)
    model = place.model(DARK, name="dark_model")
    said = place.run(model, "-m", "shrink or foil", "--shrink-cases=2")
    said.stdout.fnmatch_lines(["vlgate: searches for smallest changes: 2 cases, at most 400 requests, 200 per case"])
    found = finds(place)
    assert [find["steps"][0]["kind"] for find in found] == ["dark", "dark"]
    assert all(find["margin"] > 0 > find["margin_changed"] and find["model"] == "dark_model:build" for find in found)
    assert all((place.path / "out" / row["changed_picture"]).is_file() for find in found for row in find["requests"])
    page = (place.path / "out/report.html").read_text()
    assert "Smallest changes that break the model" in page
    assert page.count('alt="After"') == 4
    monkeypatch.chdir(place.path)
    assert "kept/cases.jsonl: 2 cases, 2 of them new; 0 finds were there already" in vlgate(
        "make", "kept", "--from", "out"
    )
    place.thresholds("", HELD)
    alone = ("--data=kept", "--results=again", "--health=off")
    place.run(model, *alone, data=False, ret=1, says="*2 of 2 cases of *must-hold.jsonl are wrong*")
    held = place.run("--model=oracle", *alone, data=False)
    held.stdout.fnmatch_lines(["*2 cases: 2 right*"])
    assert held.ret == 0
