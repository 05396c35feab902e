"""Tables of words and numbers: frequencies, and concreteness ratings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vlgate.errors import DataError
from vlgate.perturb.foils.tools import WordTable
from vlgate.sources.reading.json_file import read_text

_REMEDY = "name a file with one word and its number on each line, with a tab between them, below a line of titles"
_FREQUENCIES = ("subtlex", "frequency", "freq", "count")
_CONCRETENESS = ("conc.m", "concreteness", "conc")


class FileTable:
    """A table that was read from a file."""

    def __init__(self, values: Mapping[str, float]) -> None:
        """Keep the numbers by word in lower case."""
        self._values = values

    def value(self, word: str) -> float | None:
        """Return the number of a word in lower case, or None if the table does not have it."""
        return self._values.get(word)


class Wordfreq:
    """The frequency of English words in the package wordfreq, as Zipf values from 0 to 8 (van Heuven et al. 2014)."""

    def value(self, word: str) -> float | None:
        """Return the Zipf value of a word in lower case, or None if the package does not know it."""
        from wordfreq import zipf_frequency

        return float(zipf_frequency(word, "en")) or None


def frequencies(name: str) -> WordTable:
    """Return the frequencies of wordfreq, or of a file whose second column they are, or the column ``SUBTLEX``.

    Raises: DataError, which names the file and line, if it is not such a file.
    """
    return Wordfreq() if name == "wordfreq" else FileTable(_read(Path(name), _FREQUENCIES))


def concreteness(name: str) -> WordTable:
    """Return the ratings of a file such as that of Brysbaert et al. 2014, the column ``Conc.M`` or the second one.

    Raises: DataError, which names the file and line, if it is not such a file.
    """
    return FileTable(_read(Path(name), _CONCRETENESS))


def _read(file: Path, titles: tuple[str, ...]) -> dict[str, float]:
    lines = read_text(file, _REMEDY).splitlines()
    first = [title.strip().lower() for title in lines[0].split("\t")]
    column = next((first.index(title) for title in titles if title in first), 1)
    start = 1 if column >= len(first) or not _is_number(first[column]) else 0
    found: dict[str, float] = {}
    for number, line in enumerate(lines[start:], start + 1):
        cells = line.split("\t")
        if len(cells) <= column or not _is_number(cells[column]):
            raise DataError(file, f"on line {number}", f"expected a number in column {column + 1}", _REMEDY)
        found.setdefault(cells[0].strip().lower(), float(cells[column]))
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
