import math
from collections import Counter
from hashlib import sha256

import pytest
from builders import image, pair_case, task_of
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.asking.checks.check import REQUESTS, ROUNDING
from vlgate.asking.checks.invariance import check_batch_invariance, check_determinism
from vlgate.asking.checks.polarity import CAPTIONS, check_polarity, two_sided
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

    def _prediction(self, request, place):
        said = self.reply(request, place)
        field = {float: "score", str: "answer", dict: None}[type(said)]
        return Prediction(request=request, **({field: said} if field else said))


def fits(request):
    return float(f"thing{request.image.key.removesuffix('.jpg')} " in request.text)


def hashed(*parts):
    return float(int.from_bytes(sha256("|".join(parts).encode()).digest()[:6], "big"))


oracle = Asked(lambda r, _: fits(r))
MISSING = {"problem": "image '7.jpg': is nowhere"}


def test_a_model_that_sees_is_ok_and_one_that_is_reversed_is_suspect():
    seeing = check_polarity(Asked(lambda r, _: 0.3 + fits(r)), [pairs(200)], seed=1)
    assert (seeing.name, seeing.outcome, seeing.n, seeing.share) == ("polarity", "ok", CAPTIONS, 1.0)
    assert "higher scores mean a better fit" in seeing.why
    reversed_ = check_polarity(Asked(lambda r, _: 0.3 - fits(r)), [pairs(200)], seed=1)
    assert (reversed_.outcome, reversed_.n, reversed_.share) == ("suspect", CAPTIONS, 0.0)
    assert "0 of 64" in reversed_.why
    assert "reversed" in reversed_.why


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_random_model_is_ok_and_reported_to_be_at_chance(seed):
    found = check_polarity(Asked(lambda r, _: hashed(str(seed), r.image.key, r.text)), [pairs(200)], seed)
    assert found.outcome == "ok"
    assert "than chance" in found.why


def test_a_constant_model_only_ties():
    found = check_polarity(Asked(lambda _r, _p: 0.5), [pairs(50)], 0)
    assert (found.outcome, found.n, found.share) == ("ok", 0, None)
    assert "50 ties left out" in found.why


@pytest.mark.parametrize(
    "score", [lambda r: -float(len(r.text)), lambda r: hashed(r.text), lambda r: hashed(r.image.key)]
)
@pytest.mark.parametrize("seed", range(5))
def test_a_model_that_looks_at_one_side_only_gets_one_half(score, seed):
    """It does so even if the texts that share few words have another length than the others."""
    task = pairs(300, truth=lambda i: " ".join([f"w{i}"] + ["a photo of the thing"] * (i % 7)))
    found = check_polarity(Asked(lambda r, _: score(r)), [task], seed)
    assert found.outcome == "ok"
    assert found.share in {None, 0.5}


@pytest.mark.parametrize("accuracy", [0.85, 0.95])
def test_a_model_that_is_mostly_wrong_is_suspect(accuracy):
    def score(request, _):
        sees = hashed(request.image.key, request.text) < accuracy * 2**48
        return -fits(request) if sees else fits(request)

    assert check_polarity(Asked(score), [pairs(200)], 3).outcome == "suspect"


def test_what_is_asked_beyond_the_run_is_bounded_and_drawn_by_the_seed():
    task = pairs(500)
    own = {request for case in task.cases for request in case.requests}
    model, again, other = (Asked(lambda r, _: fits(r)) for _ in range(3))
    check_polarity(model, [task], 4)
    check_polarity(again, [task], 4)
    check_polarity(other, [task], 5)
    assert set(model.requests.values()) == {1}
    assert len(set(model.requests) & own) == CAPTIONS
    assert len(set(model.requests) - own) == CAPTIONS
    assert model.requests == again.requests != other.requests


def test_exchanged_captions_are_of_another_image_and_never_true_of_this_one():
    # Every text is true of the images i, i + 1 and i + 2, by the task's own account.
    about = [(i, k, Match(image=image(f"{i + k}.jpg"), text=f"t{i}")) for i in range(40) for k in range(3)]
    cases = [Case(id=f"{i}-{k}", requests=(one,), truths=(True,)) for i, k, one in about]
    task = task_of(cases)
    own = {(r.image.key, r.text) for c in cases for r in c.requests}
    model = Asked(lambda r, _: float((r.image.key, r.text) in own))
    found = check_polarity(model, [task], 0)
    assert found.share == 1.0
    assert found.n > 30
    assert "ties" not in found.why


def test_a_caption_is_not_exchanged_if_it_is_true_of_the_other_image_only():
    # Text i is true of the images i, i + 1, ..., so of any two captions one at least is true of both images.
    about = [(i, k, Match(image=image(f"{k}.jpg"), text=f"t{i}")) for k in range(20) for i in range(k + 1)]
    cases = [Case(id=f"{i}-{k}", requests=(one,), truths=(True,)) for i, k, one in about]
    task = task_of(cases)
    own = {request for case in cases for request in case.requests}
    for seed in range(5):
        model = Asked(lambda _r, _p: 0.0)
        assert check_polarity(model, [task], seed).n == 0
        assert set(model.requests) <= own


def test_captions_with_few_words_in_common_are_exchanged():
    kinds = ("a cat on the sofa at home", "two boats under that bridge")
    task = pairs(100, truth=lambda i: f"{kinds[i % 2]} {i}")
    model = Asked(lambda _r, _p: 0.0)
    check_polarity(model, [task], 0)
    own = {request for case in task.cases for request in case.requests}
    exchanged = set(model.requests) - own
    alike = [r for r in exchanged if r.text.startswith(kinds[int(r.image.key.removesuffix(".jpg")) % 2])]
    assert len(alike) < len(exchanged) / 10


def test_every_task_is_asked_and_the_order_of_the_tasks_changes_nothing():
    big = pairs(3000, name="x/big")
    small = task_of([pair_case(i, f"thing{i} small", f"foil {i}", image(f"s{i}.jpg")) for i in range(60)], "x/small")
    model, turned = Asked(lambda _r, _p: 0.0), Asked(lambda _r, _p: 0.0)
    check_polarity(model, [big, small], 0)
    check_polarity(turned, [small, big], 0)
    assert any("small" in request.text for request in model.requests)
    assert model.requests == turned.requests


def test_missing_images_are_passed_over_and_others_are_asked():
    there = lambda r: int(r.image.key.removesuffix(".jpg")) % 5 == 0  # noqa: E731
    found = check_polarity(Asked(lambda r, _: fits(r) if there(r) else MISSING), [pairs(450)], 0)
    assert (found.outcome, found.n, found.share) == ("ok", CAPTIONS, 1.0)


def test_too_few_comparisons_give_no_finding():
    few = check_polarity(Asked(lambda r, _: -fits(r)), [pairs(11)], 0)
    assert (few.outcome, few.n, few.share) == ("not applicable", 10, None)
    assert check_polarity(Asked(lambda r, _: -fits(r)), [pairs(12)], 0).outcome == "suspect"
    none = check_polarity(Asked(lambda _r, _p: MISSING), [pairs(100)], 0)
    assert (none.outcome, none.n) == ("not applicable", 0)
    assert "7.jpg" in none.why


def test_a_replay_without_the_exchanged_pairs_gives_no_finding():
    task = pairs(100)
    own = {request for case in task.cases for request in case.requests}
    found = check_polarity(Asked(lambda r, _: fits(r) if r in own else {"problem": "no row"}), [task], 0)
    assert found.outcome == "not applicable"
    assert "no row" in found.why


def test_tasks_without_captions_of_images_give_no_finding():
    asks = Case(id="1", requests=(Ask(image=image("a"), question="q"),) * 2, truths=("yes", "yes"))
    reads = Case(id="1", requests=(Read(text="a"), Read(text="b")), truths=(True, False))
    tasks = [task_of([asks], "x/q", "invariance", "questions"), task_of([reads], "x/r"), task_of([], "x/e")]
    found = check_polarity(oracle, tasks, 0)
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
    model = Asked(lambda r, _: hashed(r.image.key, r.text) / 2**48)
    found = check_batch_invariance(model, requests())
    assert (found.name, found.outcome, found.share, found.largest) == ("batch_invariance", "ok", 1.0, 0.0)
    assert found.n == REQUESTS + REQUESTS // 2
    assert len(model.requests) == len(requests())  # the others fill the call of one round
    assert Counter(model.requests.values()) == {3: REQUESTS, 1: len(requests()) - REQUESTS}


@pytest.mark.parametrize("noise", [1e-3, 1.0])
def test_noise_by_the_place_in_the_batch_is_caught(noise):
    found = check_batch_invariance(Asked(lambda r, place: hashed(r.text) / 2**48 + noise * place), requests())
    assert found.outcome == "suspect"
    assert found.largest == pytest.approx(noise * (REQUESTS - 1))


def test_noise_within_the_tolerance_is_ok_if_no_order_changes():
    noisy = Asked(lambda r, place: 40 * hashed(r.text) / 2**48 + 1e-6 * place)
    found = check_batch_invariance(noisy, requests())
    assert found.outcome == "ok"
    assert 0 < found.largest < 1e-4
    assert check_batch_invariance(noisy, requests(), tolerance=1e-9).outcome == "suspect"


def test_noise_within_rounding_that_orders_ties_is_counted_and_stops_nothing():
    found = check_batch_invariance(Asked(lambda _, place: 0.5 + 1e-9 * place), requests(), cases=pairs(40).cases)
    assert found.outcome == "ok"
    assert f"{REQUESTS // 2} of {REQUESTS // 2} pairs" in found.why
    assert f"could change {REQUESTS // 2} of {REQUESTS // 2} verdicts" in found.why
    assert found.share < 1


def test_rounding_can_turn_a_yes_but_a_yes_that_turns_alone_is_suspect():
    rounding = Asked(lambda _, place: {"score": 0.5 + 1e-9 * place, "accepted": place > 0})
    found = check_batch_invariance(rounding, requests(), cases=pairs(40).cases)
    assert found.outcome == "ok"
    assert f"could change {REQUESTS // 2} of {REQUESTS // 2} verdicts" in found.why
    alone = check_batch_invariance(Asked(lambda _, place: {"score": 0.5, "accepted": place > 0}), requests())
    assert alone.outcome == "suspect"


def test_the_rounding_of_half_precision_is_allowed_to_half_precision_only():
    noisy = Asked(lambda r, place: hashed(r.text) / 2**48 + 1e-3 * place / REQUESTS)
    assert check_batch_invariance(noisy, requests(), ROUNDING["float32"]).outcome == "suspect"
    assert check_batch_invariance(noisy, requests(), ROUNDING["bfloat16"]).outcome == "ok"


def test_replies_that_change_with_the_call_are_caught():
    counting = Asked(lambda r, _: float(counting.requests[r]))
    found = check_determinism(counting, requests())
    assert (found.name, found.outcome, found.largest) == ("determinism", "suspect", 1.0)
    steady = check_determinism(Asked(lambda r, place: hashed(r.text) / 2**48 + place), requests())
    assert (steady.outcome, steady.largest) == ("ok", 0.0)


@pytest.mark.parametrize("reply", [
    lambda place: "yes" if place else "no", lambda place: {"score": 0.0, "accepted": place > 0},
    lambda place: {"score": 0.0} if place else {"problem": "out of memory"},
])  # fmt: skip
def test_other_replies_are_caught(reply):
    found = check_batch_invariance(Asked(lambda _, place: reply(place)), requests())
    assert found.outcome == "suspect"
    missing = f"{REQUESTS} of {REQUESTS} requests have no reply"
    assert f"{REQUESTS} other replies" in found.why or missing in found.why


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
        times = model.requests[request]
        return MISSING if request.image.key == "0.jpg" and times > 1 else float(times)

    model = Asked(changing)
    found = check_determinism(model, requests())
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


def test_scores_of_different_images_are_not_compared():
    asked = [Match(image=image(f"{i}"), text="same") for i in range(8)]
    assert check_batch_invariance(Asked(lambda _, place: 1e-9 * place), asked).outcome == "ok"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 150))
def test_an_oracle_is_never_suspect_and_its_reverse_never_ok_if_the_captions_are_enough(seed, n):
    right = check_polarity(Asked(lambda r, _: fits(r)), [pairs(n)], seed)
    wrong = check_polarity(Asked(lambda r, _: -fits(r)), [pairs(n)], seed)
    assert (right.outcome, wrong.outcome) == (("ok", "suspect") if n >= 12 else ("not applicable", "not applicable"))


def test_only_captions_whose_images_are_there_are_drawn():
    """With 100 of 5,000 images, a draw from all captions would find hardly one."""

    def case(n):
        shown = LazyImage(key=f"{n}.jpg", load=None, where="" if n % 50 else "/here")
        return pair_case(n, f"word{n} thing{n} in place{n}", f"foil {n}", shown)

    missing = {"problem": "not found"}
    model = Asked(lambda request, _: fits(request) if request.image.where else missing)
    found = check_polarity(model, [task_of(map(case, range(5000)))], seed=0)
    assert (found.outcome, found.n) == ("ok", CAPTIONS)
