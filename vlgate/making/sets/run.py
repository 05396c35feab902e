"""The making of one set: its options, inputs to candidates, candidates to a set, set and report to files."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from vlgate import __version__
from vlgate.audit.flaws import UNBALANCED
from vlgate.errors import OptionError
from vlgate.making.inputs.reading import ImageFolder, Read, read_inputs
from vlgate.making.inputs.records import Caption
from vlgate.making.kinds.kind import Item, Kind, MakeSome, Work
from vlgate.making.sets.blind import images, reached, scored
from vlgate.making.sets.candidates import Balance, Block, Chosen, blocks, choose, items
from vlgate.making.sets.folder import BIAS, PAGE, WHY, SetFolder, as_cases, as_reasons, digests, opened
from vlgate.making.sets.report import GATED, Account, as_page, measured, shortcuts_record
from vlgate.making.sets.validity import Check, checks
from vlgate.making.tools import TOOLS, ToolOptions, Tools
from vlgate.sources.graphs.checks import Mode

Form = Literal["cases", "release"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    # ``images`` is the folder of the images, None if names in the files are to stay as they are. ``limit`` is the most
    # cases, None for all.

    files: tuple[Path, ...]
    out: Path
    limit: int | None = None
    seed: int = 0
    form: Form = "cases"
    faults: Mode = "fail"
    images: Path | None = None
    overwrite: bool = False
    balance: Balance = "near chance"
    tools: ToolOptions = field(default_factory=ToolOptions)


Say = Callable[[str], None]
MadeSet = tuple[tuple[Item, ...], Mapping[str, Any]]
_SECONDS = 2.0  # between two lines of progress
_ENOUGH = 3  # candidates for each case of --limit, before the set is chosen


def make_set(kind: Kind, settings: Settings, say: Say) -> MadeSet:
    """Make a set of one kind, and write its files; a run that was killed goes on with its next block."""
    # Returns the items and the report. ``say`` is given lines of progress. The same inputs, options and seed give the
    # same bytes.
    if settings.form == "release" and kind.release is None:
        raise OptionError(f"--format release: no benchmark releases {kind.name}; take cases")
    if settings.form == "release" and settings.balance == "none":
        raise OptionError("--keep-unbalanced: --format release has no place for its mark; take cases")
    images = None if settings.images is None else ImageFolder(settings.images)
    read = read_inputs(settings.files, kind.takes, faults=settings.faults, images=images)
    tools = Tools(settings.tools)
    for name in kind.needs:
        tools.require(name)
    with opened(settings.out, _made_by(kind, settings), overwrite=settings.overwrite) as folder:
        if folder.resumed:
            say("an interrupted run goes on")
        taken, chosen = _chosen(kind, settings, tools, read, folder, say)
        account = Account(
            read=read,
            used=sum(block.used for block in taken),
            cased=_with_a_case(read.inputs, chosen.items),
            candidates=sum(block.candidates for block in taken),
            refused=Counter(reason for block in taken for one in block.made for reason in one.found.refused),
            dropped=sum((block.dropped for block in taken), Counter[str]()) + chosen.dropped,
        )
        if chosen.items:
            return _written(kind, settings, chosen, account, folder)
        folder.discard()
        reasons = (Counter(read.left_out) + Counter(account.refused) + Counter(account.dropped)).most_common()
        why = ", ".join(f"{number:,} x {reason}" for reason, number in reasons)
        files = " ".join(map(str, settings.files))
        most = f"; most is lost because {reasons[0][0]}" if len(reasons) > 1 else ""
        if read.images == len(read.inputs) and any(reason.startswith("no other caption") for reason, _ in reasons):
            most += "; each image has only one caption: give two or more captions of an image"
        unknown = f"how many {read.name} a gate of {GATED} cases needs is not known{most}"
        raise OptionError(f"--from {files}: gives no case of {kind.name}{f' ({why})' if why else ''}; {unknown}")


def _with_a_case(inputs: Sequence[Any], chosen: Sequence[Item]) -> int:
    # a swap is of all inputs of its two images
    named = {item.origin for item in chosen} | {
        name for item in chosen if len(images(item)) > 1 for name in images(item)
    }
    return sum(not named.isdisjoint((one.origin or one.id, getattr(one, "image", one.id))) for one in inputs)


def _chosen(
    kind: Kind, settings: Settings, tools: Tools, read: Read, folder: SetFolder, say: Say
) -> tuple[list[Block], Chosen]:
    def prepare() -> tuple[MakeSome, Sequence[Check]]:
        if kind.start is None:
            raise ValueError(f"kind={kind.name!r} is made by functions of its own")
        tools.load(kind.tools)
        work = Work(inputs=read.inputs, tools=tools, seed=settings.seed)
        return kind.start(work), checks(kind, tools)

    def choice() -> Chosen:
        return choose(kind, candidates, limit=settings.limit, seed=settings.seed, balance=settings.balance, score=score)

    def score(some: Sequence[Item]) -> list[Item]:
        return scored(some, captions, tools.lm if tools.has("lm") else None)

    captions = [
        (input_.image, text)
        for input_ in read.inputs
        if isinstance(input_, Caption)
        for text in (input_.text, *input_.others)
    ]

    taken: list[Block] = []
    candidates: list[Item] = []
    wanted = None if settings.limit is None else _ENOUGH * settings.limit
    used, told = 0, monotonic()
    for block in blocks(kind, read.inputs, settings.seed, folder, prepare):
        taken.append(block)
        candidates += items(block)
        used += block.used
        if used == len(read.inputs) or monotonic() - told > _SECONDS:
            told = monotonic()
            say(f"{used:,} of {len(read.inputs):,} {read.name}: {len(candidates):,} candidates")
        if settings.limit is not None and wanted is not None and len(candidates) >= wanted:
            chosen = choice()
            if chosen.enough or len(chosen.items) >= settings.limit:
                return taken, chosen
            wanted = 2 * len(candidates)
    return taken, choice()


def _written(kind: Kind, settings: Settings, chosen: Chosen, account: Account, folder: SetFolder) -> MadeSet:
    named = str if settings.images is None else ImageFolder(settings.images).name
    release = kind.release if settings.form == "release" else None
    name = kind.name + (UNBALANCED if settings.balance == "none" else "")
    files = release(chosen.items) if release else as_cases(chosen.items, name, named)
    files = {**files, WHY: as_reasons(chosen.items)}
    lm = settings.tools.value("lm") or "trigrams of the other images' captions"
    options = {**_made_by(kind, settings), "limit": settings.limit, "format": settings.form}
    how: Mapping[Balance, str] = {"pruned": "--prune-shortcuts", "none": "--keep-unbalanced"}
    options |= {how[settings.balance]: "on"} if settings.balance in how else {}
    report = measured(kind, chosen, account, made_by=options, lm=lm)
    if chosen.probes is not None:
        report["shortcuts"] = shortcuts_record(chosen.probes, reached(chosen.items, kind.shape), account)
    report |= {"files": sorted(files)}
    content = json.dumps(report, ensure_ascii=False, indent=1) + "\n"
    folder.finish(files, {PAGE: as_page(report), BIAS: content}, overwrite=settings.overwrite)
    return chosen.items, report


def _made_by(kind: Kind, settings: Settings) -> dict[str, Any]:
    tools = {name: settings.tools.value(name) for name in TOOLS if name in kind.tools}
    return {
        "vlgate": __version__,
        "kind": kind.name,
        "seed": settings.seed,
        "faults": settings.faults,
        "images": "" if settings.images is None else settings.images.name,
        **{TOOLS[name].option: value for name, value in tools.items() if value is not None},
        "files": digests(settings.files),
    }
