"""What holds for the reader of every benchmark: its places, broken files, wrong records, names that lead out.

A record that cannot be read costs its own case only: it is counted, named, and skipped before a gate.
"""

import json
import pickle
from copy import deepcopy

import pytest
import releases
from builders import table, tabled
from releases import HERE, SMALL, changed, tasks

from vlgate.errors import DataError, MissingImageError
from vlgate.gates.decide import decide
from vlgate.gates.records import Gate
from vlgate.judging.verdicts import judge
from vlgate.record.results import task_metrics
from vlgate.sources.benchmarks import bla, valse
from vlgate.sources.benchmarks.captions import SUGARCREPE
from vlgate.sources.data_folders import MOST, read_everything
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import read_tasks, shapes_of
from vlgate.types import UNREADABLE, Batch, Prediction


def write(folder, reader, content=None, place=0):
    """Write a small release, or another content or text of its file, to one of its places."""
    release = SMALL[reader]
    content = release["content"] if content is None else content
    for name, text in {**release.get("beside", {}), release["places"][place]: content}.items():
        file = releases.write(folder / name, text)
    return file


def read(reader, *folders, **more):
    return list(tasks(SMALL[reader]["task"].partition("/")[0], *folders, **more).values())


@pytest.mark.parametrize("reader", SMALL)
def test_a_release_is_one_task_that_travels_between_processes(tmp_path, reader):
    write(tmp_path, reader)
    [task] = found = read(reader, tmp_path, tmp_path / "none")
    assert (task.id, task.left_out) == (SMALL[reader]["task"], {})
    case, expected = task.cases[0], SMALL[reader]["case"]
    assert (task.shape, task.capability, case.id, case.origin) == tuple(
        expected[name] for name in ("shape", "capability", "id", "origin")
    )
    assert json.loads(json.dumps([releases.asked(case), case.truths, dict(case.tags)])) == [
        expected[name] for name in ("asked", "truths", "tags")
    ]
    assert len({id(request.image) for request in case.requests}) == len({request.image for request in case.requests})
    assert pickle.loads(pickle.dumps(found)) == found
    assert read(reader) == read(reader, tmp_path / "none") == []


@pytest.mark.parametrize("reader", [name for name, release in SMALL.items() if "other" in release])
def test_the_file_of_a_task_that_is_not_wanted_is_not_read(tmp_path, reader):
    write(tmp_path, reader)
    releases.write(tmp_path / SMALL[reader]["other"], "broken")
    assert len(read(reader, tmp_path, wanted=SMALL[reader]["task"].__eq__)) == 1
    with pytest.raises(DataError):
        read(reader, tmp_path)


@pytest.mark.parametrize("reader", [name for name, release in SMALL.items() if len(release["places"]) > 1])
def test_a_release_in_another_place_and_in_two(tmp_path, reader):
    second = write(tmp_path, reader, place=1)
    assert len(read(reader, tmp_path)) == 1
    first = write(tmp_path, reader)
    with pytest.raises(DataError, match="keep one of them") as caught:
        read(reader, tmp_path)
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)


FILES = {
    "valse": ("valse/data/{}", [instrument.file for instrument in valse.TASKS.values()], 11),
    "bla": ("bla/annotations/{}", bla.FILES.values(), 3),
    "foil-it": ("foil-it/foilv1.0_{}_2017.json", ["test", "train"], 2),
    "sugarcrepe": ("sugarcrepe/data/{}.json", [name.partition("/")[2] for name in SUGARCREPE.shapes], 7),
}


@pytest.mark.parametrize("reader", FILES)
def test_every_file_of_a_release_is_a_task(tmp_path, reader):
    place, names, number = FILES[reader]
    for name in names:
        releases.write(tmp_path / place.format(name), SMALL[reader]["content"])
    made = read(reader, tmp_path)
    assert {task.id: task.shape for task in made} == shapes_of(reader, ())
    assert len(made) == number
    assert {task.capability for task in made} == {SMALL[reader]["case"]["capability"]}


@tabled
def test_the_image_of_a_case_may_be_in_several_places(tmp_path, reader, place):
    write(tmp_path, reader)
    releases.write(tmp_path / "images/coco_to_vg_ids.json", {"7": [2357834]})
    image = read(reader, tmp_path)[0].cases[0].requests[0].image
    with pytest.raises(MissingImageError, match=r"/images.*/images/"):
        image.load()
    releases.write(tmp_path / place, "red")
    assert read(reader, tmp_path)[0].cases[0].requests[0].image.where == str(tmp_path / place)


[TRUE, FALSE] = SMALL["foil-it"]["content"]["annotations"]
SHARED = {
    "valse": dict.fromkeys("12", SMALL["valse"]["content"]["existence_1"]),
    "carets": [
        record | {"question_id": record["question_id"].replace("-2-", f"-{n}-")}
        for n in (2, 3)
        for record in SMALL["carets"]["content"]
    ],
    "foil-it": SMALL["foil-it"]["content"] | {"annotations": [TRUE, FALSE, FALSE | {"foil_id": 7, "caption": "x"}]},
}


@pytest.mark.parametrize("reader", SHARED)
def test_cases_share_their_image_and_tags(tmp_path, reader):
    write(tmp_path, reader, SHARED[reader])
    first, second = read(reader, tmp_path)[0].cases
    assert first.requests[0].image is second.requests[0].image
    assert first.tags is second.tags


@pytest.mark.parametrize("reader", SMALL)
def test_a_file_that_is_cut_off(tmp_path, reader):
    file = write(tmp_path, reader)
    file.write_text(file.read_text()[:-20])
    with pytest.raises(DataError, match=f"{file.name}: is cut off"):
        read(reader, tmp_path)


@pytest.mark.parametrize(("reader", "field", "value", "message"), table(HERE / "wrong_records.tsv"))
def test_a_wrong_record_is_named_with_its_file_and_a_remedy(tmp_path, reader, field, value, message):
    file = write(tmp_path, reader, changed(SMALL[reader]["content"], field, value))
    with pytest.raises(DataError) as caught:
        read(reader, tmp_path)
    assert str(file) in str(caught.value)
    assert message in str(caught.value)
    assert str(caught.value).rpartition("; ")[2]


N = 20


def copies(record):
    return [deepcopy(record) for _ in range(N)]


def foil_it():
    true = [{"image_id": n, "id": n, "foil_id": n, "caption": f"a dog {n}", "foil": False} for n in range(N)]
    false = [{**record, "foil": True, "caption": f"a cat {record['id']}", "target_word": "dog"} for record in true]
    images = [{"id": n, "file_name": f"COCO_val2014_{n:012}.jpg"} for n in range(N)]
    return {"images": images, "annotations": [*true, *false]}


def carets():
    [original, _] = SMALL["carets"]["content"]
    return [{**original, "question_id": f"{n}-2-16{end}"} for n in range(N) for end in ("", "-t")]


WINOGROUND = SMALL["winoground"]["content"][0]
MMVP = [[str(n), "Open?", "(a) Open (b) Closed", "(a)" if n % 2 else "(b)"] for n in range(1, 2 * N + 1)]
CONTENTS = {
    "valse/existence.json": {f"r{n}": dict(SMALL["valse"]["content"]["existence_1"]) for n in range(N)},
    "sugarcrepe/swap_obj.json": {str(n): dict(SMALL["sugarcrepe"]["content"]["0"]) for n in range(N)},
    "sugarcrepe-pp/swap_obj.json": copies(releases.record("sugarcrepe-pp")),
    "bla/coordination_captions.json": copies(SMALL["bla"]["content"][0]),
    "bla/active_passive_captions.json": {str(n): list("abcd") for n in range(N)},
    "foil-it/foilv1.0_test_2017.json": foil_it(),
    "carets/questions/object_verification_template_test.json": carets(),
    "aro/visual_genome_relation.json": copies(releases.aro()),
    "aro/visual_genome_attribution.json": copies(releases.aro()),
    "cola/COLA_multiobjects_matching_benchmark.json": [[f"x/{n}.jpg", "a", f"x/{n + 1}.jpg", "b"] for n in range(N)],
    "colorswap/test.json": [releases.colorswap(n) for n in range(N)],
    "pope/coco_pope_random.json": [releases.pope(n) for n in range(N)],
    "pope/annotations.json": [releases.pope_v2(n, edited=True) for n in range(N)],
    "pope/test.parquet": [releases.hub_pope(n) for n in range(N)],
    "vsr/random/test.jsonl": copies(releases.record("vsr")),
    "whatsup/controlled_images_dataset.json": [
        one for n in range(N // 4) for one in releases.whatsup((f"cup{n}", "table"))
    ],
    "whatsup/coco_qa_one_obj.json": [[n, "a", "b"] for n in range(N)],
    "winoground/examples.jsonl": [
        WINOGROUND | {"id": n, **{f"image_{place}": f"ex_{n}_img_{place}" for place in (0, 1)}} for n in range(N)
    ],
    "vl-checklist/data/Attribute/vg/color.json": copies(SMALL["vl-checklist"]["content"][0]),
    "mmvp/Questions.csv": MMVP,
    "mmvp/test.parquet": [releases.hub_mmvp(n) for n in range(1, 2 * N + 1)],
    "mmvp-vlm/Questions.csv": [[str(n), "Orientation", "a dog"] for n in range(1, 2 * N + 1)],
    "bivlc/test.parquet": [releases.bivlc() for _ in range(N)],
    "vismin/test.arrow": [releases.vismin(n) for n in range(N)],
    "naturalbench/train.parquet": [releases.naturalbench(n) for n in range(N)],
    "naturalbench/choices.parquet": [releases.naturalbench(n, "multiple_choice") for n in range(N)],
    "naturalbench/test.parquet": [row for n in range(N) for row in releases.naturalbench_rows(n)],
}  # fmt: skip
HEADERS = {"mmvp": "Index,Question,Options,Correct Answer", "mmvp-vlm": "Question ID,Type,Statement"}


def options(folder):
    drawn = ("scenes", "counterfactual", "scene-graphs")
    return ReadOptions(folders=(folder,), seed=0, wanted=lambda task: task.partition("/")[0] not in drawn)


def put(folder, name, content):
    benchmark = name.partition("/")[0]
    for beside, text in SMALL.get(benchmark, {}).get("beside", {}).items():
        releases.write(folder / beside, text)
    return releases.write(folder / name, releases.csv(HEADERS[benchmark], content) if name.endswith("csv") else content)


def read_whole(folder):
    return {task.id: (len(task.cases), task.left_out.get(UNREADABLE)) for task in read_tasks(options(folder))}


@pytest.mark.parametrize(("name", "field", "value", "says"), table(HERE / "unreadable_records.tsv"))
def test_one_record_that_cannot_be_read_costs_one_case(tmp_path, name, field, value, says):
    file = put(tmp_path, name, changed(CONTENTS[name], field, value))
    [task] = read_tasks(options(tmp_path))
    assert (len(task.cases), task.left_out[UNREADABLE]) == (N - 1, 1)
    if name == "bivlc/test.parquet":  # the ids of the other cases stay
        assert [case.id for case in task.cases] == [str(n) for n in range(N) if n != 7]
    record, _, why = says.partition(": ")
    assert f"1 of its records cannot be read ({record}" in task.note
    with pytest.raises(DataError) as caught:
        tasks(name.partition("/")[0].removesuffix("-vlm"), tmp_path)
    assert str(file) in str(caught.value)
    assert why in str(caught.value)


def test_a_line_that_is_no_json_is_one_record_and_a_last_one_that_is_cut_off_a_broken_file(tmp_path):
    lines = [json.dumps(releases.record("vsr"))] * N
    file = releases.write(tmp_path / "vsr/random/test.jsonl", "\n".join([*lines[:7], '{"image": ', *lines[8:]]))
    [task] = read_tasks(options(tmp_path))
    assert (len(task.cases), task.left_out[UNREADABLE]) == (N - 1, 1)
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
    assert read_whole(tmp_path) == {"pope/coco-random": (9, 9)}


@pytest.mark.parametrize(
    ("kinds", "blank", "expected"),
    [
        (["add", "swap"] * 6, 3, {"bivlc/add": (6, None), "bivlc/swap": (5, 1)}),
        (["add", "swap", "shift"] * 6, None, {"bivlc/add": (6, 6), "bivlc/swap": (6, 6)}),
    ],
    ids=["of a known kind", "of no known kind"],
)
def test_a_record_counts_for_the_tasks_that_it_may_belong_to(tmp_path, kinds, blank, expected):
    rows = [releases.bivlc(kind, caption=" " if n == blank else "a") for n, kind in enumerate(kinds)]
    put(tmp_path, "bivlc/test.parquet", rows)
    assert read_whole(tmp_path) == expected


BLANK = [releases.bivlc(kind, caption=" " if kind == "swap" else "a") for kind in ["add"] * 9 + ["swap"] * 3]
OWN = [{"task": "mine/a", "image": f"{n}.jpg", "caption": "a", "foil": "b" if n else 3} for n in range(N)]


@pytest.mark.parametrize(
    ("name", "rows", "says"),
    [
        ("bivlc/a.parquet", [releases.bivlc("shift")], r"row 0.*field 'type' is a string \('shift'\)"),
        ("bivlc/a.parquet", BLANK, r"a\.parquet: 3 of 3 records cannot be read; the first is in row 9"),
        ("naturalbench/a.parquet", [releases.naturalbench(0, Question_Type="mcq")], "'yes_no' or 'multiple_choice'"),
        ("cases.jsonl", OWN, "record on line 1: field 'foil'"),
    ],
    ids=["of an unknown kind", "a task without others", "of an unknown type", "the user's own"],
)
def test_a_record_that_cannot_be_read_is_an_error_where_it_would_go_unseen(tmp_path, name, rows, says):
    put(tmp_path, name, rows)
    with pytest.raises(DataError, match=says):
        read_tasks(options(tmp_path))


def test_check_lists_every_record_and_of_very_many_the_first(tmp_path):
    put(tmp_path, "pope/coco_pope_random.json", [releases.pope(n, "maybe" if n < 70 else "yes") for n in range(200)])
    found = read_everything(options(tmp_path))
    assert len(found.errors) == MOST + 1
    assert "20 more records cannot be read" in list(found.errors)[-1]
    [task] = found.tasks
    assert (len(task.cases), task.left_out[UNREADABLE]) == (130, 70)


def decided(task, **keys):
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
