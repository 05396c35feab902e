"""Benchmarks in the form in which others publish them on the Hugging Face hub: Parquet files with the images inside."""

import pyarrow as pa
import pytest
import releases
from releases import BLUE, RED, asked, colour, counts, only, tasks, write

from vlgate.audit.label_fixes import KNOWN, applied, read_disputes
from vlgate.errors import DataError, ImageError
from vlgate.sources.benchmarks.captions import FIRST
from vlgate.sources.benchmarks.quads import NO_IDS
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.reading.tables import dataset_folder
from vlgate.sources.registry import read_tasks, shapes

HUBS = {
    "bivlc": ("imirandam/BiVLC", releases.bivlc()),
    "naturalbench": ("BaiqiL/NaturalBench", releases.naturalbench(0)),
    "vismin": ("mair-lab/vismin-bench", releases.vismin(0)),
    "colorswap": (
        "stanfordnlp/colorswap",
        releases.colorswap(0, image_1=releases.picture("red"), image_2=releases.picture("blue")),
    ),
    "winoground": ("facebook/winoground", releases.winoground(0)),
}


@pytest.mark.parametrize("name", HUBS)
def test_a_protocol_reads_what_the_hub_gives_and_without_it_nothing_is_asked(tmp_path, monkeypatch, name):
    hub, row = HUBS[name]
    write(tmp_path / "data/test-00000-of-00001.parquet", [row])
    fetched = []
    fetch = lambda hub, **how: fetched.append((hub, how["repo_type"])) or str(tmp_path)  # noqa: E731
    monkeypatch.setattr("huggingface_hub.snapshot_download", fetch)
    assert tasks(name) == {}
    assert fetched == []
    assert sum(counts(tasks(name, protocols=frozenset({f"{name}_hub"}))).values()) == 1
    assert set(fetched) == {(hub, "dataset")}


def test_offline_without_a_copy_the_error_names_the_data_set_and_the_remedy(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(DataError, match=r"facebook/winoground: .*hf auth login"):
        dataset_folder("facebook/winoground", ["data/*.parquet"])


KINDS = ("adversarial", "popular", "random")


@pytest.mark.parametrize("place", ["pope", "pope/data", "pope/POPE/data"])
def test_pope_of_lmms_lab_has_a_task_for_each_category(tmp_path, place):
    rows = [releases.hub_pope(n, kind, ("yes", "no")[n % 2]) for kind in KINDS for n in range(1, 4)]
    rows[1] |= {"image_source": "COCO_val2014_000000000042.jpg"}
    if place == "pope":
        rows = [row | {"question_id": int(row["question_id"])} for row in rows]
    write(tmp_path / place / "test-00000-of-00001.parquet", rows, parts=4)
    for kind in KINDS if place == "pope/data" else ():  # of a whole copy, which is read once
        write(tmp_path / f"pope/Full/{kind}-00000-of-00001.parquet", [releases.hub_pope(1, kind)])
    found = tasks("pope", tmp_path)
    ids = {name: [case.id for case in task.cases] for name, task in found.items()}
    assert ids == {f"pope/coco-{kind}": ["1", "2", "3"] for kind in KINDS}
    assert found["pope/coco-adversarial"].cases[1].requests[0].image.key == "COCO_val2014_000000000042.jpg"
    first = found["pope/coco-popular"].cases[0]
    assert asked(first) == [("COCO_val2014_000000310196.jpg", "Is there a snowboard in the image?", ("yes", "no"))]
    assert (first.truths, colour(first.requests[0].image)) == (("no",), RED)


KINDS_OF_QUESTION = ["yes_no", "multiple_choice", "yes_no"]
MMVP = [releases.hub_mmvp(n) for n in range(1, 7)]
SAME = {
    "pope": (
        "pope/coco_pope_random.json", [releases.pope(7, "no")], "Full/random-0", [releases.hub_pope(7, answer="no")],
    ),
    "naturalbench": (
        "naturalbench/data/train-00000-of-00001.parquet",
        [releases.naturalbench(n, kind) for n, kind in enumerate(KINDS_OF_QUESTION)],
        "data/test-00000-of-00001",
        [row for n, kind in enumerate(KINDS_OF_QUESTION) for row in releases.naturalbench_rows(n, kind)],
    ),
    "mmvp": (
        "mmvp/Questions.csv",
        releases.csv(
            "Index,Question,Options,Correct Answer",
            [f"{row['Index']},{row['Question']},{row['Options']},{row['Correct Answer']}" for row in MMVP],
        ), "data/train-00000-of-00001", MMVP,
    ),
}  # fmt: skip


@pytest.mark.parametrize("source", SAME)
def test_the_tables_of_lmms_lab_ask_what_the_release_asks(tmp_path, source):
    released, content, table, rows = SAME[source]
    write(tmp_path / "a" / released, content)
    write(tmp_path / f"b/{source}/{table}.parquet", rows, parts=-(-len(rows) // 4))
    whole, other = (
        {
            name: (task.shape, task.capability, [(case.id, asked(case), case.truths, case.tags) for case in task.cases])
            for name, task in tasks(source, tmp_path / folder).items()
        }
        for folder in "ab"
    )
    assert whole == other
    case = next(iter(tasks(source, tmp_path / "b").values())).cases[-1]
    shown = {"pope": [RED], "naturalbench": [RED, RED, BLUE, BLUE], "mmvp": [RED, BLUE]}[source]
    assert [colour(request.image) for request in case.requests] == shown


def test_pope_in_both_forms_or_of_other_columns_is_an_error(tmp_path):
    write(tmp_path / "pope/coco_pope_random.json", [releases.pope(1)])
    write(tmp_path / "pope/data/test.parquet", [releases.hub_pope(1)])
    with pytest.raises(DataError, match=r"coco_pope_random\.json.*test\.parquet; keep one"):
        tasks("pope", tmp_path)
    (tmp_path / "pope/coco_pope_random.json").unlink()
    (tmp_path / "pope/data/test.parquet").unlink()
    write(tmp_path / "pope/test.parquet", [{"img": releases.picture("red"), "q": "Is it?"}])
    with pytest.raises(DataError, match=r"no column 'image'.*columns are 'img', 'q'; take .*lmms-lab/POPE"):
        tasks("pope", tmp_path)


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
    write(tmp_path / place, releases.sugarcrepe_table(ROWS), row_group_size=2)
    task = only("sugarcrepe", tmp_path)
    assert (task.id, task.shape, task.note) == ("sugarcrepe/swap_obj", "pair", "")
    assert [[request.text for request in case.requests] for case in task.cases] == [[a, b] for a, b, _ in ROWS]
    assert {case.truths for case in task.cases} == {(True, False)}
    assert [case.requests[0].image.key for case in task.cases] == [
        "000000331352.jpg",
        "sugarcrepe_swap_obj_1",
        "sugarcrepe_swap_obj_2",
    ]
    assert colour(task.cases[2].requests[1].image) == RED


@pytest.mark.parametrize(
    ("names", "change", "captions", "note"),
    [
        # the class decides, and without its name: positions, texts, or else the first text
        (True, {"tested_labels": [[b, a] for a, b, _ in ROWS]}, ["a red cup", "a dog", "a hat"], ""),
        (False, {"true_label": [0, 1, 0]}, ["a red cup", "a cat", "a hat"], ""),
        (False, {"true_label": ["a blue cup", "a dog", "a hat"]}, ["a blue cup", "a dog", "a hat"], ""),
        (False, {"true_label": [5120, 3, 77]}, ["a red cup", "a dog", "a hat"], FIRST),
        (True, {"true_label": [0, 99, 0]}, None, ""),
    ],
)
def test_the_true_label_of_sugarcrepe_decides_which_text_is_the_caption(tmp_path, names, change, captions, note):
    table = releases.sugarcrepe_table(ROWS, names=names)
    for name, values in change.items():
        table = table.set_column(table.column_names.index(name), name, [values])
    write(tmp_path / PLACES[0], table)
    if captions is None:
        with pytest.raises(DataError, match=r"row \d: field 'true_label' is .*expected one of tested_labels"):
            tasks("sugarcrepe", tmp_path)
    else:
        task = only("sugarcrepe", tmp_path)
        assert ([case.requests[0].text for case in task.cases], task.note) == (captions, note)


def test_the_rows_of_lmms_eval_may_be_in_any_order_and_their_index_a_string(tmp_path):
    rows = [row | {"Index": str(row["Index"])} for n in range(3) for row in releases.naturalbench_rows(n)]
    write(tmp_path / "naturalbench/test.parquet", rows[::-1])
    task = only("naturalbench", tmp_path)
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
    write(tmp_path / "naturalbench/test.parquet", change(releases.naturalbench_rows(0)))
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
    write(tmp_path / "naturalbench/train.parquet", [releases.naturalbench(0, "multiple_choice", Question_0=question)])
    [case] = only("naturalbench", tmp_path).cases
    assert [(request.question, request.choices) for request in case.requests[::2]] == [(question, ("a", "b"))] * 2
    assert case.truths == ("a", "b", "b", "a")


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_winoground_s_images_may_be_plain_bytes(tmp_path, kind):
    rows = [releases.winoground(n) for n in range(3)]
    table = pa.Table.from_pylist(rows)
    for column in ("image_0", "image_1"):
        images = pa.array([row[column]["bytes"] for row in rows], kind)
        table = table.set_column(table.column_names.index(column), column, images)
    write(tmp_path / "winoground/data/test.parquet", table, row_group_size=2)
    task = only("winoground", tmp_path)
    assert [[colour(case.requests[place].image) for place in (0, 2)] for case in task.cases] == [[RED, BLUE]] * 3
    assert [case.requests[2].image.key for case in task.cases] == [f"ex_{n}_img_1" for n in range(3)]


def test_winoground_without_ids_counts_its_rows_over_all_files(tmp_path):
    rows = [{name: value for name, value in releases.winoground(n).items() if name != "id"} for n in range(4)]
    for part in (0, 1):
        write(tmp_path / f"winoground/data/test-{part}.parquet", rows[2 * part : 2 * part + 2])
    task = only("winoground", tmp_path)
    assert ([case.id for case in task.cases], task.note) == (["0", "1", "2", "3"], NO_IDS)


@pytest.mark.parametrize("place", ["images", ".", "../images"])
@pytest.mark.parametrize("path", ["{}", "images/{}", "/home/somebody/winoground/images/{}", "C:\\data\\{}"])
@pytest.mark.parametrize("statistics", [True, False])
def test_images_without_bytes_are_the_files_that_the_table_names(tmp_path, place, path, statistics):
    rows = [releases.winoground(n) for n in range(3)]
    for number in (0, 2):
        rows[number]["image_1"] = {"bytes": None, "path": path.format(f"ex_{number}_img_1.png")}
        write(tmp_path / "winoground/data" / place / f"ex_{number}_img_1.png", (0, number, 9))
    write(tmp_path / "winoground/data/test.parquet", rows, row_group_size=2, write_statistics=statistics)
    task = only("winoground", tmp_path)
    assert [colour(case.requests[2].image) for case in task.cases] == [[0, 0, 9], BLUE, [0, 2, 9]]
    assert [colour(case.requests[0].image) for case in task.cases] == [RED] * 3


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
def test_images_of_vismin_may_lie_beside_its_table(tmp_path, suffix):
    rows = [releases.vismin(n) for n in range(3)]
    rows[1]["image_1"] = {"bytes": None, "path": "/tmp/vismin/1.png"}
    write(tmp_path / f"vismin/data.{suffix}", rows, parts=2)
    write(tmp_path / "vismin/1.png", (7, 7, 7))
    task = only("vismin", tmp_path)
    assert [colour(case.requests[2].image) for case in task.cases] == [BLUE, [7, 7, 7], BLUE]


def test_an_image_that_is_neither_in_the_table_nor_beside_it_is_missing_before_a_run(tmp_path):
    outside = {"bytes": None, "path": "../../secret/ex_0_img_0.png"}
    write(
        tmp_path / "winoground/a.parquet",
        [releases.winoground(0, image_0=outside), releases.winoground(1, image_0=None)],
    )
    image, without_path = (case.requests[0].image for case in only("winoground", tmp_path).cases)
    assert image.where == ""
    with pytest.raises(ImageError, match=r"a\.parquet \(column 'image_0' has no bytes\), .*ex_0_img_0\.png"):
        image.load()
    with pytest.raises(ImageError, match=r"column image_0, row 1 of row group 0 holds no bytes"):
        without_path.load()


@pytest.mark.parametrize("corrected", [False, True])
def test_the_known_corrections_of_mmvp_leave_a_corrected_copy_as_it_is(tmp_path, corrected):
    pairs = {99: "(a) Long (b) Short", 279: "(a) Standing (b) Sitting"}
    letters = ("(b)", "(a)") if corrected else ("(a)", "(b)")
    rows = [
        releases.hub_mmvp(first + place, Options=options, **{"Correct Answer": letters[place]})
        for first, options in pairs.items()
        for place in (0, 1)
    ]
    write(tmp_path / "mmvp/train.parquet", rows)
    [task], _ = applied([*tasks("mmvp", tmp_path).values()], read_disputes([KNOWN]), shapes())
    assert [case.truths for case in task.cases] == [("Short", "Long"), ("Sitting", "Standing")]


@pytest.mark.parametrize("place", ["vsr/vsr_{}", "vsr_{}"])
def test_vsr_of_the_hub(tmp_path, place):
    for split in ("random", "zeroshot"):
        write(tmp_path / place.format(split) / "test.jsonl", [releases.record("vsr")])
    assert list(tasks("vsr", tmp_path)) == ["vsr/random-test", "vsr/zeroshot-test"]


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
    write(tmp_path / name, b"1")
    options = ReadOptions(folders=(tmp_path,), seed=0, wanted=lambda task: task.startswith(name.partition("/")[0]))
    [task] = read_tasks(options)
    assert task.cases == ()
    assert task.note.startswith(f"{tmp_path / name} has another name, place or form")
    assert says in task.note


def test_the_file_of_another_task_is_no_unknown_form(tmp_path):
    write(tmp_path / "pope/coco_pope_random.json", [releases.pope(1)])
    options = ReadOptions(folders=(tmp_path,), seed=0, wanted={"pope/coco-popular"}.__contains__)
    assert read_tasks(options) == []
