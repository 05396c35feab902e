"""Whether a model may be released, in one line: the first that a person reads at the end of a run."""

from __future__ import annotations

from dataclasses import dataclass

from vlgate.comparing.changes import FIRST_RUN
from vlgate.gates.records import JUDGED
from vlgate.report.rows import NOT_PASSED, outcome_lines
from vlgate.run.model_card import ModelCard
from vlgate.run.results import RunResult
from vlgate.run.verdict import outcome_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """The verdict on a run in capitals, and why, in a few words (``2 of 17 gates fail``)."""

    word: str
    why: str


def release(run: RunResult, model: ModelCard) -> Release:
    """Return the verdict on a run, with its reason in a few words."""
    outcome = outcome_of(run, model)
    counts = _counts(run) if run.part is None else ""
    lacks = outcome.unfinished or "; ".join(outcome.broken)
    judged = not JUDGED.isdisjoint(outcome.outcomes)
    joint = "; " if lacks else ", but " if judged and not outcome.stopped else ", "
    said = ("" if lacks or judged else "no gate was judged", counts, lacks or outcome.test_failed)
    return Release(word=outcome.verdict.upper(), why=joint.join(filter(None, said)))


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
    passed, failed, unsure = (outcomes.count(one) for one in ("pass", "fail", "inconclusive"))
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
