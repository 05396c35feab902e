"""Options, files, data, images and models that cannot be used or are hostile: the run ends with a clear message."""

import importlib.util
import json
import os
import re
from contextlib import suppress
from operator import methodcaller
from pathlib import Path

import pytest
from builders import table
from PIL import Image

from vlgate.cli import main
from vlgate.plugin.settings import joined
from vlgate.record.options import SETTINGS


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (["--data", "here", "-q"], ["--data=here", "-q"]),
        (["--data", "nowhere"], ["--data", "nowhere"]),
        (["--results", "new", "-n", "2"], ["--results=new", "-n", "2"]),
        (["--model", "here", "--model=here"], ["--model=here", "--model=here"]),
        (["--other", "here"], ["--other", "here"]),
        (["--results"], ["--results"]),
        (["--overwrite", "here"], ["--overwrite", "here"]),
    ],
)
def test_a_value_that_could_be_taken_for_a_test_path_is_joined(tmp_path, given, made):
    (tmp_path / "here").mkdir()
    assert joined(given, tmp_path) == made


@pytest.mark.slow
def test_new_results_with_a_space_are_those_of_the_whole_run(place, right, workers):
    place.ready(n=12)
    result = place.pytester.runpytest_subprocess(
        "--pyargs", "tests_vl", "--data", "data", "--results", "new", right, "--device=cpu", *workers
    )
    assert result.ret in {0, 1}
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


def test_a_value_of_an_ini_file_that_is_not_a_choice_is_refused(place):
    (place.path / "pytest.ini").write_text("[pytest]\nvlgate_overwrite = perhaps\n")
    place.run(overwrite=False, ret=4, error="ERROR: *overwrite*perhaps*")


def test_an_empty_value_of_o_or_of_the_variable_addopts_is_refused(place, monkeypatch):
    refused(place.run("-o", "vlgate_model=", model=None), "vlgate_model")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--model=")
    refused(place.run(model=None), "--model=")


@pytest.mark.parametrize("value", ["", "  ", os.pathsep])
def test_an_empty_variable_is_refused_unless_an_option_takes_its_place(place, right, monkeypatch, value):
    place.valse()
    monkeypatch.setenv("VLGATE_DATA", value)
    refused(place.run(right, data=False), "the variable VLGATE_DATA")
    assert place.run(right, "--health=off").ret == 0
    monkeypatch.setenv("VLGATE_CACHE", value)
    refused(place.run(right), "the variable VLGATE_CACHE")
    assert place.run(right, "--cache=off", "--health=off").ret == 0


@pytest.mark.parametrize(
    "written", ["vlgate_suite =\n    valse/existence,\n    valse/plur*", "vlgate_suite = valse/*,"]
)
def test_names_in_an_ini_file_may_end_with_commas(place, right, written):
    place.valse()
    place.valse(file="plurals.json")
    (place.path / "pytest.ini").write_text(f"[pytest]\n{written}\nvlgate_missing_images = skip\n")
    place.run(right, "--health=off")
    assert set(place.metrics()["tasks"]) == {"valse/existence", "valse/plurality"}


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


def test_a_missing_json_is_not_a_task_of_the_run(place, right):
    place.ready('[gate."valse/existence".acc_r]\nmin = 0.5\n', n=4, file="plurals.json")
    result = place.run(right, "--missing-images=skip", ret=0)
    assert list(place.metrics()["tasks"]) == ["valse/plurality"]
    result.stdout.fnmatch_lines(["not run: valse/existence:acc_r: none of its tasks is in this run"])


def outside(record):
    record["image_file"] = "../../etc/passwd"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        *((methodcaller("pop", field), field) for field in ("caption", "foil", "image_file", "mturk")),
        (outside, "../../etc/passwd"),
    ],
)
def test_a_record_that_cannot_be_read_is_named_and_left_out(place, right, spoil, said):
    place.ready(n=4, change=lambda i, record: spoil(record) if i == 2 else None)
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


LOADED = """
def __init__(self):
    open("loaded", "w").close()

def match(self, pairs):
    return np.array([-float(len(pair.text)) for pair in pairs])
"""


@pytest.fixture
def loading(place):
    return place.model(LOADED)


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
    [("--dtype=flot32", "*float32*float16*bfloat16*"), ("--device=cud", "*auto, cpu, cuda, cuda:N*mps*cuda*")],
)
@pytest.mark.usefixtures("loading")
def test_every_model_refuses_an_unknown_device_or_dtype(place, named, option, expected):
    place.valse(n=4)
    place.run(f"--model={named}", option, ret=4, error=f"ERROR: {option[2:].split('=')[0]}={expected}")
    assert not (place.path / "loaded").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--model=my_model"], "*did you mean 'my_model:build'?"),
        (["--model=my_model.py"], "*did you mean 'my_model:build'?"),
        (["--model=my_model:build", "--data=data/valse"], "*did you mean --data {path}/data?"),
        (["--model=my_model:build", "--data=data"], "ERROR: *existence.json*"),
    ],
    ids=["module", "file", "a folder within the data folder", "a file that is cut off"],
)
@pytest.mark.usefixtures("loading")
def test_what_is_nearly_right_is_told_how_to_write_it(place, options, says):
    file = place.valse(n=4)
    if says.endswith("json*"):
        file.write_text(file.read_text()[:-40])
    result = place.run(*options, data=False, ret=4, error=says.format(path=place.path))
    assert "bag-of-words" not in result.stderr.str()


REFUSED = [
    (
        ("--ray=auto", "-n", "2"),
        "--ray=auto with -n 2: the actors of the cluster score in place of workers; leave -n 2 out",
    ),
    (("--ray=auto", "--model=oracle"), "the model 'oracle' computes nothing that needs a cluster; leave --ray out"),
    (("--ray=auto", "--device=cuda:1"), "Ray chooses the GPU of each actor; expected auto, cpu or cuda"),
]
if importlib.util.find_spec("ray") is None:
    REFUSED += [(("--ray=auto",), "needs Ray, which is not installed; pip install 'vlgate[[]ray]'")]
else:
    REFUSED += [(("--ray=127.0.0.1:1",), "no cluster answers at 127.0.0.1:1 *; start one with ray start --head*")]


@pytest.mark.parametrize(("given", "says"), REFUSED, ids=lambda value: value[-1] if isinstance(value, tuple) else "")
def test_what_a_cluster_cannot_score_is_refused(place, right, given, says):
    place.valse(n=4)
    model = () if any(one.startswith("--model") for one in given) else (right,)
    result = place.run(*model, *given, ret=4)
    lines = [line for line in result.errlines if line.strip()]
    assert len(lines) <= 2
    result.stderr.fnmatch_lines([f"ERROR: *{says}*"])
    assert not (place.path / "out" / "metrics.json").exists()


@pytest.fixture
def few(place):
    place.valse(n=4)
    return place


def test_a_pipe_in_place_of_cases_is_refused(few, right):
    os.mkfifo(few.path / "data" / "cases.jsonl")
    few.run(right, ret=4, error="ERROR: *cases.jsonl*not a regular file*")


def test_strings_in_an_object_array_are_not_numbers(few):
    result = few.run(few.matching(first="return np.array([pair.text for pair in pairs], dtype=object)"), ret=1)
    assert few.task()["unscored"] == 4
    result.stdout.fnmatch_lines(["*match() of the model * returned *str*"])


def test_a_note_of_a_model_cannot_format_the_summary(few):
    note = "note = '# 100 % right\\n\\n## Gates pass | <img src=x> \\x1b[31m'\n"
    few.run(few.matching(head=note))
    summary = (few.path / "out" / "summary.md").read_text()
    assert "\n## Gates pass" not in summary
    assert "<img" not in summary
    assert "\x1b" not in summary


def test_the_environment_lists_the_protocols(few, right):
    for args, expected in (([], []), (["--protocol=valse_paper_ties", "--overwrite"], ["valse_paper_ties"])):
        few.run(right, *args)
        found = json.loads((few.path / "out" / "environment.json").read_text())
        assert found["options"]["protocols"] == expected


HTML = "<img src=x onerror=alert(7)><script>alert(7)</script>"
CODES = "\x1b[31m\x07\x9b2J\u202e"
HOSTILE = f"{CODES}{HTML}|[a](javascript:alert(7))"
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
READER = f"""
note = {HOSTILE!r}
asked = 0
def match(self, pairs):
    if any(" 3" in pair.text for pair in pairs):
        raise ValueError({HOSTILE!r})
    return -np.array([len(pair.text) for pair in pairs])
def answer(self, questions):
    return [{HOSTILE!r} for _ in questions]
"""


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
    (place.path / "data" / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
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
    result = place.run(
        model, "--disputes=disputes.jsonl", "--junitxml=junit.xml", "--alluredir=allure", "-rA", "-v", subprocess=True
    )
    assert "mine/pairs" in place.metrics()["tasks"], result.outlines
    texts = {"stdout": result.stdout.str(), "stderr": result.stderr.str()}
    texts |= {
        name: (place.path / name).read_text() for name in ("page.md", "junit.xml", "out/summary.md", "out/badge.json")
    }
    found = [json.loads(file.read_text()) for file in (place.path / "allure").glob("*-result.json")]
    texts["allure"] = "\n".join(one.get("descriptionHtml", "") for one in found)
    assert texts["allure"]
    texts["report.html"] = (place.path / "out" / "report.html").read_text()
    return texts


COMMANDS = (
    ["show", "out", "mine/pairs:<script>1"],
    ["misses", "out"],
    ["judge", "out", "--thresholds", "thresholds.toml"],
    ["judge", "out", "--thresholds", "thresholds.toml", "--json"],
    ["compare", "out", "out"],
    ["export", "out", "--format", "csv"],
    ["export", "out", "--format", "jsonl"],
    ["bless", "out", "--to", "kept", "--why", HOSTILE],
    ["check", "--data", "data"],
    ["tasks", "--data", "data"],
    ["report", "out"],
    ["shortcuts", "out"],
    [f"show{CODES}"],
    ["show", "out", HOSTILE],
    ["misses", "out", "--task", HOSTILE],
    ["misses", "out", "--slice", HOSTILE],
    ["report", HOSTILE],
    ["cache", "clear", "--model", HOSTILE],
)


@pytest.mark.slow
def test_no_text_of_a_file_or_a_model_reaches_a_terminal_or_a_page_as_a_command(hostile, capfd):
    capfd.readouterr()
    for command in COMMANDS:
        with suppress(SystemExit):
            main(command)
        said = capfd.readouterr()
        hostile[" ".join(command)] = said.out + said.err
    codes = {name: OBEYED.findall(text) for name, text in hostile.items()}
    assert not {name: some for name, some in codes.items() if some}
    html = ("report.html", "allure", "page.md", "out/summary.md", "out/badge.json", "junit.xml")
    assert not [name for name in html if "<img src=x" in hostile[name] or "<script>alert" in hostile[name]]
    assert not [name for name in ("page.md", "out/summary.md") if "](javascript:" in hostile[name]]
    assert any("alert(7)" in hostile[name] for name in html)
