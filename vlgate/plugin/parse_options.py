"""The options: declared to pytest, which of them the user typed, and all settings read into one Options record."""

import argparse
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import pytest

from vlgate.asking.cache.folder import default_folder, file_in_the_way
from vlgate.audit.label_fixes import place_of
from vlgate.errors import UnknownNameError, VlgateError, path_of, program
from vlgate.probes.controls.registry import BY_DEFAULT, DEFAULT_LIMIT, LIMIT, chosen
from vlgate.probes.shrink import FAMILIES
from vlgate.record.options import DEFAULT_MODEL, FIRST, SETTINGS, Options, Setting, baseline_of, in_ci, respelled


def add(parser: pytest.Parser) -> None:
    group = parser.getgroup("vlgate", "gates for vision-and-language models (vlgate)")
    for setting in SETTINGS.values():
        about = f"{setting.help} (default: {setting.default})"
        if setting.flag:
            group.addoption(f"--{setting.name}", dest=setting.dest, default=None, action="store_true", help=about)
            opposite = f"The opposite of --{setting.name}."
            group.addoption(f"--no-{setting.name}", dest=setting.dest, action="store_false", help=opposite)
        else:
            action = "append" if setting.many else "store"
            group.addoption(
                f"--{setting.name}", dest=setting.dest, metavar=setting.metavar, default=None, action=action, help=about
            )
        if setting.lasting:
            parser.addini(setting.ini, f"The same as --{setting.name}.", type=setting.kind, default=None)


# What the user typed, and ``--data DIR`` joined to ``--data=DIR``, so that it is not taken for a test path.
#
# pytest determines the rootdir and the ini file before it loads plugins. At that time it does not know ``--data``, and
# an existing ``DIR`` after it looks like a path to collect from: the rootdir becomes an ancestor of it, ``testpaths``
# is ignored, and the user's other tests run instead of the suite. This does not happen with ``--data=DIR``, so a
# session that was started with a space is started again with an equals sign.

AGAIN = pytest.StashKey[bool]()
"""Whether the session was started again with joined arguments, and this configuration has no session of its own."""
LISTS = MappingProxyType(
    {"help": "--help", "version": "--version", "markers": "--markers", "showfixtures": "--fixtures"}
    | {"show_fixtures_per_test": "--fixtures-per-test", "collectonly": "--collect-only"}
)
"""The options that list something instead of running a test, by the name that pytest stores them under."""


def spelled(parser: pytest.Parser, args: Sequence[str]) -> list[str]:
    known = [f"--{no}{one.name}" for one in SETTINGS.values() for no in (("", "no-") if one.flag else ("",))]
    known += [] if parser.parse_known_and_unknown_args(["-n0"])[1] else ["-n"]  # xdist's
    try:
        return respelled(args, parser.parse_known_and_unknown_args(args)[1], known)
    except VlgateError as error:
        raise pytest.UsageError(str(error)) from None


def typed(config: pytest.Config) -> argparse.Namespace:
    parser = config._parser  # noqa: SLF001  # what pytest calls
    return parser.parse_known_args(spelled(parser, [*map(str, config.invocation_params.args)]))


def ours(options: argparse.Namespace) -> list[str]:
    words = []
    for setting in SETTINGS.values():
        value = getattr(options, setting.dest, None)
        if setting.flag:
            words += [] if value is None else [f"--{'' if value else 'no-'}{setting.name}"]
        else:
            values = value if isinstance(value, list) else [] if value is None else [value]
            words += [f"--{setting.name}={one}" for one in values]
    return words


def joined(args: Sequence[str], folder: Path) -> list[str]:
    """Return the arguments with ``--option=value`` for each of our options whose value is, or will be, a path."""
    # The folder of results counts as a path: it is made while the session starts, before the workers of xdist do
    ours = {f"--{setting.name}" for setting in SETTINGS.values() if not setting.flag}
    words: list[str] = []
    for arg in args:
        there = os.path.exists(folder / arg)  # noqa: PTH110  # Path.exists raises for a long text
        if words and words[-1] in ours and (words[-1] == "--results" or there):
            words[-1] = f"{words[-1]}={arg}"
        else:
            words.append(arg)
    return words


def start_again(config: pytest.Config) -> int | pytest.ExitCode | None:
    # PYTEST_ADDOPTS is joined too, and not restored, because the workers of xdist read it again
    folder = config.invocation_params.dir
    given, added = list(config.invocation_params.args), shlex.split(os.environ.get("PYTEST_ADDOPTS", ""))
    args, more = joined(given, folder), joined(added, folder)
    if (args, more) == (given, added):
        return None
    os.environ["PYTEST_ADDOPTS"] = shlex.join(more)
    config.stash[AGAIN] = True
    return pytest.main(args, plugins=config.invocation_params.plugins)


def controls_of(named: Sequence[str], *, model: str, scenes: bool) -> tuple[str, ...]:
    if named:
        return chosen(named)
    return BY_DEFAULT if scenes and model == DEFAULT_MODEL else ()


SUITE = "tests_vl"
_PATHS = frozenset({"data", "disputes"})
"""The options that can be repeated and take one value each; the others take names with commas between them."""


def read(config: pytest.Config) -> Options:
    try:
        return _read(config)
    except VlgateError as error:
        raise pytest.UsageError(str(error)) from None


def _read(config: pytest.Config) -> Options:
    given = {name: _given(config, setting) for name, setting in SETTINGS.items()}
    controls, model, data = _names(given["controls"]), str(given["model"] or DEFAULT_MODEL), _data(given["data"])
    most = LIMIT if controls else DEFAULT_LIMIT
    edits = _names(given["shrink_edits"])
    for name in edits:
        if name not in FAMILIES:
            raise UnknownNameError("kind of edit in --shrink-edits", name, FAMILIES)
    asked = controls_of(controls, model=model, scenes=not _data(given["data"]) and not given["shard"])
    if not asked and config.getoption("--controls-limit", None):
        problem = "no control is asked; name some with --controls, or leave this out"
        raise pytest.UsageError(f"--controls-limit={given['controls_limit']}: {problem}")
    dependent: dict[str, Any] = {  # on the place of the ini file, on the environment, or on each other
        "folder": config.invocation_params.dir,
        "model": model,
        "protocols": frozenset(_names(given["protocols"])),
        "data": tuple(path_of(entry, _base(config, "data"), "--data").resolve() for entry in data),
        "disputes": tuple(place_of(entry, _base(config, "disputes")) for entry in _entries(given["disputes"])),
        "thresholds": _thresholds(config, given["thresholds"], model, scenes=not data),
        "baseline": _baseline(config, given["baseline"]),
        "results": _results(config, given["results"], model),
        "cache": _cache(config, given["cache"]),
        "cache_named": bool(given["cache"] or os.environ.get("VLGATE_CACHE")),
        "controls": asked,
        "controls_named": bool(controls),
        "controls_limit": _value(SETTINGS["controls_limit"], given["controls_limit"], most),
        "shrink_edits": tuple(family for family in FAMILIES if not edits or family in edits),
        "require_gates": in_ci() if given["require_gates"] is None else given["require_gates"],
    }
    rest = [field for field in fields(Options) if field.name not in dependent]
    return Options(**dependent, **{one.name: _value(SETTINGS[one.name], given[one.name], one.default) for one in rest})


def _value(setting: Setting, given: Any, default: Any) -> Any:
    if given is None or setting.flag:
        return default if given is None else given
    if setting.many:
        return _names(given)
    parse, expected = setting.parse
    wrong = pytest.UsageError(f"--{setting.name}={given}: expected {expected}")
    if setting.choices and given not in setting.choices:
        raise wrong
    try:
        return parse(str(given))
    except ValueError:
        raise wrong from None


def _baseline(config: pytest.Config, given: Any) -> Path | Literal["first"] | None:
    from_ini = config.getoption(SETTINGS["baseline"].dest, None) is None
    if given == FIRST and from_ini:
        problem = f"vlgate_baseline = {FIRST}: no run would ever be compared"
        remedy = f"write --baseline={FIRST} on the command line, or ./{FIRST} for a folder of this name"
        raise pytest.UsageError(f"{problem}; {remedy}")
    return baseline_of(str(given), _base(config, "baseline")) if given else None


def _given(config: pytest.Config, setting: Setting) -> Any:
    option = config.getoption(setting.dest, None)
    if option is not None or not setting.lasting:
        commas = setting.many and setting.name not in _PATHS
        parts = [part for entry in _entries(option) for part in (_between_commas(entry) if commas else [entry])]
        _refuse_blank(f"--{setting.name}", option, parts, setting)
        return option
    try:
        given = config.getini(setting.ini)
    except (ValueError, pytest.UsageError) as error:
        raise pytest.UsageError(f"{setting.ini} in the ini file: {error}; expected true or false") from None
    _refuse_blank(f"{setting.ini} in the ini file", given, _entries(given), setting)
    return given


def _entries(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _between_commas(entry: str) -> list[str]:
    parts = entry.split(",")
    return parts if parts[-1].strip() else parts[:-1] or parts


def _refuse_blank(named: str, value: Any, parts: list[str], setting: Setting) -> None:
    # An empty value is a variable of the shell that is not set: the run would judge something else
    if value == [] or not all(part.replace(",", " ").split() for part in parts):
        given = next((entry for entry in _entries(value) if not entry.strip()), ",".join(_entries(value)))
        raise pytest.UsageError(
            f"{named}={given}: expected {setting.metavar}, but a value is empty; is a variable not set? "
            f"Leave the option out for its default ({setting.default})"
        )


def _variable(name: str, expected: str) -> str:
    value = os.environ.get(name)
    if value is not None and not value.replace(os.pathsep, " ").split():
        raise pytest.UsageError(f"the variable {name} is empty: expected {expected}; unset it, or give it a value")
    return value or ""


def _base(config: pytest.Config, name: str) -> Path:
    setting = SETTINGS[name]
    from_ini = config.getoption(setting.dest, None) is None and config.getini(setting.ini)
    return config.inipath.parent if from_ini and config.inipath is not None else config.invocation_params.dir


def requires_gates(config: pytest.Config) -> bool | None:
    required = _given(config, SETTINGS["require_gates"])
    return None if required is None else bool(required)


def asks_for_suite(config: pytest.Config) -> bool:
    if any(config.getoption(setting.dest, None) is not None for setting in SETTINGS.values()):
        return True
    return names_suite(config)


def names_suite(config: pytest.Config) -> bool:
    args = config.args or config.known_args_namespace.file_or_dir or config.getini("testpaths")  # none with --help
    paths = [arg.split("::")[0] for arg in args]
    there = (os.path.isdir(Path(path) / SUITE) for path in paths)  # noqa: PTH112  # as in ``joined``
    return any(SUITE in re.split(r"[/\\.]", path) for path in paths) or any(there)


def suite_elsewhere(config: pytest.Config) -> str:
    """Return the command that runs the suite of the package, if its folder was named and is not here; else empty."""
    named = [arg for arg in config.args if re.match(rf"{SUITE}\b", arg)]
    if not named or config.option.pyargs or (config.invocation_params.dir / SUITE).exists():
        return ""
    args = map(str, config.invocation_params.args)
    words = [re.sub(r"\.py\b|/$", "", arg).replace("/", ".") if arg in named else arg for arg in args]
    return f"{program('pytest')} {shlex.join(['--pyargs', *words])}"


def _names(value: Any) -> tuple[str, ...]:
    return tuple(name for entry in _entries(value) for part in entry.split(",") if (name := part.strip()))


def _data(value: Any) -> list[str]:
    return _entries(value) or [entry for entry in _variable("VLGATE_DATA", "DIR").split(os.pathsep) if entry.strip()]


def _thresholds(config: pytest.Config, given: Any, model: str, *, scenes: bool) -> Path | None:
    if given:
        return path_of(str(given), _base(config, "thresholds"), "--thresholds")
    package = Path(__file__).parents[1]
    shipped = (package / "thresholds.toml", package.parent / "thresholds.toml") if scenes else ()
    own = (config.invocation_params.dir / "thresholds.toml", config.rootpath / "thresholds.toml")
    # A folder, or a link to no file, is not passed over for another file: reading it is an error
    file = next((file for file in own if os.path.lexists(file)), None)
    file = file or next((file for file in shipped if file.is_file()), None)
    # The shipped numbers are those of the default model; another embedded model may have a file of its own
    of_models = {own.stem: own for own in (package / "fixtures" / "checkpoints").glob("*.toml")}
    return of_models.get(model, file) if file and file.resolve() in map(Path.resolve, shipped) else file


def _results(config: pytest.Config, given: Any, model: str) -> Path:
    base = _base(config, "results")
    if given:
        return path_of(str(given), base, "--results")
    name = f"results/{time_name()}-{re.sub(r'[^A-Za-z0-9.-]+', '-', model).strip('-')[:60]}"
    number, folder = 2, base / name
    while folder.exists():  # the folder of a run that started in the same second
        number, folder = number + 1, base / f"{name}-{number}"
    return folder


def _cache(config: pytest.Config, given: Any) -> Path | None:
    option, named, base = "--cache", str(given or ""), _base(config, "cache")
    if not named:
        option, named, base = "VLGATE_CACHE", _variable("VLGATE_CACHE", "DIR or off"), Path.cwd()
    if named in {"", "off"}:
        return None if named else default_folder()
    folder = path_of(named, base, option)
    file = file_in_the_way(folder)
    if file is not None:
        raise pytest.UsageError(f"{option}={named}: {file} is a file, not a folder; name a folder, or off")
    return folder.resolve()


def time_name() -> str:
    return datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
