"""What is known of sentences: their words' concreteness and frequency, and what a file says of each."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, log, nan
from pathlib import Path
from statistics import fmean

from vlgate.errors import DataError
from vlgate.perturb.foils.tools import WordTable
from vlgate.sources.reading.json_file import read_text

_REMEDY = "name a file with commas between the cells and the titles text, perhaps image, and those of its numbers"
_KEYS = ("text", "image")
_STOP_WORDS = """
a an the and or but if of at by for with about to from in on off up down over under is are was were be been being am do
does did has have had having who whom which that this these those he she it they him her them his its their i you we me
us my your our not no than then so too very there here as into
"""
_STOP = frozenset(_STOP_WORDS.split())
"""Words that are not averaged (§7.2 removes stop words, and does not say which)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What the linear model may use besides lengths, voices and verbs.

    Attributes:
        concreteness: the ratings of words, from 1 to 5; None without them.
        frequency: the counts of words; None without them.
        given: numbers of sentences by name, by (image, text), or by ("", text) for any image.
        names: the names of these numbers.
    """

    concreteness: WordTable | None = None
    frequency: WordTable | None = None
    given: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict, repr=False)
    names: tuple[str, ...] = ()

    @property
    def lacking(self) -> tuple[str, ...]:
        """Sentences about what the linear model leaves out."""
        found = [
            f"linear model: without {name}; give {option}"
            for name, option, there in (
                ("word concreteness", "--concreteness FILE", self.concreteness is not None),
                ("word frequency", "--frequency FILE", self.frequency is not None),
                (
                    "sizes and grammar",
                    "--features FILE, a CSV with the columns image, text and the numbers",
                    self.names,
                ),
            )
            if not there
        ]
        return tuple(found)

    def of(self, image: str | None, text: str) -> dict[str, float]:
        """Return the numbers of a sentence by name; NaN for a number that is not known."""
        found = {}
        if self.concreteness is not None:
            found["avg_concreteness"] = average(text, self.concreteness)
        if self.frequency is not None:
            found["avg_freq"] = average(text, self.frequency, logarithm=True)
        given = self.given.get((image or "", text), self.given.get(("", text), {}))
        return found | {name: given.get(name, nan) for name in self.names}


def average(text: str, table: WordTable, *, logarithm: bool = False) -> float:
    """Return the mean of a table's numbers over the words of a text except stop words; NaN if it has none.

    Args:
        text: the text.
        table: numbers of words.
        logarithm: take the natural logarithms of the numbers, which are counts; words with a count of 0 are left out.
    """
    words = [word for word in map(_word, text.split()) if word and word not in _STOP]
    values = [value for value in map(table.value, words) if value is not None and (value > 0 or not logarithm)]
    return fmean(map(log, values) if logarithm else values) if values else nan


def read_features(file: Path) -> tuple[dict[tuple[str, str], dict[str, float]], tuple[str, ...]]:
    """Read numbers of sentences from a file with commas between its cells.

    The first line has the titles: ``text``, ``image`` if the numbers depend on it, and a name for each number.

    Returns: the numbers by image and text, and their names.
    Raises: DataError, which names the file and line, if it is not such a file.
    """
    rows = csv.reader(read_text(file, _REMEDY).splitlines())
    titles = next(rows, [])
    names = tuple(title for title in titles if title not in _KEYS)
    if "text" not in titles or not names or len(set(titles)) < len(titles):
        raise DataError(file, None, f"has the titles {', '.join(titles)[:60]!r}", _REMEDY)
    found: dict[tuple[str, str], dict[str, float]] = {}
    for number, cells in enumerate(rows, 2):
        row = _named(file, number, titles, cells)
        found[row.get("image", ""), row["text"]] = {name: _number(file, number, name, row[name]) for name in names}
    return found, names


def _named(file: Path, number: int, titles: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    if len(cells) != len(titles):
        raise DataError(file, f"on line {number}", f"has {len(cells)} cells, expected {len(titles)}", _REMEDY)
    return dict(zip(titles, cells, strict=True))


def _number(file: Path, line: int, name: str, text: str) -> float:
    try:
        value = float(text) if text.strip() else nan
    except ValueError:
        value = float("inf")
    if isfinite(value) or not text.strip():
        return value
    raise DataError(file, f"on line {line}", f"{name}={text[:20]!r}, expected a number", _REMEDY)


def _word(text: str) -> str:
    return text.lower().strip(".,;:!?\"'()")
