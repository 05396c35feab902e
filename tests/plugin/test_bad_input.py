"""Files, models and options that cannot be used: the run ends with a clear message, and no result is lost."""

import json
import re
from pathlib import Path

import pytest
from builders import table

USAGE = pytest.ExitCode.USAGE_ERROR


# --- options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("options", "says"), table(Path(__file__).with_name("wrong_options.tsv")))
def test_an_option_that_cannot_be_used_ends_the_run_before_it_begins(place, options, says):
    place.valse(n=2)
    (place.path / "my_file").write_text("in the way")
    place.run(*options.split(), ret=4, error=says)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[gate."valse/existance".acc_r]\nmin = 0.5\n', "*'valse/existance'*did you mean 'valse/existence'?"),
        ('[gate."valse/existence".ac_r]\nmin = 0.5\n', "*'ac_r'*did you mean 'acc_r'?"),
        ('[gate."valse/existence".acc_r]\nmim = 0.5\n', "*unknown key 'mim'; did you mean 'min'?"),
        ("[gate", ": *TOML*"),
    ],
)
def test_a_threshold_that_cannot_be_used_ends_the_run_before_it_begins(place, right, text, says, workers):
    place.ready(text, n=2)
    place.run(right, *workers, ret=4, error=f"ERROR: *thresholds.toml{says}")


@pytest.fixture
def own_cases(place):
    """A data folder with a task of the user's own, and a gate on it."""
    place.image("../1.png")
    row = {"task": "mine/swap", "image": "1.png", "caption": "a left of b", "foil": "b left of a"}
    (place.path / "data/cases.jsonl").write_text(json.dumps(row) + "\n")
    place.thresholds('[gate."mine/swap".acc_r]\nmin = 0.5\n')
    (place.path / "misspelled.toml").write_text('schema = 1\n[gate."valse/existance".acc_r]\nmin = 0.5\n')
    return place


NO_FOLDER = "(no data folder was given*--data DIR or VLGATE_DATA)"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--data=nowhere"], "ERROR: --data *nowhere: is not a folder; *cases.jsonl*"),
        (["--data=data", "--suite=mine/swp"], "ERROR: unknown task in --suite 'mine/swp'; did you mean 'mine/swap'?"),
        (["--data=data", "--protocol=valse_al"], "ERROR: unknown protocol 'valse_al'; did you mean 'valse_all'?"),
        (["--data=data", "--model=my_modle:build"], "ERROR: model='my_modle:build'*"),
        ([], f"ERROR: *thresholds.toml: *'mine/swap'*{NO_FOLDER}"),
        (["--suite=mine/*"], f"ERROR: unknown task in --suite 'mine/[*]'*{NO_FOLDER}"),
        (["--thresholds=misspelled.toml"], "ERROR: *did you mean 'valse/existence'?"),
    ],
    ids=["folder", "suite", "protocol", "model", "no folder", "no folder and a suite", "a misspelled benchmark"],
)
def test_a_gate_on_a_task_of_ones_own_hides_no_other_mistake(own_cases, options, says):
    own_cases.run(*options, data=False, ret=4, error=says)


@pytest.mark.parametrize("option", ["--suite=mine/swap, valse/existence", "--suite= mine/swap ,"])
def test_spaces_around_the_commas_of_an_option_do_not_matter(own_cases, right, option):
    own_cases.valse(n=2)
    own_cases.run(right, option)
    assert set(own_cases.metrics()["tasks"]) == {"mine/swap", "valse/existence"} & set(re.split("[=, ]+", option))


# --- data ------------------------------------------------------------------------------------------------------------


def test_a_json_that_is_cut_off_is_named(place, right):
    file = place.valse(n=4)
    file.write_text(file.read_text()[:-40])
    place.run(right, ret=4, error="ERROR: *existence.json*")


def test_a_missing_json_is_not_a_task_of_the_run(place, right):
    place.ready('[gate."valse/existence".acc_r]\nmin = 0.5\n', n=4, file="plurals.json")
    result = place.run(right, "--missing-images=skip", ret=0)
    assert list(place.metrics()["tasks"]) == ["valse/plurality"]
    result.stdout.fnmatch_lines(["not run: valse/existence:acc_r: none of its tasks is in this run"])


@pytest.mark.parametrize("field", ["caption", "foil", "image_file", "mturk"])
def test_a_record_without_a_field_is_named(place, right, field):
    place.ready(n=4, change=lambda i, record: record.pop(field) if i == 2 else None)
    place.run(right, ret=1, says=f"*1 of its records cannot be read (record_2: *{field}*")
    assert place.task()["left_out"]["record that cannot be read"] == 1
    [gate] = place.metrics()["gates"]
    assert gate["why"].startswith("1 of 4 cases are skipped or lost to records that cannot be read, more than max_skip")


def test_a_record_whose_image_name_leaves_the_folder_is_left_out(place, right):
    def change(i, record):
        if i == 2:
            record["image_file"] = "../../etc/passwd"

    place.valse(n=4, change=change)
    result = place.run(right)
    result.stdout.fnmatch_lines(["*1 of its records cannot be read (record_2: *../../etc/passwd*"])
    assert (place.task()["judged"], place.task()["left_out"]["record that cannot be read"]) == (3, 1)


# --- images --------------------------------------------------------------------------------------------------------


@pytest.fixture
def looks(place):
    return place.matching("1.0 / len(pair.text) + 0 * pair.image.load().width", name="looking_model")


@pytest.mark.parametrize("items", ["pair", "batch"])
def test_a_missing_image_affects_its_own_cases_only_and_is_skipped_on_request(data, looks, items):
    (data.path / "data/images/vg/103.jpg").unlink()
    result = data.run(looks, f"--items={items}", ret=1)
    assert (data.task()["judged"], data.task()["unscored"]) == (38, 2)
    result.stdout.fnmatch_lines(["*record_6*v7w_103.jpg*images/vg*--missing-images skip*"])
    assert data.metrics()["gates"][0]["why"] == "2 of 40 cases are unscored"
    result = data.run(looks, f"--items={items}", "--missing-images=skip", ret=0)
    assert (data.task()["judged"], data.task()["skipped"]) == (38, 2)
    result.stdout.fnmatch_lines(["skipped: 2 cases in valse/existence (first: image 'v7w_103.jpg': not found)"])


@pytest.mark.parametrize("cut", [True, False], ids=["cut off", "a text"])
def test_a_broken_image_is_not_a_missing_one(data, looks, cut):
    file = data.path / "data/images/vg/103.jpg"
    file.write_bytes(file.read_bytes()[:300] if cut else b"not an image at all")
    result = data.run(looks, "--missing-images=skip", "--items=batch", ret=1)
    assert (data.task()["judged"], data.task()["unscored"], data.task()["skipped"]) == (38, 2, 0)
    result.stdout.fnmatch_lines(["2 of 40 cases could not be scored", "*record_6*103.jpg*"])


def test_an_own_model_that_opens_no_images_runs_without_them_if_they_may_be_skipped(place, right):
    place.ready(n=40, images=False)
    assert place.run(right, "--missing-images=skip").ret == 0
    assert place.task()["judged"] == 40


# --- models ----------------------------------------------------------------------------------------------------------

SHORTER = "np.array([-float(len(pair.text)) for pair in pairs])"
SEVEN = "any('There are 7 dogs.' == pair.text for pair in pairs)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "says"),
    [
        (f"if {SEVEN}: return {SHORTER} * np.nan\n    return {SHORTER}", "*match() *nan for item 0 of 2*"),
        (f"if {SEVEN}: return {SHORTER}[1:]\n    return {SHORTER}", "*match() *shape (1,) for n = 2*"),
        (f"if {SEVEN}: return None\n    return {SHORTER}", "*match() *shape () *"),
        (f"if {SEVEN}: raise ValueError('no sevens')\n    return {SHORTER}", "*ValueError: no sevens*"),
        (f"if {SEVEN}: sys.exit(0)\n    return {SHORTER}", "*SystemExit: 0*"),
    ],
    ids=["nan", "too-few", "none", "raises", "exits"],
)
def test_a_model_that_fails_on_one_batch_fails_that_test_and_the_gate(data, body, says, workers):
    model = data.model(f"def match(self, pairs):\n    {body}")
    data.run(model, *workers, ret=1, says=says)
    assert (data.task()["judged"], data.task()["unscored"]) == (39, 1)
    assert data.metrics()["gates"][0]["decision"] == "inconclusive"


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_only_what_it_ran(data):
    model = data.matching(first=f"if {SEVEN}: os.kill(os.getpid(), 9)")
    result = data.run(model, "-n", "2", ret=1, says="*worker 'gw?' crashed while running*record_7*")
    assert (data.task()["judged"], data.task()["unscored"]) == (39, 1)
    result.stdout.fnmatch_lines(["FAILED thresholds.toml::valse/existence:acc_r - inconclusive*"])
    assert not data.metrics()["complete"]
    assert re.search("worker gw.*crashed", data.metrics()["why"])


def test_a_replay_without_a_row_leaves_the_case_unscored(place):
    place.valse(n=3, images=False)
    rows = [
        '{"image": "v7w_100.jpg", "text": "There are 0 dogs.", "score": 2.0}',
        '{"image": "v7w_100.jpg", "text": "There are no 0 dogs.", "score": 1.0}',
    ]
    (place.path / "replies.jsonl").write_text("\n".join(rows) + "\n")
    result = place.run("--model=replay:replies.jsonl", ret=1)
    assert (place.task()["judged"], place.task()["unscored"]) == (1, 2)
    result.stdout.fnmatch_lines(["*record_1*replies.jsonl*"])
