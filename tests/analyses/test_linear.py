import numpy as np
import pytest
from scipy import stats

from tests.analyses.made import judged_sets
from vlgate.errors import DataError
from vlgate.studies.analyses.bla import Features, average, fitted, linear_table, read_features, sentences


class Table:
    def __init__(self, **values):
        self.values = values

    def value(self, word):
        return self.values.get(word)


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
    scores = (
        2 * columns["len_sentence"]
        - columns["voice/passive"]
        + random.normal(size=n)
        + random.normal(size=30).repeat(4)
    )
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
    table = Table(man=4.8, dog=5.0, the=1.0, rare=0)
    assert average("The man, the dog!", table) == pytest.approx(4.9)
    assert average("the man", Table(man=100), logarithm=True) == pytest.approx(np.log(100))
    assert np.isnan(average("a rare one", table, logarithm=True))


def test_sentences_without_a_number_are_left_out(tmp_path):
    file = tmp_path / "f.csv"
    file.write_text(
        "image,text,person_size\n0.jpg,the man feeds it,0.2\n0.jpg,it feeds the man,0.1\n1.jpg,it feeds the man,\n"
    )
    given, names = read_features(file)
    scores, columns, _ = sentences(sets(), Features(given=given, names=names))
    assert columns["person_size"].tolist() == [0.2, 0.1]
    assert len(scores) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "f.csv: is empty"),
        ("text\na", "has the titles 'text'"),
        ("text,size,size\na,1,2", "has the titles"),
        ("text,size\na", "on line 2: has 1 cells, expected 2"),
        ("text,size\na,big", "on line 2: size='big', expected a number"),
        ("text,size\na,inf", "on line 2: size='inf', expected a number"),
    ],
)
def test_a_file_of_numbers_that_cannot_be_used_is_named(text, said, tmp_path):
    file = tmp_path / "f.csv"
    file.write_text(text)
    with pytest.raises(DataError, match=r"f\.csv") as caught:
        read_features(file)
    assert said in str(caught.value)
