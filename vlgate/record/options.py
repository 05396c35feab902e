"""The options of a run: each is declared once, as a field of ``Options``; options.toml has what users read of it."""

# ruff: noqa: RUF009  # the functions that are called in the fields of Options return fields

import os
import shlex
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from vlgate.asking.cache.folder import DEFAULT_SIZE, LEAST_LIMIT, parsed_size, shown_size
from vlgate.errors import OptionError, path_of
from vlgate.metrics.variants import VARIANTS
from vlgate.models.checkpoints.device import dtype_of
from vlgate.probes.controls.registry import DEFAULT_LIMIT, LIMIT, known_controls
from vlgate.probes.shrink import FAMILIES, Family
from vlgate.sources.registry import PROTOCOLS
from vlgate.types import Ties

DEFAULT_MODEL = "tiny-lxmert"
DEFAULT_BATCH = 64
QUICK_CASES = 30  # of each task, the fewest that a gate needs by default
FIRST: Literal["first"] = "first"
"""What ``--baseline`` says of a run that no earlier one is there for: its gates on a comparison are not run."""
Parser = tuple[Callable[[str], Any], str]
"""What makes a value of a text, or raises ValueError, and the words for what it expects."""
_LONGEST_CALL = 1e6  # seconds, 11 days


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    name: str = ""
    metavar: str
    help: str
    default: str = "none"
    choices: tuple[str, ...] = ()
    many: bool = False
    flag: bool = False  # takes no value; --no-name switches it off
    lasting: bool = True  # has an ini key
    parse: Parser = (str, "")

    @property
    def ini(self) -> str:
        return "vlgate_" + self.name.replace("-", "_")

    @property
    def kind(self) -> Literal["args", "string", "bool"]:
        return "args" if self.many else "bool" if self.flag else "string"

    @property
    def dest(self) -> str:
        return "vlgate_option_" + self.name.replace("-", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    number: int
    of: int

    def __str__(self) -> str:
        return f"part {self.number} of {self.of}"


def read_shard(text: str) -> Shard:
    """Read ``I/N``; 1/1 is a part, too, so that a matrix of one job ends as a matrix of several does."""
    number, _, of = text.partition("/")
    shard = Shard(number=int(number), of=int(of))
    if not 1 <= shard.number <= shard.of:
        raise ValueError(text)
    return shard


def known_protocols() -> dict[str, str]:
    return {**PROTOCOLS, **{name: variant.about for name, variant in VARIANTS.items()}}


def _whole(text: str, least: int = 1) -> int:
    number = int(text)
    if number < least:
        raise ValueError(text)
    return number


def _seconds(text: str) -> float | None:
    if text == "none":
        return None
    number = float(text)
    if not 0 < number <= _LONGEST_CALL:  # also if it is NaN
        raise ValueError(text)
    return number


_COUNT: Parser = (_whole, "a whole number above 0")


def _option(default: Any = MISSING, **more: Any) -> Any:
    return field(default=default, metadata={"parse": (str, ""), **more})


def _choice(choices: str, **more: Any) -> Any:
    values = tuple(choices.split("|"))
    parse = more.pop("parse", (str, f"one of {', '.join(values)}"))
    return _option(more.pop("default", values[0]), metavar=choices, choices=values, parse=parse, **more)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    folder: Path
    model: str = _option(DEFAULT_MODEL)
    suite: tuple[str, ...] = _option((), many=True)
    data: tuple[Path, ...] = _option((), many=True)
    disputes: tuple[Path, ...] = _option((), many=True)
    limit: int | None = _option(None, parse=_COUNT)
    quick: bool = _option(False, flag=True)
    pairs: int | None = _option(
        1000, parse=(lambda text: None if text == "paper" else _whole(text), "a whole number above 0, or paper")
    )
    items: Literal["auto", "pair", "batch"] = _choice("auto|pair|batch")
    thresholds: Path | None = _option()
    baseline: Path | Literal["first"] | None = _option(None)
    results: Path = _option()
    overwrite: bool = _option(False, flag=True)
    device: str = _option("auto", parse=(str.lower, ""))
    dtype: str = _option("float32", parse=(dtype_of, ""))
    compiled: bool = _choice("on|off", default=False, parse=(lambda text: text == "on", "one of on, off"))
    batch_size: int | None = _option(
        None, parse=(lambda text: None if text == "auto" else _whole(text), "auto or a whole number above 0")
    )
    call_timeout: float | None = _option(None, parse=(_seconds, "none, or seconds above 0 and at most 1e6"))
    ray: str = _option("", parse=(lambda text: "" if text == "none" else text, ""))
    ask: Literal["apart", "together"] = _choice("apart|together")
    ties: Ties = _choice("strict|half|credit")
    missing_images: Literal["fail", "skip"] = _choice("fail|skip")
    health: Literal["auto", "on", "off"] = _choice("auto|on|off")
    seed: int = _option(0, parse=(int, "a whole number"))
    explain: int = _option(0, parse=(lambda text: _whole(text, 0), "a whole number, 0 for none"))
    controls: tuple[str, ...] = _option((), many=True)
    controls_limit: int = _option(LIMIT, parse=_COUNT)
    controls_named: bool = False
    shrink_budget: int = _option(200, parse=_COUNT)
    shrink_cases: int = _option(5, parse=_COUNT)
    shrink_edits: tuple[Family, ...] = _option(FAMILIES, many=True)
    require_gates: bool = _option(False, flag=True)
    protocols: frozenset[str] = _option(frozenset(), many=True)
    log_to: tuple[str, ...] = _option((), many=True)
    # Without an ini key: a run whose ini file names a part would never judge its gates.
    shard: Shard | None = _option(
        None, lasting=False, parse=(read_shard, "a part I/N, with I from 1 to N, such as 2/4")
    )
    cache: Path | None = _option(None)
    cache_named: bool = False
    cache_limit: int = _option(
        DEFAULT_SIZE, parse=(parsed_size, f"a size of at least {shown_size(LEAST_LIMIT)}, such as 500MB or 10GiB")
    )


_WORDS = tomllib.loads((Path(__file__).parent / "options.toml").read_text(encoding="utf-8"))


def respelled(words: Sequence[str], unknown: Collection[str], known: Collection[str]) -> list[str]:
    """Write unknown options with hyphens; say what to write for one of another tool, or one that is nearly right."""
    written = list(words)
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        plain = name.lower().replace("_", "-")
        if word not in unknown or plain in known or not plain.startswith("--"):
            written[index] = plain + equals + value if word in unknown and plain in known else word
            continue
        near = [one + equals + value for one in get_close_matches(plain, sorted(known), cutoff=0.8)]
        value = value or next((other for other in words[index + 1 : index + 2] if not other.startswith("-")), "VALUE")
        parts = {"value": value, "weights": value.rpartition("pretrained=")[2].partition(",")[0]}
        parts = {part: shlex.quote(text) for part, text in parts.items()}
        others = _WORDS["other_names"].get(plain[2:], {}).items()
        answers = [text.format(**parts) for needed, text in others if set(known).issuperset(needed.split())] + near
        if answers:
            raise OptionError(f"unknown option {name}; for vlgate, write {answers[0]}")
    return written


def _settings() -> dict[str, Setting]:
    listed = {
        name: "; ".join(f"{one}: {about}" for one, about in known.items())
        for name, known in (("controls", known_controls()), ("protocols", known_protocols()))
    }
    names = {"compiled": "compile", "protocols": "protocol"}
    settings = {}
    for one in fields(Options):
        if not one.metadata:
            continue
        own, default = _WORDS[one.name], "none" if one.default in {None, "", frozenset()} else str(one.default)
        filled = {
            key: text.format(**listed, batch=DEFAULT_BATCH, limit=LIMIT, default_limit=DEFAULT_LIMIT)
            for key, text in {"default": "off" if one.metadata.get("flag") else default, **own}.items()
        }
        name = names.get(one.name, one.name.replace("_", "-"))
        settings[one.name] = Setting(**{"name": name, "metavar": "", **one.metadata, **filled})
    return settings


SETTINGS: Mapping[str, Setting] = _settings()
"""How users give each option, by the field of ``Options``."""


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


def baseline_of(given: str, folder: Path) -> Path | Literal["first"]:
    return FIRST if given == FIRST else path_of(given, folder, "--baseline")


def meant_folder(options: Options) -> str:
    """Return a note if ``--baseline=first`` may have meant the folder of another run; empty if it did not."""
    there = options.folder / FIRST
    if options.baseline != FIRST or there == options.results or not (there / "metrics.json").exists():
        return ""
    return f"--baseline=first compares with no run; write --baseline=./first to compare with the run in {there}"


def options_from(content: Mapping[str, Any]) -> Options:
    if {one.name for one in fields(Options)} != set(content):
        raise ValueError("expected the options of this version")
    values: dict[str, Any] = dict(content)
    for name, value in content.items():
        if isinstance(value, list):
            values[name] = tuple(map(Path, value)) if name in {"data", "disputes"} else tuple(value)
    for name in ("folder", "results", "thresholds", "baseline", "cache"):
        if content[name] is not None and (name, content[name]) != ("baseline", FIRST):
            values[name] = Path(content[name])
    values["protocols"] = frozenset(content["protocols"])
    values["shard"] = content["shard"] and Shard(**content["shard"])
    return Options(**values)
