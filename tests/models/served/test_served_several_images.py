"""Several images in one request to a service."""

import base64
import io

import pytest
from chat_server import image, model_of, ok
from PIL import Image

from vlgate.errors import ImageError, ModelLoadError, NoReplyError
from vlgate.types import Compare, Comparer, LazyImage

RED, BLUE, GREEN = (
    image(name, colour) for name, colour in (("r", (255, 0, 0)), ("b", (0, 0, 255)), ("g", (0, 255, 0)))
)


def compare(*images, question="Which image is red?"):
    return Compare(images=images, question=question, choices=("first", "second"))


def colours(body):
    """The colours of the images of a request, in their order, and its text."""
    *shown, text = body["messages"][0]["content"]
    urls = [one["image_url"]["url"].partition(",")[2] for one in shown]
    return [Image.open(io.BytesIO(base64.b64decode(url))).getpixel((0, 0)) for url in urls], text["text"]


def test_the_images_are_sent_in_their_order_before_the_question(chat):
    def say(body):
        shown, _ = colours(body)
        return ok(("first", "second", "third")[shown.index((255, 0, 0))] if (255, 0, 0) in shown else "none")

    model = model_of(chat)
    chat.say = say
    assert isinstance(model, Comparer)
    asked = [compare(RED, BLUE), compare(BLUE, RED), compare(BLUE, GREEN, RED), compare(BLUE, RED)]
    seen = len(chat.seen)
    assert model.compare(asked) == ["first", "second", "third", "second"]
    assert len(chat.seen) - seen == 3  # the last question is the second one again
    sent = [colours(body) for _, _, body in chat.seen[seen:]]
    assert {text for _, text in sent} == {"Which image is red? Answer with one of: first, second."}
    assert ([(0, 0, 255), (0, 255, 0), (255, 0, 0)], sent[0][1]) in sent
    assert all("logprobs" not in body for _, _, body in chat.seen[seen:])


def test_a_service_that_takes_one_image_is_refused_before_it_is_asked(chat):
    model = model_of(chat)
    model.check_compare()
    assert len(colours(chat.seen[-1][2])[0]) == 2
    chat.say = lambda body: (
        (400, {}, {"error": {"message": "At most 1 image(s) may be provided in one request."}})
        if len(body["messages"][0]["content"]) > 2
        else ok("Yes.")
    )
    with pytest.raises(ModelLoadError, match=r"'toy' at http.*two images.*At most 1 image.*limit-mm-per-prompt.*--ask"):
        model.check_compare()


def test_a_question_without_a_reply_costs_itself_only(chat):
    model = model_of(chat)
    chat.say = lambda body: ok("first") if len(colours(body)[0]) == 2 else ok("", finish="length")
    with pytest.raises(NoReplyError, match="max_tokens") as caught:
        model.compare([compare(RED, BLUE), compare(RED, BLUE, GREEN)])
    assert caught.value.positions == {1}
    assert model.compare([compare(RED, BLUE)]) == ["first"]


def test_an_answer_that_is_cut_off_names_the_limit(chat):
    model = model_of(chat, "?max_tokens=8&logprobs=0")
    chat.say = lambda _: ok("the image on th", finish="length")
    with pytest.raises(NoReplyError, match=r"cut off at max_tokens=8: .*write \?max_tokens=64 after the model's name"):
        model.compare([compare(RED, BLUE)])


def test_an_image_that_cannot_be_decoded_is_an_error_of_the_image(chat):
    def broken():
        raise ImageError("x", "it is broken", "fetch it")

    with pytest.raises(ImageError, match="broken"):
        model_of(chat).compare([compare(RED, LazyImage(key="x", load=broken))])
