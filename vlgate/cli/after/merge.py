"""Join the parts of a run, which were asked with --shard=I/N, and judge the gates once.

The parts must be those of one run: of the same model, data, seed, options and versions, none missing and none named
twice. Neither the model nor torch is needed, but the data are, because they hold the truths. The files and the exit
status are those of one run that asks all cases.
"""

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from vlgate.audit.label_fixes import place_of
from vlgate.cli import resolved, say
from vlgate.errors import OptionError
from vlgate.record.comparison import read_earlier
from vlgate.record.folder import ENVIRONMENT, RecordedPart, read_part, titled
from vlgate.record.json_files import environment_content
from vlgate.record.options import FIRST, Options, baseline_of, in_ci, options_from
from vlgate.record.results import EndedRun
from vlgate.record.results_folder import take_folder
from vlgate.record.verdict import outcome_of
from vlgate.record.whole_file import write_whole


def run(given: argparse.Namespace) -> int:
    """Return the exit status: 1 if a gate does not pass or a case could not be scored; nothing is written with 4."""
    from vlgate.report.ci.release import release
    from vlgate.report.terminal import Screen, closing_text, place_lines
    from vlgate.run.merging import in_order, join

    if any(folder.resolve() == given.results.resolve() for folder in given.parts):
        raise OptionError(f"--results {given.results}: is the folder of a part; name another folder")
    seen: dict[Path, Path] = {}
    for folder in given.parts:
        first = seen.setdefault(folder.resolve(), folder)
        if first is not folder:
            which = f"{folder}" if f"{folder}" == f"{first}" else f"{first}, also as {folder},"
            raise OptionError(f"{which} is given twice; name each part once")
    parts = in_order([read_part(folder) for folder in given.parts], thresholds=given.thresholds is None)
    options = _options(parts, given)
    named = options.baseline
    earlier = read_earlier(named, f"--baseline {named}") if isinstance(named, Path) else None
    joined = join(parts, options, earlier, own_thresholds=given.thresholds is not None)
    joined, problems = _write(joined, parts)
    model = titled(joined.card.name, joined.card.weights)
    status = int(outcome_of(joined.result, joined.card).status > 0)
    found = release(joined.result, joined.card)
    closing = closing_text(joined.result, found, model, status, Screen())
    say(closing, *problems, *place_lines(joined.options, found, joined.result))
    return status


def _options(parts: Sequence[RecordedPart], given: argparse.Namespace) -> Options:
    try:
        found = [options_from(part.content["environment"]["options"]) for part in parts]
    except (ValueError, TypeError, KeyError):
        raise parts[0].wrong("the options of the part are not those of this version") from None
    first, here = found[0], Path.cwd()
    required = given.require_gates
    named = next((one.baseline for one in found if one.baseline != FIRST), FIRST)  # all parts must say that it is first
    options = replace(
        first,
        folder=here,
        data=resolved(given.data) or first.data,
        disputes=tuple(place_of(file, here) for file in given.disputes) or first.disputes,
        thresholds=first.thresholds if given.thresholds is None else here / given.thresholds,
        baseline=named if given.baseline is None else baseline_of(given.baseline, here),
        require_gates=any(one.require_gates for one in found) or in_ci() if required is None else required,
        results=here / given.results,
        overwrite=given.overwrite,
        shard=None,
    )
    for folder in options.data:
        if not folder.is_dir():
            raise OptionError(f"the data folder {folder} of the parts is not on this machine; name it with --data DIR")
    if options.thresholds is not None and not options.thresholds.is_file():
        raise OptionError(f"the thresholds file {options.thresholds} is not there; name one with --thresholds FILE")
    return options


def _write(joined: EndedRun, parts: Sequence[RecordedPart]) -> tuple[EndedRun, list[str]]:
    # environment.json is that of this process, with those of the parts under ``parts``
    from vlgate.report.ci.release import append_summary
    from vlgate.report.ci.trackers import check_trackers, log_to
    from vlgate.report.folder import recorded_run, saved, write_figures, write_rows
    from vlgate.studies.analyses.saved import analysed

    options = joined.options
    check_trackers(options.log_to)
    release_folder = take_folder(options)
    try:
        lost = write_rows(joined.result, options)
        result = replace(joined.result, incomplete="; ".join(lost))
        lines = analysed(recorded_run(result, joined.card, options, joined.workers)) if not lost else []
        problems = write_figures(result, joined.card, options, joined.workers, joined.tasks)
        content = environment_content(options, joined.workers, joined.card.cache)
        content["parts"] = {str(part.number): part.content["environment"] for part in parts}
        problems += saved(lambda: write_whole(options.results / ENVIRONMENT, json.dumps(content, indent=1) + "\n"))
        result = replace(result, incomplete="; ".join(dict.fromkeys([*lost, *problems])))
        lines += [append_summary(options.results / "summary.md", os.environ.get("GITHUB_STEP_SUMMARY", ""))]
        lines += log_to(options.log_to, result, joined.card, options)
    finally:
        release_folder()
    return replace(joined, result=result), [line for line in lines if line]
