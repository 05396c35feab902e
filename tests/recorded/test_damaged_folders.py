"""What the commands say about a folder that holds no run, or a damaged one: the file, the key and the remedy."""

import json
import os
import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from builders import table
from pyarrow.parquet import read_table, write_table

from tests.report.page.page_runs import result_of
from vlgate.cli import main
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.report.folder import write_figures, write_rows
from vlgate.run.planning import make_plan

TABLE = Path(__file__).with_suffix(".tsv")
WHOLE = ("report", "compare", "baseline")  # read a run that must be whole


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
    assert main([*command.split(), *(word.format(folder) for word in ENDED[command])]) == 4
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


def test_runs_that_cannot_be_compared_and_incomplete_ones_are_named_by_the_command(folder, tmp_path, capsys):
    other = shutil.copytree(folder, tmp_path / "other")
    changed_at(other, "metrics.json", '["run", "ties"]', '"half"')
    assert main(["compare", str(folder), str(other)]) == 4
    said = "was judged with --ties strict, the later run with --ties half; use the same"
    assert capsys.readouterr().err == f"vlgate compare {folder}: {said}\n"
    changed_at(folder, "metrics.json", '["complete"]', "false")
    changed_at(folder, "metrics.json", '["why"]', '"the disk was full"')
    said = "the run is incomplete (the disk was full); name one that came to its end"
    for command in ("compare", "baseline"):
        assert refusal(command, folder, capsys) == f"vlgate {command} {folder}: {said}\n"


def changed_at(folder, file, path, value):
    """Change a JSON file of a folder at a path, to a value in JSON; ``absent`` leaves the key out."""
    content = inner = json.loads((folder / file).read_text())
    *path, last = json.loads(path)
    for key in path:
        inner = inner[key]
    if value == "absent":
        del inner[last]
    else:
        inner[last] = json.loads(value)
    (folder / file).write_text(json.dumps(content))


ENDED = {
    "judge": ("{}", "--thresholds", "gates.toml"),
    "report": ("{}",),
    "show": ("{}", "scenes/relations:{case}"),
    "compare": ("{}", "{}"),
    "baseline": ("{}", "--out", "kept"),
    "report --format=csv": ("{}",),
    "show --limit=3": ("{}",),
}


def ended(command, folder, capsys):
    """The status of a command, and what it prints; its words are checked to be plain lines."""
    (folder.parent / "gates.toml").write_text('schema = 1\n[gate."scenes/relations".acc_r]\nmin = 0.1\n')
    case = json.loads((folder.parent / "case").read_text())
    status = main([*command.split(), *(word.format(folder, case=case) for word in ENDED[command])])
    said = capsys.readouterr()
    assert said.err.replace("\n", "").isprintable()
    assert (status == 4) == (said.err.count("\n") == 1)
    return status, said.err


@pytest.fixture
def known_case(whole, tmp_path):
    (tmp_path / "case").write_text(json.dumps(read_table(whole / "cases.parquet").column("case")[0].as_py()))


@pytest.mark.usefixtures("known_case")
@pytest.mark.parametrize("command", ENDED)
@pytest.mark.parametrize(("file", "path", "value", "said"), table(TABLE, "values"))
def test_every_command_refuses_a_value_out_of_its_schema(folder, command, file, path, value, said, capsys):  # noqa: PLR0917
    changed_at(folder, file, path, value)
    status, message = ended(command, folder, capsys)
    assert not message or message.endswith("; run it again with this version\n")
    needless = command == "compare" and file == "metrics.json" and json.loads(path)[0] in ("unasked", "gates")
    assert (status, said in message, file in message) == ((0, False, False) if needless else (4, True, True))


@pytest.mark.usefixtures("known_case")
@pytest.mark.parametrize("command", ENDED)
@pytest.mark.parametrize(("file", "path"), table(TABLE, "keys"))
def test_every_command_ignores_a_key_that_it_does_not_know(folder, command, file, path, capsys):
    plain = ended(command, folder, capsys)
    changed_at(folder, file, path, "1")
    shutil.rmtree("kept", ignore_errors=True)
    assert ended(command, folder, capsys) == plain


@pytest.mark.usefixtures("known_case")
@pytest.mark.parametrize("command", ENDED)
def test_every_command_says_that_a_file_is_of_a_newer_version(folder, command, capsys):
    changed_at(folder, "metrics.json", '["schema"]', "3")
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
        (
            lambda table: table.set_column(0, "task", pa.array([{"a": 1}] * table.num_rows)),
            "the column 'task' of cases.parquet is struct<a: int64>, expected string",
        ),
        (lambda table: table.append_column("why", table.column("why")), "the column 'why' twice"),
        *((first_cell(name, json.loads(value)), said) for name, value, said in table(TABLE, "cells")),
    ],
)
def test_every_command_refuses_a_cell_out_of_its_range(folder, command, change, said, capsys):
    write_table(change(read_table(folder / "cases.parquet")), folder / "cases.parquet")
    status, message = ended(command, folder, capsys)
    assert (status, said in message, "cases.parquet" in message) == (4, True, True)


def test_a_column_whose_name_is_not_text_and_a_damaged_environment_are_refused(folder, capsys):
    file = folder / "cases.parquet"
    content = file.read_bytes()
    assert content.count(b"tied") > 1
    file.write_bytes(content.replace(b"tied", b"ti\xffd"))
    assert "cases.parquet cannot be read" in refusal("report", folder, capsys)
    (folder / "environment.json").write_text("{")
    assert "environment.json is not JSON" in refusal("compare", folder, capsys)


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
