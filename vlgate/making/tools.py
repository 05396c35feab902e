"""The tools that the kinds use, each built when it is first used: one table of their options, packages and places."""

from __future__ import annotations

import json
import os
import sqlite3
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

from vlgate.errors import ModelLoadError, OptionError
from vlgate.models.checkpoints.device import pick_device
from vlgate.perturb.foils.candidates import Entailment, GapFiller, Grammaticality, TextEncoder, TextModel
from vlgate.perturb.text.parsed import Parsed, Parser, Token

Built = TypeVar("Built")


_ROWS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("tools.toml").read_text(encoding="utf-8")
)


@dataclass(slots=True, kw_only=True)
class Tool(Generic[Built]):
    """An entry of the table: what a tool is, and where it is built; as an attribute of ``Tools``, the tool itself."""

    # ``build`` is ``module:function``, called with the option's value and the device, or with the value only if
    # ``on_device`` is false. ``packages`` must be importable, and come with ``pip install 'vlgate[extra]'``.

    sentence: str
    build: str
    packages: Sequence[str] = ("torch", "transformers")
    extra: str = "hf"
    metavar: str = "NAME"
    default: str | None = None
    on_device: bool = True
    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, tools: Tools | None, owner: type) -> Built:
        return cast(Built, self if tools is None else tools.built(self.name))

    @property
    def option(self) -> str:
        return f"--{self.name}"

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(name for name in self.packages if find_spec(name) is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    named: Mapping[str, str] = field(default_factory=dict)
    device: str = "cpu"
    cache: Path | None = None

    def value(self, name: str) -> str | None:
        return self.named.get(name) or TOOLS[name].default


class Tools:
    parser = Tool[Parser](**_ROWS["parser"])
    mlm = Tool[GapFiller](**_ROWS["mlm"])
    nli = Tool[Entailment](**_ROWS["nli"])
    grammar = Tool[Grammaticality](**_ROWS["grammar"])
    similarity = Tool[TextEncoder](**_ROWS["similarity"])
    lm = Tool[TextModel](**_ROWS["lm"])
    wordnet = Tool[Any](**_ROWS["wordnet"])

    def __init__(self, options: ToolOptions) -> None:
        self.options = options
        self._built: dict[str, Any] = {}

    def has(self, name: str) -> bool:
        return self.options.value(name) is not None

    def require(self, name: str) -> None:
        """Check that a tool is there and its packages are installed; nothing is loaded."""
        entry, value = TOOLS[name], self.options.value(name)
        if value is None:
            raise OptionError(f"{entry.option} is missing; name {entry.sentence}")
        if entry.missing:
            packages = ", ".join(entry.missing)
            raise ModelLoadError(f"{entry.option} {value}: needs {packages}; run pip install 'vlgate[{entry.extra}]'")

    def load(self, names: Iterable[str]) -> None:
        """Build the tools whose option is given, so that a wrong name ends a run before its work and not after it."""
        for name in names:
            if name in self.options.named:
                self.built(name)

    def built(self, name: str) -> Any:
        if name in self._built:
            return self._built[name]
        self.require(name)
        entry, value = TOOLS[name], self.options.value(name)
        module, _, function = entry.build.partition(":")
        build = getattr(import_module(module), function)
        if name == "parser":
            return self._built.setdefault(name, build(value, self.options.cache))
        try:
            self._built[name] = build(value, pick_device(self.options.device)) if entry.on_device else build(value)
        except ModelLoadError as error:
            raise ModelLoadError(f"{entry.option} {value}: {error}") from error
        return self._built[name]


TOOLS: Mapping[str, Tool[Any]] = MappingProxyType(
    {name: tool for name, tool in vars(Tools).items() if isinstance(tool, Tool)}
)


FILE = "parses.sqlite"

_AT_ONCE = 1_000  # texts that are looked up, parsed and stored together
_WAIT = 60.0  # seconds for another process to finish its transaction
_FORM = 2  # of the rows; a change of Parsed or Token needs another number
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
        rows = [(self._key, parse.text, _encoded(parse)) for parse in parses if _encodable(parse.text)]
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


def _encoded(parsed: Parsed) -> str:
    tokens = [[t.text, t.space, t.lemma, t.tag, t.pos, t.dep, t.head] for t in parsed.tokens]
    return json.dumps([tokens, parsed.chunks, parsed.sentences], ensure_ascii=False, separators=(",", ":"))


def _decoded(text: str, row: object) -> Parsed | None:
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
