"""BLA's analyses and its linear model, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from tests.analyses.made import judged_sets, rows, run
from vlgate.errors import DataError
from vlgate.metrics.shapes import SHAPES
from vlgate.studies.analyses import bla
from vlgate.studies.analyses.bla import Features, average, fitted, linear_table, read_features, sentences
from vlgate.studies.analyses.runs import verbs_of

SETS = [[4, 3, 2, 1], [1, 4, 2, 3], [4, 1, 3, 2], [1, 2, 4, 3]]
"""The scores of the true active, true passive, false active and false passive."""


def analysis(*runs, **options):
    return bla.analyse(list(runs), **options)


def test_preferences_stand_beside_the_papers():
    found = rows(analysis(run(**{"bla/active-passive": judged_sets(SETS)})), "Preferences")
    values = {"ta_fa": 0.5, "tp_fp": 0.5, "tp_fa": 0.5, "ta_fp": 0.5, "ta_tp": 0.5, "fa_fp": 0.75}
    assert {labels[-1]: row.value for labels, row in found.items()} == values
    row = found["model", "bla/active-passive", "tp_fa"]
    assert row.more == pytest.approx({"CLIP": 0.7064, "ViLBERT": 0.5481, "LXMERT": 0.5432, "GPT2": 0.9918})  # Table 7.1
    assert (row.n, row.small) == (4, True)


def test_the_passive_voice_is_preferred_in_as_many_pairs_as_it_scores_higher():
    # Passive against active: (3 > 4, 3 > 2, 1 > 4, 1 > 2), (4 > 1, 4 > 2, 3 > 1, 3 > 2), ...
    assert bla.passive_preference(judged_sets(SETS)).tolist() == [0.25, 1.0, 0.0, 0.5]
    assert bla.passive_preference(judged_sets([[1, 1, 1, 1]])).tolist() == [0.0]
    assert bla.passive_preference(judged_sets(SETS, "set")) is None


def test_a_model_that_goes_by_the_order_of_the_nouns_prefers_the_same_one_in_both_voices():
    agent_first, patient_first = [4, 1, 2, 3], [1, 4, 3, 2]
    understood, reversed_roles, tied = [4, 3, 2, 1], [1, 2, 3, 4], [4, 1, 2, 1]
    found = bla.noun_orders(judged_sets([agent_first, patient_first, understood, reversed_roles, tied]))
    assert found.tolist() == [1.0, 1.0, 0.0, 0.0, 0.0]
    rows_of = rows(analysis(run(bla__x=judged_sets([agent_first, understood]))), "Voices and the order of the nouns")
    assert rows_of["model", "bla/x", "same noun order"].value == 0.5


def test_verbs_of_few_sets_are_other_and_mixtures_of_verbs_are_the_whole():
    tags = [{"verb": "watch"}] * 30 + [{"verb": "feed"}] * 20 + [{"verb": "lift"}] * 10 + [{"verb": "pull"}] * 5
    cases = judged_sets(np.random.default_rng(0).normal(size=(65, 4)), tags=tags)
    assert verbs_of(cases) == ["watch"] * 30 + ["feed"] * 20 + ["other"] * 15
    found = rows(analysis(run(bla__x=cases)), "By verb")
    parts = [found["model", "bla/x", verb, "sen_acc"] for verb in ("watch", "feed", "other")]
    assert [part.n for part in parts] == [30, 20, 15]
    assert sum(part.n * part.value for part in parts) / 65 == pytest.approx(cases.case_metrics["sen_acc"].mean())


def two(seed, n=80):
    return judged_sets(np.random.default_rng(seed).normal(size=(n, 4)))


def test_agreement_is_over_the_verdicts_of_both_runs():
    one, other = two(1), two(2)
    found = rows(analysis(run("one", bla__x=one), run("other", bla__x=other)), "Agreement between models")
    row = found["bla/x", "one", "other"]
    a, b = (cases.case_metrics[SHAPES["set"].headline] == 1 for cases in (one, other))
    table = np.array([[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]])
    assert (row.n, row.value) == (80, pytest.approx((a == b).mean()))
    assert row.more["kappa"] == pytest.approx(cohens_kappa(table).kappa)
    assert (row.more["both right"], row.more["both wrong"]) == (table[0, 0], table[1, 1])


def test_sets_that_all_models_have_right_are_counted_on_the_sets_of_all_runs():
    runs = [run(str(seed), bla__x=two(seed, n)) for seed, n in ((1, 80), (2, 80), (3, 60))]
    found = rows(analysis(*runs), "Sets that are right, or wrong, in all models")
    every = np.all([one.tasks["bla/x"].case_metrics["set_acc"][:60] == 1 for one in runs], axis=0)
    assert (found["bla/x", "set_acc"].n, found["bla/x", "set_acc"].more["sets"]) == (60, every.sum())


def test_what_the_linear_model_lacks_is_said():
    lacks = ("word concreteness", "word frequency", "sizes and grammar")
    notes = analysis(run(bla__x=two(1))).notes[:3]
    assert [note.partition(";")[0] for note in notes] == [f"linear model: without {one}" for one in lacks]


def words(**values):
    return SimpleNamespace(value=values.get)


def by_hand(scores, design, images):
    """Least squares with the textbook formulas: plain p-values, and the cluster sandwich with t of g - 1."""
    n, k = design.shape
    bread = np.linalg.inv(design.T @ design)
    beta = bread @ design.T @ scores
    left = scores - design @ beta
    plain = np.sqrt(np.diag(bread) * (left @ left) / (n - k))
    groups = np.unique(images)
    meat = sum(np.outer(s, s) for s in (design[images == group].T @ left[images == group] for group in groups))
    g = len(groups)
    wide = np.sqrt(np.diag(bread @ meat @ bread) * g / (g - 1) * (n - 1) / (n - k))
    t = stats.t.ppf(0.975, g - 1)
    return beta, 2 * stats.t.sf(abs(beta / plain), n - k), beta - t * wide, beta + t * wide


def test_the_linear_model_is_least_squares_with_the_papers_p_and_an_interval_by_image():
    random = np.random.default_rng(0)
    n = 120
    images = np.repeat(np.arange(30.0), 4)
    columns = {"len_sentence": random.integers(5, 12, n).astype(float), "voice/passive": np.tile([0.0, 1, 0, 1], 30)}
    scores = 2 * columns["len_sentence"] - columns["voice/passive"] + random.normal(size=n)
    scores += random.normal(size=30).repeat(4)
    beta, p, low, high = by_hand(scores, np.stack([np.ones(n), *columns.values()], axis=1), images)
    for index, row in enumerate(fitted(scores, columns, images), 1):
        assert row.value == pytest.approx(beta[index])
        assert row.more["p"] == pytest.approx(p[index])
        assert (row.low, row.high) == pytest.approx((low[index], high[index]))
        assert (row.n, row.more["images"]) == (120, 30)


def test_a_predictor_that_follows_from_others_has_no_coefficient():
    random = np.random.default_rng(1)
    length = random.normal(size=40)
    columns = {"length": length, "twice": 2 * length + 1, "constant": np.ones(40)}
    found = {row.labels[0]: row for row in fitted(random.normal(size=40), columns, np.arange(40.0))}
    assert found["length"].value is not None
    assert [found[name].value for name in ("twice", "constant")] == [None, None]
    assert found["twice"].more["paper's sign"] == "no coefficient"


def sets(n=60):
    random = np.random.default_rng(2)
    verbs = ["feed"] * 25 + ["carry"] * 25 + ["lift"] * (n - 50)
    texts = [["the man feeds it", "it is fed by the man", "it feeds the man", "the man is fed by it"]] * n
    scores = random.normal(size=(n, 4)) + np.array([1.0, 0, 1, 0]) + 5.0 * (np.array(verbs) == "feed")[:, None]
    return judged_sets(scores, texts=texts, tags=[{"verb": verb} for verb in verbs])


def test_sentences_have_length_voice_and_verb_and_the_first_verb_is_what_others_are_compared_with():
    scores, columns, images = sentences(sets(), Features())
    assert list(columns) == ["len_sentence", "voice/passive", "verb/feed", "verb/other"]
    assert columns["len_sentence"][:4].tolist() == [4, 6, 4, 6]
    assert columns["voice/passive"][:4].tolist() == [0, 1, 0, 1]
    assert columns["verb/other"].sum() == 40
    assert len(scores) == len(images) == 240


def test_the_linear_model_finds_the_verb_that_raises_the_scores():
    table = linear_table("m", "t", sets(), Features())
    found = {row.labels[0]: row for row in table.rows}
    assert found["verb/feed"].more["paper's sign"] == "+"
    assert found["verb/feed"].low < 5 < found["verb/feed"].high
    assert found["len_sentence"].more["paper's sign"] == "-"
    assert found["voice/passive"].value is None  # each passive sentence has two words more


def test_words_are_averaged_without_stop_words_and_counts_by_their_logarithms():
    assert average("The man, the dog!", words(man=4.8, dog=5.0, the=1.0)) == pytest.approx(4.9)
    assert average("the man", words(man=100), logarithm=True) == pytest.approx(np.log(100))
    assert np.isnan(average("a rare one", words(rare=0), logarithm=True))


def test_sentences_without_a_number_are_left_out(tmp_path):
    file = tmp_path / "f.csv"
    file.write_text(
        "image,text,person_size\n0.jpg,the man feeds it,0.2\n0.jpg,it feeds the man,0.1\n1.jpg,it feeds the man,\n"
    )
    given, names = read_features(file)
    scores, columns, _ = sentences(sets(), Features(given=given, names=names))
    assert columns["person_size"].tolist() == [0.2, 0.1]
    assert len(scores) == 2


@pytest.mark.parametrize(("text", "said"), [
    ("", "f.csv: is empty"), ("text\na", "has the titles 'text'"), ("text,size,size\na,1,2", "has the titles"),
    ("text,size\na", "on line 2: has 1 cells, expected 2"),
    ("text,size\na,big", "on line 2: size='big', expected a number"),
    ("text,size\na,inf", "on line 2: size='inf', expected a number"),
])  # fmt: skip
def test_a_file_of_numbers_that_cannot_be_used_is_named(text, said, tmp_path):
    file = tmp_path / "f.csv"
    file.write_text(text)
    with pytest.raises(DataError, match=r"f\.csv") as caught:
        read_features(file)
    assert said in str(caught.value)
