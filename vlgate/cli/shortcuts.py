"""Show what text alone solves: the shortcut score of each case, and a run's metric over the cases that no probe solves.

Three probes read the texts of a task and never an image: words, form, and the likelihood of a language model. Each
scores a case by what it learnt from other images. With the folder of a run, its metric over the cases that no probe
solves stands beside that over all.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from vlgate.cli import options_of
from vlgate.cli.after.analyse import say_analysis
from vlgate.errors import OptionError

if TYPE_CHECKING:
    from vlgate.record.folder import RecordedRun
    from vlgate.record.options import Options

FILE = "shortcuts.parquet"
MOST = 60  # the most rows of a table on the terminal; the files and --json have all


def run(given: argparse.Namespace) -> int:
    from vlgate.audit.shortcuts import by_luck, shortcuts, write_shortcuts
    from vlgate.record.cases import read_cases
    from vlgate.record.folder import read_run, refuse_incomplete
    from vlgate.run.planning import make_plan
    from vlgate.studies.analyses.saved import save
    from vlgate.studies.analyses.shortcuts import analysis, notes, run_table, text_tables
    from vlgate.studies.analyses.tables import record

    if given.save and given.run is None:
        raise OptionError("--save needs the results folder of a run; name one, or write the files with --out DIR")
    recorded, lm = None, None
    if given.run is not None:
        recorded = read_run(given.run, f"vlgate analyse shortcuts {given.run}")
        refuse_incomplete(recorded)
    tasks = make_plan(_options(given, recorded)).tasks
    if given.lm is not None:
        from vlgate.making.tools import ToolOptions, Tools

        lm = Tools(ToolOptions(named={"lm": given.lm}, device=given.device)).lm
    found = {task.id: shortcuts(task, lm) for task in tasks}
    tables = list(text_tables(tasks, found, {task.id: by_luck(task, lm) for task in tasks}))
    said = list(notes(tasks, found))
    if recorded is not None:
        table, more = run_table(recorded, read_cases(recorded), tasks, found)
        tables, said = [table, *tables], [*more, *said]
    made = analysis(tables, said, tasks, *(() if recorded is None else (recorded.model,)))
    say_analysis(made, given, "shortcuts", MOST)
    if given.save:
        save(given.run, record(made))
    for folder in filter(None, (given.out, given.run if given.save else None)):
        write_shortcuts(folder / FILE, list(found.values()))
    return 0


def _options(given: argparse.Namespace, recorded: RecordedRun | None) -> Options:
    # The options of the tasks: all cases of those of the run, because the probes learn from all, or those given
    from vlgate.record.options import options_from

    own = options_of(given)
    if recorded is None:
        return own
    try:
        asked = options_from(recorded.options)
    except (ValueError, TypeError, KeyError):
        raise recorded.wrong("the options of the run are not those of this version") from None
    suite, data = own.suite or asked.suite, own.data if given.data else asked.data
    return replace(asked, suite=suite, data=data, limit=None, quick=False, shard=None, ask="apart")
