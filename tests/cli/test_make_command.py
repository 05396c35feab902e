"""``vlgate make``: what it lists, questions from scene graphs, and one line for every error."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import table

from vlgate.cli import main
from vlgate.fixtures.scenes.scene_graphs import as_gqa, world_graphs
from vlgate.making.kinds.kind import KINDS, kind
from vlgate.making.kinds.questions import FORMS
from vlgate.making.tools import TOOLS
from vlgate.perturb.questions import TESTS
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import read_source


def test_the_list_says_of_each_kind_what_it_takes_and_needs_and_what_is_missing(vlgate, capsys, monkeypatch):
    listed = vlgate("make", "--list")
    for name in KINDS:
        assert f"{name}: {kind(name).sentence}\n" in listed
        assert kind(name).name == name
    assert "questions: " in listed
    assert "  takes graphs\n" in listed
    from dataclasses import replace

    from vlgate.making.kinds import questions

    monkeypatch.setattr(questions, "QUESTIONS", replace(questions.QUESTIONS, needs=("parser",), uses=("wordnet",)))
    monkeypatch.setattr("vlgate.making.tools.find_spec", lambda name: None if name == "wn" else name)
    main(["make", "--list"])
    listed = capsys.readouterr().out
    assert f"  needs --parser, {TOOLS['parser'].sentence} (installed)" in listed
    assert f"  can use --wordnet, {TOOLS['wordnet'].sentence} (missing: wn; pip install 'vlgate[text]')" in listed


HEAVY = "torch spacy transformers sentence_transformers wn inflect lemminflect cv2 open_clip sklearn"
QUESTIONS = "make questions --from graphs.json --out x --size 8"


@pytest.mark.parametrize("arguments", ["--help", "make --help", "make --list", "models --json", QUESTIONS])
@pytest.mark.usefixtures("gqa")
def test_no_parser_and_no_framework_is_loaded(tmp_path, arguments):
    heavy = f"{HEAVY} PIL pytest" if arguments == QUESTIONS else HEAVY
    code = "import atexit, sys; atexit.register(lambda: print(*(set(sys.argv[1].split()) & set(sys.modules))));"
    code += "from vlgate.cli import main; sys.exit(main(sys.argv[2:]))"
    command = [sys.executable, "-c", code, heavy, *arguments.split()]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, cwd=tmp_path)
    assert ended.stdout.splitlines()[-1] == ""


REAL = Path(__file__).parents[3] / "shared/data/scene-graphs"
GRAPHS = world_graphs(2, 60)


@pytest.fixture
def gqa(tmp_path):
    file = tmp_path / "graphs.json"
    file.write_text(json.dumps({graph.id: as_gqa(graph) for graph in GRAPHS}))
    return file


@pytest.fixture
def questions(gqa, tmp_path, capsys):
    """Run the command on the graphs; return the exit status, the rows and the text on stderr."""

    def run(*arguments, graphs=gqa, out="x", size="24", form="jsonl"):
        where = [] if graphs is None else ["--from", str(graphs)]
        what = ["--out", str(tmp_path / out), "--size", size, "--format", form, "--overwrite"]
        status = main(["make", "questions", *where, *what, *arguments])
        told = capsys.readouterr()
        assert told.out == ""
        rows = []
        if status == 0 and form == "jsonl":
            rows = [json.loads(line) for line in (tmp_path / out / "questions.jsonl").read_text().split("\n") if line]
        return status, rows, told.err

    return run


def test_all_six_tests_are_made_or_those_chosen_and_what_is_repeated_counts_once(questions, gqa, tmp_path):
    status, rows, said = questions()
    assert status == 0
    assert {row["test"] for row in rows} == set(TESTS)
    assert "60 graphs\n" in said
    assert "visual-inv: 120 pairs\n" in said
    assert f"{len(rows)} questions in " in said
    assert {row["image"] for row in rows} <= {graph.id for graph in GRAPHS}
    _, rows, _ = questions("--tests", "negation-dir,order-inv,negation-dir")
    assert [row["test"] for row in rows if row["half"] == "perturbed"] == ["negation-dir"] * 24 + ["order-inv"] * 24
    again = tmp_path / "again.json"
    again.write_text(json.dumps({graph.id: as_gqa(graph) for graph in GRAPHS[:7]}))
    _, _, said = questions("--from", str(gqa), str(again), graphs=None)
    assert "60 graphs\n" in said
    assert "7 x graph of an image that an earlier file has" in said


def test_the_seed_decides_the_bytes(questions, tmp_path):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        questions("--seed", seed, out=name)
    a, b, c = ((tmp_path / name / "questions.jsonl").read_bytes() for name in "abc")
    assert a == b != c


@pytest.mark.slow
def test_the_bytes_do_not_depend_on_the_process(gqa, tmp_path):
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "vlgate", "make", "questions", "--from", gqa]
        command += ["--out", tmp_path / seed, "--size", "24"]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run(command, env=environment, capture_output=True, timeout=120, check=True)
    for name in ("cases/questions.jsonl", "bias.md", "bias.json"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


@pytest.mark.parametrize("form", ["jsonl", "gqa"])
def test_no_image_of_the_files_given_is_asked_about(questions, tmp_path, form):
    questions("--tests", "negation-dir", form=form, out="test", size="8")
    file = tmp_path / "test" / ("questions.json" if form == "gqa" else "questions.jsonl")
    text = file.read_text()
    rows = json.loads(text).values() if form == "gqa" else map(json.loads, text.splitlines())
    taken = {row["imageId" if form == "gqa" else "image"] for row in rows}
    assert taken
    _, train, said = questions("--without", str(file), "--seed", "1", out="train")
    assert not taken & {row["image"] for row in train}
    assert len({row["image"] for row in train}) > 10
    assert f"{len(taken)} x graph of an image that --without names" in said


def test_a_users_own_file_brings_its_words(questions, tmp_path):
    def own(place, *names):
        things = [{"id": str(i), "name": name, "box": [9 + 90 * i, 9, 80, 80]} for i, name in enumerate(names)]
        return {"image": f"{place}.jpg", "objects": things}

    file = tmp_path / "own.json"
    some, others = ("zorbot", "cup", "apple", "dog", "ball"), ("bench", "bus", "tree", "kite", "horse")
    graphs = [own(index, *(some if index % 2 else others)) for index in range(12)]
    file.write_text(json.dumps({"graphs": graphs}))
    _, rows, said = questions("--tests", "negation-dir", graphs=file, out="without")
    assert not any("zorbot" in row["question"] for row in rows)
    assert "unknown names: 1, most often zorbot (6); see --wordnet" in said
    words = {"nouns": [{"name": "zorbot", "number": "singular", "parents": ["animal"]}]}
    file.write_text(json.dumps({"graphs": graphs, "words": words}))
    _, rows, said = questions("--tests", "negation-dir", graphs=file, out="with")
    assert any("zorbot" in row["question"] for row in rows)
    assert "unknown" not in said


def test_a_fault_is_an_error_unless_faults_are_left_out(questions, tmp_path):
    content = {graph.id: as_gqa(graph) for graph in GRAPHS}
    content[GRAPHS[3].id]["objects"]["0"]["w"] = -1
    file = tmp_path / "faulty.json"
    file.write_text(json.dumps(content))
    status, _, said = questions(graphs=file)
    assert status == 4
    assert GRAPHS[3].id in said
    assert not (tmp_path / "x").exists()
    status, _, said = questions("--faults", "leave-out", graphs=file)
    assert status == 0
    assert "left out: 1 x a box without an extent" in said


WRONG = table(Path(__file__).with_name("wrong_questions.tsv"))


@pytest.mark.parametrize(("option", "value", "says", "ends"), WRONG)
def test_an_error_is_one_line(gqa, tmp_path, monkeypatch, capsys, option, value, says, ends):  # noqa: PLR0917
    monkeypatch.chdir(tmp_path)
    box = {"x": 0, "y": 0, "w": 90, "h": 90}
    own = {"image": "1.jpg", "objects": [{"id": "1", "name": "zorbot", "box": [0, 0, 9, 9]}]}
    words = {"nouns": [{"name": "zorbot", "number": "singular", "parents": ["gizmometer"]}]}
    for name, text in {
        "empty.json": "",
        "cut.json": gqa.read_text()[:999],
        "none.json": "[]",
        "there/bias.md": "mine",
        "own.jsonl": "mine",
        "all.jsonl": "".join(json.dumps({"image": graph.id}) + "\n" for graph in GRAPHS),
        "alone.json": json.dumps({"1": {"objects": {"1": {"name": "bench", **box}}}}),
        "unknown.json": json.dumps({"1": {"objects": {"1": {"name": "zorbot", **box}}}}),
        "words.json": json.dumps({"graphs": [own], "words": words}),
    }.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    before = sorted(map(str, Path().iterdir()))
    status = main(["make", "questions", "--from", str(gqa), "--out", "out", "--size", "8", option, value])
    told = capsys.readouterr()
    assert status == int(ends)
    assert told.out == ""
    last = told.err.splitlines()[-1]
    assert last.startswith("vlgate make: ")
    assert says in last
    assert "Traceback" not in told.err
    assert sorted(map(str, Path().iterdir())) == before
    assert Path("there/bias.md").read_text() == "mine"


@pytest.mark.skipif(not REAL.is_dir(), reason=f"there is no {REAL}")
def test_real_graphs_of_visual_genome_give_questions(questions):
    files = [str(file) for file in sorted(REAL.glob("vg_scene_graphs*.json"))]
    status, rows, said = questions("--from", *files, "--faults", "leave-out", graphs=None, size="60")
    assert status == 0
    assert len(rows) > 100
    assert "54 graphs" in said


@pytest.mark.parametrize("form", ["cases", "release"])
def test_the_readers_read_what_is_written(questions, tmp_path, form):
    status, _, said = questions("--tests", "negation-dir,order-inv,visual-inv", form=form, out="set")
    assert status == 0
    assert f"not made: visual-inv; --format {form} has no form for perturbed images, take jsonl" in said
    source, benchmark = ("own", "made") if form == "cases" else ("carets", "carets")
    wanted = {f"{benchmark}/negation-dir", f"{benchmark}/order-inv"}
    tasks = read_source(source, ReadOptions(folders=(tmp_path / "set",), seed=0, wanted=wanted.__contains__))
    assert {task.id: len(task.cases) for task in tasks} == dict.fromkeys(wanted, 24)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "jsonl"])
def test_perturbed_images_are_in_no_form_and_in_no_report_but_jsonl(questions, tmp_path, form):
    status, _, said = questions("--tests", "visual-inv", form=form, out="set")
    assert status == 4
    assert f"--tests visual-inv: --format {form} has no form for perturbed images; take --format jsonl" in said
    assert not (tmp_path / "set").exists()
    assert questions("--tests", "visual-inv,order-inv", form=form, out="set")[0] == 0
    assert set(json.loads((tmp_path / "set/bias.json").read_text())["tests"]) == {"order-inv"}


def test_the_report_says_what_is_answered_without_the_image(questions, tmp_path):
    _, _, said = questions("--tests", "negation-dir", out="set", size="60")
    report = json.loads((tmp_path / "set" / "bias.json").read_text())
    blind = report["tests"]["negation-dir"]["blind"]
    assert blind["low"] < blind["value"] < blind["high"]
    assert blind["n"] == 120
    assert report["files"] == ["questions.jsonl"]
    page = (tmp_path / "set" / "bias.md").read_text()
    told = report["tests"]["negation-dir"]
    assert {rule["chance"] for rule in told["probes"]} == {0.5}
    assert (f"beware: negation-dir: {told['warning']}" in said) is bool(told["warning"])
    assert said.endswith(
        f"; a gate of 30 cases of each test needs at most {report['gate']['inputs']} graphs such as these\n"
    )
    assert f"| negation-dir | blind baseline, cross-validated | {blind['value']:.3f} | 0.500 | 120 |" in page
