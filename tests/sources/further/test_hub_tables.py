"""Benchmarks in the form in which others publish them on the Hugging Face hub: Parquet files with the images inside."""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
import releases

from vlgate.audit.label_fixes import KNOWN, applied, read_disputes
from vlgate.errors import DataError, ImageError
from vlgate.sources.benchmarks.captions import FIRST
from vlgate.sources.benchmarks.quads import NO_IDS
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import read_source, read_tasks, shapes

RED, BLUE = [255, 0, 0], [0, 0, 255]


def tasks(source, folder, wanted=lambda _: True):
    return {task.id: task for task in read_source(source, ReadOptions(folders=(folder,), seed=0, wanted=wanted))}


def colour(image):
    return np.asarray(image.load())[0, 0].tolist()


def asked(case):
    return [(request.image.key, request.question, request.choices) for request in case.requests]


# --- POPE ---------------------------------------------------------------------------------------------------------

KINDS = ("adversarial", "popular", "random")


@pytest.mark.parametrize("place", ["pope", "pope/data", "pope/POPE/data"])
def test_pope_of_lmms_lab_has_a_task_for_each_category(tmp_path, place):
    rows = [releases.hub_pope(n, kind, ("yes", "no")[n % 2]) for kind in KINDS for n in range(1, 4)]
    releases.write_table(tmp_path / place / "test-00000-of-00001.parquet", rows, parts=4)
    found = tasks("pope", tmp_path)
    assert {name: [case.id for case in task.cases] for name, task in found.items()} == {
        f"pope/coco-{kind}": ["1", "2", "3"] for kind in KINDS
    }
    first = found["pope/coco-popular"].cases[0]
    assert asked(first) == [("COCO_val2014_000000310196.jpg", "Is there a snowboard in the image?", ("yes", "no"))]
    assert (first.truths, colour(first.requests[0].image)) == (("no",), RED)


def test_pope_of_lmms_lab_asks_what_the_release_asks(tmp_path):
    (tmp_path / "a").mkdir()
    releases.write_lines(tmp_path / "a/pope/coco_pope_random.json", [releases.pope(7, "no")])
    releases.write_table(tmp_path / "b/pope/Full/random-0.parquet", [releases.hub_pope(7, answer="no")])
    [one], [other] = ([task] for folder in "ab" for task in tasks("pope", tmp_path / folder).values())
    assert (one.id, one.shape, one.capability) == (other.id, other.shape, other.capability)
    assert [asked(case) for case in one.cases] == [asked(case) for case in other.cases]
    assert [(case.id, case.truths) for case in one.cases] == [(case.id, case.truths) for case in other.cases]


def test_a_whole_copy_of_lmms_lab_s_pope_is_read_once(tmp_path):
    rows = [releases.hub_pope(1, kind) for kind in KINDS]
    releases.write_table(tmp_path / "pope/data/test-00000-of-00001.parquet", rows)
    for kind in KINDS:
        releases.write_table(tmp_path / f"pope/Full/{kind}-00000-of-00001.parquet", [releases.hub_pope(1, kind)])
    assert {name: len(task.cases) for name, task in tasks("pope", tmp_path).items()} == {
        f"pope/coco-{kind}": 1 for kind in KINDS
    }


@pytest.mark.parametrize("source", ["COCO_val2014_000000000042", "COCO_val2014_000000000042.jpg"])
def test_an_image_of_pope_has_the_name_of_coco_s_file(tmp_path, source):
    row = releases.hub_pope(1, image_source=source, question_id=1)
    releases.write_table(tmp_path / "pope/test.parquet", [row])
    [task] = tasks("pope", tmp_path).values()
    assert task.cases[0].requests[0].image.key == "COCO_val2014_000000000042.jpg"


def test_pope_in_both_forms_is_an_error_that_names_both(tmp_path):
    releases.write_lines(tmp_path / "pope/coco_pope_random.json", [releases.pope(1)])
    releases.write_table(tmp_path / "pope/data/test.parquet", [releases.hub_pope(1)])
    with pytest.raises(DataError, match=r"coco_pope_random\.json.*test\.parquet; keep one"):
        tasks("pope", tmp_path)


def test_a_table_of_other_columns_says_which_it_has_and_what_to_take(tmp_path):
    releases.write_table(tmp_path / "pope/test.parquet", [{"img": releases.picture("red"), "q": "Is it?"}])
    with pytest.raises(DataError, match=r"no column 'image'.*columns are 'img', 'q'; take .*lmms-lab/POPE"):
        tasks("pope", tmp_path)


# --- SugarCrepe ---------------------------------------------------------------------------------------------------

ROWS = [("a red cup", "a blue cup", "000000331352.jpg"), ("a dog", "a cat", "x.jpg"), ("a hat", "a bat", None)]
PLACES = [
    "sugarcrepe/SugarCrepe_swap_obj/data/test-00000-of-00001-0ae32.parquet",
    "sugarcrepe/swap_obj/test.parquet",
    "sugarcrepe/HuggingFaceM4__SugarCrepe_swap_obj/data/test-0.parquet",
    "SugarCrepe_swap_obj/data/test-00000-of-00001.parquet",
    "sugarcrepe/swap_obj.parquet",
    "sugarcrepe/data/SugarCrepe_swap_obj.parquet",
]


@pytest.mark.parametrize("place", PLACES)
def test_sugarcrepe_of_the_hub(tmp_path, place):
    releases.write(tmp_path / place, releases.sugarcrepe_table(ROWS), row_group_size=2)
    [task] = tasks("sugarcrepe", tmp_path).values()
    assert (task.id, task.shape, task.note) == ("sugarcrepe/swap_obj", "pair", "")
    assert [[request.text for request in case.requests] for case in task.cases] == [[a, b] for a, b, _ in ROWS]
    assert {case.truths for case in task.cases} == {(True, False)}
    assert [case.requests[0].image.key for case in task.cases] == [
        "000000331352.jpg",
        "sugarcrepe_swap_obj_1",
        "sugarcrepe_swap_obj_2",
    ]
    assert colour(task.cases[2].requests[1].image) == RED


def test_the_class_of_sugarcrepe_decides_which_text_is_the_caption(tmp_path):
    table = releases.sugarcrepe_table(ROWS)
    turned = table.set_column(1, "tested_labels", [[[foil, caption] for caption, foil, _ in ROWS]])
    releases.write(tmp_path / PLACES[0], turned)
    [task] = tasks("sugarcrepe", tmp_path).values()
    assert [case.requests[0].text for case in task.cases] == ["a red cup", "a dog", "a hat"]


@pytest.mark.parametrize(
    ("labels", "captions", "note"),
    [
        ([0, 1, 0], ["a red cup", "a cat", "a hat"], ""),  # positions
        (["a blue cup", "a dog", "a hat"], ["a blue cup", "a dog", "a hat"], ""),  # texts
        ([5120, 3, 77], ["a red cup", "a dog", "a hat"], FIRST),  # classes without their names
    ],
)
def test_a_true_label_without_the_names_of_the_classes(tmp_path, labels, captions, note):
    table = releases.sugarcrepe_table(ROWS, names=False)
    releases.write(tmp_path / PLACES[0], table.set_column(2, "true_label", [labels]))
    [task] = tasks("sugarcrepe", tmp_path).values()
    assert ([case.requests[0].text for case in task.cases], task.note) == (captions, note)


def test_a_class_that_is_no_text_of_its_row_is_an_error(tmp_path):
    table = releases.sugarcrepe_table(ROWS)
    releases.write(tmp_path / PLACES[0], table.set_column(2, "true_label", [[0, 99, 0]]))
    with pytest.raises(DataError, match=r"row \d: field 'true_label' is .*expected one of tested_labels"):
        tasks("sugarcrepe", tmp_path)


# --- NaturalBench -------------------------------------------------------------------------------------------------


def test_naturalbench_of_lmms_eval_asks_what_the_release_asks(tmp_path):
    kinds = ["yes_no", "multiple_choice", "yes_no"]
    rows = [row for n, kind in enumerate(kinds) for row in releases.naturalbench_rows(n, kind)]
    releases.write_table(tmp_path / "a/naturalbench/data/test-00000-of-00001.parquet", rows, parts=3)
    whole = [releases.naturalbench(n, kind) for n, kind in enumerate(kinds)]
    releases.write_table(tmp_path / "b/naturalbench/data/train-00000-of-00001.parquet", whole)
    one, other = (tasks("naturalbench", tmp_path / folder) for folder in "ab")
    assert list(one) == list(other) == ["naturalbench/yes-no", "naturalbench/multiple-choice"]
    for task in one:
        assert [asked(case) for case in one[task].cases] == [asked(case) for case in other[task].cases]
        assert [(case.id, case.truths, case.tags) for case in one[task].cases] == [
            (case.id, case.truths, case.tags) for case in other[task].cases
        ]
    case = one["naturalbench/yes-no"].cases[1]
    assert [colour(request.image) for request in case.requests] == [RED, RED, BLUE, BLUE]


def test_the_rows_of_lmms_eval_may_be_in_any_order_and_their_index_a_string(tmp_path):
    rows = [row | {"Index": str(row["Index"])} for n in range(3) for row in releases.naturalbench_rows(n)]
    releases.write_table(tmp_path / "naturalbench/test.parquet", rows[::-1])
    [task] = tasks("naturalbench", tmp_path).values()
    assert sorted(case.id for case in task.cases) == ["0", "1", "2"]
    assert {case.truths for case in task.cases} == {("yes", "no", "no", "yes")}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda rows: rows[:2] + rows[3:], "group 0 lacks the rows with Index 2"),
        (lambda rows: [*rows, rows[0]], "Index 0 is repeated"),
        (lambda rows: [rows[0] | {"Question": "Is it?"}, *rows[1:]], "group 0 does not ask two questions"),
        (lambda rows: [rows[0] | {"Answer": "Maybe"}, *rows[1:]], "Image_0_Question_0"),
        (lambda rows: [rows[0] | {"Question_Type": "mcq"}, *rows[1:]], "'yes_no' or 'multiple_choice'"),
    ],
)
def test_a_group_of_lmms_eval_that_is_not_whole_is_named(tmp_path, change, problem):
    releases.write_table(tmp_path / "naturalbench/test.parquet", change(releases.naturalbench_rows(0)))
    with pytest.raises(DataError, match=rf"test\.parquet, record in row.*{problem}"):
        tasks("naturalbench", tmp_path)


ODD = [
    "What is it?\nOption: A: Noticeably curved, in a way. B: Slightly curved;",
    "What is it? A:sleeping; B:playing;",
    "What is it? Option: A:The wall by the road is grey; Bhe wall by the roadside is red;",
    "What is it? Option: A. sleeping B. playing",
    "What is it? (A) sleeping (B) playing",
    "What is it? Option: A:sleeping, B:playing",
    "What is it?\nA) sleeping\nB) playing",
    "What is it? Option: A: sleeping / B: playing",
    "What is it? Option: A - sleeping; B - playing",
    "What is it? Option: A:sleeping B playing",
]


@pytest.mark.parametrize("question", ODD)
def test_the_options_of_naturalbench_are_a_and_b_whatever_the_punctuation(tmp_path, question):
    group = releases.naturalbench(0, "multiple_choice", Question_0=question)
    releases.write_table(tmp_path / "naturalbench/train.parquet", [group])
    [task] = tasks("naturalbench", tmp_path).values()
    [case] = task.cases
    assert [(request.question, request.choices) for request in case.requests[::2]] == [(question, ("a", "b"))] * 2
    assert case.truths == ("a", "b", "b", "a")


# --- Winoground ---------------------------------------------------------------------------------------------------


def winoground_row(number, **changed):
    record = {
        "id": number,
        "image_0": releases.picture("red") | {"path": f"ex_{number}_img_0.png"},
        "image_1": releases.picture("blue") | {"path": f"ex_{number}_img_1.png"},
        "caption_0": "a dog on a man",
        "caption_1": "a man on a dog",
        "tag": "Object",
        "secondary_tag": None,
        "num_main_preds": 1,
        "collapsed_tag": "Object",
    }
    return record | changed


def winoground_cases(folder):
    [task] = tasks("winoground", folder).values()
    return task


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_winoground_s_images_may_be_plain_bytes(tmp_path, kind):
    rows = [winoground_row(n) for n in range(3)]
    table = pa.Table.from_pylist(rows)
    for index, column in enumerate(("image_0", "image_1"), 1):
        table = table.set_column(index, column, pa.array([row[column]["bytes"] for row in rows], kind))
    releases.write(tmp_path / "winoground/data/test.parquet", table, row_group_size=2)
    task = winoground_cases(tmp_path)
    assert [[colour(case.requests[place].image) for place in (0, 2)] for case in task.cases] == [[RED, BLUE]] * 3
    assert [case.requests[2].image.key for case in task.cases] == [f"ex_{n}_img_1" for n in range(3)]


def test_winoground_without_ids_counts_its_rows_over_all_files(tmp_path):
    rows = [{name: value for name, value in winoground_row(n).items() if name != "id"} for n in range(4)]
    for part in (0, 1):
        releases.write_table(tmp_path / f"winoground/data/test-{part}.parquet", rows[2 * part : 2 * part + 2])
    task = winoground_cases(tmp_path)
    assert ([case.id for case in task.cases], task.note) == (["0", "1", "2", "3"], NO_IDS)


@pytest.mark.parametrize("place", ["images", ".", "../images"])
@pytest.mark.parametrize("path", ["{}", "images/{}", "/home/somebody/winoground/images/{}", "C:\\data\\{}"])
@pytest.mark.parametrize("statistics", [True, False])
def test_images_without_bytes_are_the_files_that_the_table_names(tmp_path, place, path, statistics):
    rows = [winoground_row(n) for n in range(3)]
    for number in (0, 2):
        rows[number]["image_1"] = {"bytes": None, "path": path.format(f"ex_{number}_img_1.png")}
        file = tmp_path / "winoground/data" / place / f"ex_{number}_img_1.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (4, 4), (0, number, 9)).save(file)
    releases.write(
        tmp_path / "winoground/data/test.parquet",
        pa.Table.from_pylist(rows),
        row_group_size=2,
        write_statistics=statistics,
    )
    task = winoground_cases(tmp_path)
    assert [colour(case.requests[2].image) for case in task.cases] == [[0, 0, 9], BLUE, [0, 2, 9]]
    assert [colour(case.requests[0].image) for case in task.cases] == [RED] * 3


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_images_of_vismin_may_lie_beside_its_table(tmp_path, suffix):
    rows = [releases.vismin(n) for n in range(3)]
    rows[1]["image_1"] = {"bytes": None, "path": "/tmp/vismin/1.png"}
    releases.write_table(tmp_path / f"vismin/data.{suffix}", rows, parts=2)
    Image.new("RGB", (4, 4), (7, 7, 7)).save(tmp_path / "vismin/1.png")
    [task] = tasks("vismin", tmp_path).values()
    assert [colour(case.requests[2].image) for case in task.cases] == [BLUE, [7, 7, 7], BLUE]


def test_an_image_that_is_neither_in_the_table_nor_beside_it_is_missing_before_a_run(tmp_path):
    rows = [winoground_row(0, image_0={"bytes": None, "path": "../../secret/ex_0_img_0.png"})]
    releases.write_table(tmp_path / "winoground/data/test.parquet", rows)
    image = winoground_cases(tmp_path).cases[0].requests[0].image
    assert image.where == ""
    with pytest.raises(ImageError, match=r"test\.parquet \(column 'image_0' has no bytes\), .*ex_0_img_0\.png"):
        image.load()


def test_an_image_without_bytes_and_path_says_so(tmp_path):
    rows = [winoground_row(0), winoground_row(1, image_0=None)]
    releases.write_table(tmp_path / "winoground/data/test.parquet", rows)
    with pytest.raises(ImageError, match=r"column image_0, row 1 of row group 0 holds no bytes"):
        winoground_cases(tmp_path).cases[1].requests[0].image.load()


# --- MMVP and VSR -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["mmvp", "mmvp/data", "MMVP/data"])
def test_mmvp_of_lmms_lab_asks_what_the_release_asks(tmp_path, place):
    rows = [releases.hub_mmvp(n) for n in range(1, 7)]
    releases.write_table(tmp_path / "a" / place / "train-00000-of-00001.parquet", rows, parts=2)
    lines = [f"{row['Index']},{row['Question']},{row['Options']},{row['Correct Answer']}" for row in rows]
    (tmp_path / "b/mmvp").mkdir(parents=True)
    (tmp_path / "b/mmvp/Questions.csv").write_text("\n".join(["Index,Question,Options,Correct Answer", *lines]))
    [one], [other] = (tasks("mmvp", tmp_path / folder).values() for folder in "ab")
    assert [(case.id, asked(case), case.truths) for case in one.cases] == [
        (case.id, asked(case), case.truths) for case in other.cases
    ]
    assert [colour(request.image) for request in one.cases[1].requests] == [RED, BLUE]


@pytest.mark.parametrize("corrected", [False, True])
def test_the_known_corrections_of_mmvp_leave_a_corrected_copy_as_it_is(tmp_path, corrected):
    pairs = {99: "(a) Long (b) Short", 279: "(a) Standing (b) Sitting"}
    letters = ("(b)", "(a)") if corrected else ("(a)", "(b)")
    rows = [
        releases.hub_mmvp(first + place, Options=options, **{"Correct Answer": letters[place]})
        for first, options in pairs.items()
        for place in (0, 1)
    ]
    releases.write_table(tmp_path / "mmvp/train.parquet", rows)
    [task], _ = applied([*tasks("mmvp", tmp_path).values()], read_disputes([KNOWN]), shapes())
    assert [case.truths for case in task.cases] == [("Short", "Long"), ("Sitting", "Standing")]


@pytest.mark.parametrize("place", ["vsr/vsr_{}", "vsr_{}"])
def test_vsr_of_the_hub(tmp_path, place):
    line = {"image": "000000017697.jpg", "caption": "The car is behind.", "label": 1, "relation": "behind"}
    for split in ("random", "zeroshot"):
        releases.write_lines(tmp_path / place.format(split) / "test.jsonl", [line])
    assert list(tasks("vsr", tmp_path)) == ["vsr/random-test", "vsr/zeroshot-test"]


# --- forms that are not read --------------------------------------------------------------------------------------

OTHERS = {
    "pope/answers.csv": "take output/coco/coco_pope_*.json of https://github.com/AoiDragon/POPE, or",
    "sugarcrepe/test-00000-of-00001.parquet": "HuggingFaceM4/SugarCrepe_<kind> in a folder with the kind in its name",
    "cola/data/multiobjects.parquet": "take data/COLA_multiobjects_matching_benchmark.json",
    "vsr/test.parquet": "take data/splits/<split>/<part>.jsonl",
    "whatsup/train.parquet": "take controlled_images_dataset.json",
    "bla/train.parquet": "take annotations/*_captions.json",
    "mmvp/test.json": "take Questions.csv",
    "valse/test.tsv": "take data/*.json",
    "vismin/data.csv": "mair-lab/vismin-bench",
    "winoground/data.zip": "take data/examples.jsonl",
}


@pytest.mark.parametrize(("name", "says"), OTHERS.items())
def test_a_file_of_an_unknown_form_is_named_with_what_to_take(tmp_path, name, says):
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_bytes(b"1")
    options = ReadOptions(
        folders=(tmp_path,), seed=0, wanted=lambda task: task.partition("/")[0] == name.partition("/")[0]
    )
    [task] = read_tasks(options)
    assert task.cases == ()
    assert task.note.startswith(f"{tmp_path / name} has another name, place or form")
    assert says in task.note


def test_the_file_of_another_task_is_no_unknown_form(tmp_path):
    releases.write_lines(tmp_path / "pope/coco_pope_random.json", [releases.pope(1)])
    options = ReadOptions(folders=(tmp_path,), seed=0, wanted={"pope/coco-popular"}.__contains__)
    assert read_tasks(options) == []
