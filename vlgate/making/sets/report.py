"""The report on a set, which is written beside it: ``bias.json`` for programs and ``bias.md`` for people."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vlgate.audit.blind_baseline import probe
from vlgate.audit.flaws import examine
from vlgate.making.kinds.kind import Item, Kind
from vlgate.making.sets.blind import (
    CHANCE,
    FEWEST,
    FOUND,
    IMPLAUSIBLE,
    NEAR,
    PRUNED,
    Blind,
    Reached,
    as_task,
    blind,
    contrasts,
    images,
    likelier,
)
from vlgate.making.sets.validity import Balance, of_classes, of_words, words
from vlgate.metrics.stats import wilson
from vlgate.perturb.foils.candidates import Foil

Json = dict[str, Any]
_SHOWN = 20  # the most frequent phrases that are listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What became of the inputs, of which candidates were made from ``used``; counts are by reason."""

    # ``left_out`` counts what was left out when the files were read, ``refused`` the parts of inputs that gave no
    # candidate, ``dropped`` the candidates that did not stay. ``note`` says what is wrong with the balance of the set.
    # The inputs have ``images``, and the folder of --images has ``found`` of them; None without a folder.

    inputs: int
    used: int
    candidates: int
    left_out: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    note: str = ""
    images: int = 0
    found: int | None = None


def measured(
    kind: Kind,
    items: Sequence[Item],
    account: Account,
    *,
    before: Blind | None,
    made_by: Mapping[str, Any],
    lm: str,
) -> Json:
    task = as_task(items, f"made/{kind.name}", kind.shape)
    pairs = [pair for item in items for pair in contrasts(item.candidate)]
    return {
        "schema": 1,
        "kind": kind.name,
        "shape": kind.shape,
        "cases": len(items),
        "images": len({name for item in items for name in images(item)}),
        "inputs": {
            "read": account.inputs,
            "used": account.used,
            "left_out": _sorted(account.left_out),
            "images": account.images,
            "images_found": account.found,
        },
        "refused": _sorted(account.refused),
        "candidates": account.candidates,
        "dropped": _sorted(account.dropped),
        "blind": _blind(
            blind(items, kind.shape),
            before,
            len(items),
            found=account.dropped.get(FOUND, 0) + account.dropped.get(IMPLAUSIBLE, 0),
        ),
        "note": account.note,
        "plausibility": _plausibility(items, lm),
        "classes": _classes(kind, items),
        "words": _balance(of_words(pairs)),
        "changed_words": _edits(pairs),
        "probes": [
            {"name": one.name, "value": one.shown, "n": one.n, "note": one.note, "chance": CHANCE}
            for one in probe(task)
        ],
        "flaws": [{"name": one.name, "count": one.count, "why": one.why} for one in examine(task)],
        "made_by": dict(made_by),
    }


def _sorted(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


def _blind(now: Blind | None, before: Blind | None, cases: int, *, found: int) -> Json:
    if now is None:
        return {"value": None, "why": "not measured: fewer than ten images"}
    low, high = wilson(now.value, now.n)
    if not now.near and cases <= FEWEST:
        why = f"more than {NEAR:.2f} above chance: no case is dropped of {FEWEST} or fewer"
    elif not now.near:
        why = f"more than {NEAR:.2f} above chance: it stays so until fewer than {FEWEST} of {cases:,} cases are left"
    elif high < CHANCE:
        why = (
            "below chance, as in small sets whose words are as often true as false: a word that is more often true in "
            "the cases it learns from is more often false in the others"
        )
    else:
        why = f"at most {NEAR:.2f} above chance"
    was = before.value if before is not None and found else None
    return {"value": now.value, "low": low, "high": high, "n": now.n, "chance": CHANCE, "before": was, "why": why}


def shortcuts_record(before: Reached, now: Reached, account: Account) -> Json:
    """Return what the probes of text reach before and after pruning, and how many cases were dropped for it."""
    parts = {
        name: {"before": one.value, "value": now.probes[name].value, "low": now.probes[name].low, "n": one.n}
        for name, one in before.probes.items()
        if name in now.probes
    }
    return {"probes": parts, "chance": now.chance, "dropped": account.dropped.get(PRUNED, 0), "why": now.why}


def _plausibility(items: Sequence[Item], name: str) -> Json | None:
    """How often the true text is the likelier one, a tie counts 1/2 (VALSE, appendix D); None if none is scored."""
    share = likelier(items)
    if share is None:
        return None
    low, high = wilson(share.value, share.n)
    return {"model": name, "value": share.value, "low": low, "high": high, "n": share.n}


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


def _edits(pairs: Sequence[tuple[str, str]]) -> Json:
    changed = []
    for caption, foil in pairs:
        before, after = Counter(words(caption)), Counter(words(foil))
        changed.append(max((before - after).total(), (after - before).total()))
    return {"median": statistics.median(changed), "most": max(changed)}


def as_page(report: Json) -> str:
    title = f"# {report['kind']}: {report['cases']:,} cases, {report['images']:,} images"
    sections = [_baselines(report), _pruning(report.get("shortcuts")), _words(report), _counts(report)]
    sections.append(how_made(report["made_by"]))
    return "\n".join([title, "", *(line for section in sections if section for line in (*section, ""))])


def _baselines(report: Json) -> list[str]:
    found = report["blind"]
    lines = ["## What text alone gives away", "", "| rule | right | chance | pairs |", "|---|---|---|---|"]
    rows = [{"name": "blind baseline, cross-validated", **found}] if found["value"] is not None else []
    rows += report["probes"]
    if (lm := report["plausibility"]) is not None:
        rows.append({"name": f"the more plausible text, by {_cell(lm['model'])}", "chance": CHANCE, **lm})
    lines += [f"| {row['name']} | {share(row['value'])} | {share(row['chance'])} | {row['n']:,} |" for row in rows]
    before = "" if found.get("before") is None else f" It was {share(found['before'])} before foils were dropped."
    note = f" Beware: {report['note']}." if report["note"] else ""
    return [*lines, "", f"The blind baseline is {found['why']}.{before}{note}"]


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
    inputs = report["inputs"]
    lines = ["## What was left out", "", f"{inputs['used']:,} of {inputs['read']:,} inputs were used. They gave"]
    lines[-1] += f" {report['candidates']:,} candidates, of which {report['cases']:,} stayed."
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
