from __future__ import annotations

import json
from pathlib import Path

import pytest

from vlgate.sources.benchmarks.carets import CARETS, DEFAULT_YML, NO_CHOICE, NO_ORIGINAL, NO_PARTNER, RELEASE, TASKS
from vlgate.sources.reading.source import ReadOptions

VERIFICATION = "object_verification_template_test.json"
CHOICE = "action_choice_symmetric_test.json"

RELEASES = json.loads(Path(__file__).with_name("small_releases.json").read_text())
RECORD = RELEASES["carets"]["content"][0]
CHOOSE, CHOOSE_PARTNER = RELEASES["carets choices"]["content"]


def partner(record, letter="t", **changes):
    return {**record, "question_id": f"{record['question_id']}-{letter}", **changes}


def write(folder, records, name=VERIFICATION, place="carets/data/questions"):
    (folder / place).mkdir(parents=True, exist_ok=True)
    (folder / place / name).write_text(json.dumps(records))


def tasks(*folders, wanted=lambda _: True, protocols=()):
    return list(CARETS.read(ReadOptions(folders=folders, seed=0, wanted=wanted, protocols=frozenset(protocols))))


def one(folder, original=RECORD, perturbed=None, name=VERIFICATION, **changes):
    """Return the only case of the only task; a change to None removes the field from the original."""
    fields = {field: value for field, value in {**original, **changes}.items() if value is not None}
    write(folder, [perturbed or partner(original), fields], name)
    ((case,),) = [task.cases for task in tasks(folder)]
    return case


def test_a_case_of_yes_and_no(tmp_path):
    case = one(tmp_path, perturbed=partner(RECORD, sent="Do you see a gate?"))
    original, perturbed = case.requests
    assert (original.image.key, original.question) == ("2357834", RECORD["sent"])
    assert perturbed.question == "Do you see a gate?"
    assert original.image is perturbed.image
    assert original.choices == perturbed.choices == ("yes", "no")
    assert case.truths == ("yes", "yes")
    assert case.id == "object_verification_template/2357834-2-16"
    assert case.origin == "object_verification_template_test.json, record 2357834-2-16"
    assert case.tags == {"question_type": "object_verification", "form": "binary", "answer": "yes"}


def test_a_case_of_choices(tmp_path):
    case = one(tmp_path, CHOOSE, CHOOSE_PARTNER, CHOICE)
    assert [ask.choices for ask in case.requests] == [("standing", "lying"), ("lying", "standing")]
    assert case.truths == ("standing", "standing")
    assert case.tags == {"question_type": "action_choice", "form": "multi-choice", "choices": "2"}


def test_the_choices_of_objects(tmp_path):
    assignment = {"obj-category-options1": ["vest", "t-shirt", "sweater"], "category-options1": ["red", "blue"]}
    record = {**CHOOSE, "label": {"t-shirt": 1.0}, "assignment": assignment}
    case = one(tmp_path, record, partner(record, "s"), "object_choice_rel_symmetric_test.json")
    assert case.requests[0].choices == ("vest", "t-shirt", "sweater")
    assert case.tags == {"question_type": "object_choice_rel", "form": "multi-choice", "choices": "3"}


def test_the_choices_of_attributes_and_actions(tmp_path):
    assignment = {"obj-category-options1": ["cow", "horse"], **CHOOSE["assignment"]}
    assert one(tmp_path, {**CHOOSE, "assignment": assignment}, CHOOSE_PARTNER, CHOICE).truths == (
        "standing",
        "standing",
    )


@pytest.mark.parametrize(("answer", "direction"), [("yes", "hypernym"), ("no", "hyponym")])
def test_ontological_by_direction(tmp_path, answer, direction):
    record = {**RECORD, "label": {answer: 1.0}}
    case = one(tmp_path, record, partner(record, "h"), "object_verification_ontology_ontology_test.json")
    assert case.tags == {
        "question_type": "object_verification",
        "form": "binary",
        "answer": answer,
        "direction": direction,
    }


@pytest.mark.parametrize("kind", ["conjunction", "disjunction"])
def test_conjunction_and_disjunction(tmp_path, kind):
    name = f"object_verification_{kind}_symmetric_test.json"
    assert one(tmp_path, perturbed=partner(RECORD, "s"), name=name).tags["question_type"] == kind


def test_a_directional_case(tmp_path):
    other = partner(RECORD, "n", label={"no": 1.0})
    case = one(tmp_path, perturbed=other, name="object_verification_rel_negation_test.json")
    assert case.truths == ("yes", "no")
    assert case.tags["question_type"] == "object_verification_rel"  # not what the record's question_type says


def test_a_task(tmp_path):
    records = [{**RECORD, "question_id": f"2357834-{n}-0"} for n in (3, 1, 2)]
    write(tmp_path, [partner(records[2]), *records, partner(records[0]), partner(records[1])])
    write(tmp_path, [CHOOSE, partner(CHOOSE)], "action_choice_template_test.json")
    (task,) = tasks(tmp_path)
    assert (task.id, task.capability, task.shape) == ("carets/rephrase-inv", "invariance", "questions")
    assert [case.id for case in task.cases] == [
        "object_verification_template/2357834-3-0",
        "object_verification_template/2357834-1-0",
        "object_verification_template/2357834-2-0",
        "action_choice_template/150439-2-1",
    ]
    assert task.left_out == {}


def test_an_id_in_two_files_is_two_cases(tmp_path):
    for name in (VERIFICATION, "object_verification_rel_template_test.json"):
        write(tmp_path, [RECORD, partner(RECORD)], name)
    (task,) = tasks(tmp_path)
    assert len({case.id for case in task.cases}) == 2


def test_questions_without_a_partner_are_counted(tmp_path):
    alone = [{**RECORD, "question_id": f"1-{n}-0"} for n in range(3)]
    write(tmp_path, [RECORD, partner(RECORD), *alone[:2], partner(alone[2])])
    (task,) = tasks(tmp_path)
    assert len(task.cases) == 1
    assert task.left_out == {NO_PARTNER: 2, NO_ORIGINAL: 1}


def test_answers_outside_of_the_choices_are_counted(tmp_path):
    write(tmp_path, [RECORD, partner(RECORD, label={"maybe": 1.0})])
    write(tmp_path, [{**CHOOSE, "label": {"eating": 1.0}}, CHOOSE_PARTNER], CHOICE)
    assert [(task.cases, task.left_out) for task in tasks(tmp_path)] == [((), {NO_CHOICE: 1})] * 2


def test_the_six_tasks_and_27_files():
    files = [file for test in TASKS.values() for file in test.files(default_yml=True)]
    assert len(set(files)) == len(files) == 27
    assert dict(CARETS.shapes) == dict.fromkeys(TASKS, "questions")
    assert {task.rpartition("-")[2]: test.capability for task, test in TASKS.items()} == {
        "inv": "invariance",
        "dir": "directional",
    }


@pytest.mark.parametrize("protocol", [DEFAULT_YML, RELEASE])
def test_default_yml_on_request_and_with_the_figures_of_the_released_code(tmp_path, protocol):
    name = "action_choice_rel_ontology_ontology_test.json"
    write(tmp_path, [CHOOSE, partner(CHOOSE, "h")], name)
    assert tasks(tmp_path) == []
    (task,) = tasks(tmp_path, protocols=[protocol])
    assert [case.tags for case in task.cases] == [
        {"question_type": "action_choice_rel", "form": "multi-choice", "choices": "2"}
    ]


def test_visual_inv_has_no_data(tmp_path):
    write(tmp_path, [RECORD, partner(RECORD)])
    assert tasks(tmp_path, wanted="carets/visual-inv".__eq__) == []


def test_images_of_gqa_may_be_in_three_places(tmp_path):
    places = {"1": "images/gqa/1.jpg", "2": "images/vg/VG_100K_2/2.jpg", "3": "images/coco/000000000007.jpg"}
    for place in places.values():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    (tmp_path / "images/coco_to_vg_ids.json").write_text('{"7": [3]}')
    records = [{**RECORD, "img_id": name, "question_id": f"{name}-0-0"} for name in places]
    write(tmp_path, [*records, *map(partner, records)])
    found = {case.requests[0].image.key: case.requests[0].image.where for case in tasks(tmp_path)[0].cases}
    assert found == {name: str(tmp_path / place) for name, place in places.items()}


def test_images_and_tags_are_shared(tmp_path):
    records = [{**RECORD, "question_id": f"2357834-{n}-0"} for n in range(2)]
    write(tmp_path, [*records, *map(partner, records)])
    first, second = tasks(tmp_path)[0].cases
    assert first.requests[0].image is second.requests[0].image
    assert first.tags is second.tags
