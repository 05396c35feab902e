"""``vlgate show`` and ``report``: the cases of a finished run in the terminal and for other tools."""

import csv
import fcntl
import importlib.util
import json
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time
from hashlib import sha256
from io import StringIO
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml
from hostile import HOSTILE
from PIL import Image
from pyarrow.parquet import read_table

from vlgate.cli import main


@pytest.fixture(scope="module")
def rows(folder):
    return read_table(folder / "cases.parquet").to_pylist()


def test_all_missed_cases_are_counted_the_worst_come_first_and_a_slice_and_a_task_select(folder, rows, vlgate):
    lines = vlgate("show", folder, "--limit=3").splitlines()
    missed = [row for row in rows if row["right"] is False]
    counts = f"{len(missed)} missed of {len(rows) - 1} judged cases in 6 tasks, 1 not scored, 1 with an answer that"
    assert lines[0] == f"{counts} could not be read"
    heads = [line for line in lines if " missed of " in line and line is not lines[0]]
    listed = [line for line in lines if line.startswith("  ") and not line.startswith("  and ")]
    more = [int(line.split()[1]) for line in lines if line.startswith("  and ")]
    assert len(heads) == 5
    assert len(listed) + sum(more) == len(missed)
    assert len(vlgate("show", folder, "--all").splitlines()) == 1 + 5 + len(missed)
    tasks = json.loads(vlgate("show", folder, "--all", "--json"))["tasks"]
    shares = [task["missed"] / task["judged"] for task in tasks]
    assert shares == sorted(shares, reverse=True)
    for task in tasks:
        by = [case["margin"] for case in task["shown"]]
        assert by == sorted(by, reverse=True)
    [relations] = [task for task in tasks if task["task"] == "scenes/relations"]
    scores = {row["case"]: row["scores"] for row in rows if row["task"] == "scenes/relations"}
    slow = {case["case"]: scores[case["case"]][1] - scores[case["case"]][0] for case in relations["shown"]}
    assert [case["margin"] for case in relations["shown"]] == pytest.approx(list(slow.values()))
    assert len(slow) == relations["missed"] == 14
    rows = [row for row in rows if row["task"] == "scenes/relations"]
    tag, value = next(iter(json.loads(rows[0]["tags"]).items()))
    wanted = [row for row in rows if json.loads(row["tags"]).get(tag) == value]
    found = json.loads(vlgate("show", folder, "--suite=scenes/rel*", f"--slice={tag}={value}", "--json", "--all"))
    assert [one["task"] for one in found["tasks"]] == ["scenes/relations"]
    assert found["tasks"][0]["cases"] == len(wanted) < len(rows)
    assert found["tasks"][0]["missed"] == sum(not row["right"] for row in wanted)


def test_a_case_is_shown_with_its_words_and_its_image_and_hostile_texts_are_not_obeyed(folder, rows, tmp_path, vlgate):
    row = next(row for row in rows if row["right"] is False)
    lines = vlgate("show", folder, f"{row['task']}:{row['case']}", "--out", tmp_path / "out").splitlines()
    assert lines[0] == f"{row['task']}:{row['case']}: missed"
    assert lines[1].strip() == row["why"]
    texts = [line for line in lines if "[" in line and " -> " in line]
    assert [line.split(": ")[1].split(" -> ")[0].replace("[", "").replace("]", "") for line in texts] == row["texts"]
    assert "  ask again: pytest --pyargs " in "\n".join(lines)
    [file] = [line.rpartition(": ")[2] for line in lines if line.startswith("  image ")]
    with Image.open(file) as image:
        assert image.format == "PNG"
        assert np.asarray(image).std() > 0
    assert "cannot be found again" in vlgate("show", folder, "own/hostile:unread", "--out", tmp_path / "none")
    assert not (tmp_path / "none").exists()
    ids = [row["case"] for row in rows]
    twice = next(name for name in ids if ids.count(name) > 1)
    assert f"{twice!r} is a case of" in vlgate("show", folder, twice, status=4)
    assert vlgate("show", folder, "unscored").startswith("own/hostile:unscored: not scored\n")
    shown = vlgate("show", folder, f"own/hostile:missed {HOSTILE}") + vlgate("show", folder, "unread")
    printed = shown + vlgate("show", folder, "--suite=own/*")
    assert "\x1b" not in printed
    assert "\u202e" not in printed
    assert "\r" not in printed
    assert r"\x1b[31m<script>alert(1)</script> \u202egnp " + "\U0001f600" in printed
    assert "שלום" in printed


CASE = "scenes/relations:000"


def session(folder, *, answers):
    """What the command prints on a terminal, which answers the question for kitty's protocol or stays silent."""
    command = [sys.executable, "-m", "vlgate", "show", str(folder), CASE]
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(command[0], command, {**os.environ, "TERM": "xterm-kitty", "COLUMNS": "100"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 1000, 800))
    seen, asked, end = b"", 0, time.monotonic() + 120
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 1)
        try:
            seen += os.read(terminal, 65536) if ready else b""
        except OSError:  # the command has ended
            break
        queries = re.findall(rb"\x1b_G[^;]*i=(\d+)[^;]*a=q[^;]*;|\x1b_G[^;]*a=q[^;]*i=(\d+)[^;]*;", seen)
        if answers and len(queries) > asked:
            number = b"".join(queries[asked])
            os.write(terminal, b"\x1b_Gi=" + number + b";OK\x1b\\")
            asked = len(queries)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, seen
    return seen.decode(errors="replace")


@pytest.mark.slow
def test_an_image_is_drawn_in_a_terminal_that_can_and_a_file_in_one_that_cannot(folder):
    if importlib.util.find_spec("textual_image") is not None:  # it comes with the extra terminal
        seen = session(folder, answers=True)
        assert "\U0010eeee" in seen  # what kitty's protocol puts the pixels of an image in place of
        assert ".png" not in seen
    seen = session(folder, answers=False)
    [file] = re.findall(r"image \S+: (/\S+\.png)", seen)
    assert Path(file).stat().st_size > 0
    assert "\x1b[1;4m" in seen


SCHEMAS = json.loads(Path(__file__).with_name("export_schemas.json").read_text())


def printed(capsys, folder, name, *options, status=0):
    capsys.readouterr()
    assert main(["report", str(folder), f"--format={name}", *options]) == status
    said = capsys.readouterr()
    return said.err if status else said.out


def exported(tmp_path, capsys, folder, name):
    """The files of a format of several, by their paths."""
    to = tmp_path / "exported"
    listed = printed(capsys, folder, name, f"--out={to}").splitlines()
    found = {str(file.relative_to(to)): file.read_text("utf-8") for file in to.rglob("*") if file.is_file()}
    assert sorted(f"{to}/{name}" for name in found) == sorted(listed)
    return found


def test_csv_and_jsonl_have_a_row_for_each_case_and_no_cell_of_csv_is_a_formula(folder, rows, capsys, tmp_path):
    found = list(csv.DictReader(StringIO(printed(capsys, folder, "csv"))))
    assert len(found) == len(rows)
    assert [json.loads(row["scores"]) for row in found] == [row["scores"] for row in rows]
    assert [float(row["acc_r"]) for row in found if row["acc_r"]] == [
        one for row in rows if (one := row["acc_r"]) is not None
    ]
    [lost] = [row for row in found if row["state"] == "unscored"]
    assert (lost["case"], lost["right"], lost["acc"]) == ("unscored", "", "")
    assert [row["case"] for row in found if row["unread"] == "true"] == ["unread"]
    file = tmp_path / "cases.csv"
    printed(capsys, folder, "csv", f"--out={file}")
    text = file.read_text("utf-8")
    cells = [cell for row in csv.reader(StringIO(text)) for cell in row]
    assert not [cell for cell in cells if cell[:1] in {"=", "+", "-", "@"}]
    assert "'=1+1 of a file" in cells
    assert not {"\x1b", "\u202e", "\r"} & set(text)
    [found] = [json.loads(row["texts"])[0] for row in csv.DictReader(StringIO(text)) if row["case"] == "unread"]
    assert found.startswith("\x1b[31m<script>")
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
    command = ["report", str(folder), "--format=hf-eval-results", "--dataset=own=me/own", "--source=https://a.b/c"]
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


def test_every_export_counts_cases_that_were_not_drawn_or_are_disputed(folder, tmp_path, capsys):
    run = shutil.copytree(folder, tmp_path / "run")
    figures = json.loads((run / "metrics.json").read_text())
    left_out = {"beyond --limit 3": 4, "left out as disputed (wrong)": 2}
    figures["tasks"]["own/hostile"] |= {"left_out": left_out, "disputed": {"left_out": 2, "corrected": 1}}
    (run / "metrics.json").write_text(json.dumps(figures))
    notes = printed(capsys, run, "hf-eval-results", "--dataset=own=me/own")
    assert "2 of 9 cases judged, 1 unscored, 0 skipped, 1 unread, 4 undrawn, 2 disputed, 1 corrected" in notes
    found = exported(tmp_path / "a", capsys, run, "lm-eval")
    [results] = [json.loads(text) for name, text in found.items() if "/results_" in name]
    assert results["n-samples"]["own/hostile"] == {"original": 9, "effective": 2}
    found = exported(tmp_path / "b", capsys, run, "every-eval-ever")
    results = [one for name in found if "_samples" not in name for one in json.loads(found[name])["evaluation_results"]]
    details = [one["score_details"]["details"] for one in results if one["evaluation_name"] == "own/hostile"]
    assert details
    assert all({"undrawn": "4", "disputed": "2", "corrected": "1"}.items() <= one.items() for one in details)


def test_files_that_are_there_are_kept(folder, tmp_path, capsys):
    file = tmp_path / "cases.jsonl"
    file.write_text("mine")
    assert "exists; replace it with --overwrite" in printed(capsys, folder, "jsonl", f"--out={file}", status=4)
    assert file.read_text() == "mine"
    printed(capsys, folder, "jsonl", f"--out={file}", "--overwrite")
    assert file.read_text().count("\n") == len(read_table(folder / "cases.parquet"))


FORMATS = ("csv", "jsonl", "every-eval-ever", "lm-eval")


@pytest.mark.slow
def test_they_need_no_torch(folder, tmp_path):
    gates = tmp_path / "gates.toml"
    gates.write_text('schema = 1\n[gate."scenes/relations".acc_r]\nmin = 0.2\n')
    run = str(folder)
    commands = [
        ["judge", run, f"--thresholds={gates}", f"--results={tmp_path / 'judged'}"],
        ["show", run, "scenes/relations:000"],
        ["show", run],
        ["compare", run, run],
        *(["report", run, f"--format={name}", f"--out={tmp_path / name}"] for name in FORMATS),
        ["report", run, "--format=hf-eval-results", "--dataset=own=me/own"],
    ]
    modules = ["torch", "torchvision", "transformers", "open_clip"]
    blocked = f"import sys; sys.modules.update(dict.fromkeys({modules!r})); from vlgate.cli import main; "
    script = blocked + f"print([main(command) for command in {commands!r}], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == str([1, *[0] * 8]), done.stderr
    assert (tmp_path / "judged/report.html").is_file()
