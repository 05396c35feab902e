"""Errors in a release of Winoground: each names the file and the row or image."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from winoground_release import WRITERS, cases, problem, row, tasks, write_lines, write_parquet, write_tags, write_zip

from vlgate.errors import DataError, ImageError
from vlgate.sources.reading import packed


@pytest.mark.parametrize("content", [[], {"0": "Non Minimal"}, {"0": [3]}, {"0": None}])
def test_later_tags_of_another_form(tmp_path, content):
    write_lines(tmp_path, row(0))
    write_tags(tmp_path, content)
    with pytest.raises(DataError, match=r"new_tag_assignments\.json.*expected .*tag"):
        tasks(tmp_path)


def test_a_row_without_an_entry_in_the_later_tags(tmp_path):
    write_tags(tmp_path, {"0": []})
    assert "on line 2: id 1 has no entry in the file of tags" in problem(tmp_path, row(0), row(1))


@pytest.mark.parametrize("second", [(write_parquet, "winoground/data"), (write_lines, "winoground")])
def test_a_release_in_two_places(tmp_path, second):
    writer, place = second
    write_lines(tmp_path, row(0))
    writer(tmp_path, row(0), place=place)
    with pytest.raises(DataError, match=r"winoground/.* is the release, and so is .*winoground/"):
        tasks(tmp_path)


@WRITERS
def test_a_repeated_id(tmp_path, writer):
    assert "id 7 is repeated" in problem(tmp_path, row(7), row(8), row(7), writer=writer)


@pytest.mark.parametrize("field", ["caption_0", "caption_1"])
def test_a_missing_column(tmp_path, field):
    write_parquet(tmp_path, row(0))
    file = tmp_path / "winoground/data/test-00000-of-00001.parquet"
    pq.write_table(pq.read_table(file).drop_columns([field]), file)
    with pytest.raises(DataError, match=f"record in row 0: field '{field}' is missing"):
        tasks(tmp_path)


@pytest.mark.parametrize("broken", [None, "a name", 7])
def test_a_column_without_images(tmp_path, broken):
    write_parquet(tmp_path, row(0))
    file = tmp_path / "winoground/data/test-00000-of-00001.parquet"
    table = pq.read_table(file).drop_columns(["image_1"])
    pq.write_table(table if broken is None else table.append_column("image_1", [[broken]]), file)
    with pytest.raises(DataError, match=r"test-00000-of-00001\.parquet: has no column 'image_1'"):
        tasks(tmp_path)


def cut(file):
    file.write_bytes(file.read_bytes()[:-30])


def test_parquet_with_text_that_is_not_utf8(tmp_path):
    write_parquet(tmp_path, row(0))
    file = tmp_path / "winoground/data/test-00000-of-00001.parquet"
    table = pq.read_table(file)
    place = table.schema.get_field_index("caption_0")
    bad = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff\xfe"], pa.binary()).buffers())
    pq.write_table(table.set_column(place, "caption_0", bad), file)
    with pytest.raises(DataError, match=r"test-00000-of-00001\.parquet.*utf-8"):
        tasks(tmp_path)


def test_parquet_that_is_cut_off(tmp_path):
    write_parquet(tmp_path, row(0))
    cut(tmp_path / "winoground/data/test-00000-of-00001.parquet")
    with pytest.raises(DataError, match=r"test-00000-of-00001\.parquet: is not a complete Parquet file"):
        tasks(tmp_path)


def test_a_zip_file_that_is_cut_off(tmp_path):
    write_lines(tmp_path, row(0))
    write_zip(tmp_path, 0)
    cut(tmp_path / "winoground/data/images.zip")
    with pytest.raises(DataError, match=r"images\.zip: is not a complete ZIP file"):
        tasks(tmp_path)


def test_a_zip_file_that_is_damaged_inside(tmp_path):
    write_lines(tmp_path, row(0))
    write_zip(tmp_path, 0)
    file = tmp_path / "winoground/data/images.zip"
    content = bytearray(file.read_bytes())
    content[content.index(b"IHDR")] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(ImageError, match=r"ex_0_img_0.*images\.zip/.*Bad CRC"):
        cases(tmp_path)[0].requests[0].image.load()


@pytest.mark.parametrize("writer", [write_zip, write_parquet])
def test_a_packed_image_has_a_limit(tmp_path, monkeypatch, writer):
    if writer is write_zip:
        write_lines(tmp_path, row(0))
    writer(tmp_path, 0 if writer is write_zip else row(0))
    monkeypatch.setattr(packed, "MAX_BYTES", 50)
    with pytest.raises(ImageError, match=r"ex_0_img_0.* more than 50 bytes"):
        cases(tmp_path)[0].requests[0].image.load()


@pytest.mark.parametrize("content", [None, b"", b"no image"])
def test_an_invalid_image_in_parquet(tmp_path, content):
    images = {f"image_{place}": {"bytes": content, "path": "x.png"} for place in (0, 1)}
    schema = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    (tmp_path / "winoground").mkdir()
    columns = {name: pa.array([image], schema) for name, image in images.items()}
    columns |= {name: pa.array([value]) for name, value in row(0).items() if name not in images}
    pq.write_table(pa.table(columns), tmp_path / "winoground/a.parquet")
    with pytest.raises(ImageError, match=r"ex_0_img_0.*a\.parquet"):
        cases(tmp_path)[0].requests[0].image.load()
