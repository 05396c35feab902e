"""Make sets of cases from your own captions, answered questions, dialogs, role frames, interactions and scene graphs.

A set is a folder with cases, the reason of each, and a report on what text alone gives away.
"""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, cast, get_args

from vlgate.cli import add_options, note, refuse, say
from vlgate.errors import OptionError
from vlgate.making.kinds.kind import KINDS, Item, Kind, kind
from vlgate.making.tools import TOOLS, ToolOptions, cache_folder
from vlgate.perturb.question_tests import BEYOND, TESTS, Distribution
from vlgate.sources.reading.image_paths import IMAGES
from vlgate.sources.reading.text_files import collector_paused

KEPT = "kept"
OPTIONS = {
    "kind": {
        "help": f"what to make: {', '.join(KINDS)}; or {KEPT}, of what pytest -m shrink found in the run of --from"
    },
    "@tools": {
        tool.option: {
            "dest": name,
            "metavar": tool.metavar,
            "help": tool.sentence
            + (f" (default: {tool.default})" if tool.default and "default:" not in tool.sentence else ""),
        }
        for name, tool in TOOLS.items()
    },
}

DEFAULTS: Mapping[str, Any] = {"tests": ",".join(TESTS), "size": "paper", "shares": "release", "without": ()}
"""The options that no other kind uses, each with its default."""


def add(parser: argparse.ArgumentParser) -> None:
    options = parser.add_argument_group("options of questions only")
    tests = f"the tests to make (default: the six of CARETS; also available: {' and '.join(BEYOND)})"
    options.add_argument("--tests", default=DEFAULTS["tests"], metavar="NAME[,NAME]", help=tests)
    size = "how many questions each test has, as --limit (default: paper, as many as in the paper)"
    options.add_argument("--size", default=DEFAULTS["size"], metavar="N|paper", help=size)
    shares = "how often what is asked: as in CARETS' release, or everything equally often (default: release)"
    options.add_argument("--shares", choices=sorted(get_args(Distribution)), default=DEFAULTS["shares"], help=shares)
    without = "files of questions, from this command or from GQA; their images are left out"
    options.add_argument("--without", nargs="+", type=Path, default=DEFAULTS["without"], metavar="FILE", help=without)


@collector_paused()
def run(given: argparse.Namespace) -> int:
    """Return the exit status: 0, or 130 if the user interrupts the command."""
    if given.list:
        for name in KINDS:
            say(*_described(kind(name)))
        say(f"{KEPT}: own cases of what a search broke, for every later release to hold", "  takes the folder of a run")
        return 0
    if given.kind is None:
        raise OptionError(f"KIND is missing; name one of {', '.join((*KINDS, KEPT))}, or give --list")
    if given.kind == KEPT:
        if len(given.files) != 1:
            raise OptionError("--from: name the results folder of one run with -m shrink")
        parser = argparse.ArgumentParser()
        add_options(parser, "make")
        plain = {**vars(parser.parse_args([KEPT])), "files": given.files, "out": given.out}
        unused = {f"--{name.replace('_', '-')}": plain[name] != value for name, value in vars(given).items()}
        refuse(unused, f"{KEPT} does not use it; leave it out")
        from vlgate.cli import kept

        return kept.keep(given.files[0], given.out or Path("kept/cases.jsonl"))
    wanted = kind(given.kind)
    for option, value in (("--from", given.files), ("--out", given.out)):
        if not value:
            raise OptionError(f"{option} is missing; vlgate make --help lists the options")
    _refuse_unused(wanted, given)
    try:
        if wanted.start is not None:
            return _make(wanted, given)
        from vlgate.making.kinds import questions  # imports all that makes questions, as no other kind needs

        return questions.run(given)
    except KeyboardInterrupt:
        note("interrupted; run the same command again to go on")
        return 130


def _refuse_unused(wanted: Kind, given: argparse.Namespace) -> None:
    # the user expects what is given to do something
    for option, on in (("--prune-shortcuts", given.prune_shortcuts), ("--keep-unbalanced", given.keep_unbalanced)):
        if on and wanted.start is None:
            raise OptionError(f"{option}: {wanted.name} are balanced by themselves; leave it out")
    from vlgate.making.inputs.reading import contents

    held = {*contents(given.files).values()} & {*wanted.takes} or {*wanted.takes}
    what = wanted.name if held == {*wanted.takes} else f"{wanted.name} of {' and '.join(sorted(held))}"
    if given.faults != "fail" and not held & {"graphs", "interactions"}:
        raise OptionError(f"--faults: {what} takes no graphs; leave it out")
    for name, default in ({"images": None} if wanted.start is None else DEFAULTS).items():
        if getattr(given, name) != default:
            raise OptionError(f"--{name}: {wanted.name} does not use it; leave it out")
    used = [name for name in wanted.tools if name != "parser" or held != {"graphs"}]
    for name, entry in TOOLS.items():
        if getattr(given, name) is not None and name not in used:
            usable = ", ".join(TOOLS[tool].option for tool in used) or "none"
            raise OptionError(f"{entry.option}: {what} does not use it; leave it out (used: {usable})")
    models = [name for name in used if TOOLS[name].on_device]
    if given.device != "cpu" and not any(getattr(given, name) for name in models):
        without = f" without {' or '.join(TOOLS[name].option for name in models)}" if models else ""
        raise OptionError(f"--device: {what} does not use it{without}; leave it out")
    if given.cache not in {None, "none"} and "parser" not in used:
        raise OptionError(f"--cache: {what} does not use it; leave it out")


def _make(wanted: Kind, given: argparse.Namespace) -> int:
    from vlgate.making.sets.report import UNMARKED, sums
    from vlgate.making.sets.run import Settings, make_set

    if given.format not in {"cases", "release"}:
        raise OptionError(f"--format {given.format}: expected cases or release")
    if given.limit is not None and given.limit < 1:
        raise OptionError(f"--limit {given.limit}: expected a whole number above 0")
    named: dict[str, str] = {name: value for name in TOOLS if (value := getattr(given, name)) is not None}
    cache = None if given.cache == "none" else Path(given.cache) if given.cache else cache_folder()
    items, report = make_set(
        wanted,
        Settings(
            files=tuple(given.files),
            out=given.out,
            limit=given.limit,
            seed=given.seed,
            form=cast("Literal['cases', 'release']", given.format),
            faults="fail" if given.faults == "fail" else "leave out",
            images=given.images,
            overwrite=given.overwrite,
            balance="pruned" if given.prune_shortcuts else "none" if given.keep_unbalanced else "near chance",
            tools=ToolOptions(named=named, device=given.device, cache=cache),
        ),
        note,
    )
    inputs, (became, gate) = report["inputs"], sums(report)
    note(became)
    if inputs["images_found"] is not None:
        note(f"{inputs['images_found']:,} of {inputs['images']:,} images found")
    for part in (inputs["left_out"], report["refused"], report["dropped"]):
        for reason, number in part.items():
            note(f"left out: {number:,} x {reason}")
    blind = report["blind"]
    value = "" if blind["value"] is None else f"{blind['value']:.3f}, "
    note(f"blind baseline: {value}{blind['why']}")
    if (probed := report.get("shortcuts")) is not None:
        parts = (f"{name} {one['before']:.3f} before, {one['value']:.3f} now" for name, one in probed["probes"].items())
        note("; ".join(["text alone: " + probed["why"], *parts]))
    no_images = _no_images(items, given) if inputs["images_found"] is None and given.format == "cases" else ""
    for text in (report["note"], report["warning"], "" if report["balanced"] else UNMARKED, no_images):
        if text:
            note(f"beware: {text}")
    note(f"{len(items):,} cases in {given.out}; {gate}")
    return 0


def _no_images(made: Iterable[Item], given: argparse.Namespace) -> str:
    from vlgate.making.sets.blind import images

    names = {name for item in made for name in images(item)}
    folders = dict.fromkeys((*(file.parent for file in given.files), given.out.parent, given.out))
    below = (folder for file in given.files for folder in sorted(file.parent.glob("*/")))  # such as data/
    looked = [folder / part for folder in dict.fromkeys((*folders, *below)) for part in ("", IMAGES)]
    if any((folder / name).is_file() for name in names for folder in looked):
        return ""
    where = ", ".join(map(str, folders))
    return f"none of the {len(names):,} images of the cases is in {where}; put them below the data folder of the run"


def _described(one: Kind) -> Iterator[str]:
    yield f"{one.name}: {one.sentence}"
    yield f"  takes {' or '.join(one.takes)}"
    for word, names in (("needs", one.needs), ("can use", one.uses)):
        for name in names:
            entry = TOOLS[name]
            there = "installed"
            if entry.missing:
                there = f"missing: {', '.join(entry.missing)}; pip install 'vlgate[{entry.extra}]'"
            yield f"  {word} {entry.option}, {entry.sentence} ({there})"
