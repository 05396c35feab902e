"""Whether some parts are the parts of one run: all are there, none twice, and all were asked the same of one model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from vlgate import __version__
from vlgate.errors import OptionError
from vlgate.recorded.part import RecordedPart

ALIKE = (
    "model",
    "suite",
    "limit",
    "quick",
    "pairs",
    "seed",
    "ask",
    "ties",
    "missing_images",
    "protocols",
    "dtype",
    "compiled",
    "health",
)
"""The options that all parts have in common: the others change neither what is asked nor how it is judged."""
_OWN = frozenset({"pytest", "pytest-xdist", "allure-pytest", "hypothesis"})
"""Packages that no reply and no figure depends on."""
_SORTED = ("suite", "protocols")
_REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        "plan": "the ids, texts, truths or images of the cases differ: give all machines the same data and options",
        "images": "the files differ in size, or some are missing on one machine: give all machines the same files",
        "thresholds": "name the file to judge with by --thresholds",
        "must_hold": "name the file to judge with by --thresholds",
    }
)


def in_order(parts: Sequence[RecordedPart], *, thresholds: bool) -> list[RecordedPart]:
    """Return the parts of one run by their number.

    Args:
        parts: the parts, in any order.
        thresholds: whether the parts must have run with the same thresholds file.

    Raises: OptionError, which names the folders and the remedy, if a part is missing, doubled or incomplete, or if two
        parts differ in their model, data, options or versions.
    """
    found = sorted(parts, key=lambda part: part.number)
    _refuse_count(found)
    for part in found:
        if part.content["vlgate"] != __version__:
            said = f"is of vlgate {part.content['vlgate']}, this is {__version__}"
            raise part.wrong(said, "install the version that asked the parts")
        if not part.content["complete"]:
            raise part.wrong(f"part {part.number} of {part.of} is incomplete ({part.content['why']})")
    for part in found[1:]:
        _refuse_other(found[0], part, thresholds=thresholds)
    return found


def _refuse_count(parts: Sequence[RecordedPart]) -> None:
    first = parts[0]
    for part in parts[1:]:
        if part.of != first.of:
            said = f"is part {part.number} of {part.of}, but {first.named} is part {first.number} of {first.of}"
            raise part.wrong(said, "name the parts of one run")
    for one, other in pairwise(parts):
        if one.number == other.number:
            said = f"{one.named} and {other.named} are both part {one.number} of {one.of}"
            raise OptionError(f"{said}; name each part once")
    missing = sorted(set(range(1, first.of + 1)) - {part.number for part in parts})
    if missing:
        which = f"part{'s' if len(missing) > 1 else ''} {', '.join(map(str, missing[:10]))}"
        more = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
        named = ", ".join(part.named for part in parts[:10])
        again = f"run the suite with --shard={missing[0]}/{first.of} and name its results folder, too"
        raise OptionError(f"{which}{more} of {first.of} missing beside {named}; {again}")


def _refuse_other(first: RecordedPart, part: RecordedPart, *, thresholds: bool) -> None:
    model, other = first.content["model"], part.content["model"]
    for name in ("name", "fingerprint"):
        if model[name] != other[name]:
            said = f"asked another model than {first.named}: {name} {_short(other[name])}, there {_short(model[name])}"
            raise part.wrong(said, f"ask all parts of the same model, and run this one again with {_shard(part)}")
    _refuse_unlike(first, part, "has other options than", _options)
    for name in ("plan", "images", *(("thresholds", "must_hold") if thresholds else ())):
        mine, there = first.content["digests"][name], part.content["digests"][name]
        if mine != there:
            what = {"plan": "cases", "images": "images", "thresholds": "thresholds", "must_hold": "must_hold"}[name]
            raise part.wrong(f"has other {what} than {first.named}", _REMEDIES[name])
    _refuse_unlike(first, part, "ran with other versions than", _packages)


def _refuse_unlike(
    first: RecordedPart, part: RecordedPart, how: str, of: Callable[[RecordedPart], Mapping[str, Any]]
) -> None:
    mine, there = of(first), of(part)
    differ = [name for name in sorted({*mine, *there}) if mine.get(name) != there.get(name)]
    if differ:
        said = ", ".join(f"{name}={there.get(name)!r}, there {mine.get(name)!r}" for name in differ)
        raise part.wrong(
            f"{how} {first.named}: {said}", f"run one of the two again, as {_shard(part)} or {_shard(first)}"
        )


def _options(part: RecordedPart) -> dict[str, Any]:
    given = part.content["environment"]["options"]
    return {name: _plain(name, given.get(name)) for name in ALIKE}


def _plain(name: str, value: Any) -> Any:
    return sorted(set(value)) if name in _SORTED and isinstance(value, Iterable) else value


def _packages(part: RecordedPart) -> dict[str, Any]:
    found = part.content["environment"]["packages"]
    return {name: version for name, version in found.items() if name not in _OWN}


def _shard(part: RecordedPart) -> str:
    return f"--shard={part.number}/{part.of}"


def _short(text: str) -> str:
    return repr(text if len(text) <= 12 else f"{text[:12]}...")
