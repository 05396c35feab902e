"""Winoground's analyses, against its Tables 6 and 7 and by hand."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from builders import table
from scipy import stats

from tests.analyses.made import judged_quads, rows, run
from vlgate.errors import OptionError
from vlgate.sources.published.figures import figures
from vlgate.studies.analyses import winoground
from vlgate.studies.analyses.winoground import Size, given_sizes, published_scores, sizes

# Thrush et al. 2022, without CLIP; all p-values are printed as 0.00
TABLE_7 = dict(
    zip(product(("images", "captions"), ("text", "image", "group")), (0.84, 0.76, 0.75, 0.77, 0.75, 0.71), strict=True)
)
PERPLEXITY = "adapter: the score is minus the perplexity of the text; the image is not used"


def quads(n=40, seed=0, **columns):
    random = np.random.default_rng(seed)
    texts = [[f"{'word ' * (row % 7)}a", f"{'word ' * (row % 7)}b"] * 2 for row in range(n)]
    return judged_quads(random.normal(size=(n, 4)), texts=texts, **columns)


def test_the_correlations_with_pretraining_size_are_those_of_table_7():
    found = rows(winoground.analyse([run(winoground__all=quads())]), "Pretraining size: the paper's models")
    assert {labels: row.n for labels, row in found.items()} == dict.fromkeys(TABLE_7, 16)
    for labels, printed in TABLE_7.items():
        assert found[labels].value == pytest.approx(printed, abs=0.0051)
        assert found[labels].more["p"] < 0.005
        assert found[labels].small


def test_the_sizes_are_those_of_the_papers_models_and_clip_is_left_out():
    models = {figure.model for figure in figures("winoground") if figure.table == "3"} - {"human", "chance"}
    assert set(sizes()) == models
    assert set(published_scores()) == models - {"CLIP (ViT-B/32)"}


@pytest.mark.parametrize(
    ("model", "perplexity", "p_perplexity", "length", "p_length"),
    table(Path(__file__).with_name("winoground_table_6.tsv")),
)
def test_table_6_is_over_1600_scores_of_pairs_and_400_examples(model, perplexity, p_perplexity, length, p_length):
    """What n counts is not printed; these p-values fit no other count of scores."""

    def possible(r, n):
        return [
            2 * stats.t.sf(abs(x) * np.sqrt((n - 2) / (1 - x * x)), n - 2)
            for x in (abs(r) + 0.005, max(0, abs(r) - 0.005))
        ]

    for r, p, n in ((perplexity, p_perplexity, 1600), (length, p_length, 400)):
        least, most = possible(float(r), n)
        assert least - 0.005 <= float(p) <= most + 0.005, model


def test_the_perplexity_of_each_caption_goes_with_its_four_scores():
    cases, reader_scores = quads(), -np.random.default_rng(5).uniform(10, 90, (40, 2))
    reader = judged_quads(np.tile(reader_scores, 2), texts=cases.texts)
    found = rows(
        winoground.analyse([run(winoground__all=cases)], run("gpt2", adapter=PERPLEXITY, winoground__all=reader)),
        "Perplexity",
    )
    row = found["model", "winoground/all"]
    known = {
        text: -score
        for texts, scores in zip(cases.texts, np.tile(reader_scores, 2), strict=True)
        for text, score in zip(texts, scores, strict=True)
    }
    x = [known[text] for texts in cases.texts for text in texts]
    assert row.value == pytest.approx(np.corrcoef(x, cases.scores.reshape(-1))[0, 1])
    assert (row.n, row.more["images"]) == (160, 40)
    assert row.low < row.value < row.high


def test_a_run_that_is_not_of_a_language_model_gives_no_perplexities():
    with pytest.raises(
        OptionError, match="--perplexity: model does not score texts by their perplexity; name the run of"
    ):
        winoground.analyse([run(winoground__all=quads())], run(winoground__all=quads()))


def test_the_caption_length_is_the_mean_of_both_captions():
    texts = [
        ["one two", "one two three four"] * 2,
        ["one", "two"] * 2,
        ["one two three", "one"] * 2,
        ["one", "one two"] * 2,
    ]
    cases = judged_quads([[2, 1, 1, 2], [1, 2, 2, 1], [2, 1, 1, 2], [1, 2, 2, 1]], texts=texts)
    expected = np.corrcoef([3, 1, 2, 1.5], [1, 0, 1, 0])[0, 1]
    assert winoground.length_correlation(cases).value == pytest.approx(expected)


def test_tags_are_slices_with_peoples_score_where_it_is_printed():
    tags = [{"collapsed_tag": "Object"}] * 3 + [{"collapsed_tag": "Both"}] * 2
    cases = judged_quads([[2, 1, 1, 2], [1, 2, 2, 1], [2, 1, 1, 2], [2, 1, 1, 2], [1, 2, 2, 1]], tags=tags)
    found = rows(winoground.analyse([run(winoground__all=cases)]), "By tag")
    row = found["model", "winoground/all", "collapsed_tag=Object", "group"]
    assert (row.n, row.value, row.more["people"]) == (3, pytest.approx(2 / 3), pytest.approx(0.8865))


def test_the_runs_join_the_papers_models_if_their_sizes_are_given():
    analysis = winoground.analyse([run(winoground__all=quads())], given={"model": Size(images=5.0, captions=10.0)})
    found = rows(analysis, "Pretraining size: the paper's models and the runs")
    assert found["images", "group"].n == 17
    assert rows(analysis, "Pretraining size: the runs on winoground/all")["images", "group"].value is None


def test_sizes_are_given_in_millions():
    assert given_sizes(["lxmert=0.18,9.18"]) == {"lxmert": Size(images=0.18, captions=9.18)}


@pytest.mark.parametrize(
    "text", ["clip", "clip=1", "clip=1,2,3", "=1,2", "clip=0,1", "clip=a,b", "clip=nan,1", "clip=inf,1"]
)
def test_a_size_that_cannot_be_read_is_named(text):
    with pytest.raises(OptionError, match=r"--pretraining .*expected NAME=IMAGES,CAPTIONS in millions"):
        given_sizes([text])


def test_without_quads_the_tasks_that_are_missing_are_named():
    said = r"no task 'winoground/\*' or 'scenes/\*' with judged cases with the metric group"
    with pytest.raises(OptionError, match=said):
        winoground.analyse([run()])
