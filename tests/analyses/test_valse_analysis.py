"""VALSE's analyses, against its tables and by hand."""

import numpy as np
import pytest

from tests.analyses.made import judged_pairs, rows, run
from vlgate.sources.published.figures import figures
from vlgate.studies.analyses import valse
from vlgate.studies.analyses.resampling import correlate

PERPLEXITY = "adapter: the score is minus the perplexity of the text; the image is not used"


def texts(n):
    return [[f"caption {row}", f"foil {row}"] for row in range(n)]


def reader(*perplexities, name="gpt2"):
    scores = -np.array(perplexities, dtype=float)
    return run(name, adapter=PERPLEXITY, valse__x=judged_pairs(scores, texts=texts(len(scores))))


def test_agreement_of_annotators_goes_with_the_share_of_valid_pairs_as_printed():
    """Appendix E prints Spearman's rho = 0.75, p < .05, over the instruments of Table 5."""
    table = [figure for figure in figures("valse") if figure.table == "5" and figure.target != "valse/*"]
    valid, alpha = (
        np.array([one.value for one in table if one.metric == name]) for name in ("valid_share", "alpha_valid")
    )
    found = correlate(valid, alpha, rank=True)
    assert (found.value, found.n) == (pytest.approx(0.75, abs=0.005), 11)
    assert found.p < 0.05


def test_ranking_is_compared_with_classifying_on_the_same_pairs():
    cases = judged_pairs([[2, 1], [2, 1], [2, 1], [1, 2]], [[1, 1], [1, 0], [1, 1], [0, 0]])
    analysis = valse.analyse([run(valse__x=cases)])
    row = rows(analysis, "Ranking and classifying")["model", "valse/x"]
    assert (row.value, row.n) == (pytest.approx(0.75 - 0.625), 4)
    assert row.more == {"acc_r": 0.75, "acc": 0.625}
    row = rows(analysis, "Captions and foils")["model", "valse/x"]
    assert (row.value, row.more) == (pytest.approx(0.25), {"p_c": 0.75, "p_f": 0.5})


def test_a_model_that_does_not_classify_has_no_such_rows():
    analysis = valse.analyse([run(valse__x=judged_pairs([[2, 1]] * 5))])
    assert rows(analysis, "Ranking and classifying") == {}


def test_priors_divide_the_pairs_by_what_the_perplexity_prefers():
    cases = judged_pairs([[2, 1], [2, 1], [1, 2], [2, 1], [1, 2]], texts=texts(5))
    analysis = valse.analyse([run(valse__x=cases)], reader([5, 9], [5, 9], [5, 9], [9, 5], [9, 5]))
    found = rows(analysis, "Linguistic priors")
    assert [(row.value, row.n) for row in found.values()] == [
        (pytest.approx(2 / 3), 3),
        (0.5, 2),
        (pytest.approx(1 / 6), 5),
    ]
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
