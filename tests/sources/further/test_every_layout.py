"""Every layout and split of the releases of further benchmarks, with the counts of their full files."""

import json
import sys
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
import releases

from vlgate.errors import DataError
from vlgate.sources.benchmarks.questions import PATTERNS
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import read_source
from vlgate.types import Ask

HUBS = {
    "bivlc": ("bivlc", "imirandam/BiVLC"),
    "naturalbench": ("naturalbench", "BaiqiL/NaturalBench"),
    "vismin": ("vismin", "mair-lab/vismin-bench"),
    "colorswap": ("colorswap", "stanfordnlp/colorswap"),
}


def tasks(source, *folders, wanted=lambda _: True, **more):
    options = ReadOptions(folders=folders, seed=0, wanted=wanted, **more)
    return {task.id: task for task in read_source(source, options)}


def counts(found):
    return {name: len(task.cases) for name, task in found.items()}


def colour(image):
    return np.asarray(image.load())[0, 0].tolist()


def picture(file, name="red"):
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (4, 4), name).save(file)


RED, BLUE = [255, 0, 0], [0, 0, 255]


def parts(place, name, rows, pieces, suffix):
    """Write rows in so many files, named as datasets names them."""
    size = -(-len(rows) // pieces)
    for number in range(pieces):
        file = place / f"{name}-{number:05}-of-{pieces:05}.{suffix}"
        releases.write_table(file, rows[number * size : (number + 1) * size], parts=2)


@pytest.mark.parametrize("place", ["bivlc", "bivlc/data"])
def test_bivlc_has_2933_cases_in_two_shards(tmp_path, place):
    kinds = {
        "replace": {"obj": 1200, "rel": 462, "att": 437},
        "swap": {"att": 278, "obj": 81},
        "add": {"obj": 399, "att": 76},
    }
    rows = [
        releases.bivlc(kind, subtype=one)
        for kind, of in kinds.items()
        for one, number in of.items()
        for _ in range(number)
    ]
    parts(tmp_path / place, "test", rows, 2, "parquet")
    found = tasks("bivlc", tmp_path)
    assert counts(found) == {"bivlc/replace": 2099, "bivlc/swap": 359, "bivlc/add": 475}
    for kind, of in kinds.items():
        assert Counter(case.tags["subtype"] for case in found[f"bivlc/{kind}"].cases) == of
    assert len({case.id for task in found.values() for case in task.cases}) == 2933


@pytest.mark.parametrize("place", ["vismin", "vismin/data", "vismin/data/test", "vismin/test"])
def test_vismin_is_read_where_save_to_disk_puts_it(tmp_path, place):
    kinds = {"object": 579, "attribute": 294, "counting": 589, "relation": 622}
    rows = [releases.vismin(f"{kind}{n}", kind) for kind, number in kinds.items() for n in range(number)]
    rows = rows if place.endswith("data/test") else rows[::100]
    parts(tmp_path / place, "data", rows, 3, "arrow")
    write_state(tmp_path / place)
    found = counts(tasks("vismin", tmp_path))
    assert sum(found.values()) == len(rows)
    if len(rows) == 2084:
        assert found == {f"vismin/{kind}": number for kind, number in kinds.items()}


def write_state(place):
    """The files that save_to_disk writes beside the tables."""
    releases.write_json(place / "state.json", {"_data_files": []})
    releases.write_json(place / "dataset_info.json", {})
    releases.write_json(place.parent / "dataset_dict.json", {"splits": ["test"]})


def test_naturalbench_has_1450_and_450_groups_in_three_shards(tmp_path):
    rows = [releases.naturalbench(n, "yes_no" if n < 1450 else "multiple_choice") for n in range(1900)]
    parts(tmp_path / "naturalbench/data", "train", rows, 3, "parquet")
    found = tasks("naturalbench", tmp_path)
    assert counts(found) == {"naturalbench/yes-no": 1450, "naturalbench/multiple-choice": 450}
    assert sum(len(case.requests) for task in found.values() for case in task.cases) == 7600


def test_the_form_of_naturalbench_that_is_not_read_is_named(tmp_path):
    (tmp_path / "naturalbench").mkdir()
    (tmp_path / "naturalbench/NaturalBench.tsv").write_text("index\timage\n")
    with zipfile.ZipFile(tmp_path / "naturalbench/NaturalBench-Retrieval.zip", "w") as archive:
        archive.writestr("metadata.json", "[]")
    found = tasks("naturalbench", tmp_path)
    assert counts(found) == {"naturalbench/yes-no": 0, "naturalbench/multiple-choice": 0, "naturalbench/retrieval": 0}
    assert "NaturalBench.tsv is not read; take the release's Parquet files" in found["naturalbench/yes-no"].note
    assert "NaturalBench-Retrieval.zip is not unpacked" in found["naturalbench/retrieval"].note


def test_a_group_of_naturalbench_has_the_truths_of_its_row(tmp_path):
    turned = {
        "Image_0_Question_0": "No",
        "Image_1_Question_0": "Yes",
        "Image_0_Question_1": "Yes",
        "Image_1_Question_1": "No",
    }
    releases.write_table(tmp_path / "naturalbench/train.parquet", [releases.naturalbench(0, **turned)])
    [task] = tasks("naturalbench", tmp_path).values()
    assert task.cases[0].truths == ("no", "yes", "yes", "no")


def test_a_type_of_naturalbench_s_finetuning_split_is_an_error(tmp_path):
    releases.write_table(tmp_path / "naturalbench/train.parquet", [releases.naturalbench(0, Question_Type="mcq")])
    with pytest.raises(DataError, match=r"train\.parquet.*row 0.*Question_Type.*'yes_no' or 'multiple_choice'"):
        tasks("naturalbench", tmp_path)


@pytest.mark.parametrize("form", ["json", "data.json", "parquet", "data.parquet"])
def test_both_splits_of_colorswap_as_json_or_parquet(tmp_path, form):
    folder = tmp_path / ("colorswap/data" if form.startswith("data") else "colorswap")
    for split, number in (("train", 70), ("test", 30)):
        rows = [releases.colorswap(3 * n) for n in range(number)]
        if form.endswith("json"):
            releases.write_json(folder / f"{split}.json", rows)
        else:
            images = {"image_1": releases.picture("red"), "image_2": releases.picture("blue")}
            parts(folder, split, [row | images for row in rows], 1, "parquet")
    if form.endswith("json"):
        picture(folder / "images/img_3_1.png", "red")
        picture(folder / "images/img_3_2.png", "blue")
    found = tasks("colorswap", tmp_path)
    assert counts(found) == {"colorswap/test": 30, "colorswap/train": 70}
    case = found["colorswap/test"].cases[1]
    assert (case.id, case.tags) == ("3", {"image_source": "midjourney", "caption_source": "human"})
    assert [request.image.key for request in case.requests[::2]] == ["img_3_1.png", "img_3_2.png"]
    assert [colour(request.image) for request in case.requests[::2]] == [RED, BLUE]


def test_two_forms_of_a_split_are_an_error_that_names_both(tmp_path):
    releases.write_json(tmp_path / "colorswap/test.json", [releases.colorswap(1)])
    releases.write_table(tmp_path / "colorswap/data/test.parquet", [releases.bivlc()])
    with pytest.raises(DataError, match=r"test\.json.*test\.parquet"):
        tasks("colorswap", tmp_path)


def test_parquet_without_the_images_is_an_error(tmp_path):
    releases.write_table(tmp_path / "colorswap/test.parquet", [releases.colorswap(1)])
    with pytest.raises(DataError, match="no column 'image_1' of structs"):
        tasks("colorswap", tmp_path)


@pytest.mark.parametrize("name", HUBS)
def test_a_protocol_reads_what_the_hub_gives(tmp_path, monkeypatch, name):
    source, hub = HUBS[name]
    rows = {
        "bivlc": [releases.bivlc()],
        "naturalbench": [releases.naturalbench(0)],
        "vismin": [releases.vismin(0)],
        "colorswap": [releases.colorswap(0, image_1=releases.picture("red"), image_2=releases.picture("blue"))],
    }[name]
    releases.write_table(tmp_path / "data/test-00000-of-00001.parquet", rows)
    asked = []
    fetch = lambda hub, **how: asked.append((hub, how["repo_type"])) or str(tmp_path)  # noqa: E731
    monkeypatch.setattr("huggingface_hub.snapshot_download", fetch)
    assert tasks(source) == {}
    assert asked == []
    assert sum(counts(tasks(source, protocols=frozenset({f"{name}_hub"}))).values()) == 1
    assert set(asked) == {(hub, "dataset")}


SPLITS = {
    ("random", "train"): (7083, 7680),
    ("random", "dev"): (1012, 1097),
    ("random", "test"): (2024, 2195),
    ("zeroshot", "train"): (5440, 3489),
    ("zeroshot", "dev"): (259, 340),
    ("zeroshot", "test"): (731, 1222),
}


@pytest.mark.parametrize("place", ["vsr/data/splits", "vsr/splits", "vsr"])
@pytest.mark.parametrize("release", [0, 1])
def test_both_releases_of_vsr_in_all_splits(tmp_path, place, release):
    line = {
        "image": "000000017697.jpg",
        "image_link": "http://x",
        "caption": "The car is behind the suitcase.",
        "label": 1,
    }
    line |= {
        "relation": "behind",
        "annotator_id": 3,
        "vote_true_validator_id": "[2, 9]",
        "vote_false_validator_id": "[]",
    }
    for (split, part), sizes in SPLITS.items():
        more = {"subj": "car", "obj": "suitcase"} if split == "zeroshot" else {"reference_frame": None}
        file = tmp_path / place / split / f"{part}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{json.dumps(line | more)}\n" * (sizes[release] if place == "vsr" else 2))
    found = tasks("vsr", tmp_path)
    assert list(found) == [
        f"vsr/{split}-{part}" for split in ("random", "zeroshot") for part in ("test", "dev", "train")
    ]
    if place == "vsr":
        assert counts(found) == {f"vsr/{split}-{part}": sizes[release] for (split, part), sizes in SPLITS.items()}
        assert {task.note for task in found.values()} == {
            f"the file is that of the release {('until', 'since')[release]} 2023-03"
        }
    else:
        assert {task.note for task in found.values()} == {"no release has 2 statements that can be read"}


POPES = {
    "coco": ("pope/output/coco/coco_pope_{}.json", "COCO_val2014_000000310196.jpg", False),
    "gqa": ("pope/output/seem/gqa/gqa_pope_seem_{}.json", "2405722", True),
    "aokvqa": ("pope/output/seem/aokvqa/aokvqa_pope_seem_{}.json", "COCO_val2014_000000310196.jpg", True),
    "repope": ("repope/annotations/coco_repope_{}.json", "COCO_val2014_000000310196.jpg", False),
}
SIZES = {"random": 2774, "popular": 2727, "adversarial": 2684}


@pytest.mark.parametrize("name", POPES)
def test_the_lines_and_lists_of_pope(tmp_path, name):
    place, image, listed = POPES[name]
    for kind, size in SIZES.items():
        number = size if name == "repope" else 3000
        rows = [releases.pope(n + 1, ("yes", "no")[n % 2], image=image) for n in range(number)]
        (releases.write_json if listed else releases.write_lines)(tmp_path / place.format(kind), rows)
    expected = {f"pope/{name}-{kind}": size if name == "repope" else 3000 for kind, size in SIZES.items()}
    assert counts(tasks("pope", tmp_path)) == expected


def test_popev2_has_two_images_of_one_name(tmp_path):
    """The edited image and the photograph: one question, two answers."""
    rows = [releases.pope_v2(46207 + n // 2, edited=n % 2 == 0) for n in range(1000)]
    releases.write_json(tmp_path / "pope/POPEv2/dataset/annotations.json", rows)
    picture(tmp_path / "pope/POPEv2/dataset/images/000000046207.jpg", "blue")
    picture(tmp_path / "images/coco/000000046207.jpg", "red")
    [task] = tasks("pope", tmp_path).values()
    assert (task.id, len(task.cases)) == ("pope/v2", 1000)
    edited, original = task.cases[:2]
    assert (edited.truths, original.truths) == (("no",), ("yes",))
    assert len({case.requests for case in task.cases}) == 1000
    blue, red = (colour(case.requests[0].image) for case in (edited, original))
    assert blue[2] > 200 > red[2]
    assert {type(case.requests[0]) for case in task.cases} == {Ask}


@pytest.mark.parametrize("name", ["/etc/passwd/../x.jpg", "images/../../x.jpg", "//"])
def test_a_name_of_popev2_that_leads_out_is_an_error(tmp_path, name):
    releases.write_json(tmp_path / "pope/annotations.json", [releases.pope_v2(1, edited=True) | {"image_name": name}])
    with pytest.raises(DataError, match=r"annotations\.json"):
        tasks("pope", tmp_path)


@pytest.mark.parametrize("folder", ["MLLM_VLM Images", "MMVP_VLM_Images"])
def test_mmvp_vlm_has_nine_patterns_of_fifteen_pairs_by_position(tmp_path, folder):
    rows = [f'{n},Type {n % 4},"statement {n}, with a comma\u2028and a line"' for n in range(1, 271)]
    (tmp_path / "mmvp-vlm").mkdir()
    (tmp_path / "mmvp-vlm/Questions.csv").write_text(
        "\n".join(["\ufeffQuestion ID,Type,Statement", *rows]), encoding="utf-8"
    )
    picture(tmp_path / f"mmvp-vlm/{folder}/Type 1/149.jpg", "blue")
    [task] = tasks("mmvp", tmp_path).values()
    assert (len(task.cases), task.note) == (135, "")
    assert Counter(case.tags["macro"] for case in task.cases) == dict.fromkeys(PATTERNS, 15)
    assert task.cases[0].requests[1].text == "a photo of statement 2, with a comma\u2028and a line"
    assert task.cases[74].requests[0].image.where.endswith("149.jpg")


@pytest.mark.parametrize("ids", [(1, 3, 4, 5), (2, 3, 4, 5), (3, 4, 2, 1)])
def test_rows_of_mmvp_vlm_that_are_no_pairs_are_an_error(tmp_path, ids):
    rows = [f"{n},Type,statement" for n in ids]
    (tmp_path / "mmvp-vlm").mkdir()
    (tmp_path / "mmvp-vlm/Questions.csv").write_text("\n".join(["Question ID,Type,Statement", *rows]))
    with pytest.raises(DataError, match=r"Questions\.csv.*in row \d.*expected an odd one and the next"):
        tasks("mmvp", tmp_path)


def test_a_part_of_mmvp_vlm_says_so(tmp_path):
    rows = [f"{n},Type,statement" for n in range(1, 5)]
    (tmp_path / "mmvp-vlm").mkdir()
    (tmp_path / "mmvp-vlm/Questions.csv").write_text("\n".join(["Question ID,Type,Statement", *rows]))
    [task] = tasks("mmvp", tmp_path).values()
    assert task.note == "the release has 135 pairs, 15 a pattern, and this file 2"


@pytest.mark.parametrize("number", ["Index,", "lineId,", ""])
def test_mmvp_s_image_is_the_number_of_its_row(tmp_path, number):
    rows = [f"{f'{n},' if number else ''}Open?,(a) Open (b) Closed,({'ba'[n % 2]})" for n in range(1, 301)]
    (tmp_path / "MMVP").mkdir()
    (tmp_path / "MMVP/Questions.csv").write_text("\n".join([f"{number}Question,Options,Correct Answer", *rows]))
    picture(tmp_path / "MMVP/MMVP Images/4.jpg")
    [task] = tasks("mmvp", tmp_path).values()
    assert (len(task.cases), task.cases[1].id) == (150, "3-4")
    assert [request.image.key for request in task.cases[1].requests] == ["3.jpg", "4.jpg"]
    assert task.cases[1].requests[1].image.where.endswith("MMVP Images/4.jpg")


@pytest.mark.parametrize("place", ["aro", "aro/data"])
def test_aro_lies_as_its_code_downloads_it(tmp_path, place):
    releases.write_json(tmp_path / place / "visual_genome_relation.json", [releases.aro()])
    releases.write_json(tmp_path / place / "visual_genome_attribution.json", [releases.aro()])
    Image.new("RGB", (90, 90), "red").save(
        (tmp_path / place / "images").mkdir() or tmp_path / place / "images/2343.png"
    )
    found = tasks("aro", tmp_path)
    assert counts(found) == {"aro/relation": 1, "aro/attribution": 1}
    assert colour(found["aro/relation"].cases[0].requests[0].image) == RED


def test_a_copy_of_aro_without_regions_is_named(tmp_path):
    (tmp_path / "aro").mkdir()
    (tmp_path / "aro/test-00000-of-00001.parquet").write_bytes(b"")
    found = tasks("aro", tmp_path)
    assert counts(found) == {"aro/relation": 0, "aro/attribution": 0}
    assert "a copy without regions and classes; take visual_genome_relation.json" in found["aro/relation"].note


COUNTS = {"coco_qa_one_obj": 2247, "coco_qa_two_obj": 440, "vg_qa_one_obj": 1160, "vg_qa_two_obj": 291}


@pytest.mark.parametrize("place", ["whatsup", "whatsup/data"])
def test_whatsup_lies_as_its_code_downloads_it(tmp_path, place):
    for name, number, places in (("images", 103, releases.PREPOSITIONS), ("clevr", 102, releases.BEHIND)):
        rows = [
            one for n in range(number) for one in releases.whatsup((f"cup{n}", "table"), places, f"controlled_{name}")
        ]
        releases.write_json(tmp_path / place / f"controlled_{name}_dataset.json", rows)
        picture(tmp_path / place / f"controlled_{name}/cup7_left_of_table.jpeg")
    for name, number in COUNTS.items():
        rows = [[139 + n, "a dog on the left", "a dog on the right"] for n in range(number)]
        releases.write_json(tmp_path / place / f"{name}.json", rows)
    picture(tmp_path / place / "val2017/000000000139.jpg")
    picture(tmp_path / place / "vg_images/139.jpg", "blue")
    found = tasks("whatsup", tmp_path)
    assert counts(found) == {
        "whatsup/a": 412,
        "whatsup/b": 408,
        **dict(
            zip(
                ("whatsup/coco-one", "whatsup/coco-two", "whatsup/gqa-one", "whatsup/gqa-two"),
                COUNTS.values(),
                strict=True,
            )
        ),
    }
    for task, groups in (("whatsup/a", 103), ("whatsup/b", 102)):
        tags = [case.tags for case in found[task].cases]
        assert Counter(Counter(tag["set_all"] for tag in tags).values()) == {4: groups}
        assert Counter(Counter(tag["pair_all"] for tag in tags).values()) == {2: 2 * groups}
    red, blue = (colour(found[f"whatsup/{name}"].cases[0].requests[0].image) for name in ("coco-one", "gqa-one"))
    assert red[0] > 200 > blue[0]
    assert found["whatsup/b"].cases[30].requests[0].image.key == "cup7_in-front_of_table.jpeg"


@pytest.mark.parametrize("place", ["cola", "cola/data"])
def test_cola_has_210_records(tmp_path, place):
    rows = [
        [f"https://x/vg_gqa_images/{n}.jpg", "red", f"https://x/vg_gqa_images/{n + 1}.jpg", "blue"] for n in range(210)
    ]
    releases.write_json(tmp_path / place / "COLA_multiobjects_matching_benchmark.json", rows)
    assert counts(tasks("cola", tmp_path)) == {"cola/multi-object": 210}


@pytest.mark.parametrize("place", ["sugarcrepe-pp", "sugarcrepe-pp/data", "scpp/data"])
def test_sugarcrepe_pp_has_4757_records_in_five_files(tmp_path, place):
    sizes = {"replace_att": 788, "replace_obj": 1652, "replace_rel": 1406, "swap_att": 666, "swap_obj": 245}
    record = {"id": 0, "filename": "000000222235.jpg", "caption": "a", "caption2": "b", "negative_caption": "c"}
    for name, size in sizes.items():
        releases.write_json(tmp_path / place / f"{name}.json", [record | {"id": n} for n in range(size)])
    assert counts(tasks("sugarcrepe-pp", tmp_path)) == {f"sugarcrepe-pp/{name}": size for name, size in sizes.items()}
