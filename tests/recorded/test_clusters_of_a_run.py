"""The cases of one image are one cluster in the run, in its folder judged again, and in a comparison with it."""

import time

import numpy as np
import pytest
from builders import image, quads_task, tabled, texts_task

from tests.report.page.page_runs import result_of
from vlgate.audit.shortcuts import shortcuts
from vlgate.metrics.clusters import case_clusters, clusters, connected
from vlgate.metrics.compute import columns_of
from vlgate.metrics.shapes import SHAPES
from vlgate.metrics.text_learning import stratified_folds, tied_images
from vlgate.record.cases import case_tables, judged_tasks
from vlgate.record.comparison import read_earlier
from vlgate.record.folder import read_run
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.parquet import case_table
from vlgate.report.folder import write_figures, write_rows
from vlgate.run.together import asked_together
from vlgate.types import Ask, Case, Match, Read, Task

ASKED = {"questions": 1, "single": 1, "question_quad": 2, "twin_questions": 2}
SEVERAL = ("quad", "image_quad", "twin_captions", "image_choice", "question_quad", "twin_questions")
CASES = 24


def requests_of(shape, number, own, others):
    """The requests of a case and their truths: the image of the true text is ``own``."""
    texts = [f"{number} {word}" for word in ("one", "two", "three", "four")]
    if shape in ("quad", "image_quad", "twin_captions"):
        pairs = [(one, text) for one in (own, others[0]) for text in texts[:2]]
        return tuple(Match(image=one, text=text) for one, text in pairs), (True, False, False, True)
    if shape == "image_choice":
        shown = (own, *others[: 1 + number % 3])
        return tuple(Match(image=one, text=texts[0]) for one in shown), (True, *(False,) * (len(shown) - 1))
    if shape in ASKED:
        choices = ("first", "second") if number % 2 else ("yes", "no")
        pairs = {
            "single": [(own, 0)],
            "questions": [(own, 0), (own, 1)],
            "twin_questions": [(own, 0), (others[0], 0)],
            "question_quad": [(own, 0), (own, 1), (others[0], 0), (others[0], 1)],
        }[shape]
        choices = ("yes", "no") if shape == "single" else choices
        truths = [choices[1], choices[0], choices[0], choices[1]][: len(pairs)]
        return tuple(Ask(image=one, question=texts[at], choices=choices) for one, at in pairs), tuple(truths)
    true, false = {"pair": (1, 1), "choice": (1, 1 + number % 3), "two_true": (2, 1)}.get(shape, (2, 2))
    return tuple(Match(image=own, text=text) for text in texts[: true + false]), (True,) * true + (False,) * false


def task_of(shape, kind):
    """Four cases to an image, whose key is a file, a region of it, or one with a bar in its name."""
    cases = []
    for number in range(CASES):
        key = {"file": f"a{number // 4}.jpg", "region": f"a{number // 4}.jpg#{number},0,9,9"}.get(kind)
        own = image(key or f"a | {number // 4}.jpg")
        requests, truths = requests_of(shape, number, own, [image(f"b{number}-{at}.jpg") for at in range(3)])
        cases.append(Case(id=f"case#{number}", requests=requests, truths=truths))
    return Task(id=f"x/{shape}", capability="foil", shape=shape, cases=tuple(cases))


def partition(codes):
    return clusters([str(code) for code in codes]).codes.tolist()


@pytest.mark.parametrize("kind", ["file", "region", "bar"])
@pytest.mark.parametrize("ask", ["apart", "together"])
def test_every_shape_has_the_same_clusters_and_intervals_everywhere(ask, kind, tmp_path):
    shapes = SEVERAL if ask == "together" else tuple(SHAPES)
    tasks = [task_of(shape, kind) for shape in shapes]
    tasks = list(asked_together(tasks, 0)[0]) if ask == "together" else tasks
    options = Options(folder=tmp_path, thresholds=None, results=tmp_path, ask=ask)
    result = result_of(tasks, gates=())
    assert write_rows(result, options) == []
    assert write_figures(result, ModelCard(name="oracle"), options, 1) == []
    run = read_run(tmp_path, "run")
    again, earlier = judged_tasks(run, case_tables(run)), read_earlier(tmp_path, "--baseline run")
    for one in result.results:
        name = one.task.id
        assert again[name].metrics == {metric: one.metrics[metric] for metric in again[name].metrics}
        assert set(again[name].metrics) == set(one.metrics)
        found = partition(one.columns.images)
        assert partition(again[name].columns.images) == found
        assert partition(earlier.tasks[name].clusters) == found
        assert partition(case_table(one.task, one.verdicts).clusters) == found
        if kind != "bar":
            assert found == [number // 4 for number in range(CASES)]


def test_a_case_without_an_image_is_its_own_cluster_whatever_its_id():
    """An id with a number sign names no region of an image."""
    asked = tuple(Read(text=text) for text in ("a cup", "a cat"))
    cases = [Case(id=f"case#{number}", requests=asked, truths=(True, False)) for number in range(2)]
    assert case_clusters(cases) == ("case#0", "case#1")


def quads(images_of_each):
    """Quads, each about two images, named as given."""
    rows = [(*keys, f"{number} one", f"{number} two") for number, keys in enumerate(images_of_each)]
    return quads_task(*rows).cases


@tabled
def test_cases_that_share_any_image_are_one_cluster_whatever_the_order(shown, sizes):
    for order in (shown, shown[::-1]):
        assert sorted(clusters(case_clusters(quads(order))).sizes, reverse=True) == list(sizes)
    columns = columns_of("quad", quads(shown), [{}] * len(shown), np.zeros(4 * len(shown)), np.zeros(4 * len(shown)))
    assert partition(columns.images) == partition(clusters(case_clusters(quads(shown))).codes)
    folds = tied_images(quads(shown))
    assert len(set(folds.values())) == len(sizes)


def test_the_boxes_of_a_photograph_are_in_one_fold_and_one_cluster_of_every_probe():
    """Texts that say nothing but which of two words is true of their photograph."""
    texts = ("a cat {}", "a cup {}")
    task = texts_task(
        *(
            (f"{number}.jpg#{box},0,9,9", *(text.format(number) for text in texts[:: -1 if number % 2 else 1]))
            for number in range(40)
            for box in range(4)
        )
    )
    folds = stratified_folds(task.cases)
    assert all(len({folds[f"{photograph}.jpg#{box},0,9,9"] for box in range(4)}) == 1 for photograph in range(40))
    scored = shortcuts(task)
    assert len(set(scored.images)) == 40
    assert scored.reached("words").value <= 0.7


def test_a_million_cases_are_numbered_in_seconds():
    """A chain of images is the slowest case of a union that keeps no ranks."""
    n = 100_000
    chain = ((f"{number:06}", f"{number + 1:06}") for number in range(n))
    backwards = ((f"{number:06}", f"{number + 1:06}") for number in reversed(range(n)))
    for links in (chain, backwards):
        started = time.process_time()
        assert set(connected(links).values()) == {"000000"}
        assert time.process_time() - started < 5


@pytest.mark.parametrize("ending", [".png", ".jpeg", ".JPG", ".webp"])
def test_a_name_with_a_number_sign_is_that_of_an_image_of_its_own(ending):
    names = [f"shot#{number}{ending}" for number in range(3)]
    regions = [f"{name}{made}" for name in names for made in ("", "#0,0,9,9", "#0,0,9.5,9#blur", "#mix=0.25")]
    assert [connected([[key]])[key] for key in regions] == [name for name in names for _ in range(4)]
    assert connected([["album#2/a.png"]]) == {"album#2/a.png": "album#2/a.png"}
