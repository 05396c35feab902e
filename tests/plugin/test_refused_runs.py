"""Options, files, data, images and models that cannot be used or are hostile: the run ends with a clear message."""

import importlib.util
import json
import os
import re
from contextlib import suppress
from pathlib import Path

import pytest
from builders import table, tabled, write_lines
from PIL import Image

from vlgate.cli import main
from vlgate.plugin.parse_options import joined
from vlgate.record.options import SETTINGS


def rows(test):
    return table(Path(__file__).with_name("wrong_options.tsv"), test)


@pytest.mark.parametrize(("given", "made"), rows("joined"))
def test_a_value_that_could_be_taken_for_a_test_path_is_joined(tmp_path, given, made):
    (tmp_path / "here").mkdir()
    assert joined(given.split(), tmp_path) == made.split()


@pytest.mark.slow
def test_new_results_with_a_space_are_those_of_the_whole_run(place, right, workers):
    place.ready(n=12)
    place.run("--data", "data", "--results", "new", right, "--device=cpu", *workers, data=False, subprocess=True)
    assert place.task(folder="new")["judged"] == 12


def refused(result, named):
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: *{named}*empty*"])


@pytest.mark.parametrize("name", [setting.name for setting in SETTINGS.values() if not setting.flag])
def test_an_empty_value_is_refused(place, name):
    refused(place.run(f"--{name}="), f"--{name}=: expected")
    assert not (place.path / "out").exists()


@pytest.mark.parametrize(
    "given",
    [
        *("--model= ", "--model=\t", "--model=\u00a0", "--data=data --data=", "--suite=,", "--suite= , "),
        *("--suite=valse/existence,,", "--suite=valse/existence,,valse/plurality", "--suite=,valse/existence"),
        *("--suite=valse/existence --suite=", "--disputes=known --disputes=", "--protocol=,", "--baseline= "),
    ],
)
def test_a_blank_value_among_others_is_refused(place, given):
    place.valse()
    args = given.replace(" --", "\n--").split("\n")
    refused(place.run(*args, model=None), args[-1].partition("=")[0])


@pytest.mark.parametrize("name", ["model", "data", "disputes", "thresholds", "baseline", "results", "cache"])
def test_a_value_that_can_be_no_path_is_refused(place, name):
    place.valse(n=2)
    texts = ["x" * 5000, "a\0b", "a\ud800b", *(["~no-such-user/x"] if name == "model" else ["~no-such-user"])]
    for text in texts:
        place.run(f"--{name}={text}", ret=4, error=f"ERROR: *{name}=*" if name != "model" else "ERROR: model=*")
    place.run(f"--{name}", "x" * 5000, ret=4)
    Path("loop").symlink_to("loop")
    place.run(f"--{name}=loop", ret=4)


TOML = "[tool.pytest.ini_options]\n"


@pytest.mark.parametrize(
    ("file", "written"),
    [
        *(("pytest.ini", f"[pytest]\nvlgate_{key}\n") for key in ("model =", "data =", "suite =  ", "baseline =\n")),
        *(("pyproject.toml", f"{TOML}vlgate_{key}\n") for key in ('model = ""', "data = []", 'suite = [""]')),
        ("pyproject.toml", f'{TOML}addopts = ["--model="]\n'),
    ],
)
def test_an_empty_key_of_a_file_of_options_is_refused(place, file, written):
    (place.path / file).write_text(written)
    named = "model" if "addopts" in written else re.search(r"vlgate_\w+", written)[0]
    refused(place.run(data=False, model=None), named)


def test_an_empty_value_of_o_or_of_addopts_and_one_that_is_not_a_choice_are_refused(place, monkeypatch):
    refused(place.run("-o", "vlgate_model=", model=None), "vlgate_model")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--model=")
    refused(place.run(model=None), "--model=")
    monkeypatch.delenv("PYTEST_ADDOPTS")
    (place.path / "pytest.ini").write_text("[pytest]\nvlgate_overwrite = perhaps\n")
    place.run(overwrite=False, ret=4, error="ERROR: *overwrite*perhaps*")


@pytest.mark.parametrize("value", ["", "  ", os.pathsep])
def test_an_empty_variable_is_refused_unless_an_option_takes_its_place(place, right, monkeypatch, value):
    place.valse()
    monkeypatch.setenv("VLGATE_DATA", value)
    refused(place.run(right, data=False), "the variable VLGATE_DATA")
    assert place.run(right, "--health=off").ret == 0
    monkeypatch.setenv("VLGATE_CACHE", value)
    refused(place.run(right), "the variable VLGATE_CACHE")
    assert place.run(right, "--cache=off", "--health=off").ret == 0


@pytest.mark.parametrize(("options", "says"), rows("options"))
def test_an_option_that_cannot_be_used_ends_the_run_before_it_begins(place, options, says):
    place.valse(n=2)
    (place.path / "my_file").write_text("in the way")
    place.run(*options.split(), ret=4, error=says)


@pytest.mark.parametrize(("text", "says"), rows("thresholds"))
def test_a_threshold_that_cannot_be_used_ends_the_run_before_it_begins(place, right, text, says, workers):
    place.ready(text, n=2)
    place.run(right, *workers, ret=4, error=f"ERROR: *thresholds.toml{says}")


@pytest.fixture
def own_cases(place):
    """A data folder with a task of the user's own, and a gate on it."""
    place.image("../1.png")
    row = {"task": "mine/swap", "image": "1.png", "caption": "a left of b", "foil": "b left of a"}
    write_lines(place.path / "data/cases.jsonl", [row])
    place.thresholds('[gate."mine/swap".acc_r]\nmin = 0.5\n')
    (place.path / "misspelled.toml").write_text('schema = 1\n[gate."valse/existance".acc_r]\nmin = 0.5\n')
    return place


@pytest.mark.parametrize(("options", "says"), rows("own task"))
def test_a_gate_on_a_task_of_ones_own_hides_no_other_mistake(own_cases, options, says):
    own_cases.run(*options.split(), data=False, ret=4, error=says)


@tabled
def test_names_add_up_and_spaces_and_commas_between_them_do_not_matter(own_cases, right, written, option):
    own_cases.valse(n=2)
    own_cases.valse(n=2, file="plurals.json")
    (own_cases.path / "pytest.ini").write_text(f"[pytest]\n{written}\nvlgate_missing_images = skip\n")
    own_cases.run(right, *option, "--health=off")
    assert set(own_cases.metrics()["tasks"]) - {"valse/plurality"} == {"mine/swap", "valse/existence"}


@pytest.mark.parametrize("said", ["caption", "foil", "image_file", "mturk", "../../etc/passwd"])
def test_a_record_that_cannot_be_read_is_named_and_left_out(place, right, said):
    def spoil(i, record):
        if i == 2:
            record.update(image_file=said) if "/" in said else record.pop(said)

    place.ready(n=4, change=spoil)
    place.run(right, ret=1, says=f"*1 of its records cannot be read (record_2: *{said}*")
    assert (place.task()["judged"], place.task()["left_out"]["record that cannot be read"]) == (3, 1)
    [gate] = place.metrics()["gates"]
    assert gate["why"].startswith("1 of 4 cases are skipped or lost to records that cannot be read, more than max_skip")


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


NAN_SAYS = "*match() *nan for item 0 of 2, 'There are * dogs.' about 'v7w_*.jpg'; *"
SHORTER = "np.array([-float(len(pair.text)) for pair in pairs])"
SEVEN = "any('There are 7 dogs.' == pair.text for pair in pairs)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "says"),
    [
        (f"if {SEVEN}: return {SHORTER} * np.nan\n    return {SHORTER}", NAN_SAYS),
        (f"if {SEVEN}: return {SHORTER}[1:]\n    return {SHORTER}", "*match() *shape (1,) for n = 2*"),
        (f"if {SEVEN}: return None\n    return {SHORTER}", "*match() *shape () *"),
        (f"if {SEVEN}: raise ValueError('no sevens')\n    return {SHORTER}", "BROKEN: *ValueError: no sevens*"),
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
    result.stdout.fnmatch_lines(["inconclusive * valse/existence *"])
    assert not data.metrics()["complete"]
    assert re.search("worker gw.*crashed", data.metrics()["why"])


@pytest.fixture
def loading(place):
    """A model that leaves a file when it is loaded."""
    return place.matching(head='def __init__(self):\n    open("loaded", "w").close()')


def test_a_run_with_few_images_is_refused_before_the_model_is_loaded(place, loading, workers):
    place.valse(n=40, images=False)
    assert place.run(loading, "--collect-only").ret == 0
    place.image("vg/100.jpg")
    result = place.run(loading, *workers, ret=4, error="ERROR: 2 of 40 cases have their image: *--missing-images skip*")
    result.stderr.fnmatch_lines(["*valse/existence: 2 of 40 cases have their image"])
    assert not (place.path / "loaded").exists()
    place.run(loading, *workers, "--missing-images=skip", "--health=off")
    assert place.task()["judged"] == 40


@pytest.mark.parametrize("name", ["oracle", "blind", "constant", "random"])
def test_a_reference_model_needs_no_images(place, name):
    place.valse(n=40, images=False)
    assert place.run(f"--model={name}", "--health=off").ret in {0, 1}
    assert place.task()["judged"] == 40


@pytest.mark.parametrize("named", ["bag-of-words", "oracle", "my_model:build"])
@pytest.mark.parametrize(
    ("option", "expected"),
    [("--dtype=flot32", "*float32*float16*bfloat16*"), ("--device=cud", "*auto, cpu, gpu, cuda, cuda:N*mps*cuda*")],
)
@pytest.mark.usefixtures("loading")
def test_every_model_refuses_an_unknown_device_or_dtype(place, named, option, expected):
    place.valse(n=4)
    place.run(f"--model={named}", option, ret=4, error=f"ERROR: {option[2:].split('=')[0]}={expected}")
    assert not (place.path / "loaded").exists()


@pytest.mark.parametrize(("options", "says"), rows("nearly right"))
@pytest.mark.usefixtures("loading")
def test_what_is_nearly_right_is_told_how_to_write_it(place, options, says):
    file = place.valse(n=4)
    if says.endswith("json*"):
        file.write_text(file.read_text()[:-40])
    result = place.run(*options.split(), data=False, ret=4, error=says.format(path=place.path))
    assert "bag-of-words" not in result.stderr.str()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            "--ray=auto -n 2",
            "--ray=auto with -n 2: the actors of the cluster score in place of workers; leave -n 2 out",
        ),
        ("--ray=auto --model=oracle", "the model 'oracle' computes nothing that needs a cluster; leave --ray out"),
        ("--ray=auto --device=cuda:1", "Ray chooses the GPU of each actor; expected auto, cpu, gpu or cuda"),
        ("--ray=127.0.0.1:1", "no cluster answers at 127.0.0.1:1 *; start one with ray start --head*")
        if importlib.util.find_spec("ray")
        else ("--ray=auto", "needs Ray, which is not installed; pip install 'vlgate[[]ray]'"),
    ],
)
def test_what_a_cluster_cannot_score_is_refused(place, right, given, says):
    place.valse(n=4)
    result = place.run(*given.split(), *([] if "--model" in given else [right]), ret=4, error=f"ERROR: *{says}*")
    assert len([line for line in result.errlines if line.strip()]) <= 2
    assert not (place.path / "out" / "metrics.json").exists()


def test_a_pipe_in_place_of_cases_is_refused(place, right):
    place.valse(n=4)
    os.mkfifo(place.path / "data" / "cases.jsonl")
    place.run(right, ret=4, error="ERROR: *cases.jsonl*not a regular file*")


HTML = "<img src=x onerror=alert(7)><script>alert(7)</script>"
CODES = "\x1b[31m\x07\x9b2J\u202e"
HOSTILE = f"{CODES}{HTML}|[a](javascript:alert(7))"
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
READER = f"""
note = {HOSTILE + chr(10) * 2 + "## Gates pass"!r}
asked = 0
def match(self, pairs):
    if any(" 3" in pair.text for pair in pairs):
        raise ValueError({HOSTILE!r})
    return -np.array([len(pair.text) for pair in pairs])
def answer(self, questions):
    return [{HOSTILE!r} for _ in questions]
"""
FILES = ("page.md", "junit.xml", "out/summary.md", "out/badge.json", "out/report.html")


@pytest.fixture
def hostile(place, monkeypatch):
    """A finished run with payloads in every field that takes them, and what it wrote and printed, by name."""
    image = f"{HTML.replace('/', '')}.png"
    file = place.path / "data" / image
    file.parent.mkdir(parents=True)
    Image.new("RGB", (8, 8)).save(file)
    tags = {"<script>": "<img src=x onerror=alert(7)>"}
    texts = [{"caption": f"{HOSTILE} {n}", "foil": f"{HOSTILE} {n} b", "tags": tags} for n in range(6)]
    rows = [{"task": "mine/pairs", "id": f"<script>{n}", "image": image, **row} for n, row in enumerate(texts)]
    asked = {"task": "mine/asked", "image": image, "answer": "yes"}
    rows += [{**asked, "id": f"q{n}", "question": f"{HOSTILE} {n}?"} for n in range(3)]
    write_lines(place.path / "data" / "cases.jsonl", rows)
    line = {"task": "mine/pairs", "case": "<script>0", "claim": "wrong", "evidence": HOSTILE, "source": HOSTILE}
    (place.path / "disputes.jsonl").write_text(json.dumps(line))
    why = json.dumps(HOSTILE)
    limit = f'[limit."mine/asked".accuracy]\nmax = 0.5\nmodel = "m"\nwhy = {why}\n'
    place.thresholds(f'[gate."mine/pairs".acc_r]\nmin = 0.5\nwhy = {why}\n{limit}')
    place.model(READER, name="injected")
    source = (place.path / "injected.py").read_text().replace("def build():", "def build(weights):")
    (place.path / "injected.py").write_text(source)
    model = f"--model=injected:build:{HTML}.bin"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place.path / "page.md"))
    options = ("--disputes=disputes.jsonl", "--junitxml=junit.xml", "--alluredir=allure", "-rA", "-v")
    result = place.run(model, *options, subprocess=True)
    assert "mine/pairs" in place.metrics()["tasks"], result.outlines
    texts = {name: (place.path / name).read_text() for name in FILES}
    texts |= {"stdout": result.stdout.str(), "stderr": result.stderr.str()}
    found = [json.loads(file.read_text()) for file in (place.path / "allure").glob("*-result.json")]
    texts["allure"] = "\n".join(one.get("descriptionHtml", "") for one in found)
    assert texts["allure"]
    return texts


@pytest.mark.slow
def test_no_text_of_a_file_or_a_model_reaches_a_terminal_or_a_page_as_a_command(hostile, capfd):
    capfd.readouterr()
    for typed in rows("typed"):
        command = [word.replace("CODES", CODES).replace("HOSTILE", HOSTILE) for word in typed.split()]
        with suppress(SystemExit):
            main(command)
        said = capfd.readouterr()
        hostile[" ".join(command)] = said.out + said.err
    codes = {name: OBEYED.findall(text) for name, text in hostile.items()}
    assert not {name: some for name, some in codes.items() if some}
    html = (*FILES, "allure")
    assert not [name for name in html if "<img src=x" in hostile[name] or "<script>alert" in hostile[name]]
    pages = [hostile[name] for name in ("page.md", "out/summary.md")]
    assert not [text for text in pages if "](javascript:" in text or "\n## Gates pass" in text]
    assert any("alert(7)" in hostile[name] for name in html)
