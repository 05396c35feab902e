"""Let people validate your own cases: a form or a file for crowdsourcing, and what two of three voters find valid.

`vlgate votes form` writes an HTML page that shows each image with its caption and foil, and asks which of them is true
(VALSE, appendix E); `vlgate votes csv` writes the same items as a table for crowdsourcing. `vlgate votes keep` reads
the votes and keeps the cases whose caption, but not the foil, was chosen by at least two of three annotators.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType

from vlgate.cli import note, options_of, say
from vlgate.errors import MissingImageError, OptionError
from vlgate.making.votes import form
from vlgate.making.votes.form import Item
from vlgate.making.votes.outcome import outcome, read_votes, report, write_outcome
from vlgate.sources.own import cases
from vlgate.sources.reading.source import ReadOptions


def run(given: argparse.Namespace) -> int:
    for name in ("voters", "side", "per_form"):
        if getattr(given, name) < 1:
            raise OptionError(f"--{name.replace('_', '-')} {getattr(given, name)}: expected a number above 0")
    if given.out.exists() or given.out.is_symlink():
        raise OptionError(f"--out {given.out}: exists already; remove it, or name another place")
    if not given.out.parent.is_dir():
        raise OptionError(f"--out {given.out}: there is no folder {given.out.parent}; make it, or name another place")
    _ACTIONS[given.action](given, _items(given))
    return 0


def _items(given: argparse.Namespace) -> tuple[Item, ...]:
    options = options_of(given)
    if not options.data:
        raise OptionError("votes are about your own cases; name the data folder that has them with --data")
    patterns = options.suite or ("*",)

    def wanted(task: str) -> bool:
        return any(fnmatchcase(task, pattern) for pattern in patterns)

    tasks = list(cases.read(ReadOptions(folders=options.data, seed=given.seed, wanted=wanted)))
    if not tasks:
        known = ", ".join(cases.shapes(options.data)) or "none; see docs/guides/own-cases.md"
        raise OptionError(f"no task of your own in {', '.join(map(str, options.data))} is wanted; there are: {known}")
    asked = [task for task in tasks if form.can_be_asked(task)] or tasks
    for task in tasks:
        if task not in asked:
            note(f"left out: {task.id}, whose questions have no foil")
    return tuple(item for task in asked for item in form.items_of(task, given.seed))


def _form(given: argparse.Namespace, items: Sequence[Item]) -> None:
    missing = {item.image.key: item for item in items if not item.image.is_there}
    if missing:
        first, number = next(iter(missing.values())), len(missing)
        problem = f"is in no data folder, and {number - 1:,} other images are not, either; {first.case.origin} needs it"
        raise MissingImageError(first.image.key, problem, "put the images there, or leave the tasks out with --suite")
    layout = form.Layout(images=given.images, side=given.side, per_form=given.per_form)
    for file in form.write_forms(form.shuffled(items, given.seed), given.out, layout):
        note(f"{file}: {file.stat().st_size / 1e6:.1f} MB")
    note(f"{len(items):,} items, form {form.digest(items)}")


def _csv(given: argparse.Namespace, items: Sequence[Item]) -> None:
    form.write_rows(form.shuffled(items, given.seed), given.out, given.image_url)
    note(f"{len(items):,} items, form {form.digest(items)}")


def _keep(given: argparse.Namespace, items: Sequence[Item]) -> None:
    if not given.votes:
        raise OptionError("keep needs files of votes; name them with --votes")
    votes = read_votes(given.votes, items)
    result = outcome(items, votes.by_item, given.voters)
    files = write_outcome(result, given.out)
    say(*report(result))
    for reason, number in votes.left_out.items():
        note(f"left out: {number:,} x {reason}")
    note(f"written: {', '.join(map(str, files))}")


_ACTIONS: Mapping[str, Callable[[argparse.Namespace, Sequence[Item]], None]] = MappingProxyType(
    {"form": _form, "csv": _csv, "keep": _keep}
)
OPTIONS = {"action": {"choices": sorted(_ACTIONS)}, "side": {"default": form.SIDE}}
