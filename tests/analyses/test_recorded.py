"""Recorded verdicts and answers of real models on real data, analysed: BiVLC's two models, GPT-4V on SugarCrepe."""

import csv
import json
import re
from collections import Counter
from itertools import pairwise
from math import exp, log
from pathlib import Path

import numpy as np
import pytest

from tests.analyses.made import cases, judged_pairs, rows, run
from vlgate.studies.analyses import valse
from vlgate.studies.analyses.runs import agreement_table, coverage_table

SHARED = Path(__file__).parents[3] / "shared/data"
BIVLC, GPT4V = SHARED / "more/bivlc/results", SHARED / "recorded-outputs/sugarcrepe-gpt4v/negative-first"
PERPLEXITY = "adapter: the score is minus the perplexity of the text; the image is not used"
pytestmark = pytest.mark.skipif(not BIVLC.is_dir() or not GPT4V.is_dir(), reason="needs ../shared/data")


def bivlc(name):
    """The verdicts of a model on BiVLC's 2,933 sets of two images and two captions."""
    with (BIVLC / f"BiVLC_{name}.csv").open(encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    facts = {
        metric: [float(one[f"{metric}_score"] == "True") for one in records] for metric in ("text", "image", "group")
    }
    texts = [[one["caption"], one["negative_caption"]] * 2 for one in records]
    return cases(np.zeros((len(records), 4)), texts=texts, facts=facts, tags=[{"type": one["type"]} for one in records])


def test_two_models_on_bivlc_cover_each_other_as_their_recorded_verdicts_do():
    plain, tuned = (run(name, bivlc__all=bivlc(name)) for name in ("ViT-B-32", "CLIP_TROHN-Img"))
    # The group scores that BiVLC's authors print (misc/main_results.PNG): 49.06 and 69.25.
    right = [set(np.flatnonzero(one.tasks["bivlc/all"].case_metrics["group"])) for one in (plain, tuned)]
    assert [round(100 * len(one) / 2933, 2) for one in right] == [49.06, 69.25]
    both = len(right[0] & right[1])
    coverage = {row.labels: row for row in coverage_table((plain, tuned), "*", "group", ("group",), "sets").rows}
    row = coverage["bivlc/all", "CLIP_TROHN-Img", "ViT-B-32"]
    assert (row.n, row.value) == (len(right[0]), pytest.approx(both / len(right[0])))
    (row,) = agreement_table((plain, tuned), "*", "group").rows
    assert (row.n, row.more["both right"]) == (2933, both)
    assert row.value == pytest.approx(1 - len(right[0] ^ right[1]) / 2933)
    assert 0 < row.more["kappa low"] < row.more["kappa"] < row.more["kappa high"] < row.value


class Bigrams:
    """A language model: how often each word of COCO's captions follows another, smoothed with the single words."""

    def __init__(self, captions):
        self.words, self.pairs = Counter(), Counter()
        for caption in captions:
            words = ["<s>", *self.read(caption)]
            self.words.update(words)
            self.pairs.update(pairwise(words))
        self.total = sum(self.words.values())

    @staticmethod
    def read(text):
        return re.findall(r"[a-z']+", text.lower())

    def perplexity(self, text):
        words = ["<s>", *self.read(text)]
        seen = [
            0.8 * self.pairs[first, second] / max(1, self.words[first])
            + 0.2 * (self.words[second] + 0.1) / (self.total + 1000)
            for first, second in pairwise(words)
        ]
        return exp(-sum(map(log, seen)) / len(seen))


def recorded(name):
    """GPT-4V's recorded choice between a caption and its foil, as scores of 1 and 0."""
    records = json.loads((GPT4V / f"gpt4v-{name}.json").read_text(encoding="utf-8")).values()
    texts = [[one["caption"], one["negative_caption"]] for one in records]
    scores = [[float(one["correct"]), float(not one["correct"])] for one in records]
    return judged_pairs(scores, texts=texts, images=[one["filename"] for one in records])


@pytest.fixture(scope="module")
def priors():
    """GPT-4V's answers on two files of SugarCrepe, and the priors of bigrams of COCO's captions of other images."""
    content = json.loads((SHARED / "captions/coco_captions_val2017.json").read_text(encoding="utf-8"))
    tasks = {f"sugarcrepe/{name}": recorded(name) for name in ("add_obj", "swap_obj")}
    asked = {int(images[0].split(".")[0]) for found in tasks.values() for images in found.images}
    model = Bigrams(one["caption"] for one in content["annotations"] if one["image_id"] not in asked)
    readers = {
        task: judged_pairs(
            [[-model.perplexity(text) for text in both] for both in found.texts],
            texts=found.texts,
            images=[images[0].removesuffix(".jpg") for images in found.images],
        )
        for task, found in tasks.items()
    }
    return tasks, readers


def test_gpt4v_is_analysed_against_a_language_models_priors(priors):
    tasks, readers = priors
    analysis = valse.analyse([run("gpt4v", **tasks)], run("bigrams", adapter=PERPLEXITY, **readers), "*")
    found = rows(analysis, "Linguistic priors")
    for task, count, right in (("sugarcrepe/add_obj", 2062, 1918), ("sugarcrepe/swap_obj", 246, 198)):
        parts = [row for labels, row in found.items() if labels[1] == task and labels[2] != "difference"]
        assert sum(row.n for row in parts) == count
        assert sum(row.n * row.value for row in parts) == pytest.approx(right)
    row = rows(analysis, "Against a language model")["gpt4v", "sugarcrepe/swap_obj"]
    assert row.value == pytest.approx(198 / 246 - readers["sugarcrepe/swap_obj"].case_metrics["acc_r"].mean())
