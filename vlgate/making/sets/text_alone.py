"""What text alone solves of a set: the rows of its report, and the warning if one of them is above chance."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from vlgate.audit.blind_baseline import Probe
from vlgate.making.kinds.kind import Item, Kind
from vlgate.making.sets.blind import CHANCE, FEWEST, blind, likelier
from vlgate.metrics.stats import wilson
from vlgate.perturb.foils.candidates import Foil

Json = dict[str, Any]

BLIND = "blind baseline, cross-validated"
ANIMATE = "a person or an animal does it"
DIFFERING = "what the other images differ in"
_ANIMATE = {"agent": 1.0, "other": 0.0, "both": 0.5, "none": 0.5}
"""Whether the rule ranks a caption above its foil, by who of the two is a person or an animal; a tie counts 1/2."""
_NAMED = 3  # the most rules that a warning names


def row(name: str, value: float | None, n: int, worth: int, *, chance: float = CHANCE, note: str = "") -> Json:
    """Return a row of the report; ``worth`` is the number of cases, of which each may give several comparisons."""
    low, high = (None, None) if value is None or not n else wilson(value, min(n, worth))
    return {"name": name, "value": value, "low": low, "high": high, "n": n, "chance": chance, "note": note}


def probe_rows(probes: Iterable[Probe], worth: int) -> list[Json]:
    return [row(one.name, one.shown, one.n, worth, chance=one.chance, note=one.note) for one in probes]


def set_rows(
    items: Sequence[Item], kind: Kind, probes: Iterable[Probe], lm: str
) -> tuple[Json, list[Json], Json | None]:
    now, worth = blind(items, kind.shape), len(items)
    rows = probe_rows((one for one in probes if not one.learnt), worth)  # the baseline is the learnt one
    actors = [_ANIMATE[made.tags["actors"]] for item in items if "actors" in (made := item.candidate).tags]
    if actors:
        rows.append(row(ANIMATE, sum(actors) / len(actors), len(actors), worth, note="a tie if both do or none does"))
    if now is None and (found := _by_other_images(items)):
        note = "by what is more often true of the other images than false"
        rows.append(row(DIFFERING, sum(found) / len(found), len(found), worth, note=note))
    share = likelier(items)
    plausible = None if share is None else {"model": lm, **row("the more plausible text", share.value, share.n, worth)}
    return row(BLIND, None if now is None else now.value, 0 if now is None else now.n, worth), rows, plausible


def _by_other_images(items: Sequence[Item]) -> list[float]:
    foils = [(item.image, item.candidate.classes) for item in items if isinstance(item.candidate, Foil)]
    known, own = Counter[str](), defaultdict[str, Counter[str]](Counter)
    for image, (true, false) in foils:
        for counts in (known, own[image]):
            counts[true] += 1
            counts[false] -= 1
    leads = [known[true] - own[image][true] - known[false] + own[image][false] for image, (true, false) in foils]
    return [0.5 + (lead > 0) / 2 - (lead < 0) / 2 for lead in leads]


def above(rows: Iterable[Json], worth: int) -> list[Json]:
    """Return the rows that are above chance, the highest first: so is the interval of 95 % for all rows together."""
    run = [one for one in rows if one["value"] is not None and one["n"]]
    confidence = 1 - 0.05 / max(1, len(run))
    told = [one for one in run if wilson(one["value"], min(one["n"], worth), confidence)[0] > one["chance"]]
    return sorted(told, key=lambda one: -one["value"])


def warning(told: Sequence[Json], cause: str, remedy: str) -> str:
    if not told:
        return ""
    named = [f"{one['name']} {one['value']:.3f} ({one['low']:.3f} to {one['high']:.3f})" for one in told[:_NAMED]]
    more = [f"{len(told) - _NAMED} more"] if len(told) > _NAMED else []
    chance, because = f"{told[0]['chance']:.3f}", f"; {cause}" if cause else ""
    return f"text alone is above chance ({chance}): {', '.join([*named, *more])}{because}; {remedy}"


def uneven(phrases: Json, pairs: int) -> str:
    most = max(phrases, key=lambda phrase: abs(phrases[phrase][0] - phrases[phrase][1]), default="")
    true, false = phrases.get(most, (0, 0))
    return f"{most!r} is in {true:,} captions and {false:,} foils" if abs(true - false) >= max(2, pairs / 10) else ""


def one_sided(true: Counter[str], false: Counter[str], cases: int) -> str:
    """Say which of the words that differ are only in captions or only in foils: a small set cannot balance them."""
    most = (true + false).most_common()
    alone = [word for word, number in most if number >= max(2, cases / 100) and not (true[word] and false[word])]
    named = [f"{word!r} is in {true[word]:,} captions and {false[word]:,} foils" for word in alone[:_NAMED]]
    more = [f"{len(alone) - _NAMED:,} more"] if len(alone) > _NAMED else []
    told = f"words that are only true or only false tell a case: {', '.join([*named, *more])}"
    return f"{told}; give more inputs, some of which have them the other way round" if alone else ""


def remedy(kind: Kind, told: Sequence[Json], cases: int, balance: str) -> str:
    if balance == "none":
        return "leave out --keep-unbalanced, or only compare versions of a model"
    if kind.tells:
        return kind.tells
    if any(one["name"] == ANIMATE for one in told):
        return "give more frames with persons or animals in both roles"
    if cases <= FEWEST:
        what = "in which what is true of some images is false of others"
        return f"give more inputs, {what}: of {FEWEST} cases or fewer none is dropped"
    if balance != "pruned":
        return "--prune-shortcuts drops cases until no classifier of texts is above it"
    return "compare a model with these figures instead of chance"
