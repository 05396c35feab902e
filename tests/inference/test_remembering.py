"""The step that remembers: nothing reaches the model twice, and the replies of a run are the same without it."""

import hashlib
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from builders import model, predictor, task_of
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from vlgate.asking import dedupe
from vlgate.asking.cache.store import Memory, Store, packed, unpacked
from vlgate.asking.dedupe import Identities, is_dated
from vlgate.asking.predictor import pace
from vlgate.asking.reply_cache import ReplyCache
from vlgate.errors import NotRememberedError
from vlgate.images.files import file_image, missing_image
from vlgate.perturb.images import perturbed
from vlgate.types import Ask, Batch, Case, LazyImage, Match, Read


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


def counted(method, reply):
    """A model that counts what it is asked; its reply to each item may differ from call to call."""
    asked = Counter()
    return model(asked=asked, **{method: lambda items: asked.update(items) or [reply(one, asked) for one in items]})


def matcher():
    return counted("match", lambda pair, asked: np.asarray(pair.image.load()).mean() + sum(asked.values()) * 1e-6)


def answerer():
    return counted("answer", lambda one, _: one.choices[len(one.question) % len(one.choices)])


def remembering(toy, folder, *, size=4, key=b"m" * 32, code=b"c" * 32, room=2**20):
    store = None if folder is None else Store(folder)
    memory = Memory(store=store, model="toy", room=room)
    identities = Identities(memory=memory, code=code, by_name=folder is None)
    return predictor(toy, size, cache=ReplyCache(memory=memory, identities=identities, model=key), seed=0)


def images_asked(folder, asked, **how):
    """The images that a new run on a folder asks its model about."""
    run = remembering(Encoder(), folder, **how)
    run.predict(asked)
    return run.model.images


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
    assert not warm.model.images + warm.model.texts + warm.model.keys
    assert warm.cache.counts.asked == 0 < warm.cache.counts.cached


@pytest.mark.parametrize(("room", "twice"), [(2**20, False), (1, True)])
def test_nothing_is_encoded_twice_in_a_run_without_a_cache_unless_the_memory_is_full(photos, room, twice):
    run = remembering(Encoder(), None, room=room)
    for pair in pairs(photos):  # one case per item
        run.predict([pair])
    assert (max(run.model.images.values()) > 1, max(run.model.texts.values()) > 1) == (twice, twice)
    assert len(run.model.images) == 6
    assert twice != bool(run.cache.memory._recent)


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
        cold = remembering(matcher(), folder, size=1)
        cold.predict(pairs(photos, [1]))
        cold.predict(split)
        found = remembering(matcher(), folder, size=1).predict(asked)
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
    for kind, asked in ((answerer, asks), (lambda: counted("perplexity", lambda text, _: len(text) / 3), reads)):
        cold, warm = remembering(kind(), tmp_path), remembering(kind(), tmp_path)
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
    if what in CHOICES:
        return tuple(Ask(image=image, question="Is it?", choices=one) for one in (("yes", "no"), CHOICES[what]))
    ways = {"severity": ("jpeg-1", "jpeg-2"), "perturbation": ("flip", "greyscale")}
    one, other = (perturbed(image, name) for name in ways[what])
    same_key = LazyImage(key=one.key, load=other.load, where=one.where)
    return Match(image=one, text=pair.text), Match(image=same_key, text=pair.text)


CHOICES = {"order": ("no", "yes"), "more choices": ("yes", "no", "maybe"), "other choices": ("yes", "no,")}


@pytest.mark.parametrize("what", ["text", "pixels", "name", "severity", "perturbation", *CHOICES])
def test_another_request_is_asked(photos, tmp_path, what):
    one, other = change(photos, what)
    for kind in (answerer,) if what in CHOICES else (Encoder, matcher):
        remembering(kind(), tmp_path).predict([one])
        again = remembering(kind(), tmp_path)
        again.predict([other])
        assert again.cache.counts.asked == 1


def test_another_model_or_other_code_of_images_is_asked(photos, tmp_path):
    for how in ({}, {"key": b"n" * 32}, {"code": b"d" * 32}):
        assert len(images_asked(tmp_path, pairs(photos), **how)) == 6


def later(monkeypatch):
    """Let the files of a test be older than a moment, so that their digests are kept."""
    now = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: now() + 10**10)


COMMANDS = {
    "in place": "",
    "cp -p": 'cp -p "$0" "$1"',
    "touch -r": 'cat "$0" > "$1"; touch -r "$0" "$1"',
    "dd": 'dd if="$0" of="$1" conv=notrunc 2> /dev/null; touch -r "$0" "$1"',
    "cp -p and mv": 'cp -p "$0" "$1.part"; mv "$1.part" "$1"',
}


def with_the_same_time(file, how, content):
    """Give a file other content of the same size in a way that keeps its time of change."""
    other, at = file.with_suffix(".new"), file.stat()
    other.write_bytes(content)
    os.utime(other, ns=(at.st_atime_ns, at.st_mtime_ns))
    if how == "in place":
        with file.open("r+b") as stream:
            stream.write(content)
        os.utime(file, ns=(at.st_atime_ns, at.st_mtime_ns))
    else:
        subprocess.run(["sh", "-c", COMMANDS[how], other, file], check=True)
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (at.st_size, at.st_mtime_ns)


@pytest.mark.parametrize("how", COMMANDS)
@pytest.mark.parametrize("dated", [True, False], ids=["ctime", "no ctime"])
def test_other_content_of_the_same_size_and_time_is_read(photos, tmp_path, monkeypatch, how, dated):
    later(monkeypatch)
    monkeypatch.setattr(dedupe, "is_dated", lambda _: dated)
    pair = pairs(photos, [0])[0]
    images_asked(tmp_path, [pair])
    time.sleep(0.02)  # more than a tick of the file system's clock
    with_the_same_time(photos / "0.png", how, (photos / "1.png").read_bytes())
    assert images_asked(tmp_path, [pair]) == {"0.png": 1}


def test_a_file_that_changed_is_read_again_though_it_was_a_moment_ago(photos, tmp_path):
    pair, file = pairs(photos, [0])[0], photos / "0.png"
    images_asked(tmp_path, [pair])
    file.write_bytes((photos / "2.png").read_bytes())
    assert images_asked(tmp_path, [pair]) == {"0.png": 1}
    with_the_same_time(file, "in place", (photos / "1.png").read_bytes())
    assert images_asked(tmp_path, [pair]) == {"0.png": 1}


def test_a_link_that_leads_to_another_file_is_read(photos, tmp_path, monkeypatch):
    later(monkeypatch)
    (photos / "link.png").symlink_to("0.png")
    pair = Match(image=file_image("link.png", photos / "link.png"), text="A tree.")
    images_asked(tmp_path, [pair])
    (photos / "link.png").unlink()
    (photos / "link.png").symlink_to("1.png")
    assert images_asked(tmp_path, [pair]) == {"link.png": 1}


@pytest.mark.parametrize("dated", [True, False])
def test_the_content_of_a_file_is_read_once_where_ctime_tells_its_changes(photos, tmp_path, monkeypatch, dated):
    later(monkeypatch)
    monkeypatch.setattr(dedupe, "is_dated", lambda _: dated)
    images_asked(tmp_path, pairs(photos))
    read, digest = [], hashlib.file_digest
    monkeypatch.setattr(dedupe, "file_digest", lambda *given: read.append(1) or digest(*given))
    assert not images_asked(tmp_path, pairs(photos))
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
            return self.one_by_one(super().encode_images, images)

        def encode_texts(self, texts):
            return self.one_by_one(super().encode_texts, texts)

        def one_by_one(self, encode, items):
            if len(items) > most:
                raise MemoryError
            return np.concatenate([encode([item]) for item in items])

    asked = pairs(photos)
    expected = facts(remembering(Encoder(), None, size=1).predict(asked))
    run, again = (remembering(Full(), tmp_path if cached else None, size=6) for _ in range(2))
    assert facts(run.predict(asked)) == expected
    assert max(run.model.images.values()) == 1
    assert run.caller.size <= most
    assert facts(again.predict(asked)) == expected
    assert cached != bool(again.model.images)


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
    images = [pair.image for pair in pairs(photos)[::3]]
    asked = [Match(image=images[n % 6], text=f"{n}") for n in range(300)]
    task = task_of(Case(id=one.text, requests=(one,), truths=(True,)) for one in asked)
    batches = [Batch(task=task, positions=(n,)) for n in range(300)]
    first = remembering(matcher(), tmp_path)
    assert pace(first, batches, "0:pace") is not None
    assert sum(first.model.asked.values()) == first.cache.counts.asked + 8
    first.predict(asked)
    warm = remembering(matcher(), tmp_path)
    assert pace(warm, batches, "0:pace") is None
    assert not warm.model.asked


MOUNTS = """\
20 1 8:1 / / rw - ext4 /dev/sda1 rw
21 20 0:30 / /mnt/a\\040stick rw - vfat /dev/sdb1 rw
22 20 0:31 / /home/me/far rw,relatime shared:1 - fuse.sshfs me@far: rw
23 20 0:32 / /home/me/far/near rw - nfs4 server:/x rw
24 20 0:33 / /mnt/c rw - 9p drvfs rw
25 20 0:34 / /mnt/share rw - cifs //server/share rw
26 20 0:35 /@home /srv rw - btrfs /dev/sdc1 rw
27 26 0:36 / /srv rw - exfat /dev/sdd1 rw
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's list of mounts")
@pytest.mark.parametrize(("path", "expected"), [
    ("/data/1.png", True), ("/mnt/a stick/1.png", False), ("/mnt/a sticker/1.png", True),
    ("/home/me/far/1.png", False), ("/home/me/far/near/deep/1.png", True), ("/home/me/further/1.png", True),
    ("/mnt/c/Users/1.png", False), ("/mnt/share/1.png", False), ("/srv/1.png", False),
])  # fmt: skip
def test_the_file_system_of_a_path(tmp_path, monkeypatch, path, expected):
    (tmp_path / "mountinfo").write_text(MOUNTS)
    monkeypatch.setattr(dedupe, "_MOUNTS", str(tmp_path / "mountinfo"))
    assert is_dated(path) == expected


@pytest.mark.parametrize(("platform", "path", "expected"), [
    ("darwin", "/Users/me/1.png", True), ("darwin", "/Volumes/stick/1.png", False), ("win32", "/data/1.png", False),
    ("linux", "/data/1.png", False),  # which does not list its mounts
])  # fmt: skip
def test_other_systems(monkeypatch, platform, path, expected):
    monkeypatch.setattr(dedupe, "_MOUNTS", "/nothing")
    monkeypatch.setattr(sys, "platform", platform)
    assert is_dated(path) == expected
