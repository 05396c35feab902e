"""Traps of released scorers and files that no reader repeats, beside those of models that do not look."""

import numpy as np
import pytest
import releases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from releases import only, write

from vlgate.audit.flaws import examine
from vlgate.judging.verdicts import judge
from vlgate.metrics.compute import columns, metrics
from vlgate.sources.benchmarks.captions import symmetric
from vlgate.types import Batch, Prediction


def verdicts(task, reply, **how):
    """What becomes of each case; ``reply`` gives the score or answer of (number of the case, place in the case)."""
    said = {}
    for number, case in enumerate(task.cases):
        for index, request in enumerate(case.requests):
            found = reply(number, index)
            kept = {"answer": found} if isinstance(found, str) else {"score": float(found)}
            said[request] = Prediction(request=request, **kept)
    return judge(Batch(task=task, positions=tuple(range(len(task.cases))), **how), said)


def figures(task, reply):
    return {name: metric.value for name, metric in metrics(columns(task.shape, verdicts(task, reply))).items()}


RELATIONS = ("wearing", "next to", "to the left of", "near", "riding")
FEW = st.integers(0, 2)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15, deadline=None)
@given(cases=st.lists(st.tuples(st.sampled_from(RELATIONS), FEW, FEW), min_size=2, max_size=25))
def test_aro_s_mean_is_over_relations_with_and_without_the_symmetric_ones(tmp_path, cases):
    """A relation with many cases weighs as much as one with few, and the symmetric ones count in ``macro_all`` only."""
    records = [releases.aro(name, (n, 0, 9, 9)) for n, (name, _, _) in enumerate(cases)]
    write(tmp_path / "aro/visual_genome_relation.json", records)
    by_class = {}
    for name, true, false in cases:  # the release puts [false, true] and asks for the place of the highest
        by_class.setdefault(name, []).append(int(np.argmax([false, true]) == 1))
    kept = [np.mean(of) for name, of in by_class.items() if name not in symmetric()]
    found = figures(only("aro", tmp_path), lambda number, place: cases[number][1 + place])
    assert found["macro_all"] == pytest.approx(np.mean([np.mean(of) for of in by_class.values()]))
    assert found.get("macro") == (pytest.approx(np.mean(kept)) if kept else None)
    assert found["acc_r"] == pytest.approx(np.mean([one for of in by_class.values() for one in of]))


def test_aro_s_pairs_of_attributes_below_25_cases_are_in_macro_all_only(tmp_path):
    of = [["old", "red"]] * 25 + [["red", "old"]] * 24
    records = [releases.aro(box=(n, 0, 9, 9), attributes=pair) for n, pair in enumerate(of)]
    write(tmp_path / "aro/visual_genome_attribution.json", records)
    found = figures(only("aro", tmp_path), lambda number, place: (number < 25) == (place == 0))
    assert (found["macro"], found["macro_all"], found["acc_r"]) == (1.0, 0.5, pytest.approx(25 / 49))


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        *(("multiple_choice", answer) for answer in ("This is a dog.", "A dog sleeps, and a cat plays.", "a or b", "")),
        *(("yes_no", answer) for answer in ("Yes and no.", "There is no way to tell.", "It is noisy.", "Maybe.")),
    ],
)
def test_the_article_or_a_no_of_a_sentence_is_no_answer_of_naturalbench(tmp_path, kind, answer):
    write(tmp_path / "naturalbench/a.parquet", [releases.naturalbench(0, kind)])
    found = figures(only("naturalbench", tmp_path), lambda *_: answer)
    assert (found["q_image_acc"], found["read"]) == (0.0, 0.0)


@pytest.mark.parametrize("answer", ["", "maybe", "It isn't clear.", "yes and no"])
def test_an_answer_of_pope_without_a_no_is_no_yes(tmp_path, answer):
    write(tmp_path / "pope/coco_pope_random.json", [releases.pope(n, text=f"{n}?") for n in range(4)])
    found = figures(only("pope", tmp_path), lambda *_: answer)
    assert (found["accuracy"], found["recall"], found["f1"], found["yes_share"]) == (0, 0, 0, 0)
    assert "precision" not in found  # the release divides by zero


def test_the_share_of_yes_is_that_of_the_answers_and_not_of_the_truths(tmp_path):
    records = [releases.pope(n, label, text=f"{n}?") for n, label in enumerate(("yes", "no", "no", "no"))]
    write(tmp_path / "pope/coco_pope_random.json", records)
    assert figures(only("pope", tmp_path), lambda *_: "yes")["yes_share"] == 1.0


def test_a_question_that_pope_repeats_is_shown(tmp_path):
    records = [releases.pope(1), releases.pope(2, "no", text="Is there a dog in the image?"), releases.pope(3)]
    write(tmp_path / "pope/gqa_pope_seem_adversarial.json", records)
    task = only("pope", tmp_path)
    assert [case.id for case in task.cases] == ["1", "2", "3"]
    [flaw] = [one for one in examine(task) if one.name == "duplicate"]
    assert (flaw.count, flaw.examples) == (1, ("3",))


@pytest.mark.parametrize("ties", ["strict", "half"])
def test_a_negative_of_sugarcrepe_pp_that_equals_the_caption_is_never_right(tmp_path, ties):
    write(
        tmp_path / "sugarcrepe-pp/swap_obj.json",
        [releases.record("sugarcrepe-pp", caption="A cat sits.", negative_caption="A cat sits.")],
    )
    task = only("sugarcrepe-pp", tmp_path)
    [verdict] = verdicts(task, lambda _, place: (0.5, 0.9, 0.5)[place], ties=ties)
    assert not verdict.right
    assert examine(task)


def test_a_tie_of_mmvp_is_wrong_for_either_text(tmp_path):
    rows = [f"{n},Orientation,a dog {n}" for n in range(1, 5)]
    write(tmp_path / "mmvp-vlm/Questions.csv", releases.csv("Question ID,Type,Statement", rows))
    scores = [(1, 0, 0, 0), (0, 0, 0, 1)]  # the second, then the first text ties
    found = figures(only("mmvp", tmp_path), lambda number, place: scores[number][place])
    assert (found["image"], found["macro"]) == (0.0, 0.0)


@pytest.mark.parametrize("last", [0.5, 0.4])
def test_the_first_of_equal_scores_is_not_right_in_whatsup(tmp_path, last):
    write(tmp_path / "whatsup/controlled_images_dataset.json", releases.whatsup())
    found = figures(only("whatsup", tmp_path), lambda _, place: (0.5, 0.5, 0.5, last)[place])
    assert (found["top1_text"], found["pair_all"], found["set_all"]) == (0.0, 0.0, 0.0)
