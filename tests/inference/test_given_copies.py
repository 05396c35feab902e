"""What a model is given: equal to what is asked, and without a trace of its source."""

import copy
import pickle
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from PIL import Image

from vlgate.asking.batching import Call, Caller
from vlgate.asking.items import Copies
from vlgate.asking.predictor import ModelPredictor
from vlgate.errors import ImageError, ModelReplyError, NoReplyError
from vlgate.images.files import file_image
from vlgate.perturb.images.graded import uniform
from vlgate.perturb.images.registry import perturbed
from vlgate.types import Ask, Compare, LazyImage, Match, images_of


@pytest.fixture
def photo(tmp_path):
    Image.fromarray(np.arange(192, dtype=np.uint8).reshape(8, 8, 3)).save(tmp_path / "photo.png")
    return file_image("photo.png", tmp_path / "photo.png")


def shown(items, **how):
    return Copies(names=False, **how).of(items)


def requests(image, text):
    other = replace(image, key="other.png")
    return (
        Match(image=image, text=text),
        Ask(image=image, question=text, choices=(text[:5], text[5:]), aliases=(text[:3], text[3:])),
        Compare(images=(image, other), question=text, choices=(text[:5], text[5:])),
        image,
        text,
    )


def strings(item):
    match item:
        case Match():
            return (item.text,)
        case Ask():
            return (item.question, *item.choices, *item.aliases)
        case Compare():
            return (item.question, *item.choices)
        case str():
            return (item,)
    return ()


def test_the_copies_hold_the_same_texts_in_other_objects(photo):
    for asked, given in zip(items := requests(photo, "There is a red cup."), shown(items), strict=True):
        assert strings(asked) == strings(given)
        assert not {id(string) for string in strings(asked)} & {id(string) for string in strings(given)}
        assert given is not asked


@pytest.mark.parametrize("text", ["", "a", "é", "\ud800 half", "two\nlines ", "\U0001f600" * 3])
def test_every_text_is_copied_whole(text):
    assert shown([text]) == (text,)


def test_the_key_of_an_image_says_nothing_and_is_the_same_in_one_process(photo):
    changed = [perturbed(photo, "flip"), perturbed(photo, "greyscale"), uniform("grey")]
    copies = Copies(names=False)
    keys = [one.key for one in copies.of([photo, *changed])]
    assert keys == [one.key for one in copies.of([photo, *changed])]
    assert len(set(keys)) == 4
    assert {len(key) for key in keys} == {16}
    assert set(keys).isdisjoint(one.key for one in shown([photo, *changed]))


def test_neither_the_image_nor_its_loader_tells_what_it_is(photo):
    for image in shown([photo, perturbed(photo, "flip"), uniform("grey")]):
        seen = [
            image.where,
            repr(image),
            repr(image.load),
            *(repr(getattr(image.load, one)) for one in dir(image.load)),
        ]
        assert not any(word in text for word in ("photo", "blur", "grey", "png", "erturb") for text in seen)
        assert not hasattr(image.load, "recipe")
        loaded = image.load()
        assert (type(loaded), loaded.info, loaded.readonly, loaded.format) == (Image.Image, {}, 0, None)
        assert not hasattr(loaded, "filename")


def test_the_pixels_are_those_of_the_image_here_and_in_another_process(photo):
    [image] = shown([photo])
    for one in (image, copy.deepcopy(image), pickle.loads(pickle.dumps(image))):
        assert (np.asarray(one.load()) == np.asarray(photo.load())).all()
        assert one == image


def test_requests_about_one_image_get_one_copy_of_it(photo):
    first, second = shown([Match(image=photo, text="a"), Match(image=replace(photo), text="b")])
    assert first.image is second.image


def test_a_model_that_declares_it_gets_the_names(photo):
    for asked, given in zip(items := requests(photo, "There is a red cup."), Copies().of(items), strict=True):
        assert given == asked
        if not isinstance(asked, str):
            images = (asked, given) if isinstance(asked, LazyImage) else (images_of(asked)[0], images_of(given)[0])
            assert images[0].load is images[1].load


def caller(**how):
    return Caller(name="mine", size=4, copies=Copies(names=False), **how)


def test_errors_name_the_image_as_the_user_knows_it(photo):
    def refused(pairs):
        raise ModelReplyError(f"no boxes in {pairs[0].image.key!r}")

    def unanswered(pairs):
        raise NoReplyError([0], "none", {0: f"{pairs[0].image.key} is too dark"})

    def foreign(pairs):
        return {}[pairs[0].image.key]

    asked = [Match(image=photo, text="a")]
    with pytest.raises(ModelReplyError, match=r"no boxes in 'photo\.png'"):
        caller().ask(Call(called="match", method=refused), asked)
    assert caller().ask(Call(called="match", method=unanswered), asked)[0].why == "photo.png is too dark"
    with pytest.raises(KeyError) as caught:
        caller().ask(Call(called="match", method=foreign), asked)
    assert "is 'photo.png': models get no names of images unless image_names = True" in caught.value.__notes__[0]


def test_an_image_that_cannot_be_decoded_keeps_its_name_in_the_reason(photo):
    def load():
        raise ImageError("broken.png", "is cut off", "replace it")

    asked = [Match(image=LazyImage(key="broken.png", load=load), text="a"), Match(image=photo, text="a")]
    first, second = caller().ask(
        Call(called="m", method=lambda pairs: [float(np.asarray(p.image.load()).mean()) for p in pairs]), asked
    )
    assert first.why.startswith("image 'broken.png': is cut off")
    assert isinstance(second, float)


def test_pairs_that_are_neither_yes_nor_no_are_known_by_their_names(photo):
    class Unsure:
        neither: ClassVar = set()

        def match(self, pairs):
            self.neither.update(pair for pair in pairs if pair.text == "b")
            return [0.5] * len(pairs)

    asked = [Match(image=photo, text=text) for text in ("a", "b")]
    replies = ModelPredictor(model=Unsure(), name="mine", caller=caller(), seed=0).predict(asked)
    assert [replies[one].neither for one in asked] == [False, True]


@pytest.mark.parametrize(("keys", "why"), [
    (lambda texts: texts[:-1], "returned 2 keys for 3 texts; return one key per text"),
    (lambda texts: [*texts, "more"], "returned 4 keys for 3 texts"),
    (lambda _: None, "returned a NoneType for 3 texts"), (lambda _: "abc", "returned 3 keys for 3 texts"),
    (lambda texts: (text for text in texts), "returned a generator for 3 texts"),
    (lambda texts: [[text] for text in texts], "a key that is a list"),
])  # fmt: skip
def test_text_keys_that_do_not_fit_the_texts_are_an_error_that_says_so(keys, why):
    model = type("Model", (), {"text_keys": staticmethod(keys)})()
    with pytest.raises(ModelReplyError, match=why):
        caller().text_keys(model, ["a", "b", "c"])


def test_the_order_in_which_keys_are_asked_is_not_that_of_the_cases():
    asked = []

    class Keys:
        def text_keys(self, texts):
            asked.extend(texts)
            return list(texts)

    texts = [f"{number} {kind}" for number in range(40) for kind in ("caption", "foil")]
    assert caller().text_keys(Keys(), texts) == {text: text for text in texts}
    first = sum(asked.index(f"{number} caption") < asked.index(f"{number} foil") for number in range(40))
    assert 10 < first < 30
