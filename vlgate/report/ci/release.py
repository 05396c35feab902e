"""Whether a model may be released, in one line: the first that a person reads at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from vlgate.comparing.changes import FIRST_RUN
from vlgate.report.rows import NOT_PASSED, outcome_lines
from vlgate.report.verdict_json import verdict_of
from vlgate.run.model_card import ModelCard
from vlgate.run.results import RunResult
from vlgate.run.verdict import Word

ReleaseWord = Literal["BROKEN", "INCOMPLETE", "FAIL", "INCONCLUSIVE", "PASS", "NOT GATED"]


_WORDS: Mapping[Word, ReleaseWord] = MappingProxyType(
    {"broken": "BROKEN", "incomplete": "INCOMPLETE", "fail": "FAIL", "inconclusive": "INCONCLUSIVE", "pass": "PASS"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Whether a model may be released, in a word, and why, in a few more (``2 of 17 gates fail``)."""

    word: ReleaseWord
    why: str


def release(run: RunResult, model: ModelCard, failures: int = 0) -> Release:
    """Decide whether the model of a run may be released: the verdict of ``verdict.json``, with its reason.

    Args:
        run: the result of the run.
        model: its model.
        failures: the number of tests that failed and are not gates.

    Returns: the word and the reason. A run without a judged gate says nothing about a release, and one that passes
        does not if another test fails.
    """
    verdict = verdict_of(run, model)
    counts = _counts(run) if run.part is None else ""
    tests = f"{failures} test{'s fail' if failures != 1 else ' fails'}" if failures else ""
    if verdict in ("broken", "incomplete"):
        lacks = run.unfinished or tests or "a case could not be scored, or a process of the run crashed"
        return Release(word=_WORDS[verdict], why="; ".join(filter(None, [counts, lacks])))
    if verdict in ("fail", "inconclusive"):
        return Release(word=_WORDS[verdict], why=", ".join(filter(None, [counts, tests])))
    if failures:
        return Release(word="FAIL", why=", but ".join(filter(None, [counts, tests])))
    if verdict == "pass":
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
    return [line for outcome in NOT_PASSED for line in outcome_lines(run.decisions, outcome)]


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
    first = sum(decision.why == FIRST_RUN for decision in run.decisions)
    holding, idle = outcomes.count("cannot"), outcomes.count("not run") - first
    if not failed and not unsure:
        parts += [f"{holding} known limit{'s hold' if holding > 1 else ' holds'}"] if holding else []
        parts += [f"{idle} not run"] if idle else []
        parts += [f"{first} not compared: first run"] if first else []
    return ", ".join(parts)
