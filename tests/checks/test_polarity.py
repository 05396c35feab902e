"""Checks of a model: which way round its scores are, and whether a reply depends on the batch or on the call."""

import hashlib
import itertools
import math
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from types import SimpleNamespace

import pytest
from builders import image, model, noise, pair_case, predictor, task_of
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.asking.batching import Caller
from vlgate.asking.checks.check import (
    CAPTIONS,
    REQUESTS,
    ROUNDING,
    check_batch_invariance,
    check_determinism,
    check_polarity,
    near_copy,
    two_sided,
)
from vlgate.asking.items import Copies
from vlgate.types import Ask, Case, LazyImage, Match, Prediction, Read


def pairs(n, name="x/pairs", truth=lambda i: f"word{i} thing{i} in place{i}"):
    return task_of([pair_case(i, truth(i), f"foil {i}", image(f"{i}.jpg")) for i in range(n)], name)


class Asked:
    """A predictor made of a function of (request, its position in the batch); it counts what it is asked."""

    def __init__(self, reply):
        self.reply, self.requests = reply, Counter()

    def predict(self, requests):
        asked = list(dict.fromkeys(requests))
        self.requests.update(asked)
        return {request: self._prediction(request, index) for index, request in enumerate(asked)}

    def one_at_a_time(self):
        alone = lambda requests: {request: self.predict([request])[request] for request in requests}  # noqa: E731
        return SimpleNamespace(predict=alone)

    def _prediction(self, request, place):
        said = self.reply(request, place)
        field = {float: "score", str: "answer", dict: None}[type(said)]
        return Prediction(request=request, **({field: said} if field else said))


def checked(score, tasks, seed=0):
    """The finding of the check of polarity about a function of a request, and the predictor that was asked."""
    asked = Asked(lambda request, _: score(request))
    return check_polarity(asked, tasks, seed), asked


def own(task):
    return {request for case in task.cases for request in case.requests}


def fits(request):
    return float(f"thing{request.image.key.removesuffix('.jpg')} " in request.text)


def hashed(*parts):
    return float(int.from_bytes(sha256("|".join(parts).encode()).digest()[:6], "big"))


MISSING = {"problem": "image '7.jpg': is nowhere"}


def test_a_model_that_sees_is_ok_and_one_that_is_reversed_is_suspect():
    seeing, _ = checked(lambda r: 0.3 + fits(r), [pairs(200)], 1)
    assert (seeing.name, seeing.outcome, seeing.n, seeing.share) == ("polarity", "ok", CAPTIONS, 1.0)
    assert "higher scores mean a better fit" in seeing.why
    turned, _ = checked(lambda r: 0.3 - fits(r), [pairs(200)], 1)
    assert (turned.outcome, turned.n, turned.share) == ("suspect", CAPTIONS, 0.0)
    assert "0 of 64" in turned.why
    assert "reversed" in turned.why


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_random_model_is_ok_and_reported_to_be_at_chance(seed):
    found, _ = checked(lambda r: hashed(str(seed), r.image.key, r.text), [pairs(200)], seed)
    assert found.outcome == "ok"
    assert "than chance" in found.why


def test_a_constant_model_only_ties():
    found, _ = checked(lambda _: 0.5, [pairs(50)])
    assert (found.outcome, found.n, found.share) == ("ok", 0, None)
    assert "50 ties left out" in found.why


@pytest.mark.parametrize(
    "score", [lambda r: -float(len(r.text)), lambda r: hashed(r.text), lambda r: hashed(r.image.key)]
)
@pytest.mark.parametrize("seed", range(5))
def test_a_model_that_looks_at_one_side_only_gets_one_half(score, seed):
    """It does so even if the texts that share few words have another length than the others."""
    task = pairs(300, truth=lambda i: " ".join([f"w{i}"] + ["a photo of the thing"] * (i % 7)))
    found, _ = checked(score, [task], seed)
    assert found.outcome == "ok"
    assert found.share in {None, 0.5}


@pytest.mark.parametrize("accuracy", [0.85, 0.95])
def test_a_model_that_is_mostly_wrong_is_suspect(accuracy):
    def score(request):
        return -fits(request) if hashed(request.image.key, request.text) < accuracy * 2**48 else fits(request)

    assert checked(score, [pairs(200)], 3)[0].outcome == "suspect"


def test_what_is_asked_beyond_the_run_is_bounded_and_drawn_by_the_seed():
    task = pairs(500)
    asked, again, other = (checked(fits, [task], seed)[1].requests for seed in (4, 4, 5))
    assert set(asked.values()) == {1}
    assert len(set(asked) & own(task)) == len(set(asked) - own(task)) == CAPTIONS
    assert asked == again != other


def test_exchanged_captions_are_of_another_image_and_never_true_of_this_one():
    # Every text is true of the images i, i + 1 and i + 2, by the task's own account.
    about = [(i, k, Match(image=image(f"{i + k}.jpg"), text=f"t{i}")) for i in range(40) for k in range(3)]
    cases = [Case(id=f"{i}-{k}", requests=(one,), truths=(True,)) for i, k, one in about]
    true = {(r.image.key, r.text) for r in own(task_of(cases))}
    found, _ = checked(lambda r: float((r.image.key, r.text) in true), [task_of(cases)])
    assert found.share == 1.0
    assert found.n > 30
    assert "ties" not in found.why


def test_a_caption_is_not_exchanged_if_it_is_true_of_the_other_image_only():
    # Text i is true of the images i, i + 1, ..., so of any two captions one at least is true of both images.
    about = [(i, k, Match(image=image(f"{k}.jpg"), text=f"t{i}")) for k in range(20) for i in range(k + 1)]
    cases = [Case(id=f"{i}-{k}", requests=(one,), truths=(True,)) for i, k, one in about]
    for seed in range(5):
        found, asked = checked(lambda _: 0.0, [task_of(cases)], seed)
        assert found.n == 0
        assert set(asked.requests) <= own(task_of(cases))


def test_captions_with_few_words_in_common_are_exchanged():
    kinds = ("a cat on the sofa at home", "two boats under that bridge")
    task = pairs(100, truth=lambda i: f"{kinds[i % 2]} {i}")
    exchanged = set(checked(lambda _: 0.0, [task])[1].requests) - own(task)
    alike = [r for r in exchanged if r.text.startswith(kinds[int(r.image.key.removesuffix(".jpg")) % 2])]
    assert len(alike) < len(exchanged) / 10


def test_every_task_is_asked_and_the_order_of_the_tasks_changes_nothing():
    big = pairs(3000, name="x/big")
    small = task_of([pair_case(i, f"thing{i} small", f"foil {i}", image(f"s{i}.jpg")) for i in range(60)], "x/small")
    asked, turned = (checked(lambda _: 0.0, tasks)[1].requests for tasks in ([big, small], [small, big]))
    assert any("small" in request.text for request in asked)
    assert asked == turned


def test_missing_images_are_passed_over_and_others_are_asked():
    found, _ = checked(lambda r: MISSING if int(r.image.key.removesuffix(".jpg")) % 5 else fits(r), [pairs(450)])
    assert (found.outcome, found.n, found.share) == ("ok", CAPTIONS, 1.0)


def test_too_few_comparisons_give_no_finding():
    few, enough, none = (
        checked(score, [pairs(n)])[0]
        for score, n in ((lambda r: -fits(r), 11), (lambda r: -fits(r), 12), (lambda _: MISSING, 100))
    )
    assert (few.outcome, few.n, few.share) == ("not applicable", 10, None)
    assert enough.outcome == "suspect"
    assert (none.outcome, none.n) == ("not applicable", 0)
    assert "7.jpg" in none.why
    known = own(pairs(100))  # a replay without the exchanged pairs
    replay, _ = checked(lambda r: fits(r) if r in known else {"problem": "no row"}, [pairs(100)])
    assert (replay.outcome, "no row" in replay.why) == ("not applicable", True)


def test_tasks_without_captions_of_images_give_no_finding():
    asks = Case(id="1", requests=(Ask(image=image("a"), question="q"),) * 2, truths=("yes", "yes"))
    reads = Case(id="1", requests=(Read(text="a"), Read(text="b")), truths=(True, False))
    tasks = [task_of([asks], "x/q", "invariance", "questions"), task_of([reads], "x/r"), task_of([], "x/e")]
    found, _ = checked(fits, tasks)
    assert (found.outcome, found.n) == ("not applicable", 0)


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_two_sided_probability_is_that_of_scipy_s_definition(k, extra):
    n = k + extra
    exact = sum(math.comb(n, i) for i in range(n + 1) if math.comb(n, i) <= math.comb(n, k)) / 2**n
    assert two_sided(k, n) == pytest.approx(exact)
    assert two_sided(k, n) == two_sided(n - k, n)


def requests(n=40):
    return [request for case in pairs(n).cases for request in case.requests]


def test_a_steady_model_is_ok():
    asked = Asked(lambda r, _: hashed(r.image.key, r.text) / 2**48)
    found = check_batch_invariance(asked, requests())
    assert (found.name, found.outcome, found.share, found.largest) == ("batch_invariance", "ok", 1.0, 0.0)
    assert found.n == REQUESTS + REQUESTS // 2
    assert len(asked.requests) == len(requests())  # the others fill the call of one round
    assert Counter(asked.requests.values()) == {3: REQUESTS, 1: len(requests()) - REQUESTS}


@pytest.mark.parametrize("step", [1e-3, 1.0])
def test_noise_by_the_place_in_the_batch_is_caught(step):
    found = check_batch_invariance(Asked(lambda r, place: hashed(r.text) / 2**48 + step * place), requests())
    assert found.outcome == "suspect"
    assert found.largest == pytest.approx(step * (REQUESTS - 1))


HALF, COULD = f"{REQUESTS // 2} of {REQUESTS // 2}", f"could change {REQUESTS // 2} of {REQUESTS // 2} verdicts"
SMALL = lambda r, place: 40 * hashed(r.text) / 2**48 + 1e-6 * place  # noqa: E731
COARSE = lambda r, place: hashed(r.text) / 2**48 + 1e-3 * place / REQUESTS  # noqa: E731


@pytest.mark.parametrize(("reply", "how", "outcome", "says"), [
    (SMALL, {}, "ok", "within rounding"), (SMALL, {"tolerance": 1e-9}, "suspect", "differ by at most"),
    (COARSE, {"tolerance": ROUNDING["float32"]}, "suspect", ""),
    (COARSE, {"tolerance": ROUNDING["bfloat16"]}, "ok", ""),
    (lambda _, place: 0.5 + 1e-9 * place, {}, "ok", f"{HALF} pairs"),
    (lambda _, place: 0.5 + 1e-9 * place, {"cases": pairs(40).cases}, "ok", COULD),
    (lambda _, place: {"score": 0.5 + 1e-9 * place, "accepted": place > 0}, {"cases": pairs(40).cases}, "ok", COULD),
    (lambda _, place: {"score": 0.5, "accepted": place > 0}, {}, "suspect", f"{REQUESTS} other replies"),
    (lambda _, place: "yes" if place else "no", {}, "suspect", f"{REQUESTS} other replies"),
    (lambda _, place: {"score": 0.0} if place else MISSING, {}, "suspect", f"{REQUESTS} requests have no"),
])  # fmt: skip
def test_differences_within_rounding_are_counted_and_stop_nothing_and_others_are_suspect(reply, how, outcome, says):
    found = check_batch_invariance(Asked(reply), requests(), **how)
    assert found.outcome == outcome
    assert says in found.why
    assert found.share is None or found.share < 1 or found.largest < 1e-3


def test_replies_that_change_with_the_call_are_caught():
    counting = Asked(lambda r, _: float(counting.requests[r]))
    found = check_determinism(counting, requests())
    assert (found.name, found.outcome, found.largest) == ("determinism", "suspect", 1.0)
    steady = check_determinism(Asked(lambda r, place: hashed(r.text) / 2**48 + place), requests())
    assert (steady.outcome, steady.largest) == ("ok", 0.0)


@pytest.mark.parametrize("check", [check_batch_invariance, check_determinism])
@pytest.mark.parametrize(("failing", "outcome"), [(1, "ok"), (6, "ok"), (7, "suspect"), (REQUESTS, "suspect")])
def test_requests_that_fail_in_one_round_are_no_sign_of_a_model_that_changes_its_mind(check, failing, outcome):
    bad, problem = set(requests()[:failing]), {"problem": "the service answers 429: slow down"}
    busy = Asked(lambda r, _: problem if r in bad and busy.requests[r] == 2 else hashed(r.text))
    found = check(busy, requests())
    assert found.outcome == outcome
    assert "429: slow down" in found.why
    assert f"{failing} of {REQUESTS} requests have no reply in some of" in found.why
    assert not any(word in found.why for word in ("dropout", "evaluation"))


def test_a_model_that_changes_what_it_says_is_caught_though_others_fail():
    def changing(request, _):
        times = asked.requests[request]
        return MISSING if request.image.key == "0.jpg" and times > 1 else float(times)

    asked = Asked(changing)
    found = check_determinism(asked, requests())
    assert found.outcome == "suspect"
    assert "switch off dropout" in found.why
    assert "2 of 24 requests have no reply in some of" in found.why


def test_requests_that_never_have_a_reply_are_left_out():
    some = Asked(lambda r, _: MISSING if r.image.key == "7.jpg" else 1.0)
    found = check_batch_invariance(some, requests())
    assert found.outcome == "ok"
    assert found.n == (REQUESTS - 2) + (REQUESTS // 2 - 1)
    none = check_batch_invariance(Asked(lambda _r, _p: MISSING), requests())
    assert (none.outcome, none.share) == ("not applicable", None)
    assert check_batch_invariance(some, []).outcome == "not applicable"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 150))
def test_an_oracle_is_never_suspect_and_its_reverse_never_ok_if_the_captions_are_enough(seed, n):
    right, wrong = (checked(score, [pairs(n)], seed)[0] for score in (fits, lambda r: -fits(r)))
    assert (right.outcome, wrong.outcome) == (("ok", "suspect") if n >= 12 else ("not applicable", "not applicable"))


def test_only_captions_whose_images_are_there_are_drawn():
    """With 100 of 5,000 images, a draw from all captions would find hardly one."""

    def case(n):
        shown = LazyImage(key=f"{n}.jpg", load=None, where="" if n % 50 else "/here")
        return pair_case(n, f"word{n} thing{n} in place{n}", f"foil {n}", shown)

    found, _ = checked(lambda r: fits(r) if r.image.where else MISSING, [task_of(map(case, range(5000)))])
    assert (found.outcome, found.n) == ("ok", CAPTIONS)


TEXTS = ("A red cup on a table.", "A blue cup on a table.", "A red hat on a table.", "A red cup on a chair.")
KEYS = {
    "key": lambda pair: (pair.image.key, pair.text),
    "pixels": lambda pair: (pair.image.load().tobytes(), pair.text),
    "text": lambda pair: pair.text,
    "pair": lambda pair: pair,
}
ASKED = [tuple(Match(image=noise(number), text=f"{number} {text}") for text in TEXTS) for number in range(6)]
CASES = [Case(id=str(n), requests=one, truths=(True, False, False, False)) for n, one in enumerate(ASKED)]
PAIRS = list(itertools.chain(*ASKED))


def medoid(pairs):
    """Prefers the text that shares most words with the others about its image."""
    words = [set(pair.text.strip(" .").split()) for pair in pairs]
    return [
        float(sum(len(own & words[n]) for n, other in enumerate(pairs) if n != index and other.image == pair.image))
        for index, (own, pair) in enumerate(zip(words, pairs, strict=True))
    ]


def chance(salt):
    told = lambda pair: pair.image.load().tobytes() + f"{salt} {pair.text}".encode()  # noqa: E731
    return lambda pairs: [int(hashlib.sha256(told(one)).hexdigest()[:8], 16) / 16**8 for one in pairs]


def remembering(key, match):
    known = {}

    def remembered(pairs):
        keys = [key(pair) for pair in pairs]
        for one, score in zip(keys, match(pairs), strict=True):
            known.setdefault(one, score)
        return [known[key] for key in keys]

    return remembered


def asking(match, **attributes):
    caller = Caller(name="mine", size=64, copies=Copies(names=bool(attributes)))
    return replace(predictor(model(match=match, **attributes)), caller=caller)


def batch_invariance(asked, anew="all"):
    asked.predict(PAIRS)  # the run
    return check_batch_invariance(asked, PAIRS, cases=CASES, anew=anew)


@pytest.mark.parametrize("key", KEYS)
def test_a_memory_of_replies_does_not_hide_that_they_depend_on_the_batch(key):
    found = batch_invariance(asking(remembering(KEYS[key], medoid)))
    assert found.outcome == "suspect"
    hidden = key in {"pixels", "text"}  # other names alone tell the others
    assert ("asked anew in 5 near-copies alone and 5 in a group" in found.why) == hidden


def test_a_model_that_gets_names_is_asked_other_texts_about_the_same_names():
    keys = set()

    remembered = remembering(KEYS["key"], lambda pairs: keys.update(one.image.key for one in pairs) or medoid(pairs))
    assert batch_invariance(asking(remembered, image_names=True), "texts").outcome == "suspect"
    assert keys == {f"{number}.jpg" for number in range(6)}


@pytest.mark.slow
def test_a_model_whose_every_reply_is_chance_is_not_suspected_of_looking_at_the_batch():
    found = [batch_invariance(asking(remembering(KEYS["pixels"], chance(salt)))) for salt in range(60)]
    assert {check.outcome for check in found} == {"ok"}


def test_a_model_that_knows_the_texts_of_the_run_only_is_not_suspected():
    scores = {one.text: float(index) for index, one in enumerate(PAIRS)}
    found = batch_invariance(asking(lambda pairs: [scores[pair.text] for pair in pairs]))
    assert (found.outcome, "near-copies could not be asked (KeyError" in found.why) == ("ok", True)


@pytest.mark.parametrize(("key", "outcome"), [("key", "suspect"), ("pair", "suspect"), ("pixels", "ok")])
def test_a_memory_by_names_does_not_hide_chance(key, outcome):
    drawn = itertools.count()
    asked = asking(remembering(KEYS[key], lambda pairs: [float(next(drawn) % 7) for _ in pairs]))
    asked.predict(PAIRS)
    assert check_determinism(asked, PAIRS, anew="all").outcome == outcome


@pytest.mark.parametrize("request_", [
    Match(image=noise(1), text="A red cup."), Ask(image=noise(1), question="What is it?", choices=("a", "b")),
    Read(text="..."), Read(text=""), Read(text="A cup !"),
], ids=repr)  # fmt: skip
def test_the_ten_copies_of_a_request_differ_from_it_and_from_each_other(request_):
    copies = {near_copy(request_, number) for number in range(10)}
    assert len(copies | {request_}) == 11
