"""The keys of ``thresholds.toml``: the sections that may hold each, its values, and its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Section = Literal["top level", "[defaults]", "[checks]", "[gate]", "[limit]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key of a thresholds file: where it may stand, what it holds, its default (None if it has none), its meaning."""

    name: str
    sections: tuple[Section, ...]
    holds: str
    default: object = None
    about: str


COMMON: tuple[Section, ...] = ("[defaults]", "[gate]", "[limit]")
KEYS = (
    Key(name="schema", sections=("top level",), holds="1", about="the version of the format; required"),
    Key(name="defaults", sections=("top level",), holds="table", about="what holds for all gates and limits"),
    Key(
        name="gate", sections=("top level",), holds="tables", about='the gates, each `[gate."TASK OR PATTERN".METRIC]`'
    ),
    Key(
        name="limit",
        sections=("top level",),
        holds="tables",
        about='what the model is known not to do, each `[limit."TASK OR PATTERN".METRIC]`',
    ),
    Key(
        name="checks",
        sections=("top level",),
        holds="table",
        about="the checks of the model that may be suspect: `batch_invariance`, `determinism`, `polarity`",
    ),
    Key(
        name="acuity",
        sections=("top level",),
        holds="tables",
        about="the gates of `vlgate acuity`, each `[acuity.FACULTY]` with `max`, or `min` if a higher level is "
        "harder, in the unit of the chart, and perhaps a `why`; a run does not judge them",
    ),
    Key(
        name="require",
        sections=("[defaults]",),
        holds="list of patterns of task ids",
        default=[],
        about="a run without `--suite` fails if the data of one of these tasks are missing; "
        "a run is inconclusive if it leaves out cases of one",
    ),
    Key(
        name="allow",
        sections=("[checks]",),
        holds="true or false",
        default=False,
        about="a run passes although this check is suspect; needs a `why`",
    ),
    Key(
        name="min",
        sections=("[gate]",),
        holds="number from 0 to 1",
        about="the metric must reach it; from -1 for a difference, as `visual_gain`; a bound that every model reaches, "
        "as `min = 0` of a share, is refused",
    ),
    Key(
        name="max",
        sections=("[gate]", "[limit]"),
        holds="number from 0 to 1",
        about="the metric must not exceed it; 1 alone is refused; a limit fails if even the lower end of the interval "
        "does, because then the model can do what the limit says it cannot",
    ),
    Key(
        name="max_drop",
        sections=("[gate]",),
        holds="number from 0 to 1",
        about="with `--baseline`: the largest drop of the metric on the same cases; refused if the cases are too few "
        "to show it",
    ),
    Key(
        name="max_broken",
        sections=("[gate]",),
        holds="whole number, or share below 1",
        about="with `--baseline`: the most cases that were right and are wrong now",
    ),
    Key(
        name="max_churn",
        sections=("[gate]",),
        holds="number from 0 to 1",
        about="with `--baseline`: the largest share of cases with another answer or verdict than before",
    ),
    Key(
        name="expected_churn",
        sections=("[defaults]", "[gate]"),
        holds="number from 0 to 1",
        default=0.05,
        about="the share of verdicts that change although the model is as good as before; `max_drop` needs more cases "
        "if it is larger",
    ),
    Key(
        name="fail_correction",
        sections=("[defaults]",),
        holds='`"none"`, `"holm"` or `"bh"`',
        default="none",
        about="correct failed gates for the number of gates, after Holm or after Benjamini and Hochberg: a gate whose "
        "fail may be chance is inconclusive; no gate passes because of it",
    ),
    Key(
        name="must_hold",
        sections=("[defaults]",),
        holds="path of a file, from the folder of thresholds.toml",
        about='cases that every model must get right, as JSON lines `{"task": ..., "case": ...}`',
    ),
    Key(
        name="model",
        sections=("[limit]",),
        holds="string",
        default="",
        about="the model that the limit is about, as `--model` names it, or a pattern; every model if it is left out",
    ),
    Key(
        name="basis",
        sections=COMMON,
        holds='`"lower"` or `"value"`',
        default="lower",
        about="judge the unfavourable end of the interval, or the value itself",
    ),
    Key(
        name="confidence",
        sections=COMMON,
        holds="number from 0.5 to below 1",
        default=0.95,
        about="the confidence of the two-sided interval",
    ),
    Key(
        name="min_cases",
        sections=COMMON,
        holds="whole number above 0",
        default=30,
        about="a gate over fewer different cases, or cases of the rarer truth for auroc, is inconclusive",
    ),
    Key(
        name="max_skipped",
        sections=COMMON,
        holds="number from 0 to 1",
        default=0.05,
        about="a gate is inconclusive if a larger share of its task's cases is skipped or cannot be read",
    ),
    Key(
        name="max_disputed",
        sections=COMMON,
        holds="number from 0 to 1",
        default=0.05,
        about="a gate is inconclusive if `--disputes` leaves out or corrects a larger share of its task's cases",
    ),
    Key(
        name="why",
        sections=("[checks]", "[gate]", "[limit]"),
        holds="string",
        default="",
        about="the reason for the threshold, or for allowing a suspect check",
    ),
)
"""The keys of a thresholds file; any other key is an error."""
