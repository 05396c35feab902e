"""``analyses.json``: the analyses of the papers whose benchmarks a run has, in its folder, where its page finds them.

The page must not wait for bootstraps and linear models each time it is written, and it knows no analysis. So the
analyses are made once, when the run ends or by ``vlgate analyse --save``, and the file is all that the two share.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import OptionError, VlgateError, described, printable
from vlgate.record.cases import read_cases
from vlgate.record.folder import ANALYSES, RecordedRun
from vlgate.record.whole_file import write_whole

SCHEMA = 1
FEWEST = 100
"""A benchmark with fewer judged cases in a run is not analysed when the run ends: the tables have parts of them."""
MOST = 20_000
"""A run with more judged cases is analysed by ``vlgate analyse --save`` only, because it takes seconds."""
PAPERS: Mapping[str, str] = MappingProxyType(
    {
        "winoground": "vlgate.studies.analyses.winoground",
        "carets": "vlgate.studies.analyses.carets",
        "bla": "vlgate.studies.analyses.bla",
        "vl-checklist": "vlgate.studies.analyses.vl_checklist",
        "valse": "vlgate.studies.analyses.valse",
    }
)
"""By benchmark: the module whose ``analyse(runs)`` does what its paper does."""


def papers_of(figures: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the benchmarks that a run is analysed by when it ends, from the content of ``metrics.json``."""
    if sum(task["judged"] for task in figures["tasks"].values()) > MOST:
        return ()
    counts = {
        paper: sum(task["judged"] for name, task in figures["tasks"].items() if name.startswith(f"{paper}/"))
        for paper in PAPERS
    }
    return tuple(paper for paper, judged in counts.items() if judged >= FEWEST)


def analyse_run(run: RecordedRun) -> None:
    """Analyse a run as the papers of its benchmarks do, and write ``analyses.json`` if it has such a benchmark."""
    from vlgate.studies.analyses.runs import part_of
    from vlgate.studies.analyses.tables import record

    papers = papers_of(run.figures)
    if not papers:
        return
    table = read_cases(run)
    found, lacking = [], {}
    for paper in papers:
        try:
            found.append(record(import_module(PAPERS[paper]).analyse([part_of(run, table, paper)])))
        except OptionError as error:  # a package is not installed
            lacking[paper] = str(error)
    _write(run.folder, {"schema": SCHEMA, "analyses": found, "lacking": lacking})


def analysed(run: RecordedRun) -> list[str]:
    """Analyse a run when it ends, as ``analyse_run`` does.

    Returns: why the analyses are not there, in a sentence; empty if nothing is wrong. They change no decision, so a
        mistake in them must not cost the run.
    """
    try:
        analyse_run(run)
    except (VlgateError, OSError) as error:
        return [f"{ANALYSES} could not be written ({printable(str(error))})"]
    except Exception as error:  # noqa: BLE001  # see above
        return [f"{ANALYSES} could not be written ({described(error)})"]
    return []


def save(folder: Path, analysed: Mapping[str, Any]) -> None:
    """Put the record of an analysis into ``analyses.json``, in place of an earlier one of the same name."""
    try:
        known = json.loads((folder / ANALYSES).read_text(encoding="utf-8"))
        others = [one for one in known["analyses"] if one["analysis"] != analysed["analysis"]]
        lacking = {name: why for name, why in known["lacking"].items() if name != analysed["analysis"]}
    except (
        FileNotFoundError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ):  # what cannot be read is replaced
        others, lacking = [], {}
    _write(folder, {"schema": SCHEMA, "analyses": [*others, analysed], "lacking": lacking})


def _write(folder: Path, content: Mapping[str, Any]) -> None:
    write_whole(folder / ANALYSES, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
