import math
from collections import Counter
from hashlib import sha256
from itertools import permutations

import numpy as np
import pytest
from builders import model as fake
from builders import predictor, task_of
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from vlgate.asking.predictor import score
from vlgate.errors import ImageError, MissingImageError, ModelReplyError, NoReplyError
from vlgate.judging.verdicts import judge
from vlgate.types import TIED, Ask, Batch, Case, LazyImage, Match, Prediction, Read

NAN = math.nan


def image(key, error=None):
    def load():
        if error is not None:
            raise error(key, "it cannot be had", "fetch it")
        return Image.frombytes("RGB", (2, 1), sha256(key.encode()).digest()[:6])

    return LazyImage(key=key, load=load)


A, B = image("a"), image("b")


def match(about, text):
    return Match(image=about, text=text)


def ask(about, question, *choices):
    return Ask(image=about, question=question, choices=choices)


def scores_of(found):
    return [prediction.score for prediction in found.values()]


def value(text):
    """A number that depends on the text."""
    return float(len(text)) + ord(text[-1]) / 1000


class Noting:
    """Notes everything that a model is called with."""

    def __init__(self):
        self.asked = []

    def note(self, kind, items):
        self.asked += [(kind, item) for item in items]


class Matcher(Noting):
    def match(self, pairs):
        self.note("match", pairs)
        for pair in pairs:
            pair.image.load()
        return np.array([value(pair.image.key + pair.text) for pair in pairs])


class Dual(Noting):
    def encode_images(self, images):
        self.note("image", images)
        for image in images:
            image.load()
        return np.array([[value(image.key), 1.0, 2.0] for image in images])

    def encode_texts(self, texts):
        self.note("text", texts)
        return np.array([[1.0, value(text), -1.0] for text in texts])


class Answerer(Noting):
    def __init__(self, say=lambda _: "yes"):
        super().__init__()
        self.say = say

    def answer(self, questions):
        self.note("answer", questions)
        for question in questions:
            question.image.load()
        return [self.say(question) for question in questions]


class Reader(Noting):
    def perplexity(self, texts):
        self.note("read", texts)
        return np.array([value(text) for text in texts])


class Everything(Matcher, Dual, Answerer, Reader):
    def __init__(self):
        Noting.__init__(self)
        self.say = lambda question: question.question


def fixed(scores, **parts):
    """A matcher with a fixed score per text."""
    return fake(match=lambda pairs: [scores[pair.text] for pair in pairs], **parts)


requests = st.lists(
    st.one_of(
        st.builds(match, st.sampled_from([A, B]), st.sampled_from(["one", "two", "three"])),
        st.builds(ask, st.sampled_from([A, B]), st.sampled_from(["left?", "right?"])),
        st.builds(lambda text: Read(text=text), st.sampled_from(["one", "two"])),
    ),
    max_size=30,
)


@given(requests, st.integers(1, 5))
def test_each_distinct_request_is_asked_once_and_replied_in_the_order_of_first_appearance(drawn, size):
    model = Everything()
    found = predictor(model, size).predict(drawn)
    assert list(found) == list(dict.fromkeys(drawn))
    assert all(prediction.request == request for request, prediction in found.items())
    assert all(prediction.problem is None for prediction in found.values())
    assert len(model.asked) == len(set(model.asked)) == len(set(drawn))


@given(requests, st.randoms(use_true_random=False), st.integers(1, 5))
def test_neither_the_order_of_the_requests_nor_the_size_of_the_batches_changes_a_reply(drawn, random, size):
    shuffled = random.sample(drawn, len(drawn))
    assert predictor(Everything()).predict(drawn) == predictor(Everything(), size).predict(shuffled)


def test_the_requests_of_a_batch_of_cases_are_asked_once_even_if_cases_share_them():
    true, false, other = (match(A, text) for text in ("true", "false", "other"))
    cases = tuple(Case(id=foil.text, requests=(true, foil), truths=(True, False)) for foil in (false, other, false))
    task = task_of(cases)
    model = Matcher()
    assert set(score(predictor(model), Batch(task=task, positions=(0, 1)))) == {true, false, other}
    assert Counter(item.text for _, item in model.asked) == {"true": 1, "false": 1, "other": 1}
    assert set(score(predictor(model), Batch(task=task, positions=(0, 2)))) == {true, false}


def test_a_dual_encoder_encodes_each_image_and_each_text_once_if_its_image_can_be_loaded():
    model = Dual()
    model.decision_threshold = 0.0
    pairs = [match(image(key), text) for key in "abab" for text in ("one", "two", "one")]
    found = predictor(model, 3).predict(pairs)
    assert Counter(model.asked) == {("image", A): 1, ("image", B): 1, ("text", "one"): 1, ("text", "two"): 1}
    for pair, prediction in found.items():
        seen, read = [value(pair.image.key), 1.0, 2.0], [1.0, value(pair.text), -1.0]
        assert prediction.score == pytest.approx(sum(a * b for a, b in zip(seen, read, strict=True)))
        assert prediction.accepted is (prediction.score > 0.0)
    other = Dual()
    predictor(other).predict([match(image("bad", ImageError), "lonely"), match(A, "one")])
    assert [item for kind, item in other.asked if kind == "text"] == ["one"]


def test_a_dual_encoders_score_does_not_depend_on_the_pairs_beside_it():
    random = np.random.default_rng(0)
    features = {key: random.normal(size=512) for key in "abcdef"}
    wide = fake(
        encode_images=lambda images: np.array([features[image.key] for image in images]),
        encode_texts=lambda texts: np.array([features[text] for text in texts]),
    )
    pairs = [match(image(key), text) for key in "abc" for text in "def"]
    together = predictor(wide).predict(pairs)
    for pair in pairs:
        assert predictor(wide, 1).predict([pair])[pair].score == together[pair].score


def test_features_of_different_lengths_are_an_error_that_names_the_model():
    askew = type("Askew", (Dual,), {"encode_texts": lambda _, texts: np.ones((len(texts), 2))})
    with pytest.raises(ModelReplyError, match=r"'lxmert' .*images .*\(3,\).* texts .*\(2,\)"):
        predictor(askew()).predict([match(A, "one")])


@pytest.mark.parametrize(("model", "request_", "method"), [
    (Matcher, match(A, "one"), "match"), (Answerer, ask(A, "one?"), "answer"),
    (Reader, Read(text="one"), "perplexity"), (Dual, match(A, "one"), "encode_images"),
    (Dual, match(A, "one"), "encode_texts"),
])  # fmt: skip
def test_a_reply_that_cannot_be_used_names_the_model_and_the_method(model, request_, method):
    broken = type("Broken", (model,), {method: lambda *_: None})
    with pytest.raises(ModelReplyError, match=rf"{method}\(\).*'lxmert'"):
        predictor(broken()).predict([request_])


@pytest.mark.parametrize("model", [Matcher, Dual])
@pytest.mark.parametrize(("error", "on_missing", "skipped"), [
    (ImageError, "fail", False), (ImageError, "skip", False), (MissingImageError, "fail", False),
    (MissingImageError, "skip", True),
])  # fmt: skip
def test_a_bad_image_affects_its_own_requests_only_and_is_skipped_only_if_missing_and_asked_for(
    model, error, on_missing, skipped
):
    bad = image("bad", error)
    pairs = [match(about, text) for about in (A, bad, B) for text in ("one", "two")]
    found = predictor(model(), on_missing=on_missing).predict(pairs)
    whole = predictor(model()).predict([pair for pair in pairs if pair.image != bad])
    assert {pair: found[pair] for pair in whole} == whole
    for pair in (match(bad, "one"), match(bad, "two")):
        assert found[pair].problem == "image 'bad': it cannot be had; fetch it"
        assert found[pair].skipped is skipped
        assert (found[pair].score, found[pair].accepted) == (None, None)


@pytest.mark.parametrize(("on_missing", "skipped"), [("fail", False), ("skip", True)])
@pytest.mark.parametrize(("model", "request_"), [
    (Answerer(), lambda about: ask(about, "left?")), (Answerer(), lambda about: match(about, "one")),
    (Matcher(), lambda about: ask(about, "where?", "left", "right")),
])  # fmt: skip
def test_a_missing_image_is_missing_through_an_adapter_too(model, request_, on_missing, skipped):
    missing = request_(image("bad", MissingImageError))
    found = predictor(model, on_missing=on_missing).predict([missing, request_(A)])
    assert found[request_(A)].problem is None
    assert (found[missing].skipped, found[missing].answer, found[missing].score) == (skipped, None, None)
    assert "image 'bad'" in found[missing].problem


def all_but_two(method):
    def replies(_, pairs):
        missing = [index for index, pair in enumerate(pairs) if pair.text == "two"]
        if missing:
            raise NoReplyError(missing, "r.jsonl has no row")
        return [1.0] * len(pairs)

    return type("Partly", (Matcher,), {method: replies})()


def test_a_request_without_a_reply_is_unscored_and_says_why_but_one_without_an_opinion_is_not():
    found = predictor(all_but_two("match")).predict([match(A, "one"), match(A, "two"), match(A, "three")])
    assert [prediction.problem for prediction in found.values()] == [None, "r.jsonl has no row", None]
    assert not any(prediction.skipped for prediction in found.values())
    found = predictor(all_but_two("accepts")).predict([match(A, "one"), match(A, "two")])
    assert [(one.accepted, one.problem) for one in found.values()] == [(True, None), (None, None)]


@pytest.mark.parametrize(("model", "expected"), [
    (Matcher, {"Match": "match()", "Ask": "adapter"}),
    (Dual, {"Match": "encode_images() and encode_texts()", "Ask": "adapter"}),
    (Answerer, {"Match": "adapter", "Ask": "answer()"}),
    (Reader, {"Match": "adapter", "Ask": "adapter", "Read": "perplexity()"}),
    (Everything, {"Match": "match()", "Ask": "answer()", "Read": "perplexity()"}), (object, {}),
])  # fmt: skip
def test_the_report_says_how_each_kind_of_request_reaches_the_model_and_those_have_replies(model, expected):
    named = predictor(model()).adapters()
    assert list(named) == list(expected)
    assert all(named[kind].startswith(start) for kind, start in expected.items())
    asked = {"Match": match(A, "one"), "Ask": ask(A, "where?", "left", "right"), "Read": Read(text="one")}
    found = predictor(model()).predict(asked.values())
    assert {kind for kind, request in asked.items() if found[request].problem is None} == set(named)


@pytest.mark.parametrize("request_", [match(A, "one"), ask(A, "where?", "left"), Read(text="one")])
def test_a_model_that_cannot_reply_to_a_kind_of_request_leaves_it_unscored_and_says_what_is_needed(request_):
    found = predictor(object()).predict([request_])[request_]
    assert found.problem.startswith(f"the model 'lxmert' cannot reply to a {type(request_).__name__} request")
    assert not found.skipped


EQUAL = "the answers yes and no are equally likely"


@pytest.mark.parametrize(("said", "expected", "why"), [
    ("yes", 1.0, None), ("Yes", 1.0, None), (" YES. ", 1.0, None), ("no", 0.0, None), ("No, a cat.", 0.0, None),
    ("eyes", None, "the answer 'eyes' is neither yes nor no"), ("", None, "the answer '' is neither yes nor no"),
    (TIED, None, EQUAL),
])  # fmt: skip
def test_an_answerer_matches_by_saying_yes(said, expected, why):
    model = Answerer(lambda _: said)
    [prediction] = predictor(model).predict([match(A, 'a "red" cup')]).values()
    accepted = None if expected is None else expected == 1.0
    assert (prediction.score, prediction.accepted, prediction.problem) == (expected, accepted, why)
    [(_, question)] = model.asked
    assert (question.image, question.choices) == (A, ("yes", "no"))
    assert 'a "red" cup' in question.question


def test_a_reader_matches_by_how_plausible_the_text_is_and_never_looks():
    blind = image("bad", MissingImageError)
    model = Reader()
    model.decision_threshold = -1.0  # of scores, and not of perplexities
    found = predictor(model).predict([match(about, text) for text in ("odd", "likely") for about in (A, blind)])
    assert scores_of(found) == [-value(text) for text in ("odd", "odd", "likely", "likely")]
    assert model.asked == [("read", "odd"), ("read", "likely")]
    assert [one.accepted for one in found.values()] == [None] * 4


@pytest.mark.parametrize(("scores", "answer"), [((0.2, 0.9, 0.1), "right"), ((0.9, 0.9, 0.1), None)])
def test_a_matcher_answers_with_the_one_choice_that_fits_best_wherever_it_stands(scores, answer):
    names = ("left", "right", "above")
    model = fixed({f"where? {name}": one for name, one in zip(names, scores, strict=True)})
    for choices in permutations(names):
        [prediction] = predictor(model).predict([ask(A, "where?", *choices)]).values()
        assert (prediction.answer, prediction.score, prediction.problem) == (answer, None, None)


@pytest.mark.parametrize("capability", ["invariance", "directional"])
@pytest.mark.parametrize("other", ["left", TIED])
def test_a_tie_is_a_miss_and_consistent_with_nothing_for_a_matcher_and_an_answerer(capability, other):
    first, second = (ask(A, question, "left", "right") for question in ("where?", "and now?"))
    case = Case(id="1", requests=(first, second), truths=("left", "left"))
    batch = Batch(task=task_of([case], capability=capability, shape="questions"), positions=(0,))
    level = {"where? left": 1, "where? right": 1, "and now? left": 1, "and now? right": 1 if other == TIED else 0}
    for model in (fixed(level), Answerer(lambda question: TIED if question == first else other)):
        [verdict] = judge(batch, score(predictor(model), batch))
        assert (verdict.state, verdict.right) == ("judged", False)
        assert [verdict.facts[name] for name in ("acc_original", "acc_perturbed", "cons")] == [0, other == "left", 0]
        assert verdict.predictions[0] == Prediction(request=first)


def test_a_matcher_asks_a_choice_that_questions_share_once_and_cannot_answer_without_choices():
    model, free = Matcher(), ask(A, "what is this?")
    found = predictor(model).predict([ask(A, "where?", "left", "right"), ask(A, "where?", "right", "above"), free])
    assert Counter(item.text for _, item in model.asked) == {"where? left": 1, "where? right": 1, "where? above": 1}
    assert "without choices" in found[free].problem


@pytest.mark.parametrize(("threshold", "reply", "accepted"), [
    (0.5, 0.4, False), (0.5, 0.5, False), (0.5, math.nextafter(0.5, 1), True), (0.5, 1, True), (0, 0.1, True),
    (0, -0.1, False), (None, 0.1, None),
])  # fmt: skip
def test_a_score_exactly_at_the_decision_threshold_is_a_no(threshold, reply, accepted):
    model = fixed({"one": reply}, decision_threshold=threshold)
    assert predictor(model).predict([match(A, "one")])[match(A, "one")].accepted is accepted


def test_a_classifier_says_yes_or_no_itself_or_has_no_opinion():
    says = {"one": 1.0, "two": 0.0, "three": NAN}
    accepts = lambda pairs: [says[pair.text] for pair in pairs]  # noqa: E731
    classifier = fixed(dict.fromkeys(says, 1.0), decision_threshold=-math.inf, accepts=accepts)
    found = predictor(classifier).predict([match(A, text) for text in says])
    assert [prediction.accepted for prediction in found.values()] == [True, False, None]
    assert None not in scores_of(found)


@pytest.mark.parametrize("said", [0.3, 0.999, -1.0, 2.0])
def test_a_probability_is_not_taken_for_a_yes(said):
    hesitant = fixed({"one": 1.0}, accepts=lambda pairs: [said] * len(pairs))
    with pytest.raises(ModelReplyError, match=rf"'lxmert' returned {said} from accepts\(\).*1\.0 for yes, 0\.0 for no"):
        predictor(hesitant).predict([match(A, "one")])


SHORT, LONG = "a cup", "a cup on a table beside a window"


class Cutting:
    """A model that reads eight characters of a text, and says so."""

    def note(self, kind, items):
        super().note(kind, items)
        self.__dict__.setdefault("cut_texts", set())
        texts = [getattr(item, "question", None) or getattr(item, "text", item) for item in items]
        self.cut_texts |= {text for text in texts if isinstance(text, str) and len(text) > 8}


@pytest.mark.parametrize(("kind", "requests"), [
    (Matcher, (match(image("1"), SHORT), match(image("1"), LONG))),
    (Dual, (match(image("1"), SHORT), match(image("1"), LONG))), (Reader, (Read(text=SHORT), Read(text=LONG))),
    (Answerer, (ask(image("1"), "cup?"), ask(image("1"), "is it a cup on a table?"))),
    (Matcher, (ask(image("1"), "?", "no", "yes"), ask(image("1"), "?", "no", "certainly"))),
])  # fmt: skip
def test_only_the_requests_of_a_text_that_was_cut_are_marked(kind, requests):
    found = predictor(type("Cut", (Cutting, kind), {})()).predict(requests)
    assert [found[request].cut for request in requests] == [False, True]
    asked = Answerer()  # the question that was made of a pair was cut
    asked.cut_texts = {f'Does "{LONG}" describe the image?'}
    assert [predictor(asked).predict([match(A, text)])[match(A, text)].cut for text in (SHORT, LONG)] == [False, True]
