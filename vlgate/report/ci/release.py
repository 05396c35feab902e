"""Whether a model may be released, in one line: the first that a person reads at the end of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vlgate.report.rows import NOT_PASSED, named
from vlgate.run.results import RunResult

ReleaseWord = Literal["PASS", "FAIL", "INCONCLUSIVE", "INCOMPLETE", "NOT GATED"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Whether a model may be released, in a word, and why, in a few more (``2 of 17 gates fail``)."""

    word: ReleaseWord
    why: str


def release(run: RunResult, failures: int = 0) -> Release:
    """Decide whether the model of a run may be released; the worst that happened comes first.

    Args:
        run: the result of the run.
        failures: the number of tests that failed and are not gates.

    Returns: the word and the reason. A run without a judged gate says nothing about a release.
    """
    counts = _counts(run)
    tests = f"{failures} test{'s fail' if failures != 1 else ' fails'}" if failures else ""
    if run.incomplete:
        return Release(word="INCOMPLETE", why="; ".join(filter(None, [counts, run.incomplete])))
    outcomes = {decision.outcome for decision in run.decisions}
    if "fail" in outcomes:
        return Release(word="FAIL", why=", ".join(filter(None, [counts, tests])))
    if "inconclusive" in outcomes:
        return Release(word="INCONCLUSIVE", why=", ".join(filter(None, [counts, tests])))
    if failures:
        return Release(word="FAIL", why=", but ".join(filter(None, [counts, tests])))
    if "pass" in outcomes:
        return Release(word="PASS", why=counts)
    return Release(word="NOT GATED", why=", ".join(["no gate was judged", *filter(None, [counts])]))


def release_line(found: Release, model: str, status: int) -> str:
    """Return the line that says whether the model may be released, with the exit status of the session."""
    may = {
        "PASS": f"{model} may be released",
        "NOT GATED": f"nothing says whether {model} may be released",
    }.get(found.word, f"{model} may not be released")
    return f"{found.word}: {may}: {found.why} (exit status {status})"


def not_passed_lines(run: RunResult) -> list[str]:
    """Describe the gates that failed or are inconclusive, those with the same reason in one line."""
    lines = []
    for outcome in NOT_PASSED:
        alike: dict[str, list[str]] = {}
        for one in run.decisions:
            if one.outcome == outcome:
                alike.setdefault(one.why, []).append(one.gate.id)
        lines += [f"{outcome}: {named(ids)}: {why}" for why, ids in alike.items()]
    return lines


def _counts(run: RunResult) -> str:
    """How many gates pass or do not, as ``2 of 17 gates fail, 1 known limit holds``; empty if there are none."""
    outcomes = [decision.outcome for decision in run.decisions]
    passed, failed, unsure = (outcomes.count(outcome) for outcome in ("pass", "fail", "inconclusive"))
    judged = passed + failed + unsure
    gates = "gate" if judged == 1 else "gates"
    parts = []
    if failed:
        parts.append(f"{failed} of {judged} {gates} fail{'s' if failed == 1 else ''}")
    if unsure:
        of = "" if failed else f" of {judged} {gates}"
        parts.append(f"{unsure}{of} {'is' if unsure == 1 else 'are'} inconclusive")
    if judged and passed == judged:
        parts.append(f"{judged} of {judged} {gates} pass{'es' if judged == 1 else ''}")
    holding, idle = outcomes.count("cannot"), outcomes.count("not run")
    if not failed and not unsure:
        parts += [f"{holding} known limit{'s hold' if holding > 1 else ' holds'}"] if holding else []
        parts += [f"{idle} not run"] if idle else []
    return ", ".join(parts)
