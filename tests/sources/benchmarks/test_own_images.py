"""The images of a user's own cases: the folders that are searched, and the spellings of a path."""

import base64
import json
import os
import pickle
import re
import unicodedata
from io import BytesIO
from itertools import permutations
from pathlib import Path

import pytest
from builders import json_table
from own_case_lines import IMAGES, PAIR, QUAD, problem, tasks, write
from PIL import Image

from vlgate.errors import DataError, ImageError, MissingImageError, NoReplyError
from vlgate.making.votes.outcome import row_of
from vlgate.models import load
from vlgate.types import recipe_of

TABLES = Path(__file__).with_suffix(".tsv")


def put(folder, name, colour="red"):
    """Write an image of one colour; return its path."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (4, 3), colour).save(file, format="PNG")
    return str(file)


def pair(name, identity="p", task="mine/spatial"):
    return PAIR | {"id": identity, "task": task, "image": name}


def images(*folders):
    """The images of all cases, by the ids of these."""
    return {case.id: case.requests[0].image for task in tasks(*folders) for case in task.cases}


def in_every_order(*folders):
    """The paths of the images of all cases, which are the same in every order of the folders."""
    every = [{name: image.where for name, image in images(*some).items()} for some in permutations(folders)]
    assert all(one == every[0] for one in every)
    return every[0]


def refused_in_every_order(*folders):
    """The error, which is the same in every order of the folders."""
    messages = set()
    for some in permutations(folders):
        with pytest.raises(DataError) as caught:
            tasks(*some)
        messages.add(str(caught.value))
    assert len(messages) == 1
    return messages.pop()


def png(colour="red", form="PNG"):
    stream = BytesIO()
    Image.new("RGB", (4, 3), colour).save(stream, form)
    return stream.getvalue()


def text(content):
    return base64.b64encode(content).decode()


@pytest.fixture
def folders(tmp_path):
    return [tmp_path / name for name in ("a", "b", "c")]


def test_the_folder_of_the_file_comes_first(folders):
    a, b, c = folders
    write(b, pair("img/0.png"))
    put(a, "img/0.png", "blue"), put(c, "img/0.png", "green")
    right = put(b, "img/0.png")
    put(b, "images/img/0.png", "yellow")  # searched last
    assert in_every_order(a, b, c) == {"p": right}
    assert images(a, b, c)["p"].key == "img/0.png"


@pytest.mark.parametrize("name", ["img/0.png", "./img/0.png", "img\\0.png"])
def test_two_other_folders_with_different_images_are_an_error(folders, name):
    a, b, c = folders
    write(b, pair(name))
    both = put(a, "img/0.png", "blue"), put(c, "img/0.png", "green")
    message = refused_in_every_order(a, b, c)
    for part in (str(b / "cases.jsonl"), "record on line 1", repr(name), *both, f"copy the right one into {b}, or"):
        assert part in message


def test_two_other_folders_with_one_image_are_none(folders):
    a, b, c = folders
    write(b, pair("img/0.png"))
    put(a, "img/0.png"), put(c, "img/0.png")
    assert set(in_every_order(a, b, c)) == {"p"}
    write(a, pair("img/1.png", "link"))
    (c / "img/1.png").symlink_to(put(b, "img/1.png"))
    assert in_every_order(a, b, c)["link"].endswith("img/1.png")


def test_each_file_has_the_images_of_its_own_folder_also_of_one_name(folders, tmp_path):
    a, b, c = folders
    for folder, colour in ((a, "blue"), (b, "green")):
        write(folder, pair("img/0.png", folder.name), pair("img/same.png", f"same {folder.name}"))
        put(folder, "img/0.png", colour), put(folder, "img/same.png")
    put(c, "img/0.png", "yellow")
    where = in_every_order(a, b, c)
    assert (where["a"], where["b"]) == (str(a / "img/0.png"), str(b / "img/0.png"))
    keys = {name: image.key for name, image in images(a, b, c).items()}
    assert keys == {"a": "a/img/0.png", "b": "b/img/0.png", "same a": "img/same.png", "same b": "img/same.png"}
    for name, colour in (("a", "red"), ("b", "blue")):
        write(tmp_path / name / "data", pair("0.png", name))
        put(tmp_path / name / "data", "0.png", colour)
    found = images(tmp_path / "a/data", tmp_path / "b/data")
    assert {image.key for image in found.values()} == {"a/data/0.png", "b/data/0.png"}


@pytest.mark.parametrize(("written", "there"), json_table(TABLES, "what_may_be_written"))
def test_what_may_be_written(tmp_path, written, there):
    write(tmp_path, pair(written), name="cases/x.jsonl")
    path = put(tmp_path, there)
    assert images(tmp_path)["p"].where == path
    assert images(tmp_path)["p"].load().size == (4, 3)


def test_the_ways_to_write_a_path_give_one_image_also_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = put(tmp_path, "img/1.png")
    names = ["img/1.png", "./img/1.png", "img\\1.png", "img//1.png", "x/../img/1.png", path]
    write(tmp_path, *(pair(name, str(number)) for number, name in enumerate(names)))
    for folder in (tmp_path, ".", "../" + tmp_path.name):
        found = images(Path(folder)).values()
        assert {(image.key, os.path.realpath(image.where)) for image in found} == {("img/1.png", path)}


def test_a_file_in_two_data_folders_belongs_to_both_and_two_paths_that_differ_are_an_error(tmp_path):
    inner = tmp_path / "cases"
    write(inner, pair("1.png"))
    path = put(inner, "1.png")
    assert in_every_order(tmp_path, inner) == {"p": path}
    other = put(tmp_path, "1.png", "blue")
    for folders in ((tmp_path, inner), (tmp_path,)):
        message = refused_in_every_order(*folders)
        for part in ("cases/cases.jsonl, record on line 1", path, other, "rename one of them"):
            assert part in message


def test_an_absolute_path_in_a_data_folder_or_by_a_link(folders, tmp_path):
    a, b, _ = folders
    path = put(b, "img/1.png")
    write(a, pair(path), pair("img/1.png", "q"))
    put(a, "img/1.png", "blue")
    assert in_every_order(a, b) == {"p": path, "q": str(a / "img/1.png")}
    write(a, pair(str(b / "img/none.png")))
    with pytest.raises(MissingImageError, match=r"looked in .*b/img/none\.png"):
        images(a, b)["p"].load()
    path = put(tmp_path / "real", "1.png")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "real", pair(path), pair(str(tmp_path / "link/1.png"), "q"))
    assert {image.key for image in images(tmp_path / "link").values()} == {"1.png"}


@pytest.mark.parametrize("name", ["/home/alice/set/img/1.png", "C:\\Users\\alice\\set\\img\\1.png"])
def test_a_path_that_leads_elsewhere_to_an_image_in_the_folder_says_what_to_write(tmp_path, name):
    put(tmp_path, "img/1.png")
    message = problem(tmp_path, PAIR, PAIR | {"id": "q", "image": name})
    assert f"the image's name is {name!r}" in message
    assert "did you mean 'img/1.png'?" in message


def nfd(text):
    return unicodedata.normalize("NFD", text)


@pytest.mark.parametrize("name", ["café.png", "naïve/1.png", "日本/ガ.png", "Ünï/çødé.png", "한글.png"])
@pytest.mark.parametrize("written", [str, nfd])
@pytest.mark.parametrize("there", [str, nfd])
def test_a_name_in_another_form_of_unicode_is_the_same(tmp_path, name, written, there):
    path = put(tmp_path, there(name))
    write(tmp_path, pair(written(name)))
    image = images(tmp_path)["p"]
    assert (image.where, image.key) == (path, unicodedata.normalize("NFC", name))


def test_two_names_of_one_nfc_form_are_an_error(tmp_path):
    put(tmp_path, "café.png", "blue"), put(tmp_path, nfd("café.png"))
    for name in ("café.png", nfd("café.png")):
        write(tmp_path, pair(name))
        message = refused_in_every_order(tmp_path)
        assert "caf\\xe9.png" in message
        assert "cafe\\u0301.png" in message


def test_an_image_that_is_also_among_the_others_under_another_spelling(tmp_path):
    put(tmp_path, "a.jpg"), put(tmp_path, "b.jpg")
    assert "is also among other_images" in problem(tmp_path, IMAGES | {"other_images": ["b.jpg", "./a.jpg"]})
    content = [f"data:image/png;base64,{text(png())}", f"data:;base64,{text(png()).rstrip('=')}"]
    for both in (["a.jpg", ".\\a.jpg"], ["a.jpg", str(tmp_path / "a.jpg")], content):
        assert "the images are both" in problem(tmp_path, QUAD | {"images": both})


NOISE = Image.effect_noise((64, 48), 90)
LONG = [
    (form, (NOISE.save(stream := BytesIO(), form), stream.getvalue())[1])
    for form in ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
]


@pytest.mark.parametrize("written", [value for [value] in json_table(TABLES, "an_image_may_be_a_data_uri")])
def test_an_image_may_be_a_data_uri(tmp_path, written):
    write(tmp_path, pair(written), pair(f"data:image/png;base64,{text(png('blue'))}", "q"))
    found = images(tmp_path)
    assert (found["p"].load().size, found["p"].load().getpixel((0, 0))) == ((4, 3), (255, 0, 0))
    assert re.fullmatch("data-[0-9a-f]{16}", found["p"].key)
    assert found["p"].key != found["q"].key
    assert found["p"].is_there
    assert recipe_of(found["p"]) != recipe_of(found["q"])
    image = pickle.loads(pickle.dumps(found["q"]))
    assert (image, image.load().size) == (found["q"], (4, 3))
    assert text(png("blue")) not in repr(image)


@pytest.mark.parametrize(("form", "content"), LONG, ids=[form for form, _ in LONG])
def test_an_image_may_be_the_base64_of_a_file(tmp_path, form, content):
    write(tmp_path, pair(text(content)), pair(f"data:image/{form.lower()};base64,{text(content)}", "q"))
    found = images(tmp_path)
    assert found["p"].load().size == (64, 48)
    assert found["p"] == found["q"]


def test_a_data_uri_may_be_cut_to_a_part_and_if_no_image_costs_its_own_case(tmp_path):
    part = pair(f"data:;base64,{text(LONG[0][1])}", "q") | {"box": [10, 20, 30.5, 8]}
    write(tmp_path, pair(f"data:image/png;base64,{text(b'hello' * 9000)}"), part)
    assert images(tmp_path)["q"].load().size == (31, 8)
    with pytest.raises(ImageError, match="is not a complete image") as caught:
        images(tmp_path)["p"].load()
    assert len(str(caught.value)) < 400


def test_a_replay_or_a_case_that_people_voted_for_may_name_an_image_by_its_data_uri(tmp_path):
    uri = f"data:image/png;base64,{text(png())}"
    write(tmp_path, pair(uri))
    [case] = tasks(tmp_path)[0].cases
    rows = [{"image": uri, "text": request.text, "score": 0.5} for request in case.requests]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert list(load("replay:r.jsonl", folder=tmp_path).model.match(list(case.requests))) == [0.5, 0.5]
    (tmp_path / "r.jsonl").write_text(json.dumps(rows[0] | {"image": f"data:;base64,{text(LONG[0][1])}"}))
    with pytest.raises(NoReplyError) as caught:
        load("replay:r.jsonl", folder=tmp_path).model.match(list(case.requests))
    assert len(str(caught.value)) < 900
    write(tmp_path / "valid", row_of("mine/spatial", case))
    assert tasks(tmp_path / "valid")[0].cases[0].requests == case.requests


def test_a_long_name_is_not_printed_whole(tmp_path):
    message = problem(tmp_path, PAIR, PAIR | {"id": "q", "image": "../" + "x" * 5000})
    assert len(message) < 1000
    write(tmp_path, PAIR | {"image": "x" * 5000})
    with pytest.raises(MissingImageError) as caught:
        images(tmp_path)["p"].load()
    assert len(str(caught.value)) < 1000
    assert re.search(r"x\.\.\.x+", str(caught.value))
