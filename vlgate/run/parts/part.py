"""One part of a run (``--shard I/N``): what it cannot do, what it lacks, and its result, in which no gate is judged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from vlgate.errors import OptionError
from vlgate.gates.records import Decision
from vlgate.gates.thresholds import Thresholds
from vlgate.run.concluding import conclude
from vlgate.run.judging_again import ABOUT_REPLIES
from vlgate.run.options import Options, Shard
from vlgate.run.planning import Plan
from vlgate.run.results import NOT_JUDGED, RunResult
from vlgate.types import Task, Verdict

_ABOUT_THE_WHOLE = frozenset({*ABOUT_REPLIES, "required", "require-gates"})


def refuse_for_a_part(options: Options, *, searches: bool) -> None:
    """Refuse what only a whole run can do.

    Raises: OptionError, which names the option and the remedy.
    """
    why = ""
    if options.explain:
        why = "--explain explains the worst missed cases of a whole run, which a part does not know"
    elif options.controls and options.controls_named:
        why = "--controls asks about a sample of the whole run, and a part has some of its cases only"
    elif searches:
        why = "-m shrink searches a sample of the whole run"
    if options.shard is not None and why:
        raise OptionError(f"--shard={options.shard.number}/{options.shard.of}: {why}; leave one of the two out")


def conclude_part(
    tasks: Sequence[Task],
    verdicts: Mapping[str, Sequence[Verdict]],
    thresholds: Thresholds,
    options: Options,
    shard: Shard,
) -> RunResult:
    """Compute the figures of a part; every gate is listed as not run.

    The tasks are not examined for flaws, and nothing is compared with a baseline: the run that joins the parts does
    both.

    Args:
        tasks: the tasks of the plan of the whole run.
        verdicts: the verdicts of the part's cases, by task id, in the task's order.
        thresholds: the gates.
        options: the options of the run.
        shard: which part this is.
    """
    plain = replace(options, health="off", require_gates=False)
    found = conclude(tasks, verdicts, thresholds, plain)
    gates = [one.gate for one in found.decisions if one.gate.metric not in _ABOUT_THE_WHOLE]
    why = f"{shard}, of which {NOT_JUDGED}"
    decisions = tuple(Decision(gate=gate, outcome="not run", why=why) for gate in gates)
    return replace(found, decisions=decisions, error_rates=None, part=shard)


def lacks_of_part(plan: Plan, asked: Collection[str], decisions: Sequence[Decision]) -> list[str]:
    """Return why a part cannot be joined with others, in sentences.

    Args:
        plan: the plan, with the batches of the part.
        asked: the ids of the batches that were selected.
        decisions: the decisions about the run as a whole; one about its replies objects to them.
    """
    sizes = {name: len(batch.positions) for name, batch in plan.batches.items()}
    left = sum(size for name, size in sizes.items() if name not in asked)
    said = [f"{one.gate.id}: {one.why}" for one in decisions if one.gate.metric in ABOUT_REPLIES]
    if left:
        remedy = "select tasks with --suite instead"
        said.append(f"{left:,} of the {sum(sizes.values()):,} cases of the part were deselected; {remedy}")
    return said
