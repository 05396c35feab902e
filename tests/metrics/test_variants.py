import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.metrics import score_rules
from vlgate.metrics.measures import GROUPED, group_codes
from vlgate.metrics.shapes import SHAPES
from vlgate.metrics.variants import VARIANTS, Evidence, _applying, how_it_differs, measures, names
from vlgate.sources.benchmarks import carets
from vlgate.sources.registry import shapes, shapes_of

answers = st.sampled_from(["yes", "no", "Yes.", "left"])  # "left" is none of the choices
few_scores = st.integers(-2, 2).map(float)  # many ties
files = st.lists(st.integers(1, 5), min_size=1, max_size=3)  # how many cases are in each file


@st.composite
def answered(draw, *, same):
    """Pairs as (first answer, second answer, first truth, second truth), and the file of each."""
    sizes = draw(files)
    pairs = []
    for _ in range(sum(sizes)):
        truth = draw(st.sampled_from(["yes", "no"]))
        other = truth if same else {"yes": "no", "no": "yes"}[truth]
        pairs.append((draw(answers), draw(answers), truth, other))
    return pairs, [f"{index}.json" for index, size in enumerate(sizes) for _ in range(size)]


def evidence(pairs, names):
    return Evidence(
        answers=np.array([pair[:2] for pair in pairs], dtype=object),
        truths=np.array([pair[2:] for pair in pairs], dtype=object),
        files=np.array(names),
    )


def values(task, evidence, variant="release"):
    found = measures([variant], task, evidence)
    return {name.partition("@")[0]: one.of(None, 0.95).value for name, one in found.items()}


def released(pairs, names, consistent, both):
    """As the released code is described: a new result for each file takes the place of the one before."""
    for name in dict.fromkeys(names):
        result = [pair for pair, file in zip(pairs, names, strict=True) if file == name]
    n = len(result)
    return {"cons": sum(map(consistent, result)) / n, "c_acc": sum(map(both, result)) / n}


BOTH_RIGHT = lambda pair: pair[0] == pair[2] and pair[1] == pair[3]  # noqa: E731
CARETS = [
    ("rephrase-inv order-inv visual-inv", True, lambda pair: pair[0] == pair[1], BOTH_RIGHT),
    ("ontological-inv", True, lambda pair: pair[0] != pair[2] or pair[0] == pair[1], BOTH_RIGHT),
    ("negation-dir antonym-dir", False, lambda pair: pair[0] != pair[1], lambda p: p[0] == p[2] and p[0] != p[1]),
]


@pytest.mark.parametrize(("tasks", "same", "consistent", "both"), CARETS, ids=[tasks for tasks, *_ in CARETS])
@given(data=st.data())
def test_carets(tasks, same, consistent, both, data):
    drawn = data.draw(answered(same=same))
    expected = released(*drawn, consistent, both)
    for task in tasks.split():
        assert values(f"carets/{task}", evidence(*drawn), "carets_release") == pytest.approx(expected)


def test_a_tie_between_choices_is_consistent_with_nothing_by_the_released_code_too():
    seen = evidence([(None, None, "yes", "no"), (None, "no", "yes", "no"), ("yes", None, "yes", "no")], ["a.json"] * 3)
    for task in ("carets/order-inv", "carets/negation-dir"):
        assert values(task, seen, "carets_release") == {"cons": 0, "c_acc": 0}


def test_the_files_come_in_the_order_of_the_release():
    """The variant takes the last file that the reader reads: the one that default.yml lists last."""
    last = {task: list(test.files(default_yml=True))[-1:] for task, test in carets.TASKS.items()}
    assert last == {
        "carets/rephrase-inv": ["object_verification_rel_template_test.json"],
        "carets/ontological-inv": ["object_choice_rel_ontology_ontology_test.json"],
        "carets/order-inv": ["object_choice_rel_symmetric_test.json"],
        "carets/visual-inv": [],
        "carets/negation-dir": ["object_verification_rel_negation_test.json"],
        "carets/antonym-dir": ["attribute_verification_antonym_test.json"],
    }


@given(st.lists(st.tuples(few_scores, few_scores), min_size=1))
def test_valse_by_its_formula(pairs):
    expected = sum(1 for caption, foil in pairs if foil <= caption) / (2 * len(pairs))
    found = values("valse/existence", Evidence(scores=np.array(pairs)), "valse_paper_ties")
    assert found == pytest.approx({"acc_r": expected})


@given(st.lists(st.tuples(*[few_scores] * 4), min_size=1))
def test_bla_by_ranks_as_the_released_code_makes_them(sets):
    right = both = neither = 0
    for scores in sets:
        ranks = [0] * 4
        for index, sentence in enumerate(sorted(range(4), key=scores.__getitem__)):  # sorted() is stable
            ranks[sentence] = 4 - index
        right += sum((rank <= 2) == (sentence < 2) for sentence, rank in enumerate(ranks))
        both += ranks[0] <= 2 and ranks[1] <= 2
        neither += ranks[2] <= 2 and ranks[3] <= 2
    expected = {"sen_acc": right / (4 * len(sets)), "set_acc": both / len(sets), "set_error": neither / len(sets)}
    assert values("bla/coordination", Evidence(scores=np.array(sets)), "bla_volta") == pytest.approx(expected)


def test_a_constant_model_has_a_set_error_of_one_by_bla_s_code():
    found = values("bla/active-passive", Evidence(scores=np.zeros((3, 4))), "bla_volta")
    assert found == {"sen_acc": 0.0, "set_acc": 0.0, "set_error": 1.0}


@pytest.mark.parametrize(("variant", "task", "width"), [("valse_paper_ties", "valse/x", 2), ("bla_volta", "bla/x", 4)])
def test_a_missing_score_is_an_error(variant, task, width):
    scores = np.zeros((2, width))
    scores[1, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        measures([variant], task, Evidence(scores=scores))


def test_a_variant_does_not_apply_unless_asked_for_and_not_to_other_tasks():
    for off in ([], ["valse_all"]):  # a way to read a benchmark is not a variant
        assert measures(off, "valse/existence", Evidence(scores=np.zeros((1, 2)))) == {}
        assert names(off, "valse/existence") == ()
    assert measures(VARIANTS, "winoground/all", Evidence(scores=np.zeros((1, 4)))) == {}
    assert names(VARIANTS, "winoground/all") == ()
    assert names(VARIANTS, "valse/existence") == ("acc_r@valse_paper_ties",)


@pytest.mark.parametrize("variant", sorted(set(VARIANTS) - {"release", "pope_release"}))
def test_each_variant_gives_the_metrics_it_names_and_they_are_those_of_the_shape(variant):
    shapes = dict(shapes_of("carets", ())) | shapes_of("valse", ()) | {"bla/coordination": "set"}
    some = Evidence(
        scores=np.zeros((1, 4)),
        answers=np.array([["yes", "no"]], dtype=object),
        truths=np.array([["yes", "no"]], dtype=object),
        files=np.array(["a.json"]),
    )
    tasks = [task for task in shapes if names([variant], task)]
    assert tasks
    for task in tasks:
        assert tuple(measures([variant], task, some)) == names([variant], task)
        assert {name.partition("@")[0] for name in names([variant], task)} <= set(SHAPES[shapes[task]].metrics)


def softmax(first, second):
    high = max(first, second)
    return np.exp(first - high) / (np.exp(first - high) + np.exp(second - high))


@given(st.lists(st.tuples(few_scores, few_scores), min_size=1))
def test_whatsup_s_pairs_take_the_first_of_the_highest(pairs):
    expected = sum(int(np.argmax(row)) == 0 for row in pairs) / len(pairs)
    for task in ("whatsup/coco-one", "whatsup/gqa-two"):
        assert values(task, Evidence(scores=np.array(pairs))) == pytest.approx({"acc_r": expected})


@given(
    st.lists(
        st.lists(st.tuples(few_scores, few_scores, few_scores, few_scores), min_size=4, max_size=4),
        min_size=1,
        max_size=5,
    )
)
def test_whatsup_s_photographs_pairs_and_sets_take_the_first_of_the_highest(sets):
    rows = [row for one in sets for row in one]
    right = [int(np.argmax(row)) == 0 for row in rows]
    expected = {
        "top1_text": sum(right) / len(right),
        "pair_all": sum(right[n] and right[n + 1] for n in range(0, len(right), 2)) / (len(right) / 2),
        "set_all": sum(all(right[n : n + 4]) for n in range(0, len(right), 4)) / (len(right) / 4),
    }
    tags = [{"pair_all": f"2 of {n // 2}", "set_all": f"4 of {n // 4}"} for n in range(len(rows))]
    found = values("whatsup/a", Evidence(scores=np.array(rows), groups=group_codes(tags)))
    assert found == pytest.approx(expected)


@given(st.lists(st.tuples(few_scores, few_scores, few_scores, few_scores), min_size=1, max_size=40))
def test_mmvp_s_ties_are_wrong_for_the_first_text_and_right_for_the_second(quads):
    right = []
    for i0c0, i0c1, i1c0, i1c1 in quads:
        says = [1 if softmax(i0c0, i1c0) > 0.5 else 2, 1 if softmax(i0c1, i1c1) > 0.5 else 2]
        right.append(says == [1, 2])
    patterns = [n // 15 for n in range(len(quads))]  # by position, as the release assigns them
    means = [np.mean([one for one, of in zip(right, patterns, strict=True) if of == p]) for p in set(patterns)]
    groups = group_codes([{"macro": str(pattern)} for pattern in patterns])
    found = values("mmvp/vlm", Evidence(scores=np.array(quads), groups=groups))
    assert found == pytest.approx({"image": np.mean(right), "macro": np.mean(means)})


def test_mmvp_s_constant_model_has_nothing_and_a_tie_of_the_second_text_is_credited():
    quads = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    assert [values("mmvp/vlm", Evidence(scores=quad[None]))["image"] for quad in quads] == [0.0, 1.0, 0.0]
    assert score_rules.quad_case_metrics(quads)["image"].tolist() == [0.0, 0.0, 0.0]


ODD = ["Yes", "no", "No.", "NO", "Not at all", "not", "", "isn't", "no!"]
ODD += ["No, there is.", "Yes, no", "It is unclear. No."]
ANSWERS = st.sampled_from(ODD) | st.text(alphabet="noNOt ,.yes", max_size=9)


def popes_reading(text):
    if text.find(".") != -1:
        text = text.split(".")[0]
    words = text.replace(",", "").split(" ")
    return "no" if "No" in words or "not" in words or "no" in words else "yes"


def counted(replies, reading):
    """The figures of yes and no answers; ``reading`` gives "yes", "no" or None for an answer that counts nowhere."""
    known = [(reading(answer) == "yes", truth) for answer, truth in replies if reading(answer) is not None]
    if not known:
        return {}
    tp, fp, fn, tn = (known.count(one) for one in ((True, True), (True, False), (False, True), (False, False)))
    found = {"accuracy": (tp + tn) / len(known), "yes_share": (tp + fp) / len(known)}
    found |= {"precision": tp / (tp + fp)} if tp + fp else {}
    found |= {"recall": tp / (tp + fn)} if tp + fn else {}
    return found | ({"f1": 2 * tp / (2 * tp + fp + fn)} if tp + fp + fn else {})


def yes_no(replies):
    return Evidence(
        answers=np.array([[answer] for answer, _ in replies], dtype=object),
        truths=np.array([[("no", "yes")[truth]] for _, truth in replies], dtype=object),
    )


@given(st.lists(st.tuples(ANSWERS, st.booleans()), min_size=1, max_size=40))
def test_pope_reads_every_answer_without_its_words_as_a_yes(replies):
    expected = counted(replies, popes_reading)
    assert values("pope/coco-random", yes_no(replies)) == pytest.approx(expected)
    for task in ("pope/coco-random", "pope/repope-popular"):
        assert values(task, yes_no(replies), "pope_release") == pytest.approx(expected)


def repopes_reading(text):
    return "yes" if "yes" in text.lower() else "no" if "no" in text.lower() else None


@given(st.lists(st.tuples(ANSWERS, st.booleans()), min_size=1, max_size=40))
def test_repope_leaves_out_every_answer_without_yes_and_no(replies):
    assert values("pope/repope-popular", yes_no(replies)) == pytest.approx(counted(replies, repopes_reading))


def test_what_repope_s_code_prints_for_four_answers():
    """The figures of ``compute_results`` in src/eval_utils.py of YanNeu/RePOPE, beside those of POPE's evaluate.py."""
    said = [("Yes", True), ("I see none.", False), ("Yes", True), ("Cars are absent.", False)]
    ours = values("pope/repope-random", yes_no(said))
    assert (ours["accuracy"], ours["f1"], ours["yes_share"]) == (1.0, 1.0, pytest.approx(2 / 3))
    theirs = values("pope/repope-random", yes_no(said), "pope_release")
    assert (theirs["accuracy"], theirs["f1"], theirs["yes_share"]) == (0.5, pytest.approx(2 / 3), 1.0)
    assert measures(["release"], "pope/repope-random", yes_no(said))["accuracy@release"].rows.tolist() == [0, 1, 2]


@pytest.mark.parametrize("answer", ["", "NO", "isn't", None, "yes"])
def test_by_pope_s_code_a_model_that_says_nothing_is_right_for_half_of_the_questions(answer):
    found = values("pope/coco-random", yes_no([(answer, True), (answer, False)] * 2))
    assert found == pytest.approx({"accuracy": 0.5, "precision": 0.5, "recall": 1.0, "f1": 2 / 3, "yes_share": 1.0})


WORDY = {
    "naturalbench/yes-no": ["Yes", "no", "yes and no", "No, yes", "There is no dog", "notice", "", "eyes", "YES!"],
    "naturalbench/multiple-choice": ["A", "b", "This is a dog", "B: a dog", "Option B", "", "cab", "(A)", "AB", "a, b"],
}


def extracted(text, first, second):
    """1 for the first word, 0 for the second, -1 for neither: whichever stands first."""
    word = re.search(rf"\b({first}|{second})\b", text, re.IGNORECASE)
    return -1 if word is None else int(word[1].lower() == first)


@pytest.mark.parametrize("task", WORDY)
@given(data=st.data())
def test_naturalbench_takes_the_word_that_stands_first(task, data):
    answers = st.sampled_from(WORDY[task]) | st.text(alphabet="abyesno .,", max_size=8)
    rows = data.draw(st.lists(st.tuples(answers, answers, answers, answers), min_size=1, max_size=9))
    words = ("yes", "no") if task.endswith("yes-no") else ("a", "b")
    expected = {"g_acc": [], "q_acc": [], "i_acc": [], "q_image_acc": []}
    for row in rows:  # image 0: questions 0 and 1; image 1: questions 0 and 1
        said = [extracted(text, *words) for text in row]
        a, b, c, d = said[0] == 1, said[1] == 0, said[2] == 0, said[3] == 1
        expected["g_acc"].append(a and b and c and d)
        expected["q_acc"] += [a and c, b and d]
        expected["i_acc"] += [a and b, c and d]
        expected["q_image_acc"] += [a, b, c, d]
    evidence = Evidence(answers=np.array(rows, dtype=object), truths=np.full((len(rows), 4), "?", dtype=object))
    assert values(task, evidence) == pytest.approx({name: np.mean(one) for name, one in expected.items()})


def test_every_metric_of_the_variant_is_one_of_the_task_and_says_how_it_differs():
    known = shapes()
    tasks = {task: names(["release"], task) for task in known if names(["release"], task)}
    assert {task.partition("/")[0] for task in tasks} == {"mmvp", "naturalbench", "pope", "whatsup"}
    for task, found in tasks.items():
        assert {name.partition("@")[0] for name in found} <= {*SHAPES[known[task]].metrics, *GROUPED}
        assert all(how_it_differs(name, task) for name in found)
    assert how_it_differs("accuracy@release", "winoground/all") == how_it_differs("read@release", "pope/v2") == ""


def test_every_pattern_of_a_variant_names_a_task():
    used = {id(definition) for task in shapes() for definition in _applying(VARIANTS, task).values()}
    assert {id(kept) for variant in VARIANTS.values() for kept in variant.definitions.values()} <= used
