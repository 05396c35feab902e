"""What the readers of VALSE, BLA, FOIL it, SugarCrepe, CARETS and VL-CheckList do beside what all do."""

from collections import Counter
from pathlib import Path

import pytest
import releases
from builders import json_table
from releases import SMALL, tasks

from vlgate.errors import DataError
from vlgate.sources.benchmarks import carets
from vlgate.sources.benchmarks.bla import FILES as OF_BLA
from vlgate.sources.benchmarks.carets import DEFAULT_YML, NO_CHOICE, NO_ORIGINAL, NO_PARTNER, RELEASE
from vlgate.sources.benchmarks.valse import INVALID
from vlgate.sources.benchmarks.vl_checklist import BEYOND, CORPUS, FURTHER, MISSING, PAPER, VL_CHECKLIST, parse_config

TABLES = Path(__file__).with_suffix(".tsv")


def read(folder, name, content, **more):
    """The only task of a benchmark whose file has this content."""
    releases.write(folder / name, content)
    return releases.only(name.partition("/")[0], folder, **more)


def texts(case):
    return [request.text for request in case.requests]


VALSE = SMALL["valse"]["content"]["existence_1"]


def votes(caption):
    return VALSE | {"mturk": {"caption": caption, "foil": 3 - caption, "other": 0}}


def tags_of_valse(folder, name="existence", **changes):
    record = {field: value for field, value in (VALSE | changes).items() if value is not None}
    return dict(read(folder, f"valse/{name}.json", {"1": record}).cases[0].tags)


def test_two_of_three_votes_make_a_case_of_valse_valid_and_all_are_cases_on_request(tmp_path):
    task = read(tmp_path, "valse/existence.json", {"b": VALSE, "a": votes(1), "c": votes(2)})
    assert ([case.id for case in task.cases], task.left_out) == (["b", "c"], {INVALID: 1})
    [task] = tasks("valse", tmp_path, protocols=frozenset({"valse_all"})).values()
    assert ([case.id for case in task.cases], task.left_out) == (["b", "a", "c"], {})
    releases.write(tmp_path / "valse/existence.json", {"1": {**VALSE, "mturk": {}}})
    with pytest.raises(DataError, match="field 'mturk': field 'caption' is missing"):
        tasks("valse", tmp_path, protocols=frozenset({"valse_all"}))


def test_a_file_in_two_data_folders_is_an_error_and_a_folder_given_twice_counts_once(tmp_path):
    for folder in ("a", "b"):
        releases.write(tmp_path / folder / "valse/data/existence.json", {"1": VALSE})
        releases.write(tmp_path / folder / "vl-checklist" / YAML, CONFIG)
    for source, file in (("valse", r"a/valse/data/existence\.json"), ("vl-checklist", r"vg\.yaml")):
        with pytest.raises(DataError, match=rf"{file}: is also in .*b/{source}"):
            tasks(source, tmp_path / "a", tmp_path / "b")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert len(tasks("valse", tmp_path / "a", tmp_path / "a", tmp_path / "link")) == 1


def test_an_empty_file_has_no_cases_and_an_equal_foil_is_one(tmp_path):
    assert read(tmp_path, "valse/existence.json", {}).cases == ()
    [case] = read(tmp_path, "valse/existence.json", {"1": VALSE | {"foil": VALSE["caption"]}}).cases
    assert case.requests[0] == case.requests[1]


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        ("existence", {"provenance_of_foils": None, "dataset": None}, {}),
        *(
            ("existence", {"classes": value, "classes_foil": value}, {"provenance": "zero_to_something"})
            for value in (1, [1, 2], "field", True, None)
        ),
        ("plurals", {"foil_method": "checklist method, change NP to PL"}, {"direction": "sg2pl"}),
        ("plurals", {"foil_method": "checklist method, change NP to SG"}, {"direction": "pl2sg"}),
        ("plurals", {"foil_method": "by hand"}, r"field 'foil_method' is a string .'by hand'"),
        ("counting-hard", {"answer": 4}, {"class": "4"}),
        ("counting-hard", {}, {"class": "0"}),
        ("counting-hard", {"answer": "12"}, {"class": "12"}),
        *(("counting-hard", {"answer": value}, r"field 'answer' is .*string") for value in (True, [1], 1.5)),
    ],
)
def test_the_slices_of_valse(tmp_path, name, changes, expected):
    if isinstance(expected, str):
        with pytest.raises(DataError, match=expected):
            tags_of_valse(tmp_path, name, **changes)
    else:
        assert tags_of_valse(tmp_path, name, **changes) == expected | ({"dataset": "visual7w"} if expected else {})


[SET] = SMALL["bla"]["content"]
[GROUP] = SET["caption_group"]
ACTIVE = f"bla/annotations/{OF_BLA['bla/active-passive']}"


def test_the_other_form_of_bla_and_ids_and_slices_of_its_sets(tmp_path):
    [case] = read(tmp_path, ACTIVE, {"2368232": list(GROUP.values())}).cases
    assert texts(case) == list(GROUP.values())
    assert (case.id, case.truths, case.requests[0].image.key) == ("2368232", (True, True, False, False), "2368232")
    assert case.origin.endswith(", record 2368232")
    group = GROUP | {"predicate": "looks at", "group_index": 3, "score": [0.9, 0.8, 0.9, 0.8]}
    sets = [SET | {"image_id": 1159399, "index": 14, "caption_group": [group, GROUP]}, SET]
    cases = read(tmp_path, ACTIVE, sets).cases
    assert [(case.id, case.tags) for case in cases] == [
        ("1159399", {"verb": "looks at"}),
        ("1159399-2", {}),
        ("1159399-3", {}),
    ]
    assert {case.requests[0].image.key for case in cases} == {"1159399"}


def test_the_image_of_the_release_of_bla_comes_first(tmp_path):
    for place in ("bla/images", "images/vg"):
        releases.write(tmp_path / place / "1159399.jpg", "red")
    [case] = read(tmp_path, ACTIVE, [SET]).cases
    assert case.requests[0].image.where == str(tmp_path / "bla/images/1159399.jpg")


[TRUE, FOIL] = SMALL["foil-it"]["content"]["annotations"]
[IMAGE] = SMALL["foil-it"]["content"]["images"]


def foil_it(folder, *annotations):
    content = SMALL["foil-it"]["content"] | {"images": [IMAGE, IMAGE | {"id": 5}], "annotations": annotations}
    return read(folder, "foil-it/foilv1.0_test_2017.json", content).cases


@pytest.mark.parametrize(
    ("annotations", "ids"),
    [
        ([FOIL, TRUE], ["1283539"]),  # in any order
        ([TRUE, FOIL, TRUE | {"id": 92, "foil_id": 5}], ["1283539"]),  # a caption without a foil gives no case
        ([TRUE, TRUE | {"foil_id": 1}, FOIL], ["1283539"]),  # a repeated true caption counts once
        (
            [TRUE, FOIL, FOIL | {"caption": "another"}, FOIL | {"caption": "one more"}],
            ["1283539", "1283539-2", "1283539-3"],
        ),
    ],
)
def test_the_foils_of_foil_it_find_their_captions(tmp_path, annotations, ids):
    cases = foil_it(tmp_path, *annotations)
    assert [case.id for case in cases] == ids
    assert texts(cases[0]) == [TRUE["caption"], FOIL["caption"]]
    assert cases[0].origin.endswith(f"annotations[{annotations.index(FOIL)}]")
    assert len({case.requests[0] for case in cases}) == 1


@pytest.mark.parametrize(
    ("annotations", "says"),
    [
        ([TRUE, TRUE | {"caption": "another"}, FOIL], r"record annotations\[1\]: id 91 is .*another true caption"),
        ([TRUE | {"id": 92}, FOIL], r"record annotations\[1\]: no true caption of image 165831 has the foil's id 91"),
        ([TRUE | {"image_id": 5}, FOIL], r"record annotations\[1\]: no true caption of image 165831 has the foil's id"),
    ],
)
def test_a_foil_without_its_only_true_caption_is_an_error(tmp_path, annotations, says):
    with pytest.raises(DataError, match=rf"foilv1.0_test_2017.json, {says}.*; download"):
        foil_it(tmp_path, *annotations)


QUESTION = SMALL["carets"]["content"][0]
CHOOSE, CHOSEN = SMALL["carets choices"]["content"]
LETTERS = {"template": "t", "symmetric": "s", "ontology": "h", "negation": "n"}
VERIFICATION, CHOICE = "object_verification_template", "action_choice_symmetric"


def partner(record, letter="t", **changes):
    return {**record, "question_id": f"{record['question_id']}-{letter}", **changes}


def of_carets(folder, records, name=VERIFICATION, **more):
    return read(folder, f"carets/questions/{name}_test.json", records, **more)


def assigned(**assignment):
    return CHOOSE | {"assignment": assignment}


@pytest.mark.parametrize(
    ("name", "original", "changes", "truths", "tags"),
    [
        (VERIFICATION, QUESTION, {"sent": "Do you see a gate?"}, "yes yes", {"question_type": "object_verification"}),
        ("object_verification_ontology_ontology", QUESTION, {}, "yes yes", {"direction": "hypernym"}),
        (
            "object_verification_ontology_ontology", QUESTION | {"label": {"no": 1.0}}, {}, "no no",
            {"direction": "hyponym", "answer": "no"},
        ),
        ("object_verification_conjunction_symmetric", QUESTION, {}, "yes yes", {"question_type": "conjunction"}),
        ("object_verification_disjunction_symmetric", QUESTION, {}, "yes yes", {"question_type": "disjunction"}),
        (  # not what the record's question_type says
            "object_verification_rel_negation", QUESTION, {"label": {"no": 1.0}}, "yes no",
            {"question_type": "object_verification_rel"},
        ),
        (
            "object_choice_rel_symmetric",
            assigned(**{"obj-category-options1": ["vest", "standing", "coat"], "category-options1": ["red", "blue"]}),
            {}, "standing standing", {"question_type": "object_choice_rel", "form": "multi-choice", "choices": "3"},
        ),
        (
            CHOICE, assigned(**{"obj-category-options1": ["cow", "horse"], **CHOOSE["assignment"]}), {},
            "standing standing", {"choices": "2"},
        ),
    ],
)  # fmt: skip
def test_the_slices_and_choices_of_carets(tmp_path, name, original, changes, truths, tags):
    other = partner(original, LETTERS[name.rpartition("_")[2]], **changes)
    [case] = of_carets(tmp_path, [other, original], name).cases
    assert case.truths == tuple(truths.split())
    assert case.tags.items() >= tags.items()
    assert [request.question for request in case.requests] == [original["sent"], other["sent"]]


def test_the_files_of_a_task_of_carets_are_its_cases(tmp_path):
    records = [{**QUESTION, "question_id": f"2357834-{n}-0"} for n in (3, 1, 2)]
    of_carets(tmp_path, [partner(records[2]), *records, partner(records[0]), partner(records[1])])
    of_carets(tmp_path, [CHOOSE, partner(CHOOSE)], "action_choice_template")
    task = of_carets(tmp_path, [records[0], partner(records[0])], "object_verification_rel_template")
    assert [case.id for case in task.cases] == [
        *(f"{VERIFICATION}/2357834-{n}-0" for n in (3, 1, 2)),
        "action_choice_template/150439-2-1",
        "object_verification_rel_template/2357834-3-0",
    ]
    assert task.left_out == {}


def test_questions_of_carets_without_a_partner_or_an_answer_among_the_choices_are_counted(tmp_path):
    alone = [{**QUESTION, "question_id": f"1-{n}-0"} for n in range(3)]
    task = of_carets(tmp_path, [QUESTION, partner(QUESTION), *alone[:2], partner(alone[2])])
    assert (len(task.cases), task.left_out) == (1, {NO_PARTNER: 2, NO_ORIGINAL: 1})
    task = of_carets(tmp_path, [QUESTION, partner(QUESTION, label={"maybe": 1.0})])
    assert (task.cases, task.left_out) == ((), {NO_CHOICE: 1})
    (tmp_path / f"carets/questions/{VERIFICATION}_test.json").unlink()
    task = of_carets(tmp_path, [CHOOSE | {"label": {"eating": 1.0}}, CHOSEN], CHOICE)
    assert (task.cases, task.left_out) == ((), {NO_CHOICE: 1})


def test_the_six_tasks_and_27_files_of_carets():
    files = [file for test in carets.TASKS.values() for file in test.files(default_yml=True)]
    assert len(set(files)) == len(files) == 27
    assert dict(carets.CARETS.shapes) == dict.fromkeys(carets.TASKS, "questions")
    assert {task.rpartition("-")[2]: test.capability for task, test in carets.TASKS.items()} == {
        "inv": "invariance",
        "dir": "directional",
    }


@pytest.mark.parametrize("protocol", [DEFAULT_YML, RELEASE])
def test_default_yml_on_request_and_with_the_figures_of_the_released_code(tmp_path, protocol):
    name, records = "action_choice_rel_ontology_ontology", [CHOOSE, partner(CHOOSE, "h")]
    [case] = of_carets(tmp_path, records, name, protocols=frozenset({protocol})).cases
    assert case.tags == {"question_type": "action_choice_rel", "form": "multi-choice", "choices": "2"}
    assert tasks("carets", tmp_path) == {}
    of_carets(tmp_path, [QUESTION, partner(QUESTION)])
    assert tasks("carets", tmp_path, wanted="carets/visual-inv".__eq__) == {}  # it has no data


YAML, ANNO = "corpus/v1/Attribute/color/vg.yaml", "data/Attribute/vg/color.json"
[CONFIG] = SMALL["vl-checklist"]["beside"].values()
[ITEM] = SMALL["vl-checklist"]["content"]
THREE = ["lathering_148.jpg", {"POS": ["a soap", "a hand", "a mitt"], "NEG": ["a helmet", "a cheek", "a caput"]}]


def of_vl_checklist(folder, items, config=CONFIG, *, paper=False, **more):
    releases.write(folder / "vl-checklist" / YAML, config)
    protocols = frozenset({PAPER}) if paper else frozenset()
    return read(folder, f"vl-checklist/{ANNO}", items, protocols=protocols, **more)


def problem(folder, config):
    with pytest.raises(DataError) as caught:
        of_vl_checklist(folder, [ITEM], config)
    return str(caught.value).removeprefix(f"{folder}/vl-checklist/")


def test_the_texts_of_an_item_are_paired_by_their_places_and_as_released(tmp_path):
    task = of_vl_checklist(
        tmp_path, [ITEM, THREE, ["VG_100K/1.jpg", {"POS": ["plant IN pot"], "NEG": [" customers "]}]]
    )
    assert {case.id: tuple(texts(case)) for case in task.cases} == {
        "0-0": ("brown knob", "teal knob"),
        "1-0": ("a soap", "a helmet"),
        "1-1": ("a hand", "a cheek"),
        "1-2": ("a mitt", "a caput"),
        "2-0": ("plant IN pot", " customers "),
    }
    assert of_vl_checklist(tmp_path, []).cases == ()


@pytest.mark.parametrize("missing", ["fail", "skip"])
def test_the_protocol_of_the_paper(tmp_path, missing):
    task = of_vl_checklist(tmp_path, [THREE, *[ITEM] * 1001], paper=True, missing_images=missing)
    assert [case.id for case in task.cases] == [f"{item}-0" for item in range(1000)]
    assert task.left_out == {BEYOND: 2, FURTHER: 2}
    task = of_vl_checklist(tmp_path, [ITEM], paper=True)
    assert (len(task.cases), task.left_out) == (1, {})


def test_the_paper_takes_1000_of_the_items_whose_images_are_there(tmp_path):
    items, there = [[f"VG_100K/{n}.jpg", ITEM[1]] for n in range(1300)], [n for n in range(1300) if n % 5]
    (tmp_path / "images/vg").mkdir(parents=True)
    for number in there:
        (tmp_path / f"images/vg/{number}.jpg").touch()
    task = of_vl_checklist(tmp_path, items, paper=True, missing_images="skip")
    assert [case.id for case in task.cases] == [f"{n}-0" for n in there[:1000]]
    assert task.left_out == {MISSING: 260, BEYOND: 40}
    strict = of_vl_checklist(tmp_path, items, paper=True, missing_images="fail")
    assert [case.id for case in strict.cases] == [f"{n}-0" for n in range(1000)]
    assert strict.left_out == {BEYOND: 300}
    whole = of_vl_checklist(tmp_path, items, missing_images="skip")
    assert (len(whole.cases), whole.left_out) == (1300, {})


def test_the_56_tasks_of_vl_checklist():
    assert len(VL_CHECKLIST.shapes) == len(set(CORPUS.values())) == 56
    assert set(VL_CHECKLIST.shapes.values()) == {"pair"}
    assert Counter(task.split("/")[1] for task in CORPUS) == {"object": 42, "attribute": 10, "relation": 4}
    assert CORPUS["vl-checklist/object/location/center/swig_agent"] == "Object/Location/center/swig_agent.yaml"


@pytest.mark.parametrize(("root", "key", "place"), json_table(TABLES, "images"))
def test_the_images_of_vl_checklist(tmp_path, root, key, place):
    releases.write(tmp_path / place, "red")
    releases.write(tmp_path / "images/coco_to_vg_ids.json", {"7": [3]})
    task = of_vl_checklist(tmp_path, [[key, ITEM[1]]], CONFIG.replace('"vg"', f'"{root}"'))
    image = task.cases[0].requests[0].image
    assert (image.key, image.where) == (key, str(tmp_path / place))


@pytest.mark.parametrize(
    "path",
    ["../color.json", "/etc/color.json", "data/../../color.json", "data\\\\color.json", f"data/{'a' * 300}.json"],
)
def test_a_path_in_the_corpus_is_not_trusted(tmp_path, path):
    assert problem(tmp_path, CONFIG.replace(ANNO, path)).startswith(f"{YAML}: ANNO_PATH ")


def test_a_link_to_no_annotations_is_not_passed_over(tmp_path):
    of_vl_checklist(tmp_path, [ITEM])
    annotations = tmp_path / "vl-checklist" / ANNO
    annotations.unlink()
    annotations.symlink_to(tmp_path / "gone.json")
    with pytest.raises(DataError, match=rf"vg\.yaml: ANNO_PATH {ANNO}: is a link that leads to no file; fetch "):
        tasks("vl-checklist", tmp_path)


def test_a_corpus_with_quotes_blanks_and_comments(tmp_path):
    config = f"# colours\n\n  ANNO_PATH : {ANNO}  # of Visual Genome\nIMG_ROOT: 'vg/'\r\nTYPE: TUPLE_JSON\n"
    file = releases.write(tmp_path / YAML, config)
    assert parse_config(file) == {"ANNO_PATH": ANNO, "IMG_ROOT": "vg/", "TYPE": "TUPLE_JSON"}


@pytest.mark.parametrize(("config", "expected"), json_table(TABLES, "a_broken_corpus"))
def test_a_broken_corpus(tmp_path, config, expected):
    message = problem(tmp_path, config)
    assert message.startswith(YAML)
    assert expected in message


def test_a_corpus_that_cannot_be_read(tmp_path):
    releases.write(tmp_path / "vl-checklist" / YAML, CONFIG)
    assert tasks("vl-checklist", tmp_path) == {}  # without its file of items
    assert "vg.yaml: line 1, column 12 is not UTF-8" in problem(tmp_path, b"ANNO_PATH: \xff")
    (tmp_path / "vl-checklist" / YAML).unlink()
    (tmp_path / "vl-checklist" / YAML).mkdir()
    with pytest.raises(DataError, match=r"vg\.yaml: cannot be read"):
        tasks("vl-checklist", tmp_path)
