"""``vlgate misses`` and ``vlgate show``: the cases of a finished run in the terminal."""

import json

import numpy as np
import pytest
from hostile import HOSTILE
from PIL import Image
from pyarrow.parquet import read_table


def test_all_missed_cases_are_counted_and_those_left_out_too(folder, vlgate):
    lines = vlgate("misses", folder, "--limit=3").splitlines()
    rows = read_table(folder / "cases.parquet").to_pylist()
    missed = [row for row in rows if row["right"] is False]
    counts = f"{len(missed)} missed of {len(rows) - 1} judged cases in 6 tasks, 1 not scored, 1 with an answer that"
    assert lines[0] == f"{counts} could not be read"
    heads = [line for line in lines if " missed of " in line and line is not lines[0]]
    listed = [line for line in lines if line.startswith("  ") and not line.startswith("  and ")]
    more = [int(line.split()[1]) for line in lines if line.startswith("  and ")]
    assert len(heads) == 5
    assert len(listed) + sum(more) == len(missed)
    assert len(vlgate("misses", folder, "--all").splitlines()) == 1 + 5 + len(missed)


def test_the_worst_come_first(folder, vlgate):
    tasks = json.loads(vlgate("misses", folder, "--all", "--json"))["tasks"]
    shares = [task["missed"] / task["judged"] for task in tasks]
    assert shares == sorted(shares, reverse=True)
    for task in tasks:
        by = [case["margin"] for case in task["shown"]]
        assert by == sorted(by, reverse=True)
    [relations] = [task for task in tasks if task["task"] == "scenes/relations"]
    rows = read_table(folder / "cases.parquet").to_pylist()
    rows = {row["case"]: row["scores"] for row in rows if row["task"] == "scenes/relations"}
    slow = {case["case"]: rows[case["case"]][1] - rows[case["case"]][0] for case in relations["shown"]}
    assert [case["margin"] for case in relations["shown"]] == pytest.approx(list(slow.values()))
    assert len(slow) == relations["missed"] == 14


def test_a_slice_and_a_task_select_cases(folder, vlgate):
    rows = [row for row in read_table(folder / "cases.parquet").to_pylist() if row["task"] == "scenes/relations"]
    tag, value = next(iter(json.loads(rows[0]["tags"]).items()))
    wanted = [row for row in rows if json.loads(row["tags"]).get(tag) == value]
    found = json.loads(vlgate("misses", folder, "--task=scenes/rel*", f"--slice={tag}={value}", "--json", "--all"))
    assert [one["task"] for one in found["tasks"]] == ["scenes/relations"]
    assert found["tasks"][0]["cases"] == len(wanted) < len(rows)
    assert found["tasks"][0]["missed"] == sum(not row["right"] for row in wanted)


def test_a_case_is_shown_with_its_marked_words_and_its_image(folder, tmp_path, vlgate):
    row = next(row for row in read_table(folder / "cases.parquet").to_pylist() if row["right"] is False)
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


def test_images_that_cannot_be_found_are_named(folder, tmp_path, vlgate):
    name = "own/hostile:unread"
    lines = vlgate("show", folder, name, "--out", tmp_path / "out")
    assert "cannot be found again" in lines
    assert not (tmp_path / "out").exists()


def test_a_case_of_several_tasks_needs_its_task(folder, vlgate):
    rows = read_table(folder / "cases.parquet").to_pylist()
    ids = [row["case"] for row in rows]
    twice = next(name for name in ids if ids.count(name) > 1)
    assert f"{twice!r} is a case of" in vlgate("show", folder, twice, status=4)
    assert vlgate("show", folder, "unscored").startswith("own/hostile:unscored: not scored\n")


def test_hostile_texts_are_printed_and_not_obeyed(folder, vlgate):
    shown = vlgate("show", folder, f"own/hostile:missed {HOSTILE}") + vlgate("show", folder, "unread")
    printed = shown + vlgate("misses", folder, "--task=own/*")
    assert "\x1b" not in printed
    assert "\u202e" not in printed
    assert "\r" not in printed
    assert r"\x1b[31m<script>alert(1)</script> \u202egnp " + "\U0001f600" in printed
    assert "שלום" in printed
