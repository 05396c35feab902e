"""What a model is given: copies that tell nothing, in an order that tells nothing, each once; and several images."""

import copy
import pickle
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from threading import current_thread

import numpy as np
import pytest
from builders import coloured, model, predictor
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from vlgate.asking.adapters import adapters
from vlgate.asking.batching import Call, Caller
from vlgate.asking.cache.store import Memory, Store
from vlgate.asking.dedupe import Identities
from vlgate.asking.items import BLOCK, Copies, hashed_order
from vlgate.asking.reply_cache import ReplyCache
from vlgate.errors import ImageError, MissingImageError, ModelReplyError, NoReplyError
from vlgate.images.files import file_image
from vlgate.perturb.images.graded import uniform
from vlgate.perturb.images.registry import perturbed
from vlgate.types import TIED, Ask, Compare, Comparer, LazyImage, Match, Read, images_of

TEXT = "There is a red cup."


@pytest.fixture
def photo(tmp_path):
    Image.fromarray(np.arange(192, dtype=np.uint8).reshape(8, 8, 3)).save(tmp_path / "photo.png")
    return file_image("photo.png", tmp_path / "photo.png")


def shown(items):
    return Copies(names=False).of(items)


def requests(image):
    other = replace(image, key="other.png")
    return (
        Match(image=image, text=TEXT),
        Ask(image=image, question=TEXT, choices=(TEXT[:5], TEXT[5:]), aliases=(TEXT[:3], TEXT[3:])),
        Compare(images=(image, other), question=TEXT, choices=(TEXT[:5], TEXT[5:])),
        image,
        TEXT,
    )


def strings(item):
    names = ("text", "question", "choices", "aliases")
    found = [item] if isinstance(item, str) else [getattr(item, name, ()) for name in names]
    return [text for one in found for text in ((one,) if isinstance(one, str) else one)]


def test_the_copies_hold_the_same_texts_in_other_objects(photo):
    for asked, handed in zip(items := requests(photo), shown(items), strict=True):
        assert strings(asked) == strings(handed)
        assert not {id(string) for string in strings(asked)} & {id(string) for string in strings(handed)}
        assert handed is not asked
    texts = ("", "a", "é", "\ud800 half", "two\nlines ", "\U0001f600" * 3)
    assert shown(texts) == texts


def test_the_key_of_an_image_says_nothing_and_is_the_same_in_one_process(photo):
    images = [photo, perturbed(photo, "flip"), perturbed(photo, "greyscale"), uniform("grey")]
    copies = Copies(names=False)
    keys = [one.key for one in copies.of(images)]
    assert keys == [one.key for one in copies.of(images)]
    assert (len(set(keys)), {len(key) for key in keys}) == (4, {16})
    assert set(keys).isdisjoint(one.key for one in shown(images))


def test_neither_the_image_nor_its_loader_tells_what_it_is(photo):
    for image in shown([photo, perturbed(photo, "flip"), uniform("grey")]):
        parts = (repr(getattr(image.load, one)) for one in dir(image.load))
        seen = " ".join([image.where, repr(image), repr(image.load), *parts])
        assert not any(word in seen for word in ("photo", "blur", "grey", "png", "erturb"))
        assert not hasattr(image.load, "recipe")
        loaded = image.load()
        assert (type(loaded), loaded.info, loaded.readonly, loaded.format) == (Image.Image, {}, 0, None)
        assert not hasattr(loaded, "filename")


def test_requests_about_one_image_get_one_copy_with_its_pixels_here_and_in_another_process(photo):
    [image] = shown([photo])
    for one in (image, copy.deepcopy(image), pickle.loads(pickle.dumps(image))):
        assert (np.asarray(one.load()) == np.asarray(photo.load())).all()
        assert one == image
    first, second = shown([Match(image=photo, text="a"), Match(image=replace(photo), text="b")])
    assert first.image is second.image


def test_a_model_that_declares_it_gets_the_names(photo):
    for asked, handed in zip(items := requests(photo), Copies().of(items), strict=True):
        assert handed == asked
        if not isinstance(asked, str):
            images = (asked, handed) if isinstance(asked, LazyImage) else (images_of(asked)[0], images_of(handed)[0])
            assert images[0].load is images[1].load


def caller():
    return Caller(name="mine", size=4, copies=Copies(names=False))


def broken():
    raise ImageError("broken.png", "is cut off", "replace it")


def test_errors_name_the_image_as_the_user_knows_it(photo):
    def refused(pairs):
        raise ModelReplyError(f"no boxes in {pairs[0].image.key!r}")

    def unanswered(pairs):
        raise NoReplyError([0], "none", {0: f"{pairs[0].image.key} is too dark"})

    asked = [Match(image=photo, text="a")]
    with pytest.raises(ModelReplyError, match=r"no boxes in 'photo\.png'"):
        caller().ask(Call(called="match", method=refused), asked)
    assert caller().ask(Call(called="match", method=unanswered), asked)[0].why == "photo.png is too dark"
    with pytest.raises(KeyError) as caught:
        caller().ask(Call(called="match", method=lambda pairs: {}[pairs[0].image.key]), asked)
    assert "is 'photo.png': models get no names of images unless image_names = True" in caught.value.__notes__[0]
    means = Call(called="m", method=lambda pairs: [float(np.asarray(p.image.load()).mean()) for p in pairs])
    first, second = caller().ask(means, [Match(image=LazyImage(key="broken.png", load=broken), text="a"), *asked])
    assert first.why.startswith("image 'broken.png': is cut off")
    assert isinstance(second, float)


def test_pairs_that_are_neither_yes_nor_no_are_known_by_their_names(photo):
    neither = set()

    def match(pairs):
        neither.update(pair for pair in pairs if pair.text == "b")
        return [0.5] * len(pairs)

    asked = [Match(image=photo, text=text) for text in ("a", "b")]
    unsure = replace(predictor(model(match=match, neither=neither), seed=0), caller=caller())
    assert [reply.neither for reply in unsure.predict(asked).values()] == [False, True]


@pytest.mark.parametrize(("keys", "why"), [
    (lambda texts: texts[:-1], "returned 2 keys for 3 texts; return one key per text"),
    (lambda texts: [*texts, "more"], "returned 4 keys for 3 texts"),
    (lambda _: None, "returned a NoneType for 3 texts"), (lambda _: "abc", "returned 3 keys for 3 texts"),
    (lambda texts: (text for text in texts), "returned a generator for 3 texts"),
    (lambda texts: [[text] for text in texts], "a key that is a list"),
])  # fmt: skip
def test_text_keys_that_do_not_fit_the_texts_are_an_error_that_says_so(keys, why):
    with pytest.raises(ModelReplyError, match=why):
        caller().text_keys(model(text_keys=keys), ["a", "b", "c"])


def test_the_order_in_which_keys_are_asked_is_not_that_of_the_cases():
    asked, texts = [], [f"{number} {kind}" for number in range(40) for kind in ("caption", "foil")]
    keys = model(text_keys=lambda texts: asked.extend(texts) or list(texts))
    assert caller().text_keys(keys, texts) == {text: text for text in texts}
    first = sum(asked.index(f"{number} caption") < asked.index(f"{number} foil") for number in range(40))
    assert 10 < first < 30


IMAGES = [LazyImage(key=f"{n}.jpg", load=lambda: None) for n in range(40)]
PAIRS = [Match(image=image, text=text) for image in IMAGES for text in ("a true text", "a false text")]


def asked_of(asked, reply, method="match", seed=0, size=512):
    calls = []
    noting = model(**{method: lambda items: calls.append(items) or reply(items)})
    return calls, predictor(noting, size, seed=seed).predict(asked)


def lengths(items):
    return np.array([float(len(str(item))) for item in items])


def test_a_score_that_follows_the_position_is_right_about_half_of_the_time():
    _, replies = asked_of(PAIRS, lambda pairs: np.arange(len(pairs), dtype=float)[::-1])
    right = sum(replies[true].score > replies[false].score for true, false in zip(PAIRS[::2], PAIRS[1::2], strict=True))
    assert 10 <= right <= 30


def test_the_seed_changes_the_order_in_which_requests_of_one_image_are_neighbours_by_chance_only():
    [one], [other] = (asked_of(PAIRS, lengths, seed=seed)[0] for seed in (0, 1))
    assert sorted(one, key=PAIRS.index) == sorted(other, key=PAIRS.index) == PAIRS
    assert one != other
    follow = sum(first.image is second.image for first, second in pairwise(one))
    assert follow <= 5  # 79 neighbours, 40 of 3,160 pairs of places: 1 is expected


def test_requests_of_one_image_stay_near_each_other():
    images = [LazyImage(key=f"{n}.jpg", load=lambda: None) for n in range(2000)]
    pairs = [Match(image=image, text=text) for text in ("a true text", "a false text") for image in images]
    turns = {}
    for turn, index in enumerate(hashed_order(pairs, 0)):
        turns.setdefault(pairs[index].image.key, []).append(turn)
    assert all(last - first < 2 * BLOCK for first, last in turns.values())
    assert list(hashed_order(["b", "a", "c"], None)) == [0, 1, 2]  # without a seed, that of the call


def test_answers_that_alternate_are_right_about_crossed_questions_as_often_as_by_chance():
    right = []
    asked = [Ask(image=image, question=text) for image in IMAGES for text in ("is it true?", "is it false?")]
    for seed in range(40):
        _, replies = asked_of(asked, lambda questions: ["yes", "no"] * (len(questions) // 2), "answer", seed)
        said = [replies[one].answer for one in asked]
        right += [pair == ("yes", "no") for pair in zip(said[::2], said[1::2], strict=True)]
    assert abs(np.mean(right) - 1 / 4) < 0.04  # 1,600 images: four standard errors; in a row, 1/2


@pytest.mark.parametrize("size", [1, 7, 512])
def test_replies_go_back_to_their_requests_whatever_the_size_of_a_call(size):
    def number(pair):
        return hash((pair.image.key, pair.text)) % 997

    _, replies = asked_of(PAIRS, lambda pairs: np.array([number(pair) for pair in pairs], float), size=size)
    assert [(pair, reply.score) for pair, reply in replies.items()] == [(pair, number(pair)) for pair in PAIRS]


@pytest.mark.parametrize(("methods", "asked"), [
    (("match", "accepts"), PAIRS[0]), (("encode_images", "encode_texts", "accepts"), PAIRS[0]),
    (("answer",), Ask(image=IMAGES[0], question="what?")), (("perplexity",), Read(text="a text")),
])  # fmt: skip
def test_models_are_given_tuples(methods, asked):
    given = []
    reply = {"answer": ["yes"], "encode_images": np.ones((1, 2)), "encode_texts": np.ones((1, 2))}
    noted = {name: lambda items, name=name: given.append(items) or reply.get(name, np.ones(1)) for name in methods}
    predictor(model(**noted)).predict([asked])
    assert [type(items) for items in given] == [tuple] * len(methods)


def hashed(key, pixels):
    return LazyImage(key=key, load=lambda: Image.frombytes("RGB", (2, 1), sha256(pixels.encode()).digest()[:6]))


def uneven(kind):
    """Its replies follow the pixels, the words in lower case and, by a little, the place in the batch."""
    cut = set()

    def keys(texts):
        cut.update(text for text in texts if len(text.split()) > 3)
        return [tuple(text.lower().split()[:3]) for text in texts]

    def rounded(numbers):
        return np.array(numbers) + 1e-9 * np.arange(len(numbers))

    def seen(images):
        return rounded([float(sum(one.load().tobytes())) for one in images])

    methods = {
        "match": lambda pairs: seen([pair.image for pair in pairs]),
        "encode_images": lambda images: seen(images)[:, None],
        "encode_texts": lambda texts: rounded([len(text) for text in texts])[:, None],
        "answer": lambda questions: [f"{number:.12f}" for number in seen([one.image for one in questions])],
        "perplexity": lambda texts: rounded([1.0 for _ in texts]),
    }
    return model(cut_texts=cut, text_keys=keys, **{name: methods[name] for name in kind.split()})


def made(kind, where, text):
    if kind == "perplexity":
        return Read(text=text)
    return Ask(image=where, question=text) if kind == "answer" else Match(image=where, text=text)


def replies(kind, asked, size=8, seed=0):
    found = predictor(uneven(kind), size, seed=seed).predict(asked)
    return {request: (one.score, one.answer, one.cut) for request, one in found.items()}


@pytest.mark.parametrize("kind", ["match", "encode_images encode_texts", "answer", "perplexity"])
@given(size=st.integers(1, 9), seed=st.integers(0, 5), others=st.integers(0, 8))
def test_the_same_words_and_the_same_pixels_tie_exactly(kind, size, seed, others):
    beside = [made(kind, hashed(f"o{n}", f"{n}"), f"other {n}") for n in range(others)]
    texts = ("A red dot here", "a Red dot there")
    twins = [made(kind, hashed(key, "same"), text) for key in "ab" for text in texts]
    found = replies(kind, [twins[0], *beside, *twins[1:]], size, seed)
    assert len({found[twin] for twin in twins}) == 1
    assert found[twins[0]][2]
    assert not any(found[other][2] for other in beside)


@pytest.mark.parametrize("kind", ["match", "encode_images encode_texts"])
def test_other_pixels_another_shape_and_no_pixels_are_other_images(kind):
    images = (coloured("wide", (0, 0, 0), (4, 1)), coloured("high", (0, 0, 0), (1, 4)), hashed("c", "c"))
    asked = [made(kind, where, "a dot") for where in (*images, LazyImage(key="broken", load=broken))]
    found = [score for score, *_ in replies(kind, asked).values()]
    assert (len(set(found)), found[-1]) == (4, None)


def test_a_text_is_asked_once_for_all_that_are_the_same():
    asked, texts = [], ("a dot", "A dot", "A DOT", "two dots")
    noting = uneven("match")
    noting.match = lambda pairs: asked.extend(pair.text for pair in pairs) or np.ones(len(pairs))
    predictor(noting, 2, seed=0).predict([made("match", hashed("a", "a"), text) for text in texts])
    assert sorted(asked) == ["a dot", "two dots"]


def image(key, colour=None, error=None):
    def load():
        if error is not None:
            raise error(key, "it is not there", "fetch it")
        return Image.new("RGB", (2, 2), colour or (len(key), ord(key[0]), 0))

    return LazyImage(key=key, load=load)


A, B, C = image("a"), image("bb"), image("ccc")


def compare(*images, question="which?", choices=("first", "second")):
    return Compare(images=images, question=question, choices=choices)


class Brightest:
    def __init__(self):
        self.calls = []

    def compare(self, questions):
        self.calls.append(questions)
        greens = [[image.load().getpixel((0, 0))[1] for image in question.images] for question in questions]
        names = ("first", "second", "third")
        return [TIED if green.count(max(green)) > 1 else names[green.index(max(green))] for green in greens]


def answers(found):
    return [one.answer for one in found.values()]


def test_each_distinct_question_is_asked_once_in_batches():
    brightest = Brightest()
    asked = [compare(A, B), compare(B, A), compare(A, B), compare(A, B, C), compare(A, B, question="and?")]
    found = predictor(brightest, 4, seed=0).predict(asked)
    assert isinstance(brightest, Comparer)
    assert list(found) == list(dict.fromkeys(asked))
    assert answers(found) == ["second", "first", "third", "second"]
    assert sorted(map(len, brightest.calls)) == [4]
    assert answers(predictor(Brightest(), 4, seed=1).predict(asked)) == answers(found)
    assert len(predictor(Brightest(), 1, seed=0).predict(asked)) == 4


def test_a_call_may_hold_every_kind_of_request_and_a_tie_or_a_missing_method_gives_no_answer():
    replies = {"match": lambda pairs: [1.0] * len(pairs), "answer": lambda questions: ["yes"] * len(questions)}
    asked = [compare(A, B), Match(image=A, text="a"), Ask(image=A, question="a?"), compare(B, A), compare(A, A)]
    found = predictor(model(compare=Brightest().compare, **replies), 4).predict(asked)
    assert list(found) == asked
    assert answers(found) == ["second", None, "yes", "first", None]
    reply = predictor(model(**replies)).predict([compare(A, B)])[compare(A, B)]
    assert "compare(), for questions about several images" in reply.problem
    assert "Compare" not in adapters(Brightest())
    assert "in two orders" in adapters(Brightest(), together=True)["Compare"]
    assert predictor(Brightest(), 4, together=True).adapters() == adapters(Brightest(), together=True)


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_any_image_that_cannot_be_had_costs_its_own_question_only(missing):
    images = [A, B, C]
    images[missing] = image("zz", error=MissingImageError)
    found = predictor(Brightest(), 4, on_missing="skip").predict([compare(*images), compare(A, B)])
    first, second = found.values()
    assert "it is not there" in first.problem
    assert first.skipped
    assert second.answer == "second"


def test_all_images_are_decoded_ahead():
    """A model that loads the second image of a question gets one that a thread has decoded."""
    loads = {}

    def counted(key):
        def load():
            loads.setdefault(key, []).append(current_thread().name)
            return Image.new("RGB", (1, 1), (0, ord(key[-1]), 0))

        return LazyImage(key=key, load=load)

    images = [counted(f"x{number}") for number in range(6)]
    asked = [compare(images[n], images[n + 1], question=f"{n}?") for n in range(5)]
    assert answers(predictor(Brightest(), 2).predict(asked)) == ["second"] * 5
    assert [len(loads[key]) for key in ("x4", "x5")] == [1, 1]
    assert all(name.startswith("vlgate-decode") for key in ("x4", "x5") for name in loads[key])


def test_images_with_the_same_pixels_get_the_same_reply():
    """A model whose replies depend on the batch answers questions that are the same to it alike."""
    twin = image("other", colour=(1, ord("a"), 0))

    def counting():
        calls = []

        def compare(questions):
            for question in questions:
                for one in question.images:
                    one.load()
            calls.append(questions)
            return [str(len(calls)) for _ in questions]

        return predictor(model(compare=compare), 1)

    asked = [compare(*both, choices=()) for both in ((A, B), (twin, B), (B, A), (B, twin))]
    found = answers(counting().predict(asked))
    assert found[0] == found[1] != found[2] == found[3]
    second = [compare(B, A, choices=()), compare(B, twin, choices=())]  # only the second images differ by name
    assert len(set(answers(counting().predict(second)))) == 1


def cached(folder, brightest):
    memory = Memory(store=Store(folder / "kept", 10**8), model="mine")
    cache = ReplyCache(memory=memory, identities=Identities(memory=memory, code=b""), model=b"m" * 32)
    return predictor(brightest, 4, cache=cache)


def test_replies_are_kept_by_all_images_their_order_the_question_and_the_choices(tmp_path):
    for name, green in (("a.png", 10), ("b.png", 200), ("c.png", 90)):
        Image.new("RGB", (2, 2), (0, green, 0)).save(tmp_path / name)
    a, b, c = (file_image(name, tmp_path / name) for name in ("a.png", "b.png", "c.png"))
    asked = [
        compare(a, b), compare(b, a), compare(a, c), compare(a, b, c), compare(a, b, question="other?"),
        compare(a, b, choices=("first", "second", "none")), compare(a, c, b),
    ]  # fmt: skip
    first = cached(tmp_path, Brightest())
    found = answers(first.predict(asked))
    assert first.cache.counts.asked == len(asked)
    first.close()
    again = cached(tmp_path, brightest := Brightest())
    assert answers(again.predict(asked)) == found
    assert brightest.calls == []
    assert again.cache.counts.cached == len(asked)
    Image.new("RGB", (2, 2), (0, 255, 0)).save(tmp_path / "c.png")
    again.close()
    changed = cached(tmp_path, brightest := Brightest())
    changed.predict(asked)
    assert sorted(len(one.images) for call in brightest.calls for one in call) == [2, 3, 3]
    changed.close()
