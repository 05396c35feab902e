"""The options of a run: each is declared once, as a field of ``Options``."""

# ruff: noqa: RUF009  # the functions that are called in the fields of Options return fields

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from vlgate.asking.cache.folder import DEFAULT_SIZE, LEAST_LIMIT, parsed_size, shown_size
from vlgate.metrics.variants import VARIANTS
from vlgate.probes.controls.registry import DEFAULT_LIMIT, LIMIT, known_controls
from vlgate.probes.shrink.families import FAMILIES, Family
from vlgate.sources.registry import PROTOCOLS
from vlgate.types import Ties

DEFAULT_MODEL = "tiny-lxmert"
DEFAULT_BATCH = 64
FIRST: Literal["first"] = "first"
"""What ``--baseline`` says of a run that no earlier one is there for: its gates on a comparison are not run."""
Parser = tuple[Callable[[str], Any], str]
"""What makes a value of a text, or raises ValueError, and the words for what it expects."""
_LONGEST_CALL = 1e6  # seconds, 11 days


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How users give an option: ``--name``, or the ini key ``vlgate_name``."""

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
        """The type of the value in an ini file: several words, one string, or true or false."""
        return "args" if self.many else "bool" if self.flag else "string"

    @property
    def dest(self) -> str:
        return "vlgate_option_" + self.name.replace("-", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One part of a run: ``number`` counts from 1 to ``of``."""

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
    """Return what ``--protocol`` accepts, with a description: ways to read a benchmark, and variants of metrics."""
    return {**PROTOCOLS, **{name: variant.about for name, variant in VARIANTS.items()}}


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _seconds(text: str) -> float | None:
    if text == "none":
        return None
    number = float(text)
    if not 0 < number <= _LONGEST_CALL:  # also if it is NaN
        raise ValueError(text)
    return number


def _listed(descriptions: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {about}" for name, about in descriptions.items())


_COUNT: Parser = (_positive, "a whole number above 0")


def _setting(metavar: str, help_text: str, shown: str, **more: Any) -> dict[str, Setting]:
    return {"setting": Setting(metavar=metavar, help=help_text, default=shown, **more)}


def _option(default: Any, metavar: str, help_text: str, *, shown: str = "", **more: Any) -> Any:
    words = shown or str("none" if default in {None, "", frozenset()} else default)
    return field(default=default, metadata=_setting(metavar, help_text, words, **more))


def _choice(choices: str, help_text: str, **more: Any) -> Any:
    values = tuple(choices.split("|"))
    parse = more.pop("parse", (str, f"one of {', '.join(values)}"))
    return _option(more.pop("default", values[0]), choices, help_text, choices=values, parse=parse, **more)


def _flag(help_text: str, *, shown: str = "off") -> Any:
    return _option(False, "", help_text, shown=shown, flag=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of one run; ``folder`` is the one that the user started it in."""

    folder: Path
    model: str = _option(
        DEFAULT_MODEL,
        "NAME[:WEIGHTS]",
        "The model to test: a registered name, package.module:callable, or replay:FILE.",
    )
    suite: tuple[str, ...] = _option(
        (),
        "GLOB[,GLOB]",
        "The ids of the tasks to run, as patterns.",
        shown="all tasks of the data folders; without a data folder, the embedded scenes",
        many=True,
    )
    data: tuple[Path, ...] = _option(
        (),
        "DIR",
        "A data folder; the option can be repeated.",
        shown="the folders of the variable VLGATE_DATA",
        many=True,
    )
    disputes: tuple[Path, ...] = _option(
        (),
        "FILE|known",
        "A file of cases whose labels are disputed, which the run corrects or leaves out, and counts; known: the "
        "file of reported errors that comes with vlgate. The option can be repeated.",
        shown="no file",
        many=True,
    )
    limit: int | None = _option(
        None, "N", "The largest number of cases per task, drawn by the seed.", shown="all cases", parse=_COUNT
    )
    quick: bool = _flag(
        "A first look: at most 30 cases per task, drawn by the seed so that small slices stay; no gate can pass."
    )
    pairs: int | None = _option(
        1000,
        "N|paper",
        "The number of original questions per task that is made from scene graphs; paper means as many as CARETS has.",
        parse=(lambda text: None if text == "paper" else _positive(text), "a whole number above 0, or paper"),
    )
    items: Literal["auto", "pair", "batch"] = _choice(
        "auto|pair|batch",
        "The cases of one pytest item: one with pair, many with batch; auto means pair for up to 2,000 cases, "
        "otherwise batch.",
    )
    thresholds: Path | None = field(
        metadata=_setting(
            "FILE",
            "The file with the gates.",
            "thresholds.toml in the start folder or the rootdir; without a data folder also the shipped one",
        )
    )
    baseline: Path | Literal["first"] | None = _option(
        None,
        "DIR|first",
        "The results folder of an earlier run, to compare with case by case; by default there is none. With "
        "first, gates on a comparison are not run, because there is no earlier run yet; a folder of that name is "
        "./first.",
        shown="no comparison",
    )
    results: Path = field(metadata=_setting("DIR", "The folder for the run's files.", "results/<time>-<model>"))
    overwrite: bool = _flag("Replace the files of an earlier run in the results folder, which is refused otherwise.")
    device: str = _option("auto", "DEVICE", "The device that the model runs on: auto, cpu, cuda, cuda:1 or mps.")
    dtype: str = _option("float32", "DTYPE", "The floating-point type of the model: float32, bfloat16 or float16.")
    compiled: bool = _choice(
        "on|off",
        "Whether torch.compile compiles the blocks of the model.",
        shown="off",
        default=False,
        parse=(lambda text: text == "on", "one of on, off"),
    )
    batch_size: int | None = _option(
        None,
        "auto|N",
        "The largest number of requests per call of the model, which is halved whenever memory runs out; "
        f"auto means {DEFAULT_BATCH}, or less if memory ran out in an earlier run of the model on this device.",
        shown="auto",
        parse=(lambda text: None if text == "auto" else _positive(text), "auto or a whole number above 0"),
    )
    call_timeout: float | None = _option(
        None,
        "SECONDS",
        "The longest time that one call of the model may take; if one takes longer, the process says which and "
        "ends with status 1.",
        parse=(_seconds, "none, or seconds above 0 and at most 1e6"),
    )
    ray: str = _option(
        "",
        "auto|HOST:PORT",
        "The Ray cluster whose actors score the run, one on each GPU or, without GPUs, one on each node; auto "
        "means the cluster that this machine belongs to.",
        parse=(lambda text: "" if text == "none" else text, ""),
    )
    ask: Literal["apart", "together"] = _choice(
        "apart|together",
        "How cases of several images are asked: apart asks about one image at a time, together about all of them "
        "in one prompt, in two orders, which needs a model with a method compare().",
    )
    ties: Ties = _choice("strict|half|credit", "What an exact tie of two scores counts: strict 0, half 1/2, credit 1.")
    missing_images: Literal["fail", "skip"] = _choice(
        "fail|skip", "Whether a case whose image is missing fails its test or is skipped."
    )
    health: Literal["auto", "on", "off"] = _choice(
        "auto|on|off",
        "Whether to look for flaws and text-only shortcuts in the tasks; auto means on for up to 20,000 cases.",
    )
    seed: int = _option(0, "N", "The seed of all random choices.", parse=(int, "a whole number"))
    explain: int = _option(
        0,
        "N",
        "The number of missed cases per task to explain, the worst first, by asking about 150 changed copies of each.",
        parse=(_natural, "a whole number, 0 for none"),
    )
    controls: tuple[str, ...] = _option(
        (),
        "NAME[,NAME]",
        "The controls to ask after the cases: " + _listed(known_controls()) + "; or none.",
        shown="look for the embedded model on the embedded scenes, otherwise none",
        many=True,
    )
    controls_limit: int = _option(
        LIMIT,
        "N",
        "The largest number of cases per task that each control is asked about, drawn by the seed.",
        shown=f"{LIMIT}; {DEFAULT_LIMIT} if --controls is not given",
        parse=_COUNT,
    )
    controls_named: bool = False
    shrink_budget: int = _option(200, "N", "The largest number of requests per search, with -m shrink.", parse=_COUNT)
    shrink_cases: int = _option(5, "N", "The number of cases per task to search, with -m shrink.", parse=_COUNT)
    shrink_edits: tuple[Family, ...] = _option(
        FAMILIES,
        "NAME[,NAME]",
        "What -m shrink changes: scene (a thing of a drawn scene), region (a part of a photograph that the texts "
        "do not name), image (all of it), wording (a text).",
        shown="scene,region,image,wording",
        many=True,
    )
    require_gates: bool = _flag(
        "Whether a run without a judged gate ends with status 1.",
        shown="on if the environment variable CI is set, otherwise off",
    )
    protocols: frozenset[str] = _option(
        frozenset(),
        "NAME[,NAME]",
        "Other ways to read or score a benchmark: " + _listed(known_protocols()) + ".",
        many=True,
    )
    log_to: tuple[str, ...] = _option(
        (),
        "wandb|mlflow",
        "The trackers of experiments that get the figures, gates and report.html of the run.",
        shown="no tracker",
        many=True,
    )
    # Without an ini key: a run whose ini file names a part would never judge its gates.
    shard: Shard | None = _option(
        None,
        "I/N",
        "The part of the run that this process asks, such as 2/4; no gate is judged before vlgate merge joins the "
        "N parts.",
        shown="the whole run, which judges its gates itself",
        lasting=False,
        parse=(read_shard, "a part I/N, with I from 1 to N, such as 2/4"),
    )
    cache: Path | None = _option(
        None,
        "DIR|off",
        "The folder in which the model's replies are kept, so that no later run asks for them again.",
        shown="the variable VLGATE_CACHE, or a folder in the user's cache",
    )
    cache_named: bool = False
    cache_limit: int = _option(
        DEFAULT_SIZE,
        "SIZE",
        "The most space that the cache may take, such as 500MB; the oldest replies make room for new ones.",
        shown="10GiB",
        parse=(parsed_size, f"a size of at least {shown_size(LEAST_LIMIT)}, such as 500MB or 10GiB"),
    )


_NAMES = {"compiled": "compile", "protocols": "protocol"}
SETTINGS: Mapping[str, Setting] = {
    one.name: replace(one.metadata["setting"], name=_NAMES.get(one.name, one.name.replace("_", "-")))
    for one in fields(Options)
    if one.metadata
}
"""How users give each option, by the field of ``Options``."""


def in_ci() -> bool:
    """Return whether the environment says that this is a job of CI, in which a run must judge a gate."""
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


def baseline_of(given: str, folder: Path) -> Path | Literal["first"]:
    """Return the earlier run that ``--baseline`` names, or ``FIRST``; ``folder`` is what a path is relative to."""
    return FIRST if given == FIRST else folder / given


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
