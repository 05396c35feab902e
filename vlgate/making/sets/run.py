"""The making of one set: inputs in blocks to candidates, candidates to a set, the set to files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from vlgate.errors import OptionError
from vlgate.making.inputs.reading import read_inputs
from vlgate.making.kinds.kind import Item, Kind, Made, Work
from vlgate.making.sets.settings import Settings
from vlgate.making.sets.writing import WHY, as_cases, as_reasons
from vlgate.making.tools.tools import Tools
from vlgate.report.whole_file import write_whole
from vlgate.seeds import quick_generator

BLOCK = 1_000
"""Inputs whose candidates are made together."""

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeSet:
    """A set as it was written: its items, and how many parts of the inputs gave none, by reason."""

    items: tuple[Item, ...]
    refused: Counter[str] = field(default_factory=Counter)


def make_set(kind: Kind, settings: Settings, say: Say) -> MadeSet:
    """Make a set of one kind, and write its files.

    Returns: the set that was written.
    Raises: OptionError for an option that cannot be used; DataError for a file that cannot be read; ModelLoadError for
        a tool that cannot be loaded.
    """
    if kind.start is None or kind.release is None:
        raise ValueError(f"kind={kind.name!r} is made by functions of its own")
    read = read_inputs(settings.files, kind.takes, faults=settings.faults)
    tools = Tools(settings.tools)
    made = list(_made(kind, read.inputs, tools, settings, say))
    refused = Counter(reason for one in made for reason in one.found.refused)
    items = _items(kind, made)
    if kind.select is not None:
        chosen = kind.select(items, settings.seed)
        items, refused = list(chosen.items), refused + Counter(chosen.dropped)
    items = items[: settings.limit]
    if not items:
        raise OptionError(f"--from {' '.join(map(str, settings.files))}: gives no case of {kind.name}")
    settings.out.mkdir(parents=True, exist_ok=True)
    files = kind.release(items) if settings.form == "release" else as_cases(items, kind.name)
    for name, text in {WHY: as_reasons(items), **files}.items():
        (settings.out / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(settings.out / name, text)
    return MadeSet(items=tuple(items), refused=refused)


def _made(kind: Kind, inputs: Sequence[object], tools: Tools, settings: Settings, say: Say) -> Iterator[Made]:
    make_some = kind.start(Work(inputs=inputs, tools=tools, seed=settings.seed)) if kind.start else None
    size = len(inputs) if kind.whole else BLOCK
    order = list(range(len(inputs)))
    quick_generator(f"{settings.seed}:make:{kind.name}").shuffle(order)
    for start in range(0, len(order), size):
        if make_some is not None:
            yield from make_some([inputs[place] for place in order[start : start + size]])
        say(f"{min(start + size, len(order)):,} of {len(order):,} {kind.takes}")


def _items(kind: Kind, made: Sequence[Made]) -> list[Item]:
    items: list[Item] = []
    for one in made:
        extras = one.extra or ({},) * len(one.found.candidates)
        for candidate, extra in zip(one.found.candidates, extras, strict=True):
            name = f"{kind.name}_{len(items)}"
            items.append(Item(id=name, image=one.image, origin=one.origin, candidate=candidate, extra=extra))
    return items
