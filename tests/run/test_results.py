"""The figures of a run: its text-only baseline, its checks, its averages."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders import asked_task, coloured, image, judged, pair_case, task_of

from vlgate.asking.batching import Caller
from vlgate.asking.cache.store import Memory
from vlgate.asking.checks.check import CAPTIONS, REQUESTS
from vlgate.asking.dedupe import Identities
from vlgate.asking.predictor import ModelPredictor
from vlgate.asking.reply_cache import ReplyCache
from vlgate.fixtures.scenes.scene_graphs import as_gqa, world_graphs
from vlgate.metrics.compute import metrics
from vlgate.models.reference.blind import Blind
from vlgate.record.options import Options
from vlgate.record.results import averages, raised, task_metrics
from vlgate.run.loading import CHECKED_CASES, blind_predictor, checks_of, lessons
from vlgate.run.planning import make_plan
from vlgate.sources.graphs.annotated import LEAST
from vlgate.sources.registry import shapes_of
from vlgate.types import Ask, Case, Metric, Task

VALSE, CHECKLIST = shapes_of("valse", ()), shapes_of("vl-checklist", ())


def result_of(task, replies):
    """The figures of a task whose requests get these replies, by request."""
    rows = [[replies[request] for request in case.requests] for case in task.cases]
    return task_metrics(task, judged(task, rows), ())


def pairs(name, n, right):
    """The result of n pairs, some of them right; all of them have the tag ``part=all``."""
    task = task_of([pair_case(i, tags={"part": "all"}) for i in range(n)], name)
    scores = {}
    for i, case in enumerate(task.cases):
        true, false = case.requests
        scores[true] = {"score": i / n, "accepted": True}
        scores[false] = {"score": i / n + (0.5 if i >= right else -0.5), "accepted": False}
    return result_of(task, scores)


def test_a_response_is_counted_by_its_first_word():
    said = {
        "1": ("Yes, there is a cup.", "No. There are none of them."),
        "2": ("yes: two", "YES"),
        "3": ("no, it is not", "The answer is yes."),
    }
    task = asked_task(*((number, "a?", "yes", "b?", "no") for number in said), case="")
    kinds = ({"question_type": kind, "other": "tag"} for kind in ("verify", "logical", "logical"))
    cases = [replace(case, tags=tags, id=key) for case, tags, key in zip(task.cases, kinds, said, strict=True)]
    task = replace(task, cases=tuple(cases), capability="directional")
    replies = {r: {"answer": a} for c in cases for r, a in zip(c.requests, said[c.id], strict=True)}
    assert result_of(task, replies).responses == {
        "all": {"yes": pytest.approx(3 / 6), "no": pytest.approx(2 / 6), "other": pytest.approx(1 / 6)},
        "question_type=logical": {"yes": 0.5, "no": 0.25, "other": 0.25},
        "question_type=verify": {"yes": 0.5, "no": 0.5, "other": 0.0},
    }


def test_a_slice_has_the_interval_of_its_cases_and_an_average_the_number_of_tasks_with_all_data():
    found = pairs("valse/existence", 40, right=25)
    whole, part = found.metrics["auroc"], found.slices["part=all"]["auroc"]
    assert part == whole == metrics(found.columns)["auroc"]
    results = [
        pairs("valse/existence", 4, right=3),
        pairs("valse/plurality", 4, right=1),
        pairs("vl-checklist/attribute/color/vg", 4, right=2),
    ]
    rows, gaps = averages(results, [*VALSE, *CHECKLIST, "scenes/foil-it"])
    valse, checklist, colour = (
        rows[name] for name in ("valse:acc_r", "vl-checklist:acc_r", "vl-checklist/attribute/color:acc_r")
    )
    assert (valse.value, valse.tasks, valse.of) == (0.5, 2, 11)
    assert (checklist.value, checklist.tasks, checklist.of) == (0.5, 1, 56)
    assert (colour.tasks, colour.of) == (1, len([t for t in CHECKLIST if "/color/" in t]))
    assert colour.of > 1
    assert gaps == {}


@pytest.mark.parametrize("replies", [("no idea", "no idea"), ("red", "no idea"), ("no idea", "blue")])
def test_an_unread_answer_about_twins_is_counted(replies):
    asked = {"question": "Which colour?", "choices": ("red", "blue")}
    twins = [tuple(Ask(image=image(f"{n}{side}"), **asked) for side in "ab") for n in range(6)]
    cases = tuple(Case(id=str(n), requests=pair, truths=("red", "blue")) for n, pair in enumerate(twins))
    task = Task(id="x/twins", capability="foil", shape="twin_questions", cases=cases)
    said = {request: {"answer": reply} for pair in twins for request, reply in zip(pair, replies, strict=True)}
    found = result_of(task, said)
    assert found.unread == found.coverage.unread == 6
    assert "read" not in found.metrics


def metric(value):
    return Metric(value=value, low=value / 2, high=value, n=30)


def test_a_figure_below_chance_is_shown_as_chance_and_an_error_rate_as_it_is():
    found = raised({"acc_r": metric(0.25), "auroc": metric(0.75), "p_c": metric(0.125)}, {"acc_r": 0.5, "auroc": 0.5})
    assert {name: (one.low, one.value, one.high) for name, one in found.items()} == {
        "acc_r": (0.125, 0.5, 0.5),
        "auroc": (0.375, 0.75, 0.75),
        "p_c": (0.0625, 0.125, 0.125),
    }
    found = {"set_error": metric(0.1), "tp1_fp1": metric(0.1), "set_acc": metric(0.1)}
    shown = raised(found, dict.fromkeys(found, 0.25))
    assert {name: one.value for name, one in shown.items()} == {"set_error": 0.1, "tp1_fp1": 0.1, "set_acc": 0.25}


def test_drawn_scenes_are_learnt_from_another_seed_and_a_small_corpus_has_no_lesson(tmp_path):
    options = Options(folder=tmp_path, suite=("scenes/relations",), results=tmp_path, thresholds=None)
    tasks = make_plan(options).tasks
    found = lessons(tasks, options)
    assert list(found) == ["scenes/relations"]
    [more] = found["scenes/relations"]
    assert not keys(tasks[0].cases) & keys(more.cases)
    assert all(map(more.judges, keys(tasks[0].cases)))
    assert lessons((), options) == {}
    tasks, options = graphs_task(tmp_path, 1, 6, ["order-inv"], 60)
    assert tasks[0].cases
    assert lessons(tasks, options) == {}
    assert blind_predictor(options, tasks).model.answer(tasks[0].cases[0].requests)


def keys(cases):
    return {request.image.key for case in cases for request in case.requests}


def graphs_task(folder, seed, graphs, tests, pairs):
    """The tasks of a folder with drawn scene graphs in GQA's format, and the options of the run."""
    (folder / "gqa").mkdir(parents=True)
    content = {str(7000 + index): as_gqa(graph) for index, graph in enumerate(world_graphs(seed, graphs))}
    (folder / "gqa/train_sceneGraphs.json").write_text(json.dumps(content))
    suite = tuple(f"scene-graphs/{test}" for test in tests)
    options = Options(folder=folder, data=(folder,), suite=suite, results=folder, thresholds=None, pairs=pairs)
    return make_plan(options).tasks, options


def test_questions_from_scene_graphs_are_learnt_from_the_graphs_of_the_other_half(tmp_path):
    tasks, options = graphs_task(tmp_path, 1, 60, ["visual-inv", "negation-dir"], 60)
    found = lessons(tasks, options)
    assert set(found) == {task.id for task in tasks} == {"scene-graphs/visual-inv", "scene-graphs/negation-dir"}
    for task in tasks:
        base = {key.partition("#")[0] for key in keys(task.cases)}
        judged = [{key for key in base if lesson.judges(key)} for lesson in found[task.id]]
        assert judged[0] | judged[1] == base
        assert not judged[0] & judged[1]
        assert all(judged)
        for lesson in found[task.id]:
            assert len(lesson.cases) >= LEAST
            assert not any(lesson.judges(key) for key in keys(lesson.cases))


def above_chance(task, found):
    """By how much the baseline's share of right answers is above that of guessing."""
    model = Blind()
    model.study(found)
    model.prepare([task])
    pairs = [pair for case in task.cases for pair in zip(case.requests, case.truths, strict=True)]
    return np.mean([(model.answer([asked])[0] == truth) - 1 / len(asked.choices) for asked, truth in pairs])


def permuted(task, seed):
    """The task with the answers of questions with the same choices exchanged."""
    alike = {}
    for index, case in enumerate(task.cases):
        alike.setdefault(tuple(tuple(sorted(asked.choices)) for asked in case.requests), []).append(index)
    truths = [case.truths for case in task.cases]
    for places in alike.values():
        for place, other in zip(places, np.random.default_rng(seed).permutation(places), strict=True):
            truths[place] = task.cases[other].truths
    return replace(task, cases=tuple(replace(case, truths=t) for case, t in zip(task.cases, truths, strict=True)))


@pytest.mark.slow
def test_the_baseline_of_balanced_questions_is_at_chance_with_their_own_and_with_permuted_answers(tmp_path):
    own, mixed = [], []
    for seed in range(8):
        tasks, options = graphs_task(tmp_path / str(seed), seed, 40, ["order-inv", "negation-dir"], 100)
        found = lessons(tasks, options)
        assert len(found) == 2
        own.append(np.mean([above_chance(task, found) for task in tasks]))
        mixed.append(np.mean([above_chance(permuted(task, seed), found) for task in tasks]))
    for gains in (own, mixed):
        assert abs(np.mean(gains)) < max(0.01, 2 * np.std(gains, ddof=1) / 8**0.5)


ASKED = 2 * CHECKED_CASES  # requests of the one task, in each round
ALONE, GROUPS = 4 * 5, 5  # near-copies: five of each request of two cases alone, and five groups
CALL = 64  # requests in a call of the run, which the reverse round fills
OPTIONS = Options(folder=Path(), thresholds=None, results=Path(), model="none:build")


def task(n=80, each=1, first=0):
    cases = []
    for number in range(first, first + n):
        texts = (f"It is the number {number}.", f"It is the number {number + n}.")
        cases.append(pair_case(number, *texts, coloured(f"{number // each * each}.jpg")))
    return task_of(cases, f"own/numbers-{first}")


class Counting:
    """Counts the items and the calls of each method."""

    image_names = True

    def __init__(self):
        self.items, self.calls = 0, 0

    def _count(self, some):
        self.items += len(some)
        self.calls += 1


class Matching(Counting):
    def match(self, pairs):
        self._count(pairs)
        return np.array([float(f" {pair.image.key[:-4]}." in pair.text) for pair in pairs])


class Encoding(Counting):
    def encode_images(self, images):
        self._count(images)
        return np.eye(80)[[int(image.key[:-4]) for image in images]]

    def encode_texts(self, texts):
        self._count(texts)
        return np.eye(160)[[int(re.findall(r"\d+", text)[0]) for text in texts]][:, :80]


def checked(model, each=1, tasks=1):
    """The outcomes of the checks after a run with ``each`` cases of an image, and what they asked: items and calls."""
    memory, tasks = Memory(), [task(each=each, first=160 * number) for number in range(tasks)]
    cache = ReplyCache(memory=memory, identities=Identities(memory=memory, by_name=True), model=b"")
    caller = Caller(name="counting", size=CALL)
    predictor = ModelPredictor(model=model, name="counting", caller=caller, cache=cache, seed=0)
    predictor.predict(request for task in tasks for case in task.cases for request in case.requests)
    asked = cache.counts.asked
    model.items = model.calls = 0
    found = {check.name: check.outcome for check in checks_of(predictor, tasks, OPTIONS, "digest")}
    assert cache.counts.asked == asked  # the counts are those of the run
    return found, model.items, model.calls


def test_the_checks_of_a_matcher_share_a_round_and_that_of_polarity_encodes_nothing_again():
    found, items, calls = checked(Matching())
    assert set(found.values()) == {"ok"}
    # together, in reverse, one at a time, together again; texts of other images; near-copies
    assert items == 3 * ASKED + CALL + CAPTIONS + ALONE + GROUPS * ASKED
    assert calls == 1 + 1 + ASKED + 1 + 1 + ALONE + GROUPS
    found, items, _ = checked(Encoding())
    assert set(found.values()) == {"ok"}
    images, texts = CHECKED_CASES, ASKED
    anew = 2 * ALONE + GROUPS * (images + texts)
    assert items == 3 * (images + texts) + (CALL // 2 + CALL) + anew


class Wide(Encoding):
    def encode_images(self, images):
        self._count(images)
        return np.eye(80)[[int(image.key[:-4]) % 80 for image in images]]

    def encode_texts(self, texts):
        self._count(texts)
        return np.eye(80)[[int(re.findall(r"\d+", text)[0]) % 80 for text in texts]]


def test_the_reverse_round_of_many_tasks_fills_one_call():
    _, items, _ = checked(Wide(), tasks=20)
    rounds = (3 + GROUPS) * 2 * REQUESTS + 2 * ALONE  # each of images and texts
    assert items <= rounds + CALL + 2 * CALL


class Falling(Matching):
    def match(self, pairs):
        if len(pairs) == ASKED:
            raise ValueError("the model fell")
        return super().match(pairs)


class Drifting(Matching):
    def match(self, pairs):
        return super().match(pairs) + 0.5 * self.calls


class Crowded(Matching):
    """Right in a full call only."""

    def match(self, pairs):
        return super().match(pairs) * (len(pairs) > CALL // 2)


class Remembering(Matching):
    """Its memory would hide that its scores depend on the batch, if the checks asked about one image."""

    def match(self, pairs):
        known = self.__dict__.setdefault("known", {})
        scores = super().match(pairs) + len(pairs)
        return np.array([known.setdefault((p.image.key, p.text), s) for p, s in zip(pairs, scores, strict=True)])


@pytest.mark.parametrize(
    ("kind", "each", "expected"),
    [
        (Falling, 1, {"polarity": "ok", "batch_invariance": "failed", "determinism": "failed"}),
        (Drifting, 1, {"determinism": "suspect"}),
        (Crowded, 1, {"batch_invariance": "suspect"}),
        (Remembering, 10, {"batch_invariance": "suspect"}),
    ],
)
def test_a_model_that_falls_drifts_or_depends_on_the_batch_is_found(kind, each, expected):
    found, *_ = checked(kind(), each)
    assert expected.items() <= found.items()
