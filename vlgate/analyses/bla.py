"""The analyses of BLA (Chen 2022, §7): preferences, verbs, what the scores depend on, agreement between models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vlgate.analyses.agreement import agreement_table
from vlgate.analyses.features import Features
from vlgate.analyses.linear import linear_table
from vlgate.analyses.records import Analysis, Row, Table, measured
from vlgate.analyses.resampling import share
from vlgate.analyses.runs import Cases, Run, chosen, pattern_of
from vlgate.analyses.unimodal import reader_table
from vlgate.analyses.verbs import FEWEST, verbs_of
from vlgate.metrics import bla
from vlgate.metrics.measures import wins
from vlgate.published.figures import beside
from vlgate.types import FloatArray

HEADLINE = "set_acc"
_SOURCE = "Chen 2022"
_PAPER = ("CLIP", "ViLBERT", "LXMERT", "GPT2")


def analyse(
    runs: Sequence[Run], features: Features | None = None, reader: Run | None = None, tasks: str | None = None
) -> Analysis:
    """Analyse the sets of four sentences of some runs.

    Args:
        runs: the runs of models.
        features: what is known of the words and sentences, for the linear model; None for their lengths alone.
        reader: the run of a language model on the same tasks; None without one.
        tasks: a pattern of task ids; None for those of BLA, or all sets if no run has these.

    Raises: OptionError if no run has sets.
    """
    pattern = pattern_of(runs, "bla", HEADLINE, tasks)
    known = features or Features()
    tables = [_preferences(runs, pattern), _voices(runs, pattern), _by_verb(runs, pattern)]
    tables += [
        linear_table(run.name, task, cases, known)
        for run in runs
        for task, cases in chosen(run, pattern, HEADLINE).items()
    ]
    notes = [*known.lacking]
    if len(runs) > 1:
        tables += [agreement_table(runs, pattern, HEADLINE), _all_of_them(runs, pattern)]
    else:
        notes.append("agreement between models: left out; name two or more runs")
    if reader is not None:
        tables.append(reader_table(runs, reader, pattern, HEADLINE, f"{_SOURCE}, Table 6.3"))
    return Analysis(
        name="bla", tasks=pattern, runs=tuple(run.name for run in runs), tables=tuple(tables), notes=tuple(notes)
    )


def preferences(cases: Cases) -> tuple[str, ...]:
    """Return the names of the six preferences that the sets have."""
    names = next(names for names in bla.METRICS.values() if names[-1] in cases.facts)
    return names[3:]


def passive_preference(cases: Cases) -> FloatArray | None:
    """Return, for each set, in how many of its four pairs of two voices the passive sentence scores higher, as a share.

    Returns: shape (n,); None if the sets are not of two voices.
    """
    if "ta_tp" not in cases.facts:
        return None
    active_true, passive_true, active_false, passive_false = cases.scores.T
    pairs = [(passive, active) for passive in (passive_true, passive_false) for active in (active_true, active_false)]
    return np.asarray(np.mean([wins(passive, active) for passive, active in pairs], axis=0))


def noun_orders(cases: Cases) -> FloatArray | None:
    """Return, for each set, whether the same order of the two nouns is preferred in both voices.

    A model that goes by the order of the nouns prefers the true active to the false one, and the false passive to the
    true one, or the other way round. A model that knows who does what never does so.

    Returns: shape (n,), 1.0 or 0.0; None if the sets are not of two voices.
    """
    if "ta_tp" not in cases.facts:
        return None
    active_true, passive_true, active_false, passive_false = cases.scores.T
    agent_first = wins(active_true, active_false) * wins(passive_false, passive_true)
    return agent_first + wins(active_false, active_true) * wins(passive_true, passive_false)


def _preferences(runs: Sequence[Run], pattern: str) -> Table:
    rows: list[Row] = []
    for run in runs:
        for task, cases in chosen(run, pattern, HEADLINE).items():
            for name in preferences(cases):
                found = share(cases.facts[name], cases.groups)
                if found is not None:
                    printed = {one.model: one.value for one in beside(task, name)}
                    rows.append(
                        measured((run.name, task, name), found, {model: printed.get(model) for model in _PAPER})
                    )
    return Table(
        title="Preferences",
        about=f"share of the n sets in which the sentence named first scores higher ({_SOURCE}, Tables 7.1 and 7.4)",
        labels=("model", "task", "preference"),
        value="share",
        rows=tuple(rows),
        more=_PAPER,
    )


def _voices(runs: Sequence[Run], pattern: str) -> Table:
    rows: list[Row] = []
    for run in runs:
        for task, cases in chosen(run, pattern, HEADLINE).items():
            for name, found in (("passive", passive_preference(cases)), ("same noun order", noun_orders(cases))):
                metric = None if found is None else share(found, cases.groups)
                if metric is not None:
                    rows.append(measured((run.name, task, name), metric))
    return Table(
        title="Voices and the order of the nouns",
        about="over n sets: share of the pairs of an active and a passive sentence in which the passive one scores "
        f"higher; share of sets in which the same order of the nouns is preferred in both voices ({_SOURCE}, §7.1)",
        labels=("model", "task", "preferred"),
        value="share",
        rows=tuple(rows),
    )


def _by_verb(runs: Sequence[Run], pattern: str) -> Table:
    rows: list[Row] = []
    for run in runs:
        for task, cases in chosen(run, pattern, HEADLINE).items():
            verbs = np.array(verbs_of(cases))
            for verb in sorted({*verbs.tolist()} - {""}, key=lambda one: (one == "other", one)):
                for metric in ("sen_acc", "set_acc", "set_error", *preferences(cases)):
                    found = share(cases.facts[metric], cases.groups, verbs == verb)
                    if found is not None:
                        rows.append(measured((run.name, task, verb, metric), found))
    return Table(
        title="By verb",
        about=f"of the n sets with a verb; verbs of fewer than {FEWEST} sets are other ({_SOURCE}, Tables 7.2 and 7.3)",
        labels=("model", "task", "verb", "metric"),
        value="value",
        rows=tuple(rows),
    )


def _all_of_them(runs: Sequence[Run], pattern: str) -> Table:
    """In which share of the sets every model has the whole set right, and every model both false sentences above."""
    rows: list[Row] = []
    for task, cases in chosen(runs[0], pattern, HEADLINE).items():
        others = [chosen(run, pattern, HEADLINE).get(task) for run in runs[1:]]
        there = [dict(zip(one.asked, range(len(one.ids)), strict=True)) for one in others if one is not None]
        kept = [row for row, key in enumerate(cases.asked) if all(key in places for places in there)]
        if not kept or len(there) < len(runs) - 1:
            continue
        first = cases.take(kept)
        for metric in (HEADLINE, "set_error"):
            every = first.facts[metric] == 1.0
            for one, places in zip(others, there, strict=True):
                if one is not None:
                    every &= one.facts[metric][[places[key] for key in first.asked]] == 1.0
            found = share(every.astype(np.float64), first.groups)
            if found is not None:
                rows.append(measured((task, metric), found, {"sets": int(every.sum())}))
    return Table(
        title="Sets that are right, or wrong, in all models",
        about=f"share of the n sets of all runs in which each model has set_acc, or set_error ({_SOURCE}, §7.3)",
        labels=("task", "in all models"),
        value="share",
        rows=tuple(rows),
        more=("sets",),
    )
