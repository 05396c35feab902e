"""GPT-4V's recorded free-text answers on SugarCrepe, read again; `-s` prints the figures."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from vlgate.judging.answers import read_answer

FOLDER = Path(__file__).parents[3] / "shared/data/recorded-outputs/sugarcrepe-gpt4v/negative-first"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="needs ../shared/data")


@dataclass(frozen=True)
class Item:
    id: str
    reply: str
    caption: str
    foil: str
    recorded: str

    @property
    def read(self):
        """The captions were offered as a numbered list, the negative one first."""
        return read_answer(self.reply, (self.foil, self.caption), aliases=("1", "2"))


def items(name):
    records = json.loads((FOLDER / f"gpt4v-{name}.json").read_text(encoding="utf-8"))
    for number, record in records.items():
        answer = record["answer"]
        assert record["correct"] == (answer["multiple_choice_answer"] == record["caption"])
        yield Item(
            id=f"{name} {number}",
            reply=answer["free_form_answer"],
            caption=record["caption"],
            foil=record["negative_caption"],
            recorded=answer["multiple_choice_answer"],
        )


@pytest.mark.parametrize(
    ("name", "n", "right", "recorded", "unread", "disagreeing"),
    [
        ("add_obj", 2062, 1919, 1918, 35, ["add_obj 583"]),  # the recorded parse leaves out "2"
        ("replace_att", 788, 740, 740, 9, []),
        (
            "swap_obj",
            246,
            199,
            198,
            4,
            ["swap_obj 214"],
        ),  # and "Neither ... However, if I must choose, it would be (2)"
    ],
)
def test_recorded_answers_are_read_as_by_eye(name, n, right, recorded, unread, disagreeing):
    found = list(items(name))
    mute = [item for item in found if item.read is None]
    hits = sum(item.read == item.caption for item in found)
    others = [item for item in found if (item.read or "") != item.recorded]
    show(name, found, hits, mute, others)
    assert (len(found), hits, len(mute)) == (n, right, unread)
    assert sum(item.recorded == item.caption for item in found) == recorded
    assert [item.id for item in others] == disagreeing


def show(name, found, hits, mute, others):
    n = len(found)
    lines = [f"{name}: n {n}, right {hits} ({hits / n:.4f}), unread {len(mute)} ({len(mute) / n:.4f})"]
    lines += [f"  unread {item.id}: {item.reply!r}" for item in mute[:10]]
    lines += [f"  {item.id}: {item.reply!r} read as {item.read!r}, recorded as {item.recorded!r}" for item in others]
    print("", *lines, sep="\n")  # noqa: T201


def test_a_careless_reading_miscounts_what_is_left_unread_here():
    replies = [item.reply.casefold() for name in ("add_obj", "replace_att", "swap_obj") for item in items(name)]
    refusals = [reply for reply in replies if "neither" in reply or "assist" in reply]
    assert sum("(2)" in reply for reply in refusals) > 10
