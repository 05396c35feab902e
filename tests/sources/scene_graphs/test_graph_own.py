"""Faults of a user's own file: unknown fields with the nearest known name, and faults of its words."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from builders import json_table
from PIL import Image

from vlgate.errors import DataError
from vlgate.sources.graphs.annotated import annotated
from vlgate.sources.graphs.files import read_graphs, read_words
from vlgate.sources.graphs.generated import find_graphs
from vlgate.sources.reading.source import ReadOptions

TABLES = Path(__file__).with_suffix(".tsv")

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


@pytest.mark.parametrize(("content", "said"), json_table(TABLES, "own"))
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
