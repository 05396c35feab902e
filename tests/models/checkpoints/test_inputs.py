import threading

import pytest
import transformers
from PIL import Image

from vlgate.errors import ImageError
from vlgate.models.checkpoints.inputs import cut_texts, knows_words, prepared, rgb_images
from vlgate.types import LazyImage


def image(number, load=None):
    return LazyImage(key=str(number), load=load or (lambda: Image.new("RGB", (1, 1), (number, 0, 0))))


def test_the_order_is_kept_and_an_image_is_decoded_once():
    decoded = []

    def load(number):
        decoded.append(number)
        return Image.new("RGB", (1, 1), (number, 0, 0))

    images = [image(number, lambda number=number: load(number)) for number in range(20)]
    found = rgb_images([*reversed(images), *images])
    assert [image.getpixel((0, 0))[0] for image in found] == [*range(19, -1, -1), *range(20)]
    assert sorted(decoded) == list(range(20))
    assert rgb_images([]) == []


def test_what_is_prepared_is_what_is_decoded():
    assert prepared([image(3), image(1)], lambda image: image.getpixel((0, 0))[0]) == [3, 1]


def test_the_first_image_that_fails_is_the_one_that_is_named():
    last = threading.Event()

    def late():
        last.wait(10)  # the later image fails first, but its error is not the one that is raised
        raise ImageError("1", "it is torn", "mend it")

    def early():
        last.set()
        raise ImageError("2", "it is torn", "mend it")

    with pytest.raises(ImageError) as caught:
        rgb_images([image(0), image(1, late), image(2, early)])
    assert caught.value.key == "1"


def test_texts_that_lose_their_end():
    def tokenizer(texts, *, truncation, verbose):
        assert (truncation, verbose) == (False, False)
        return {"input_ids": [text.split() for text in texts]}

    assert cut_texts(tokenizer, ["a b c", "a b c d", "", "a b c d e"], 3) == {"a b c d", "a b c d e"}
    assert cut_texts(tokenizer, [], 3) == set()


def test_a_tokenizer_that_knows_no_words():
    for cls in (
        "BertTokenizer",
        "CLIPTokenizer",
        "GPT2Tokenizer",
        "GemmaTokenizer",
        "T5Tokenizer",
        "XLMRobertaTokenizer",
    ):
        assert not knows_words(getattr(transformers, cls)())
    assert knows_words(transformers.BertTokenizer(vocab={"[UNK]": 0, "[PAD]": 1, "[CLS]": 2, "[SEP]": 3, "cat": 4}))
    assert knows_words(transformers.ByT5Tokenizer())
    assert knows_words(transformers.CLIPImageProcessor())
