"""Whole releases of further benchmarks: the places they may lie in, and no model that does not look above chance."""

import numpy as np
import pytest
import releases
from builders import tabled
from releases import tasks, write

from vlgate.asking.items import hashed_order
from vlgate.judging.chance import chance
from vlgate.judging.verdicts import judge
from vlgate.metrics.compute import columns, metrics
from vlgate.metrics.shapes import SHAPES
from vlgate.sources.registry import SOURCES, shapes_of
from vlgate.types import Ask, Batch, Prediction

N = 144  # a multiple of two, of four and of nine
VG = "https://cs-people.bu.edu/array/data/vg_gqa_images/{}.jpg"


def aro(place):
    for kind in ("relation", "attribution"):
        write(place / f"aro/visual_genome_{kind}.json", [releases.aro(box=(n, 0, 9, 9)) for n in range(N)])


def bivlc(place):
    rows = [releases.bivlc(("replace", "swap", "add")[n % 3]) for n in range(3 * N)]
    releases.shards(place / "bivlc/data", "test", rows, 2)


def cola(place):
    rows = [[VG.format(2 * n), f"red {n}", VG.format(2 * n + 1), f"blue {n}"] for n in range(N)]
    write(place / "cola/data/COLA_multiobjects_matching_benchmark.json", rows)


def colorswap(place):
    for split in ("test", "train"):
        write(place / f"colorswap/data/{split}.json", [releases.colorswap(n) for n in range(N)])


def mmvp(place):
    rows = [f"{n},Orientation,a dog {n}" for n in range(1, 2 * N + 1)]
    write(place / "mmvp-vlm/Questions.csv", releases.csv("Question ID,Type,Statement", rows))
    rows = [f"{n},Open?,(a) Open (b) Closed,({'ab'[(n + (n - 1) // 2) % 2]})" for n in range(1, 2 * N + 1)]
    write(place / "mmvp/Questions.csv", releases.csv("Index,Question,Options,Correct Answer", rows))


def naturalbench(place):
    rows = [releases.naturalbench(n, ("yes_no", "multiple_choice")[n % 2]) for n in range(2 * N)]
    releases.shards(place / "naturalbench/data", "train", rows, 3)
    names = ("image_0", "image_1", "caption_0", "caption_1")
    records = [{"index": n, **{name: f"{name} {n}.jpg" for name in names}} for n in range(N)]
    write(place / "naturalbench/NaturalBench-Retrieval/metadata.json", records)


def pope(place):
    records = [
        releases.pope(n, ("yes", "no")[n % 2], text=f"Is there a {n}?", image=f"COCO_val2014_{n // 6:012}.jpg")
        for n in range(N)
    ]
    for kind in ("random", "popular", "adversarial"):
        for name in ("pope/output/coco/coco_pope", "repope/annotations/coco_repope"):
            write(place / f"{name}_{kind}.json", releases.lines(records))
        for name in ("gqa", "aokvqa"):
            write(place / f"pope/output/seem/{name}/{name}_pope_seem_{kind}.json", records)
    rows = [releases.pope_v2(n // 2, edited=n % 2 == 0) for n in range(N)]
    write(place / "pope/POPEv2/dataset/annotations.json", rows)


def sugarcrepe_pp(place):
    names = ("caption", "caption2", "negative_caption")
    for kind in ("replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj"):
        records = [{"id": n, "filename": f"{n:012}.jpg", **{name: f"{name} {n}" for name in names}} for n in range(N)]
        write(place / f"sugarcrepe-pp/data/{kind}.json", records)


def vismin(place):
    rows = [releases.vismin(n, ("object", "attribute", "counting", "relation")[n % 4]) for n in range(4 * N)]
    releases.shards(place / "vismin/data/test", "data", rows, 3, "arrow")
    for name in ("test/state.json", "test/dataset_info.json", "dataset_dict.json"):  # of save_to_disk
        write(place / "vismin/data" / name, {})


def vsr(place):
    for split in ("random", "zeroshot"):
        more = {"subj": "car", "obj": "suitcase"} if split == "zeroshot" else {"reference_frame": None}
        for part in ("test", "dev", "train"):
            records = [
                releases.record("vsr", image=f"{n:012}.jpg", caption=f"The cat is under {n}.", label=n % 2, **more)
                for n in range(N)
            ]
            write(place / f"vsr/data/splits/{split}/{part}.jsonl", records)


def whatsup(place):
    for name, places in (("images", releases.PREPOSITIONS), ("clevr", releases.BEHIND)):
        records = [
            one for n in range(N // 4) for one in releases.whatsup((f"cup{n}", "table"), places, f"controlled_{name}")
        ]
        write(place / f"whatsup/data/controlled_{name}_dataset.json", records)
    for name in ("coco_qa_one_obj", "coco_qa_two_obj", "vg_qa_one_obj", "vg_qa_two_obj"):
        rows = [[n, f"a dog on the left {n}", f"a dog on the right {n}"] for n in range(N)]
        write(place / f"whatsup/data/{name}.json", rows)


WRITERS = {
    writer.__name__.replace("_", "-"): writer
    for writer in (aro, bivlc, cola, colorswap, mmvp, naturalbench, pope, sugarcrepe_pp, vismin, vsr, whatsup)
}


@tabled
def test_a_release_may_lie_as_its_code_downloads_it_or_elsewhere(tmp_path, source, place, other):
    WRITERS[source](tmp_path)
    ids = {name: [case.id for case in task.cases] for name, task in tasks(source, tmp_path).items()}
    assert ids.keys() == shapes_of(source, ()).keys()
    assert all(len(set(of)) == N for of in ids.values())
    (tmp_path / place).rename(tmp_path / "moved")
    for file in sorted((tmp_path / "moved").rglob("*.*")):
        target = tmp_path / other / file.relative_to(tmp_path / "moved")
        target.parent.mkdir(parents=True, exist_ok=True)
        file.rename(target)
    assert {name: [case.id for case in task.cases] for name, task in tasks(source, tmp_path).items()} == ids


MODELS = {  # the place at which a request is asked, to the score and to which of the choices is the answer
    "constant": lambda _: (0, 0),
    "last choice": lambda _: (1, 1),
    "alternating": lambda place: (place % 2, place % 2),
    "counting": lambda place: (place, place // 3),
}


def replies(task, model):
    asked = list(dict.fromkeys(request for case in task.cases for request in case.requests))
    places = {place: turn for turn, place in enumerate(hashed_order(asked, 0))}
    said = [MODELS[model](places[index]) for index in range(len(asked))]
    return {
        request: Prediction(request=request, answer=request.choices[number % len(request.choices)])
        if isinstance(request, Ask)
        else Prediction(request=request, score=float(score), accepted=number % 2 == 0)
        for request, (score, number) in zip(asked, said, strict=True)
    }


@pytest.fixture(scope="module", params=WRITERS)
def benchmark(request, tmp_path_factory):
    place = tmp_path_factory.mktemp(request.param)
    WRITERS[request.param](place)
    return tasks(request.param, place).values()


def test_every_further_benchmark_is_here_and_without_its_files_it_has_no_task(tmp_path):
    elsewhere = "carets counterfactual scenes valse vl-checklist winoground bla sugarcrepe foil-it scene-graphs own"
    assert set(WRITERS) == set(SOURCES) - set(elsewhere.split())
    assert [tasks(source, tmp_path) for source in WRITERS] == [{}] * len(WRITERS)


@pytest.mark.parametrize("model", MODELS)
def test_a_model_that_does_not_look_is_at_chance_or_below_on_every_task(benchmark, model):
    assert benchmark
    for task in benchmark:
        assert len(task.cases) == N
        verdicts = judge(Batch(task=task, positions=tuple(range(N))), replies(task, model))
        found = metrics(columns(task.shape, verdicts))
        level = dict(chance(task.shape, task.capability, task.cases))
        headline = SHAPES[task.shape].headline
        assert found[headline].value <= level[headline] + 4 * np.sqrt(0.25 / N), (task.id, found[headline])
        for name in {"macro", "macro_all", "pair_all", "set_all"} & found.keys():
            assert found[name].value <= level.get(name, 1 / 2) + 4 * np.sqrt(0.25 / found[name].n), (task.id, name)
        if model == "constant":  # never right with one score for everything, right in half with one answer
            assert np.mean([verdict.right for verdict in verdicts]) == (0.5 if task.shape == "single" else 0.0), task.id
