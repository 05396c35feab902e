"""May the model be released? In one line, as badge.json, and on the page of a CI job."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vlgate.gates.records import JUDGED, Outcome
from vlgate.judging.judged import causes
from vlgate.record.model_card import ModelCard
from vlgate.record.results import RunResult
from vlgate.record.run_gates import FIRST_RUN
from vlgate.record.verdict import Word, outcome_of
from vlgate.record.whole_file import write_whole
from vlgate.report.rows import NOT_PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    verdict: Word
    why: str

    @property
    def word(self) -> str:
        return self.verdict.upper()


def release(run: RunResult, model: ModelCard) -> Release:
    outcome = outcome_of(run, model)
    counts = _counts(run) if run.part is None else ""
    why = [cause.sentence for cause in causes(result.verdicts for result in run.results)][:1] if outcome.broken else []
    lacks = outcome.unfinished or ": ".join(filter(None, ["; ".join(outcome.broken), *why]))
    judged = not JUDGED.isdisjoint(outcome.outcomes)
    joint = "; " if lacks else ", but " if judged and not outcome.stopped else ", "
    said = ("" if lacks or judged else "no gate was judged", counts, lacks or outcome.test_failed)
    return Release(verdict=outcome.verdict, why=joint.join(filter(None, said)))


def release_line(found: Release, model: str, status: int) -> str:
    may = {"PASS": f"{model} may be released", "NOT GATED": f"nothing says whether {model} may be released"}
    sentence = may.get(found.word, f"{model} may not be released")
    return f"{found.word}: {sentence}: {found.why} (exit status {status})"


# what the reason of an inconclusive gate says, and what a user does about that; a reason without a row says it itself
_STEPS = (
    ("with --baseline DIR|the baseline has no", "name an earlier run of {task} as the baseline: --baseline DIR"),
    ("run without --quick", "run it again without --quick"),
    ("cases were deselected", "run all cases of {task}"),
    (r"write (\w+) instead", "write {0} in the gate of {task}"),
    (r"(?:ask it with|use) (--controls \w+|--ties strict or half)", "run it again with {0}"),
    ("raise --controls-limit", "run it again with a larger --controls-limit"),
    ("needs more cases|fewer than min_cases", "give {task} more cases, or a threshold that its cases can decide"),
)


def next_step(verdict: Word, gates: Iterable[tuple[Outcome, str, str]], *, place: str, baseline: str = "") -> str:
    """Return what a user does next, by the outcomes of gates with their tasks and reasons; empty if these say it."""
    stops = sorted((NOT_PASSED.index(end), task, why) for end, task, why in gates if task and end in NOT_PASSED)
    missed = [task for _, task, why in stops if "; raise the limit" not in why]
    if verdict == "fail" and missed:
        return f"vlgate show {place} --suite {shlex.quote(missed[0])} lists its missed cases"
    if verdict == "inconclusive":
        found = ((step, task, re.search(sign, why)) for sign, step in _STEPS for _, task, why in stops)
        return next((step.format(*said.groups(), task=task) for step, task, said in found if said), "")
    if verdict == "not gated":
        return f"vlgate init --from {place} writes gates from this run"
    if verdict == "pass" and baseline:
        return f"vlgate baseline {place} --out {baseline} --overwrite makes this run the new baseline"
    if verdict == "pass":
        return f"vlgate baseline {place} keeps this run, for --baseline to compare later ones with"
    return ""


def _counts(run: RunResult) -> str:
    # How many gates pass or do not, as ``2 of 17 gates fail, 1 known limit holds``; empty if there are none
    outcomes = [decision.outcome for decision in run.decisions]
    passed, failed, unsure = (outcomes.count(one) for one in ("pass", "fail", "inconclusive"))
    judged = passed + failed + unsure
    gates = "gate" if judged == 1 else "gates"
    of = "" if failed else f" of {judged} {gates}"
    parts = [f"{failed} of {judged} {gates} fail{'s' if failed == 1 else ''}"] if failed else []
    parts += [f"{unsure}{of} {'is' if unsure == 1 else 'are'} inconclusive"] if unsure else []
    parts += [f"{judged} of {judged} {gates} pass{'es' if judged == 1 else ''}"] if judged and passed == judged else []
    first = sum(decision.why == FIRST_RUN for decision in run.decisions)
    holding, idle = outcomes.count("cannot"), outcomes.count("not run") - first
    if not failed and not unsure:
        parts += [f"{holding} known limit{'s hold' if holding > 1 else ' holds'}"] if holding else []
        parts += [f"{idle} not run"] if idle else []
        parts += [f"{first} not compared: first run"] if first else []
    return ", ".join(parts)


BADGE = "badge.json"
_COLOURS: Mapping[Word, str] = {"pass": "brightgreen", "fail": "red", "inconclusive": "yellow"}  # others are grey


def badge_content(run: RunResult, model: ModelCard) -> dict[str, object]:
    """Return the badge of a run, as the endpoint of shields.io takes it (https://shields.io/badges/endpoint-badge)."""
    outcome = outcome_of(run, model)
    word, passed = outcome.verdict, outcome.outcomes.count("pass")
    judged = sum(one in JUDGED for one in outcome.outcomes)
    counts = f", {passed} of {judged} gates" if word in {"pass", "fail", "inconclusive"} else ""
    return {
        "schemaVersion": 1,
        "label": "vlgate",
        "message": f"{word}{counts if run.part is None else f', {run.part}'}",
        "color": _COLOURS.get(word, "lightgrey"),
        "isError": word in {"broken", "fail", "incomplete"},
    }


def write_badge(folder: Path, run: RunResult, model: ModelCard) -> None:
    write_whole(folder / BADGE, json.dumps(badge_content(run, model), indent=1) + "\n")


# ``summary.md`` on the page of a job of GitHub Actions, through the file that ``GITHUB_STEP_SUMMARY`` names.

MOST = 1024 * 1024  # the bytes that GitHub takes from one step; it shows nothing of a longer file
_CUT = b"\n\n(cut, because GitHub shows at most 1 MiB; summary.md of the results folder has the rest)\n"


def append_summary(summary: Path, place: str) -> str:
    if not place:
        return ""
    try:
        text = shown = summary.read_bytes()
        room = MOST - (Path(place).stat().st_size if Path(place).exists() else 0)
        if len(text) >= room:  # the first whole lines that there is room for, and a note
            head = text[: max(0, room - len(_CUT))]
            shown = head[: head.rfind(b"\n") + 1] + _CUT if room > len(_CUT) else b""
        with Path(place).open("ab") as file:
            file.write(shown)
    except OSError as error:
        return f"GITHUB_STEP_SUMMARY: the summary could not be written ({error.strerror})"
    return "" if shown == text else "GITHUB_STEP_SUMMARY: the summary was cut, because GitHub shows at most 1 MiB"
