"""``vlgate export``: a run in the formats of other tools, held against what these tools ask of their files.

The schemas beside this file are the parts that the tools require, from version 0.3.0 of those of Every Eval Ever and
from the result types of lm-evaluation-harness 0.4.13.
"""

import csv
import json
import re
from hashlib import sha256
from io import StringIO
from pathlib import Path

import jsonschema
import pytest
import yaml
from pyarrow.parquet import read_table

from vlgate.cli import main

SCHEMAS = json.loads(Path(__file__).with_name("export_schemas.json").read_text())


@pytest.fixture(scope="module")
def rows(folder):
    return read_table(folder / "cases.parquet").to_pylist()


def printed(capsys, folder, name, *options, status=0):
    capsys.readouterr()
    assert main(["export", str(folder), f"--format={name}", *options]) == status
    said = capsys.readouterr()
    return said.err if status else said.out


def exported(tmp_path, capsys, folder, name):
    """The files of a format of several, by their paths."""
    to = tmp_path / "exported"
    listed = printed(capsys, folder, name, f"--to={to}").splitlines()
    found = {str(file.relative_to(to)): file.read_text("utf-8") for file in to.rglob("*") if file.is_file()}
    assert sorted(f"{to}/{name}" for name in found) == sorted(listed)
    return found


def test_csv_has_a_row_for_each_case_also_for_those_without_a_score(folder, rows, capsys):
    found = list(csv.DictReader(StringIO(printed(capsys, folder, "csv"))))
    assert len(found) == len(rows)
    assert [json.loads(row["scores"]) for row in found] == [row["scores"] for row in rows]
    assert [float(row["acc_r"]) for row in found if row["acc_r"]] == [
        one for row in rows if (one := row["acc_r"]) is not None
    ]
    [lost] = [row for row in found if row["state"] == "unscored"]
    assert (lost["case"], lost["right"], lost["acc"]) == ("unscored", "", "")
    assert [row["case"] for row in found if row["unread"] == "true"] == ["unread"]


def test_no_cell_of_csv_is_a_formula_or_obeyed(folder, tmp_path, capsys):
    file = tmp_path / "cases.csv"
    printed(capsys, folder, "csv", f"--to={file}")
    text = file.read_text("utf-8")
    cells = [cell for row in csv.reader(StringIO(text)) for cell in row]
    assert not [cell for cell in cells if cell[:1] in {"=", "+", "-", "@"}]
    assert "'=1+1 of a file" in cells
    assert not {"\x1b", "\u202e", "\r"} & set(text)
    [found] = [json.loads(row["texts"])[0] for row in csv.DictReader(StringIO(text)) if row["case"] == "unread"]
    assert found.startswith("\x1b[31m<script>")


def test_jsonl_gives_the_texts_as_they_are(folder, rows, capsys):
    text = printed(capsys, folder, "jsonl")
    found = [json.loads(line) for line in text.splitlines()]
    assert text.isascii()
    assert [one["texts"] for one in found] == [row["texts"] for row in rows]
    assert [one["tags"] for one in found] == [json.loads(row["tags"]) for row in rows]
    assert [one["right"] for one in found] == [row["right"] for row in rows]


def test_every_eval_ever_has_figures_and_instances_of_its_schemas(folder, rows, tmp_path, capsys):
    found = exported(tmp_path, capsys, folder, "every-eval-ever")
    figures = [json.loads(text) for name, text in found.items() if ".jsonl" not in name]
    assert {name.split("/")[1] for name in found} == {"scenes", "own"}
    seen, instances = [], jsonschema.Draft7Validator(SCHEMAS["every-eval-ever instance"])
    for figure in figures:
        jsonschema.validate(figure, SCHEMAS["every-eval-ever"])
        details = figure["detailed_evaluation_results"]
        text = found[details["file_path"]]
        assert (details["checksum"], details["total_rows"]) == (sha256(text.encode()).hexdigest(), text.count("\n"))
        for line in text.splitlines():
            instance = json.loads(line)
            instances.validate(instance)
            assert instance["evaluation_id"] == figure["evaluation_id"]
            seen.append(instance)
    assert len(seen) == len(rows)
    by_id = {(one["evaluation_name"], one["sample_id"]): one for one in seen}
    for row in rows:
        assert by_id[row["task"], row["case"]]["evaluation"]["is_correct"] == bool(row["right"])
    lost = by_id["own/hostile", "unscored"]
    assert (lost["error"].startswith("unscored: "), lost["output"]["raw"]) == (True, ["", ""])
    assert by_id["own/hostile", "unread"]["metadata"]["unread"] == "true"
    values = {
        f"{one['evaluation_name']}:{one['metric_config']['metric_id']}": one["score_details"]["score"]
        for given in figures
        for one in given["evaluation_results"]
    }
    metrics = json.loads((folder / "metrics.json").read_text())["tasks"]
    assert values == {f"{task}:{name}": m["value"] for task, t in metrics.items() for name, m in t["metrics"].items()}


def test_lm_eval_has_results_and_samples_of_its_types(folder, rows, tmp_path, capsys):
    found = exported(tmp_path, capsys, folder, "lm-eval")
    [results] = [json.loads(text) for name, text in found.items() if "/results_" in name]
    jsonschema.validate(results, SCHEMAS["lm-eval"])
    samples = {name: text for name, text in found.items() if "/samples_" in name}
    lines = [json.loads(line) for text in samples.values() for line in text.splitlines()]
    sample = jsonschema.Draft7Validator(SCHEMAS["lm-eval sample"])
    for one in lines:
        sample.validate(one)
        assert all(isinstance(one[name], float) for name in one["metrics"])
    assert len(lines) == len(rows)
    assert set(results["results"]) == set(results["task_hashes"]) == {row["task"] for row in rows}
    own = [row["acc_r"] for row in rows if row["task"] == "scenes/relations"]
    given = results["results"]["scenes/relations"]
    assert given["acc_r,none"] == pytest.approx(sum(own) / len(own))
    slow = (sum((one - given["acc_r,none"]) ** 2 for one in own) / (len(own) - 1) / len(own)) ** 0.5
    metrics = json.loads((folder / "metrics.json").read_text())["tasks"]["scenes/relations"]["metrics"]["acc_r"]
    assert given["acc_r_stderr,none"] == pytest.approx(slow * metrics["deff"] ** 0.5)
    [lost] = [line for line in lines if line["doc"]["state"] == "unscored"]
    assert (lost["metrics"], lost["filtered_resps"]) == ([], ["", ""])
    assert results["configs"]["own/hostile"]["metadata"]["unscored"] == 1
    assert results["n-samples"]["own/hostile"] == {"original": 3, "effective": 2}


def test_eval_results_of_the_hub_are_read_by_its_own_package(folder, capsys):
    capsys.readouterr()
    command = ["export", str(folder), "--format=hf-eval-results", "--dataset=own=me/own", "--source=https://a.b/c"]
    assert main(command) == 0
    said = capsys.readouterr()
    found = yaml.safe_load(said.out)
    assert found == [
        {
            "dataset": {"id": "me/own", "task_id": "hostile"},
            "value": 0.0,
            "date": found[0]["date"],
            "source": {"url": "https://a.b/c", "name": "vlgate"},
            "notes": found[0]["notes"],
        }
    ]
    assert re.search(r"2 of 3 cases judged, 1 unscored, 0 skipped, 1 unread$", found[0]["notes"])
    assert "note: the tasks of scenes are left out: name their dataset with --dataset scenes=ID" in said.err
    hub = pytest.importorskip("huggingface_hub", reason="its reader comes with the extra hf")
    [entry] = hub.parse_eval_result_entries(found)
    assert (entry.dataset_id, entry.task_id, entry.value) == ("me/own", "hostile", 0.0)
    assert hub.eval_result_entries_to_yaml([entry]) == found


def test_files_that_are_there_are_kept(folder, tmp_path, capsys):
    file = tmp_path / "cases.jsonl"
    file.write_text("mine")
    assert "exists; replace it with --overwrite" in printed(capsys, folder, "jsonl", f"--to={file}", status=4)
    assert file.read_text() == "mine"
    printed(capsys, folder, "jsonl", f"--to={file}", "--overwrite")
    assert file.read_text().count("\n") == len(read_table(folder / "cases.parquet"))
