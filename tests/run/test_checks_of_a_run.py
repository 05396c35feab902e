"""What the checks of a model ask: of the run's requests as few again as they can."""

import re
from pathlib import Path

import numpy as np
from builders import coloured, pair_case, task_of

from vlgate.asking.batching import Caller
from vlgate.asking.cache.store import Memory
from vlgate.asking.checks.check import CAPTIONS
from vlgate.asking.dedupe import Identities
from vlgate.asking.predictor import ModelPredictor
from vlgate.asking.reply_cache import ReplyCache
from vlgate.record.options import Options
from vlgate.run.loading import CHECKED_CASES, checks_of

ASKED = 2 * CHECKED_CASES  # requests of the one task, in each round
ALONE, GROUPS = 4 * 5, 5  # near-copies: five of each request of two cases alone, and five groups
CALL = 64  # requests in a call of the run, which the reverse round fills
OPTIONS = Options(folder=Path(), thresholds=None, results=Path(), model="none:build")


def task(n=80, each=1):
    cases = []
    for number in range(n):
        texts = (f"It is the number {number}.", f"It is the number {number + n}.")
        cases.append(pair_case(number, *texts, coloured(f"{number // each * each}.jpg")))
    return task_of(cases, "own/numbers")


class Counting:
    """Counts the items and the calls of each method."""

    image_names = True

    def __init__(self):
        self.items, self.calls = 0, 0

    def _count(self, some):
        self.items += len(some)
        self.calls += 1


class Matching(Counting):
    def match(self, pairs):
        self._count(pairs)
        return np.array([float(f" {pair.image.key[:-4]}." in pair.text) for pair in pairs])


class Encoding(Counting):
    def encode_images(self, images):
        self._count(images)
        return np.eye(80)[[int(image.key[:-4]) for image in images]]

    def encode_texts(self, texts):
        self._count(texts)
        return np.eye(160)[[int(re.findall(r"\d+", text)[0]) for text in texts]][:, :80]


def checked(model, each=1):
    """The outcomes of the checks after a run with ``each`` cases of an image, and what they asked: items and calls."""
    memory, tasks = Memory(), [task(each=each)]
    cache = ReplyCache(memory=memory, identities=Identities(memory=memory, by_name=True), model=b"")
    caller = Caller(name="counting", size=CALL)
    predictor = ModelPredictor(model=model, name="counting", caller=caller, cache=cache, seed=0)
    predictor.predict(request for case in tasks[0].cases for request in case.requests)
    asked = cache.counts.asked
    model.items = model.calls = 0
    found = {check.name: check.outcome for check in checks_of(predictor, tasks, OPTIONS, "digest")}
    assert cache.counts.asked == asked  # the counts are those of the run
    return found, model.items, model.calls


def test_the_checks_of_a_matcher_share_a_round_and_take_true_texts_from_the_run():
    found, items, calls = checked(Matching())
    assert set(found.values()) == {"ok"}
    # together, in reverse, one at a time, together again; texts of other images; near-copies
    assert items == 3 * ASKED + CALL + CAPTIONS + ALONE + GROUPS * ASKED
    assert calls == 1 + 1 + ASKED + 1 + 1 + ALONE + GROUPS


def test_the_check_of_polarity_encodes_nothing_again():
    found, items, _ = checked(Encoding())
    assert set(found.values()) == {"ok"}
    images, texts = CHECKED_CASES, ASKED
    anew = 2 * ALONE + GROUPS * (images + texts)
    assert items == 2 * (images + texts) + (CALL // 2 + CALL) + 2 * ASKED + anew


def test_a_round_in_which_the_model_raises_fails_both_checks():
    class Falling(Matching):
        def match(self, pairs):
            if len(pairs) == ASKED:
                raise ValueError("the model fell")
            return super().match(pairs)

    found, *_ = checked(Falling())
    assert found == {"polarity": "ok", "batch_invariance": "failed", "determinism": "failed"}


def test_a_model_that_drifts_between_the_checks_is_not_deterministic():
    class Drifting(Matching):
        def match(self, pairs):
            return super().match(pairs) + 0.5 * self.calls

    found, *_ = checked(Drifting())
    assert found["determinism"] == "suspect"


def test_a_model_that_is_right_in_a_full_call_only_depends_on_the_batch():
    class Crowded(Matching):
        def match(self, pairs):
            return super().match(pairs) * (len(pairs) > CALL // 2)

    found, *_ = checked(Crowded())
    assert found["batch_invariance"] == "suspect"


def test_a_memory_hides_nothing_if_the_first_cases_are_about_one_image():
    known = {}

    class Remembering(Matching):
        def match(self, pairs):
            scores = super().match(pairs) + len(pairs)
            return np.array(
                [known.setdefault((pair.image.key, pair.text), s) for pair, s in zip(pairs, scores, strict=True)]
            )

    found, *_ = checked(Remembering(), each=10)
    assert found["batch_invariance"] == "suspect"
