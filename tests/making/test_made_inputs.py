"""The inputs: what a file holds is told from its content, and an error names the file, the record and the remedy."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from builders import read_lines, tabled, write_lines

from vlgate.errors import DataError
from vlgate.making.inputs.reading import ImageFolder, read_inputs
from vlgate.making.inputs.records import Caption, with_others
from vlgate.making.kinds.kind import both_ways
from vlgate.making.sets.run import Settings, make_set
from vlgate.perturb.foils.candidates import Turn

INPUTS = json.loads(Path(__file__).with_name("inputs.json").read_text(encoding="utf-8"))
COCO, VISUAL7W, VISDIAL, SWIG, SPACE, HAKE, HAKE_IMAGES = INPUTS.values()

SHARED = Path(__file__).parents[3] / "shared/data"
ALL = ("captions", "answers", "dialogs", "frames", "interactions", "graphs")

HICO = """ id  object          verb
-------------------------------
153  motorcycle      race
155  motorcycle      sit_on
160  motorcycle      no_interaction
"""


@pytest.fixture
def hico(tmp_path):
    file = tmp_path / "hico_hoi_list.txt"
    file.write_text(HICO)
    return file


@pytest.fixture
def write(tmp_path):
    def written(content, name="input.json"):
        file = tmp_path / name
        text = "".join(f"{json.dumps(row)}\n" for row in content) if isinstance(content, list) else json.dumps(content)
        file.write_text(text)
        return file

    return written


def test_captions_of_coco_know_the_other_captions_of_their_image(write):
    read = read_inputs([write(COCO)], ALL)
    assert read.name == "captions"
    first, second, third = read.inputs
    assert (first.image, first.text, first.others) == ("7.jpg", "a dog", ("an old dog",))
    assert (second.others, third.others) == ((), ("a dog",))
    assert third.origin == "input.json, id 3"


@pytest.mark.parametrize("text", ["an  old\tdog ", " an\n old dog\u00a0"])
def test_white_space_of_captions_is_single_blanks(write, text):
    released = COCO | {"annotations": [{"id": 1, "image_id": 7, "caption": text}]}
    for content in (released, [{"image": "7.jpg", "caption": text}]):
        assert [caption.text for caption in read_inputs([write(content)], ALL).inputs] == ["an old dog"]


def test_lines_may_have_an_id(write):
    read = read_inputs([write([{"image": "1.jpg", "caption": "a", "id": 4}, {"image": "1.jpg", "caption": "b"}])], ALL)
    assert [input_.id for input_ in read.inputs] == ["4", "input on line 2"]
    assert [input_.others for input_ in read.inputs] == [("b",), ("a",)]


def test_answers_of_visual7w_and_of_lines(write):
    lines = [{"image": "1.jpg", "question": "How many?", "answer": 2, "wrong": ["3"]}]
    first, second = read_inputs([write(VISUAL7W), write(lines, "more.jsonl")], ALL).inputs
    assert (first.image, first.question, first.answer) == ("v7w_2.jpg", "How many dogs?", "Two.")
    assert first.wrong == ("One.", "Six.", "0.")
    assert (second.answer, second.wrong) == ("2", ("3",))


def test_dialogs_of_visdial_and_of_lines(write):
    lines = [{"image": "1.jpg", "caption": "a man", "dialog": [["is he tall?", "no"]]}]
    first, second = read_inputs([write(VISDIAL), write(lines, "more.jsonl")], ALL).inputs
    assert first.image == "COCO_train2014_000000000005.jpg"
    assert first.turns == (Turn(question="is it day", answer="yes"),)
    assert second.turns == (Turn(question="is he tall?", answer="no"),)


def test_frames_of_swig_have_the_nouns_of_most_annotators(write):
    [frame] = read_inputs([write(SWIG), write(SPACE, "space.json")], ("frames",)).inputs
    assert frame.roles == {"agent": "man", "place": "gym"}
    assert frame.template == "the AGENT jumps at PLACE"
    assert frame.boxes == {"agent": (10, 20, 30, 50)}
    assert frame.size == (100, 80)
    [line] = read_inputs([write([{"image": "1", "verb": "run", "roles": {"agent": "dog"}}], "l.jsonl")], ALL).inputs
    assert line.roles == {"agent": "dog"}


def test_interactions_of_hake_have_the_words_of_its_list(write, hico):
    read = read_inputs([write(HAKE), hico], ALL)
    [one] = read.inputs
    assert (read.name, one.image) == ("interactions", "hico_20160224_det/images/train2015/HICO_train2015_00000001.jpg")
    assert [(each.verb, each.thing, each.person, each.place) for each in one.done] == [
        ("race", "motorcycle", (208, 33, 427, 300), (59, 98, 572, 405))
    ]
    assert (one.size, one.boxed, one.origin) == ((640, 480), True, "input.json, HICO_train2015_00000001.jpg")


def test_interactions_of_whole_images_have_no_boxes(write, hico):
    [one] = read_inputs([hico, write(HAKE_IMAGES)], ALL).inputs
    assert [(each.verb, each.thing) for each in one.done] == [("race", "motorcycle"), ("sit_on", "motorcycle")]
    assert (one.image, one.boxed) == ("HICO_train2015_00000001.jpg", False)


def test_what_a_person_does_alone_and_images_without_interactions_are_counted(write, hico):
    [image] = HAKE.values()
    alone = {field: value for field, value in image["labels"][0].items() if field != "object_bbox"}
    flat = image["labels"][0] | {"object_bbox": [9, 9, 9, 20]}
    content = {"1.jpg": image | {"labels": [alone]}, "2.jpg": image | {"labels": []}, "3.jpg": image}
    content["4.jpg"] = image | {"labels": [*image["labels"], flat]}
    read = read_inputs([write(content), hico], ALL, faults="leave out")
    assert ([input_.id for input_ in read.inputs], read.given) == (["3.jpg", "4.jpg"], 4)
    assert read.left_out == {
        "an interaction without a box of its object": 1,
        "an image without interactions": 2,
        "an interaction with a box without an area": 1,
    }
    with pytest.raises(DataError, match=r"4\.jpg, label 2: has an interaction with a box without an area"):
        read_inputs([write(content), hico], ALL)


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ({"hoi_id": 601}, "jpg, label 0: hoi_id 601 is not in the list of 3 interactions; name HAKE's Config/hico_hoi"),
        ({"hoi_id": "153"}, "label 0: field 'hoi_id' is a string ('153'), expected an integer"),
        ({"human_bbox": [1, 2, 3]}, "label 0: field 'human_bbox' is a list ([1, 2, 3]), expected four numbers"),
        ({"object_bbox": [1, 2, 3, 10**7]}, "10000000]), expected four numbers up to 1,000,000"),
        ({"width": 0}, "label 0: field 'width' is an integer (0), expected a number from 1 to 1,000,000"),
        ({"width": 641}, "jpg: has labels with 2 sizes of the image: [(640, 480), (641, 480)]"),
    ],
)
def test_a_fault_of_hake_names_the_file_the_label_and_the_remedy(write, hico, label, says):
    [image] = HAKE.values()
    first, second = image["labels"]
    with pytest.raises(DataError) as raised:
        read_inputs([write({"1.jpg": image | {"labels": [first | label, second]}}), hico], ALL)
    assert "input.json" in str(raised.value)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (HICO + "161 person\n", r"on line 6: is not a number, an object and a verb; name HAKE's Config/hico_hoi_list"),
        (HICO + "155 person greet\n", r"on line 6: repeats the number 155"),
    ],
)
def test_a_broken_list_of_interactions_names_the_line(write, hico, content, says):
    hico.write_text(content)
    with pytest.raises(DataError, match=rf"hico_hoi_list\.txt, record {says}"):
        read_inputs([write(HAKE), hico], ALL)


def test_interactions_and_their_list_come_together(write, hico):
    with pytest.raises(DataError, match=r"by numbers; add HAKE's Config/hico_hoi_list\.txt to --from"):
        read_inputs([write(HAKE)], ALL)
    with pytest.raises(DataError, match="has the verbs and nouns only; add a file of HAKE's interactions"):
        read_inputs([hico], ALL)


def test_graphs_are_those_of_the_other_reader_each_image_once(write):
    graph = {"objects": {"1": {"name": "cup", "x": 0, "y": 0, "w": 9, "h": 9}}}
    files = [write({"1": graph, "2": graph}), write({"2": graph}, "more.json")]
    read = read_inputs(files, ALL)
    assert [input_.id for input_ in read.inputs] == ["1", "2"]
    assert (read.left_out, read.given) == ({"graph of an image that an earlier file has": 1}, 3)


def test_graphs_that_are_left_out_as_a_whole_are_among_those_given(write):
    cup = {"name": "cup", "x": 0, "y": 0, "w": 9, "h": 9}
    keyed = {"1": {"objects": {"1": cup, "2": 3}}, "2": {}, "../3": {"objects": {"1": cup}}, "4": {"objects": 3}}
    own = [
        {"image": "5", "objects": [{"id": "1", "name": "cup", "box": [0, 0, 9, 9]}]},
        {"objects": []},
        {"image": "6"},
    ]
    files = [write(keyed), write({"graphs": own, "words": {}}, "own.json"), write({"2": keyed["1"]}, "more.json")]
    read = read_inputs(files, ALL, faults="leave out")
    assert ([graph.id for graph in read.inputs], read.given) == (["1", "5", "2"], 8)
    assert read.left_out.total() == 7


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"a": 1}, "has 'a', none of the known forms of input; for captions"),
        ({"images": [{"id": 7, "file_name": "7.jpg"}]}, "field 'annotations' is missing"),
        (COCO | {"annotations": [{"image_id": 9, "id": 1, "caption": "a"}]}, "annotation 0: image_id 9 is not listed"),
        (COCO | {"annotations": [{"image_id": 7, "id": 1}]}, "annotation 0: field 'caption' is missing"),
        (COCO | {"annotations": [{"image_id": 7, "id": 1, "caption": 3}]}, "field 'caption' is an integer (3)"),
        ([{"image": "1.jpg", "caption": None}], "on line 1: field 'caption' is null"),
        ([{"image": "1.jpg", "question": "How?"}], "on line 1: field 'answer' is missing"),
        ([{"image": "1", "question": "How?", "answer": "2", "wrong": "3"}], "field 'wrong' is a string"),
        ([{"image": "1", "caption": "a", "dialog": [["q"]]}], "field 'dialog' is a list"),
        (VISDIAL | {"split": "dev"}, "field 'split' is a string ('dev'), expected one of 'train'"),
        (VISDIAL | {"data": VISDIAL["data"] | {"answers": []}}, "dialog 0, turn 0: field 'answer' is an integer (0)"),
        (SWIG, "names its nouns by ids of WordNet; add imsitu_space.json"),
        (SPACE, "has the verbs and nouns only; add a file of role frames"),
        ([{"image": "1", "verb": "run", "roles": {"agent": 3}}], "field 'roles': field 'agent' is an integer (3)"),
    ],
)
def test_a_fault_names_the_file_the_record_and_the_remedy(write, content, says):
    with pytest.raises(DataError) as raised:
        read_inputs([write(content)], ALL)
    assert "input.json" in str(raised.value)
    assert says in str(raised.value)
    assert "; " in str(raised.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        *((text, "") for text in (b"", b"   ", b"{", b"[", b'"x"', b"no json", b'{"image": "1", "caption": "a"}\n{')),
        (b'{"image": 1, }', "is not JSON or lines of JSON"),
        (b"\x00\x01\x02", "is not JSON or lines of JSON"),
        (b"\x1f\x8b\x08\x00", "is compressed, or a spreadsheet; unpack it, or save it as CSV in UTF-8"),
        (b'{"a": 1}', "has 'a', none of the known forms of input; for captions"),
    ],
)
def test_a_broken_file_or_one_of_no_known_form_says_why(tmp_path, content, says):
    file = tmp_path / "some.json"
    file.write_bytes(content)
    with pytest.raises(DataError, match=rf"some\.json.*{says}"):
        read_inputs([file], ALL)
    with pytest.raises(DataError, match="no such file"):
        read_inputs([tmp_path / "none.json"], ALL)


@tabled
def test_captions_come_as_lines_a_list_or_a_table(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    read = read_inputs([tmp_path / name], ALL)
    assert [(one.image, one.text) for one in read.inputs] == [("1.jpg", "a cup, and a hat"), ("2.jpg", "a dog")]
    assert len({one.id for one in read.inputs}) == 2


ROWS = {
    "captions": [{"image": "1.jpg", "caption": "a cup"}, {"image": "2.jpg", "caption": ""}],
    "answers": [
        {"image": "1.jpg", "question": "How many, in all?", "answer": "2", "wrong": ["3"]},
        {"image": "2.jpg", "question": "", "answer": "2", "wrong": []},
    ],
    "dialogs": [
        {"image": "1.jpg", "caption": "a man", "dialog": [["is he tall?", "no"]]},
        {"image": "2.jpg", "caption": " ", "dialog": []},
    ],
}


@pytest.mark.parametrize("name", ROWS)
def test_lines_a_list_and_a_table_of_the_same_rows_are_alike_and_an_empty_text_is_counted(tmp_path, name):
    rows, files = ROWS[name], [tmp_path / f"a.{end}" for end in ("jsonl", "json", "csv")]
    write_lines(files[0], rows)
    files[1].write_text(json.dumps(rows, indent=1))
    with files[2].open("w", newline="") as stream:
        table = csv.DictWriter(stream, rows[0], delimiter=";")
        table.writeheader()
        table.writerows(
            {key: cell if type(cell) is str else json.dumps(cell) for key, cell in row.items()} for row in rows
        )
    lines, *others = (read_inputs([file], ALL) for file in files)
    assert (lines.name, lines.left_out, lines.given) == (name, {"the text is empty": 1}, 2)
    for other in others:
        assert replace(other, inputs=[]) == replace(lines, inputs=[])
        assert [replace(one, id="", origin="") for one in other.inputs] == [replace(lines.inputs[0], id="", origin="")]


@tabled
def test_fields_under_other_names_are_told_theirs_and_the_wanted_ones(tmp_path, name, text, has):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError) as raised:
        read_inputs([tmp_path / name], ALL)
    assert has in str(raised.value)
    assert "'image' and 'caption', for answered questions 'image', 'question' and 'answer'" in str(raised.value)


OUTSIDE = ["/photos/1.jpg", "C:\\photos\\1.jpg", "../1.jpg", "~/1.jpg", "~me/1.jpg", "file:///1.jpg", "a/../../1.jpg"]


@pytest.mark.parametrize("image", OUTSIDE)
def test_a_path_out_of_the_folder_is_no_name_of_an_image(write, hico, image):
    texts = [{"caption": "a"}, {"question": "How?", "answer": "2"}, {"caption": "a", "dialog": [["q", "a"]]}]
    rows = [{"image": image, **more} for more in (*texts, {"verb": "run", "roles": {}})]
    coco = COCO | {"images": [{"id": 7, "file_name": image}]}
    visual7w = {"images": [VISUAL7W["images"][0] | {"filename": image}]}
    swig, hake = ({image: next(iter(content.values()))} for content in (SWIG, HAKE_IMAGES))
    space = write(SPACE, "space.json")
    for content, *more in (*([row] for row in rows), [coco], [visual7w], [swig, space], [hake, hico]):
        file = write([content] if content in rows else content)
        with pytest.raises(DataError, match=r"1.jpg', expected a path within .*; write it from the data folder on, or"):
            read_inputs([file, *more], ALL)


def test_files_of_two_inputs_are_not_mixed(write):
    with pytest.raises(DataError, match="holds dialogs, an earlier file captions; name files of one input"):
        read_inputs([write(COCO), write(VISDIAL, "dialogs.json")], ALL)


@tabled
def test_real_files_are_read(name, file, number):
    if not (SHARED / file).is_file():
        pytest.skip(f"there is no {SHARED / file}")
    read = read_inputs([SHARED / file], ALL, faults="leave out")
    assert (read.name, len(read.inputs)) == (name, number)


@pytest.mark.parametrize(
    "written", ["a/café.png", "./a/café.png", "a\\café.png", "a/cafe\u0301.png", "b/../a//café.png"]
)
def test_an_image_of_the_inputs_by_another_spelling_of_its_path(tmp_path, written):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/café.png").touch()
    folder = ImageFolder(tmp_path)
    assert (folder.has(written), folder.name(written)) == (True, "a/café.png")
    assert not folder.has(f"../{tmp_path.name}/a/café.png")


def test_a_caption_that_is_there_again_is_not_among_the_others():
    texts = ["Two dogs.", "two dogs", "A dog and another.", "Two dogs.", "A dog and another"]
    captions = [Caption(id=str(n), image="1.jpg", text=text, origin=str(n)) for n, text in enumerate(texts)]
    others = [one.others for one in with_others(captions)]
    dogs, another = ("Two dogs.",), ("A dog and another.",)
    assert others == [another, another, dogs, another, dogs]


def test_answers_that_contradict_each_other_are_left_out_with_both_and_the_remedy(tmp_path):
    asked = [("1", "How many dogs?", "2"), ("1", "how many dogs", "Three."), ("1", "How many dogs?", "two")]
    asked += [("2", "How many dogs?", "2"), ("2", "How many cats?", "3"), ("3", "How many dogs?", "2")]
    asked += [("3", "How many dogs?", "Two."), ("3", "How many dogs?", "many"), ("4", "How many dogs?", "0")]
    rows = [{"image": f"{image}.jpg", "question": question, "answer": answer} for image, question, answer in asked]
    read = read_inputs([write_lines(tmp_path / "answers.jsonl", rows)], ("answers",))
    assert [one.image[0] for one in read.inputs] == ["2", "2", "3", "3", "3", "4"]
    reason = "a question of an image has several answers, as '2' and 'Three.' of 1.jpg; keep the true one of them"
    assert (read.left_out, read.given) == ({reason: 3}, 9)


def test_files_of_one_name_in_two_folders_are_two_sources(sides, captions_file, tmp_path):
    def set_of(out, *files):
        for place, file in enumerate(files):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_lines(file, rows[place::2])
        make_set(replace(sides, select=both_ways), Settings(files=files, out=tmp_path / out), lambda _: None)
        return read_lines(tmp_path / out / "why.jsonl"), json.loads((tmp_path / out / "bias.json").read_text())

    rows = read_lines(captions_file(160))
    reasons, other = set_of("other", tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert other["cases"] > 100
    reasons, same = set_of("same", tmp_path / "a/x/captions.jsonl", tmp_path / "b/x/captions.jsonl")
    assert (same["cases"], same["inputs"]) == (other["cases"], other["inputs"])
    names = {"a/x/captions.jsonl", "b/x/captions.jsonl"}
    assert {row["origin"].partition(",")[0] for row in reasons} == same["made_by"]["files"].keys() == names
