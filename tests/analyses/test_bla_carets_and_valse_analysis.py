"""The analyses of BLA with its linear model, CARETS and VALSE, against their tables and by hand."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from builders import tabled
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from tests.analyses.made import answered, judged_pairs, judged_sets, rows, run
from vlgate.errors import DataError
from vlgate.metrics.shapes import SHAPES
from vlgate.sources.published.figures import figures
from vlgate.studies.analyses import bla, carets, valse
from vlgate.studies.analyses.bla import Features, average, fitted, linear_table, read_features, sentences
from vlgate.studies.analyses.runs import verbs_of
from vlgate.studies.analyses.tables import correlate

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


def test_sentences_have_length_voice_and_verb_and_the_linear_model_finds_the_verb_that_raises_the_scores():
    scores, columns, images = sentences(sets(), Features())
    assert list(columns) == ["len_sentence", "voice/passive", "verb/feed", "verb/other"]  # compared with carry
    assert columns["len_sentence"][:4].tolist() == [4, 6, 4, 6]
    assert columns["voice/passive"][:4].tolist() == [0, 1, 0, 1]
    assert columns["verb/other"].sum() == 40
    assert len(scores) == len(images) == 240
    table = linear_table("m", "t", sets(), Features())
    found = {row.labels[0]: row for row in table.rows}
    assert found["verb/feed"].more["paper's sign"] == "+"
    assert found["verb/feed"].low < 5 < found["verb/feed"].high
    assert found["len_sentence"].more["paper's sign"] == "-"
    assert found["voice/passive"].value is None  # each passive sentence has two words more


def test_words_are_averaged_without_stop_words_and_counts_by_their_logarithms():
    assert average("The man, the dog!", {"man": 4.8, "dog": 5.0, "the": 1.0}.get) == pytest.approx(4.9)
    assert average("the man", {"man": 100}.get, logarithm=True) == pytest.approx(np.log(100))
    assert np.isnan(average("a rare one", {"rare": 0}.get, logarithm=True))


def test_sentences_without_a_number_are_left_out(tmp_path):
    file = tmp_path / "f.csv"
    file.write_text(
        "image,text,person_size\n0.jpg,the man feeds it,0.2\n0.jpg,it feeds the man,0.1\n1.jpg,it feeds the man,\n"
    )
    given, names = read_features(file)
    scores, columns, _ = sentences(sets(), Features(given=given, names=names))
    assert columns["person_size"].tolist() == [0.2, 0.1]
    assert len(scores) == 2


@tabled
def test_a_file_of_numbers_that_cannot_be_used_is_named(text, said, tmp_path):
    file = tmp_path / "f.csv"
    file.write_text(text)
    with pytest.raises(DataError, match=r"f\.csv") as caught:
        read_features(file)
    assert said in str(caught.value)


MODELS = ("BAN", "CNN+LSTM", "LXMERT", "MMBT", "ViLBERT", "VisualBERT")
# Jimenez et al. 2022, Tables 15 to 17: of what the model of the column has right, the share that of the row has, too
COVERAGE = json.loads(Path(__file__).with_name("carets_coverage.json").read_text(encoding="utf-8"))
TITLE = "Coverage between models"


def disagreement(target, metric):
    """The largest difference between what two models have right together, told from either side, of the share."""
    wanted = [
        f for f in figures("carets") if f.table in {"10", "11", "12"} and (f.target, f.metric) == (target, metric)
    ]
    values, shares = {figure.model: figure.value for figure in wanted}, COVERAGE[target]
    both = [
        (shares[i][j] * values[MODELS[j]], shares[j][i] * values[MODELS[i]])
        for i, j in combinations(range(len(MODELS)), 2)
    ]
    return max(abs(one - other) / max(one, other) for one, other in both)


@pytest.mark.parametrize("target", COVERAGE)
def test_the_printed_coverage_is_over_answers_and_not_over_pairs(target):
    assert disagreement(target, "acc") < 0.007
    assert disagreement(target, "c_acc") > 0.15


def pairs(seed, n=50):
    random = np.random.default_rng(seed)
    said = random.choice(["yes", "no"], (n, 2)).tolist()
    truths = np.random.default_rng(99).choice(["yes", "no"], n)
    return answered(said, [[truth, truth] for truth in truths])


def coverage(first, second):
    """Both tables of coverage by their labels, over answers and over pairs."""
    tables = [table for table in carets.analyse([first, second]).tables if table.title.startswith(TITLE)]
    return [{row.labels[1:]: row for row in table.rows} for table in tables]


def test_coverage_is_the_share_of_the_others_right_answers_and_pairs():
    one, other = pairs(1), pairs(2)
    answers, both = coverage(run("one", carets__x=one), run("other", carets__x=other))
    right = [
        np.array(list(zip(cases.case_metrics["acc_original"], cases.case_metrics["acc_perturbed"], strict=True))) == 1
        for cases in (one, other)
    ]
    row = answers["one", "other"]
    assert (row.value, row.n) == (pytest.approx((right[0] & right[1]).sum() / right[1].sum()), right[1].sum())
    row, whole = both["other", "one"], [cases.all(axis=1) for cases in right]
    assert (row.value, row.n) == (pytest.approx((whole[0] & whole[1]).sum() / whole[0].sum()), whole[0].sum())


def test_cases_that_ask_something_else_are_not_compared():
    one, other = pairs(1), answered([["yes", "yes"]] * 50, [["yes", "yes"]] * 50, texts=[["another", "question"]] * 50)
    assert coverage(run("one", carets__x=one), run("other", carets__x=other)) == [{}, {}]


def test_the_gap_of_accuracies_is_the_share_of_half_right_pairs():
    cases = answered([["yes", "yes"], ["yes", "no"], ["no", "no"], ["no", "yes"]], [["yes", "yes"]] * 4)
    row = rows(carets.analyse([run(carets__x=cases)]), "Consistency and accuracy")["model", "carets/x"]
    assert (row.value, row.n) == (0.25, 4)
    assert row.more == {"acc": 0.5, "cons": 0.5, "c_acc": 0.25, "acc_original": 0.5, "acc_perturbed": 0.5}


def test_pairs_are_counted_by_what_is_right_and_whether_the_wrong_answer_stays():
    said = [["yes", "yes"], ["yes", "no"], ["no", "yes"], ["no", "No."], ["no", "maybe"]]
    cases = answered(said, [["yes", "yes"]] * 5)
    changes = ["right, right", "right, wrong", "wrong, right", "wrong, same answer", "wrong, another answer"]
    assert [carets.change_of(cases, row) for row in range(5)] == changes
    title = "From the original to the perturbed question"
    assert {row.value for row in rows(carets.analyse([run(carets__x=cases)]), title).values()} == {0.2}
    # a wrong answer and one that says nothing are neither the same nor other answers
    said = [[None, None], ["I cannot tell.", "I cannot tell."], ["no", "I cannot tell."], ["no", "no"], ["yes", "yes"]]
    cases = answered(said, [["yes", "yes"]] * 5)
    cases.case_metrics["read"] = np.array([1.0, 0.0, 0.5, 1.0, 1.0])
    found = rows(carets.analyse([run(carets__x=cases)]), title)
    values = {labels[-1]: row.value for labels, row in found.items() if row.value}
    assert values == {"wrong, no answer": 0.6, "wrong, same answer": 0.2, "right, right": 0.2}


def test_replies_are_shares_of_yes_no_and_other():
    said = [["yes", "yes"], ["no", "yes"], ["a cup", "yes"], ["no", "no"]]
    tags = [{"form": "binary", "question_type": "disjunction"}] * 4
    cases = answered(said, [*[["yes", "yes"]] * 3, ["no", "no"]], tags=tags)
    found = rows(carets.analyse([run(carets__x=cases)]), "Replies to questions of yes or no")
    row = found["model", "carets/x", "disjunction", "original"]
    assert (row.value, row.n) == (0.5, 4)
    assert row.more == {"yes": 0.25, "no": 0.5, "other": 0.25, "right if yes": pytest.approx(1 / 3), "right if no": 1.0}
    row = found["model", "carets/x", "disjunction", "perturbed"]
    assert (row.value, row.more["yes"], row.more["no"], row.more["other"]) == (1.0, 0.75, 0.25, 0.0)


def test_the_papers_models_are_correlated_without_people():
    found = rows(carets.analyse([run(carets__x=pairs(1))]), "Consistency against accuracy, over models")
    row = found["the paper's models", "carets/antonym-dir"]
    acc, cons = ([71.02, 51.98, 79.47, 69.83, 72.41, 73.76], [56.80, 10.50, 71.12, 54.58, 55.30, 59.84])  # Table 11
    assert (row.value, row.n, row.small) == (pytest.approx(np.corrcoef(acc, cons)[0, 1]), 6, True)


def test_the_text_only_model_stands_beside_the_run_that_has_one():
    blind = {"c_acc": {"value": 0.8, "low": 0.7, "high": 0.9, "n": 50, "chance": 0.25, "blind": {"value": 0.3}}}
    found = rows(carets.analyse([run(carets__x=pairs(1), metrics=blind)]), "Against text alone")
    row = found["model", "carets/x", "c_acc"]
    assert (row.value, row.low, row.high, row.n) == (0.8, 0.7, 0.9, 50)
    assert row.more == {"chance": 0.25, "text only": 0.3, "beyond text": pytest.approx(0.5)}


PERPLEXITY = "adapter: the score is minus the perplexity of the text; the image is not used"


def texts(n):
    return [[f"caption {row}", f"foil {row}"] for row in range(n)]


def reader(*perplexities, name="gpt2"):
    scores = -np.array(perplexities, dtype=float)
    return run(name, adapter=PERPLEXITY, valse__x=judged_pairs(scores, texts=texts(len(scores))))


def test_agreement_of_annotators_goes_with_the_share_of_valid_pairs_as_printed():
    """Appendix E prints Spearman's rho = 0.75, p < .05, over the instruments of Table 5."""
    table = [figure for figure in figures("valse") if figure.table == "5" and figure.target != "valse/*"]
    metrics = ("valid_share", "alpha_valid")
    valid, alpha = (np.array([one.value for one in table if one.metric == name]) for name in metrics)
    found = correlate(valid, alpha, rank=True)
    assert (found.value, found.n, found.p < 0.05) == (pytest.approx(0.75, abs=0.005), 11, True)


def test_ranking_is_compared_with_classifying_on_the_same_pairs():
    cases = judged_pairs([[2, 1], [2, 1], [2, 1], [1, 2]], [[1, 1], [1, 0], [1, 1], [0, 0]])
    analysis = valse.analyse([run(valse__x=cases)])
    row = rows(analysis, "Ranking and classifying")["model", "valse/x"]
    assert (row.value, row.n) == (pytest.approx(0.75 - 0.625), 4)
    assert row.more == {"acc_r": 0.75, "acc": 0.625}
    row = rows(analysis, "Captions and foils")["model", "valse/x"]
    assert (row.value, row.more) == (pytest.approx(0.25), {"p_c": 0.75, "p_f": 0.5})
    unclassed = valse.analyse([run(valse__x=judged_pairs([[2, 1]] * 5))])
    assert rows(unclassed, "Ranking and classifying") == {}


def test_priors_divide_the_pairs_by_what_the_perplexity_prefers():
    cases = judged_pairs([[2, 1], [2, 1], [1, 2], [2, 1], [1, 2]], texts=texts(5))
    analysis = valse.analyse([run(valse__x=cases)], reader([5, 9], [5, 9], [5, 9], [9, 5], [9, 5]))
    found = rows(analysis, "Linguistic priors")
    assert [row.n for row in found.values()] == [3, 2, 5]
    assert [row.value for row in found.values()] == pytest.approx([2 / 3, 0.5, 1 / 6])
    assert [labels[2] for labels in found] == ["for the caption", "for the foil", "difference"]


def test_the_prior_is_the_logarithm_of_the_ratio_of_the_perplexities():
    cases = judged_pairs([[2, 1]] * 3, texts=[["a", "b"], ["b", "a"], ["a", "unknown"]])
    found = valse.prior(cases, {"a": 10.0, "b": 20.0})
    assert found[:2].tolist() == pytest.approx([np.log(2), -np.log(2)])
    assert np.isnan(found[2])


def test_a_model_that_follows_the_prior_correlates_with_it_and_is_no_better():
    ratios = np.random.default_rng(0).normal(size=60)
    perplexities = [[100.0, 100.0 * np.exp(ratio)] for ratio in ratios]
    cases = judged_pairs([[ratio, 0.0] for ratio in ratios], texts=texts(60))
    analysis = valse.analyse([run(valse__x=cases)], reader(*perplexities))
    assert rows(analysis, "Scores and priors")["model", "valse/x"].value == pytest.approx(1.0)
    assert rows(analysis, "Against a language model")["model", "valse/x"].value == 0.0
    found = rows(analysis, "Linguistic priors")
    assert [row.value for row in found.values()] == [1.0, 0.0, 1.0]


def test_the_printed_models_are_correlated_with_the_printed_language_models():
    found = rows(valse.analyse([run(valse__x=judged_pairs([[2, 1]] * 5))]), "Over the instruments")
    row = found["CLIP (printed)", "GPT2 (printed)"]
    clip = [66.9, 56.2, 62.1, 62.5, 57.5, 64.3, 75.6, 68.6, 52.1, 49.7, 88.8]  # Table 4
    gpt2 = [58.0, 51.9, 51.6, 49.8, 45.3, 75.0, 66.8, 76.9, 54.5, 50.0, 80.7]
    assert (row.value, row.n, row.small) == (pytest.approx(np.corrcoef(clip, gpt2)[0, 1]), 11, True)
    assert len(found) == 10
