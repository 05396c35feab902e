"""Candidates of inputs, block by block: made, checked, and kept in the set's folder."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vlgate.making.checks.validity import Check
from vlgate.making.kinds.kind import Item, Kind, Made, MakeSome
from vlgate.making.sets.coded import as_json, from_json
from vlgate.making.sets.folder import SetFolder
from vlgate.perturb.foils.candidate import Found
from vlgate.seeds import quick_generator

_NO_WORD = re.compile(r"[^\w.]+")
BLOCK = 500
"""Inputs whose candidates are made together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """The candidates of some inputs that passed the checks; ``dropped`` counts the others by reason."""

    made: tuple[Made, ...]
    used: int
    candidates: int
    dropped: Counter[str]


def blocks(
    kind: Kind,
    inputs: Sequence[Any],
    seed: int,
    folder: SetFolder,
    prepare: Callable[[], tuple[MakeSome, Sequence[Check]]],
) -> Iterator[Block]:
    """Yield the candidates of the inputs, block by block, in a random order that the seed decides.

    A block that an earlier run has kept is not made again. ``prepare`` returns the function that makes candidates and
    the checks; it is called before the first block that must be made.
    """
    order = list(range(len(inputs)))
    quick_generator(f"{seed}:make:{kind.name}").shuffle(order)
    size = len(order) if kind.whole else BLOCK
    ready: tuple[MakeSome, Sequence[Check]] | None = None
    for number, start in enumerate(range(0, len(order), size or 1)):
        places = order[start : start + size]
        block = _read(folder.block(number), len(places))
        if block is None:
            ready = ready or prepare()
            block = _block([inputs[place] for place in (sorted(places) if kind.whole else places)], *ready)
            folder.keep(number, _coded(block))
        yield block


def items(block: Block) -> Iterator[Item]:
    """Yield the candidates of a block, each with an id made of its input's origin and its place among the input's."""
    for one in block.made:
        extras = one.extra or ({},) * len(one.found.candidates)
        for place, (candidate, extra) in enumerate(zip(one.found.candidates, extras, strict=True)):
            name = f"{_NO_WORD.sub('-', one.origin)}-{place + 1}"
            yield Item(id=name, image=one.image, origin=one.origin, candidate=candidate, extra=extra)


def _block(inputs: Sequence[Any], make_some: MakeSome, checks: Sequence[Check]) -> Block:
    made = list(make_some(inputs))
    dropped: Counter[str] = Counter()
    candidates = sum(len(one.found.candidates) for one in made)
    for check in checks:
        reasons = iter(check([candidate for one in made for candidate in one.found.candidates]))
        made = [_kept(one, [next(reasons) for _ in one.found.candidates], dropped) for one in made]
    return Block(made=tuple(made), used=len(inputs), candidates=candidates, dropped=dropped)


def _kept(made: Made, reasons: Sequence[str | None], dropped: Counter[str]) -> Made:
    if not any(reasons):
        return made
    dropped.update(reason for reason in reasons if reason is not None)
    left = [place for place, reason in enumerate(reasons) if reason is None]
    found = Found(candidates=tuple(made.found.candidates[place] for place in left), refused=made.found.refused)
    return replace(made, found=found, extra=tuple(made.extra[place] for place in left) if made.extra else ())


def _coded(block: Block) -> dict[str, Any]:
    made = [as_json(one) for one in block.made]
    return {"made": made, "used": block.used, "candidates": block.candidates, "dropped": dict(block.dropped)}


def _read(content: Any, used: int) -> Block | None:
    """Return a block as it was kept; None if there is none, or if the file is not one of as many inputs."""
    try:
        if content is None or content["used"] != used:
            return None
        made = tuple(from_json(one) for one in content["made"])
        dropped = Counter(content["dropped"])
        return Block(made=made, used=used, candidates=int(content["candidates"]), dropped=dropped)
    except (KeyError, TypeError, ValueError):
        return None
