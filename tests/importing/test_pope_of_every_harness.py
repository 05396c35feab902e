"""POPE's released questions, with replies in the form of each harness: every request gets the reply it had."""

import hashlib
import json
from itertools import islice
from pathlib import Path

import pytest
from harnesses import FORMS, in_order, llava, lmms_eval

from vlgate.making.importing.joining import join
from vlgate.making.importing.replies import recordings
from vlgate.record.options import Options
from vlgate.run.planning import make_plan

FOLDER = Path(__file__).parents[3] / "shared/data/more"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs ../shared/data")
KINDS = ("popular", "random")
SOME = 300


def reply(image, question):
    digit = hashlib.sha256(f"{image} {question}".encode()).digest()[0]
    return f"Yes. {digit}" if digit % 2 else f"No, {digit}"


def items(kind):
    lines = (FOLDER / f"pope/output/coco/coco_pope_{kind}.json").read_text(encoding="utf-8").splitlines()
    for line in lines:
        record = json.loads(line)
        yield {
            "id": record["question_id"],
            "image": record["image"],
            "question": record["text"],
            "truth": record["label"],
            "category": kind,
            "reply": reply(record["image"], record["text"]),
        }


@pytest.fixture(scope="module")
def tasks():
    options = Options(
        folder=FOLDER, data=(FOLDER,), suite=("pope/coco-*", "pope/gqa-*"), thresholds=None, results=FOLDER
    )
    return make_plan(options).tasks


def joined(files, tasks):
    found = join(recordings(files), tasks)
    assert {key: record.reply for key, record in found.rows.items()} == {key: reply(*key[1:]) for key in found.rows}
    return found


@pytest.mark.parametrize("form", FORMS)
def test_each_request_has_the_reply_it_had(form, tasks, tmp_path):
    if form == "vlmevalkit_xlsx":
        pytest.importorskip("openpyxl")
    asked = [item for kind in KINDS for item in islice(items(kind), SOME)]
    found = joined(FORMS[form](tmp_path, asked), tasks)
    assert sum(found.joined.values()) == len(asked) == 2 * SOME
    assert len(found.rows) == len({(item["image"], item["question"]) for item in asked})
    assert (found.left_out, found.differing) == ({}, [])


def test_answers_in_the_order_of_the_file_are_joined_by_it(tasks, tmp_path):
    asked = list(islice(items("random"), SOME))
    assert len(joined(in_order(tmp_path, asked), tasks).rows) == len(asked)
    shuffled = sorted(asked, key=lambda item: item["reply"])
    found = join(recordings(in_order(tmp_path, shuffled)), tasks)
    assert found.rows == {}
    assert sum(number for number, _ in found.left_out.values()) == len(asked)


def test_without_the_file_of_questions_nothing_is_guessed(tasks, tmp_path):
    asked = sorted((item for kind in KINDS for item in islice(items(kind), SOME)), key=lambda item: item["reply"])
    answers, _ = llava(tmp_path, asked)
    found = join(recordings([answers]), tasks)
    assert found.rows == {}
    assert [why for why in found.left_out if "add the file of the questions" in why]


@pytest.mark.parametrize("shift", [1, -1, 7, 70])
def test_numbers_that_are_not_the_files_join_nothing_wrong(shift, tasks, tmp_path):
    asked = [{**item, "id": item["id"] + shift} for item in items("random")]
    found = joined(lmms_eval(tmp_path, asked[30:200]), tasks)
    assert len(found.rows) == (170 if shift < 70 else 0)


def test_a_part_of_the_planned_cases_gets_its_replies(tasks, tmp_path):
    some = [task for task in tasks if task.id == "pope/coco-random"]
    found = joined(lmms_eval(tmp_path, [item for kind in KINDS for item in items(kind)]), some)
    assert len(found.rows) == 3000
    assert sum(number for number, _ in found.left_out.values()) == 6000 - sum(found.joined.values())
