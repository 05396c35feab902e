"""The step that remembers: nothing reaches the model twice, and the replies of a run are the same without it."""

import hashlib
import os
import subprocess
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from vlgate.asking.batching import Caller
from vlgate.asking.cache.store import Store
from vlgate.asking.image_identity import Identities
from vlgate.asking.memory import Memory, packed, unpacked
from vlgate.asking.pace import pace
from vlgate.asking.predictor import ModelPredictor
from vlgate.asking.reply_cache import ReplyCache
from vlgate.errors import NotRememberedError
from vlgate.images.files import file_image, missing_image
from vlgate.perturb.images import perturbed
from vlgate.types import Ask, Batch, Case, LazyImage, Match, Read, Task


class Encoder:
    """A dual encoder whose rows depend on the batch by rounding, as a network's do; ``cut_texts`` as models have it."""

    decision_threshold = 0.5

    def __init__(self):
        self.images, self.texts, self.keys, self.cut_texts = Counter(), Counter(), Counter(), set()

    def encode_images(self, images):
        self.images.update(image.key for image in images)
        shown = [np.asarray(image.load()).mean(axis=(0, 1)) / 255 for image in images]
        return np.array(shown) + len(images) * 1e-7

    def encode_texts(self, texts):
        self.texts.update(texts)
        self.cut_texts.update(text for text in texts if len(text) > 30)
        return np.array([[len(text), text.count("e"), 1.0] for text in texts]) + len(texts) * 1e-7

    def text_keys(self, texts):
        self.keys.update(texts)
        return [text.lower().encode() for text in texts]


class Matcher:
    """A matcher whose scores differ a little from call to call."""

    def __init__(self):
        self.asked = Counter()

    def match(self, pairs):
        self.asked.update(pairs)
        return np.array([np.asarray(pair.image.load()).mean() for pair in pairs]) + sum(self.asked.values()) * 1e-6


class Answerer:
    def __init__(self):
        self.asked = Counter()

    def answer(self, questions):
        self.asked.update(questions)
        return [question.choices[len(question.question) % len(question.choices)] for question in questions]


class Reader:
    def __init__(self):
        self.asked = Counter()

    def perplexity(self, texts):
        self.asked.update(texts)
        return np.array([len(text) / 3 for text in texts])


def remembering(model, folder, *, size=4, key=b"m" * 32, code=b"c" * 32, room=2**20):
    store = None if folder is None else Store(folder)
    memory = Memory(store=store, model="toy", room=room)
    identities = Identities(memory=memory, code=code, by_name=folder is None)
    cache = ReplyCache(memory=memory, identities=identities, model=key)
    return ModelPredictor(model=model, name="toy", caller=Caller(name="toy", size=size), cache=cache, seed=0)


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(6):
        colour = (40 * number, 255 - 40 * number, 7 * number)
        Image.new("RGB", (9, 7), colour).save(folder / f"{number}.png", format="BMP")  # all of one size
        os.utime(folder / f"{number}.png", (1e9, 1e9))
    return folder


def pairs(photos, numbers=range(6)):
    images = [file_image(f"{number}.png", photos / f"{number}.png") for number in numbers]
    return [
        Match(image=image, text=text) for image in images for text in ("A tree.", "a tree.", "A very long text " * 3)
    ]


def facts(found):
    return [(reply.score, reply.answer, reply.accepted, reply.problem, reply.cut) for reply in found.values()]


def test_a_second_run_gets_the_same_and_asks_nothing(photos, tmp_path):
    cold, warm = remembering(Encoder(), tmp_path), remembering(Encoder(), tmp_path)
    first = cold.predict(pairs(photos))
    assert facts(warm.predict(pairs(photos))) == facts(first)
    assert any(reply.cut for reply in first.values())
    assert not warm.model.images
    assert not warm.model.texts
    assert not warm.model.keys
    assert warm.cache.counts.asked == 0 < warm.cache.counts.cached


def test_nothing_is_encoded_twice_in_a_run_without_a_cache(photos):
    found = remembering(Encoder(), None)
    for pair in pairs(photos):  # one case per item
        found.predict([pair])
    assert set(found.model.images.values()) == set(found.model.texts.values()) == {1}
    assert len(found.model.images) == 6


def test_the_memory_is_bounded(photos):
    found = remembering(Encoder(), None, room=1)
    for pair in pairs(photos):
        found.predict([pair])
    assert max(found.model.images.values()) > 1
    assert not found.cache.memory._recent


def test_a_warm_run_decodes_no_image(photos, tmp_path, monkeypatch):
    flipped = [perturbed(pair.image, "flip") for pair in pairs(photos)]
    asked = [*pairs(photos), *(Match(image=image, text="A tree.") for image in flipped)]
    first = remembering(Encoder(), tmp_path).predict(asked)
    monkeypatch.setattr("vlgate.images.files.decode", lambda *_: pytest.fail("an image was decoded"))
    assert facts(remembering(Encoder(), tmp_path).predict(asked)) == facts(first)


def test_what_is_half_there_is_completed_in_the_batches_of_an_undisturbed_run(photos, tmp_path):
    whole = remembering(Encoder(), tmp_path / "whole")
    undisturbed = [whole.predict(pairs(photos, [number])) for number in range(6)]
    killed = remembering(Encoder(), tmp_path / "killed")
    for number in range(3):
        killed.predict(pairs(photos, [number]))
    again = remembering(Encoder(), tmp_path / "killed")
    assert [facts(again.predict(pairs(photos, [number]))) for number in range(6)] == [facts(one) for one in undisturbed]
    assert set(again.model.images) == {"3.png", "4.png", "5.png"}


def test_images_with_equal_pixels_tie_warm_as_cold(photos, tmp_path):
    (photos / "twin.bmp").write_bytes(b"")
    Image.open(photos / "3.png").save(photos / "twin.bmp")
    image, twin = (file_image(name, photos / name) for name in ("3.png", "twin.bmp"))
    asked = [Match(image=one, text="A tree.") for one in (image, twin)]
    for split in (asked, asked[:1], asked[1:]):  # all of it in the cache; one of the two, which was compared with none
        folder = tmp_path / split[0].image.key / str(len(split))
        cold = remembering(Matcher(), folder, size=1)
        cold.predict(pairs(photos, [1]))
        cold.predict(split)
        found = remembering(Matcher(), folder, size=1).predict(asked)
        assert found[asked[0]].score == found[asked[1]].score


def test_problems_are_not_kept(photos, tmp_path):
    there, gone = pairs(photos, [0])[0], Match(image=missing_image("7.png", [photos]), text="A tree.")
    broken = Match(image=file_image("8.png", photos / "8.png"), text="A tree.")
    (photos / "8.png").write_bytes(b"no image")
    for _ in range(2):
        found = remembering(Encoder(), tmp_path).predict([there, gone, broken])
        assert [reply.problem is None for reply in found.values()] == [True, False, False]
    Image.new("RGB", (9, 7), "red").save(photos / "8.png")
    assert remembering(Encoder(), tmp_path).predict([broken])[broken].score is not None


def test_answers_and_perplexities_are_kept(photos, tmp_path):
    image = pairs(photos, [0])[0].image
    asks = [Ask(image=image, question=question, choices=("yes", "no")) for question in ("Is it?", "Is it so?")]
    reads = [Read(text="A tree."), Read(text="A bush.")]
    for model, asked in ((Answerer, asks), (Reader, reads)):
        cold, warm = remembering(model(), tmp_path), remembering(model(), tmp_path)
        assert facts(cold.predict(asked)) == facts(warm.predict(asked))
        assert len(cold.model.asked) == 2
        assert not warm.model.asked


def change(photos, what):
    """One pair, and the same pair with one thing changed that its reply depends on."""
    pair = pairs(photos, [2])[0]
    image = pair.image
    if what == "text":
        return pair, Match(image=image, text="A tree..")
    if what == "pixels":
        Image.new("RGB", (9, 7), (81, 175, 14)).save(photos / "changed.png")
        return pair, Match(image=file_image(image.key, photos / "changed.png"), text=pair.text)
    if what == "name":
        return pair, Match(image=file_image("other.png", image.where), text=pair.text)
    ways = {"severity": ("jpeg-1", "jpeg-2"), "perturbation": ("flip", "greyscale")}
    one, other = (perturbed(image, name) for name in ways[what])
    return Match(image=one, text=pair.text), Match(
        image=LazyImage(key=one.key, load=other.load, where=one.where), text=pair.text
    )


@pytest.mark.parametrize("what", ["text", "pixels", "name", "severity", "perturbation"])
def test_another_request_is_asked(photos, tmp_path, what):
    one, other = change(photos, what)
    for kind in (Encoder, Matcher):
        remembering(kind(), tmp_path).predict([one])
        again = remembering(kind(), tmp_path)
        again.predict([other])
        assert again.cache.counts.asked == 1


@pytest.mark.parametrize("choices", [("no", "yes"), ("yes", "no", "maybe"), ("yes", "no,")])
def test_other_choices_or_another_order_of_them_are_asked(photos, tmp_path, choices):
    image = pairs(photos, [0])[0].image
    one, other = (Ask(image=image, question="Is it?", choices=found) for found in (("yes", "no"), choices))
    remembering(Answerer(), tmp_path).predict([one])
    again = remembering(Answerer(), tmp_path)
    again.predict([other])
    assert again.model.asked == {other: 1}


@pytest.mark.parametrize("changed", [{"key": b"n" * 32}, {"code": b"d" * 32}], ids=["model", "code of images"])
def test_another_model_is_asked(photos, tmp_path, changed):
    remembering(Encoder(), tmp_path).predict(pairs(photos))
    again = remembering(Encoder(), tmp_path, **changed)
    again.predict(pairs(photos))
    assert len(again.model.images) == 6


def test_a_file_that_changed_is_read_again(photos, tmp_path):
    pair = pairs(photos, [0])[0]
    remembering(Encoder(), tmp_path).predict([pair])
    Path(pair.image.where).write_bytes((photos / "1.png").read_bytes())
    again = remembering(Encoder(), tmp_path)
    again.predict([pair])
    assert again.model.images == {"0.png": 1}


def test_a_file_that_changed_a_moment_ago_is_not_known_by_its_time(photos, tmp_path):
    pair, file = pairs(photos, [0])[0], photos / "0.png"
    os.utime(file)
    at = file.stat()
    remembering(Encoder(), tmp_path).predict([pair])
    content = (photos / "1.png").read_bytes()
    assert len(content) == at.st_size, "the files of this test must have one size"
    with file.open("r+b") as stream:
        stream.write(content)
    os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns))
    again = remembering(Encoder(), tmp_path)
    again.predict([pair])
    assert again.model.images == {"0.png": 1}


def later(monkeypatch):
    """Let the files of a test be older than a moment, so that their digests are kept."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 10**10)


def with_the_same_time(file, how, content):
    """Give a file other content of the same size in a way that keeps its time of change."""
    other, at = file.with_suffix(".new"), file.stat()
    other.write_bytes(content)
    os.utime(other, ns=(at.st_atime_ns, at.st_mtime_ns))
    commands = {
        "in place": None,
        "cp -p": ["cp", "-p", other, file],
        "touch -r": ["sh", "-c", 'cat "$0" > "$1"; touch -r "$0" "$1"', other, file],
        "dd": ["sh", "-c", 'dd if="$0" of="$1" conv=notrunc 2> /dev/null; touch -r "$0" "$1"', other, file],
        "cp -p and mv": ["sh", "-c", 'cp -p "$0" "$1.part"; mv "$1.part" "$1"', other, file],
    }
    if how == "in place":
        with file.open("r+b") as stream:
            stream.write(content)
        os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns))
    else:
        subprocess.run(list(map(str, commands[how])), check=True)
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (at.st_size, at.st_mtime_ns)


@pytest.mark.parametrize("how", ["in place", "cp -p", "touch -r", "dd", "cp -p and mv"])
@pytest.mark.parametrize("dated", [True, False], ids=["ctime", "no ctime"])
def test_other_content_of_the_same_size_and_time_is_read(photos, tmp_path, monkeypatch, how, dated):
    later(monkeypatch)
    monkeypatch.setattr("vlgate.asking.image_identity.is_dated", lambda _: dated)
    pair = pairs(photos, [0])[0]
    remembering(Encoder(), tmp_path).predict([pair])
    time.sleep(0.02)  # more than a tick of the file system's clock
    with_the_same_time(photos / "0.png", how, (photos / "1.png").read_bytes())
    again = remembering(Encoder(), tmp_path)
    again.predict([pair])
    assert again.model.images == {"0.png": 1}


def test_a_link_that_leads_to_another_file_is_read(photos, tmp_path, monkeypatch):
    later(monkeypatch)
    (photos / "link.png").symlink_to("0.png")
    pair = Match(image=file_image("link.png", photos / "link.png"), text="A tree.")
    remembering(Encoder(), tmp_path).predict([pair])
    (photos / "link.png").unlink()
    (photos / "link.png").symlink_to("1.png")
    again = remembering(Encoder(), tmp_path)
    again.predict([pair])
    assert again.model.images == {"link.png": 1}


@pytest.mark.parametrize("dated", [True, False])
def test_the_content_of_a_file_is_read_once_where_ctime_tells_its_changes(photos, tmp_path, monkeypatch, dated):
    later(monkeypatch)
    monkeypatch.setattr("vlgate.asking.image_identity.is_dated", lambda _: dated)
    remembering(Encoder(), tmp_path).predict(pairs(photos))
    read, digest = [], hashlib.file_digest
    monkeypatch.setattr("vlgate.asking.image_identity.file_digest", lambda *given: read.append(1) or digest(*given))
    again = remembering(Encoder(), tmp_path)
    again.predict(pairs(photos))
    assert not again.model.images
    assert len(read) == (0 if dated else 6)


def test_a_memory_that_must_not_ask(photos, tmp_path):
    found = remembering(Encoder(), tmp_path)
    recalling = replace(found, cache=found.cache.recalling)
    with pytest.raises(NotRememberedError):
        recalling.predict(pairs(photos))
    assert not found.model.images
    replies = found.predict(pairs(photos))
    asked = found.cache.counts.asked
    assert facts(recalling.predict(pairs(photos))) == facts(replies)
    assert found.cache.counts.asked == asked
    assert found.bare().cache is None
    assert found.bare().caller is found.caller


def test_two_runs_on_one_cache_use_the_same_replies(photos, tmp_path):
    one, other = remembering(Encoder(), tmp_path, size=1), remembering(Encoder(), tmp_path, size=4)
    asked = pairs(photos)
    first = one.predict(asked[:6])
    second = other.predict(asked)
    assert facts({pair: second[pair] for pair in asked[:6]}) == facts(first)
    third = remembering(Encoder(), tmp_path, size=2)
    assert facts(third.predict(asked)) == facts(second)


@pytest.mark.parametrize("cached", [True, False], ids=["cache", "memory"])
@pytest.mark.parametrize("most", range(1, 6))
def test_memory_that_runs_out_at_any_batch_size_changes_no_reply(photos, tmp_path, most, cached):
    class Full(Encoder):
        """Its features do not depend on the batch, so that only the memory can change them."""

        def encode_images(self, images):
            if len(images) > most:
                raise MemoryError
            return np.concatenate([super(Full, self).encode_images([image]) for image in images])

        def encode_texts(self, texts):
            if len(texts) > most:
                raise MemoryError
            return np.concatenate([super(Full, self).encode_texts([text]) for text in texts])

    asked = pairs(photos)
    expected = facts(remembering(Encoder(), None, size=1).predict(asked))
    folder = tmp_path if cached else None
    found = remembering(Full(), folder, size=6)
    assert facts(found.predict(asked)) == expected
    assert max(found.model.images.values()) == 1
    assert found.caller.size <= most
    if cached:
        again = remembering(Full(), folder, size=6)
        assert facts(again.predict(asked)) == expected
        assert not again.model.images


@given(
    st.floats(allow_nan=True, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.lists(
        st.floats(allow_nan=False, allow_infinity=False) | st.floats(width=32, allow_nan=False, allow_infinity=False)
    ).map(np.array),
    st.booleans(),
)
def test_replies_as_bytes_are_exact(reply, cut):
    if isinstance(reply, np.ndarray):
        reply = reply.astype(np.float64)
    found, said = unpacked(packed(reply, cut=cut))
    assert said == cut
    assert type(found) is type(reply)
    np.testing.assert_array_equal(found, reply)


def test_the_time_of_a_run_is_measured_on_the_model_unless_all_of_it_is_known(photos, tmp_path):
    cases = tuple(
        Case(id=str(n), requests=(Match(image=pairs(photos, [n % 6])[0].image, text=f"{n}"),), truths=(True,))
        for n in range(300)
    )
    task = Task(id="own/pace", capability="foil", shape="pair", cases=cases)
    batches = [Batch(task=task, positions=(n,)) for n in range(300)]
    first = remembering(Matcher(), tmp_path)
    assert pace(first, batches, "0:pace") is not None
    asked = sum(first.model.asked.values())
    assert asked == first.cache.counts.asked + 8
    first.predict(case.requests[0] for case in cases)
    warm = remembering(Matcher(), tmp_path)
    assert pace(warm, batches, "0:pace") is None
    assert not warm.model.asked
