"""GPT-4V's recorded free-text answers on SugarCrepe, read again."""

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
        # and "Neither ... However, if I must choose, it would be (2)"
        ("swap_obj", 246, 199, 198, 4, ["swap_obj 214"]),
    ],
)
def test_recorded_answers_are_read_as_by_eye(name, n, right, recorded, unread, disagreeing):
    found = list(items(name))
    mute = [item for item in found if item.read is None]
    hits = sum(item.read == item.caption for item in found)
    others = [item for item in found if (item.read or "") != item.recorded]
    assert (len(found), hits, len(mute)) == (n, right, unread)
    assert sum(item.recorded == item.caption for item in found) == recorded
    assert [item.id for item in others] == disagreeing
