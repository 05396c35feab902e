"""Faults of a user's own file: unknown fields with the nearest known name, and faults of its words."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from PIL import Image

from vlgate.errors import DataError
from vlgate.sources.graphs.annotated import annotated
from vlgate.sources.graphs.files import read_graphs, read_words
from vlgate.sources.graphs.generated import find_graphs
from vlgate.sources.reading.source import ReadOptions

OWN = {"id": "1", "name": "cup", "box": [10, 10, 20, 20], "attributes": ["red"], "relations": []}


def write(folder, content):
    file = folder / "own.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def problem(folder, content):
    file = write(folder, content)
    with pytest.raises(DataError) as caught:
        list(read_graphs(file))
    assert str(caught.value).startswith(f"{file}, record ")
    assert "--faults leave-out" in str(caught.value).rpartition("; ")[2]
    return str(caught.value)


def own(**thing):
    return {"graphs": [{"image": "1.jpg", "objects": [OWN | thing]}]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (own(colour="red"), "graph 1 ('1.jpg'), object '1': has an unknown field: 'colour' (known are 'id', 'name'"),
        (own(boxx=[]), "graph 1 ('1.jpg'), object '1': has an unknown field: 'boxx' (did you mean 'box'?)"),
        (own(relations=[{"nam": "on"}]), "has an unknown field: 'nam' (did you mean 'name'?)"),
        (own(box=[1, 2, 3]), "has a box that is not of four finite numbers: a list of 3"),
        (own(box="all"), "graph '1.jpg', object '1': has a box that is not of four finite numbers: 'all'"),
        ({"graphs": [{"image": "1.jpg", "objects": [{"id": 1, "name": "cup"}]}]}, "object '1': has no box"),
        (own(id=None), "has an object without an id: object 1: an object of 5"),
        (own(id=""), "has an object without an id: object 1: an object of 5"),
        ({"graphs": [{"image": "1.jpg", "objects": [OWN, OWN]}]}, "has a repeated object id: object 2: '1'"),
        ({"graphs": [{"image": "1.jpg", "object": []}]}, "an unknown field: 'object' (did you mean 'objects'?)"),
        ({"graphs": [{"image": "1.jpg"}]}, "graph 1 ('1.jpg'): has no list of objects: null"),
        ({"graphs": [{"objects": []}]}, "graph 1 (null): has no image: given are 'objects'"),
        ({"graphs": [{"image": "../1.jpg", "objects": []}]}, "has no valid image name: '../1.jpg'"),
        ({"graphs": [3]}, "graph 1 (null): has a graph that is not an object: 3"),
        ({"graphs": {}}, "'graphs': has graphs that are not a list: an object of 0"),
        ({"graphs": [], "wrods": {}}, "(the whole file): has an unknown field: 'wrods' (did you mean 'words'?)"),
        ({"graphs": [], "words": []}, "'words': has words that are not an object: a list of 0"),
        ({"words": {"noun": []}}, "'words': has an unknown field: 'noun' (did you mean 'nouns'?)"),
        ({"words": {"nouns": {}}}, "'words', nouns: has words that are not a list: an object of 0"),
        ({"words": {"nouns": [3]}}, "'words', nouns, 1: has a word that is not an object: 3"),
        ({"words": {"nouns": [{"name": " "}]}}, "'words', nouns, 1: has no name that is a string: ' '"),
        ({"words": {"nouns": [{"name": "a", "parents": "b"}]}}, "has no parents that is a list of strings: 'b'"),
        ({"words": {"nouns": [{"name": "a", "number": "dual"}]}}, "a number that is none of singular, plural, mass"),
        ({"words": {"nouns": [{"name": "a"}, {"name": "a"}]}}, "'words', nouns, 2: has a word that was given before"),
        ({"words": {"relations": [{"name": "a"}]}}, "'words', relations, 1: has no text that is a string: null"),
        ({"words": {"attributes": [{"name": "a", "rank": 1.5}]}}, "has no rank that is an integer: 1.5"),
    ],
)
def test_own(tmp_path, content, said):
    assert said in problem(tmp_path, content)
    left_out = Counter()
    list(read_graphs(write(tmp_path, content), faults="leave out", left_out=left_out))
    assert left_out.total() >= 1
    if "words" in content:
        with pytest.raises(DataError):
            read_words(write(tmp_path, content))


def folder_of(place, colour, *names):
    (place / "scene-graphs").mkdir(parents=True)
    graphs = [{"image": name, "width": 40, "height": 40, "objects": [OWN]} for name in names]
    (place / "scene-graphs/own.json").write_text(json.dumps({"graphs": graphs}), encoding="utf-8")
    (place / "mine").mkdir()
    for name in ("1.png", "2.png"):
        Image.new("RGB", (40, 40), colour).save(place / "mine" / name)
    return place


@pytest.mark.parametrize("backwards", [False, True])
def test_the_image_of_a_graph_is_that_of_its_own_data_folder(tmp_path, backwards):
    one, other = folder_of(tmp_path / "a", "red", "mine/1.png"), folder_of(tmp_path / "b", "blue", "mine/2.png")
    folders = (other, one) if backwards else (one, other)
    options = ReadOptions(folders=folders, seed=0, wanted=lambda _: True)
    found = annotated(find_graphs(options.folders), options)
    assert [graph.id for graph in found.graphs] == ["mine/1.png", "mine/2.png"]
    where = {name: image.where for name, image in found.images.items()}
    assert where == {"mine/1.png": str(one / "mine/1.png"), "mine/2.png": str(other / "mine/2.png")}


@pytest.mark.parametrize("backwards", [False, True])
def test_graphs_of_two_images_of_one_name_are_an_error(tmp_path, backwards):
    one, other = folder_of(tmp_path / "a", "red", "mine/1.png"), folder_of(tmp_path / "b", "blue", "mine/1.png")
    options = ReadOptions(folders=(other, one) if backwards else (one, other), seed=0, wanted=lambda _: True)
    with pytest.raises(DataError) as caught:
        annotated(find_graphs(options.folders), options)
    for part in ("b/scene-graphs/own.json, record graph 'mine/1.png'", "a/mine/1.png", "b/mine/1.png", "rename"):
        assert part in str(caught.value)
