import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.metrics.answer_rules import question_pair_case_metrics as questions
from vlgate.metrics.shapes import SHAPES
from vlgate.metrics.variants import VARIANTS, Evidence, measures, names
from vlgate.sources.benchmarks import carets
from vlgate.sources.registry import shapes_of

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


def values(found):
    return {name: measure.of(None, 0.95).value for name, measure in found.items()}


def released(pairs, names, consistent, both):
    """As the released code is described: a new result for each file takes the place of the one before."""
    for name in dict.fromkeys(names):
        result = [pair for pair, file in zip(pairs, names, strict=True) if file == name]
    n = len(result)
    return {"cons@carets_release": sum(map(consistent, result)) / n, "c_acc@carets_release": sum(map(both, result)) / n}


BOTH_RIGHT = lambda pair: pair[0] == pair[2] and pair[1] == pair[3]  # noqa: E731
CARETS = [
    ("rephrase-inv order-inv visual-inv", True, lambda pair: pair[0] == pair[1], BOTH_RIGHT),
    ("ontological-inv", True, lambda pair: pair[0] != pair[2] or pair[0] == pair[1], BOTH_RIGHT),
    (
        "negation-dir antonym-dir",
        False,
        lambda pair: pair[0] != pair[1],
        lambda pair: pair[0] == pair[2] and pair[0] != pair[1],
    ),
]


@pytest.mark.parametrize(("tasks", "same", "consistent", "both"), CARETS, ids=[tasks for tasks, *_ in CARETS])
@given(data=st.data())
def test_carets(tasks, same, consistent, both, data):
    drawn = data.draw(answered(same=same))
    expected = released(*drawn, consistent, both)
    for task in tasks.split():
        assert values(measures(["carets_release"], f"carets/{task}", evidence(*drawn))) == pytest.approx(expected)


@given(answered(same=True), answered(same=False))
def test_the_looser_release_is_never_below_the_paper_on_its_last_file(invariant, directional):
    for task, drawn, same in (("carets/ontological-inv", invariant, True), ("carets/negation-dir", directional, False)):
        seen = evidence(*drawn)
        found = measures(["carets_release"], task, seen)
        rows = found["cons@carets_release"].rows
        said, right = seen.answers[rows], seen.answers[rows] == seen.truths[rows]
        paper = questions(right, (said[:, 0] == said[:, 1]) == same, right)
        for metric in ("cons", "c_acc"):
            assert found[f"{metric}@carets_release"].of(None, 0.95).value >= paper[metric].mean() - 1e-12


def test_carets_counts_the_last_file_only():
    said = [("no", "maybe", "yes", "yes"), ("yes", "yes", "yes", "yes"), ("yes", "no", "yes", "yes")]
    seen = evidence(said, ["a.json", "b.json", "b.json"])
    found = measures(["carets_release"], "carets/order-inv", seen)
    assert [measure.rows.tolist() for measure in found.values()] == [[1, 2], [1, 2]]
    assert values(found) == {"cons@carets_release": 0.5, "c_acc@carets_release": 0.5}


def test_a_tie_between_choices_is_consistent_with_nothing_by_the_released_code_too():
    seen = evidence([(None, None, "yes", "no"), (None, "no", "yes", "no"), ("yes", None, "yes", "no")], ["a.json"] * 3)
    for task in ("carets/order-inv", "carets/negation-dir"):
        assert values(measures(["carets_release"], task, seen)) == {"cons@carets_release": 0, "c_acc@carets_release": 0}


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
    captions, foils = [caption for caption, _ in pairs], [foil for _, foil in pairs]
    expected = sum(1 for caption, foil in pairs if foil <= caption) / (len(captions) + len(foils))
    found = measures(["valse_paper_ties"], "valse/existence", Evidence(scores=np.array(pairs)))
    assert values(found) == pytest.approx({"acc_r@valse_paper_ties": expected})


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
    expected = {
        "sen_acc@bla_volta": right / (4 * len(sets)),
        "set_acc@bla_volta": both / len(sets),
        "set_error@bla_volta": neither / len(sets),
    }
    found = measures(["bla_volta"], "bla/coordination", Evidence(scores=np.array(sets)))
    assert values(found) == pytest.approx(expected)


def test_a_constant_model_has_a_set_error_of_one_by_bla_s_code():
    found = values(measures(["bla_volta"], "bla/active-passive", Evidence(scores=np.zeros((3, 4)))))
    assert found == {"sen_acc@bla_volta": 0.0, "set_acc@bla_volta": 0.0, "set_error@bla_volta": 1.0}


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
