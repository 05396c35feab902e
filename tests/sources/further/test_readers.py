"""Readers of further benchmarks, on files that the test writes in the authors' form."""

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
import releases

from vlgate.errors import DataError
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import read_source
from vlgate.types import Ask, Match


def tasks(source, folder, **options):
    found = read_source(source, ReadOptions(folders=(folder,), seed=0, wanted=lambda _: True, **options))
    return {task.id: task for task in found}


def colour(image):
    return np.asarray(image.load())[0, 0].tolist()


def said(case):
    return [
        (request.image.key, request.question if isinstance(request, Ask) else request.text) for request in case.requests
    ]


RED, BLUE = [255, 0, 0], [0, 0, 255]


@pytest.mark.parametrize("name", ["data/test-00000-of-00001.parquet", "test.parquet"])
def test_bivlc_has_a_task_for_each_kind_and_images_inside_the_file(tmp_path, name):
    rows = [releases.bivlc("swap"), releases.bivlc("add"), releases.bivlc("swap", subtype="obj")]
    releases.write_table(tmp_path / "bivlc" / name, rows, parts=2)
    found = tasks("bivlc", tmp_path)
    assert {task.id: (task.shape, len(task.cases)) for task in found.values()} == {
        "bivlc/swap": ("quad", 2),
        "bivlc/add": ("quad", 1),
    }
    first, last = found["bivlc/swap"].cases
    assert said(first) == [
        ("bivlc_0_0", "a red cup on a blue plate"),
        ("bivlc_0_0", "a blue cup on a red plate"),
        ("bivlc_0_1", "a red cup on a blue plate"),
        ("bivlc_0_1", "a blue cup on a red plate"),
    ]
    assert (last.id, last.tags, last.truths) == ("2", {"subtype": "obj"}, (True, False, False, True))
    assert [colour(last.requests[place].image) for place in (0, 2)] == [RED, BLUE]
    assert "generator" in found["bivlc/swap"].note


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_vismin_reads_the_arrow_files_of_save_to_disk(tmp_path, suffix):
    rows = [releases.vismin(number, category) for number, category in enumerate(("object", "counting", "object"))]
    releases.write_table(tmp_path / f"vismin/data-00000-of-00001.{suffix}", rows, parts=2)
    found = tasks("vismin", tmp_path)
    assert {name: [case.id for case in task.cases] for name, task in found.items()} == {
        "vismin/object": ["coco_0", "coco_2"],
        "vismin/counting": ["coco_1"],
    }
    last = found["vismin/object"].cases[1]
    assert [colour(last.requests[place].image) for place in (0, 2)] == [RED, BLUE]
    assert last.requests[0].image.key == "vismin_coco_2_0"


def test_naturalbench_crosses_two_questions_with_two_images(tmp_path):
    rows = [releases.naturalbench(0), releases.naturalbench(1, "multiple_choice")]
    releases.write_table(tmp_path / "naturalbench/data/train-00000.parquet", rows)
    found = tasks("naturalbench", tmp_path)
    [case] = found["naturalbench/yes-no"].cases
    assert [request.question for request in case.requests] == ["Is the dog asleep?", "Is the dog at play?"] * 2
    assert [request.image.key for request in case.requests] == ["naturalbench_0_0"] * 2 + ["naturalbench_0_1"] * 2
    assert (case.truths, case.requests[0].choices) == (("yes", "no", "no", "yes"), ("yes", "no"))
    [case] = found["naturalbench/multiple-choice"].cases
    assert (case.truths, case.requests[0].choices) == (("a", "b", "b", "a"), ("a", "b"))


def test_naturalbench_retrieval(tmp_path):
    record = {"index": 3, "image_0": "images/3_0.jpg", "image_1": "images/3_1.jpg", "caption_0": "a", "caption_1": "b"}
    releases.write_json(tmp_path / "naturalbench/NaturalBench-Retrieval/metadata.json", [record])
    [task] = tasks("naturalbench", tmp_path).values()
    assert (task.id, task.shape, said(task.cases[0])[0]) == ("naturalbench/retrieval", "quad", ("3_0.jpg", "a"))


def test_cola_takes_visual_genomes_images(tmp_path):
    address = "https://cs-people.bu.edu/array/data/vg_gqa_images/{}.jpg"
    record = [address.format(2390970), "a tall giraffe", address.format(2388902), "a brown giraffe"]
    releases.write_json(tmp_path / "cola/data/COLA_multiobjects_matching_benchmark.json", [record])
    (tmp_path / "images/vg").mkdir(parents=True)
    Image.new("RGB", (4, 4), "red").save(tmp_path / "images/vg/2390970.jpg")
    [task] = tasks("cola", tmp_path).values()
    assert (task.shape, said(task.cases[0])[2]) == ("image_quad", ("2388902.jpg", "a tall giraffe"))
    assert task.cases[0].requests[0].image.where.endswith("2390970.jpg")


def test_sugarcrepe_pp_keeps_the_texts_as_they_are(tmp_path):
    record = {
        "id": 0,
        "filename": "000000222235.jpg",
        "caption": "A cat sits. ",
        "caption2": "A cat.",
        "negative_caption": "A dog.",
    }
    releases.write_json(tmp_path / "sugarcrepe-pp/data/swap_obj.json", [record])
    [task] = tasks("sugarcrepe-pp", tmp_path).values()
    assert (task.id, task.shape, task.cases[0].truths) == ("sugarcrepe-pp/swap_obj", "two_true", (True, True, False))
    assert [request.text for request in task.cases[0].requests] == ["A cat sits. ", "A cat.", "A dog."]


def test_vsr_names_its_release(tmp_path):
    record = {
        "image": "000000239417.jpg",
        "caption": "The bench is beside the train.",
        "label": 0,
        "relation": "beside",
    }
    releases.write_lines(
        tmp_path / "vsr/data/splits/zeroshot/test.jsonl", [record | {"label": index % 2} for index in range(731)]
    )
    [task] = tasks("vsr", tmp_path).values()
    assert (task.id, task.shape, task.note) == (
        "vsr/zeroshot-test",
        "single",
        "the file is that of the release until 2023-03",
    )
    [asked] = task.cases[1].requests
    assert isinstance(asked, Match)
    assert (task.cases[0].truths, task.cases[1].truths, task.cases[0].tags["relation"]) == ((False,), (True,), "beside")


def test_whatsup_makes_pairs_of_opposites_and_sets_of_four(tmp_path):
    releases.write_json(tmp_path / "whatsup/data/controlled_images_dataset.json", releases.whatsup())
    releases.write_json(
        tmp_path / "whatsup/data/vg_qa_one_obj.json", [[2343, "a dog on the left", "a dog on the right"]]
    )
    found = tasks("whatsup", tmp_path)
    left, right, on, under = found["whatsup/a"].cases
    assert (left.id, left.requests[0].image.key) == ("cup_left_of_table", "cup_left_of_table.jpeg")
    assert under.requests[0].text == "A cup under a table"
    assert len(under.requests) == 4
    assert left.tags["pair_all"] == right.tags["pair_all"] != on.tags["pair_all"] == under.tags["pair_all"]
    assert len({case.tags["set_all"] for case in (left, right, on, under)}) == 1
    [case] = found["whatsup/gqa-one"].cases
    assert said(case) == [("2343", "a dog on the left"), ("2343", "a dog on the right")]


def test_aro_cuts_regions_out_and_leaves_symmetric_relations_out_of_the_published_mean(tmp_path):
    records = [releases.aro(), releases.aro("next to", (0, 0, 50, 10)), releases.aro(box=(20, 20, 5, 5))]
    releases.write_json(tmp_path / "aro/visual_genome_relation.json", records)
    (tmp_path / "aro/images").mkdir()
    pixels = np.zeros((100, 100, 3), np.uint8)
    pixels[20:60, 10:40] = RED
    Image.fromarray(pixels).save(tmp_path / "aro/images/2343.png")
    [task] = tasks("aro", tmp_path).values()
    first, second, third = task.cases
    assert [case.tags for case in (first, second)] == [
        {"macro_all": "wearing", "macro": "wearing"},
        {"macro_all": "next to"},
    ]
    image = np.asarray(first.requests[0].image.load())
    assert (image.shape, image.min(axis=(0, 1)).tolist()) == ((40, 30, 3), RED)
    assert first.requests[0].image.key != third.requests[0].image.key
    assert [request.text for request in first.requests] == ["the man is wearing the hat", "the hat is wearing the man"]


def questions_csv(rows, header):
    return "\n".join([header, *rows]) + "\n"


def test_mmvp_vlm_pairs_an_odd_row_with_the_next(tmp_path):
    rows = [f"{number},Orientation,statement {number}" for number in range(1, 33)]
    (tmp_path / "mmvp-vlm/MLLM_VLM Images/Orientation").mkdir(parents=True)
    (tmp_path / "mmvp-vlm/Questions.csv").write_text(questions_csv(rows, "Question ID,Type,Statement"))
    Image.new("RGB", (4, 4), "red").save(tmp_path / "mmvp-vlm/MLLM_VLM Images/Orientation/2.jpg")
    [task] = tasks("mmvp", tmp_path).values()
    assert (task.shape, [case.id for case in task.cases][:2]) == ("image_quad", ["1-2", "3-4"])
    assert said(task.cases[0])[2] == ("2.jpg", "a photo of statement 1")
    assert task.cases[0].requests[2].image.where
    assert [case.tags["macro"] for case in task.cases][14:] == [
        "orientation and direction",
        "presence of specific features",
    ]


def test_mmvp_asks_one_question_about_two_images(tmp_path):
    rows = ["1,Is the door open?,(a) Open (b) Closed,(a)", "2,Is the door open?,(a) Open (b) Closed,(b)"]
    (tmp_path / "mmvp").mkdir()
    (tmp_path / "mmvp/Questions.csv").write_text(questions_csv(rows, "Index,Question,Options,Correct Answer"))
    [task] = tasks("mmvp", tmp_path).values()
    assert (task.shape, task.capability, task.cases[0].truths) == ("questions", "directional", ("Open", "Closed"))
    assert task.cases[0].requests[0].choices == ("Open", "Closed")


RANDOM = [releases.pope(number, ("yes", "no")[number % 2]) for number in range(4)]


@pytest.mark.parametrize(
    ("records", "kind", "release"),
    [
        (RANDOM, "random", "2023-10-09 or later"),
        (RANDOM, "adversarial", "that of 2023-11-16"),
        (
            [one | {"text": "Is there an apple in the imange?"} for one in RANDOM],
            "adversarial",
            "older than 2023-11-16",
        ),
        ([one | {"text": "Is there an apple in the imange?"} for one in RANDOM], "popular", "older than 2023-10-09"),
        ([one | {"image_id": 1} for one in RANDOM], "random", "2023-08-04"),
    ],
)
def test_the_releases_of_popes_coco_files_are_told_apart(tmp_path, records, kind, release):
    releases.write_lines(tmp_path / f"pope/output/coco/coco_pope_{kind}.json", records)
    [task] = tasks("pope", tmp_path).values()
    assert release in task.note
    assert (task.shape, task.cases[0].truths, task.cases[0].requests[0].choices) == ("single", ("yes",), ("yes", "no"))


def test_the_first_release_of_the_random_file_has_90_questions_fewer(tmp_path):
    releases.write_lines(
        tmp_path / "pope/output/coco/coco_pope_random.json", [releases.pope(number) for number in range(2910)]
    )
    [task] = tasks("pope", tmp_path).values()
    assert "90 of its 3,000 questions are missing" in task.note


BAD = {
    "an unknown type": ("bivlc", "bivlc/a.parquet", [releases.bivlc("shift")], "field 'type' is a string ('shift')"),
    "a blank caption": ("bivlc", "bivlc/a.parquet", [releases.bivlc(caption=" ")], "field 'caption' is blank"),
    "a repeated id": ("vismin", "vismin/a.arrow", [releases.vismin(1), releases.vismin(1)], "id coco_1 is repeated"),
    "no answer": (
        "naturalbench",
        "naturalbench/a.parquet",
        [releases.naturalbench(0, Image_1_Question_0="Maybe")],
        "Image_1_Question_0",
    ),
    "no options": (
        "naturalbench",
        "naturalbench/a.parquet",
        [releases.naturalbench(0, "multiple_choice", Question_0="Is it?")],
        "no options",
    ),
    "a path upwards": ("colorswap", "colorswap/test.json", [releases.colorswap(1, image_1="../1.png")], "image_1"),
    "three fields": (
        "cola",
        "cola/COLA_multiobjects_matching_benchmark.json",
        [["a", "b", "c"]],
        "expected a list of image 1",
    ),
    "three captions": (
        "whatsup",
        "whatsup/controlled_images_dataset.json",
        releases.whatsup(caption_options=["a", "b", "c"]),
        "a list of four strings",
    ),
    "no preposition": (
        "whatsup",
        "whatsup/controlled_images_dataset.json",
        releases.whatsup(image_path="data/cup_table.jpeg"),
        "image_path",
    ),
    "no area": ("aro", "aro/visual_genome_relation.json", [releases.aro(box=(1, 2, 0, 4))], "0 x 4 pixels"),
    "one attribute": (
        "aro",
        "aro/visual_genome_attribution.json",
        [releases.aro(attributes=["red"])],
        "a list of two strings",
    ),
    "a third label": ("pope", "pope/coco_pope_random.json", [releases.pope(1, "maybe")], "'yes' or 'no'"),
    "a repeated question": (
        "pope",
        "pope/coco_pope_random.json",
        [releases.pope(1), releases.pope(1)],
        "question_id 1 is repeated",
    ),
}


@pytest.mark.parametrize(("source", "name", "rows", "problem"), BAD.values(), ids=list(BAD))
def test_a_wrong_record_is_named_with_its_file(tmp_path, source, name, rows, problem):
    file = tmp_path / name
    (releases.write_table if file.suffix in {".parquet", ".arrow"} else releases.write_json)(file, rows)
    with pytest.raises(DataError) as caught:
        tasks(source, tmp_path)
    assert str(file) in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.parametrize("name", ["bivlc/a.parquet", "vismin/a.arrow"])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"ARROW1\0\0", bytes(64)])
def test_a_file_that_is_no_table_is_named(tmp_path, name, content):
    file = tmp_path / name
    file.parent.mkdir()
    file.write_bytes(content)
    with pytest.raises(DataError, match="is not a complete"):
        tasks(file.parent.name, tmp_path)


@pytest.mark.parametrize(
    "source",
    ["aro", "bivlc", "cola", "colorswap", "mmvp", "naturalbench", "pope", "sugarcrepe-pp", "vismin", "vsr", "whatsup"],
)
def test_without_its_files_a_benchmark_has_no_task(tmp_path, source):
    assert tasks(source, tmp_path) == {}
