"""The exceptions of vlgate, one class per cause. Each message names the place, what was expected and the remedy."""

import re
import shlex
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

_LONG = re.compile(r"(?<!\w)'[^'\\]{201,}?'(?!\w)|\"[^\"]{201,}?\"|\S{401,}")
"""What no reader needs whole: a long text in quotation marks, and a word longer than the longest paths."""
_MOST = 4000  # characters of a message
_OBEYED = (*range(9), *range(11, 32), *range(127, 160), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F))
_ESCAPES = {code: f"\\u{code:04x}" for code in (*_OBEYED, *range(0x2066, 0x206A), *range(0xD800, 0xE000), 0xFEFF)}
_LISTED = 60  # the most names that a message lists; more than all models, or all tasks of one benchmark


class VlgateError(Exception):
    """The base class of the errors that vlgate reports to its user.

    The message is one line that a terminal does not obey, whatever a file or a model has put into it; see ``shown``. A
    list in it has a line for each entry.
    """

    def __init__(self, message: object = "", *entries: str) -> None:
        """Take the message, and the entries of the list below it."""
        super().__init__("\n".join((shown(str(message)), *(f"  {shown(entry)}" for entry in entries))))


class UnknownNameError(VlgateError):
    """A name that is not in the list it should come from."""

    def __init__(self, what: str, name: str, known: Iterable[str], note: str = "") -> None:
        """Say what kind of name ``name`` is, which known name is nearest to it, and a ``note``."""
        super().__init__(f"unknown {what} {name!r}; {nearest(name, sorted(known))}{note}")


class DataError(VlgateError):
    """A benchmark's file that does not have the documented format."""

    def __init__(self, file: object, record: str | None, expected: str, remedy: str) -> None:
        """Name the file, the record in it, what was expected and what to do."""
        place = f"{file}" if record is None else f"{file}, record {short(record, 120)}"
        super().__init__(f"{place}: {expected}; {remedy}")
        self.file = file
        self.record = record
        self.expected = expected
        self.remedy = remedy


class ImageError(VlgateError):
    """An image that cannot be decoded."""

    def __init__(self, key: str, problem: str, remedy: str) -> None:
        """Name the image by ``key``, by which the scoring finds the cases that need it."""
        super().__init__(f"image {key!r}: {problem}; {remedy}")
        self.key = key
        self.remedy = remedy


class MissingImageError(ImageError):
    """An image that is in none of the folders that were searched."""

    looked: Sequence[Path | str] = ()  # the paths, or the folders, where it was looked for


class ModelLoadError(VlgateError):
    """A model that cannot be loaded."""


class ModelReplyError(VlgateError):
    """A reply of a model that cannot be used: NaN, too few scores, a wrong type, or an exception."""


class ClusterEndedError(ModelReplyError):
    """No actor of a cluster replies any more, because all of them ended or because a call took too long."""


class NoReplyError(VlgateError):
    """What a model raises if it has no reply to some of its requests, such as a replay file without a row for them."""

    def __init__(self, positions: Collection[int], why: str, reasons: Mapping[int, str] | None = None) -> None:
        """Take the positions without a reply, counted in the sequence that the model was called with.

        ``reasons`` holds the reason of each position that has another one than ``why``.
        """
        super().__init__(why)
        self.positions = frozenset(positions)
        self.reasons = {position: printable(str(reason)) for position, reason in (reasons or {}).items()}


class NotRememberedError(VlgateError):
    """A request whose reply is neither in memory nor in the cache, while the model must not be asked."""


class ThresholdsError(VlgateError):
    """A thresholds file that cannot be read, or that does not fit the tasks."""


class UnknownTaskError(ThresholdsError):
    """A thresholds file with a gate on a task that no source can make."""

    def __init__(self, message: str, task: str) -> None:
        """Keep the task, which may be a pattern."""
        super().__init__(message)
        self.task = task


class OptionError(VlgateError):
    """A value of an option that cannot be used."""


def short(text: str, most: int = 60) -> str:
    """Return a text, cut in its middle if it has more than ``most`` characters."""
    return text if len(text) <= most else f"{text[: most // 2]}...{text[len(text) - most + most // 2 + 3 :]}"


def shown(text: str) -> str:
    """Return a text as one printable line, in which long words and long texts in quotation marks are cut."""
    cut = _LONG.sub(lambda word: f"{short(word[0], 120)} ({len(word[0]):,} characters)", printable(text))
    return short(cut, _MOST)


def printable(text: str) -> str:
    """Return a text as one line without control characters, which a terminal obeys, or halves of surrogate pairs."""
    if text.isprintable():
        return text
    plain = " ".join(text.split())
    if plain.isprintable():
        return plain
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in plain)


def escaped(text: str) -> str:
    """Return a text of several lines as a terminal prints and does not obey it, and as every file takes it."""
    # Control characters, marks that turn the direction of writing, and halves of surrogate pairs become escapes, which
    # JSON reads back. Line breaks and tabulators stay.
    return text if text.isprintable() else text.translate(_ESCAPES)


def halved(text: str) -> bool:
    """Return whether a text holds half of a surrogate pair, which no file and no other process takes."""
    return not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text)


def described(error: BaseException) -> str:
    """Return the class and message of a foreign exception as one line."""
    try:
        message = str(error)
    except Exception as second:  # noqa: BLE001  # the __str__ of a foreign exception may raise anything
        message = f"its message cannot be shown, because __str__ raises {type(second).__name__}"
    return printable(f"{type(error).__name__}: {message}")


def instead_of(missing: str, given: Collection[str]) -> str:
    """Say which of the names that are ``given`` was probably meant as the ``missing`` one; if none, list them."""
    some = ", ".join(map(repr, list(given)[:_LISTED])) or "none"
    more = f" and {len(given) - _LISTED:,} more" if len(given) > _LISTED else ""
    return did_you_mean(missing, given) or f"given are {some}{more}"


def nearest(name: str, known: Collection[str]) -> str:
    """Say which of ``known`` is nearest to ``name``; if none is near and they are few, list them all.

    Of a name as ``valse/existence``, the part before the slash must be near as well.
    """
    head, slash, _ = name.partition("/")
    heads = {one.partition("/")[0] for one in known}
    near = set(get_close_matches(head, heads, n=len(heads), cutoff=0.7)) if slash and heads else heads
    many = f"none of the {len(known):,} known names is near it" if len(known) > _LISTED else ""
    close = did_you_mean(name, [one for one in known if one.partition("/")[0] in near])
    return close or many or "known are " + (", ".join(map(repr, known)) or "none")


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Ask whether the one of ``known`` that is nearest to ``name`` was meant; return an empty text if none is near."""
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else ""


def no_folder(path: Path) -> str:
    """Say that there is no such folder, and which folder beside it was probably meant."""
    hint = ""
    with suppress(OSError):  # a name that is too long, a folder that cannot be listed
        if not path.parent.is_dir():
            return f"there is no folder {path} (its parent {path.parent} does not exist either)"
        hint = did_you_mean(path.name, sorted(folder.name for folder in path.parent.iterdir() if folder.is_dir()))
    return f"there is no folder {path}{hint and f' ({hint})'}"


def path_of(text: str | Path, folder: Path, named: str) -> Path:
    """Return the path that the value of an option ``named`` gives; a text that can be none is an error."""
    try:
        path = folder / Path(text).expanduser()
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            path.lstat()
        path.resolve()
    except (OSError, ValueError, RuntimeError) as error:  # too long, a null byte, the home folder of nobody, a loop
        reason = getattr(error, "strerror", None) or error
        raise OptionError(f"{named}={text}: cannot be a path ({reason}); name another") from None
    return path


def program(name: str) -> str:
    """Return the first words of a command as a shell runs it here: by a path, if it is not on the path."""
    if shutil.which(name):
        return name
    file = Path(sys.executable).with_name(name)
    words = [str(file)] if file.is_file() else [sys.executable, "-m", name]
    return shlex.join(word.removeprefix(f"{Path.cwd()}/") for word in words)
