"""The mistakes that people make in their own files of scene graphs: each is refused, or counted by its reason."""

import json

import pytest
from PIL import Image

from vlgate.errors import DataError
from vlgate.sources.graphs.annotated import annotated
from vlgate.sources.graphs.files import graph_faults, read_graphs, vocabulary_of
from vlgate.sources.reading.source import ReadOptions

CUP = {"id": "1", "name": "cup", "box": [30, 200, 80, 90]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (640, 480)).save(tmp_path / "photos/1.jpg")
    return tmp_path


def write(folder, *objects, words=None, name="own.json", **fields):
    graph = {"image": "photos/1.jpg", "objects": list(objects), **fields}
    file = folder / name
    file.write_text(json.dumps({"graphs": [graph], **({"words": words} if words else {})}))
    return file


def read(file, folder):
    return annotated([file], ReadOptions(folders=(folder,), seed=0, wanted=lambda _: True))


def test_a_box_outside_its_image_is_left_out_though_the_graph_gives_no_size(folder):
    file = write(folder, CUP, {"id": "2", "name": "table", "box": [10, 10, 800, 100]})
    found = read(file, folder)
    assert list(found.graphs[0].objects) == ["1"]
    assert found.left_out["a box outside the image"] == 1


@pytest.mark.parametrize(
    ("size", "counted"),
    [
        ({"width": 1280, "height": 480}, True),
        ({"width": 1280}, True),
        ({"width": 480, "height": 640}, True),
        ({"width": 640, "height": 480}, False),
        ({"width": 1280, "height": 960}, False),
        ({"height": 480}, False),
        ({}, False),
    ],
)
def test_a_size_that_is_not_the_images_leaves_the_graph_out_unless_the_image_is_only_scaled(folder, size, counted):
    found = read(write(folder, CUP, **size), folder)
    assert found.left_out.get("a width or height that is not the image's", 0) == counted
    assert len(found.graphs) == (not counted)


def test_a_photo_that_lies_on_its_side_counts_upright(folder):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (640, 480)).save(folder / "photos/1.jpg", exif=exif)
    assert len(read(write(folder, CUP, width=480, height=640), folder).graphs) == 1


def test_an_unknown_field_is_counted_by_its_name_with_the_nearest_one(folder):
    found = read(write(folder, CUP | {"atributes": ["red"]}), folder)
    assert found.left_out == {"an unknown field 'atributes' (did you mean 'attributes'?)": 1}


def test_an_unknown_parent_of_a_word_is_refused_with_the_nearest_one(folder):
    file = write(folder, CUP, words={"nouns": [{"name": "robot arm", "parents": ["devise"]}]})
    with pytest.raises(DataError, match=r"robot arm.*'devise'.*did you mean 'device'"):
        vocabulary_of([file])


def test_an_unknown_number_of_a_word_is_refused_with_the_allowed_ones(folder):
    file = write(folder, CUP, words={"nouns": [{"name": "robot arm", "number": "single"}]})
    with pytest.raises(DataError, match=r"own\.json.*nouns, 1.*singular, plural, mass.*'single'") as caught:
        vocabulary_of([file])
    assert "--faults" not in str(caught.value)


@pytest.mark.parametrize("content", [{"grafs": []}, {"grafs": [{"image": "photos/1.jpg", "objects": [CUP]}]}])
def test_a_misspelled_graphs_is_refused_with_the_right_name(folder, content):
    file = folder / "own.json"
    file.write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"own\.json.*'grafs'.*did you mean 'graphs'"):
        list(read_graphs(file))
    with pytest.raises(DataError, match="did you mean 'graphs'"):
        read(file, folder)


def test_every_fault_of_a_file_is_found_at_once(folder):
    objects = [CUP | {"atributes": []}, {"id": "2", "name": "table", "box": [10, 10, 0, 100]}, {"name": "dog"}]
    file = write(folder, *objects, words={"nouns": [{"name": "robot arm", "number": "single"}]})
    errors = list(map(str, graph_faults(file)))
    assert len(errors) == 4
    assert all(str(file) in error and "scene-graphs.md" in error for error in errors)
    for told in ("did you mean 'attributes'", "object '2'", "object 3", "'single'"):
        assert sum(told in error for error in errors) == 1
