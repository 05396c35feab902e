"""Why cases could not be scored: one line per cause, with its count and an example, however many cases share it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vlgate.judging.judged import lacking, verdicts_of
from vlgate.types import Verdict

# What two messages with one cause differ in: what is quoted, paths, and numbers other than the status of a service.
_VARIES = re.compile(
    r"(?<!\w)'(?:[^'\\]|\\.)*'(?!\w)|(?<!\w)\"(?:[^\"\\]|\\.)*\"(?!\w)"
    r"|[^\s'\"]*/[^\s'\"]*|(?<!answers )\b[\w.-]*\d[\w.-]*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One cause with the reasons that share it; ``example`` is the case of the first reason."""

    reasons: tuple[str, ...]
    example: str

    @property
    def sentence(self) -> str:
        """The first reason; ``e.g.`` stands before the first of its parts that differs in the others."""
        first = self.reasons[0]
        spans = list(_VARIES.finditer(first))
        others = [_VARIES.findall(reason) for reason in self.reasons[1:]]
        for place, span in enumerate(spans):
            if any(parts[place] != span[0] for parts in others):
                return f"{first[: span.start()]}e.g. {first[span.start() :]}"
        return first


def causes(parts: Iterable[Sequence[Verdict]]) -> list[Cause]:
    """Return why the unscored ones of some cases have no reply, the commonest cause first."""
    found: dict[str, list[str]] = {}
    examples: dict[str, str] = {}
    for part in parts:
        for case, why in reasons(part):
            found.setdefault(cause_of(why), []).append(why)
            examples.setdefault(cause_of(why), case)
    made = [Cause(reasons=tuple(whys), example=examples[cause]) for cause, whys in found.items()]
    return sorted(made, key=lambda one: -len(one.reasons))


def reasons(verdicts: Sequence[Verdict]) -> list[tuple[str, str]]:
    """Return each unscored case, by its origin or id, with the reason."""
    table = verdicts_of(verdicts)
    rows = [row for row, state in enumerate(table.states) if state == "unscored"]
    return [
        (table.cases[row].origin or table.cases[row].id, lacking(table.replies, range(*table.starts[row : row + 2]))[1])
        for row in rows
    ]


def cause_of(why: str) -> str:
    """Return a message without what it says of one request.

    >>> cause_of("image 'a.jpg': not found; looked in data/a.jpg")
    'image *: not found; looked in *'
    >>> cause_of("the service answers 429: busy") == cause_of("the service answers 500: busy")
    False
    """
    return _VARIES.sub("*", why)
