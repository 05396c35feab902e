"""May the model be released? In one line, as badge.json, and on the page of a CI job."""

import json
import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlgate.gates.records import JUDGED, Need
from vlgate.judging.judged import causes
from vlgate.record.model_card import ModelCard
from vlgate.record.results import RunResult
from vlgate.record.run_gates import FIRST_RUN
from vlgate.record.verdict import Word, outcome_of
from vlgate.record.whole_file import write_whole
from vlgate.report.rows import judged_by


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


# what a user does about an inconclusive gate, by what it needs, the most urgent first
_STEPS: Mapping[Need, str] = {
    "baseline": "name an earlier run of {task} as the baseline: --baseline DIR",
    "full run": "run it again without --quick",
    "all cases": "run all cases of {task}",
    "metric": "write {name} in the gate of {task}",
    "control": "run it again with --controls {name}",
    "ties": "run it again with --ties strict or half",
    "controls limit": "run it again with a larger --controls-limit",
    "cases": "give {task} more cases, or a threshold that its cases can decide",
}


def next_step(
    verdict: Word,
    gates: Iterable[Mapping[str, Any]],
    tasks: Collection[str],
    *,
    run: str,
    baseline: str = "",
    vlgate: str = "vlgate",
) -> str:
    """Return what a user does next, from ``gates`` of ``metrics.json``; empty if their reasons say it."""
    of_tasks = [(task, gate) for gate in gates if (task := judged_by(gate)[0]) in tasks]
    if verdict == "fail":
        failed = min((task for task, gate in of_tasks if gate["decision"] == "fail" and _has_missed(gate)), default="")
        return failed and f"{vlgate} show {run} --suite {shlex.quote(failed)} lists its missed cases"
    if verdict == "inconclusive":
        order, steps = list(_STEPS), ((gate["step"], task) for task, gate in of_tasks if "step" in gate)
        ordered = sorted((order.index(step["needs"]), task, step["name"]) for step, task in steps)
        return next((_STEPS[order[need]].format(task=task, name=name) for need, task, name in ordered), "")
    if verdict == "not gated":
        return f"{vlgate} init --from {run} writes gates from this run" if tasks else ""
    if verdict == "pass" and baseline:
        return f"{vlgate} baseline {run} --out {baseline} --overwrite makes this run the new baseline"
    if verdict == "pass":
        return f"{vlgate} baseline {run} keeps this run, for --baseline to compare later ones with"
    return ""


def _has_missed(gate: Mapping[str, Any]) -> bool:
    # A limit fails because the model is better, and a changed case may be right; a gate without a figure is about
    # something else than the cases
    return gate["kind"] not in {"limit", "max_churn"} and (gate["value"] is not None or "difference" in gate)


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
