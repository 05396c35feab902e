"""The tools that a kind works with, built from the options when they are first used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError, OptionError
from vlgate.making.kinds.kind import ToolName
from vlgate.making.tools.catalogue import TOOLS
from vlgate.perturb.foils.tools import Entailment, GapFiller, Grammaticality, TextEncoder, TextModel, WordTable
from vlgate.perturb.parsing.parsed import Parser


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """The value of each tool's option, the device of its models, and the folder of the cache of parses.

    A tool that is not in ``named`` has its default, or is not there. Without ``cache``, parses are not kept.
    """

    named: Mapping[ToolName, str] = field(default_factory=dict)
    device: str = "cpu"
    cache: Path | None = None

    def value(self, name: ToolName) -> str | None:
        """Return the value of a tool's option, None if the tool is not there."""
        return self.named.get(name) or TOOLS[name].default


class Tools:
    """The tools of one run, each built once."""

    def __init__(self, options: ToolOptions) -> None:
        """Keep the options; nothing is loaded."""
        self.options = options
        self._built: dict[ToolName, Any] = {}

    def has(self, name: ToolName) -> bool:
        """Return whether a tool is there: it has a default, or its option is given."""
        return self.options.value(name) is not None

    def require(self, name: ToolName) -> None:
        """Check that a tool is there and its packages are installed; nothing is loaded.

        Raises: OptionError if its option is missing; ModelLoadError, which says what to install, if a package is.
        """
        entry, value = TOOLS[name], self.options.value(name)
        if value is None:
            raise OptionError(f"{entry.option} is missing; name {entry.sentence}")
        if entry.missing:
            packages = ", ".join(entry.missing)
            raise ModelLoadError(f"{entry.option} {value}: needs {packages}; run pip install 'vlgate[{entry.extra}]'")

    def load(self, names: Iterable[ToolName]) -> None:
        """Build the tools whose option is given, so that a wrong name ends a run before its work and not after it.

        Raises: OptionError or ModelLoadError, which names the option, if a tool cannot be built.
        """
        for name in names:
            if name in self.options.named:
                self._tool(name)

    @property
    def parser(self) -> Parser:
        """What parses texts; parses are kept in the cache."""
        found: Parser = self._tool("parser")
        return found

    @property
    def mlm(self) -> GapFiller:
        """What fills gaps."""
        found: GapFiller = self._tool("mlm")
        return found

    @property
    def nli(self) -> Entailment:
        """What says whether a text entails another."""
        found: Entailment = self._tool("nli")
        return found

    @property
    def grammar(self) -> Grammaticality:
        """What says how grammatical a text is."""
        found: Grammaticality = self._tool("grammar")
        return found

    @property
    def similarity(self) -> TextEncoder:
        """What encodes texts so that their similarity can be measured."""
        found: TextEncoder = self._tool("similarity")
        return found

    @property
    def lm(self) -> TextModel:
        """What measures how plausible a text is."""
        found: TextModel = self._tool("lm")
        return found

    @property
    def frequency(self) -> WordTable:
        """The frequency of words."""
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
