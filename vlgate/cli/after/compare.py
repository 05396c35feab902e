"""Compare two runs case by case: what is newly broken, what is fixed, and the difference of each metric.

A and B are results folders; B is the later run. The cases are paired by their ids and by what they ask; runs that ask
something else are refused. With --thresholds, all gates of the file are decided as by vlgate judge about the later run,
with the same exit status; those on a comparison (max_drop, max_broken, max_churn) and those that do not pass are shown.
"""

import argparse

from vlgate.cli import say, say_json
from vlgate.errors import OptionError
from vlgate.gates.records import RELEASABLE, Decision
from vlgate.record.comparison import NEEDED, compare, comparison_lines, comparison_record, finished_run, read_earlier
from vlgate.record.folder import read_run, refuse_incomplete
from vlgate.record.judging_again import judge_again
from vlgate.record.verdict import RunOutcome


def run(given: argparse.Namespace) -> int:
    """Return the exit status: with --thresholds, 1 if a gate or the later run does not pass."""
    earlier = read_earlier(given.before, f"vlgate compare {given.before}")
    recorded = read_run(given.after, f"vlgate compare {given.after}", NEEDED if given.thresholds is None else None)
    refuse_incomplete(recorded)
    made: list[Decision] = []
    outcome, found = RunOutcome(outcomes=()), None
    if given.thresholds is not None:
        judged = judge_again(recorded, given.thresholds, earlier)
        if not any(decision.gate.compares for decision in judged.decisions):
            raise OptionError(f"--thresholds {given.thresholds}: has no max_drop, max_broken or max_churn; write one")
        made = [
            decision for decision in judged.decisions if decision.gate.compares or decision.outcome not in RELEASABLE
        ]
        found, outcome = judged.comparison, judged.outcome
    found = found or compare(earlier, finished_run(recorded))
    if given.json:
        gates = [{"gate": one.gate.id, "decision": one.outcome, "why": one.why} for one in made]
        content = {**comparison_record(found), "gates": gates, "lacking": list(outcome.lacking)}
        say_json(content)
    else:
        lines = comparison_lines(found, None if given.all else 10)
        lines += [f"cannot pass: {why}" for why in outcome.lacking]
        lines += [f"{one.outcome}: {one.gate.id}: {one.why}" for one in made]
        say(*lines)
    return int(outcome.status > 0)
