"""What the text-only baseline learns from, and how its figures are shown."""

import json
from dataclasses import replace

import numpy as np
import pytest

from vlgate.fixtures.scenes.scene_graphs import as_gqa, world_graphs
from vlgate.models.reference.blind import Blind
from vlgate.record.options import Options
from vlgate.record.results import raised
from vlgate.run.loading import blind_predictor, lessons
from vlgate.run.planning import make_plan
from vlgate.sources.graphs.annotated import LEAST
from vlgate.types import Metric


def metric(value):
    return Metric(value=value, low=value / 2, high=value, n=30)


def test_a_figure_below_chance_is_shown_as_chance():
    found = raised({"acc_r": metric(0.25), "auroc": metric(0.75), "p_c": metric(0.125)}, {"acc_r": 0.5, "auroc": 0.5})
    assert {name: (one.low, one.value, one.high) for name, one in found.items()} == {
        "acc_r": (0.125, 0.5, 0.5),
        "auroc": (0.375, 0.75, 0.75),
        "p_c": (0.0625, 0.125, 0.125),
    }


def test_an_error_rate_below_chance_stays_as_it_is():
    found = {"set_error": metric(0.1), "tp1_fp1": metric(0.1), "set_acc": metric(0.1)}
    shown = raised(found, dict.fromkeys(found, 0.25))
    assert {name: one.value for name, one in shown.items()} == {"set_error": 0.1, "tp1_fp1": 0.1, "set_acc": 0.25}


def test_drawn_scenes_are_learnt_from_scenes_with_another_seed_and_other_tasks_are_not(tmp_path):
    options = Options(
        folder=tmp_path, suite=("scenes/relations",), results=tmp_path, thresholds=tmp_path / "thresholds.toml"
    )
    tasks = make_plan(options).tasks
    found = lessons(tasks, options)
    assert list(found) == ["scenes/relations"]
    [more] = found["scenes/relations"]
    assert not keys(tasks[0].cases) & keys(more.cases)
    assert all(map(more.judges, keys(tasks[0].cases)))
    assert lessons((), options) == {}


def keys(cases):
    return {request.image.key for case in cases for request in case.requests}


def graphs_task(folder, seed, graphs, tests, pairs):
    """The tasks of a folder with drawn scene graphs in GQA's format, and the options of the run."""
    (folder / "gqa").mkdir(parents=True)
    content = {str(7000 + index): as_gqa(graph) for index, graph in enumerate(world_graphs(seed, graphs))}
    (folder / "gqa/train_sceneGraphs.json").write_text(json.dumps(content))
    options = Options(
        folder=folder,
        data=(folder,),
        suite=tuple(f"scene-graphs/{test}" for test in tests),
        results=folder,
        thresholds=None,
        pairs=pairs,
    )
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


def test_a_small_corpus_has_no_lesson_so_the_baseline_is_cross_validated(tmp_path):
    tasks, options = graphs_task(tmp_path, 1, 6, ["order-inv"], 60)
    assert tasks[0].cases
    assert lessons(tasks, options) == {}
    assert blind_predictor(options, tasks).model.answer(tasks[0].cases[0].requests)


def above_chance(task, found):
    """By how much the baseline's share of right answers is above that of guessing."""
    model = Blind()
    model.study(found)
    model.prepare([task])
    return np.mean(
        [
            (model.answer([asked])[0] == truth) - 1 / len(asked.choices)
            for case in task.cases
            for asked, truth in zip(case.requests, case.truths, strict=True)
        ]
    )


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
