"""BLA's analyses, by hand."""

import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa

from tests.analyses.made import judged_sets, rows, run
from vlgate.metrics.shapes import SHAPES
from vlgate.studies.analyses import bla
from vlgate.studies.analyses.runs import verbs_of

SETS = [
    [4, 3, 2, 1],
    [1, 4, 2, 3],
    [4, 1, 3, 2],
    [1, 2, 4, 3],
]  # true active, true passive, false active, false passive


def analysis(*runs, **options):
    return bla.analyse(list(runs), **options)


def test_preferences_stand_beside_the_papers():
    found = rows(analysis(run(bla__active_passive=judged_sets(SETS))), "Preferences")
    assert {labels[-1]: row.value for labels, row in found.items()} == {
        "ta_fa": 0.5,
        "tp_fp": 0.5,
        "tp_fa": 0.5,
        "ta_fp": 0.5,
        "ta_tp": 0.5,
        "fa_fp": 0.75,
    }
    found = rows(analysis(run(**{"bla/active-passive": judged_sets(SETS)})), "Preferences")
    row = found["model", "bla/active-passive", "tp_fa"]
    assert row.more == pytest.approx({"CLIP": 0.7064, "ViLBERT": 0.5481, "LXMERT": 0.5432, "GPT2": 0.9918})  # Table 7.1
    assert (row.n, row.small) == (4, True)


def test_the_passive_voice_is_preferred_in_as_many_pairs_as_it_scores_higher():
    # Passive against active: (3 > 4, 3 > 2, 1 > 4, 1 > 2), (4 > 1, 4 > 2, 3 > 1, 3 > 2), ...
    found = bla.passive_preference(judged_sets(SETS))
    assert found.tolist() == [0.25, 1.0, 0.0, 0.5]
    tied = bla.passive_preference(judged_sets([[1, 1, 1, 1]]))
    assert tied.tolist() == [0.0]
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
    notes = analysis(run(bla__x=two(1))).notes
    assert [note.partition(";")[0] for note in notes[:3]] == [
        "linear model: without word concreteness",
        "linear model: without word frequency",
        "linear model: without sizes and grammar",
    ]
