"""The cases of one image are one cluster in the run, in its folder judged again, and in a comparison with it."""

import pytest

from tests.report.page.page_runs import result_of
from vlgate.comparing.cases import judged_cases
from vlgate.comparing.earlier import read_earlier
from vlgate.metrics.clusters import cluster_of, clusters
from vlgate.metrics.names import NAMES
from vlgate.recorded.cases import read_cases
from vlgate.recorded.folder import read_run
from vlgate.recorded.judged import judged_tasks
from vlgate.report.folder import write_figures, write_rows
from vlgate.run.model_card import ModelCard
from vlgate.run.options import Options
from vlgate.run.together import asked_together
from vlgate.types import Ask, Case, LazyImage, Match, Read, Task

ASKED = {"questions": 1, "single": 1, "question_quad": 2, "twin_questions": 2}
SEVERAL = ("quad", "image_quad", "twin_captions", "image_choice", "question_quad", "twin_questions")
CASES = 24


def image(key):
    return LazyImage(key=key, load=lambda: pytest.fail("an image was decoded"))


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
    shapes = SEVERAL if ask == "together" else tuple(NAMES)
    tasks = [task_of(shape, kind) for shape in shapes]
    tasks = list(asked_together(tasks, 0)[0]) if ask == "together" else tasks
    options = Options(folder=tmp_path, thresholds=None, results=tmp_path, ask=ask)
    result = result_of(tasks, gates=())
    assert write_rows(result, options) == []
    assert write_figures(result, ModelCard(name="oracle"), options, 1) == []
    run = read_run(tmp_path, "run")
    again, earlier = judged_tasks(run, read_cases(run)), read_earlier(tmp_path, "--baseline run")
    for one in result.results:
        name, shape = one.task.id, one.task.shape
        assert again[name].metrics == {metric: one.metrics[metric] for metric in again[name].metrics}
        assert set(again[name].metrics) == set(one.metrics)
        found = partition(one.columns.images)
        assert partition(again[name].columns.images) == found
        assert partition(earlier.tasks[name].images) == found
        assert partition(judged_cases(one.verdicts, shape).images) == found
        if kind != "bar":
            assert found == [number // 4 for number in range(CASES)]


def test_a_case_without_an_image_is_its_own_cluster_whatever_its_id():
    """An id with a number sign names no region of an image."""
    asked = tuple(Read(text=text) for text in ("a cup", "a cat"))
    cases = [Case(id=f"case#{number}", requests=asked, truths=(True, False)) for number in range(2)]
    assert [cluster_of(case, "pair") for case in cases] == ["case#0", "case#1"]
