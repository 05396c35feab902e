"""Readers of further benchmarks: the cases, the images and the notes of files in the authors' form."""

import zipfile
from collections import Counter

import numpy as np
import pytest
import releases
from builders import tabled
from PIL import Image
from releases import BLUE, RED, asked, colour, counts, only, tasks, write

from vlgate.errors import DataError
from vlgate.sources.benchmarks.questions import PATTERNS
from vlgate.types import Ask, Match


def test_bivlc_has_a_task_for_each_kind_and_images_inside_its_files(tmp_path):
    rows = [releases.bivlc("swap"), releases.bivlc("add"), releases.bivlc("swap", subtype="obj")]
    releases.shards(tmp_path / "bivlc/data", "test", rows, 2)
    found = tasks("bivlc", tmp_path)
    assert {task.id: (task.shape, len(task.cases)) for task in found.values()} == {
        "bivlc/swap": ("quad", 2),
        "bivlc/add": ("quad", 1),
    }
    first, last = found["bivlc/swap"].cases
    texts = ("a red cup on a blue plate", "a blue cup on a red plate")
    assert asked(first) == [(f"bivlc_0_{which}", text) for which in (0, 1) for text in texts]
    assert (last.id, last.tags, last.truths) == ("2", {"subtype": "obj"}, (True, False, False, True))
    assert [colour(last.requests[place].image) for place in (0, 2)] == [RED, BLUE]
    assert "generator" in found["bivlc/swap"].note


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_vismin_reads_the_arrow_files_of_save_to_disk(tmp_path, suffix):
    rows = [releases.vismin(number, category) for number, category in enumerate(("object", "counting", "object"))]
    write(tmp_path / f"vismin/data-00000-of-00001.{suffix}", rows, parts=2)
    found = tasks("vismin", tmp_path)
    assert {name: [case.id for case in task.cases] for name, task in found.items()} == {
        "vismin/object": ["coco_0", "coco_2"],
        "vismin/counting": ["coco_1"],
    }
    last = found["vismin/object"].cases[1]
    assert [colour(last.requests[place].image) for place in (0, 2)] == [RED, BLUE]
    assert last.requests[0].image.key == "vismin_coco_2_0"


def test_naturalbench_crosses_two_questions_with_two_images_and_has_captions_for_retrieval(tmp_path):
    turned = {f"Image_{i}_Question_{q}": "No" if i == q else "Yes" for i in (0, 1) for q in (0, 1)}
    rows = [releases.naturalbench(0), releases.naturalbench(1, "multiple_choice"), releases.naturalbench(2, **turned)]
    write(tmp_path / "naturalbench/data/train-00000.parquet", rows)
    found = tasks("naturalbench", tmp_path)
    case, other = found["naturalbench/yes-no"].cases
    assert asked(case) == [
        (f"naturalbench_0_{which}", question, ("yes", "no"))
        for which in (0, 1)
        for question in ("Is the dog asleep?", "Is the dog at play?")
    ]
    assert (case.truths, other.truths) == (("yes", "no", "no", "yes"), ("no", "yes", "yes", "no"))
    [case] = found["naturalbench/multiple-choice"].cases
    assert (case.truths, case.requests[0].choices) == (("a", "b", "b", "a"), ("a", "b"))
    record = {"index": 3, "image_0": "images/3_0.jpg", "image_1": "images/3_1.jpg", "caption_0": "a", "caption_1": "b"}
    write(tmp_path / "naturalbench/NaturalBench-Retrieval/metadata.json", [record])
    task = tasks("naturalbench", tmp_path)["naturalbench/retrieval"]
    assert (task.shape, asked(task.cases[0])[0]) == ("quad", ("3_0.jpg", "a"))


def test_the_forms_of_naturalbench_and_aro_that_are_not_read_are_named(tmp_path):
    write(tmp_path / "naturalbench/NaturalBench.tsv", "index\timage\n")
    with zipfile.ZipFile(tmp_path / "naturalbench/NaturalBench-Retrieval.zip", "w") as archive:
        archive.writestr("metadata.json", "[]")
    write(tmp_path / "aro/test-00000-of-00001.parquet", b"")
    for task, says in {
        "naturalbench/yes-no": "NaturalBench.tsv is not read; take the release's Parquet files",
        "naturalbench/retrieval": "NaturalBench-Retrieval.zip is not unpacked",
        "aro/relation": "a copy without regions and classes; take visual_genome_relation.json",
    }.items():
        found = tasks(task.partition("/")[0], tmp_path)
        assert set(counts(found).values()) == {0}
        assert says in found[task].note


@pytest.mark.parametrize("form", ["json", "data.json", "parquet", "data.parquet"])
def test_both_splits_of_colorswap_as_json_or_parquet(tmp_path, form):
    folder = tmp_path / ("colorswap/data" if form.startswith("data") else "colorswap")
    images = {"image_1": releases.picture("red"), "image_2": releases.picture("blue")} if "parquet" in form else {}
    for split, number in (("train", 7), ("test", 3)):
        rows = [releases.colorswap(3 * n, **images) for n in range(number)]
        write(folder / (f"{split}.json" if "json" in form else f"{split}-00000-of-00001.parquet"), rows)
    for which, shown in ((1, "red"), (2, "blue")):
        write(folder / f"images/img_3_{which}.png", shown)
    found = tasks("colorswap", tmp_path)
    assert counts(found) == {"colorswap/test": 3, "colorswap/train": 7}
    case = found["colorswap/test"].cases[1]
    assert (case.id, case.tags) == ("3", {"image_source": "midjourney", "caption_source": "human"})
    assert [request.image.key for request in case.requests[::2]] == ["img_3_1.png", "img_3_2.png"]
    assert [colour(request.image) for request in case.requests[::2]] == [RED, BLUE]


def test_two_forms_of_a_split_are_an_error_that_names_both_and_one_without_images_another(tmp_path):
    write(tmp_path / "colorswap/data/test.parquet", [releases.colorswap(1)])
    with pytest.raises(DataError, match="no column 'image_1' of structs"):
        tasks("colorswap", tmp_path)
    write(tmp_path / "colorswap/test.json", [releases.colorswap(1)])
    with pytest.raises(DataError, match=r"test\.json.*test\.parquet"):
        tasks("colorswap", tmp_path)


def test_cola_takes_visual_genomes_images_and_sugarcrepe_pp_keeps_the_texts_as_they_are(tmp_path):
    address = "https://cs-people.bu.edu/array/data/vg_gqa_images/{}.jpg"
    record = [address.format(2390970), "a tall giraffe", address.format(2388902), "a brown giraffe"]
    write(tmp_path / "cola/data/COLA_multiobjects_matching_benchmark.json", [record])
    write(tmp_path / "images/vg/2390970.jpg", "red")
    task = only("cola", tmp_path)
    assert (task.shape, asked(task.cases[0])[2]) == ("image_quad", ("2388902.jpg", "a tall giraffe"))
    assert task.cases[0].requests[0].image.where.endswith("2390970.jpg")
    write(tmp_path / "sugarcrepe-pp/data/swap_obj.json", [releases.record("sugarcrepe-pp")])
    task = only("sugarcrepe-pp", tmp_path)
    assert (task.id, task.shape, task.cases[0].truths) == ("sugarcrepe-pp/swap_obj", "two_true", (True, True, False))
    assert [text for _, text in asked(task.cases[0])] == ["A cat sits. ", "A cat is sitting.", "A dog sits."]


SPLITS = {
    ("random", "train"): (7083, 7680, 2),
    ("random", "dev"): (1012, 1097, 2),
    ("random", "test"): (2024, 2195, 2),
    ("zeroshot", "train"): (5440, 3489, 2),
    ("zeroshot", "dev"): (259, 340, 2),
    ("zeroshot", "test"): (731, 1222, 2),
}


@tabled
def test_the_releases_of_vsr_are_told_apart_by_their_numbers(tmp_path, release, note):
    for (split, part), sizes in SPLITS.items():
        records = [releases.record("vsr", label=n % 2) for n in range(sizes[release])]
        write(tmp_path / f"vsr/{split}/{part}.jsonl", records)
    found = tasks("vsr", tmp_path)
    assert list(found) == [
        f"vsr/{split}-{part}" for split in ("random", "zeroshot") for part in ("test", "dev", "train")
    ]
    assert counts(found) == {f"vsr/{split}-{part}": sizes[release] for (split, part), sizes in SPLITS.items()}
    assert {(task.shape, task.note) for task in found.values()} == {("single", note)}
    first, second = found["vsr/zeroshot-test"].cases[:2]
    assert isinstance(first.requests[0], Match)
    assert (first.truths, second.truths, first.tags["relation"]) == ((False,), (True,), "behind")


def test_whatsup_makes_pairs_of_opposites_and_sets_of_four_and_finds_its_images(tmp_path):
    folder = tmp_path / "whatsup/data"
    for name, places in (("images", releases.PREPOSITIONS), ("clevr", releases.BEHIND)):
        rows = [one for n in range(3) for one in releases.whatsup((f"cup{n}", "table"), places, f"controlled_{name}")]
        write(folder / f"controlled_{name}_dataset.json", rows)
    for name in ("coco_qa_one_obj", "vg_qa_one_obj"):
        write(folder / f"{name}.json", [[139, "a dog on the left", "a dog on the right"]])
    write(folder / "val2017/000000000139.jpg", "red")
    write(folder / "vg_images/139.jpg", "blue")
    found = tasks("whatsup", tmp_path)
    left, right, on, under = found["whatsup/a"].cases[:4]
    assert (left.id, left.requests[0].image.key) == ("cup0_left_of_table", "cup0_left_of_table.jpeg")
    assert (under.requests[0].text, len(under.requests)) == ("A cup0 under a table", 4)
    assert left.tags["pair_all"] == right.tags["pair_all"] != on.tags["pair_all"] == under.tags["pair_all"]
    for task in ("whatsup/a", "whatsup/b"):
        tags = [case.tags for case in found[task].cases]
        assert Counter(Counter(tag["set_all"] for tag in tags).values()) == {4: 3}
        assert Counter(Counter(tag["pair_all"] for tag in tags).values()) == {2: 6}
    assert found["whatsup/b"].cases[2].requests[0].image.key == "cup0_in-front_of_table.jpeg"
    [case] = found["whatsup/gqa-one"].cases
    assert asked(case) == [("139", "a dog on the left"), ("139", "a dog on the right")]
    red, blue = (colour(found[f"whatsup/{name}"].cases[0].requests[0].image) for name in ("coco-one", "gqa-one"))
    assert red[0] > 200 > blue[0]


def test_aro_cuts_regions_out_and_leaves_symmetric_relations_out_of_the_published_mean(tmp_path):
    records = [releases.aro(), releases.aro("next to", (0, 0, 50, 10)), releases.aro(box=(20, 20, 5, 5))]
    write(tmp_path / "aro/visual_genome_relation.json", records)
    (tmp_path / "aro/images").mkdir()
    pixels = np.zeros((100, 100, 3), np.uint8)
    pixels[20:60, 10:40] = RED
    Image.fromarray(pixels).save(tmp_path / "aro/images/2343.png")
    first, second, third = only("aro", tmp_path).cases
    assert first.tags == {"macro_all": "wearing", "macro": "wearing"}
    assert second.tags == {"macro_all": "next to"}
    image = np.asarray(first.requests[0].image.load())
    assert (image.shape, image.min(axis=(0, 1)).tolist()) == ((40, 30, 3), RED)
    assert first.requests[0].image.key != third.requests[0].image.key
    assert [text for _, text in asked(first)] == ["the man is wearing the hat", "the hat is wearing the man"]


@pytest.mark.parametrize("folder", ["MLLM_VLM Images", "MMVP_VLM_Images"])
def test_mmvp_vlm_pairs_an_odd_row_with_the_next_in_nine_patterns_by_position(tmp_path, folder):
    rows = [f'{n},Type {n % 4},"statement {n}, with a comma\u2028and a line"' for n in range(1, 271)]
    file = write(tmp_path / "mmvp-vlm/Questions.csv", "\ufeff" + releases.csv("Question ID,Type,Statement", rows))
    write(tmp_path / f"mmvp-vlm/{folder}/Type 1/149.jpg", "blue")
    task = only("mmvp", tmp_path)
    assert (task.shape, len(task.cases), task.cases[0].id, task.note) == ("image_quad", 135, "1-2", "")
    assert Counter(case.tags["macro"] for case in task.cases) == dict.fromkeys(PATTERNS, 15)
    assert [case.tags["macro"] for case in task.cases[14:16]] == [
        "orientation and direction",
        "presence of specific features",
    ]
    assert asked(task.cases[0])[2] == ("2.jpg", "a photo of statement 1, with a comma\u2028and a line")
    assert task.cases[74].requests[0].image.where.endswith("149.jpg")
    write(file, releases.csv("Question ID,Type,Statement", rows[:4]))
    assert only("mmvp", tmp_path).note == "the release has 135 pairs, 15 a pattern, and this file 2"


@pytest.mark.parametrize("number", ["Index,", "lineId,", ""])
def test_mmvp_asks_one_question_about_two_images_that_are_the_numbers_of_their_rows(tmp_path, number):
    rows = [f"{f'{n},' if number else ''}Open?,(a) Open (b) Closed,({'ba'[n % 2]})" for n in range(1, 301)]
    write(tmp_path / "MMVP/Questions.csv", releases.csv(f"{number}Question,Options,Correct Answer", rows))
    write(tmp_path / "MMVP/MMVP Images/4.jpg", "red")
    task = only("mmvp", tmp_path)
    assert (task.shape, task.capability, len(task.cases)) == ("questions", "directional", 150)
    case = task.cases[1]
    assert (case.id, case.truths) == ("3-4", ("Open", "Closed"))
    assert asked(case) == [(f"{n}.jpg", "Open?", ("Open", "Closed")) for n in (3, 4)]
    assert case.requests[1].image.where.endswith("MMVP Images/4.jpg")


RANDOM = [releases.pope(number, ("yes", "no")[number % 2]) for number in range(4)]
APPLE = [one | {"text": "Is there an apple in the imange?"} for one in RANDOM]


@pytest.mark.parametrize(
    ("records", "kind", "release"),
    [
        (RANDOM, "random", "2023-10-09 or later"),
        (RANDOM, "adversarial", "that of 2023-11-16"),
        (APPLE, "adversarial", "older than 2023-11-16"),
        (APPLE, "popular", "older than 2023-10-09"),
        ([one | {"image_id": 1} for one in RANDOM], "random", "2023-08-04"),
        (
            [one | {"question_id": n} for n, one in enumerate(728 * RANDOM[:4])][:2910],
            "random",
            "90 of its 3,000 questions are missing",
        ),
    ],
)
def test_the_releases_of_popes_coco_files_are_told_apart(tmp_path, records, kind, release):
    write(tmp_path / f"pope/output/coco/coco_pope_{kind}.json", releases.lines(records))
    task = only("pope", tmp_path)
    assert release in task.note
    assert (task.shape, task.cases[0].truths, task.cases[0].requests[0].choices) == ("single", ("yes",), ("yes", "no"))


def test_popev2_has_two_images_of_one_name(tmp_path):
    """The edited image and the photograph: one question, two answers."""
    rows = [releases.pope_v2(46207 + n // 2, edited=n % 2 == 0) for n in range(10)]
    write(tmp_path / "pope/POPEv2/dataset/annotations.json", rows)
    write(tmp_path / "pope/POPEv2/dataset/images/000000046207.jpg", "blue")
    write(tmp_path / "images/coco/000000046207.jpg", "red")
    task = only("pope", tmp_path)
    edited, original = task.cases[:2]
    assert (task.id, edited.truths, original.truths) == ("pope/v2", ("no",), ("yes",))
    assert len({case.requests for case in task.cases}) == 10
    blue, red = (colour(case.requests[0].image) for case in (edited, original))
    assert blue[2] > 200 > red[2]
    assert {type(case.requests[0]) for case in task.cases} == {Ask}


@pytest.mark.parametrize("name", ["bivlc/a.parquet", "vismin/a.arrow"])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"ARROW1\0\0", bytes(64)])
def test_a_file_that_is_no_table_is_named(tmp_path, name, content):
    write(tmp_path / name, content)
    with pytest.raises(DataError, match="is not a complete"):
        tasks(name.partition("/")[0], tmp_path)
