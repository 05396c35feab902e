"""Write the page of a finished run again, or the run in the format of another tool, from the files of its folder.

It needs neither the model nor torch. html is the page: the drawn scenes are drawn again; other images are shown if they
are still in the data folders of the run, or in those of --data. With --earlier, each missed case says for how many
releases it has been missed.

csv and jsonl have one line per case. every-eval-ever and lm-eval are folders with the figures and one line per case.
hf-eval-results is a file for .eval_results/ of a model's repository on the Hugging Face Hub, with the headline metric
of each task whose dataset is known there. Cases that were not scored, or whose answer could not be read, are in every
export: as rows that say so, or as counts.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from vlgate.cli import note, refuse, resolved, say
from vlgate.errors import OptionError
from vlgate.record.folder import CASES, NAME_ANOTHER, RecordedRun, read_run
from vlgate.report.exports.rows import Exported, exported

PAGE_FORMAT = "html"
TO_A_FILE = ("csv", "jsonl", "hf-eval-results")
FORMATS = (*TO_A_FILE, "every-eval-ever", "lm-eval")
RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
OPTIONS = {"format": {"choices": (PAGE_FORMAT, *FORMATS)}, "relationship": {"choices": RELATIONSHIPS}}


def run(given: argparse.Namespace) -> int:
    if given.format == PAGE_FORMAT:
        of_exports = ("out", "dataset", "source")
        refuse({f"--{name}": getattr(given, name) for name in of_exports}, "belongs to other formats; add --format")
    else:
        refuse({"--data": given.data, "--earlier": given.earlier}, "is for the page; leave out --format")
    if given.out is None and given.format not in (PAGE_FORMAT, *TO_A_FILE):
        raise OptionError(f"--format {given.format}: is several files; name a folder with --out DIR")
    recorded = read_run(given.run, f"vlgate report {given.run}")
    if given.format == PAGE_FORMAT:
        from vlgate.report.page.page import PAGE, write_page
        from vlgate.run.planning import tasks_again

        if not (given.run / CASES).exists():
            raise recorded.wrong(f"holds no {CASES}", NAME_ANOTHER)
        tasks, problem = tasks_again(recorded.figures, recorded.environment, resolved(given.data))
        earlier = [folder for folder in resolved(given.earlier) if folder != given.run.resolve()]  # --earlier results/*
        content = write_page(recorded, tasks, earlier)
        for line in filter(None, (problem, *content["left_out"])):
            say(f"note: {line}")
        say(given.run / PAGE)
    else:
        _export(recorded, given)
    return 0


def _export(recorded: RecordedRun, given: argparse.Namespace) -> None:
    from vlgate.report.exports import every_eval_ever, lm_eval

    source = exported(
        recorded,
        organization=given.organization,
        relationship=given.relationship,
        source=given.source,
        datasets=dict(_dataset(text) for text in given.dataset),
    )
    if recorded.incomplete:
        note(f"note: the run is incomplete: {recorded.incomplete}")
    if given.format in TO_A_FILE:
        lines = _lines(given.format, source)
        if given.out is None:
            sys.stdout.writelines(lines)
        else:
            _write(given.out, lines, given)
        return
    for name, content in (every_eval_ever if given.format == "every-eval-ever" else lm_eval).files(source):
        _write(given.out / name, [content], given)


def _lines(name: str, source: Exported) -> Iterator[str]:
    from vlgate.report.exports.rows import csv_lines, entries, json_lines, yaml_lines

    if name != "hf-eval-results":
        return csv_lines(source) if name == "csv" else json_lines(source)
    found, left_out = entries(source)
    for line in left_out:
        note(f"note: {line}")
    return yaml_lines(found)


def _write(file: Path, lines: Iterable[str], given: argparse.Namespace) -> None:
    if file.exists() and not given.overwrite:
        raise OptionError(f"--out {given.out}: {file} exists; replace it with --overwrite, or name another place")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8", newline="") as stream:
            stream.writelines(lines)
    except OSError as error:
        raise OptionError(f"--out {given.out}: cannot be written ({error.strerror}); name another place") from None
    say(file)


def _dataset(text: str) -> tuple[str, str]:
    benchmark, equals, name = text.partition("=")
    if not equals or not benchmark or "/" not in name:
        raise OptionError(
            f"--dataset {text}: expected BENCHMARK=OWNER/NAME, as --dataset winoground=facebook/winoground"
        )
    return benchmark, name
