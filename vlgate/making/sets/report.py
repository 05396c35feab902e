"""The report on a set, which is written beside it: ``bias.json`` for programs and ``bias.md`` for people."""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from vlgate.audit.blind_baseline import probe
from vlgate.audit.flaws import examine
from vlgate.gates.records import Gate
from vlgate.making.inputs.reading import Read
from vlgate.making.kinds.kind import Item, Kind
from vlgate.making.sets.blind import FEWEST, FOUND, IMPLAUSIBLE, NEAR, PRUNED, Reached, as_task, contrasts, images
from vlgate.making.sets.candidates import Chosen
from vlgate.making.sets.text_alone import Json, above, one_sided, remedy, set_rows, uneven, warning
from vlgate.making.sets.validity import Balance, of_classes, of_words, words
from vlgate.perturb.foils.candidates import Foil

GATED = Gate(task="", metric="").min_cases
"""The cases that a gate needs at least."""

UNMARKED = "this set is not balanced (--keep-unbalanced): compare versions of a model with it, and gate on none"
_SHOWN = 20  # the most frequent phrases that are listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    # Of the inputs ``read``, some are ``used``, and ``cased`` of these gave a case. ``refused`` counts the parts
    # of inputs that gave no candidate, ``dropped`` the candidates that did not stay.

    read: Read
    used: int
    candidates: int
    cased: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)


def measured(kind: Kind, chosen: Chosen, account: Account, *, made_by: Mapping[str, Any], lm: str) -> Json:
    items, read = chosen.items, account.read
    task = as_task(items, f"made/{kind.name}", kind.shape)
    pairs = [pair for item in items for pair in contrasts(item.candidate)]
    blind, probes, plausible = set_rows(items, kind, probe(task), lm)
    classes, texts = _classes(kind, items), _balance(of_words(pairs))
    told = above([one for one in (blind, *probes, plausible) if one is not None], len(items))
    cause = uneven((classes or texts)["phrases"], len(pairs))
    changed, true, false = [], Counter[str](), Counter[str]()
    for caption, foil in pairs:
        before, after = Counter(words(caption)), Counter(words(foil))
        changed.append(max((before - after).total(), (after - before).total()))
        true.update((before - after).keys())
        false.update((after - before).keys())
    sided = "" if kind.tells or chosen.balance == "none" else one_sided(true, false, len(items))
    return {
        "schema": 1,
        "kind": kind.name,
        "shape": kind.shape,
        "balanced": chosen.balance != "none",
        "cases": len(items),
        "images": len({name for item in items for name in images(item)}),
        "inputs": {
            "name": read.name,
            "given": read.given,
            "unread": read.given - len(read.inputs),
            "used": account.used,
            "with_case": account.cased,
            "left_out": _sorted(read.left_out),
            "images": read.images,
            "images_found": read.found,
        },
        "refused": _sorted(account.refused),
        "candidates": account.candidates,
        "dropped": _sorted(account.dropped),
        "gate": {"cases": GATED, "inputs": _inputs_of_a_gate(kind, chosen, account)},
        "blind": _explained(blind, chosen, account, exact=bool(classes and classes["distance"] == 0)),
        "note": "; ".join(filter(None, (chosen.note, sided))),
        "warning": warning(told, cause, remedy(kind, told, len(items), chosen.balance)),
        "plausibility": plausible,
        "classes": classes,
        "words": texts,
        "changed_words": {"median": statistics.median(changed), "most": max(changed)},
        "probes": probes,
        "flaws": [{"name": one.name, "count": one.count, "why": one.why} for one in examine(task)],
        "made_by": dict(made_by),
    }


def _inputs_of_a_gate(kind: Kind, chosen: Chosen, account: Account) -> int | None:
    # what a balance leaves grows faster than the inputs, and so do pairs of them: no share of theirs tells of more
    used = account.used * account.read.given / max(len(account.read.inputs), 1)
    if chosen.share is not None:
        return ceil(chosen.share * used)
    alike = not kind.whole and account.candidates == len(chosen.items)
    return ceil(GATED * used / len(chosen.items)) if alike else None


def sums(report: Mapping[str, Any]) -> tuple[str, str]:
    """Say what became of the inputs and of their candidates, in numbers that add up, and what a gate needs."""
    inputs, name, needs = report["inputs"], report["inputs"]["name"], report["gate"]["inputs"]
    given, unread, used, cased = (inputs[part] for part in ("given", "unread", "used", "with_case"))
    parts = {"gave a case": cased, "gave none": used - cased, "left out when read": unread}
    parts |= {"not used": given - unread - used}
    told = ", ".join(f"{number:,} {what}" for what, number in parts.items() if number)
    made = f"{report['candidates']:,} candidates, {report['cases']:,} of them cases"
    more = f"more than these {given:,} {name}; few inputs give fewer cases for their number than many"
    more = more if needs is None else f"about {needs:,} {name} such as these"
    return f"{given:,} {name}: {told}; {made}", f"a gate of {GATED} cases needs {more}"


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def _explained(blind: Json, chosen: Chosen, account: Account, *, exact: bool) -> Json:
    if blind["value"] is None:
        return {"value": None, "why": "not measured: fewer than ten images"}
    cases, far = len(chosen.items), f"more than {NEAR:.2f} above chance"
    if blind["value"] <= blind["chance"] + NEAR:
        why = f"at most {NEAR:.2f} above chance"
    elif chosen.balance == "none":
        why = f"{far}: the set is not balanced"
    elif cases <= FEWEST:
        why = f"{far}: no case is dropped of {FEWEST} or fewer"
    else:
        why = f"{far}: it stays so until fewer than {FEWEST} of {cases:,} cases are left"
    if blind["high"] < blind["chance"]:
        even = "each word is exactly as often true as false in the set, so that " if exact else ""
        learnt = "what is more often true in the cases it learns from is more often false in the others"
        why = f"below chance: {even}{learnt}"
    dropped = account.dropped.get(FOUND, 0) + account.dropped.get(IMPLAUSIBLE, 0)
    was = chosen.before.value if chosen.before is not None and dropped else None
    return {name: value for name, value in blind.items() if name != "note"} | {"before": was, "why": why}


def shortcuts_record(before: Reached, now: Reached, account: Account) -> Json:
    parts = {
        name: {"before": one.value, "value": now.probes[name].value, "low": now.probes[name].low, "n": one.n}
        for name, one in before.probes.items()
        if name in now.probes
    }
    return {"probes": parts, "chance": now.chance, "dropped": account.dropped.get(PRUNED, 0), "why": now.why}


def _classes(kind: Kind, items: Sequence[Item]) -> Json | None:
    pairs = [one.candidate.classes for one in items if isinstance(one.candidate, Foil)]
    if not pairs:
        return None
    return _balance(of_classes((pair, pair) if kind.permuted else (pair[:1], pair[1:]) for pair in pairs))


def _balance(balance: Balance) -> Json:
    common = Counter(balance.captions) + Counter(balance.foils)
    shown = [phrase for phrase, _ in sorted(common.items(), key=lambda one: (-one[1], one[0]))[:_SHOWN]]
    phrases = {phrase: [balance.captions.get(phrase, 0), balance.foils.get(phrase, 0)] for phrase in shown}
    return {"distance": balance.distance, "items": balance.items, "phrases": phrases}


def as_page(report: Json) -> str:
    title = [f"# {report['kind']}: {report['cases']:,} cases, {report['images']:,} images", ""]
    title += [] if report["balanced"] else [f"Beware: {UNMARKED}.", ""]
    sections = [_baselines(report), _pruning(report.get("shortcuts")), _words(report), _counts(report)]
    sections.append(how_made(report["made_by"]))
    return "\n".join([*title, *(line for section in sections if section for line in (*section, ""))])


def _baselines(report: Json) -> list[str]:
    found = report["blind"]
    lines = ["## What text alone gives away", "", "| rule | right | chance | pairs |", "|---|---|---|---|"]
    rows = [found] if found["value"] is not None else []
    rows += report["probes"]
    if (lm := report["plausibility"]) is not None:
        rows.append({**lm, "name": f"{lm['name']}, by {_cell(lm['model'])}"})
    lines += [f"| {row['name']} | {share(row['value'])} | {share(row['chance'])} | {row['n']:,} |" for row in rows]
    before = "" if found.get("before") is None else f" It was {share(found['before'])} before foils were dropped."
    notes = "".join(f" Beware: {_cell(note)}." for note in (report["note"], report["warning"]) if note)
    return [*lines, "", f"The blind baseline is {found['why']}.{before}{notes}"]


def _pruning(json: Json | None) -> list[str]:
    if json is None:
        return []
    lines = ["## Pruning", "", "| probe | right before | right now |", "|---|---|---|"]
    lines += [f"| {name} | {share(one['before'])} | {share(one['value'])} |" for name, one in json["probes"].items()]
    chance = share(json["chance"])
    return [*lines, "", f"{json['dropped']:,} cases were dropped. Text alone is {json['why']} (chance {chance})."]


def _words(report: Json) -> list[str]:
    lines = ["## Words of captions and foils", "", "| | Jensen-Shannon distance | lexical items |", "|---|---|---|"]
    for title, part in (("what differs", report["classes"]), ("all words", report["words"])):
        if part is not None:
            lines.append(f"| {title} | {part['distance']:.3f} | {part['items']:,} |")
    part, title = (report["classes"], "phrase") if report["classes"] else (report["words"], "word")
    lines += ["", f"| {title} | in captions | in foils |", "|---|---|---|"]
    lines += [f"| {_cell(phrase)} | {both[0]:,} | {both[1]:,} |" for phrase, both in part["phrases"].items()]
    edits = report["changed_words"]
    return [*lines, "", f"A foil changes {edits['median']:g} words (median), at most {edits['most']}."]


def _counts(report: Json) -> list[str]:
    inputs, (became, gate) = report["inputs"], sums(report)
    lines = ["## What was left out", "", f"{became}. {gate.capitalize()}."]
    if inputs["images_found"] is not None:
        lines.append(f"The folder of images has {inputs['images_found']:,} of the {inputs['images']:,} images.")
    rows = [("input", inputs["left_out"]), ("part of an input", report["refused"]), ("candidate", report["dropped"])]
    found = [f"| {what} | {_cell(reason)} | {number:,} |" for what, part in rows for reason, number in part.items()]
    found += [f"| flaw of the set | {one['name']}: {_cell(one['why'])} | {one['count']:,} |" for one in report["flaws"]]
    return [*lines, "", "| what | why | number |", "|---|---|---|", *found] if found else lines


def how_made(options: Mapping[str, Any]) -> list[str]:
    rows = []
    for name, value in options.items():
        text = ", ".join(f"{key} {one}" for key, one in value.items()) if isinstance(value, Mapping) else str(value)
        rows.append(f"| {name} | {_cell(text)} |")
    return ["## How it was made", "", "| option | value |", "|---|---|", *rows]


def share(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.3f}"


def _cell(text: str) -> str:
    """Return a text for a cell of a table: on one line, and without what Markdown or HTML would obey."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
