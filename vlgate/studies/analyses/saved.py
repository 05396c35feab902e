"""``analyses.json``: the analyses of the papers whose benchmarks a run has, in its folder, where its page finds them.

The page must not wait for bootstraps and linear models each time it is written, and it knows no analysis. So the
analyses are made once, when the run ends or by ``vlgate analyse --save``, and the file is all that the two share.
"""

import json
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from vlgate.errors import OptionError, VlgateError, described, printable
from vlgate.record.cases import read_cases
from vlgate.record.folder import ANALYSES, RecordedRun
from vlgate.record.whole_file import write_whole

SCHEMA = 1
FEWEST = 100
"""A benchmark with fewer judged cases in a run is not analysed when the run ends: the tables have parts of them."""
MOST = 20_000  # a run with more judged cases is analysed by ``vlgate analyse --save`` only, because it takes seconds
PAPERS = ("winoground", "carets", "bla", "vl-checklist", "valse")
"""The benchmarks; the function ``analyse(runs)`` in the module of that name does what its paper does."""


def papers_of(figures: Mapping[str, Any]) -> tuple[str, ...]:
    judged: Counter[str] = Counter()
    for name, task in figures["tasks"].items():
        judged[name.partition("/")[0]] += task["judged"]
    return tuple(paper for paper in PAPERS if judged[paper] >= FEWEST) if judged.total() <= MOST else ()


def analyse_run(run: RecordedRun) -> None:
    from vlgate.studies.analyses.runs import part_of
    from vlgate.studies.analyses.tables import record

    papers = papers_of(run.figures)
    if not papers:
        return
    table = read_cases(run)
    found, lacking = [], {}
    for paper in papers:
        try:
            module = import_module(f"vlgate.studies.analyses.{paper.replace('-', '_')}")
            found.append(record(module.analyse([part_of(run, table, paper)])))
        except OptionError as error:  # a package is not installed
            lacking[paper] = str(error)
    _write(run.folder, {"schema": SCHEMA, "analyses": found, "lacking": lacking})


def analysed(run: RecordedRun) -> list[str]:
    # They change no decision, so a mistake in them must not cost the run.
    try:
        analyse_run(run)
    except (VlgateError, OSError) as error:
        return [f"{ANALYSES} could not be written ({printable(str(error))})"]
    except Exception as error:  # noqa: BLE001  # see above
        return [f"{ANALYSES} could not be written ({described(error)})"]
    return []


def save(folder: Path, analysed: Mapping[str, Any]) -> None:
    try:
        known = json.loads((folder / ANALYSES).read_text(encoding="utf-8"))
        others = [one for one in known["analyses"] if one["analysis"] != analysed["analysis"]]
        lacking = {name: why for name, why in known["lacking"].items() if name != analysed["analysis"]}
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        others, lacking = [], {}  # what cannot be read is replaced
    _write(folder, {"schema": SCHEMA, "analyses": [*others, analysed], "lacking": lacking})


def _write(folder: Path, content: Mapping[str, Any]) -> None:
    write_whole(folder / ANALYSES, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
