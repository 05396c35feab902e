"""The tools by name: the option that names each, what it is for, and the packages that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from types import MappingProxyType

from vlgate.making.kinds.kind import ToolName


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
            build="vlgate.making.tools.parse_cache:cached_parser",
            packages=("spacy",),
            extra="text",
            default="en_core_web_sm",
            on_device=False,
        ),
        "mlm": ToolEntry(
            option="--mlm",
            metavar="NAME",
            sentence="a masked language model of transformers, which proposes words",
            build="vlgate.models.judges.gap_filler:gap_filler",
            packages=_HF,
            extra="hf",
        ),
        "nli": ToolEntry(
            option="--nli",
            metavar="NAME",
            sentence="a model of natural language inference, which drops foils that the caption entails",
            build="vlgate.models.judges.entailment:entailment",
            packages=_HF,
            extra="hf",
        ),
        "grammar": ToolEntry(
            option="--grammar",
            metavar="NAME",
            sentence="a classifier trained on CoLA, or likelihood:NAME, which drops ungrammatical foils",
            build="vlgate.models.judges.grammaticality:grammaticality",
            packages=_HF,
            extra="hf",
        ),
        "similarity": ToolEntry(
            option="--similarity",
            metavar="NAME",
            sentence="a model of sentence-transformers, which compares names",
            build="vlgate.models.judges.similarity:similarity",
            packages=("torch", "sentence_transformers"),
            extra="text",
        ),
        "lm": ToolEntry(
            option="--lm",
            metavar="NAME",
            sentence="a causal language model of transformers, which measures how plausible texts are",
            build="vlgate.models.judges.plausibility:plausibility",
            packages=_HF,
            extra="hf",
        ),
        "frequency": ToolEntry(
            option="--frequency",
            metavar="FILE",
            sentence="a table of words and their frequencies (default: those of the package wordfreq)",
            build="vlgate.making.tools.word_tables:frequencies",
            packages=("wordfreq",),
            extra="text",
            default="wordfreq",
            on_device=False,
        ),
        "concreteness": ToolEntry(
            option="--concreteness",
            metavar="FILE",
            sentence="a table of words and their concreteness, with tabs between the columns",
            build="vlgate.making.tools.word_tables:concreteness",
            packages=(),
            extra="text",
            on_device=False,
        ),
        "wordnet": ToolEntry(
            option="--wordnet",
            metavar="LEXICON",
            sentence="a lexicon of wn, such as oewn:2024, which knows more words",
            build="vlgate.making.tools.lexicon:lexicon",
            packages=("wn",),
            extra="text",
            on_device=False,
        ),
    }
)
"""The tools by name."""
