"""Decide the gates of a thresholds file about a finished run, from its files.

It needs neither the model nor torch. The decisions and the exit status are those that the run itself would give with
this file: cases that were deselected, not scored or skipped beyond max_skipped, a test that failed and is not a gate,
and a run that did not come to its end, cannot pass. Nothing is written unless --results names a folder.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

from vlgate.cli import say
from vlgate.gates.records import OUTCOMES, Outcome
from vlgate.record.comparison import read_earlier
from vlgate.record.folder import read_run
from vlgate.record.judging_again import judge_again
from vlgate.record.options import FIRST, baseline_of
from vlgate.report.rows import NOT_PASSED, outcome_lines

ORDER: tuple[Outcome, ...] = tuple(dict.fromkeys((*NOT_PASSED, "cannot", *OUTCOMES)))


def run(given: argparse.Namespace) -> int:
    """Return the exit status: 1 if a gate does not pass, another test of the run failed, or it lacks something."""
    from vlgate.report.folder import figures_again, refuse_folder

    recorded = read_run(given.run, f"vlgate judge {given.run}")
    if given.results is not None:
        refuse_folder(recorded, given.results, overwrite=given.overwrite)
    named = None if given.baseline is None else baseline_of(given.baseline, Path())
    earlier = read_earlier(named, f"--baseline {named}") if isinstance(named, Path) else None
    first, required = named == FIRST, given.require_gates
    judged = judge_again(recorded, given.thresholds, earlier, first=first, require_gates=required)
    figures = figures_again(recorded, judged, given.thresholds)
    if given.json:
        content = {
            "run": str(given.run),
            "model": recorded.model,
            "thresholds": str(given.thresholds),
            "passed": not judged.outcome.status,
            "lacking": list(judged.outcome.lacking),
            "gates": figures["gates"],
        }
        say(json.dumps(content, indent=1, ensure_ascii=False))
    else:
        counts = Counter(decision.outcome for decision in judged.decisions)
        said = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ORDER if outcome in counts)
        word = {"pass": "passes", "not gated": "no gate was judged"}.get(judged.outcome.verdict, "does not pass")
        lines = [f"{recorded.model} with {given.thresholds}: {word} ({said or 'no gates'})"]
        lines += [f"cannot pass: {why}" for why in judged.outcome.lacking]
        ordered = sorted(judged.decisions, key=lambda decision: ORDER.index(decision.outcome))
        lines += [f"{other.outcome}: {other.gate.id}: {other.why}" for other in ordered if other.outcome != "not run"]
        say(*(lines + outcome_lines(ordered, "not run")))
    if given.results is not None:
        from vlgate.report.folder import write_judged
        from vlgate.run.planning import tasks_again

        tasks, problem = tasks_again(recorded.figures, recorded.environment)
        signed = write_judged(recorded, judged, figures, given.results, tasks)
        lacks = "" if signed else "the run has no verdict.json, so none is written"
        if not given.json:
            say(*[*(f"note: {one}" for one in (problem, lacks) if one), f"written to {given.results}"])
    return int(judged.outcome.status > 0)
