"""Decisions about a run as a whole: what it left out, and whether its model can be judged at all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase

from vlgate.comparing.changes import FIRST_RUN
from vlgate.gates.allowed import CHECKS
from vlgate.gates.records import JUDGED, Decision, Gate, Outcome
from vlgate.gates.thresholds import Thresholds
from vlgate.run.model_card import ModelCard
from vlgate.run.options import Options


def doubts(card: ModelCard, cards: Sequence[ModelCard], thresholds: Thresholds) -> list[Decision]:
    """Return decisions about the model: inconclusive if a check is suspect, or if the workers loaded different models.

    Args:
        card: the merged card of the model, with its checks; a suspect one is not run if ``[checks]`` allows it.
        cards: the cards of all processes that loaded the model.
        thresholds: the thresholds file.
    """
    return [*_different(cards), *_suspect(card, thresholds)]


def _different(cards: Sequence[ModelCard]) -> list[Decision]:
    found = {card.fingerprint for card in cards}
    if len(found) < 2:
        return []
    why = (
        f"{len(cards)} workers loaded {len(found)} different models: their fingerprints differ, because the code or "
        "the weights changed while the run started, or because the attribute fingerprint of the model is another one "
        "in each process; run it again"
    )
    return [_about("model", "same-model", "inconclusive", why)]


def _suspect(card: ModelCard, thresholds: Thresholds) -> list[Decision]:
    return [
        _about("model", check.name, "not run", f"{check.why}; allowed because {thresholds.allowed[check.name]}")
        if check.name in thresholds.allowed
        else _about(
            "model", check.name, "inconclusive", f"{check.why}; [checks] in {thresholds.file.name} can allow it"
        )
        for check in card.checks
        if check.name in CHECKS and check.outcome == "suspect"
    ]


def required(
    thresholds: Thresholds,
    counts: Mapping[str, tuple[int, int]],
    options: Options,
    known: Collection[str],
) -> list[Decision]:
    """Return a decision per required task that has no data in a full run, or whose cases were not all selected.

    Args:
        thresholds: the thresholds file, with the patterns of ``require``.
        counts: how many cases of each task of the plan were selected, and how many it has.
        options: the options of the run; with ``--suite``, tasks that are not planned are not required.
        known: the ids of all known tasks.
    """
    needed = [task for task in known if any(fnmatchcase(task, pattern) for pattern in thresholds.require)]
    file = thresholds.file.name
    found = []
    for name in needed:
        if name in counts:
            selected, cases = counts[name]
            if selected < cases:
                why = f"{file} requires this task, but {cases - selected} of its {cases} cases were deselected"
                found.append(_about(name, "required", "inconclusive", why))
        elif not options.suite:
            why = f"{file} requires this task in a full run, but the data folders do not hold its data"
            found.append(_about(name, "required", "fail", why))
    return found


def unjudged_gates(
    decisions: Sequence[Decision], thresholds: Thresholds, options: Options, *, searched: bool = False
) -> list[Decision]:
    """Return an inconclusive decision if the options ask for a judged gate and no gate was judged.

    ``searched`` says that the session only searched for smallest changes.
    """
    if not options.require_gates or any(decision.outcome in JUDGED for decision in decisions):
        return []
    none, remedy = f"no gate of {thresholds.file} is about a task of this run", "add a gate with min"
    remedy += ", or name another file with --thresholds"
    if searched:
        none, remedy = "the session only searched for smallest changes (-m shrink)", "leave -m shrink out"
    elif any(decision.why == FIRST_RUN for decision in decisions):
        none = f"every gate of {thresholds.file} about this run compares with an earlier run, and this is the first"
    elif thresholds.acuity:
        none += " (those of [acuity] are judged by vlgate acuity)"
    why = f"no gate was judged: {none}; {remedy}, or accept a run without gates with --no-require-gates"
    return [_about("run", "require-gates", "inconclusive", why)]


def other_data(sender: str) -> Decision:
    """Return the failed decision about replies to other data than those of this process."""
    why = (
        f"{sender} read other data than the process that judges: the ids, texts, truths or images of the plan differ; "
        "the data or the code changed while the run started, so run it again"
    )
    return _about("run", "same-data", "fail", why)


def _about(task: str, what: str, outcome: Outcome, why: str) -> Decision:
    return Decision(gate=Gate(task=task, metric=what), outcome=outcome, why=why)
