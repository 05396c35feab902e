import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.polarity import CAPTIONS, check_polarity, two_sided
from vlgate.steadiness import REQUESTS, check_batches
from vlgate.types import Ask, Case, Match, Picture, Prediction, Read, Table


def picture(key):
    return Picture(key=key, load=lambda: pytest.fail("a check decoded a picture"))


def pairs(n, name="x/pairs", truth=lambda i: f"word{i} thing{i} in place{i}"):
    return Table(
        id=name,
        capability="foil",
        shape="pair",
        cases=tuple(
            Case(
                id=str(i),
                requests=(
                    Match(picture=picture(f"{i}.jpg"), text=truth(i)),
                    Match(picture=picture(f"{i}.jpg"), text=f"foil {i}"),
                ),
                truths=(True, False),
            )
            for i in range(n)
        ),
    )


class Asked:
    """A predictor made of a function of (request, its place among those asked with it); counts what it is asked."""

    def __init__(self, reply):
        self.reply, self.requests = reply, Counter()

    def predict(self, requests):
        asked = list(dict.fromkeys(requests))
        self.requests.update(asked)
        return {request: self._prediction(request, place) for place, request in enumerate(asked)}

    def _prediction(self, request, place):
        said = self.reply(request, place)
        field = {float: "score", str: "answer", dict: None}[type(said)]
        return Prediction(request=request, **({field: said} if field else said))


def fits(request):
    return float(f"thing{request.picture.key.removesuffix('.jpg')} " in request.text)


def hashed(*parts):
    return float(int.from_bytes(__import__("hashlib").sha256("|".join(parts).encode()).digest()[:6], "big"))


oracle = Asked(lambda r, _: fits(r))
MISSING = {"problem": "picture '7.jpg': is nowhere"}


def test_a_model_that_sees_is_ok_and_one_that_is_reversed_is_suspect():
    seeing = check_polarity(Asked(lambda r, _: 0.3 + fits(r)), [pairs(200)], seed=1)
    assert (seeing.name, seeing.outcome, seeing.n, seeing.share) == ("polarity", "ok", CAPTIONS, 1.0)
    assert "higher scores mean a better fit" in seeing.why
    reversed_ = check_polarity(Asked(lambda r, _: 0.3 - fits(r)), [pairs(200)], seed=1)
    assert (reversed_.outcome, reversed_.n, reversed_.share) == ("suspect", CAPTIONS, 0.0)
    assert "0 of 64" in reversed_.why
    assert "reversed" in reversed_.why


@pytest.mark.parametrize("seed", range(20))
def test_a_random_model_is_ok_and_is_said_to_be_at_chance(seed):
    found = check_polarity(Asked(lambda r, _: hashed(str(seed), r.picture.key, r.text)), [pairs(200)], seed)
    assert found.outcome == "ok"
    assert "chance" in found.why


def test_a_constant_model_only_ties():
    found = check_polarity(Asked(lambda _r, _p: 0.5), [pairs(50)], 0)
    assert (found.outcome, found.n, found.share) == ("ok", 0, None)
    assert "50 ties left out" in found.why


@pytest.mark.parametrize(
    "score", [lambda r: -float(len(r.text)), lambda r: hashed(r.text), lambda r: hashed(r.picture.key)]
)
@pytest.mark.parametrize("seed", range(5))
def test_a_model_that_looks_at_one_side_only_gets_one_half(score, seed):
    """Even where the texts that share few words are of another length than the others."""
    table = pairs(300, truth=lambda i: " ".join([f"w{i}"] + ["a photo of the thing"] * (i % 7)))
    found = check_polarity(Asked(lambda r, _: score(r)), [table], seed)
    assert found.outcome == "ok"
    assert found.share in {None, 0.5}


@pytest.mark.parametrize("accuracy", [0.85, 0.95])
def test_a_model_that_is_mostly_wrong_is_suspect(accuracy):
    def score(request, _):
        sees = hashed(request.picture.key, request.text) < accuracy * 2**48
        return -fits(request) if sees else fits(request)

    assert check_polarity(Asked(score), [pairs(200)], 3).outcome == "suspect"


def test_what_is_asked_beyond_the_run_is_bounded_and_drawn_by_the_seed():
    table = pairs(500)
    own = {request for case in table.cases for request in case.requests}
    model, again, other = (Asked(lambda r, _: fits(r)) for _ in range(3))
    check_polarity(model, [table], 4)
    check_polarity(again, [table], 4)
    check_polarity(other, [table], 5)
    assert set(model.requests.values()) == {1}
    assert len(set(model.requests) & own) == CAPTIONS
    assert len(set(model.requests) - own) == CAPTIONS
    assert model.requests == again.requests != other.requests


def test_exchanged_captions_are_of_another_picture_and_never_true_of_this_one():
    # Every text is true of the pictures i, i + 1 and i + 2, by the table's own account.
    cases = [
        Case(id=f"{i}-{k}", requests=(Match(picture=picture(f"{i + k}.jpg"), text=f"t{i}"),), truths=(True,))
        for i in range(40)
        for k in range(3)
    ]
    table = Table(id="x/y", capability="foil", shape="pair", cases=tuple(cases))
    own = {(r.picture.key, r.text) for c in cases for r in c.requests}
    model = Asked(lambda r, _: float((r.picture.key, r.text) in own))
    found = check_polarity(model, [table], 0)
    assert found.share == 1.0
    assert found.n > 30
    assert "ties" not in found.why


def test_captions_with_few_words_in_common_are_exchanged():
    kinds = ("a cat on the sofa at home", "two boats under that bridge")
    table = pairs(100, truth=lambda i: f"{kinds[i % 2]} {i}")
    model = Asked(lambda _r, _p: 0.0)
    check_polarity(model, [table], 0)
    own = {request for case in table.cases for request in case.requests}
    exchanged = set(model.requests) - own
    alike = [r for r in exchanged if r.text.startswith(kinds[int(r.picture.key.removesuffix(".jpg")) % 2])]
    assert len(alike) < len(exchanged) / 10


def test_all_tables_have_their_turn_in_any_order():
    big, small = pairs(3000, name="x/big"), pairs(60, name="x/small", truth=lambda i: f"thing{i} small")
    other = tuple(
        Case(
            id=c.id,
            requests=tuple(Match(picture=picture(f"s{r.picture.key}"), text=r.text) for r in c.requests),
            truths=c.truths,
        )
        for c in small.cases
    )
    small = Table(id="x/small", capability="foil", shape="pair", cases=other)
    model, turned = Asked(lambda _r, _p: 0.0), Asked(lambda _r, _p: 0.0)
    check_polarity(model, [big, small], 0)
    check_polarity(turned, [small, big], 0)
    assert any("small" in request.text for request in model.requests)
    assert model.requests == turned.requests


def test_missing_pictures_are_passed_over_and_others_are_asked():
    there = lambda r: int(r.picture.key.removesuffix(".jpg")) % 5 == 0  # noqa: E731
    found = check_polarity(Asked(lambda r, _: fits(r) if there(r) else MISSING), [pairs(450)], 0)
    assert (found.outcome, found.n, found.share) == ("ok", CAPTIONS, 1.0)


def test_too_few_comparisons_are_no_finding():
    few = check_polarity(Asked(lambda r, _: -fits(r)), [pairs(11)], 0)
    assert (few.outcome, few.n, few.share) == ("not applicable", 10, None)
    assert check_polarity(Asked(lambda r, _: -fits(r)), [pairs(12)], 0).outcome == "suspect"
    none = check_polarity(Asked(lambda _r, _p: MISSING), [pairs(100)], 0)
    assert (none.outcome, none.n) == ("not applicable", 0)
    assert "7.jpg" in none.why


def test_a_replay_without_the_exchanged_pairs_is_no_finding():
    table = pairs(100)
    own = {request for case in table.cases for request in case.requests}
    found = check_polarity(Asked(lambda r, _: fits(r) if r in own else {"problem": "no row"}), [table], 0)
    assert found.outcome == "not applicable"
    assert "no row" in found.why


def test_tables_without_captions_of_pictures_are_no_finding():
    asks = Case(id="1", requests=(Ask(picture=picture("a"), question="q"),) * 2, truths=("yes", "yes"))
    reads = Case(id="1", requests=(Read(text="a"), Read(text="b")), truths=(True, False))
    tables = [
        Table(id="x/q", capability="invariance", shape="questions", cases=(asks,)),
        Table(id="x/r", capability="foil", shape="pair", cases=(reads,)),
        Table(id="x/e", capability="foil", shape="pair", cases=()),
    ]
    found = check_polarity(oracle, tables, 0)
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
    model = Asked(lambda r, _: hashed(r.picture.key, r.text) / 2**48)
    found = check_batches(model, requests())
    assert (found.name, found.outcome, found.share, found.largest) == ("batches", "ok", 1.0, 0.0)
    assert found.n == REQUESTS + REQUESTS // 2
    assert len(model.requests) == REQUESTS
    assert set(model.requests.values()) == {3}  # 64 beyond the run's own


@pytest.mark.parametrize("noise", [1e-3, 1.0])
def test_noise_by_the_place_in_the_batch_is_caught(noise):
    found = check_batches(Asked(lambda r, place: hashed(r.text) / 2**48 + noise * place), requests())
    assert found.outcome == "suspect"
    assert found.largest == pytest.approx(noise * (REQUESTS - 1))


def test_noise_within_the_tolerance_is_ok_where_no_order_changes():
    noisy = Asked(lambda r, place: 40 * hashed(r.text) / 2**48 + 1e-6 * place)
    found = check_batches(noisy, requests())
    assert found.outcome == "ok"
    assert 0 < found.largest < 1e-4
    assert check_batches(noisy, requests(), tolerance=1e-9).outcome == "suspect"


def test_the_least_noise_is_caught_where_it_orders_a_tie():
    found = check_batches(Asked(lambda _, place: 0.5 + 1e-9 * place), requests())
    assert found.outcome == "suspect"
    assert "16 of 16 orders" in found.why
    assert found.share < 1


@pytest.mark.parametrize(
    "reply",
    [
        lambda place: "yes" if place else "no",
        lambda place: {"score": 0.0, "accepted": place > 0},
        lambda place: {"score": 0.0} if place else {"problem": "out of memory"},
    ],
)
def test_other_replies_are_caught(reply):
    found = check_batches(Asked(lambda _, place: reply(place)), requests())
    assert found.outcome == "suspect"
    assert f"{REQUESTS} other replies" in found.why


def test_requests_that_never_have_a_reply_are_left_out():
    some = Asked(lambda r, _: MISSING if r.picture.key == "7.jpg" else 1.0)
    found = check_batches(some, requests())
    assert found.outcome == "ok"
    assert found.n == (REQUESTS - 2) + (REQUESTS // 2 - 1)
    none = check_batches(Asked(lambda _r, _p: MISSING), requests())
    assert (none.outcome, none.share) == ("not applicable", None)
    assert check_batches(some, []).outcome == "not applicable"


def test_scores_of_different_pictures_are_not_compared():
    asked = [Match(picture=picture(f"{i}"), text="same") for i in range(8)]
    assert check_batches(Asked(lambda _, place: 1e-9 * place), asked).outcome == "ok"


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 150))
def test_an_oracle_is_never_suspect_and_its_reverse_never_ok_where_it_can_be_told(seed, n):
    right = check_polarity(Asked(lambda r, _: fits(r)), [pairs(n)], seed)
    wrong = check_polarity(Asked(lambda r, _: -fits(r)), [pairs(n)], seed)
    assert (right.outcome, wrong.outcome) == (("ok", "suspect") if n >= 12 else ("not applicable", "not applicable"))
