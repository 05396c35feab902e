"""``vlgate export``: a run in the formats of other tools, held against what these tools ask of their files.

The schemas here are the parts that the tools require, written down from version 0.3.0 of the schemas of Every Eval Ever
and from the result types of lm-evaluation-harness 0.4.13.
"""

import csv
import json
import re
from hashlib import sha256
from io import StringIO

import jsonschema
import pytest
import yaml
from pyarrow.parquet import read_table

from vlgate.cli import main

TEXT, NUMBER, TEXTS = {"type": "string"}, {"type": "number"}, {"type": "array", "items": {"type": "string"}}
DETAILS = {"type": "object", "additionalProperties": TEXT}


def record(required, optional=None, *, closed=False):
    """The schema of an object with these keys."""
    known = {**required, **(optional or {})}
    return {
        "type": "object",
        "required": list(required),
        "properties": known,
        **({"additionalProperties": False} if closed else {}),
    }


RESULT = record(
    {
        "evaluation_name": TEXT,
        "source_data": record({"dataset_name": TEXT, "source_type": {"enum": ["other"]}}),
        "metric_config": record(
            {"lower_is_better": {"type": "boolean"}, "min_score": NUMBER, "max_score": NUMBER},
            {"score_type": {"enum": ["binary", "continuous", "levels"]}, "additional_details": DETAILS},
        ),
        "score_details": record({"score": NUMBER}, {"details": DETAILS}),
    }
)
EVALUATION = record(
    {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": TEXT,
        "retrieved_timestamp": {"type": "string", "pattern": r"^\d+$"},
        "source_metadata": record(
            {
                "source_type": {"enum": ["documentation", "evaluation_run"]},
                "source_organization_name": TEXT,
                "evaluator_relationship": {"enum": ["first_party", "third_party", "collaborative", "other"]},
            }
        ),
        "model_info": record(
            {
                "name": TEXT,
                "id": TEXT,
                "additional_details": {**DETAILS, "required": ["deployment_type", "model_availability"]},
            }
        ),
        "eval_library": record({"name": TEXT, "version": TEXT}, {"additional_details": DETAILS}),
        "evaluation_results": {"type": "array", "items": RESULT},
    },
    {
        "evaluation_timestamp": TEXT,
        "detailed_evaluation_results": record(
            {
                "format": {"const": "jsonl"},
                "file_path": {
                    "type": "string",
                    "pattern": r"^data/[^/]+/[^/]+/[^/]+/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                    r"[0-9a-f]{12}_samples\.jsonl$",
                },
            },
            {"total_rows": {"type": "integer"}, "hash_algorithm": {"enum": ["sha256", "md5"]}},
        ),
    },
    closed=True,
)
INSTANCE = record(
    {
        "schema_version": {"const": "0.3.0"},
        "evaluation_id": TEXT,
        "model_id": TEXT,
        "evaluation_name": TEXT,
        "sample_id": TEXT,
        "interaction_type": {"const": "single_turn"},
        "input": record({"raw": TEXT, "reference": TEXTS}),
        "output": record({"raw": TEXTS}),
        "answer_attribution": {"type": "array"},
        "evaluation": record({"score": NUMBER, "is_correct": {"type": "boolean"}}),
    },
    {
        "evaluation_result_id": TEXT,
        "sample_hash": TEXT,
        "error": {"type": ["string", "null"]},
        "metadata": DETAILS,
    },
    closed=True,
)
COUNTS = record({"original": {"type": "integer"}, "effective": {"type": "integer"}})
LM_RESULTS = record(
    {
        "results": {"type": "object", "additionalProperties": record({"alias": TEXT})},
        "group_subtasks": {"type": "object", "additionalProperties": TEXTS},
        "configs": {"type": "object", "additionalProperties": record({"task": TEXT, "metadata": {"type": "object"}})},
        "versions": {"type": "object"},
        "n-shot": {"type": "object", "additionalProperties": {"type": "integer"}},
        "higher_is_better": {"type": "object"},
        "n-samples": {"type": "object", "additionalProperties": COUNTS},
        "config": record({"model": TEXT, "model_args": {"type": ["string", "object", "null"]}}),
        "date": NUMBER,
        "model_source": TEXT,
        "model_name": TEXT,
        "model_name_sanitized": {"type": "string", "pattern": "^[^/]+$"},
        "task_hashes": {"type": "object", "additionalProperties": TEXT},
    }
)
LM_SAMPLE = record(
    {
        "doc_id": {"type": "integer"},
        "doc": {"type": "object"},
        "target": TEXT,
        "arguments": {"type": "object", "additionalProperties": record({"arg_0": TEXT})},
        "resps": {"type": "array", "items": TEXTS},
        "filtered_resps": TEXTS,
        "filter": TEXT,
        "metrics": TEXTS,
        "doc_hash": TEXT,
        "prompt_hash": TEXT,
        "target_hash": TEXT,
    }
)


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
    seen, instances = [], jsonschema.Draft7Validator(INSTANCE)
    for one in figures:
        jsonschema.validate(one, EVALUATION)
        details = one["detailed_evaluation_results"]
        text = found[details["file_path"]]
        assert (details["checksum"], details["total_rows"]) == (sha256(text.encode()).hexdigest(), text.count("\n"))
        for line in text.splitlines():
            instance = json.loads(line)
            instances.validate(instance)
            assert instance["evaluation_id"] == one["evaluation_id"]
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
    jsonschema.validate(results, LM_RESULTS)
    samples = {name: text for name, text in found.items() if "/samples_" in name}
    lines = [json.loads(line) for text in samples.values() for line in text.splitlines()]
    sample = jsonschema.Draft7Validator(LM_SAMPLE)
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
    [lost] = [one for one in lines if one["doc"]["state"] == "unscored"]
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


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--format=lm-eval"], "--format lm-eval: is several files; name a folder with --to DIR"),
        (["--format=hf-eval-results"], "nothing to export: the tasks of scenes are left out"),
        (["--format=hf-eval-results", "--dataset=own"], "--dataset own: expected BENCHMARK=OWNER/NAME"),
    ],
)
def test_what_cannot_be_exported_is_said(folder, capsys, options, expected):
    assert main(["export", str(folder), *options]) == 4
    assert expected in capsys.readouterr().err


def test_files_that_are_there_are_kept(folder, tmp_path, capsys):
    file = tmp_path / "cases.jsonl"
    file.write_text("mine")
    assert "exists; replace it with --overwrite" in printed(capsys, folder, "jsonl", f"--to={file}", status=4)
    assert file.read_text() == "mine"
    printed(capsys, folder, "jsonl", f"--to={file}", "--overwrite")
    assert file.read_text().count("\n") == len(read_table(folder / "cases.parquet"))


def test_the_same_run_gives_the_same_files(folder, tmp_path, capsys):
    for name in ("every-eval-ever", "lm-eval"):
        first = exported(tmp_path / "one" / name, capsys, folder, name)
        assert first == exported(tmp_path / "two" / name, capsys, folder, name)
