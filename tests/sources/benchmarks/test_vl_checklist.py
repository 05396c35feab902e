from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from builders import json_table

from vlgate.errors import DataError
from vlgate.sources.benchmarks.vl_checklist import BEYOND, CORPUS, FURTHER, MISSING, PAPER, VL_CHECKLIST, parse_config
from vlgate.sources.reading.source import ReadOptions

TABLES = Path(__file__).with_suffix(".tsv")

TASK = "vl-checklist/attribute/color/vg"
YAML = "corpus/v1/Attribute/color/vg.yaml"
ANNO = "data/Attribute/vg/color.json"
CONFIG = f'ANNO_PATH: "{ANNO}"\nIMG_ROOT: "vg"\nTYPE: "TUPLE_JSON"'

ITEM = ["VG_100K/2376832.jpg", {"POS": ["brown knob"], "NEG": ["teal knob"]}]
THREE = ["lathering_148.jpg", {"POS": ["a soap", "a hand", "a mitt"], "NEG": ["a helmet", "a cheek", "a caput"]}]


def write(folder, items, config=CONFIG, place=YAML, anno=ANNO):
    root = folder / "vl-checklist"
    for name, text in ((place, config), (anno, json.dumps(items))):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def tasks(*folders, wanted=lambda _: True, paper=False, **more):
    protocols = frozenset({PAPER}) if paper else frozenset()
    return list(VL_CHECKLIST.read(ReadOptions(folders=folders, seed=0, wanted=wanted, protocols=protocols, **more)))


def cases(folder, *items):
    write(folder, list(items))
    (task,) = tasks(folder)
    return task.cases


def problem(folder, *items, config=CONFIG):
    write(folder, list(items), config)
    with pytest.raises(DataError) as caught:
        tasks(folder)
    return str(caught.value).removeprefix(str(folder / "vl-checklist") + "/")


def test_a_case(tmp_path):
    (case,) = cases(tmp_path, ITEM)
    positive, negative = case.requests
    assert (positive.image.key, positive.text, negative.text) == (ITEM[0], "brown knob", "teal knob")
    assert positive.image is negative.image
    assert case.truths == (True, False)
    assert case.id == "0-0"
    assert case.origin == "Attribute/vg/color.json, item 0"
    assert case.tags == {}


def test_a_task(tmp_path):
    write(tmp_path, [ITEM, THREE])
    (task,) = tasks(tmp_path)
    assert (task.id, task.capability, task.shape, task.left_out) == (TASK, "foil", "pair", {})
    assert [case.id for case in task.cases] == ["0-0", "1-0", "1-1", "1-2"]


def test_the_texts_of_an_item_are_paired_by_their_places(tmp_path):
    found = [tuple(request.text for request in case.requests) for case in cases(tmp_path, THREE)]
    assert found == [("a soap", "a helmet"), ("a hand", "a cheek"), ("a mitt", "a caput")]


def test_texts_are_as_released(tmp_path):
    (case,) = cases(tmp_path, ["VG_100K/1.jpg", {"POS": ["plant IN pot"], "NEG": [" customers "]}])
    assert case.requests[1].text == " customers "


def test_the_protocol_of_the_paper(tmp_path):
    write(tmp_path, [THREE, *[ITEM] * 1001])
    (task,) = tasks(tmp_path, paper=True)
    assert [case.id for case in task.cases] == [f"{item}-0" for item in range(1000)]
    assert task.left_out == {BEYOND: 2, FURTHER: 2}


def test_a_small_file_by_the_protocol_of_the_paper(tmp_path):
    write(tmp_path, [ITEM])
    (task,) = tasks(tmp_path, paper=True)
    assert (len(task.cases), task.left_out) == (1, {})


def with_images(folder, *numbers):
    (folder / "images/vg").mkdir(parents=True, exist_ok=True)
    for number in numbers:
        (folder / f"images/vg/{number}.jpg").touch()


def test_the_paper_takes_1000_of_the_items_whose_images_are_there(tmp_path):
    write(tmp_path, [[f"VG_100K/{n}.jpg", ITEM[1]] for n in range(1300)])
    with_images(tmp_path, *(n for n in range(1300) if n % 5))
    (task,) = tasks(tmp_path, paper=True, missing_images="skip")
    assert [case.id for case in task.cases] == [f"{n}-0" for n in range(1300) if n % 5][:1000]
    assert task.left_out == {MISSING: 260, BEYOND: 40}
    (strict,) = tasks(tmp_path, paper=True, missing_images="fail")
    assert [case.id for case in strict.cases] == [f"{n}-0" for n in range(1000)]
    assert strict.left_out == {BEYOND: 300}
    (whole,) = tasks(tmp_path, missing_images="skip")
    assert (len(whole.cases), whole.left_out) == (1300, {})


def test_the_paper_takes_items_without_any_image_for_replies_made_elsewhere(tmp_path):
    write(tmp_path, [THREE, *[ITEM] * 1001])
    (task,) = tasks(tmp_path, paper=True, missing_images="skip")
    assert (len(task.cases), task.left_out) == (1000, {BEYOND: 2, FURTHER: 2})


def test_the_56_tasks():
    assert len(VL_CHECKLIST.shapes) == len(set(CORPUS.values())) == 56
    assert set(VL_CHECKLIST.shapes.values()) == {"pair"}
    aspects = Counter(task.split("/")[1] for task in CORPUS)
    assert aspects == {"object": 42, "attribute": 10, "relation": 4}
    assert CORPUS["vl-checklist/object/location/center/swig_agent"] == "Object/Location/center/swig_agent.yaml"


@pytest.mark.parametrize(("root", "key", "place"), json_table(TABLES, "images"))
def test_images(tmp_path, root, key, place):
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).touch()
    (tmp_path / "images/coco_to_vg_ids.json").write_text('{"7": [3]}')
    write(tmp_path, [[key, ITEM[1]]], CONFIG.replace('"vg"', f'"{root}"'))
    image = tasks(tmp_path)[0].cases[0].requests[0].image
    assert (image.key, image.where) == (key, str(tmp_path / place))


def test_without_its_file_there_is_no_task(tmp_path):
    write(tmp_path, [ITEM])
    (tmp_path / "vl-checklist" / ANNO).unlink()
    assert tasks(tmp_path) == tasks(tmp_path / "none") == tasks() == []


def test_a_file_in_two_places(tmp_path):
    for folder in ("a", "b"):
        write(tmp_path / folder, [ITEM])
    with pytest.raises(DataError, match=r"vg\.yaml: is also in .*vg\.yaml"):
        tasks(tmp_path / "a", tmp_path / "b")


def test_an_empty_list_has_no_cases(tmp_path):
    assert cases(tmp_path) == ()


@pytest.mark.parametrize("path", ["../color.json", "/etc/color.json", "data/../../color.json", "data\\\\color.json"])
def test_a_path_in_the_corpus_is_not_trusted(tmp_path, path):
    message = problem(tmp_path, ITEM, config=CONFIG.replace(ANNO, path))
    assert message.startswith(f"{YAML}: ANNO_PATH is ")


def test_a_path_that_is_too_long_is_named(tmp_path):
    write(tmp_path, [ITEM], CONFIG.replace(ANNO, f"data/{'a' * 300}.json"), anno=ANNO)
    with pytest.raises(DataError, match=r"vg\.yaml.*ANNO_PATH"):
        tasks(tmp_path)


def test_a_corpus_with_quotes_blanks_and_comments(tmp_path):
    config = f"# colours\n\n  ANNO_PATH : {ANNO}  # of Visual Genome\nIMG_ROOT: 'vg/'\r\nTYPE: TUPLE_JSON\n"
    write(tmp_path, [], config)
    found = parse_config(tmp_path / "vl-checklist" / YAML)
    assert found == {"ANNO_PATH": ANNO, "IMG_ROOT": "vg/", "TYPE": "TUPLE_JSON"}


@pytest.mark.parametrize(("config", "expected"), json_table(TABLES, "a_broken_corpus"))
def test_a_broken_corpus(tmp_path, config, expected):
    message = problem(tmp_path, ITEM, config=config)
    assert message.startswith(YAML)
    assert expected in message


def test_a_corpus_that_cannot_be_read(tmp_path):
    write(tmp_path, [ITEM])
    file = tmp_path / "vl-checklist" / YAML
    file.write_bytes(b"ANNO_PATH: \xff")
    with pytest.raises(DataError, match=r"vg\.yaml: line 1, column 12 is not UTF-8"):
        tasks(tmp_path)
    file.unlink()
    file.mkdir()
    with pytest.raises(DataError, match=r"vg\.yaml: cannot be read"):
        tasks(tmp_path)
