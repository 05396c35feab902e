"""A user's own file of scene graphs: each mistake is refused or counted, and its words join the ontology."""

import json
from collections import Counter
from pathlib import Path

import pytest
from builders import json_table, tabled
from PIL import Image

from vlgate.errors import DataError
from vlgate.perturb.ontology import default_ontology
from vlgate.sources.graphs.annotated import annotated
from vlgate.sources.graphs.files import graph_faults, read_graphs, read_words, vocabulary_of, with_words
from vlgate.sources.graphs.generated import find_graphs
from vlgate.sources.reading.source import ReadOptions

TABLES = Path(__file__).with_suffix(".tsv")

OWN = {"id": "1", "name": "cup", "box": [10, 10, 20, 20], "attributes": ["red"], "relations": []}
CUP = {"id": "1", "name": "cup", "box": [30, 200, 80, 90]}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (640, 480)).save(tmp_path / "photos/1.jpg")
    return tmp_path


def write(folder, content):
    file = folder / "own.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def about(folder, *objects, words=None, **fields):
    """A file of one graph about the photo."""
    graph = {"image": "photos/1.jpg", "objects": list(objects), **fields}
    return write(folder, {"graphs": [graph], **({"words": words} if words else {})})


def options(*folders):
    return ReadOptions(folders=folders, seed=0, wanted=lambda _: True)


def read(file):
    return annotated([file], options(file.parent))


@pytest.mark.parametrize(("content", "said"), json_table(TABLES, "own"))
def test_own(tmp_path, content, said):
    file = write(tmp_path, content)
    with pytest.raises(DataError) as caught:
        list(read_graphs(file))
    assert str(caught.value).startswith(f"{file}, record ")
    assert said in str(caught.value)
    assert "--faults leave-out" in str(caught.value).rpartition("; ")[2]
    left_out = Counter()
    list(read_graphs(file, faults="leave out", left_out=left_out))
    assert left_out.total() >= 1
    if "words" in content:
        with pytest.raises(DataError):
            read_words(file)


def folder_of(place, colour, *names):
    for inner in ("scene-graphs", "mine"):
        (place / inner).mkdir(parents=True)
    graphs = [{"image": name, "width": 40, "height": 40, "objects": [OWN]} for name in names]
    write(place / "scene-graphs", {"graphs": graphs})
    for name in ("1.png", "2.png"):
        Image.new("RGB", (40, 40), colour).save(place / "mine" / name)
    return place


@pytest.mark.parametrize("backwards", [False, True])
def test_the_image_of_a_graph_is_that_of_its_own_data_folder(tmp_path, backwards):
    folders = folder_of(tmp_path / "a", "red", "mine/1.png"), folder_of(tmp_path / "b", "blue", "mine/2.png")
    given = options(*folders[:: -1 if backwards else 1])
    found = annotated(find_graphs(given.folders), given)
    assert [graph.id for graph in found.graphs] == ["mine/1.png", "mine/2.png"]
    where = {name: image.where for name, image in found.images.items()}
    assert where == {"mine/1.png": f"{tmp_path}/a/mine/1.png", "mine/2.png": f"{tmp_path}/b/mine/2.png"}


@pytest.mark.parametrize("backwards", [False, True])
def test_graphs_of_two_images_of_one_name_are_an_error(tmp_path, backwards):
    folders = folder_of(tmp_path / "a", "red", "mine/1.png"), folder_of(tmp_path / "b", "blue", "mine/1.png")
    given = options(*folders[:: -1 if backwards else 1])
    with pytest.raises(DataError) as caught:
        annotated(find_graphs(given.folders), given)
    for part in ("b/scene-graphs/own.json, record graph 'mine/1.png'", "a/mine/1.png", "b/mine/1.png", "rename"):
        assert part in str(caught.value)


def test_a_box_outside_is_left_out_an_unknown_field_counted_and_a_photo_on_its_side_upright(folder):
    file = about(folder, CUP, {"id": "2", "name": "table", "box": [10, 10, 800, 100]})
    found = read(file)
    assert list(found.graphs[0].objects) == ["1"]
    assert found.left_out["a box outside the image"] == 1
    found = read(about(folder, CUP | {"atributes": ["red"]}))
    assert found.left_out == {"an unknown field 'atributes' (did you mean 'attributes'?)": 1}
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (640, 480)).save(folder / "photos/1.jpg", exif=exif)
    assert len(read(about(folder, CUP, width=480, height=640)).graphs) == 1


@tabled
def test_a_size_that_is_not_the_images_leaves_the_graph_out_unless_the_image_is_only_scaled(folder, size, counted):
    found = read(about(folder, CUP, **size))
    assert found.left_out.get("a width or height that is not the image's", 0) == counted
    assert len(found.graphs) == (not counted)


@tabled
def test_an_unknown_parent_or_number_of_a_word_is_refused_with_the_right_ones(folder, word, says):
    file = about(folder, CUP, words={"nouns": [{"name": "robot arm", **word}]})
    with pytest.raises(DataError, match=says) as caught:
        vocabulary_of([file])
    assert "--faults" not in str(caught.value)


@pytest.mark.parametrize("content", [{"grafs": []}, {"grafs": [{"image": "photos/1.jpg", "objects": [CUP]}]}])
def test_a_misspelled_graphs_is_refused_with_the_right_name(folder, content):
    file = write(folder, content)
    with pytest.raises(DataError, match=r"own\.json.*'grafs'.*did you mean 'graphs'"):
        list(read_graphs(file))
    with pytest.raises(DataError, match="did you mean 'graphs'"):
        read(file)


def test_every_fault_of_a_file_is_found_at_once(folder):
    objects = [CUP | {"atributes": []}, {"id": "2", "name": "table", "box": [10, 10, 0, 100]}, {"name": "dog"}]
    file = about(folder, *objects, words={"nouns": [{"name": "robot arm", "number": "single"}]})
    errors = list(map(str, graph_faults(file)))
    assert len(errors) == 4
    assert all(str(file) in error and "scene-graphs.md" in error for error in errors)
    for told in ("did you mean 'attributes'", "object '2'", "object 3", "'single'"):
        assert sum(told in error for error in errors) == 1


NOUN = {"name": "zorbot", "number": "singular", "parents": ("device",)}
ATTRIBUTE = {"name": "zorbing", "category": "", "before": True, "after": "zorbing", "rank": 5}
RELATION = {"name": "welded to", "text": "welded to", "that": True, "inverse": "", "asymmetric": False}


def test_a_users_words_are_part_of_the_ontology():
    words = {"nouns": (NOUN,), "attributes": (ATTRIBUTE,), "relations": (RELATION,)}
    ontology = with_words(default_ontology(), words)
    assert "device" in ontology.hypernyms("zorbot")
    assert ontology.attributes["zorbing"].after == "zorbing"
    assert ontology.relations["welded to"].that
    assert ontology.attributes.keys() - default_ontology().attributes.keys() == {"zorbing"}
    assert not default_ontology().knows("zorbot")
    once = with_words(default_ontology(), {"nouns": (NOUN,)})
    assert with_words(once, {"nouns": (NOUN,)}) is once


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"nouns": ({**NOUN, "name": "dog"},)}, "name='dog'"),
        ({"nouns": ({**NOUN, "parents": ("gizmometer",)},)}, "zorbot"),
        ({"attributes": ({**ATTRIBUTE, "category": "colour"},)}, "category='colour'; did you mean 'color'?"),
    ],
)
def test_words_that_do_not_fit_are_named_with_their_file(tmp_path, words, says):
    with pytest.raises(ValueError, match=says):
        with_words(default_ontology(), words)
    with pytest.raises(DataError, match=r"own\.json, record 'words': "):
        vocabulary_of([about(tmp_path, words=words)])
