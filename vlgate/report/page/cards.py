"""A row of ``cases.parquet`` as a card: its texts with their differences, its replies, its images and its command."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vlgate.metrics.clusters import photograph
from vlgate.report.difference import Piece, beside, difference
from vlgate.report.page.earlier import History
from vlgate.report.page.pictures import Pictures
from vlgate.report.page.records import Card, Line
from vlgate.report.page.rows import Row, TaskRows
from vlgate.run.planning import plain_id
from vlgate.types import Case

_ASKED_BY = (("seed", 0), ("pairs", 1000), ("ask", "apart"), ("ties", "strict"), ("dtype", "float32"))
"""The options that decide what is asked, with their defaults."""
_FACTS_OF_ANSWERS = (("acc_original", "acc_normal"), ("acc_perturbed", "acc_counterfactual"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CardMaker:
    """Makes the cards of one task; ``cases`` are those that can be read again, by id.

    ``history`` holds what earlier runs replied to the cases.
    """

    task: str
    capability: str
    headline: str
    rows: TaskRows
    cases: Mapping[str, Case]
    pictures: Pictures
    options: Mapping[str, Any]
    history: History = field(default_factory=History)

    def card(self, row: Row, *, worst: bool = False, kept: bool = False) -> Card:
        """Return the card of a row.

        Args:
            row: a case in ``cases.parquet``.
            worst: whether it is one of the worst cases, which have a small image too.
            kept: whether its images are among those for which room is kept, as are those of the worst cases.
        """
        pictures, places = self.pictures.of(row["images"], self.cases.get(row["case"]), kept=worst or kept)
        names = ["".join(map(_letter, some)) if len(pictures) > 1 else "" for some in places]
        keys = [picture.key for picture in pictures]
        overlaid = len(keys) == 2 and "#" in keys[1] and photograph(keys[0]) == photograph(keys[1])
        before = self.history.before(row)
        return Card(
            anchor=anchor(f"{self.task}/{row['case']}"),
            task=self.task,
            case=row["case"],
            state=_state(row),
            lines=self._lines(row, names, before),
            pictures=tuple(pictures),
            overlaid=overlaid,
            thumb=self.pictures.small(pictures[-1 if overlaid else 0]) if worst and pictures else None,
            why=row["why"],
            tags=json.loads(row["tags"]),
            origin=row["origin"],
            command=command(self.task, row["case"], self.capability, self.options),
            change=self.history.change(row),
            age=self.history.age(row),
            before="" if before is None else before["why"],
        )

    def _lines(self, row: Row, names: list[str], before: Row | None) -> tuple[Line, ...]:
        texts = row["texts"]
        return tuple(
            Line(
                picture=names[number],
                pieces=_marked(texts[number], texts[other]),
                truth=row["truths"][number],
                score=row["scores"][number],
                place=self._place(row["scores"][number]),
                answer=row["answers"][number],
                right=self._right(row, number),
                before=_replied(before, number),
            )
            for number, other in enumerate(beside(self.headline, len(texts)))
        )

    def _place(self, score: float | None) -> float:
        span = self.rows.highest - self.rows.lowest
        return 0.0 if score is None or span <= 0 else round(100 * (score - self.rows.lowest) / span, 1)

    def _right(self, row: Row, number: int) -> bool | None:
        asked_apart = len(row["texts"]) == len(_FACTS_OF_ANSWERS)
        names = _FACTS_OF_ANSWERS[number] if self.headline == "c_acc" and asked_apart else ()
        fact = next((row[name] for name in names if row.get(name) is not None), None)
        return None if fact is None else fact == 1.0


def anchor(name: str) -> str:
    """Return the id of a task or a case in the page, which is the end of its address.

    >>> anchor("scenes/relations/a dog")
    'scenes/relations/a_dog'
    """
    return re.sub(r"[^A-Za-z0-9_.:/-]", "_", name)


def command(task: str, case: str, capability: str, options: Mapping[str, Any]) -> str:
    """Return the command that asks a case again, with the options of its run that decide what is asked."""
    item = plain_id(f"{task}:{case}")
    words = ["pytest", "--pyargs", f"tests_vl.test_{capability}::test_{capability}[{item}]", "--items=pair"]
    words += [f"--suite={task}", f"--model={options.get('model', '')}"]
    words += [f"--data={folder}" for folder in options.get("data", ())]
    for name, default in _ASKED_BY:
        if options.get(name, default) != default:
            words.append(f"--{name}={options[name]}")
    words += [f"--protocol={name}" for name in options.get("protocols", ())]
    return shlex.join(words)


def _marked(text: str, other: str) -> tuple[Piece, ...]:
    return difference(text, other)[0] if text != other else ((text, False),)


def _letter(place: int) -> str:
    return chr(ord("A") + place)


def _replied(row: Row | None, number: int) -> str:
    """What a run replied to a request; empty if it gave no reply."""
    if row is None:
        return ""
    score, answer = row["scores"][number], row["answers"][number]
    return f"{score:.4g}" if score is not None else answer or ""


def _state(row: Row) -> str:
    if row["state"] != "judged":
        return "not scored" if row["state"] == "unscored" else str(row["state"])
    return "right" if row["right"] else "missed"
