"""What the user gave, on the command line, in the ini file or in the environment, as one ``Options`` record."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest

from vlgate.options import DEFAULT_MODEL, Options
from vlgate.plugin.settings import SETTINGS, Setting

T = TypeVar("T")
SUITE = "tests_vl"


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
