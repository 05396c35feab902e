"""The embedded tasks: their shape, their seed, their laziness, their slices."""

import functools
import io
import json
import pickle
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders import json_table

from vlgate.fixtures.scenes.graph import CASES, SceneCase
from vlgate.perturb.questions import MAKEUP
from vlgate.record.options import Options
from vlgate.report.remarks import recorded_splits
from vlgate.run.planning import make_plan
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.scenes import TASKS
from vlgate.sources.scenes.made import QUESTIONS, make
from vlgate.sources.scenes.scenes import (
    FILE,
    SHIPPED_SEED,
    contents,
    graphs,
    read,
    read_contents,
    shipped_version,
    write,
)
from vlgate.types import Ask, LazyImage, Match

TABLES = Path(__file__).with_suffix(".tsv")

SHAPES = {"pair": (2, 1), "quad": (4, 2), "set": (4, 1), "active_passive_set": (4, 1)}  # requests and images of a case
ASKED = tuple(name for name in TASKS if name.endswith(("-inv", "-dir")))
DESCRIBED = tuple(name for name in TASKS if name not in ASKED)


def tasks(seed, wanted=lambda _: True):
    return {task.id: task for task in read(ReadOptions(folders=(), seed=seed, wanted=wanted))}


@pytest.fixture(scope="module")
def world():
    return tasks(0)


def test_every_task_is_there_in_full(world):
    assert tuple(world) == TASKS
    assert Counter(task.capability for task in world.values()) == {
        "foil": 18,
        "compositional": 4,
        "invariance": 5,
        "directional": 3,
    }
    found = {task.id: (len(task.cases), task.left_out) for task in world.values()}
    assert found == dict.fromkeys(DESCRIBED, (CASES, {})) | dict.fromkeys(ASKED, (QUESTIONS, {}))
    assert sum(len(task.cases) for task in world.values()) <= 2000  # the default run has an item for each


@pytest.mark.parametrize("name", DESCRIBED)
def test_cases_have_the_shape_of_their_task(world, name):
    task = world[name]
    requests, images = SHAPES[task.shape]
    for case in task.cases:
        assert len(case.requests) == len(case.truths) == requests
        assert len({request.image for request in case.requests}) == images
        assert len({(request.image, request.text) for request in case.requests}) == requests
        assert all(isinstance(request, Match) for request in case.requests)
        assert case.origin == f"{name}, seed 0, scene {int(case.id)}"
    assert len({case.id for case in task.cases}) == CASES
    assert len({request.image for case in task.cases for request in case.requests}) == CASES * images


@pytest.mark.parametrize(("name", "tag", "expected"), json_table(TABLES, "slices_are_balanced"))
def test_slices_are_balanced(world, name, tag, expected):
    assert Counter(case.tags.get(tag) for case in world[name].cases) == expected


@pytest.mark.parametrize("name", ASKED)
def test_questions_are_asked_about_drawn_scenes(world, name):
    kinds = {case.tags["question_type"] for case in world[name].cases}
    assert kinds == set(MAKEUP[name.partition("/")[2]])
    for case in world[name].cases:
        assert all(isinstance(request, Ask) for request in case.requests)
        assert all(truth in asked.choices for asked, truth in zip(case.requests, case.truths, strict=True))
        assert all(re.match(r"scene-0-\d{4}(?:#|$)", asked.image.key) for asked in case.requests)
        perturbed = ["#" in asked.image.key for asked in case.requests]
        assert any(perturbed) == (name in {"scenes/visual-inv", "scenes/mirror-inv", "scenes/occlusion-dir"})
    assert len({case.id for case in world[name].cases}) == QUESTIONS


GREY = (124, 116, 104)
"""The colour that covers what is occluded."""


@functools.cache
def pixels(image):
    """Statistics of an image: its covered pixels with their mean place, the mean of all, the bytes of a PNG file."""
    shown, file = image.load(), io.BytesIO()
    shown.save(file, "PNG")
    rows, columns = np.nonzero((np.asarray(shown) == GREY).all(axis=2))
    places = [float(part.mean()) if len(part) else 0.0 for part in (rows, columns)]
    return len(rows), *places, float(np.asarray(shown).mean()), file.tell()


PIXEL_RULES = {
    "any grey": lambda image, _: pixels(image)[0] > 100,
    "no grey": lambda image, _: pixels(image)[0] <= 100,
    "more grey": lambda image, other: pixels(image)[0] > pixels(other)[0],
    "less grey": lambda image, other: pixels(image)[0] < pixels(other)[0],
    "grey higher": lambda image, other: pixels(image)[1] < pixels(other)[1],
    "grey further left": lambda image, other: pixels(image)[2] < pixels(other)[2],
    "darker": lambda image, other: pixels(image)[3] < pixels(other)[3],
    "smaller file": lambda image, other: pixels(image)[4] < pixels(other)[4],
    "key": lambda image, _: "#occlude" in image.key,
    "key first": lambda image, other: image.key < other.key,
}


@pytest.mark.parametrize("rule", PIXEL_RULES)
def test_no_rule_about_pixels_tells_what_is_occluded(world, rule):
    """Such a rule answers no to what it holds for; two questions about two images have opposite answers."""
    says, right = PIXEL_RULES[rule], []
    for case in world["scenes/occlusion-dir"].cases:
        images = [asked.image for asked in case.requests]
        said = ["no" if says(one, other) else "yes" for one, other in (images, images[::-1])]
        right.append([answer == truth for answer, truth in zip(said, case.truths, strict=True)])
    assert np.mean(right) == 0.5
    assert np.mean(np.all(right, axis=1)) <= 0.5


def test_scenes_counts_and_colours_are_many(world):
    shown = Counter(case.requests[0].image.key for case in world["scenes/visual-inv"].cases)
    assert len(shown) >= 40
    assert max(shown.values()) <= 5
    assert {case.tags["count"] for case in world["scenes/counting-balanced"].cases} == set("123456789")
    assert len({case.tags["colour"] for case in world["scenes/attributes"].cases}) == 8
    # The direction of a word is drawn whatever the answer is.
    counter = Counter((case.tags["direction"], case.tags["answer"]) for case in world["scenes/ontological-inv"].cases)
    assert len(counter) == 4
    assert min(counter.values()) >= 10


def test_the_same_seed_gives_the_same_bytes(world):
    again = tasks(0)
    assert again == world
    for name in DESCRIBED:
        assert graphs(again[name]) == graphs(world[name]) != {}
    image, same = (t["scenes/relations"].cases[7].requests[0].image for t in (world, again))
    assert image.load().tobytes() == same.load().tobytes() == pickle.loads(pickle.dumps(image)).load().tobytes()


@pytest.mark.slow
def test_another_seed_gives_another_world(world):
    other = tasks(1)
    for name in TASKS:
        assert world[name].cases != other[name].cases
    for name in DESCRIBED:
        here, there = ({p.key for c in w[name].cases for r in c.requests for p in [r.image]} for w in (world, other))
        assert not here & there
        assert list(graphs(world[name]).values()) != list(graphs(other[name]).values())


def test_a_task_does_not_depend_on_the_others_and_has_scenes_of_its_own(world):
    alone = tasks(0, wanted=lambda name: name == "scenes/word-swap")
    assert alone == {"scenes/word-swap": world["scenes/word-swap"]}
    assert graphs(alone["scenes/word-swap"]) == graphs(world["scenes/word-swap"])
    shown = [{json.dumps(graph) for graph in graphs(world[name]).values()} for name in DESCRIBED]
    assert len(set.union(*shown)) == sum(map(len, shown))


def test_a_perturbation_that_does_not_apply_is_counted(monkeypatch):
    monkeypatch.setattr("vlgate.sources.scenes.made._MAKERS", {"existence": _only_even})
    [task] = make(["scenes/existence"], 0)
    assert len(task.cases) == CASES // 2
    assert task.left_out == {"perturbation does not apply": CASES // 2}


def _only_even(entry: SceneCase):
    graph = {"width": 8, "height": 8, "objects": {}}
    return entry.pair(graph, "A cup.", None if entry.number % 2 else "A ball.", {})


def test_no_image_is_drawn_before_it_is_loaded():
    program = (
        "import sys; from vlgate.sources.scenes.scenes import read;"
        "from vlgate.sources.reading.source import ReadOptions;"
        "list(read(ReadOptions(folders=(), seed=0, wanted=lambda _: True)));"
        "slow = {'PIL', 'cv2', 'torch', 'pytest', 'vlgate.fixtures.scenes.stencils', 'vlgate.perturb.questions',"
        "'vlgate.fixtures.scenes.objects.catalogue', 'vlgate.sources.scenes.made'};"
        "print(sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.fixture(scope="module")
def made():
    return list(make(TASKS, SHIPPED_SEED))


@pytest.mark.slow
def test_the_shipped_tasks_are_those_that_are_made(made, world):
    assert contents(made) == read_contents()
    assert FILE.stat().st_size < 600_000
    assert made == list(world.values())
    for task in made:
        assert graphs(task) == graphs(world[task.id])


def test_the_shipped_images_are_those_that_are_made(made, world):
    for name in ("scenes/actant-swap", "scenes/visual-inv", "scenes/mirror-inv", "scenes/occlusion-dir"):
        [task] = [task for task in made if task.id == name]
        for case, same in zip(task.cases[:6], world[name].cases[:6], strict=True):
            for request, other in zip(case.requests, same.requests, strict=True):
                assert request.image.load().tobytes() == other.image.load().tobytes()


def test_the_version_changes_with_the_content_and_only_drawn_images_can_be_shipped(made, monkeypatch, tmp_path):
    assert re.fullmatch(r"[0-9a-f]{12}", before := shipped_version())
    monkeypatch.setattr("vlgate.sources.scenes.scenes.FILE", tmp_path / "default.zip")
    write(contents(made), tmp_path / "default.zip")
    assert shipped_version() == before
    write(contents([replace(made[0], note="changed"), *made[1:]]), tmp_path / "default.zip")
    assert shipped_version() != before
    image = LazyImage(key="photograph", load=int)
    case = replace(made[0].cases[0], requests=(Match(image=image, text="A cup."),))
    with pytest.raises(TypeError, match="'photograph' is neither drawn"):
        contents([replace(made[0], cases=(case,))])


def asked(**options):
    paths = {name: Path(name) for name in ("folder", "thresholds", "results")}
    return [task.id for task in make_plan(Options(**paths, **options)).tasks]


def test_the_counterfactual_tasks_are_asked_only_by_a_pattern_and_for_any_seed(tmp_path):
    pair = {"task": "mine/a", "image": "a.png", "caption": "x", "foil": "y"}
    (tmp_path / "cases.jsonl").write_text(json.dumps(pair))
    assert not any(name.startswith("counterfactual") for name in asked())
    assert asked(data=(tmp_path,)) == ["mine/a"]
    assert asked(suite=("counterfactual/*",)) == ["counterfactual/captions", "counterfactual/questions"]
    assert asked(suite=("counterfactual/q*",), seed=5) == ["counterfactual/questions"]


def test_the_report_splits_the_errors_of_the_counterfactual_tasks():
    shares = {"acc_normal": 0.9, "acc_counterfactual": 0.2, "prior_rate": 0.5, "unread_rate": 0.1}
    metrics = {name: {"value": value, "low": 0.4, "high": 0.6, "n": 20} for name, value in shares.items()}
    tasks = {"counterfactual/questions": {"metrics": metrics, "slices": {"kind=a": metrics}}, "scenes/x": {}}
    tasks["scenes/x"] = {"metrics": {"acc_r": metrics["prior_rate"]}, "slices": {}}
    whole, part = recorded_splits(tasks)
    assert (whole.task, whole.part, part.part) == ("counterfactual/questions", "", "kind=a")
    assert (whole.right, whole.prior, whole.unread) == (0.2, 0.5, 0.1)
    assert whole.other == pytest.approx(0.2)
