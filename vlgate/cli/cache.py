"""List or clear the replies that runs keep, so that no later run asks a model for them again."""

import argparse
import os
import re
import time
from dataclasses import asdict
from pathlib import Path

from vlgate.asking.cache.folder import default_folder, shown_size
from vlgate.asking.cache.store import NAME, cleared, is_cache, listed, unread_files
from vlgate.cli import note, say, say_json
from vlgate.errors import OptionError, no_folder, path_of
from vlgate.report.table import Table

_UNITS = {"h": 3600, "d": 86_400, "w": 604_800}
_HEADINGS = ("model", "replies", "size", "oldest", "newest")


def run(given: argparse.Namespace) -> int:
    """Return the exit status, 0; also if no model has such a name, because what should be gone is gone."""
    before = time.time() - _age(given.older_than)
    if given.action == "list" and given.older_than is not None:
        raise OptionError(f"--older-than={given.older_than}: it belongs to clear; leave it out")
    if given.model == "":
        raise OptionError("--model=: expected how a name begins; leave it out for all models")
    folder, begins = _folder(given.dir), given.model or ""
    kept = listed(folder, begins) if given.action == "list" or begins else []
    if begins and not kept:
        names = [one.model for one in listed(folder)]
        known = f"the models are {'; '.join(names)}" if names else "the cache holds no replies"
        note(f"nothing matched --model={begins}: {known}")
    if given.action == "list":
        unread = [] if begins else unread_files(folder)
        if given.json:
            say_json([asdict(one) for one in (*kept, *unread)])
            return 0
        rows = [
            (one.model, f"{one.replies:,}", shown_size(one.size), _day(one.oldest), _day(one.newest)) for one in kept
        ]
        if rows:
            say(*Table(headings=_HEADINGS, rows=rows, numbers=("replies", "size")).text())
        models = "1 model" if len(kept) == 1 else f"{len(kept):,} models"
        total = f"{sum(one.replies for one in kept):,} replies of {models}"
        say(f"{total} in {folder}" if rows else f"no replies in {folder}")
        for one in unread:
            why = "damaged, set aside" if "-damaged-" in one.file else "of another version"
            say(f"{why}: {one.file}, {shown_size(one.size)}; vlgate cache clear removes it")
        return 0
    removed, freed = cleared(folder, begins, before)
    say(f"{removed:,} replies removed from {folder}, {shown_size(freed)} freed")
    return 0


def _folder(given: Path | None) -> Path:
    named = os.environ.get("VLGATE_CACHE", "")
    option = f"--dir={given}" if given is not None else f"VLGATE_CACHE={named}"
    chosen = given or (Path(named) if named and named != "off" else default_folder())
    folder = path_of(chosen, Path.cwd(), option.partition("=")[0])
    if folder.is_file():
        raise OptionError(f"{option}: is a file, not a folder; name the folder of a cache")
    if given is not None and not folder.is_dir():
        raise OptionError(f"{option}: {no_folder(folder)}; name the folder of a cache")
    if given is not None and not is_cache(folder):
        raise OptionError(f"{option}: is not a cache, because it holds no {NAME}; name the folder of a cache")
    return folder


def _age(text: str | None) -> float:
    # The seconds that a user means by ``30d``; less than nothing for none, so that every reply is old enough
    if text is None:
        return -60.0
    match = re.fullmatch(r"(\d{1,6})([hdw])", text.strip())
    if match is None:
        raise OptionError(f"--older-than={text}: expected hours, days or weeks, such as 12h, 30d or 4w")
    return int(match[1]) * float(_UNITS[match[2]])


def _day(at: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
