"""Which names mean the same image."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.models.regions.feature_records import Names, image_name


@given(
    st.text(st.characters(exclude_characters="#/", codec="utf-8"), min_size=1), st.sampled_from(["jpg", "JPEG", "tiff"])
)
def test_folders_and_extensions_make_no_difference(name, extension):
    assert image_name(f"a/b/{name}.{extension}") == image_name(f"{name}.png") == image_name(f"c/{name}.gif")


@given(st.integers(0, 10**12), st.sampled_from(["", "COCO_val2014_", "COCO_train2014_", "v7w_"]), st.integers(1, 14))
def test_a_number_is_the_same_with_any_prefix_and_zeros(number, prefix, digits):
    assert image_name(f"some/{prefix}{number:0{digits}}.jpg") == str(number)


def test_a_perturbed_image_is_never_the_original():
    assert image_name("2357834#blur6") != image_name("2357834")
    assert Names(["2357834", "12#blur6.png"]).find("2357834#blur6") is None
    assert Names(["2357834", "12#blur6.png"]).find("12.jpg") is None
    assert Names(["2357834", "12#blur6.png"]).find("VG_100K/12.jpg#blur6") == "12#blur6.png"


def test_numbers_of_coco_and_visual_genome_are_told_apart():
    names = Names(
        ["COCO_val2014_000000000012", "v7w_12.jpg", "COCO_train2014_000000000013", "013", "a/5.jpg", "b/5.jpg"]
    )
    assert len(names) == 6
    assert names.find("v7w_12") == "v7w_12.jpg"
    assert names.find("VG_100K_2/12.jpg") == "v7w_12.jpg"
    assert names.find("12.jpg") == "v7w_12.jpg"  # COCO's own names show that they are COCO's
    assert names.find("000000000012.jpg") == "COCO_val2014_000000000012"
    assert names.find("013.jpg") == "013"  # the same name
    assert names.find("v7w_13.jpg") == "013"
    assert names.find("5.jpg") is None  # it may be either
    assert names.find("a/5.jpg") == "a/5.jpg"


@pytest.mark.parametrize(
    ("key", "other"),
    [
        ("v7w_12.jpg", "coco/000000000012.jpg"),  # the features of a folder of COCO images
        ("12", "coco/val2017/000000000012.jpg"),
        ("12", "coco/12.jpg"),
        ("COCO_val2014_000000000012.jpg", "vg/12.jpg"),
        ("000000000012.jpg", "VG_100K_2/12.jpg"),
        ("mine/12.jpg", "vg/12.jpg"),
        ("photos/cat.jpg", "renders/cat.jpg"),
        ("a/photos/cat.jpg", "b/photos/cat.jpg"),
    ],
)
def test_the_same_name_in_another_folder_is_another_image(key, other):
    assert image_name(key) == image_name(other)
    assert Names([other]).find(key) is None


@pytest.mark.parametrize(
    ("key", "other"),
    [
        ("v7w_12.jpg", "vg/12.jpg"),
        ("12", "gqa/12.jpg"),
        ("VG_100K_2/12.jpg", "vg/12.jpg"),
        ("COCO_val2014_000000000012.jpg", "coco/val2017/000000000012.jpg"),
        ("COCO_val2014_000000000012.jpg", "12"),  # as VOLTA's databases have it
        ("VisualDialog_val2018_000000000012.jpg", "coco/VisualDialog_val2018_000000000012.jpg"),
        ("photos/cat.jpg", "mine/photos/cat.png"),
        ("data/mine/photos/cat.jpg", "photos/cat.jpg"),
    ],
)
def test_folders_that_may_be_the_same_do_not_prevent_a_match(key, other):
    assert Names([other]).find(key) == other


def test_an_image_with_the_same_path_is_found():
    names = Names(["swig/a/cook_1.jpg", "swig/b/cook_1.jpg"])
    assert names.find("train/cook_1.jpg") is None
    assert names.find("train/cook_1.jpg", "/data/images/swig/b/cook_1.jpg") == "swig/b/cook_1.jpg"
    # A perturbed image has the path of the original, and is another image all the same.
    assert names.find("train/cook_1.jpg#crop0.9", "/data/images/swig/b/cook_1.jpg") is None
