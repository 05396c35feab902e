from __future__ import annotations

import json
import pickle

import pytest

from vlgate.errors import DataError
from vlgate.sources.benchmarks.carets import (
    CARETS,
    DEFAULT_YML,
    NO_CHOICE,
    NO_ORIGINAL,
    NO_PARTNER,
    RELEASE,
    TASKS,
)
from vlgate.sources.reading.source import ReadOptions

VERIFICATION = "object_verification_template_test.json"
CHOICE = "action_choice_symmetric_test.json"

RECORD = {
    "img_id": "2357834",
    "label": {"yes": 1.0},
    "question_id": "2357834-2-16",
    "sent": "Is there a gate in the photo?",
    "question_type": "object_verification_template_1_attrs",
    "assignment": {"attrs1": [], "obj1": "gate", "obj1_id": "808171"},
}
CHOOSE = {
    "img_id": "150439",
    "label": {"standing": 1.0},
    "question_id": "150439-2-1",
    "sent": "Which pose is the cow doing, standing or lying?",
    "question_type": "action_choice",
    "assignment": {"category-options1": ["standing", "lying"], "category1": "pose", "obj1": "cow"},
}
CHOOSE_PARTNER = {
    **CHOOSE,
    "question_id": "150439-2-1-s",
    "sent": "Which pose is the cow doing, lying or standing?",
    "assignment": {**CHOOSE["assignment"], "category-options1": ["lying", "standing"]},
}


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


def problem(folder, **changes):
    with pytest.raises(DataError) as caught:
        one(folder, **changes)
    assert str(folder / "carets/data/questions") in str(caught.value)
    return str(caught.value)


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


def test_unwanted_tasks_are_not_read(tmp_path):
    write(tmp_path, [RECORD, partner(RECORD)])
    write(tmp_path, "broken", CHOICE)
    assert [task.id for task in tasks(tmp_path, wanted="carets/rephrase-inv".__eq__)] == ["carets/rephrase-inv"]


def test_without_its_file_there_is_no_task(tmp_path):
    assert tasks(tmp_path, tmp_path / "none") == tasks() == []


def test_files_directly_in_questions(tmp_path):
    write(tmp_path, [RECORD, partner(RECORD)], place="carets/questions")
    assert len(tasks(tmp_path)) == 1


def test_a_file_in_two_places(tmp_path):
    for place in ("carets/questions", "carets/data/questions"):
        write(tmp_path, [RECORD, partner(RECORD)], place=place)
    with pytest.raises(DataError, match=rf"{VERIFICATION}: is also in .*{VERIFICATION}"):
        tasks(tmp_path)


def test_a_file_that_is_cut_off(tmp_path):
    write(tmp_path, [RECORD, partner(RECORD)])
    file = tmp_path / "carets/data/questions" / VERIFICATION
    file.write_text(file.read_text()[:-20])
    with pytest.raises(DataError, match=r"object_verification_template_test\.json: is cut off"):
        tasks(tmp_path)


def test_a_file_with_an_object_is_rejected(tmp_path):
    write(tmp_path, {"1": RECORD})
    with pytest.raises(
        DataError, match=r"object_verification_template_test\.json: is an object .*expected a list of records"
    ):
        tasks(tmp_path)


@pytest.mark.parametrize("field", ["img_id", "label", "sent"])
def test_a_missing_field(tmp_path, field):
    message = problem(tmp_path, **{field: None})
    assert f"record 2357834-2-16: field {field!r} is missing" in message


def test_a_missing_id(tmp_path):
    assert "record 1: field 'question_id' is missing" in problem(tmp_path, question_id=None)


@pytest.mark.parametrize(
    "name", ["2357834-2-16-s", "2357834-2-16-x", "2357834-2-16-", "2357834-2", "2357834", "2357834-2-16-t-t", "a-b-c"]
)
def test_an_unknown_id(tmp_path, name):
    message = problem(tmp_path, question_id=name)
    assert f"field 'question_id' is a string ({name!r}), expected IMG-A-B or IMG-A-B-t" in message


@pytest.mark.parametrize("name", ["2357834-2-16", "2357834-2-16-t"])
def test_a_repeated_id_in_a_file(tmp_path, name):
    write(tmp_path, [RECORD, partner(RECORD), {**RECORD, "question_id": name}])
    with pytest.raises(DataError, match=f"record 2: question_id '{name}' is repeated"):
        tasks(tmp_path)


@pytest.mark.parametrize("label", [{}, {"yes": 1.0, "no": 1.0}, "yes", ["yes"]])
def test_a_label_that_is_not_one_answer(tmp_path, label):
    assert "field 'label' is " in problem(tmp_path, label=label)


@pytest.mark.parametrize("sent", ["", "  ", 5, ["Is it?"]])
def test_an_invalid_question(tmp_path, sent):
    assert "field 'sent' is " in problem(tmp_path, sent=sent)


@pytest.mark.parametrize("options", [None, [], ["standing"], "standing", ["standing", 2]])
def test_invalid_choices(tmp_path, options):
    assignment = {"category1": "pose"} if options is None else {"category-options1": options}
    with pytest.raises(DataError, match="record 150439-2-1, field 'assignment': field 'category-options1' is "):
        one(tmp_path, {**CHOOSE, "assignment": assignment}, CHOOSE_PARTNER, CHOICE)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "a\0", "..\\a"])
def test_an_images_name_is_not_trusted(tmp_path, name):
    assert "expected a relative path without" in problem(tmp_path, img_id=name)


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


def test_tasks_travel_between_processes(tmp_path):
    write(tmp_path, [RECORD, partner(RECORD)])
    assert pickle.loads(pickle.dumps(tasks(tmp_path))) == tasks(tmp_path)
