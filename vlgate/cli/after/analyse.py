"""Analyse finished runs as the paper of a benchmark does, from the files of their folders.

Each analysis takes the tasks of its benchmark or, if no run has them, those of the drawn scenes, and says in its first
line which it took. Each number has its interval and the n that it is made from; fewer than 30 are marked. That of
bla needs statsmodels: pip install 'vlgate[analysis]'.

Three studies have options of their own: vlgate analyse shortcuts (which cases text alone solves), acuity (a model's
thresholds of perception), sensitivity (which task catches which defect).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from vlgate.cli import say
from vlgate.errors import OptionError

if TYPE_CHECKING:
    from vlgate.studies.analyses.bla import Features
    from vlgate.studies.analyses.runs import Run
    from vlgate.studies.analyses.tables import Analysis

MOST = 40  # the most rows of a table on the terminal; the files and --json have all

# the options of each analysis, besides those of all
_USES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "winoground": frozenset({"perplexity", "pretraining"}),
        "carets": frozenset(),
        "bla": frozenset({"perplexity", "concreteness", "frequency", "features"}),
        "vl-checklist": frozenset({"boxes"}),
        "valse": frozenset({"perplexity"}),
    }
)
_STUDIES = ("shortcuts", "acuity", "sensitivity")  # have options of their own
OPTIONS = {"paper": {"choices": (*_USES, *_STUDIES)}}


def run(given: argparse.Namespace) -> int:
    from vlgate.studies.analyses.runs import read_runs
    from vlgate.studies.analyses.saved import save
    from vlgate.studies.analyses.tables import record

    if given.paper in _STUDIES:
        raise OptionError(f"{given.paper} has options of its own; write vlgate analyse {given.paper} before them")
    others = sorted({name for names in _USES.values() for name in names} - _USES[given.paper])
    if unused := [name for name in others if getattr(given, name)]:
        raise OptionError(f"--{unused[0]} is not an option of vlgate analyse {given.paper}; leave it out")
    made = _analysis(given, read_runs(given.runs))
    say_analysis(made, given, f"analysis-{given.paper}", MOST)
    if given.save:
        save(given.runs[0], record(made))
    return 0


def say_analysis(made: Analysis, given: argparse.Namespace, name: str, most: int) -> None:
    from vlgate.studies.analyses.tables import markdown, record

    content = json.dumps(record(made), indent=1)
    if given.out is not None:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / f"{name}.md").write_text(markdown(made), encoding="utf-8")
        (given.out / f"{name}.json").write_text(f"{content}\n", encoding="utf-8")
    say(content if given.json else markdown(made, most).removesuffix("\n"))


def _analysis(given: argparse.Namespace, runs: tuple[Run, ...]) -> Analysis:
    from vlgate.studies.analyses import bla, carets, valse, vl_checklist, winoground
    from vlgate.studies.analyses.runs import read_runs
    from vlgate.studies.analyses.vl_checklist import read_boxes
    from vlgate.studies.analyses.winoground import given_sizes

    reader = None if given.perplexity is None else read_runs([given.perplexity])[0]
    if given.paper == "winoground":
        return winoground.analyse(runs, reader, given_sizes(given.pretraining), given.suite)
    if given.paper == "bla":
        return bla.analyse(runs, _features(given), reader, given.suite)
    if given.paper == "vl-checklist":
        return vl_checklist.analyse(runs, None if given.boxes is None else read_boxes(given.boxes), given.suite)
    if given.paper == "carets":
        return carets.analyse(runs, given.suite)
    return valse.analyse(runs, reader, given.suite)


def _features(given: argparse.Namespace) -> Features:
    from vlgate.making.word_tables import concreteness, frequencies
    from vlgate.studies.analyses.bla import Features, read_features

    numbers, names = ({}, ()) if given.features is None else read_features(given.features)
    return Features(
        concreteness=None if given.concreteness is None else concreteness(given.concreteness),
        frequency=None if given.frequency is None else frequencies(given.frequency),
        given=numbers,
        names=names,
    )
