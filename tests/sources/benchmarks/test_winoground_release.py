"""Winoground as its authors release it: as lines with images in a folder or a ZIP file, and as Parquet."""

import pickle
from pathlib import Path

import pytest
from winoground_release import (
    FIELDS,
    WRITERS,
    cases,
    colour,
    png,
    row,
    seen,
    tasks,
    write_lines,
    write_parquet,
    write_tags,
    write_zip,
)

from vlgate.errors import ImageError, MissingImageError
from vlgate.sources.benchmarks.quads import TAGS, WINOGROUND


@WRITERS
def test_a_case(tmp_path, writer):
    writer(tmp_path, row(12))
    [task] = tasks(tmp_path)
    assert (task.id, task.capability, task.shape) == ("winoground/all", "compositional", "quad")
    assert dict(WINOGROUND.shapes) == {"winoground/all": "quad"}
    [case] = task.cases
    asked = [(request.image.key, request.text) for request in case.requests]
    assert asked == [(f"ex_12_img_{p}", FIELDS[f"caption_{c}"]) for p in (0, 1) for c in (0, 1)]
    assert case.truths == (True, False, False, True)
    assert case.id == "12"
    assert case.tags == {"collapsed_tag": "Object", "tag": "Adjective-Age", "num_main_preds": "1"}
    assert "record on line 1" in case.origin or "record in row 0" in case.origin


@WRITERS
def test_visual_tags_as_table_5_counts_them_and_for_all_rows_that_have_them(tmp_path, writer):
    tagged = [row(0, secondary_tag="Symbolic"), row(1, secondary_tag="Symbolic,Series"), row(2)]
    writer(tmp_path, *tagged)
    only, both, none = (
        {name: value for name, value in case.tags.items() if "secondary" in name} for case in cases(tmp_path)
    )
    assert only == {"secondary_tag": "Symbolic", "secondary_tag:Symbolic": "yes"}
    assert both == {"secondary_tag": "Symbolic,Series", "secondary_tag:Symbolic": "yes", "secondary_tag:Series": "yes"}
    assert none == {}


@pytest.mark.parametrize("field", ["tag", "secondary_tag", "num_main_preds", "collapsed_tag"])
def test_a_missing_tag_gives_no_slice(tmp_path, field):
    write_lines(tmp_path, row(0, **{field: None}))
    assert field not in cases(tmp_path)[0].tags


@pytest.mark.parametrize("name", TAGS)
def test_the_later_tags(tmp_path, name):
    write_lines(tmp_path, row(0), row(1))
    write_tags(tmp_path, {"0": ["Unusual Image", "Complex Reasoning"], "1": [], "2": ["Non Minimal"]}, name)
    first, second = (
        {tag: value for tag, value in case.tags.items() if tag.startswith("diwan")} for case in cases(tmp_path)
    )
    assert first == {"diwan:Unusual Image": "yes", "diwan:Complex Reasoning": "yes"}
    assert second == {"diwan:none": "yes"}


def test_images_in_a_folder(tmp_path):
    write_lines(tmp_path, row(3))
    for place in (0, 1):
        (tmp_path / "winoground/data/images").mkdir(exist_ok=True)
        (tmp_path / f"winoground/data/images/ex_3_img_{place}.png").write_bytes(png(3, place))
    assert seen(cases(tmp_path)[0]) == [colour(3, 0), colour(3, 1)]


@pytest.mark.parametrize("inside", ["images/", "", "a/b/"])
def test_images_in_a_zip_file(tmp_path, inside):
    write_lines(tmp_path, row(3), row(4))
    write_zip(tmp_path, 3, 4, inside=inside)
    for case in cases(tmp_path):
        assert seen(case) == [colour(int(case.id), 0), colour(int(case.id), 1)]
    assert cases(tmp_path)[0].requests[0].image.key == "ex_3_img_0"


def test_an_image_in_the_folder_comes_before_one_in_the_zip_file(tmp_path):
    write_lines(tmp_path, row(3))
    write_zip(tmp_path, 3)
    (tmp_path / "winoground/data/images").mkdir()
    (tmp_path / "winoground/data/images/ex_3_img_0.png").write_bytes(png(9, 0))
    assert seen(cases(tmp_path)[0]) == [colour(9, 0), colour(3, 1)]


def test_an_image_that_is_nowhere(tmp_path):
    write_lines(tmp_path, row(3))
    write_zip(tmp_path, 4)
    with pytest.raises(MissingImageError, match=r"ex_3_img_0.*winoground/data/images"):
        cases(tmp_path)[0].requests[0].image.load()


@pytest.mark.parametrize("how", [{}, {"row_group_size": 2}, {"row_group_size": 1, "compression": "none"}])
def test_images_in_parquet(tmp_path, how):
    write_parquet(tmp_path, *map(row, range(5)), **how)
    for case in reversed(cases(tmp_path)):
        assert seen(case) == [colour(int(case.id), 0), colour(int(case.id), 1)]
    assert "row 0 of row group 0" in cases(tmp_path)[0].requests[0].image.where


def test_several_parquet_files(tmp_path):
    write_parquet(tmp_path, row(0), name="test-00000-of-00002.parquet")
    write_parquet(tmp_path, row(1), name="test-00001-of-00002.parquet")
    assert [seen(case) for case in cases(tmp_path)] == [[colour(n, 0), colour(n, 1)] for n in (0, 1)]


def test_other_columns_of_parquet_do_no_harm(tmp_path):
    write_parquet(tmp_path, row(0, extra=[1, 2]))
    assert len(cases(tmp_path)) == 1


def test_a_folder_given_twice_counts_once(tmp_path):
    write_parquet(tmp_path, row(0))
    assert len(cases(tmp_path, tmp_path)) == 1


def test_an_images_name_with_its_extension(tmp_path):
    write_lines(tmp_path, row(0, image_0="ex_0_img_0.png"))
    assert cases(tmp_path)[0].requests[0].image.key == "ex_0_img_0"


def test_captions_are_not_compared(tmp_path):
    write_lines(tmp_path, row(0, caption_0="fire truck", caption_1="firetruck on fire"))
    assert len(cases(tmp_path)) == 1


@WRITERS
def test_tasks_travel_between_processes(tmp_path, writer):
    writer(tmp_path, row(0))
    write_zip(tmp_path, 0)
    there = pickle.loads(pickle.dumps(tasks(tmp_path)))
    assert there == tasks(tmp_path)
    assert seen(there[0].cases[0]) == [colour(0, 0), colour(0, 1)]


def test_no_image_is_read_before_it_is_loaded(tmp_path):
    write_parquet(tmp_path, row(0))
    [case] = cases(tmp_path)
    (tmp_path / "winoground/data/test-00000-of-00001.parquet").unlink()
    with pytest.raises(ImageError, match=r"ex_0_img_0.*\.parquet"):
        case.requests[0].image.load()


def test_the_files_of_one_place_only_are_read(tmp_path):
    first, second = tmp_path / "a", tmp_path / "b"
    write_lines(first, row(0))
    write_zip(second, 0)
    assert seen(cases(first, second)[0]) == [colour(0, 0), colour(0, 1)]
    assert Path(first / "winoground/data/images.zip").exists() is False
