"""Questions about several images: every image counts in batches, prefetching, the cache, and what is the same."""

from threading import current_thread

import pytest
from builders import model, predictor
from PIL import Image

from vlgate.asking.adapters import adapters
from vlgate.asking.cache.store import Store
from vlgate.asking.image_identity import Identities
from vlgate.asking.memory import Memory
from vlgate.asking.reply_cache import ReplyCache
from vlgate.errors import MissingImageError
from vlgate.images.files import file_image
from vlgate.types import TIED, Ask, Compare, Comparer, LazyImage, Match


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
    """Names the position of the image that is brightest in green."""

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


def test_a_tie_is_no_answer_and_a_model_without_the_method_gives_none():
    assert answers(predictor(Brightest(), 4).predict([compare(A, A)])) == [None]
    [reply] = predictor(model(match=lambda pairs: [0.0] * len(pairs))).predict([compare(A, B)]).values()
    assert "compare(), for questions about several images" in reply.problem


def test_a_call_may_hold_every_kind_of_request():
    replies = {"match": lambda pairs: [1.0] * len(pairs), "answer": lambda questions: ["yes"] * len(questions)}
    asked = [compare(A, B), Match(image=A, text="a"), Ask(image=A, question="a?"), compare(B, A)]
    found = predictor(model(compare=Brightest().compare, **replies), 4).predict(asked)
    assert list(found) == asked
    assert answers(found) == ["second", None, "yes", "first"]


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


def files(folder):
    made = []
    for name, green in (("a.png", 10), ("b.png", 200), ("c.png", 90)):
        Image.new("RGB", (2, 2), (0, green, 0)).save(folder / name)
        made.append(file_image(name, folder / name))
    return made


def cached(folder, brightest):
    memory = Memory(store=Store(folder / "kept", 10**8), model="mine")
    cache = ReplyCache(memory=memory, identities=Identities(memory=memory, code=b""), model=b"m" * 32)
    return predictor(brightest, 4, cache=cache)


def test_replies_are_kept_by_all_images_their_order_the_question_and_the_choices(tmp_path):
    a, b, c = files(tmp_path)
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


def test_the_report_names_the_way_of_asking_only_if_it_is_used():
    assert "Compare" not in adapters(Brightest())
    assert "in two orders" in adapters(Brightest(), together=True)["Compare"]
    assert predictor(Brightest(), 4, together=True).adapters() == adapters(Brightest(), together=True)
