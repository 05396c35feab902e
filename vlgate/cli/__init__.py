"""The command ``vlgate``: one module per command, which parses its options and hands over to a room.

It never computes, decides or formats a figure itself; a user's error ends with status 4 and one message.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from fnmatch import fnmatchcase
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from textwrap import fill
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from vlgate import __version__
from vlgate.errors import OptionError, UnknownNameError, VlgateError, escaped, path_of, printable, shown

if TYPE_CHECKING:
    from vlgate.record.options import Options

# Standard output of a command: its reader may leave early, and no text of a file or model controls the terminal.

# the sequences that commands write themselves, to mark a text; they do no harm in the text of a file either
OWN_STYLES = ("\x1b[1;4m", "\x1b[0m")
_STYLED = re.compile(f"({'|'.join(map(re.escape, OWN_STYLES))})")


class _Patient(io.TextIOBase):
    # Writes to a stream, escaped; what is written after its reader has left is dropped. ``terminal`` is for images.

    def __init__(self, stream: TextIO) -> None:
        self.terminal = self._stream = stream

    def write(self, text: str) -> int:
        with self._until_left():
            self._stream.write("".join(part if part in OWN_STYLES else escaped(part) for part in _STYLED.split(text)))
        return len(text)

    def flush(self) -> None:
        with self._until_left():
            self._stream.flush()

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    @contextmanager
    def _until_left(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._stream.fileno())  # Python flushes what is left when it exits
            os.close(null)


@contextmanager
def patient_output() -> Iterator[None]:
    """Let a command end with its own exit status, whether or not somebody reads what it prints."""
    if sys.stdout is None:  # it is closed, and print() writes nothing
        yield
        return
    patient = _Patient(sys.stdout)
    with redirect_stdout(patient):
        yield
        patient.flush()  # so that an error shows here, not when Python exits


def say(*lines: object) -> None:
    for line in lines:
        print(line, flush=True)  # noqa: T201  # what a command is for


def say_json(content: object) -> None:
    say(json.dumps(content, indent=1))


def note(line: str) -> None:
    print(escaped(line), file=sys.stderr)  # noqa: T201  # likewise


def resolved(folders: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(path_of(folder, Path(), "--data or VLGATE_DATA").resolve() for folder in folders)


def chosen(entries: Sequence[str], known: Iterable[str], what: str) -> list[str]:
    names = list(known)
    patterns = [pattern for entry in entries for pattern in entry.split(",")] or ["*"]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise UnknownNameError(what, pattern, names)
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def refuse(options: Mapping[str, object], why: str) -> None:
    for option, value in options.items():
        if value:
            raise OptionError(f"{option}: {why}")


def options_of(given: argparse.Namespace) -> Options:
    from vlgate.record.options import Options  # takes a fifth of a second, which most commands need not

    named = given.data or [Path(entry) for entry in os.environ.get("VLGATE_DATA", "").split(os.pathsep) if entry]
    return Options(
        folder=Path.cwd(),
        data=resolved(named),
        suite=tuple(name for entry in given.suite for name in entry.split(",") if name),
        thresholds=None,
        results=Path.cwd() / "results",
    )


_TABLE: Mapping[str, Any] = tomllib.loads((files("vlgate.cli") / "commands.toml").read_text(encoding="utf-8"))
COMMANDS: Mapping[str, str] = MappingProxyType(
    {name: f"vlgate.cli.{entry['module']}" for name, entry in _TABLE.items() if "module" in entry}
)  # the module of each command, with ``run(arguments) -> exit status`` and perhaps ``OPTIONS`` and ``add(parser)``


def _path(text: str) -> Path:
    try:
        path_of(text, Path(), "")
    except OptionError as error:
        raise argparse.ArgumentTypeError(str(error).removeprefix("=")) from None
    return Path(text)


_TYPES = {"path": _path, "int": int, "float": float}


def add_options(parser: argparse.ArgumentParser, name: str) -> None:
    command = import_module(COMMANDS[name])
    _add(parser, _TABLE[name]["options"], getattr(command, "OPTIONS", {}))
    if hasattr(command, "add"):
        command.add(parser)


def _add(parser: argparse.ArgumentParser, options: Mapping[str, Any], more: Mapping[str, Any]) -> None:
    exclusive = None
    for flags, words in options.items():
        if flags.startswith("@"):
            block = more[flags] if flags in more else _TABLE[flags]["options"]
            _add(parser, {flag: {**own, **words} for flag, own in block.items()}, more)
            continue
        names = flags.split()
        given = {**words, **more.get(names[-1].removeprefix("--").replace("-", "_"), {})}
        if given.get("action") in {"append", "extend"}:
            given.setdefault("default", [])
        elif given.get("action") == "boolean":
            given["action"] = argparse.BooleanOptionalAction
        given |= {"type": _TYPES.get(given["type"], given["type"])} if "type" in given else {}
        given["help"] = given["help"].replace("%(default)s", str(given.get("default")))
        place: Any = parser
        if given.pop("exclusive", False):
            place = exclusive = exclusive or parser.add_mutually_exclusive_group()
        place.add_argument(*names, **given)


WRONG_OPTION = 4  # the exit status of a command whose options, files or names cannot be used, as that of a run


class _Parser(argparse.ArgumentParser):
    def spelled(self, words: Sequence[str]) -> list[str]:
        known = [option for action in self._actions for option in action.option_strings]
        unknown = [word for word in words if not any(one.startswith(word.partition("=")[0]) for one in known)]
        if not any(word.startswith("--") for word in unknown):
            return [*words]
        from vlgate.record.options import respelled

        return respelled(words, unknown, known)

    def error(self, message: str) -> NoReturn:
        said, _, word = message.partition(": ")
        if said == "unrecognized arguments" and "--data" in self._option_string_actions and Path(word).is_dir():
            message += f"; for a data folder, write --data {word}"
        self.print_usage(sys.stderr)
        self.exit(WRONG_OPTION, f"{self.prog}: error: {shown(message)}\n")


def _groups() -> Iterator[str]:
    for group in dict.fromkeys(entry["group"] for entry in _TABLE.values() if "group" in entry):
        yield f"{group}:"
        for name, entry in _TABLE.items():
            if entry.get("group") == group:
                yield fill(entry["help"], 80, initial_indent=f"  {name:<10}", subsequent_indent=" " * 12)
        yield ""


def main(arguments: Sequence[str] | None = None) -> int:
    said = list(sys.argv[1:] if arguments is None else arguments)
    if not said or said[0].startswith("-"):
        parser = _Parser(
            prog="vlgate",
            usage="vlgate [-h] [--version] COMMAND ...",
            description="What comes before and after a run, which pytest starts: pytest --pyargs tests_vl",
            epilog="\n".join([*_groups(), "vlgate COMMAND --help says what a command does."]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.add_argument("--version", action="version", version=f"vlgate {__version__}")
        parser.parse_args(said[:1])
        parser.error("COMMAND is missing; vlgate --help lists the commands")
    words = 2 if " ".join(said[:2]) in COMMANDS else 1
    name = " ".join(said[:words])
    if name not in COMMANDS:
        error = UnknownNameError("command", name, [known for known in COMMANDS if " " not in known])
        print(f"vlgate: {error}", file=sys.stderr)  # noqa: T201  # what a command is for
        return WRONG_OPTION
    begins = f"vlgate {name}"
    command = import_module(COMMANDS[name])  # those of the others need not be imported
    parser = _Parser(prog=begins, description=command.__doc__)
    add_options(parser, name)
    try:
        given = parser.parse_args(parser.spelled(said[words:]))
        with patient_output():
            status = int(command.run(given))
    except (VlgateError, OSError) as error:
        problem = str(error)
        if isinstance(error, OSError) and not isinstance(error, VlgateError):
            place = printable(str(error.filename or "a file"))
            problem = f"{place}: cannot be read or written ({error.strerror}); name another place"
        message = problem if problem.startswith(f"{begins} ") else f"{begins}: {problem}"
        print(message, file=sys.stderr)  # noqa: T201  # what a command is for
        return WRONG_OPTION
    return status
