import itertools
import json
import os
import pickle
import unicodedata
from pathlib import Path

import pytest
from builders import table
from hypothesis import given
from hypothesis import strategies as st

from vlgate.errors import DataError, MissingImageError, UnknownNameError
from vlgate.sources.reading.image_finder import SOURCES, ImageFinder, coco_id, stem, vg_id

REAL = Path(__file__).parents[4] / "shared" / "data"


def put(folder, *names):
    for name in names:
        path = folder / "images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


def found(folder, source, name):
    """Return the place of the image, relative to the folder ``images``; empty if it was not found."""
    where = ImageFinder([folder]).find(source, name).where
    return where and Path(where).relative_to(folder / "images").as_posix()


@pytest.mark.parametrize(
    "on_disk", ["000000165831.jpg", "COCO_val2014_000000165831.jpg", "165831.png", "val2017/000000165831.jpg"]
)
@pytest.mark.parametrize(
    "asked", ["COCO_train2014_000000165831.jpg", "000000165831.jpg", "165831", "val2014/165831.png"]
)
def test_coco_by_any_of_its_names(tmp_path, on_disk, asked):
    put(tmp_path, f"coco/{on_disk}")
    assert found(tmp_path, "coco", asked) == f"coco/{on_disk}"


@pytest.mark.parametrize("on_disk", ["vg/2371044.jpg", "vg/VG_100K/2371044.jpg", "vg/VG_100K_2/2371044.JPEG"])
@pytest.mark.parametrize(
    ("source", "asked"), [("vg", "2371044"), ("vg", "VG_100K/2371044.jpg"), ("visual7w", "v7w_2371044.jpg")]
)
def test_visual_genome(tmp_path, on_disk, source, asked):
    put(tmp_path, on_disk)
    assert found(tmp_path, source, asked) == on_disk


@pytest.mark.parametrize(("files", "source", "asked", "place"), table(Path(__file__).with_name("image_places.tsv")))
def test_of_some_files_the_one_of_the_name_is_taken(tmp_path, files, source, asked, place):
    put(tmp_path, *files.split())
    assert found(tmp_path, source, asked) == (place or "")


def test_the_first_data_folder_wins(tmp_path):
    first, second = put(tmp_path / "1", "swig/x.jpg"), put(tmp_path / "2", "swig/x.jpg", "swig/y.jpg")
    finder = ImageFinder([first, second])
    assert finder.find("swig", "x.jpg").where == str(first / "images/swig/x.jpg")
    assert finder.find("swig", "y.jpg").where == str(second / "images/swig/y.jpg")


def colours(folder, **content):
    """Write files of different content into ``images`` of a folder, each by its name with / as __."""
    for name, colour in content.items():
        path = folder / "images" / f"{name.replace('__', '/')}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(colour)
    return folder


def of_every_order(folders, source, name, file):
    """Return the place of the image, or the error, which is the same for every order of the folders."""
    seen = set()
    for some in itertools.permutations(folders):
        try:
            seen.add(ImageFinder(some).find(source, name, file=file, record="7").where)
        except DataError as error:
            seen.add(str(error))
    assert len(seen) == 1
    return seen.pop()


@pytest.mark.parametrize(("source", "name"), [("swig", "x.jpg"), ("coco", "000000000007.jpg"), ("vg", "7")])
def test_the_data_folder_of_the_file_comes_first_in_every_order(tmp_path, source, name):
    one = {"swig__x": "red", "coco__000000000007": "red", "vg__7": "red"}
    folders = [colours(tmp_path / n, **dict.fromkeys(one, colour)) for n, colour in (("1", "red"), ("2", "blue"))]
    for folder in folders:
        where = of_every_order(folders, source, name, folder / "valse/existence.json")
        assert where.startswith(str(folder))
    message = of_every_order(folders, source, name, tmp_path / "3/valse/existence.json")
    for part in ("3/valse/existence.json, record 7", repr(name), "1/images", "2/images", "give one data folder only"):
        assert part in message


def test_the_exact_name_in_one_of_two_other_folders_is_taken(tmp_path):
    folders = [colours(tmp_path / "1", coco__COCO_val2014_000000000009="red"), colours(tmp_path / "2", coco__9="blue")]
    for name, number in (("COCO_val2014_000000000009.jpg", "1"), ("9.jpg", "2")):
        where = of_every_order(folders, "coco", name, tmp_path / "3/pope/coco.json")
        assert where.startswith(str(tmp_path / number))
    assert "two files that differ" in of_every_order(folders, "coco", "000000000009.jpg", tmp_path / "3/a.json")


def test_equal_images_in_two_folders_are_one_and_twins_that_differ_an_error(tmp_path):
    folders = [colours(tmp_path / number, swig__x="red", coco__11=number) for number in "12"]
    assert of_every_order(folders, "swig", "x.jpg", tmp_path / "3/a.json") == str(folders[0] / "images/swig/x.jpg")
    twins(folders[0], {"11": [21]})
    assert of_every_order(folders, "vg", "21", folders[1] / "a.json") == str(folders[1] / "images/coco/11.jpg")
    assert "two files that differ" in of_every_order(folders, "vg", "21", tmp_path / "3/a.json")


@pytest.mark.parametrize("forms", list(itertools.product(("NFC", "NFD"), repeat=2)))
def test_names_in_two_forms_of_unicode_are_one(tmp_path, forms):
    there, asked = (unicodedata.normalize(form, "café_1.jpg") for form in forms)
    put(tmp_path, f"swig/{there}")
    assert found(tmp_path, "swig", asked) == f"swig/{there}"


def test_links_that_the_user_made_are_followed_and_a_loop_of_folders_ends(tmp_path):
    put(tmp_path / "elsewhere", "x.jpg", "deep/y.jpg")
    (tmp_path / "images").mkdir()
    (tmp_path / "images/swig").symlink_to(tmp_path / "elsewhere/images")
    (tmp_path / "images/swig/again").symlink_to(tmp_path / "images/swig")
    assert found(tmp_path, "swig", "x.jpg") == "swig/x.jpg"
    assert found(tmp_path, "swig", "y.jpg") == "swig/deep/y.jpg"


def twins(folder, content):
    (folder / "images").mkdir(parents=True, exist_ok=True)
    (folder / "images/coco_to_vg_ids.json").write_text(content if isinstance(content, str) else json.dumps(content))


def test_twins_both_ways(tmp_path):
    put(tmp_path, "coco/val2017/000000000011.jpg", "vg/22.jpg")
    twins(tmp_path, {"11": [21, 31], "12": [22]})
    assert found(tmp_path, "visual7w", "v7w_31.jpg") == "coco/val2017/000000000011.jpg"
    assert found(tmp_path, "vg", "VG_100K/21.jpg") == "coco/val2017/000000000011.jpg"
    assert found(tmp_path, "coco", "COCO_val2014_000000000012.jpg") == "vg/22.jpg"
    put(tmp_path, "vg/21.jpg")  # an image of the source comes before its twin
    assert found(tmp_path, "vg", "21") == "vg/21.jpg"


@pytest.mark.parametrize("content", ["[]", '{"a": [1]}', '{"1": 2}', '{"1": ["2"]}', '{"1": [true]}', '{"1": [2]'])
def test_a_broken_list_of_twins(tmp_path, content):
    twins(tmp_path, content)
    with pytest.raises(DataError, match=r"images/coco_to_vg_ids\.json"):
        ImageFinder([tmp_path]).find("vg", "1")


def test_missing_names_every_place(tmp_path):
    put(tmp_path, "vg/5.jpg")
    twins(tmp_path, {"11": [21]})
    finder = ImageFinder([tmp_path, tmp_path / "none"])
    with pytest.raises(MissingImageError) as caught:
        finder.find("visual7w", "v7w_21.jpg").load()
    for place in ("images/visual7w", "images/vg", "none/images/vg", "images/coco", "--missing-images skip"):
        assert place in str(caught.value)


@pytest.mark.parametrize(
    "name",
    [
        *("", ".", "..", "/", "../../etc/passwd", "a/../../b.jpg", "/etc/passwd", "//a", "a//b.jpg", "a/", "./a.jpg"),
        *("a\0.jpg", "a\n.jpg", "..\\..\\b.jpg", "C:\\a.jpg", "\ud800.jpg"),
        *(None, 5, 1.5, True, b"a.jpg", ["a.jpg"], {"a": 1}),
    ],
)
@pytest.mark.parametrize("source", SOURCES)
def test_a_name_that_is_not_trusted(tmp_path, source, name):
    with pytest.raises(DataError) as caught:
        ImageFinder([tmp_path]).find(source, name, file="existence.json", record="existence_1")
    for part in ("existence.json, record existence_1", repr(name), "download the file again"):
        assert part in str(caught.value)


@given(
    st.sampled_from(sorted(SOURCES)),
    st.text() | st.lists(st.sampled_from(["..", ".", "", "secret.jpg", "1.jpg", "a"])).map("/".join),
)
def test_no_name_leaves_the_folder(tmp_path_factory, source, name):
    folder = tmp_path_factory.getbasetemp() / "guarded"
    if not folder.exists():
        put(folder, "coco/1.jpg", "vg/a/1.jpg", "swig/a.jpg", "secret.jpg")
        (folder.parent / "secret.jpg").touch()
    try:
        where = ImageFinder([folder]).find(source, name).where
    except DataError:
        return
    assert not where or Path(where).resolve().parent.parent in {folder / "images", folder / "images/vg"}


def test_an_unknown_source_and_no_data_folders():
    with pytest.raises(UnknownNameError, match="did you mean 'visual7w'"):
        ImageFinder([]).find("visual7", "a.jpg")
    image = ImageFinder([]).find("swig", "a.jpg")
    assert image.where == ""
    with pytest.raises(MissingImageError):
        image.load()


def test_a_name_has_one_object_that_travels_between_processes(tmp_path):
    put(tmp_path, "swig/a.jpg")
    finder = ImageFinder([tmp_path])
    for name in ("a.jpg", "b.jpg"):
        image = finder.find("swig", name)
        assert finder.find("swig", name) is image
        assert pickle.loads(pickle.dumps(image)) == image
        assert image.key == name


def test_each_folder_is_listed_once_and_only_when_needed(tmp_path, monkeypatch):
    put(tmp_path, "vg/VG_100K/1.jpg", "visual7w/v7w_2.jpg", "coco/3.jpg")
    listed = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: listed.append(Path(folder).name) or scandir(folder))
    finder = ImageFinder([tmp_path])
    assert listed == []
    for number in range(5):
        finder.find("vg", f"{number}.jpg")
        finder.find("visual7w", f"v7w_{number}.jpg")
    assert sorted(listed) == ["VG_100K", "vg", "visual7w"]


def test_a_file_where_the_folder_should_be_and_a_folder_that_is_not_readable(tmp_path, monkeypatch):
    put(tmp_path, "swig")
    with pytest.raises(DataError, match="images/swig: cannot be listed"):
        ImageFinder([tmp_path]).find("swig", "a.jpg")

    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(DataError, match=r"images/swig: .*Permission denied"):
        ImageFinder([tmp_path]).find("swig", "a.jpg")


@given(
    st.integers(0, 10**12),
    st.sampled_from(["{:012}.jpg", "COCO_val2014_{:012}.jpg", "{}", "x/{}.PNG", "COCO_test2015_{:012}"]),
)
def test_the_number_is_the_identity(number, form):
    assert coco_id(form.format(number)) == number
    assert vg_id(f"v7w_{number}.jpg") == vg_id(f"VG_100K/{number}.jpg") == number


@pytest.mark.parametrize("name", ["n123.jpg", "COCO_x_1.jpg", "1" * 30, "١٢.jpg", "-1.jpg", "1_000.jpg"])
def test_other_names_are_their_own_identity(name):
    assert coco_id(name) == vg_id(name) == stem(name)


@pytest.mark.skipif(not REAL.is_dir(), reason=f"no real data in {REAL}")
def test_the_joined_records_have_their_photographs():
    finder = ImageFinder([REAL])
    rows = [json.loads(line) for line in (REAL / "images/joined.jsonl").read_text().splitlines()]
    sources = {"vg id": "vg", "vg->coco twin": "vg", "coco id": "coco"}
    judged = 0
    for row in rows:
        if row["via"] in sources:
            image = finder.find(sources[row["via"]], str(row["image_ref"]))
            here = {Path(row["local_image"]).name, f"{vg_id(str(row['image_ref']))}.jpg"}
            assert Path(image.where).name in here, row
            judged += 1
    assert judged > 300
    assert image.load().mode == "RGB"
