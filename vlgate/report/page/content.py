"""What a page shows, from the files of a run's folder and the tasks whose images it draws again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vlgate.recorded.folder import RecordedRun
from vlgate.report.abilities import WORDS
from vlgate.report.controlled.tables import tables
from vlgate.report.page.analysed import analyses
from vlgate.report.page.answer import answer, decided, idle, urgency
from vlgate.report.page.changes import changes
from vlgate.report.page.chart import MOST, chart, figure_of, published_of
from vlgate.report.page.explained import whys
from vlgate.report.page.pictures import Pictures
from vlgate.report.page.radar import radar
from vlgate.report.page.records import PageContent, Section
from vlgate.report.page.rows import TaskRows
from vlgate.report.page.sections import cards_of, section
from vlgate.report.page.shown import ShownCases, shown_cases
from vlgate.report.priors import recorded_splits
from vlgate.report.smallest.section import founds
from vlgate.run.verdict import RunOutcome, recorded_outcome
from vlgate.types import CAPABILITIES, Task

_VERSIONS = ("vlgate", "torch", "transformers")
_TAGS = 40  # the most values of a tag that the page can be filtered by


def page_content(
    run: RecordedRun, tasks: Sequence[Task], earlier: Sequence[Path] = (), outcome: RunOutcome | None = None
) -> PageContent:
    """Return what the page of a run shows.

    Args:
        run: the run; the page has no cases if ``cases.parquet`` is not there.
        tasks: the tasks of the run with their images; a case that is not among them is shown without images.
        earlier: the folders of earlier runs, the oldest first; by default the baseline of the run alone.
        outcome: how the run ended; None for what the files of its folder say.

    Raises: OptionError if the rows or the verdict of a run cannot be read.
    """
    figures = run.figures
    known, comparison = figures["tasks"], figures.get("baseline")
    shown = shown_cases(run, tasks, earlier)
    changed = changes(comparison, shown.baseline, shown.broken(), shown.problem) if comparison else None
    sections = _sections(figures, shown)
    gates = [gate for gate in figures["gates"] if gate["decision"] != "not run"]
    return PageContent(
        model=run.model,
        answer=answer(figures, outcome or recorded_outcome(run)),
        counts=_counts(known, {name: maker.rows for name, maker in shown.makers.items()}),
        changes=changed,
        abilities={
            word: tuple(one for one in sections if one.ability is not None and one.ability.word == word)
            for word in WORDS
        },
        charts=_charts(sections),
        radar=radar([one for one in sections if one.headline]),
        marks=_marks(sections),
        gates=tuple(decided(gate, known) for gate in sorted(gates, key=urgency) if gate["kind"] != "limit"),
        limits=tuple(decided(gate, known) for gate in gates if gate["kind"] == "limit"),
        idle=idle(figures["gates"]),
        checks=tuple(f"{one['name']}: {one['outcome']}: {one['why']}" for one in figures["model"]["checks"]),
        remarks=_remarks(figures),
        sections=sections,
        capabilities=tuple(name for name in CAPABILITIES if any(one.capability == name for one in sections)),
        tags=_tags(sections),
        facts=_facts(run),
        left_out=_left_out(sections, shown.pictures),
        priors=recorded_splits(known),
        whys=whys(run.folder, {card.anchor for one in sections for card in one.cards}),
        founds=founds(run.folder),
        analyses=analyses(run.folder),
        controls=tables(figures),
    )


def _sections(figures: Mapping[str, Any], shown: ShownCases) -> tuple[Section, ...]:
    """The sections by capability, as in the table of the terminal."""
    made = []
    for name in figures["tasks"]:
        maker = shown.makers.get(name)
        rows, cards = (None, (None, ())) if maker is None else (maker.rows, cards_of(maker))
        made.append(section(name, figures, rows, cards))
    return tuple(sorted(made, key=lambda one: CAPABILITIES.index(one.capability)))


def _counts(tasks: Mapping[str, Any], found: Mapping[str, TaskRows]) -> str:
    judged = sum(task["judged"] for task in tasks.values())
    others = {
        "not scored": sum(task["unscored"] for task in tasks.values()),
        "skipped": sum(task["skipped"] for task in tasks.values()),
    }
    missed = sum(rows.all_missed for rows in found.values())
    parts = [f"{judged - missed:,} right", f"{missed:,} missed"] if found else []
    parts += [f"{number:,} {words}" for words, number in others.items() if number]
    return f"{judged + sum(others.values()):,} cases of {len(tasks):,} tasks: {', '.join(parts)}"


def _charts(sections: Sequence[Section]) -> tuple[tuple[str, Any], ...]:
    shown = [one for one in sections if one.headline][:MOST]
    groups = {name: [one for one in shown if one.capability == name] for name in CAPABILITIES}
    return tuple((name, chart(group)) for name, group in groups.items() if group)


def _marks(sections: Sequence[Section]) -> frozenset[str]:
    """What stands beside the figures of the model in the charts."""
    found = {
        "baseline": any(one.baseline is not None for one in sections),
        "human": any(published_of(one)[0] is not None for one in sections),
        "published": any(published_of(one)[1] for one in sections),
        "blind": any(one.headline and figure_of(one).blind is not None for one in sections),
        "chance": any(one.headline and figure_of(one).chance is not None for one in sections),
    }
    return frozenset(name for name, there in found.items() if there)


def _remarks(figures: Mapping[str, Any]) -> tuple[str, ...]:
    model = figures["model"]
    means = [
        f"{name}: mean {mean['value']:.3f} over {mean['tasks']} of {mean['of']} tasks"
        for name, mean in figures["averages"].items()
    ]
    gaps = [f"{name}: {gap['value']:+.3f} over {gap['tasks']} pairs of tasks" for name, gap in figures["gaps"].items()]
    return (*(f"{kind} requests: {how}" for kind, how in model["adapters"].items()), *model["notes"], *means, *gaps)


def _tags(sections: Sequence[Section]) -> dict[str, tuple[str, ...]]:
    """The tags of the shown cases with their most frequent values, to filter by."""
    counts: dict[str, Counter[str]] = {}
    for card in (card for one in sections for card in one.cards):
        for tag, value in card.tags.items():
            counts.setdefault(tag, Counter())[value] += 1
    return {tag: tuple(sorted(value for value, _ in found.most_common(_TAGS))) for tag, found in sorted(counts.items())}


def _facts(recorded: RecordedRun) -> dict[str, str]:
    run, model = recorded.figures["run"], recorded.figures["model"]
    versions = recorded.environment.get("packages", {})
    facts = {
        "model": recorded.model,
        "fingerprint": model["fingerprint"],
        "thresholds": run["thresholds"] or "none",
        "seed": str(run["seed"]),
        "ties": run["ties"],
        "limit": "" if run["limit"] is None else f"{run['limit']} cases per task",
        "protocols": ", ".join(run["protocols"]),
        "drawn scenes": run["scenes"] or "",
        "versions": ", ".join(f"{name} {versions[name]}" for name in _VERSIONS if name in versions),
        "time": recorded.environment.get("time", ""),
    }
    return {name: value for name, value in facts.items() if value}


def _left_out(sections: Sequence[Section], pictures: Pictures) -> tuple[str, ...]:
    missed = sum(one.missed for one in sections)
    shown = sum(card.state == "missed" for one in sections for card in one.cards)
    said = []
    if shown < missed:
        said.append(
            f"{shown:,} of {missed:,} missed cases are shown: of each task the worst two and a sample; "
            "cases.parquet has all of them"
        )
    if pictures.left_out:
        said.append(f"{pictures.left_out:,} images are left out, because the page has its most images")
    if sum(bool(one.headline) for one in sections) > MOST:
        said.append(f"the chart shows the first {MOST} tasks")
    return tuple(said)
