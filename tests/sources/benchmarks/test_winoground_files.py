"""Winoground as its authors release it: as lines with images in a folder or a ZIP file, and as Parquet; its errors."""

import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import releases
from releases import only, picture, shade, tasks, winoground_zip, with_images, write
from releases import winoground_line as row

from vlgate.errors import DataError, ImageError, MissingImageError
from vlgate.sources.benchmarks.quads import TAGS, WINOGROUND
from vlgate.sources.reading import packed

PLACE, TABLE = "winoground/data", "winoground/data/test-00000-of-00001.parquet"


def write_lines(folder, *rows):
    return write(folder / PLACE / "examples.jsonl", rows)


def write_parquet(folder, *rows, name=TABLE, **how):
    return write(folder / name, with_images(rows), **how)


WRITERS = pytest.mark.parametrize("writer", [write_lines, write_parquet])


def cases(*folders):
    return only("winoground", *folders).cases


def seen(case):
    """The colours of a case's two images."""
    return [case.requests[place].image.load().getpixel((0, 0)) for place in (0, 2)]


def shades(number):
    return [shade(number, 0), shade(number, 1)]


@WRITERS
def test_a_case(tmp_path, writer):
    writer(tmp_path, row(12))
    task = only("winoground", tmp_path)
    assert (task.id, task.capability, task.shape) == ("winoground/all", "compositional", "quad")
    assert dict(WINOGROUND.shapes) == {"winoground/all": "quad"}
    [case] = task.cases
    texts = [row()[f"caption_{which}"] for which in (0, 1)]
    assert releases.asked(case) == [(f"ex_12_img_{place}", text) for place in (0, 1) for text in texts]
    assert (case.id, case.truths) == ("12", (True, False, False, True))
    assert case.tags == {"collapsed_tag": "Object", "tag": "Adjective-Age", "num_main_preds": "1"}
    assert "record on line 1" in case.origin or "record in row 0" in case.origin


@WRITERS
def test_visual_tags_as_table_5_counts_them_and_for_all_rows_that_have_them(tmp_path, writer):
    writer(tmp_path, row(0, secondary_tag="Symbolic"), row(1, secondary_tag="Symbolic,Series"), row(2))
    assert [{name: value for name, value in case.tags.items() if "secondary" in name} for case in cases(tmp_path)] == [
        {"secondary_tag": "Symbolic", "secondary_tag:Symbolic": "yes"},
        {"secondary_tag": "Symbolic,Series", "secondary_tag:Symbolic": "yes", "secondary_tag:Series": "yes"},
        {},
    ]
    without = dict.fromkeys(("tag", "secondary_tag", "num_main_preds", "collapsed_tag"))
    writer(tmp_path, row(0, **without))
    assert cases(tmp_path)[0].tags == {}


@pytest.mark.parametrize("name", TAGS)
def test_the_later_tags(tmp_path, name):
    write_lines(tmp_path, row(0), row(1))
    write(tmp_path / name, {"0": ["Unusual Image", "Complex Reasoning"], "1": [], "2": ["Non Minimal"]})
    first, second = (
        {tag: value for tag, value in case.tags.items() if tag.startswith("diwan")} for case in cases(tmp_path)
    )
    assert first == {"diwan:Unusual Image": "yes", "diwan:Complex Reasoning": "yes"}
    assert second == {"diwan:none": "yes"}


@pytest.mark.parametrize("inside", ["images/", "", "a/b/"])
def test_images_in_a_zip_file_and_before_it_those_in_a_folder(tmp_path, inside):
    write_lines(tmp_path, row(3), row(4))
    winoground_zip(tmp_path / PLACE, 3, 4, inside=inside)
    assert [seen(case) for case in cases(tmp_path)] == [shades(3), shades(4)]
    assert cases(tmp_path)[0].requests[0].image.key == "ex_3_img_0"
    write(tmp_path / PLACE / "images/ex_3_img_0.png", picture(shade(9, 0))["bytes"])
    assert seen(cases(tmp_path)[0]) == [shade(9, 0), shade(3, 1)]
    winoground_zip(tmp_path / PLACE, 4)
    with pytest.raises(MissingImageError, match=r"ex_3_img_1.*winoground/data/images"):
        cases(tmp_path)[0].requests[2].image.load()


@pytest.mark.parametrize("how", [{}, {"row_group_size": 2}, {"row_group_size": 1, "compression": "none"}])
def test_images_in_parquet(tmp_path, how):
    write_parquet(tmp_path, *map(row, range(5)), **how)
    for case in reversed(cases(tmp_path)):
        assert seen(case) == shades(int(case.id))
    assert "row 0 of row group 0" in cases(tmp_path)[0].requests[0].image.where


def test_several_parquet_files_with_other_columns_in_a_folder_given_twice(tmp_path):
    for number in (0, 1):
        write_parquet(tmp_path, row(number, extra=[1, 2]), name=f"{PLACE}/test-{number:05}-of-00002.parquet")
    assert [seen(case) for case in cases(tmp_path, tmp_path)] == [shades(0), shades(1)]


def test_an_images_name_may_have_its_extension_and_captions_are_not_compared(tmp_path):
    write_lines(tmp_path, row(0, image_0="ex_0_img_0.png", caption_0="fire truck", caption_1="firetruck on fire"))
    assert cases(tmp_path)[0].requests[0].image.key == "ex_0_img_0"


@WRITERS
def test_tasks_travel_between_processes(tmp_path, writer):
    writer(tmp_path, row(0))
    winoground_zip(tmp_path / PLACE, 0)
    [task] = there = pickle.loads(pickle.dumps([only("winoground", tmp_path)]))
    assert there == [only("winoground", tmp_path)]
    assert seen(task.cases[0]) == shades(0)


def test_no_image_is_read_before_it_is_loaded_and_it_may_be_in_another_folder(tmp_path):
    file = write_parquet(tmp_path, row(0))
    [case] = cases(tmp_path)
    file.unlink()
    with pytest.raises(ImageError, match=r"ex_0_img_0.*\.parquet"):
        case.requests[0].image.load()
    write_lines(tmp_path / "a", row(0))
    winoground_zip(tmp_path / "b" / PLACE, 0)
    assert seen(cases(tmp_path / "a", tmp_path / "b")[0]) == shades(0)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        *(
            (content, r"new_tag_assignments\.json.*expected .*tag")
            for content in ([], {"0": "Non Minimal"}, {"0": [3]}, {"0": None})
        ),
        ({"0": []}, r"examples\.jsonl.* on line 2: id 1 has no entry in the file of tags.*; "),
    ],
)
def test_later_tags_of_another_form_or_without_a_row(tmp_path, content, says):
    write_lines(tmp_path, row(0), row(1))
    write(tmp_path / TAGS[0], content)
    with pytest.raises(DataError, match=says):
        tasks("winoground", tmp_path)


@pytest.mark.parametrize("second", [(write_parquet, TABLE), (write, "winoground/examples.jsonl")])
def test_a_release_in_two_places(tmp_path, second):
    write_lines(tmp_path, row(0))
    write(tmp_path / second[1], with_images([row(0)]) if second[0] is write_parquet else [row(0)])
    with pytest.raises(DataError, match=r"winoground/.* is the release, and so is .*winoground/"):
        tasks("winoground", tmp_path)


@WRITERS
def test_a_repeated_id(tmp_path, writer):
    file = writer(tmp_path, row(7), row(8), row(7))
    with pytest.raises(DataError, match=rf"{file.name}.*id 7 is repeated.*; "):
        tasks("winoground", tmp_path)


def column(table, name, values):
    """The table with another column in the place of one, or without it."""
    rest = table.drop_columns([name])
    return rest if values is None else rest.append_column(name, [values])


NOT_UTF8 = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"], pa.binary()).buffers())


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("caption_0", None, "record in row 0: field 'caption_0' is missing"),
        ("caption_1", None, "record in row 0: field 'caption_1' is missing"),
        ("image_1", None, "has no column 'image_1'"),
        ("image_1", ["a name"], "has no column 'image_1'"),
        ("image_1", [7], "has no column 'image_1'"),
        ("caption_0", NOT_UTF8, "utf-8"),
    ],
)
def test_a_column_that_is_missing_or_of_another_kind(tmp_path, name, values, says):
    file = write_parquet(tmp_path, row(0))
    pq.write_table(column(pq.read_table(file), name, values), file)
    with pytest.raises(DataError, match=rf"test-00000-of-00001\.parquet.*{says}"):
        tasks("winoground", tmp_path)


@pytest.mark.parametrize("name", ["test-00000-of-00001.parquet", "images.zip"])
def test_a_file_that_is_cut_off(tmp_path, name):
    if name == "images.zip":
        write_lines(tmp_path, row(0))
        winoground_zip(tmp_path / PLACE, 0)
    else:
        write_parquet(tmp_path, row(0))
    file = tmp_path / PLACE / name
    file.write_bytes(file.read_bytes()[:-30])
    with pytest.raises(DataError, match=rf"{name}: is not a complete (Parquet|ZIP) file"):
        tasks("winoground", tmp_path)


def test_a_zip_file_that_is_damaged_inside(tmp_path):
    write_lines(tmp_path, row(0))
    winoground_zip(tmp_path / PLACE, 0)
    file = tmp_path / PLACE / "images.zip"
    content = bytearray(file.read_bytes())
    content[content.index(b"IHDR")] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(ImageError, match=r"ex_0_img_0.*images\.zip/.*Bad CRC"):
        cases(tmp_path)[0].requests[0].image.load()


@WRITERS
def test_a_packed_image_has_a_limit(tmp_path, monkeypatch, writer):
    writer(tmp_path, row(0))
    winoground_zip(tmp_path / PLACE, 0)
    monkeypatch.setattr(packed, "MAX_BYTES", 50)
    with pytest.raises(ImageError, match=r"ex_0_img_0.* more than 50 bytes"):
        cases(tmp_path)[0].requests[0].image.load()


@pytest.mark.parametrize("content", [None, b"", b"no image"])
def test_an_invalid_image_in_parquet(tmp_path, content):
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    images = {f"image_{place}": pa.array([{"bytes": content, "path": "x.png"}], kind) for place in (0, 1)}
    columns = {name: pa.array([value]) for name, value in row(0).items() if name not in images}
    write(tmp_path / "winoground/a.parquet", pa.table(images | columns))
    with pytest.raises(ImageError, match=r"ex_0_img_0.*a\.parquet"):
        cases(tmp_path)[0].requests[0].image.load()
