"""No reader of a further benchmark lets a model that does not look above chance, on files in the authors' form."""

import sys
from itertools import count
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import releases

from vlgate.asking.items import hashed_order
from vlgate.judging.chance import chance
from vlgate.judging.verdicts import judge
from vlgate.metrics.compute import columns, metrics
from vlgate.metrics.shapes import SHAPES
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import SOURCES, read_source
from vlgate.types import Ask, Batch, Prediction

N = 144  # a multiple of two, of four and of nine
VG = "https://cs-people.bu.edu/array/data/vg_gqa_images/{}.jpg"


def aro(place):
    for kind in ("relation", "attribution"):
        records = [releases.aro(box=(n, 0, 9, 9)) for n in range(N)]
        releases.write_json(place / f"aro/visual_genome_{kind}.json", records)


def bivlc(place):
    kinds = ("replace", "swap", "add")
    releases.write_table(place / "bivlc/data/test.parquet", [releases.bivlc(kinds[n % 3]) for n in range(3 * N)])


def cola(place):
    rows = [[VG.format(2 * n), f"red {n}", VG.format(2 * n + 1), f"blue {n}"] for n in range(N)]
    releases.write_json(place / "cola/data/COLA_multiobjects_matching_benchmark.json", rows)


def colorswap(place):
    for split in ("test", "train"):
        releases.write_json(place / f"colorswap/data/{split}.json", [releases.colorswap(n) for n in range(N)])


def mmvp(place):
    rows = [f"{n},Orientation,a dog {n}" for n in range(1, 2 * N + 1)]
    for name in ("mmvp-vlm", "mmvp"):
        (place / name).mkdir()
    (place / "mmvp-vlm/Questions.csv").write_text("\n".join(["Question ID,Type,Statement", *rows]))
    rows = [f"{n},Open?,(a) Open (b) Closed,({'ab'[(n + (n - 1) // 2) % 2]})" for n in range(1, 2 * N + 1)]
    (place / "mmvp/Questions.csv").write_text("\n".join(["Index,Question,Options,Correct Answer", *rows]))


def naturalbench(place):
    kinds = ("yes_no", "multiple_choice")
    rows = [releases.naturalbench(n, kinds[n % 2]) for n in range(2 * N)]
    releases.write_table(place / "naturalbench/data/train.parquet", rows)
    records = [
        {"index": n, "image_0": f"{n}_0.jpg", "image_1": f"{n}_1.jpg", "caption_0": f"a {n}", "caption_1": f"b {n}"}
        for n in range(N)
    ]
    releases.write_json(place / "naturalbench/NaturalBench-Retrieval/metadata.json", records)


def pope(place):
    places = ("pope/output/coco/coco_pope", "repope/annotations/coco_repope")
    records = [
        releases.pope(n, ("yes", "no")[n % 2], text=f"Is there a {n}?", image=f"COCO_val2014_{n // 6:012}.jpg")
        for n in range(N)
    ]
    for kind in ("random", "popular", "adversarial"):
        for name in places:
            releases.write_lines(place / f"{name}_{kind}.json", records)
        for name in ("gqa", "aokvqa"):
            releases.write_json(place / f"pope/output/seem/{name}/{name}_pope_seem_{kind}.json", records)
    rows = [releases.pope_v2(n // 2, edited=n % 2 == 0) for n in range(N)]
    releases.write_json(place / "pope/POPEv2/dataset/annotations.json", rows)


def sugarcrepe_pp(place):
    names = ("caption", "caption2", "negative_caption")
    for kind in ("replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj"):
        records = [{"id": n, "filename": f"{n:012}.jpg", **{name: f"{name} {n}" for name in names}} for n in range(N)]
        releases.write_json(place / f"sugarcrepe-pp/data/{kind}.json", records)


def vismin(place):
    kinds = ("object", "attribute", "counting", "relation")
    rows = [releases.vismin(n, kinds[n % 4]) for n in range(4 * N)]
    releases.write_table(place / "vismin/data/test/data-00000-of-00001.arrow", rows)


def vsr(place):
    for split in ("random", "zeroshot"):
        for part in ("test", "dev", "train"):
            records = [
                {"image": f"{n:012}.jpg", "caption": f"The cat is under {n}.", "label": n % 2, "relation": "under"}
                for n in range(N)
            ]
            releases.write_lines(place / f"vsr/data/splits/{split}/{part}.jsonl", records)


def whatsup(place):
    for name, places in (("images", releases.PREPOSITIONS), ("clevr", releases.BEHIND)):
        records = [
            one for n in range(N // 4) for one in releases.whatsup((f"cup{n}", "table"), places, f"controlled_{name}")
        ]
        releases.write_json(place / f"whatsup/data/controlled_{name}_dataset.json", records)
    for name in ("coco_qa_one_obj", "coco_qa_two_obj", "vg_qa_one_obj", "vg_qa_two_obj"):
        rows = [[n, f"a dog on the left {n}", f"a dog on the right {n}"] for n in range(N)]
        releases.write_json(place / f"whatsup/data/{name}.json", rows)


WRITERS = (aro, bivlc, cola, colorswap, mmvp, naturalbench, pope, sugarcrepe_pp, vismin, vsr, whatsup)


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


@pytest.fixture(scope="module", params=WRITERS, ids=lambda one: one.__name__)
def benchmark(request, tmp_path_factory):
    place = tmp_path_factory.mktemp(request.param.__name__)
    request.param(place)
    options = ReadOptions(folders=(place,), seed=0, wanted=lambda _: True)
    return list(read_source(request.param.__name__.replace("_", "-"), options))


def test_every_further_benchmark_is_here():
    elsewhere = "carets counterfactual scenes valse vl-checklist winoground bla sugarcrepe foil-it scene-graphs own"
    assert {writer.__name__.replace("_", "-") for writer in WRITERS} == set(SOURCES) - set(elsewhere.split())


@pytest.mark.parametrize("model", MODELS)
def test_a_model_that_does_not_look_is_at_chance_or_below_on_every_task(benchmark, model):
    assert benchmark
    for task in benchmark:
        assert len(task.cases) == N
        found = metrics(columns(task.shape, judge(Batch(task=task, positions=tuple(range(N))), replies(task, model))))
        level = dict(chance(task.shape, task.capability, task.cases))
        headline = SHAPES[task.shape].headline
        assert found[headline].value <= level[headline] + 4 * np.sqrt(0.25 / N), (task.id, found[headline])
        for name in {"macro", "macro_all", "pair_all", "set_all"} & found.keys():
            assert found[name].value <= level.get(name, 1 / 2) + 4 * np.sqrt(0.25 / found[name].n), (task.id, name)


def test_one_score_for_everything_is_never_right_and_one_answer_is_right_in_half(benchmark):
    for task, _ in zip(benchmark, count(), strict=False):
        verdicts = judge(Batch(task=task, positions=tuple(range(N))), replies(task, "constant"))
        right = np.mean([verdict.right for verdict in verdicts])
        assert right == (0.5 if task.shape == "single" else 0.0), task.id
