"""Situations in which a run must not say "pass"."""

import json

import pytest

from vlgate.plugin.collected import batch_name
from vlgate.record.results_folder import NAMES
from vlgate.run import concluding


@pytest.mark.parametrize(
    ("nodeid", "name"),
    [
        ("tests_vl/test_foil.py::test_foil[valse/existence:0-255]", "valse/existence:0-255"),
        ("cl[old]/tests_vl/test_foil.py::test_foil[valse/existence:a::b]", "valse/existence:a::b"),
        ("cl[old]/tests_vl/test_foil.py::test_foil", ""),
    ],
)
def test_brackets_in_the_path_hide_no_batch(nodeid, name):
    assert batch_name(nodeid) == name


@pytest.mark.slow
def test_a_second_test_of_the_same_cases_fails_the_run(data, wrong, workers):
    (data.path / "test_flattering.py").write_text(
        "import pytest\n"
        "from dataclasses import replace\n"
        "from vlgate.judging.verdicts import judge\n"
        "from vlgate.asking.predictor import score\n\n"
        "@pytest.mark.foil\n"
        "def test_reversed(batch, model, ledger):\n"
        "    replies = {r: replace(p, score=-p.score) for r, p in score(model, batch).items()}\n"
        "    ledger.record(judge(batch, replies))\n"
    )
    result = data.run(wrong, "test_flattering.py", *workers, ret=1)
    result.stdout.fnmatch_lines(["*valse/existence:asked-once: two tests ask the same cases*"])


def test_suites_add_up(place, right):
    place.valse()
    place.valse(file="plurals.json")
    place.run(right, "--suite=valse/existence", "--suite=valse/plurality", "--missing-images=skip")
    assert set(place.metrics()["tasks"]) == {"valse/existence", "valse/plurality"}


@pytest.mark.slow
def test_a_data_folder_in_addopts_leaves_the_rootdir_alone(place, pytester, right, monkeypatch):
    place.ready('[gate."valse/*".acc_r]\nmin = 0.99\n')
    (place.path / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.setenv("PYTEST_ADDOPTS", f"--data {place.path / 'data'}")
    result = pytester.runpytest_subprocess("--pyargs", "tests_vl", "--results=out", right)
    assert result.ret == 1
    assert place.metrics()["run"]["thresholds"] == str(place.path / "thresholds.toml")


@pytest.mark.slow
def test_ini_paths_are_relative_to_the_ini_file(place, pytester, right, monkeypatch):
    place.valse()
    (place.path / "gates.toml").write_text('schema = 1\n[gate."valse/*".acc_r]\nmin = 0.5\n')
    (place.path / "pytest.ini").write_text("[pytest]\nvlgate_data = data\nvlgate_thresholds = gates.toml\n")
    below = place.path / "below"
    below.mkdir()
    (place.path / "right_model.py").rename(below / "right_model.py")
    monkeypatch.chdir(below)
    result = pytester.runpytest_subprocess("--pyargs", "tests_vl", f"--results={place.path / 'out'}", right)
    assert result.ret == 0
    assert place.metrics()["run"]["thresholds"] == str(place.path / "gates.toml")


def test_a_model_that_abstains_does_not_choose_what_it_is_graded_on(place):
    place.ready('[gate."valse/*".p_c]\nmin = 0.5\n')
    body = """
    def match(self, pairs):
        return np.array([-float(len(pair.text)) for pair in pairs])

    def accepts(self, pairs):
        return np.array([1.0 if int(pair.text.split()[-2]) < 35 else np.nan for pair in pairs])
    """
    place.run(place.model(body.replace("\n    ", "\n")), ret=1)
    assert "35 of 40 judged cases" in place.metrics()["gates"][0]["why"]


@pytest.mark.parametrize("threshold", ["float('nan')", "'0.5'"])
def test_a_decision_threshold_that_is_not_a_number_is_refused(place, threshold):
    place.valse()
    model = place.model(f"decision_threshold = {threshold}\ndef match(self, pairs):\n    return np.zeros(len(pairs))")
    place.run(model, ret=4, says="*decision_threshold=*make it a finite number*")


@pytest.mark.slow
def test_no_file_of_an_earlier_run_remains_if_a_run_crashes(data, right):
    assert data.run(right).ret == 0
    dying = data.matching(first="os._exit(0)", name="dying_model")
    data.run(dying, "--overwrite", subprocess=True)
    assert not {file.name for file in (data.path / "out").iterdir()} & set(NAMES)


def test_a_minimum_that_text_alone_reaches_is_reported(data, right):
    result = data.run(right)
    result.stdout.fnmatch_lines(
        ["valse/existence:acc_r: a text-only model reaches 1.000, so min = 0.5 can be reached*"]
    )


@pytest.mark.slow
def test_a_reversed_score_fails_the_run_by_its_own_name(place, workers):
    place.thresholds('[gate."scenes/foil-it".acc_r]\nmax = 0.99\n')
    (place.path / "reversed_model.py").write_text(
        "from vlgate.fixtures.bag_of_words import build as right_way_round\n\n"
        "class Reversed:\n"
        "    def __init__(self):\n"
        "        self.model = right_way_round()\n"
        "    def encode_images(self, images):\n"
        "        return -self.model.encode_images(images)\n"
        "    def encode_texts(self, texts):\n"
        "        return self.model.encode_texts(texts)\n\n"
        "def build():\n"
        "    return Reversed()\n"
    )
    result = place.run("--model=reversed_model:build", "--suite=scenes/foil-it", *workers, data=False, ret=1)
    result.stdout.fnmatch_lines(["FAILED thresholds.toml::model:polarity - inconclusive: *"])
    assert [check["outcome"] for check in place.metrics()["model"]["checks"]] == ["suspect", "ok", "ok"]


def test_answers_that_cannot_be_read_are_wrong_and_counted_and_can_be_gated(place):
    place.thresholds('[gate."scenes/negation-dir".c_acc]\nmin = 0.2\n[gate."scenes/negation-dir".read]\nmin = 0.5\n')
    model = place.model("def answer(self, questions):\n    return ['maybe ' + q.question for q in questions]")
    result = place.run(model, "--suite=scenes/negation-dir", "--limit=40", data=False, ret=1)
    task = place.task("scenes/negation-dir")
    assert (task["judged"], task["unscored"], task["unread"]) == (40, 0, 40)
    assert [task["metrics"][name]["value"] for name in ("c_acc", "read")] == [0.0, 0.0]
    assert [(gate["gate"], gate["decision"]) for gate in place.metrics()["gates"]] == [
        ("scenes/negation-dir:c_acc", "fail"),
        ("scenes/negation-dir:read", "fail"),
    ]
    result.stdout.fnmatch_lines(["with an unread answer: 40 cases in scenes/negation-dir"])
    summary = (place.path / "out" / "summary.md").read_text()
    [line] = [line for line in summary.splitlines() if "names none of the choices" in line]
    assert line.startswith("- scenes/negation-dir: 40 of 40 judged cases have an answer that names none of the choices")
    assert line.count("'maybe ") == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply", ["'\\ud800'", pytest.param("np.str_('yes')", marks=pytest.mark.slow)], ids=["surrogate", "numpy"]
)
def test_odd_strings_do_not_stop_the_workers(place, reply):
    place.thresholds('[gate."scenes/order-inv".c_acc]\nmin = 0.5\n')
    model = place.model(f"def answer(self, questions):\n    return [{reply}] * len(questions)")
    place.run(model, "--suite=scenes/order-inv", "--limit=4", "-n", "2", data=False, ret=1)
    assert place.task("scenes/order-inv")["cases"] == 4


def test_variants_averages_flaws_and_shortcuts_are_reported_with_the_figures(place, right):
    def change(i, record):
        record["foil"] = record["caption"] if i == 3 else record["foil"]

    place.ready(n=60, change=change)
    result = place.run(right, "--protocol=valse_paper_ties")
    task = place.task()
    assert task["metrics"]["acc_r"]["value"] == pytest.approx(59 / 60)
    assert "acc_r@valse_paper_ties" in task["metrics"]
    assert task["flaws"]["equal texts"]["count"] == 1
    assert task["probes"]["shorter text"]["value"] > 0.9
    assert place.metrics()["averages"]["valse:acc_r"] == {"value": 59 / 60, "tasks": 1, "of": 11}
    result.stdout.fnmatch_lines(["valse:acc_r: mean 0.983 over 1 of 11 tasks"])
    summary = (place.path / "out" / "summary.md").read_text()
    for title in ("Checks of the model", "Solved without the image", "Flaws of the data", "Published figures"):
        assert f"\n## {title}\n" in summary


def test_a_run_is_its_own_replay(place):
    place.ready(n=60)
    place.run("--model=random")
    first = place.metrics()
    place.run("--model=replay:out/predictions.parquet", "--results=again")
    again = place.metrics("again")
    assert json.dumps([first["tasks"], first["gates"]]) == json.dumps([again["tasks"], again["gates"]])


@pytest.mark.parametrize(("health", "says"), [("auto", True), ("on", False), ("off", False)])
def test_the_summary_says_if_large_tasks_were_not_examined(place, right, monkeypatch, health, says):
    monkeypatch.setattr(concluding, "EXAMINED_CASES", 39)
    place.ready(n=40)
    place.run(right, f"--health={health}")
    assert ("not examined" in (place.path / "out" / "summary.md").read_text()) == says
    assert ("probes" in place.task()) == (health == "on")


def test_a_task_some_of_whose_files_are_missing_says_so(place):
    rows = [
        {"img_id": "1", "label": {answer: 1.0}, "question_id": name, "sent": text, "assignment": {}}
        for name, text, answer in (("1-0-0", "Is there a dog?", "yes"), ("1-0-0-n", "Is there no dog?", "no"))
    ]
    file = place.path / "data/carets/questions/object_verification_negation_test.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(rows))
    result = place.run("--model=oracle")
    result.stdout.fnmatch_lines(["carets/negation-dir: 1 of its 4 files are there; *is not"])
