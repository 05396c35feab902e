"""The thresholds file that the joined parts are judged with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from vlgate.errors import ThresholdsError, UnknownTaskError
from vlgate.gates.records import Decision
from vlgate.gates.thresholds import Thresholds, read_thresholds
from vlgate.metrics.names import CONTROLLED
from vlgate.recorded.part import RecordedPart
from vlgate.run.options import Options
from vlgate.run.planning import known_tasks, no_folder


def read_gates(options: Options) -> Thresholds:
    """Return the gates of a run; none without a thresholds file.

    Raises: OptionError if an option names something that does not exist; ThresholdsError if the file cannot be used.
    """
    known = known_tasks(options)
    if options.thresholds is None:
        return Thresholds(file=Path("thresholds.toml"), rules=(), require=())
    try:
        return read_thresholds(options.thresholds, known)
    except UnknownTaskError as error:
        raise ThresholdsError(f"{error}{no_folder(options, error.task)}") from None


def refuse_other_thresholds(part: RecordedPart, thresholds: Thresholds) -> None:
    """Refuse a thresholds file that is another one than that of the parts.

    Raises: OptionError, which names the file and the option that accepts it.
    """
    held = thresholds.must_hold
    now = {
        "thresholds": f"sha256:{thresholds.digest}" if thresholds.digest else None,
        "must_hold": None if held is None else f"sha256:{held.digest}",
    }
    if any(part.content["digests"][name] != found for name, found in now.items()):
        raise part.wrong(
            f"{thresholds.file} is not what it was when the part ran", "name the file to judge with by --thresholds"
        )


def without_controls(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """Return the decisions; those on a control, which no part asks, say what decides them.

    A control is asked about a sample of the judged cases of the whole run, which no part knows.
    """
    return tuple(_without_control(one) if one.gate.metric in CONTROLLED else one for one in decisions)


def _without_control(decision: Decision) -> Decision:
    if decision.outcome != "inconclusive":
        return decision
    control = CONTROLLED[decision.gate.metric]
    lacks = f"the control {control} has no {decision.gate.metric} of this task, because parts of a run ask no control"
    remedy = f"judge this gate in a run without --shard, with --controls {control}"
    return replace(decision, why=f"{lacks}; {remedy}, and name a --thresholds file without it here")
