"""The tools by name, with their options and packages, each built when a kind first uses it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import ModelLoadError, OptionError
from vlgate.making.kinds.kind import ToolName
from vlgate.perturb.foils.candidates import Entailment, GapFiller, Grammaticality, TextEncoder, TextModel, WordTable
from vlgate.perturb.text.parsed import Parser

# The tools by name: the option that names each, what it is for, and the packages that it needs.


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEntry:
    """A tool: its option, the value that the option takes, what the tool is, and where it is built.

    ``build`` is ``module:function``, called with the option's value and the device, or with the value only if
    ``on_device`` is false. ``packages`` must be importable, and come with ``pip install 'vlgate[extra]'``.
    """

    option: str
    metavar: str
    sentence: str
    build: str
    packages: tuple[str, ...]
    extra: str
    default: str | None = None
    on_device: bool = True

    @property
    def missing(self) -> tuple[str, ...]:
        """The packages that are not installed here; none of them is imported."""
        return tuple(name for name in self.packages if find_spec(name) is None)


_HF = ("torch", "transformers")
TOOLS: Mapping[ToolName, ToolEntry] = MappingProxyType(
    {
        "parser": ToolEntry(
            option="--parser",
            metavar="PIPELINE",
            sentence="the spaCy pipeline for English that parses texts, a name or a folder",
            build="vlgate.making.parse_cache:cached_parser",
            packages=("spacy",),
            extra="text",
            default="en_core_web_sm",
            on_device=False,
        ),
        "mlm": ToolEntry(
            option="--mlm",
            metavar="NAME",
            sentence="a masked language model of transformers, which proposes words",
            build="vlgate.models.text.gap_filler:gap_filler",
            packages=_HF,
            extra="hf",
        ),
        "nli": ToolEntry(
            option="--nli",
            metavar="NAME",
            sentence="a model of natural language inference, which drops foils that the caption entails",
            build="vlgate.models.text.judges:entailment",
            packages=_HF,
            extra="hf",
        ),
        "grammar": ToolEntry(
            option="--grammar",
            metavar="NAME",
            sentence="a classifier trained on CoLA, or likelihood:NAME, which drops ungrammatical foils",
            build="vlgate.models.text.judges:grammaticality",
            packages=_HF,
            extra="hf",
        ),
        "similarity": ToolEntry(
            option="--similarity",
            metavar="NAME",
            sentence="a model of sentence-transformers, which compares names",
            build="vlgate.models.text.judges:similarity",
            packages=("torch", "sentence_transformers"),
            extra="text",
        ),
        "lm": ToolEntry(
            option="--lm",
            metavar="NAME",
            sentence="a causal language model of transformers, which measures how plausible texts are",
            build="vlgate.models.text.judges:plausibility",
            packages=_HF,
            extra="hf",
        ),
        "frequency": ToolEntry(
            option="--frequency",
            metavar="FILE",
            sentence="a table of words and their frequencies (default: those of the package wordfreq)",
            build="vlgate.making.word_tables:frequencies",
            packages=("wordfreq",),
            extra="text",
            default="wordfreq",
            on_device=False,
        ),
        "concreteness": ToolEntry(
            option="--concreteness",
            metavar="FILE",
            sentence="a table of words and their concreteness, with tabs between the columns",
            build="vlgate.making.word_tables:concreteness",
            packages=(),
            extra="text",
            on_device=False,
        ),
        "wordnet": ToolEntry(
            option="--wordnet",
            metavar="LEXICON",
            sentence="a lexicon of wn, such as oewn:2024, which knows more words",
            build="vlgate.making.word_tables:lexicon",
            packages=("wn",),
            extra="text",
            on_device=False,
        ),
    }
)
"""The tools by name."""


# The tools that a kind works with, built from the options when they are first used.


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """The value of each tool's option, the device of its models, and the folder of the cache of parses.

    A tool that is not in ``named`` has its default, or is not there. Without ``cache``, parses are not kept.
    """

    named: Mapping[ToolName, str] = field(default_factory=dict)
    device: str = "cpu"
    cache: Path | None = None

    def value(self, name: ToolName) -> str | None:
        return self.named.get(name) or TOOLS[name].default


class Tools:
    """The tools of one run, each built once."""

    def __init__(self, options: ToolOptions) -> None:
        self.options = options
        self._built: dict[ToolName, Any] = {}

    def has(self, name: ToolName) -> bool:
        return self.options.value(name) is not None

    def require(self, name: ToolName) -> None:
        """Check that a tool is there and its packages are installed; nothing is loaded."""
        entry, value = TOOLS[name], self.options.value(name)
        if value is None:
            raise OptionError(f"{entry.option} is missing; name {entry.sentence}")
        if entry.missing:
            packages = ", ".join(entry.missing)
            raise ModelLoadError(f"{entry.option} {value}: needs {packages}; run pip install 'vlgate[{entry.extra}]'")

    def load(self, names: Iterable[ToolName]) -> None:
        """Build the tools whose option is given, so that a wrong name ends a run before its work and not after it."""
        for name in names:
            if name in self.options.named:
                self._tool(name)

    @property
    def parser(self) -> Parser:
        found: Parser = self._tool("parser")
        return found

    @property
    def mlm(self) -> GapFiller:
        found: GapFiller = self._tool("mlm")
        return found

    @property
    def nli(self) -> Entailment:
        found: Entailment = self._tool("nli")
        return found

    @property
    def grammar(self) -> Grammaticality:
        found: Grammaticality = self._tool("grammar")
        return found

    @property
    def similarity(self) -> TextEncoder:
        """What encodes texts so that their similarity can be measured."""
        found: TextEncoder = self._tool("similarity")
        return found

    @property
    def lm(self) -> TextModel:
        found: TextModel = self._tool("lm")
        return found

    @property
    def frequency(self) -> WordTable:
        found: WordTable = self._tool("frequency")
        return found

    @property
    def concreteness(self) -> WordTable:
        """The concreteness of words, from 1 to 5."""
        found: WordTable = self._tool("concreteness")
        return found

    @property
    def wordnet(self) -> Any:
        """The lexicon of words and their senses, a ``wn.Wordnet``."""
        return self._tool("wordnet")

    def _tool(self, name: ToolName) -> Any:
        if name not in self._built:
            self._built[name] = self._build(name)
        return self._built[name]

    def _build(self, name: ToolName) -> Any:
        self.require(name)
        entry, value = TOOLS[name], self.options.value(name)
        module, _, function = entry.build.partition(":")
        build = getattr(import_module(module), function)
        if name == "parser":
            return build(value, self.options.cache)
        try:
            return build(value, self.options.device) if entry.on_device else build(value)
        except ModelLoadError as error:
            raise ModelLoadError(f"{entry.option} {value}: {error}") from error
