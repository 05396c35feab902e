"""What holds for the reader of every benchmark: its places, broken files, wrong records, names that lead out."""

import json
import pickle
from copy import deepcopy
from pathlib import Path

import pytest
from builders import table

from vlgate.errors import DataError
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import read_source

HERE = Path(__file__).parent
RELEASES = json.loads((HERE / "small_releases.json").read_text())
TWO_PLACES = [name for name, release in RELEASES.items() if len(release["places"]) > 1]


def write(folder, reader, content=None, place=0):
    """Write a release, or another content or text of its file, to one of its places."""
    release = RELEASES[reader]
    content = release["content"] if content is None else content
    for name, text in {**release.get("beside", {}), release["places"][place]: content}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".jsonl":
            file.write_text("".join(json.dumps(record) + "\n" for record in text))
        else:
            file.write_text(text if isinstance(text, str) else json.dumps(text))
    return file


def tasks(reader, *folders, wanted=lambda _: True):
    source = RELEASES[reader]["task"].partition("/")[0]
    return list(read_source(source, ReadOptions(folders=folders, seed=0, wanted=wanted)))


@pytest.mark.parametrize("reader", RELEASES)
def test_a_release_is_one_task_that_travels_between_processes(tmp_path, reader):
    write(tmp_path, reader)
    [task] = found = tasks(reader, tmp_path, tmp_path / "none")
    assert (task.id, task.left_out) == (RELEASES[reader]["task"], {})
    assert task.cases
    assert pickle.loads(pickle.dumps(found)) == found
    assert tasks(reader) == tasks(reader, tmp_path / "none") == []


@pytest.mark.parametrize("reader", [name for name, release in RELEASES.items() if "other" in release])
def test_the_file_of_a_task_that_is_not_wanted_is_not_read(tmp_path, reader):
    write(tmp_path, reader)
    other = tmp_path / RELEASES[reader]["other"]
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_text("broken")
    assert len(tasks(reader, tmp_path, wanted=RELEASES[reader]["task"].__eq__)) == 1
    with pytest.raises(DataError):
        tasks(reader, tmp_path)


@pytest.mark.parametrize("reader", TWO_PLACES)
def test_a_release_in_another_place_and_in_two(tmp_path, reader):
    second = write(tmp_path, reader, place=1)
    assert len(tasks(reader, tmp_path)) == 1
    first = write(tmp_path, reader)
    with pytest.raises(DataError, match="keep one of them") as caught:
        tasks(reader, tmp_path)
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)


@pytest.mark.parametrize("reader", RELEASES)
def test_a_file_that_is_cut_off(tmp_path, reader):
    file = write(tmp_path, reader)
    file.write_text(file.read_text()[:-20])
    with pytest.raises(DataError, match=f"{file.name}: is cut off"):
        tasks(reader, tmp_path)


def changed(content, field, value):
    """The content with another value at a path of keys, or without it."""
    if field == ".":
        return json.loads(value)
    content = deepcopy(content)
    inner, *keys = content, *field.split(".")
    for depth, name in enumerate(keys, 1):
        key = int(name) if isinstance(inner, list) else name
        if depth < len(keys):
            inner = inner[key]
        elif value == "absent":
            del inner[key]
        else:
            inner[key] = json.loads(value)
    return content


@pytest.mark.parametrize(("reader", "field", "value", "message"), table(HERE / "wrong_records.tsv"))
def test_a_wrong_record_is_named_with_its_file_and_a_remedy(tmp_path, reader, field, value, message):
    file = write(tmp_path, reader, changed(RELEASES[reader]["content"], field, value))
    with pytest.raises(DataError) as caught:
        tasks(reader, tmp_path)
    assert str(file) in str(caught.value)
    assert message in str(caught.value)
    assert str(caught.value).rpartition("; ")[2]
