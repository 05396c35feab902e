"""The options of the command line, each also an ini key, as one ``Options`` record."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import pytest

from vlgate.options import DEFAULT_MODEL, Options
from vlgate.planning import known_protocols

T = TypeVar("T")
SUITE = "tests_vl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One option: ``--name``, the ini key ``vlgate_name``, and what it takes."""

    name: str
    metavar: str
    help: str
    choices: tuple[str, ...] = ()
    many: bool = False

    @property
    def ini(self) -> str:
        """The key in ``pytest.ini`` or ``pyproject.toml``."""
        return "vlgate_" + self.name.replace("-", "_")

    @property
    def kind(self) -> Literal["args", "string"]:
        """What an ini file's value is: words, or one string."""
        return "args" if self.many else "string"

    @property
    def dest(self) -> str:
        """Where pytest keeps the option."""
        return "vlgate_option_" + self.name.replace("-", "_")


SETTINGS = (
    Setting(
        name="model",
        metavar="NAME[:WEIGHTS]",
        help="the model: a registered name, package.module:callable, or replay:FILE "
        f"(default: the embedded {DEFAULT_MODEL})",
    ),
    Setting(
        name="suite",
        metavar="GLOB[,GLOB]",
        help="the tables to ask, by id (default: all of the data folders; without one, the embedded scenes)",
        many=True,
    ),
    Setting(name="data", metavar="DIR", help="a data folder; repeatable; also VLGATE_DATA", many=True),
    Setting(name="limit", metavar="N", help="at most N cases a table: a seeded sample (default: all)"),
    Setting(
        name="pairs",
        metavar="N|paper",
        help="the questions of a test that is made from scene graphs (default: 1000; paper: as many as CARETS has)",
    ),
    Setting(
        name="items",
        metavar="auto|pair|batch",
        help="what a pytest item is; auto: one a case up to 2,000 cases, batches above (default: auto)",
        choices=("auto", "pair", "batch"),
    ),
    Setting(
        name="thresholds",
        metavar="FILE",
        help="the gates (default: thresholds.toml of the rootdir, else the shipped one)",
    ),
    Setting(name="results", metavar="DIR", help="where the run's files go (default: results/<time>-<model>)"),
    Setting(name="device", metavar="DEVICE", help="auto, cpu, cuda, cuda:1, mps (default: auto)"),
    Setting(name="dtype", metavar="DTYPE", help="the model's numbers: float32, bfloat16, float16 (default: float32)"),
    Setting(
        name="compile",
        metavar="on|off",
        help="the model's blocks through torch.compile (default: off)",
        choices=("on", "off"),
    ),
    Setting(name="batch-size", metavar="auto|N", help="requests a model call; halves when memory runs out"),
    Setting(
        name="ties",
        metavar="strict|half|credit",
        help="what an exact tie counts (default: strict, a tie is a miss)",
        choices=("strict", "half", "credit"),
    ),
    Setting(
        name="missing-images",
        metavar="fail|skip",
        help="what a case without its picture does (default: fail)",
        choices=("fail", "skip"),
    ),
    Setting(
        name="protocol",
        metavar="NAME[,NAME]",
        help="read or score a benchmark otherwise than by default; "
        + "; ".join(f"{name}: {about}" for name, about in known_protocols().items()),
        many=True,
    ),
    Setting(
        name="health",
        metavar="auto|on|off",
        help="look for flaws and text-only shortcuts in the tables; auto: up to 20,000 cases (default: auto)",
        choices=("auto", "on", "off"),
    ),
    Setting(name="seed", metavar="N", help="of every random choice (default: 0)"),
    Setting(name="shrink-budget", metavar="N", help="with -m shrink: requests a search asks at most (default: 200)"),
    Setting(name="shrink-cases", metavar="N", help="with -m shrink: cases a table that are searched (default: 5)"),
)


def add(parser: pytest.Parser) -> None:
    """Add all options and ini keys."""
    group = parser.getgroup("vlgate", "gates for vision-and-language models (vlgate)")
    for setting in SETTINGS:
        group.addoption(
            f"--{setting.name}",
            dest=setting.dest,
            metavar=setting.metavar,
            default=None,
            action="append" if setting.many else "store",
            help=setting.help,
        )
        parser.addini(setting.ini, f"as --{setting.name}", type=setting.kind, default=None)


def read(config: pytest.Config) -> Options:
    """All settings of a session: the command line's first, then the ini file's, then the environment's.

    Raises: pytest.UsageError where a value does not fit; it names the option.
    """
    given = {setting.name: _given(config, setting) for setting in SETTINGS}
    model = str(given["model"] or DEFAULT_MODEL)
    folder = config.invocation_params.dir
    return Options(
        folder=folder,
        model=model,
        suite=_names(given["suite"]),
        protocols=frozenset(_names(given["protocol"])),
        data=tuple((_base(config, "data") / Path(entry).expanduser()).resolve() for entry in _data(given["data"])),
        limit=_parsed(given["limit"], _positive, "--limit", "a whole number above 0", None),
        pairs=_parsed(given["pairs"] or "1000", _pairs, "--pairs", "a whole number above 0, or paper", None),
        items=_choice(given, "items", "auto"),
        thresholds=_thresholds(config, given["thresholds"]),
        results=_base(config, "results") / str(given["results"] or _folder_name(model)),
        device=str(given["device"] or "auto"),
        dtype=str(given["dtype"] or "float32"),
        compiled=_choice(given, "compile", "off") == "on",
        batch_size=_parsed(given["batch-size"], _size, "--batch-size", "auto or a whole number above 0", None),
        ties=_choice(given, "ties", "strict"),
        missing_images=_choice(given, "missing-images", "fail"),
        health=_choice(given, "health", "auto"),
        seed=_parsed(given["seed"], int, "--seed", "a whole number", 0),
        shrink_budget=_parsed(given["shrink-budget"], _positive, "--shrink-budget", "a whole number above 0", 200),
        shrink_cases=_parsed(given["shrink-cases"], _positive, "--shrink-cases", "a whole number above 0", 5),
    )


def _given(config: pytest.Config, setting: Setting) -> Any:
    option = config.getoption(setting.dest, None)
    return option if option is not None else config.getini(setting.ini)


def _base(config: pytest.Config, name: str) -> Path:
    """Where a path is relative to: the folder where the user started, or of the ini file that it stands in."""
    setting = next(setting for setting in SETTINGS if setting.name == name)
    from_ini = config.getoption(setting.dest, None) is None and config.getini(setting.ini)
    return config.inipath.parent if from_ini and config.inipath is not None else config.invocation_params.dir


def asks_for_suite(config: pytest.Config) -> bool:
    """Whether the session is one of the suite, as far as its arguments tell before anything is collected."""
    if any(config.getoption(setting.dest, None) is not None for setting in SETTINGS):
        return True
    places = [arg.split("::")[0] for arg in config.args]
    return any(SUITE in re.split(r"[/\\.]", place) or (Path(place) / SUITE).is_dir() for place in places)


def _list(value: Any) -> list[str]:
    return [] if not value else [value] if isinstance(value, str) else list(value)


def _names(value: Any) -> tuple[str, ...]:
    return tuple(name for entry in _list(value) for name in entry.split(",") if name)


def _data(value: Any) -> list[str]:
    return _list(value) or [entry for entry in os.environ.get("VLGATE_DATA", "").split(os.pathsep) if entry]


def _choice(given: dict[str, Any], name: str, default: str) -> Any:
    choices = next(setting.choices for setting in SETTINGS if setting.name == name)
    value = given[name] or default
    if value not in choices:
        raise pytest.UsageError(f"--{name} {value}: expected one of {', '.join(choices)}")
    return value


def _parsed(value: Any, parse: Callable[[str], T], option: str, expected: str, default: T) -> T:
    if value is None or value == "":
        return default
    try:
        return parse(str(value))
    except ValueError:
        raise pytest.UsageError(f"{option} {value}: expected {expected}") from None


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _size(text: str) -> int | None:
    return None if text == "auto" else _positive(text)


def _pairs(text: str) -> int | None:
    return None if text == "paper" else _positive(text)


def _thresholds(config: pytest.Config, given: Any) -> Path:
    if given:
        return _base(config, "thresholds") / str(given)
    own = config.rootpath / "thresholds.toml"
    package = Path(__file__).parents[1]
    places = (own, package / "thresholds.toml", package.parent / "thresholds.toml")
    return next((place for place in places if place.is_file()), own)


def _folder_name(model: str) -> str:
    time = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    return f"results/{time}-{re.sub(r'[^A-Za-z0-9.-]+', '-', model).strip('-')[:60]}"
