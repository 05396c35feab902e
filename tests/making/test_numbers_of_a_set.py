"""Sets from how-many questions: every number stays, as often in captions as in foils, and so does the singular."""

import json
from collections import Counter
from itertools import product

import pytest

from vlgate.cli import main

pytest.importorskip("spacy")
pytest.importorskip("en_core_web_sm")
NOUNS = "dogs cats cups cars birds boats trees chairs books lamps pens hats".split()


@pytest.fixture
def made(tmp_path):
    def make(kind, answers, each):
        asked = [(noun, answer) for _ in range(each) for noun, answer in product(NOUNS, answers)]
        rows = [
            {"image": f"{number}.jpg", "question": f"How many {noun} are there?", "answer": str(answer)}
            for number, (noun, answer) in enumerate(asked)
        ]
        file = tmp_path / "answers.jsonl"
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        assert main(["make", kind, "--from", str(file), "--out", str(tmp_path / "set"), "--seed", "71"]) == 0
        return [json.loads(line) for line in (tmp_path / "set/why.jsonl").read_text().splitlines()]

    return make


@pytest.mark.parametrize("kind", ["counting-small", "counting-balanced"])
@pytest.mark.parametrize(("answers", "each"), [((0, 1, 1, 2, 2, 3), 10), ((1, 2, 3), 2), ((0, 1), 3)])
def test_each_number_is_as_often_in_captions_as_in_foils_and_none_is_lost(made, kind, answers, each):
    ways = Counter(tuple(row["classes"]) for row in made(kind, answers, each))
    captions, foils = Counter(), Counter()
    for (right, wrong), number in ways.items():
        captions[right] += number
        foils[wrong] += number
    assert set(captions) == set(map(str, answers))
    assert captions == foils


def test_equal_groups_do_not_put_the_same_number_for_each_number(made):
    ways = Counter(tuple(row["classes"]) for row in made("counting-small", (1, 2, 3), 2))
    assert len(ways) == 6  # with one draw for all nouns there are three: 1 for 2, 2 for 3, 3 for 1


def test_existence_keeps_the_singular_and_half_of_the_answers_from_zero(made, tmp_path):
    rows = made("existence", (0, 0, 0, 1, 2, 3), 3)
    assert Counter(row["classes"][0] for row in rows) == {"0": 108, "more": 108}
    texts = (tmp_path / "set/cases/existence.jsonl").read_text()
    assert texts.count('"caption": "There is ') >= 20
