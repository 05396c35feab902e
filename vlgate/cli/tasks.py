"""List the tasks: what each measures, its shape and metrics, its cases and images, and the time that it takes.

Without --data these are the embedded scenes. No model is loaded and no image is opened.
"""

import argparse
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from vlgate.cli import options_of, say, say_json
from vlgate.errors import OptionError
from vlgate.metrics.measures import GROUPED
from vlgate.metrics.shapes import SHAPES
from vlgate.metrics.variants import VARIANTS, definitions, how_it_differs, names
from vlgate.probes.controls.registry import LIMIT, chosen, known_controls
from vlgate.report.table import Table
from vlgate.run.census import Counts, Rates, count, counts_of, gpus_within
from vlgate.run.planning import Plan, empty_lines, make_plan
from vlgate.run.probing import costs
from vlgate.sources.registry import measures
from vlgate.types import Task

_PER = ("image", "text", "pair")
_HEADINGS = ("task", "shape", "metric", "chance", "cases", "images", "time")
_MINUTE, _HOUR = 60, 3600
OPTIONS = {
    "controls": {"help": f"count what these controls ask, too: {', '.join(known_controls())}"},
    "controls_limit": {"help": f"the most cases of a task that a control is asked about (default: {LIMIT})"},
}


def run(given: argparse.Namespace) -> int:
    per = {name: value for name in _PER if (value := getattr(given, f"per_{name}")) is not None}
    above = {**{f"per-{name}": value for name, value in per.items()}, "within": given.within, "rate": given.rate}
    for option, value in above.items():
        if value is not None and not 0 < value < float("inf"):
            raise OptionError(f"--{option} {value}: expected a number above 0")
    if per and given.rate is not None:
        raise OptionError(f"--rate {given.rate} with --per-{next(iter(per))}: give the one or the other")
    rate = 100.0 if given.rate is None else given.rate
    rates = Rates(**per) if per else Rates(pair=1 / rate)
    names = chosen(control.strip() for control in given.controls.split(",") if control.strip())
    limit = LIMIT if given.controls_limit is None else given.controls_limit
    if limit < 1:
        raise OptionError(f"--controls-limit {limit}: expected a whole number above 0")
    if given.controls_limit is not None and not names:
        raise OptionError(f"--controls-limit {limit}: name controls with --controls, or leave this out")
    options = replace(options_of(given), controls=names, controls_limit=limit, controls_named=True)
    plan = make_plan(options)
    entries = [_entry(task, rates) for task in plan.tasks]
    whole = rates.seconds(counts_of(plan.tasks))
    if given.json:
        say_json(entries)
        return 0
    more = ""
    if given.within is not None:
        number = gpus_within(whole, given.within)
        more = f"; {'1 GPU finishes' if number == 1 else f'{number:,} GPUs finish'} within {given.within:g} h"
    lines = list(_lines(entries, plan, f"{_time(whole)}{more}"))
    for cost in costs(plan.tasks, options):
        counts = Counts(images=cost.requests, texts=0, requests=cost.requests)
        lines.append(f"{cost}: {_time(rates.seconds(counts))}")
    say(*lines)
    return 0


def _entry(task: Task, rates: Rates) -> dict[str, Any]:
    # What is known of a task without a model, as --json prints it
    counts, census = counts_of([task]), count(task)
    tags = {name for case in task.cases for name in case.tags}
    return {
        "task": task.id,
        "measures": measures(task.id),
        "capability": task.capability,
        "shape": task.shape,
        "metrics": [*SHAPES[task.shape].metrics, *(name for name in GROUPED if name in tags)],
        "chance": dict(SHAPES[task.shape].chance),
        "variants": {name: how_it_differs(name, task.id) for name in names(VARIANTS, task.id)},
        "cases": census.cases,
        "images": census.found,
        "different_images": counts.images,
        "texts": counts.texts,
        "requests": counts.requests,
        "seconds": rates.seconds(counts),
        "left_out": dict(task.left_out),
    }


def _lines(entries: Sequence[Mapping[str, Any]], plan: Plan, total: str) -> Iterator[str]:
    rows = []
    for task, entry in zip(plan.tasks, entries, strict=True):
        headline = SHAPES[task.shape].headline
        chance = f"{entry['chance'][headline]:.3f}" if headline in entry["chance"] else "-"
        counts = (f"{entry['cases']:,}", f"{entry['images']:,}", _time(entry["seconds"]))
        rows.append((task.id, task.shape, headline, chance, *counts))
    head, *table = Table(headings=_HEADINGS, rows=rows).text()
    yield head
    for row, entry in zip(table, entries, strict=True):
        yield row
        yield from [f"    {entry['measures']}"] if entry["measures"] else []
        chances = entry["chance"]
        metrics = [f"{name} ({chances[name]:.3f})" if name in chances else name for name in entry["metrics"]]
        yield from _wrapped(f"metrics (with their chance level, if it is exact): {', '.join(metrics)}")
        for (protocol, differs), definition in definitions(entry["variants"], entry["task"]).items():
            named = f"{', '.join(definition)} ({differs})"
            yield from _wrapped(f"with --protocol={protocol}, for published figures: {named}")
    cases, images = (sum(entry[name] for entry in entries) for name in ("cases", "images"))
    yield f"{len(entries)} tasks, {cases:,} cases, {images:,} with images, {total}"
    yield from empty_lines(plan.empty)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 110, initial_indent="    ", subsequent_indent="      ")


def _time(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < _HOUR else f"{seconds / _HOUR:.1f} h"
