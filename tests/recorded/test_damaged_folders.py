"""What the commands say about a folder that holds no run, or a damaged one: the file, the key and the remedy."""

import json
import os
import shutil

import pyarrow as pa
import pytest
from pyarrow.parquet import read_table, write_table

from tests.report.page.page_runs import result_of
from vlgate.cli import main
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.report.folder import write_figures, write_rows
from vlgate.run.planning import make_plan

WHOLE = ("report", "compare", "bless")  # read a run that must be whole


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run of two tasks."""
    folder = tmp_path_factory.mktemp("whole")
    suite = ("scenes/relations", "scenes/visual-inv")
    options = Options(folder=folder, model="oracle", suite=suite, limit=20, thresholds=None, results=folder)
    result = result_of(make_plan(options).tasks)
    assert write_rows(result, options) == []
    assert write_figures(result, ModelCard(name="oracle"), options, 1) == []
    return folder


@pytest.fixture
def folder(whole, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(whole, tmp_path / "run")


def refusal(command, folder, capsys):
    """What the command prints about a folder that it refuses."""
    assert main([command, *(word.format(folder) for word in ENDED[command])]) == 4
    said = capsys.readouterr()
    assert not said.out
    return said.err


@pytest.mark.parametrize("command", WHOLE)
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "holds no metrics.json; name the results folder of a run that ended"),
        ("{", "metrics.json is not JSON; name"),
        ("[" * 100_000, "metrics.json is not JSON; name"),
        ("[]", "metrics.json is not a JSON object; name"),
        ('{"schema": 1}', "metrics.json has schema 1, expected 2; run it again with this version"),
        ('{"schema": 2, "complete": true}', "metrics.json is damaged: model is missing; run it again"),
    ],
)
def test_a_folder_that_holds_no_run_is_named_as_it_was_typed(command, content, said, tmp_path, capsys):
    if content is not None:
        (tmp_path / "metrics.json").write_text(content)
    assert refusal(command, tmp_path, capsys).startswith(f"vlgate {command} {tmp_path}: {said}")


def first_cell(name, value):
    """A change of cases.parquet in the first cell of a column."""

    def change(table):
        values = table.column(name).to_pylist()
        column = pa.array([value, *values[1:]], table.field(name).type)
        return table.set_column(table.column_names.index(name), name, column)

    return change


def test_rows_that_another_program_wrote_with_wider_types_are_read(folder, vlgate):
    table = read_table(folder / "cases.parquet")
    place = table.column_names.index("case")
    wide = table.set_column(place, "case", table.column("case").cast(pa.large_string()).dictionary_encode())
    write_table(wide, folder / "cases.parquet")
    assert "0 newly broken" in vlgate("compare", folder, folder)


def test_a_damaged_environment_is_named(folder, capsys):
    (folder / "environment.json").write_text("{")
    assert "environment.json is not JSON" in refusal("compare", folder, capsys)


def test_runs_that_cannot_be_compared_are_named_by_the_command(folder, tmp_path, capsys):
    other = shutil.copytree(folder, tmp_path / "other")
    figures = json.loads((other / "metrics.json").read_text())
    figures["run"]["ties"] = "half"
    (other / "metrics.json").write_text(json.dumps(figures))
    assert main(["compare", str(folder), str(other)]) == 4
    said = "was judged with --ties strict, the later run with --ties half; use the same"
    assert capsys.readouterr().err == f"vlgate compare {folder}: {said}\n"


def test_an_incomplete_run_is_refused_where_a_whole_one_is_needed(folder, capsys):
    figures = json.loads((folder / "metrics.json").read_text())
    (folder / "metrics.json").write_text(json.dumps({**figures, "complete": False, "why": "the disk was full"}))
    said = "the run is incomplete (the disk was full); name one that came to its end"
    assert refusal("compare", folder, capsys) == f"vlgate compare {folder}: {said}\n"
    assert refusal("bless", folder, capsys) == f"vlgate bless {folder}: {said}\n"


def changed_at(file, path, value):
    """A change of a JSON file at a path; ``GONE`` leaves the key out."""

    def change(folder):
        content = json.loads((folder / file).read_text())
        inner = content
        for key in path[:-1]:
            inner = inner[key]
        if value is GONE:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value
        (folder / file).write_text(json.dumps(content))

    return change


GONE = object()
TASK = ("tasks", "scenes/relations")
ENDED = {
    "judge": ("{}", "--thresholds", "gates.toml"),
    "report": ("{}",),
    "show": ("{}", "scenes/relations:{case}"),
    "misses": ("{}",),
    "compare": ("{}", "{}"),
    "bless": ("{}", "--to", "kept"),
    "export": ("{}", "--format", "csv"),
}


def ended(command, folder, capsys):
    """The status of a command, and what it prints; its words are checked to be plain lines."""
    (folder.parent / "gates.toml").write_text('schema = 1\n[gate."scenes/relations".acc_r]\nmin = 0.1\n')
    case = json.loads((folder.parent / "case").read_text())
    status = main([command, *(word.format(folder, case=case) for word in ENDED[command])])
    said = capsys.readouterr()
    assert said.err.replace("\n", "").isprintable()
    assert (status == 4) == (said.err.count("\n") == 1)
    return status, said.err


@pytest.fixture
def known_case(whole, tmp_path):
    (tmp_path / "case").write_text(json.dumps(read_table(whole / "cases.parquet").column("case")[0].as_py()))


@pytest.mark.usefixtures("known_case")
@pytest.mark.parametrize("command", ENDED)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("metrics.json", (*TASK, "metrics", "acc_r", "low"), GONE), "tasks.scenes/relations.metrics.acc_r.low"),
        (("metrics.json", ("model", "checks"), GONE), "model.checks is missing"),
        (("metrics.json", (*TASK, "judged"), "twenty"), "tasks.scenes/relations.judged='twenty' is not an integer"),
        (("metrics.json", ("gates", 1, "decision"), GONE), "gates[1].decision is missing"),
        (("metrics.json", ("gates", 0, "confidence"), None), "gates[0].confidence=None is not a number"),
        (("metrics.json", ("unasked",), "x"), "unasked='x' is not an object"),
        (("metrics.json", ("gates", 0, "n"), 10**400), "gates[0].n=1000"),
        (("metrics.json", ("gates", 0, "confidence"), 0.2), "gates[0].confidence=0.2 is not at least 0.5"),
        (("metrics.json", (*TASK, "metrics", "acc_r", "value"), 2.0), "value=2.0 is not at most 1"),
        (("metrics.json", (*TASK, "metrics", "acc_r", "value"), float("nan")), "value=nan is not a number"),
        (("metrics.json", ("model", "name"), "\ud800"), "model.name='\\ud800' is not text"),
        (("metrics.json", ("run", "shard"), "3"), "run.shard='3' is not of the form"),
        (("metrics.json", ("why",), "it is late"), "why is there"),
        (("environment.json", ("options",), []), "options=[] is not an object"),
        (("environment.json", ("options", "folder"), GONE), "options.folder is missing"),
        (("environment.json", ("options", "pairs"), GONE), "options.pairs is missing"),
        (("environment.json", ("options", "data"), [1]), "options.data[0]=1 is not a string"),
        (("environment.json", ("options", "protocols"), {"a": 1}), "options.protocols={'a': 1} is not an array"),
        (("environment.json", ("packages",), 3), "packages=3 is not an object"),
        (("environment.json", ("packages", "vlgate"), None), "packages.vlgate=None is not a string"),
    ],
)
def test_every_command_refuses_a_value_out_of_its_schema(folder, command, change, said, capsys):
    file, path, value = change
    changed_at(file, path, value)(folder)
    status, message = ended(command, folder, capsys)
    assert not message or message.endswith("; run it again with this version\n")
    needless = command == "compare" and file == "metrics.json" and path[0] in ("unasked", "gates")
    assert (status, said in message, file in message) == ((0, False, False) if needless else (4, True, True))


@pytest.mark.usefixtures("known_case")
@pytest.mark.parametrize("command", ENDED)
@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("metrics.json", ("new",)),
        ("metrics.json", ("model", "box")),
        ("metrics.json", (*TASK, "box")),
        ("metrics.json", (*TASK, "metrics", "acc_r", "box")),
        ("metrics.json", ("gates", 0, "box")),
        ("environment.json", ("box",)),
        ("environment.json", ("options", "box")),
    ],
)
def test_every_command_ignores_a_key_that_it_does_not_know(folder, command, file, path, capsys):
    plain = ended(command, folder, capsys)
    changed_at(file, path, 1)(folder)
    shutil.rmtree("kept", ignore_errors=True)
    assert ended(command, folder, capsys) == plain


@pytest.mark.usefixtures("known_case")
@pytest.mark.parametrize("command", ENDED)
def test_every_command_says_that_a_file_is_of_a_newer_version(folder, command, capsys):
    changed_at("metrics.json", ("schema",), 3)(folder)
    said = "metrics.json has schema 3, expected 2; a newer version of vlgate wrote it: install that version"
    status, message = ended(command, folder, capsys)
    assert (status, said in message) == (4, True)


@pytest.mark.usefixtures("known_case")
@pytest.mark.parametrize("command", ENDED)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda table: table.drop_columns(["why"]), "cases.parquet lacks the column 'why'"),
        (lambda table: table.slice(1), "cases.parquet has 19 cases of scenes/relations, run/metrics.json has 20"),
        (first_cell("state", "lost"), "cases.parquet is damaged: state='lost' is none of judged, unscored, skipped"),
        (first_cell("case", None), "cases.parquet is damaged: the column 'case' has an empty cell"),
        (first_cell("texts", ["a"]), "cases.parquet is damaged: the lists of a row differ in length"),
        (
            lambda table: table.set_column(0, "task", pa.array([{"a": 1}] * table.num_rows)),
            "the column 'task' of cases.parquet is struct<a: int64>, expected string",
        ),
        (first_cell("acc_r", 2.0), "acc_r=2.0 is not from 0 to 1"),
        (first_cell("acc_r", -1.0), "acc_r=-1.0 is not from 0 to 1"),
        (first_cell("acc_r", float("nan")), "acc_r=nan is not from 0 to 1"),
        (first_cell("scores", [float("inf"), 0.0]), "scores=inf is not finite"),
        (first_cell("tags", None), "the column 'tags' has an empty cell"),
        (first_cell("tags", "{"), "tags='{' is not a JSON object of texts"),
        (first_cell("tags", "[1]"), "tags='[1]' is not a JSON object of texts"),
        (first_cell("tags", '{"a": 1}'), "is not a JSON object of texts"),
        (first_cell("why", None), "the column 'why' has an empty cell"),
        (first_cell("texts", [None, "a"]), "a list of the column 'texts' has an empty cell"),
        (first_cell("right", None), "a judged one neither"),
        (lambda table: table.append_column("why", table.column("why")), "the column 'why' twice"),
    ],
)
def test_every_command_refuses_a_cell_out_of_its_range(folder, command, change, said, capsys):
    write_table(change(read_table(folder / "cases.parquet")), folder / "cases.parquet")
    status, message = ended(command, folder, capsys)
    assert (status, said in message, "cases.parquet" in message) == (4, True, True)


def test_a_column_whose_name_is_not_text_is_refused(folder, capsys):
    file = folder / "cases.parquet"
    content = file.read_bytes()
    assert content.count(b"tied") > 1
    file.write_bytes(content.replace(b"tied", b"ti\xffd"))
    assert "cases.parquet cannot be read" in refusal("report", folder, capsys)


@pytest.mark.usefixtures("known_case")
@pytest.mark.parametrize("command", ENDED)
@pytest.mark.parametrize("file", ["metrics.json", "environment.json", "cases.parquet"])
def test_every_command_refuses_a_pipe_in_the_place_of_a_file(folder, command, file, capsys):
    (folder / file).unlink()
    os.mkfifo(folder / file)
    status, message = ended(command, folder, capsys)
    assert (status, f"{file} is not a regular file" in message) == (4, True)


@pytest.mark.parametrize("file", ["analyses.json", "explanations/index.json", "shrunk.jsonl"])
def test_a_pipe_in_the_place_of_a_part_of_the_page_does_not_cost_the_page(folder, file):
    (folder / file).parent.mkdir(exist_ok=True)
    os.mkfifo(folder / file)
    assert main(["report", str(folder)]) == 0
