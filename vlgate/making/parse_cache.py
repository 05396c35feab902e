"""A cache of parses on disk, by text and pipeline, so that a second run does not parse again.

The file is an SQLite database in WAL mode: several processes can use it at once, and a process that is killed leaves a
whole database. What is read from it is checked; a row that does not spell its text is parsed again.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from vlgate.errors import OptionError
from vlgate.perturb.text.parsed import Parsed, Parser, Token

FILE = "parses.sqlite"
"""The name of the database in the cache folder."""

_AT_ONCE = 1_000  # texts that are looked up, parsed and stored together
_WAIT = 60.0  # seconds for another process to finish its transaction
_FORM = 1  # of the rows; a change of Parsed or Token needs another number
_TABLE = "CREATE TABLE IF NOT EXISTS parses (pipeline TEXT, text TEXT, parse TEXT, PRIMARY KEY (pipeline, text))"


def cache_folder() -> Path:
    base = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "vlgate"


def cached_parser(name: str, folder: Path | None) -> Parser:
    from vlgate.perturb.text.spacy_parser import spacy_parser

    parser = spacy_parser(name)
    return parser if folder is None else CachedParser(parser, folder)


class CachedParser:
    def __init__(self, parser: Parser, folder: Path) -> None:
        self.name = parser.name
        self.file = folder / FILE
        self._parser = parser
        self._key = f"{_FORM} {parser.name}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(self.file, timeout=_WAIT, isolation_level=None)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.execute(_TABLE)
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from None

    def parse(self, texts: Sequence[str]) -> Iterator[Parsed]:
        """Yield the texts parsed, in their order; what the cache lacks is parsed in batches and kept."""
        rest = iter(texts)
        while part := list(islice(rest, _AT_ONCE)):
            found = self._found(part)
            missing = [text for text in dict.fromkeys(part) if text not in found]
            if missing:
                fresh = dict(zip(missing, self._parser.parse(missing), strict=True))
                self._keep(fresh.values())
                found |= fresh
            yield from (found[text] for text in part)

    def _found(self, texts: Sequence[str]) -> dict[str, Parsed]:
        known = [text for text in dict.fromkeys(texts) if text.isascii() or _encodable(text)]
        query = f"SELECT text, parse FROM parses WHERE pipeline = ? AND text IN ({', '.join('?' * len(known))})"  # noqa: S608  # question marks only
        try:
            rows = self._base.execute(query, [self._key, *known]).fetchall()
        except sqlite3.Error as error:
            raise self._unusable(error) from None
        read = ((text, _decoded(text, row)) for text, row in rows)
        return {text: parsed for text, parsed in read if parsed is not None}

    def _keep(self, parses: Iterable[Parsed]) -> None:
        rows = [(self._key, one.text, _encoded(one)) for one in parses if _encodable(one.text)]
        try:
            self._base.execute("BEGIN IMMEDIATE")
            self._base.executemany("INSERT OR REPLACE INTO parses VALUES (?, ?, ?)", rows)
            self._base.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> OptionError:
        remedy = "remove the file, name another folder, or give --cache none"
        return OptionError(f"--cache {self.file.parent}: {self.file} cannot be used ({error}); {remedy}")


def _encodable(text: str) -> bool:
    """Whether SQLite can hold a text: UTF-8 cannot write half of a surrogate pair."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _encoded(one: Parsed) -> str:
    tokens = [[t.text, t.space, t.lemma, t.tag, t.pos, t.dep, t.head] for t in one.tokens]
    return json.dumps([tokens, one.chunks, one.sentences], ensure_ascii=False, separators=(",", ":"))


def _decoded(text: str, row: object) -> Parsed | None:
    """Return the parse of a row, None if the row is not one of this text."""
    try:
        tokens, chunks, sentences = json.loads(str(row))
        read = tuple(
            Token(text=word, space=space, lemma=lemma, tag=tag, pos=pos, dep=dep, head=int(head))
            for word, space, lemma, tag, pos, dep, head in tokens
        )
        spans = [tuple((int(first), int(end)) for first, end in part) for part in (chunks, sentences)]
    except (ValueError, TypeError):
        return None
    spelt = "".join(f"{token.text}{token.space}" for token in read)
    if (read and spelt != text) or any(not 0 <= token.head < len(read) for token in read):
        return None
    if any(not 0 <= first <= end <= len(read) for part in spans for first, end in part):
        return None
    return Parsed(text=text, tokens=read, chunks=spans[0], sentences=spans[1])
