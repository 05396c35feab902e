"""May this release ship? The decisions of a run, and what changed since its baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from vlgate.metrics.sentences import figure
from vlgate.metrics.shapes import headlines
from vlgate.record.run_gates import FIRST_RUN
from vlgate.record.verdict import RunOutcome
from vlgate.report.ci.release import next_step
from vlgate.report.page.cards import Card, anchor
from vlgate.report.rows import NOT_PASSED, count_words, difference_words, judged_by, threshold_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    tone: str  # yes, no or open
    sentence: str
    reasons: tuple[str, ...] = ()
    step: str = ""  # what to do next


def answer(figures: Mapping[str, Any], outcome: RunOutcome) -> Answer:
    stops = {word: [gate for gate in figures["gates"] if gate["decision"] == word] for word in NOT_PASSED}
    flaws = outcome.lacking if outcome.broken or outcome.unfinished else ()
    failed = _count(stops["fail"], "fails", "fail")
    unsure = _count(stops["inconclusive"], "is inconclusive", "are inconclusive")
    parts = [f"the run is {word}" for word in dict.fromkeys(flaw.partition(":")[0] for flaw in flaws)]
    parts += filter(None, (failed, unsure))
    passed = outcome.outcomes.count("pass")
    every = "its gate passes" if passed == 1 else f"all {passed} gates pass"
    kept = "BASELINE" if figures.get("baseline") else ""
    step = next_step(outcome.verdict, figures["gates"], figures.get("tasks", ()), run="RUN", baseline=kept)
    first = [gate for gate in figures["gates"] if gate["why"] == FIRST_RUN]
    every += f"; {_count(first, 'is', 'are')} not compared: first run" if first else ""
    if outcome.verdict == "pass":
        return Answer(tone="yes", sentence=f"This release may ship: {every}.", step=step)
    if outcome.verdict == "not gated":
        sentence = "No gate was judged, so nothing says whether this release may ship."
        return Answer(tone="open", sentence=sentence, step=step)
    if outcome.test_failed and not flaws:
        before = "" if parts else f"{every if passed else 'no gate was judged'}, but "
        parts.append(before + outcome.test_failed)
    joined = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    reasons = tuple(f"{gate['gate']}: {gate['why']}" for word in NOT_PASSED for gate in stops[word])
    return Answer(tone="no", sentence=f"This release may not ship: {joined}.", reasons=(*flaws, *reasons), step=step)


def urgency(gate: Mapping[str, Any]) -> int:
    return (*NOT_PASSED, gate["decision"]).index(gate["decision"])


def decided(gate: Mapping[str, Any], tasks: Mapping[str, Any]) -> dict[str, Any]:
    task, metric = judged_by(gate)
    value, interval, n, counts = _changed(gate)
    words = threshold_words(gate["kind"], gate["min"], gate["max"], gate["basis"])
    figures = tasks[task]["metrics"].get(metric, {}) if task in tasks else {}
    blind = {"chance": figures.get("chance"), "a text-only model": figures.get("blind", {}).get("value")}
    reached = [
        f"{name} reaches {figure(reach, gate['min'])}"
        for name, reach in blind.items()
        if gate["min"] is not None and reach is not None and reach >= gate["min"]
    ]
    warning = f"{' and '.join(reached)}, so this gate can be reached without the image" if reached else ""
    named = {"gate": gate["gate"].removeprefix("limit:"), "anchor": anchor(task) if task in tasks else ""}
    cells = {"cells": {"value": value, "interval": interval, "n": n}, "counts": counts, "warning": warning}
    return {**gate, **named, **cells, "threshold": words.replace(">=", "≥").replace("<=", "≤")}


def _count(gates: Sequence[object], one: str, several: str) -> str:
    return f"{len(gates)} {f'gate {one}' if len(gates) == 1 else f'gates {several}'}" if gates else ""


def _changed(gate: Mapping[str, Any]) -> tuple[str, str, str, str]:
    if (change := gate.get("difference")) is not None:
        n, fixed = f"{change['n']:,}", f"{change['fixed']:,} fixed"
        if "counted" in gate:
            broken = "" if gate["kind"] == "max_broken" else f"{change['broken']:,} broken, "
            return count_words(gate["kind"], gate["counted"]), "", n, broken + fixed
        value, interval = difference_words(change["value"], change["low"], change["high"])
        return value, interval, n, f"{change['broken']:,} broken, {fixed}"
    value, n = gate["value"], "" if gate["n"] is None else f"{gate['n']:,}"
    if value is None:
        return "", "", n, ""
    value, *ends = (figure(one, gate["min"], gate["max"]) for one in (value, gate["low"], gate["high"]))
    return value, " \N{EN DASH} ".join(ends), n, ""


MOST = 60  # the most newly broken cases that stand at the top of a page
_HEADLINES = headlines()


def quota(comparison: Mapping[str, Any] | None) -> int:
    """Return the most newly broken cases of a task on a page: at least two, and 60 on the whole page if that fits."""
    broken = sum(bool(task["broken"]) for task in comparison["tasks"].values()) if comparison else 0
    return max(2, MOST // max(1, broken))


def changes(
    comparison: Mapping[str, Any], name: str, cards: Mapping[str, Sequence[Card]], problem: str
) -> dict[str, Any]:
    """Return ``baseline`` of ``metrics.json`` with its sums, notes and cards; ``problem`` says why replies lack."""
    # ``tasks`` are those in which a verdict changed, the most newly broken cases first; ``cards`` the worst newly
    # broken case of each task, then the second one of each, and so on.
    tasks = [_task(task, change) for task, change in comparison["tasks"].items()]
    changed = [task for task in tasks if task["broken"] or task["fixed"]]
    changed.sort(key=lambda task: (-task["broken"], -len(task["fixed"])))
    rounds = zip_longest(*(cards.get(task["task"], ()) for task in changed))
    shown = [card for turn in rounds for card in turn if card is not None]
    sums = {key: sum(task[key] for task in tasks) for key in ("n", "broken", "still_wrong", "unchanged", "churned")}
    notes = [f"{sentence[:1].upper()}{sentence[1:]}." for sentence in comparison["unlike"]]
    if comparison["left_out"]:
        notes.append(f"Not compared, because only one of the runs has them: {', '.join(comparison['left_out'])}.")
    if len(shown) < sums["broken"]:
        more = "of each task the worst two and a sample; metrics.json names all of them"
        notes.append(f"{len(shown):,} of {sums['broken']:,} newly broken cases are shown: {more}.")
    notes += [f"What the earlier run replied is not shown: {problem}."] if problem else []
    counts = {**sums, "fixed": sum(len(task["fixed"]) for task in tasks), "same": len(tasks) - len(changed)}
    return {**comparison, **counts, "baseline": name, "cards": shown, "tasks": changed, "notes": notes}


def value_before(comparison: Mapping[str, Any] | None, task: str, metric: str, now: Mapping[str, Any]) -> float | None:
    change = {} if comparison is None else comparison["tasks"].get(task, {}).get("differences", {}).get(metric, {})
    return float(now["value"] - change["value"]) if change and change["n"] == now["n"] else None


def _task(name: str, change: Mapping[str, Any]) -> dict[str, Any]:
    known = (change.get("metric"), *_HEADLINES)  # runs of earlier versions do not name it
    headline = next((metric for metric in known if metric in change["differences"]), "")
    found = change["differences"].get(headline)
    value, interval = difference_words(found["value"], found["low"], found["high"]) if found else ("", "")
    broken, difference = len(change["broken"]), f"{headline} {value} ({interval})" if found else ""
    unchanged = change["n"] - broken - len(change["fixed"]) - change["still_wrong"]
    named = {"task": name, "anchor": anchor(name), "difference": difference}
    return {**change, **named, "broken": broken, "unchanged": unchanged}
