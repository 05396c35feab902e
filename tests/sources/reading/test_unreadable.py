"""A record that cannot be read costs its own case only: it is counted, named, and skipped before a gate."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "further"))
import releases

from vlgate.errors import DataError
from vlgate.gates.decide import decide
from vlgate.gates.records import Gate
from vlgate.judging.verdicts import judge
from vlgate.record.results import task_metrics
from vlgate.sources.data_folders import MOST, read_everything
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import read_tasks
from vlgate.types import UNREADABLE, Batch, Prediction

GOOD = 19


def options(folder):
    drawn = ("scenes", "counterfactual", "scene-graphs")
    return ReadOptions(folders=(folder,), seed=0, wanted=lambda task: task.partition("/")[0] not in drawn)


def sentences(image):
    return [f"{image} {text}" for text in ("a", "b", "c", "d")]


def valse(n):
    votes = {"caption": 3, "foil": 0, "other": 0}
    return {
        "dataset": "visual7w", "original_split": "test", "linguistic_phenomena": "existence", "classes": 0,
        "classes_foil": [1], "provenance_of_foils": "zero_to_something", "mturk": votes,
        "image_file": f"v7w_{n}.jpg", "caption": f"There are {n} dogs.", "foil": "There are no dogs.",
    }  # fmt: skip


def foil_it(number):
    records = [{"image_id": n, "id": n, "foil_id": n, "caption": f"a dog {n}", "foil": False} for n in range(number)]
    false = [{**record, "foil": True, "caption": f"a cat {record['id']}", "target_word": "dog"} for record in records]
    images = [{"id": n, "file_name": f"COCO_val2014_{n:012}.jpg"} for n in range(number)]
    return {"images": images, "annotations": [*records, *false]}


def carets(number):
    ask = {"img_id": "1", "label": {"yes": 1.0}, "sent": "Is there a gate?", "question_type": "x", "assignment": {}}
    return [{**ask, "question_id": f"{n}-2-16{end}"} for n in range(number) for end in ("", "-t")]


def csv_of(rows):
    return "\n".join(["Index,Question,Options,Correct Answer", *(",".join(row) for row in rows)])


def mmvp(number):
    return [[str(n), "Open?", "(a) Open (b) Closed", "(a)" if n % 2 else "(b)"] for n in range(1, 2 * number + 1)]


def broken(rows, place, value):
    """The rows with another value at one place."""
    rows = json.loads(json.dumps(rows))
    where = rows
    for key in place[:-1]:
        where = where[key]
    where[place[-1]] = value
    return rows


N = GOOD + 1
SUGAR = {"filename": "1.jpg", "caption": "a", "negative_caption": "b"}
PLUS = {"filename": "1.jpg", "caption": "a", "caption2": "b", "negative_caption": "c"}
VSR = {"image": "1.jpg", "caption": "The car is behind.", "label": 1, "relation": "behind"}
ITEM = ["VG_100K/1.jpg", {"POS": ["a red cup"], "NEG": ["a blue cup"]}]
YAML = 'ANNO_PATH: "data/color.json"\nIMG_ROOT: "vg"\nTYPE: "TUPLE_JSON"'
SETS = [{"image_id": n, "caption_group": [dict(zip(("True1", "True2", "False1", "False2"), sentences(n), strict=True))]}
        for n in range(N)]  # fmt: skip
COLA = [[f"x/{n}.jpg", "a cup", f"x/{n + 1}.jpg", "a cat"] for n in range(N)]
WINO = [{"id": n, "image_0": f"ex_{n}_img_0", "image_1": f"ex_{n}_img_1", "caption_0": "a b", "caption_1": "b a"}
        for n in range(N)]  # fmt: skip
WHATS = [one for n in range(N // 4) for one in releases.whatsup((f"cup{n}", "table"))]

FILES = {
    "valse": ("valse/existence.json", broken({f"r{n}": valse(n) for n in range(N)}, ["r7", "caption"], 3), "r7"),
    "valse, no object": ("valse/existence.json", broken({f"r{n}": valse(n) for n in range(N)}, ["r7"], 3), "r7"),
    "sugarcrepe": ("sugarcrepe/swap_obj.json", broken({str(n): SUGAR for n in range(N)}, ["7", "caption"], " "), "7"),
    "sugarcrepe-pp": ("sugarcrepe-pp/swap_obj.json", broken([PLUS] * N, [7, "caption2"], None), "7"),
    "bla": ("bla/coordination_captions.json", broken(SETS, [7, "image_id"], 1.5), "7"),
    "bla, a sentence": ("bla/coordination_captions.json", broken(SETS, [7, "caption_group", 0, "True2"], 1.5), "7"),
    "bla, keyed": ("bla/coordination_captions.json", broken({str(n): sentences(n) for n in range(N)}, ["7"], []), "7"),
    "foil-it": ("foil-it/foilv1.0_test_2017.json", broken(foil_it(N), ["annotations", N + 7, "caption"], ""), "annota"),
    "carets": (
        "carets/questions/object_verification_template_test.json",
        broken(carets(N), [14, "label"], {}),
        "7-2-16",
    ),
    "aro": ("aro/visual_genome_relation.json", broken([releases.aro()] * N, [7, "bbox_w"], 0), "7"),
    "aro, a class": ("aro/visual_genome_relation.json", broken([releases.aro()] * N, [7, "relation_name"], 0), "7"),
    "cola": ("cola/COLA_multiobjects_matching_benchmark.json", broken(COLA, [7], ["a"]), "7"),
    "colorswap": (
        "colorswap/test.json",
        broken([releases.colorswap(n) for n in range(N)], [7, "image_1"], "../x"),
        "7",
    ),
    "pope": ("pope/coco_pope_random.json", broken([releases.pope(n) for n in range(N)], [7, "label"], "maybe"), "7"),
    "pope, repeated": (
        "pope/coco_pope_random.json",
        broken([releases.pope(n) for n in range(N)], [7, "question_id"], 3),
        "7",
    ),
    "popev2": (
        "pope/annotations.json",
        broken([releases.pope_v2(n, edited=True) for n in range(N)], [7, "image_name"], "images/../../x"),
        "7",
    ),
    "vsr": ("vsr/random/test.jsonl", broken([VSR] * N, [7, "label"], 2), "on line 8"),
    "whatsup": ("whatsup/controlled_images_dataset.json", broken(WHATS, [7, "caption_options"], ["a"]), "7"),
    "whatsup, pairs": ("whatsup/coco_qa_one_obj.json", broken([[n, "a", "b"] for n in range(N)], [7], [7, "a"]), "7"),
    "winoground": ("winoground/examples.jsonl", broken(WINO, [7, "image_1"], "ex_8_img_1"), "on line 8"),
    "vl-checklist": ("vl-checklist/data/color.json", broken([ITEM] * N, [7, 1, "NEG"], []), "7"),
    "mmvp": ("mmvp/Questions.csv", csv_of(broken(mmvp(N), [15, 2], "Open or closed")), "in row 16"),
    "bivlc": ("bivlc/test.parquet", [releases.bivlc(caption=" " if n == 7 else "a") for n in range(N)], "in row 7"),
    "vismin": ("vismin/test.arrow", [releases.vismin(n, text_1=" " if n == 7 else "a") for n in range(N)], "in row 7"),
    "naturalbench": (
        "naturalbench/train.parquet",
        [releases.naturalbench(n, Image_0_Question_0="?" if n == 7 else "Yes") for n in range(N)],
        "in row 7",
    ),
    "naturalbench of lmms-eval": (
        "naturalbench/test.parquet",
        [row for n in range(N) for row in releases.naturalbench_rows(n, Image_1_Question_1="?" if n == 7 else "Yes")],
        "in row 28",
    ),
    "pope of lmms-lab": (
        "pope/test.parquet",
        [releases.hub_pope(n, answer="?" if n == 7 else "yes") for n in range(N)],
        "in row 7",
    ),
    "mmvp of lmms-lab": (
        "mmvp/test.parquet",
        [releases.hub_mmvp(n, Options="" if n == 16 else "(a) Open (b) Closed") for n in range(1, 2 * N + 1)],
        "in row 15",
    ),
}


def put(folder, name, content):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix in {".parquet", ".arrow"}:
        releases.write_table(file, content)
    elif file.suffix == ".jsonl":
        releases.write_lines(file, content)
    elif isinstance(content, str):
        file.write_text(content)
    else:
        releases.write_json(file, content)
    if name.startswith("vl-checklist"):
        config = folder / "vl-checklist/corpus/v1/Attribute/color/vg.yaml"
        config.parent.mkdir(parents=True)
        config.write_text(YAML)
    return file


@pytest.mark.parametrize(("name", "content", "record"), FILES.values(), ids=list(FILES))
def test_one_record_that_cannot_be_read_costs_one_case(tmp_path, name, content, record):
    put(tmp_path, name, content)
    [task] = read_tasks(options(tmp_path))
    assert (len(task.cases), task.left_out[UNREADABLE]) == (GOOD, 1)
    assert f"1 of its records cannot be read ({record}" in task.note


def test_the_ids_of_the_other_cases_stay(tmp_path):
    put(tmp_path, *FILES["bivlc"][:2])
    [task] = read_tasks(options(tmp_path))
    assert [case.id for case in task.cases] == [str(n) for n in range(N) if n != 7]


def test_a_line_that_is_no_json_is_one_record_and_a_last_one_that_is_cut_off_a_broken_file(tmp_path):
    lines = [json.dumps(VSR)] * N
    file = put(tmp_path, "vsr/random/test.jsonl", [VSR])
    file.write_text("\n".join([*lines[:7], '{"image": ', *lines[8:]]))
    [task] = read_tasks(options(tmp_path))
    assert (len(task.cases), task.left_out[UNREADABLE]) == (GOOD, 1)
    assert "on line 8" in task.note
    file.write_text("\n".join([*lines, '{"image": "1.jp']))
    with pytest.raises(DataError, match=rf"test\.jsonl.*line {N + 1}"):
        read_tasks(options(tmp_path))


def test_a_file_with_more_unreadable_records_than_cases_is_refused(tmp_path):
    rows = [releases.pope(n, "maybe" if n < 11 else "yes") for n in range(N)]
    put(tmp_path, "pope/coco_pope_random.json", rows)
    with pytest.raises(DataError, match=r"coco_pope_random\.json: 11 of 20 records cannot be read; the first is 0: .*"):
        read_tasks(options(tmp_path))
    put(tmp_path, "pope/coco_pope_random.json", rows[2:])
    [task] = read_tasks(options(tmp_path))
    assert (len(task.cases), task.left_out[UNREADABLE]) == (9, 9)


def test_a_record_counts_for_the_task_that_it_belongs_to(tmp_path):
    rows = [releases.bivlc(kind, caption=" " if n == 3 else "a") for n, kind in enumerate(["add", "swap"] * 6)]
    put(tmp_path, "bivlc/test.parquet", rows)
    found = {task.id: (len(task.cases), dict(task.left_out)) for task in read_tasks(options(tmp_path))}
    assert found == {"bivlc/add": (6, {}), "bivlc/swap": (5, {UNREADABLE: 1})}


def test_a_record_of_no_known_kind_counts_for_every_task_of_its_file(tmp_path):
    rows = [releases.bivlc(kind) for kind in ["add", "swap", "shift"] * 6]
    put(tmp_path, "bivlc/test.parquet", rows)
    assert {task.id: task.left_out[UNREADABLE] for task in read_tasks(options(tmp_path))} == {
        "bivlc/add": 6,
        "bivlc/swap": 6,
    }


def test_a_task_that_loses_all_its_records_is_an_error(tmp_path):
    rows = [releases.bivlc(kind, caption=" " if kind == "swap" else "a") for kind in ["add"] * 9 + ["swap"] * 3]
    put(tmp_path, "bivlc/test.parquet", rows)
    with pytest.raises(DataError, match=r"test\.parquet: 3 of 3 records cannot be read; the first is in row 9"):
        read_tasks(options(tmp_path))


def test_the_user_s_own_cases_are_still_refused(tmp_path):
    lines = [{"task": "mine/a", "image": f"{n}.jpg", "caption": "a", "foil": "b"} for n in range(N)]
    put(tmp_path, "cases.jsonl", broken(lines, [7, "foil"], 3))
    with pytest.raises(DataError, match="record on line 8: field 'foil'"):
        read_tasks(options(tmp_path))


def test_check_lists_every_record_and_of_very_many_the_first(tmp_path):
    put(tmp_path, "pope/coco_pope_random.json", [releases.pope(n, "maybe" if n < 70 else "yes") for n in range(200)])
    found = read_everything(options(tmp_path))
    assert len(found.errors) == MOST + 1
    assert "20 more records cannot be read" in list(found.errors)[-1]
    [task] = found.tasks
    assert (len(task.cases), task.left_out[UNREADABLE]) == (130, 70)


def decided(task, **keys):
    """Decide the gate of a task all whose cases are right."""
    cases = task.cases
    replies = {case.requests[0]: Prediction(request=case.requests[0], answer=case.truths[0]) for case in cases}
    verdicts = judge(Batch(task=task, positions=tuple(range(len(cases)))), replies)
    result = task_metrics(task, verdicts, ())
    return decide(Gate(task=task.id, metric="accuracy", min=0.5, **keys), result.coverage, result.metrics)


@pytest.mark.parametrize(("lost", "outcome"), [(0, "pass"), (5, "pass"), (6, "inconclusive"), (40, "inconclusive")])
def test_a_gate_counts_records_that_cannot_be_read_as_skipped(tmp_path, lost, outcome):
    rows = [releases.pope(n, "?" if n < lost else "yes", image=f"COCO_val2014_{n:012}.jpg") for n in range(100)]
    put(tmp_path, "pope/coco_pope_random.json", rows)
    [task] = read_tasks(options(tmp_path))
    decision = decided(task)
    assert decision.outcome == outcome
    if outcome == "inconclusive":
        assert f"{lost} of 100 cases are skipped or lost to records that cannot be read" in decision.why
        assert decided(task, max_skipped=0.5).outcome == "pass"
