"""Files that are not JSON, have no known format, or are too large."""

import json
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.errors import DataError
from vlgate.sources.graphs import stream
from vlgate.sources.graphs.files import read_graphs
from vlgate.sources.graphs.stream import MOST_BYTES

THING = {"name": "cup", "x": 1, "y": 1, "w": 5, "h": 5, "attributes": ["red"], "relations": []}
GRAPH = {"objects": {"1": THING}}


def problem(file, content=None):
    """Return the error, which is the same in both modes."""
    if content is not None:
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    said = []
    for mode in ({}, {"faults": "leave out", "left_out": Counter()}):
        with pytest.raises(DataError) as caught:
            list(read_graphs(file, **mode))
        said.append(str(caught.value).removeprefix(str(file)))
    assert said[0] == said[1] != str(caught.value)
    assert said[0].rpartition("; ")[2]
    return said[0]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "train_sceneGraphs.json"


def test_a_file_that_is_missing_a_folder_or_unreadable(file, monkeypatch):
    assert "there is no such file" in problem(file)
    file.mkdir()
    assert "is a folder, expected a file of scene graphs" in problem(file)
    file.rmdir()
    file.touch()

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert "cannot be read (Permission denied)" in problem(file)


def of_thing(**changed):
    """A file whose only thing has another value, which is written as it is."""
    return json.dumps({"1": {"objects": {"1": THING | dict.fromkeys(changed, "?")}}}).replace('"?"', *changed.values())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        *((content, "is empty; ") for content in ("", " \n\t ", "\ufeff", "\n" * 9)),
        *((content, "holds no scene graph") for content in ("{}", "[]", '{"graphs": []}')),
        *(
            (content, "has no known format of scene graphs: GQA's {image id: graph}, ")
            for content in ("3", '"graphs"', "null", '{"image": "1.jpg", "objects": []}\n[]')
        ),
        ('{"1": {"objects": {}}} []', "holds a second value after the first one"),
        ('[{"objects": [], "relationships": [], "image_id": 1}]\n{}', "holds a second value after the first one"),
        ('{"graphs": []} {}', "holds a second value after the first one"),
        ('{"1":\n{"objects"', "is cut off: it ends at line 2, column 11 within a value"),
        (b'{"1":\n{"\xff": 1}}', "line 2, column 3 is not UTF-8"),
        *((opening * 100_000, "is nested more than 32 levels deep") for opening in ("[", '{"a":')),
        *(
            (of_thing(x=number), "is not JSON: ")
            for number in ("NaN", "Infinity", "-Infinity", "1e999", "9" * 5000, "01", "+1")
        ),
    ],
)
def test_what_is_no_file_of_scene_graphs_is_named(file, content, says):
    assert says in problem(file, content)


@pytest.mark.parametrize(
    "whole",
    [{"12": GRAPH, "13": GRAPH}, [{"image_id": 1, "objects": [], "relationships": []}], {"graphs": [], "words": {}}],
)
def test_every_cut_is_an_error(file, whole):
    content = json.dumps(whole, indent=1)
    for length in range(1, len(content)):
        problem(file, content[:length])


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(0, 2500), st.sampled_from(("}", "]", ":", ",,", "x", "\x00", "NaN")))
def test_a_syntax_error_is_named_with_its_place(tmp_path_factory, number, wrong):
    before = "{" + "".join(f'"{index}": {json.dumps(GRAPH)},\n' for index in range(number)) + '"é": '
    file = tmp_path_factory.getbasetemp() / "wrong.json"
    said = problem(file, before + wrong)
    assert f" at line {number + 1}, column {7 + (number == 0)}, which reads {wrong!r}" in said


@pytest.mark.parametrize("half", [r"\ud800", r"\uDFFF", r"\\\ud83dx", r"\ud83d\ud83d\ude00", r"\ude00\ud83d"])
def test_half_of_a_surrogate_pair(file, half):
    content = of_thing(name=f'"{half}"')
    said = problem(file, content)
    place = content.index(r"\ud83dx") if "x" in half else content.index("\\")
    assert f"line 1, column {place + 1} holds half of a surrogate pair: \\u" in said


@pytest.mark.parametrize(("part", "share"), [('"x" ', 4), ("0, ", 4), ('{"a": 1}, ', 50)])
def test_a_graph_that_does_not_end(file, part, share, monkeypatch):
    most = 2**20
    monkeypatch.setattr(stream, "MOST_BYTES", most)
    head = '{"1": {"objects": ' + ("" if "x" in part else "[")
    file.write_text(head + (part.replace("x", "x" * 8 * most) if "x" in part else part * (8 * most // len(part))))
    tracemalloc.start()
    with pytest.raises(DataError, match=r"train_sceneGraphs\.json: no graph ends within 1 MiB"):
        list(read_graphs(file))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < share * most


def test_a_long_file_of_short_graphs_is_not_too_long(file, monkeypatch):
    monkeypatch.setattr(stream, "MOST_BYTES", 2**16)
    file.write_text(json.dumps({str(index): GRAPH for index in range(8000)}))
    assert file.stat().st_size > 2 * (2**16 + stream.CHUNK)
    assert sum(1 for _ in read_graphs(file)) == 8000
    assert MOST_BYTES == 8 * 2**20
    column = file.stat().st_size + 1
    assert f"at line 1, column {column}, which reads ','" in problem(file, file.read_text()[:-1] + ",,")


@pytest.mark.parametrize("shift", range(0, 12, 2))
def test_a_pair_of_surrogates_at_the_end_of_a_piece(file, shift):
    name = "a" * shift + "\U0001f41f" * (stream.CHUNK // 12)
    file.write_text(json.dumps({"1": GRAPH, "2": {"objects": {"1": THING | {"name": name}}}}))
    _, graph = read_graphs(file)
    assert graph.objects["1"].name == name


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(file):
    peaks = []
    for number in (400, 2500):
        file.write_text(json.dumps({str(index): {"objects": dict.fromkeys("abcde", THING)} for index in range(number)}))
        tracemalloc.start()
        assert sum(1 for _ in read_graphs(file)) == number
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 2 * peaks[0] + 2**21
    assert file.stat().st_size > 900_000
