"""Candidates, block by block, and the set chosen of them: no case twice, balanced, near chance when blind."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import ceil
from typing import Any, Literal

from vlgate.making.kinds.kind import Item, Kind, Made, MakeSome
from vlgate.making.sets.blind import (
    FOUND,
    IMPLAUSIBLE,
    PRUNED,
    Blind,
    Reached,
    as_likely,
    blind,
    images,
    near_chance,
    pruned,
    reached,
)
from vlgate.making.sets.folder import SetFolder
from vlgate.making.sets.validity import Check, repeated
from vlgate.perturb.foils.balance import ENOUGH
from vlgate.perturb.foils.candidates import Candidate, Foil, Perturbed, SentenceSet, Swap
from vlgate.seeds import quick_generator

_CLASSES: Mapping[str, Callable[..., Candidate]] = {one.__name__: one for one in (Foil, SentenceSet, Swap)}


def as_json(made: Made) -> dict[str, Any]:
    candidates = []
    for candidate in made.found.candidates:
        parts = {part.name: getattr(candidate, part.name) for part in fields(candidate)}
        candidates.append({"class": type(candidate).__name__, **parts, "tags": dict(candidate.tags)})
    return {
        "image": made.image,
        "origin": made.origin,
        "candidates": candidates,
        "refused": list(made.found.refused),
        "extra": list(made.extra),
    }


def from_json(value: Mapping[str, Any]) -> Made:
    candidates = []
    for parts in value["candidates"]:
        given = {name: tuple(part) if isinstance(part, list) else part for name, part in parts.items()}
        candidates.append(_CLASSES[str(given.pop("class"))](**given))
    perturbed = Perturbed(candidates=tuple(candidates), refused=tuple(value["refused"]))
    return Made(image=value["image"], origin=value["origin"], found=perturbed, extra=tuple(value["extra"]))


_NO_WORD = re.compile(r"[^\w.]+")
BLOCK = 500
"""Inputs whose candidates are made together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
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
    """Yield the candidates of the inputs, block by block, in a random order that the seed decides."""
    # A block that an earlier run has kept is not made again. ``prepare`` returns the function that makes candidates and
    # the checks; it is called before the first block that must be made.
    images: dict[Any, list[int]] = {}  # the inputs of one image stay together
    for index, input_ in enumerate(inputs):
        images.setdefault(getattr(input_, "image", index), []).append(index)
    groups = list(images.values())
    quick_generator(f"{seed}:make:{kind.name}").shuffle(groups)
    order = [place for group in groups for place in group]
    size = len(order) if kind.whole else BLOCK
    ready: tuple[MakeSome, Sequence[Check]] | None = None
    for number, start in enumerate(range(0, len(order), size or 1)):
        places = order[start : start + size]
        block = _read(folder.block(number), len(places))
        if block is None:
            ready = ready or prepare()
            block = _block([inputs[place] for place in (sorted(places) if kind.whole else places)], *ready)
            made = [as_json(one) for one in block.made]
            content = {"made": made, "used": block.used, "candidates": block.candidates, "dropped": dict(block.dropped)}
            folder.keep(number, content)
        yield block


def items(block: Block) -> Iterator[Item]:
    for one in block.made:
        extras, origin = one.extra or ({},) * len(one.found.candidates), _NO_WORD.sub("-", one.origin)
        for index, (candidate, extra) in enumerate(zip(one.found.candidates, extras, strict=True)):
            yield Item(id=f"{origin}-{index + 1}", image=one.image, origin=one.origin, candidate=candidate, extra=extra)


def _block(inputs: Sequence[Any], make_some: MakeSome, checks: Sequence[Check]) -> Block:
    made = list(make_some(inputs))
    dropped: Counter[str] = Counter()
    candidates = sum(len(one.found.candidates) for one in made)
    for check in checks:
        reasons = iter(check([candidate for one in made for candidate in one.found.candidates]))
        for index, one in enumerate(made):
            why = [next(reasons) for _ in one.found.candidates]
            if not any(why):
                continue
            dropped.update(reason for reason in why if reason is not None)
            left = [number for number, reason in enumerate(why) if reason is None]
            kept = tuple(one.found.candidates[number] for number in left)
            extra = tuple(one.extra[number] for number in left) if one.extra else ()
            perturbed = Perturbed(candidates=kept, refused=one.found.refused)
            made[index] = replace(one, found=perturbed, extra=extra)
    return Block(made=tuple(made), used=len(inputs), candidates=candidates, dropped=dropped)


def _read(content: Any, used: int) -> Block | None:
    try:
        if content is None or content["used"] != used:
            return None
        made = tuple(from_json(one) for one in content["made"])
        dropped = Counter(content["dropped"])
        return Block(made=made, used=used, candidates=int(content["candidates"]), dropped=dropped)
    except (KeyError, TypeError, ValueError):
        return None


Balance = Literal["near chance", "pruned", "none"]
"""Whether cases are dropped until text alone is near chance, is not above chance, or not at all."""

BEYOND = "beyond --limit"
_SLACK = 2  # cases below --limit, since balanced classes come in pairs
_GROWTH = 1.2  # of a sample of images that is tried for a gate
_SAMPLES = 5
_ROUNDS = 5  # of balancing classes and dropping what is found blindly: each undoes a little of the other


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    # ``note`` says what is wrong with the balance of the items, if anything is. ``probes`` is what the probes of text
    # reached before any of this; None if nothing is pruned.

    items: tuple[Item, ...]
    balance: Balance
    dropped: Counter[str]
    before: Blind | None
    enough: bool
    """Whether further candidates would bring no more cases: the limit left some out, and balancing did not."""
    note: str = ""
    probes: Reached | None = None
    share: float | None = None
    """The share of the images whose candidates are enough for a gate, if a part of them is; None if all are not."""


Score = Callable[[Sequence[Item]], list[Item]]
"""Gives items their ``lead``."""


def choose(
    kind: Kind,
    items: Sequence[Item],
    *,
    limit: int | None,
    seed: int,
    balance: Balance = "near chance",
    score: Score = list,
) -> Chosen:
    """Choose the items of a set among the candidates of the inputs that were used."""
    # The blind baseline has the last word: it is measured again after each balancing of classes. If the set is pruned,
    # the probes of text have it.
    choosing = _Choosing(replace(kind, select=None) if balance == "none" else kind, seed, balance)
    left: list[Item] = []
    for item, reason in zip(items, repeated(items), strict=True):
        if reason is None:
            left.append(item)
        else:
            choosing.dropped[reason] += 1
    every = score(left)
    selected = choosing.selected(every)
    before = blind(selected, kind.shape) if selected else None
    probes = reached(selected, kind.shape) if balance == "pruned" and selected else None
    left, enough = choosing.filtered(selected), False
    share = choosing.gated(every, left=len(left) / len(selected), cases=len(left)) if len(left) >= ENOUGH else None
    if limit is not None and len(left) > limit:
        fewer = choosing.limited(left, limit)
        choosing.dropped[BEYOND] += len(left) - len(fewer)
        left = choosing.filtered(fewer)
        enough = len(left) >= limit - max(_SLACK, limit // 5)
    return Chosen(
        items=tuple(left),
        balance=balance,
        dropped=choosing.dropped,
        before=before,
        enough=enough,
        note=choosing.note,
        probes=probes,
        share=share,
    )


class _Choosing:
    def __init__(self, kind: Kind, seed: int, balance: Balance) -> None:
        self.dropped: Counter[str] = Counter()
        self.note = ""
        self._kind = kind
        self._seed = seed
        self._balance = balance

    def selected(self, items: list[Item]) -> list[Item]:
        if self._kind.select is None or not items:
            return items
        chosen = self._kind.select(items, self._seed)
        self.dropped.update(chosen.dropped)
        self.note = chosen.note
        return list(chosen.items)

    def filtered(self, items: list[Item]) -> list[Item]:
        filters = [(as_likely, IMPLAUSIBLE), (near_chance, FOUND), (pruned, PRUNED)]
        for drop, reason in filters[: {"none": 0, "near chance": 2, "pruned": 3}[self._balance]]:
            for _ in range(_ROUNDS):
                left, number = drop(items, self._kind.shape) if items else (items, 0)
                if not number:
                    break
                self.dropped[reason] += number
                items = self.selected(left)
        return items

    def gated(self, items: Sequence[Item], *, left: float, cases: int) -> float:
        """Return which share of the images gives the cases of a gate: a balanced set grows faster than they."""
        # ``left`` is the share of a balanced set that the filters leave, ``cases`` how many all images give. A share
        # must give them in each of some samples.
        order = sorted({name for item in items for name in images(item)})
        generator = quick_generator(f"{self._seed}:gate:{self._kind.name}")

        def number(share: float) -> int:
            shown = set(order[: ceil(share * len(order))])
            some = [item for item in items if shown.issuperset(images(item))]
            if self._kind.select is None or not some:
                return len(some)
            found = self._kind.select(some, self._seed)
            return 0 if found.note else len(found.items)  # a set that is not balanced counts for none

        share = ENOUGH / cases
        for _ in range(_SAMPLES):
            generator.shuffle(order)
            while share < 1 and left * number(share) < ENOUGH:
                share = min(1.0, _GROWTH * share)
        return share

    def _balanced(self, items: list[Item]) -> list[Item]:
        return items if self._kind.select is None or not items else list(self._kind.select(items, self._seed).items)

    def limited(self, items: list[Item], limit: int) -> list[Item]:
        """Return at most ``limit`` items whose classes are balanced, as near to it as halving intervals comes."""
        # A sample of a balanced set is not balanced, and balancing it leaves fewer: the sample must be larger than the
        # limit. If nothing so small is balanced, the items are a plain sample.
        order = list(range(len(items)))
        quick_generator(f"{self._seed}:limit:{self._kind.name}").shuffle(order)

        def balanced(places: Iterable[int]) -> list[Item]:
            return self._balanced([items[place] for place in places])

        plain = [items[place] for place in sorted(order[:limit])]
        best = balanced(sorted(order[:limit]))
        low, high = limit, len(items)
        while low + 1 < high and len(best) < limit:
            middle = (low + high) // 2
            some = balanced(sorted(order[:middle]))
            if len(some) > limit:
                high = middle
            else:
                low, best = middle, max(best, some, key=len)
        return best or plain
