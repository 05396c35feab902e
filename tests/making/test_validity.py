"""The checks of single candidates, and plausibility, with judges that look up what they say."""

import json
from dataclasses import replace

import numpy as np
import pytest

from vlgate.errors import NoReplyError
from vlgate.making.kinds.kind import Item
from vlgate.making.sets import validity
from vlgate.making.sets.blind import scored
from vlgate.making.sets.run import Settings, make_set
from vlgate.making.tools import ToolOptions, Tools
from vlgate.perturb.foils.candidates import Foil


class Judge:
    """Entailment, grammaticality and perplexity by the number that ends a text."""

    def __init__(self):
        self.calls = 0

    def infer(self, pairs):
        self.calls += 1
        return np.eye(3)[[number(foil) % 3 for _, foil in pairs]]

    def acceptability(self, texts):
        return np.array([number(text) % 10 / 10 for text in texts])

    def perplexity(self, texts):
        return np.array([9.0 if "right" in text else 5.0 if "7" in text else 9.0 for text in texts])


class Comparing(Judge):
    def against(self, originals, texts):
        assert [number(original) for original in originals] == [number(text) for text in texts]
        return np.array([number(text) % 4 / 4 for text in texts])


def number(text):
    return int(text.rstrip(".").split()[-1])


@pytest.fixture
def dropped(sides, captions_file, tmp_path, monkeypatch):
    """Make a set with a judge as the tools that are named; return the counts of what was dropped, and the report."""

    def made(judge, kind=sides, **named):
        monkeypatch.setattr(Tools, "built", lambda *_: judge)
        options = Settings(files=(captions_file(240),), out=tmp_path / "set", tools=ToolOptions(named=named))
        make_set(kind, options, print)
        report = json.loads((tmp_path / "set/bias.json").read_text())
        return report["dropped"], report

    return made


def test_entailed_foils_are_dropped_and_neutral_ones_stay(dropped):
    assert dropped(Judge(), nli="x")[0] == {validity.ENTAILED: 80}


def test_some_kinds_keep_contradictions_only_and_some_do_not_ask(dropped, sides, tmp_path):
    counts, report = dropped(Judge(), replace(sides, inference="contradiction"), nli="x")
    assert counts == {validity.ENTAILED: 80, validity.NEUTRAL: 80}
    assert report["cases"] == 80
    (tmp_path / "set").rename(tmp_path / "first")
    assert dropped(Judge(), replace(sides, inference="unused"), nli="x")[0] == {}


def test_ungrammatical_foils_are_dropped_below_valses_threshold(dropped):
    assert dropped(Judge(), grammar="x")[0] == {validity.UNGRAMMATICAL: 192}


def test_a_judge_that_compares_is_given_the_caption(dropped):
    assert dropped(Comparing(), grammar="x")[0] == {validity.UNLIKELY: 120}


def test_a_foil_that_is_dropped_is_not_judged_again_and_judges_see_batches(dropped):
    judge = Judge()
    counts, _ = dropped(judge, grammar="x", nli="x")
    assert counts == {validity.UNGRAMMATICAL: 192, validity.ENTAILED: 16}
    assert judge.calls == 1


def test_plausibility_is_the_share_of_captions_with_the_lower_perplexity(dropped):
    _, report = dropped(Judge(), lm="tiny")
    seven = [index for index in range(240) if "7" in str(index)]
    wins = sum(place % 2 == 0 for place in seven)  # "left" is the caption, and its foil with "right" has 9
    losses = len(seven) - wins
    assert report["plausibility"]["value"] == pytest.approx(0.5 + (wins - losses) / 480)
    assert report["plausibility"]["model"] == "tiny"


class Short(Judge):
    """Has no perplexity of texts that end in a multiple of 30."""

    def perplexity(self, texts):
        if short := [index for index, text in enumerate(texts) if number(text) % 30 == 0]:
            raise NoReplyError(short, "too few tokens")
        return super().perplexity(texts)

    def against(self, originals, texts):
        return self.perplexity([*originals, *texts])[: len(texts)]


def test_texts_that_are_too_short_for_the_language_model_are_left_out(dropped, tmp_path):
    counts, _ = dropped(Short(), grammar="x")
    assert counts == {validity.SHORT: 8}
    (tmp_path / "set").rename(tmp_path / "first")
    _, report = dropped(Short(), lm="x")
    assert (report["cases"], report["plausibility"]["n"]) == (240, 232)


NAMES = "cat dog cup car boy girl horse bench kite train".split()
CAPTIONS = [(f"{n}.jpg", f"a {NAMES[n % 10]} and a {NAMES[n // 10]} here") for n in range(100)]


@pytest.mark.parametrize("repeats", [(), ("1.jpg",), ("own.jpg",), tuple(f"again{n}.jpg" for n in range(9))])
def test_a_caption_that_is_there_again_does_not_vouch_for_itself(repeats):
    foil = Foil(caption="a zebra near a lamp", foil="a lamp near a zebra", classes=("a", "b"), why="")
    item = Item(id="1", image="own.jpg", origin="1", candidate=foil)
    captions = [*CAPTIONS, ("own.jpg", foil.caption), *((image, "A zebra near a lamp.") for image in repeats)]
    assert scored([item], captions, None)[0].lead == 0
