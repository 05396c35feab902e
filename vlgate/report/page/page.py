"""Write report.html, or the page of a search for smallest changes, from the files of a run."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import cos, pi, sin
from pathlib import Path
from typing import Any

from markupsafe import Markup

from vlgate.record.folder import RecordedRun
from vlgate.record.verdict import RunOutcome, recorded_outcome
from vlgate.record.whole_file import write_whole
from vlgate.report.abilities import WORDS
from vlgate.report.controls import tables
from vlgate.report.page.answer import answer, changes, decided, urgency
from vlgate.report.page.beside import analyses, explained, finds
from vlgate.report.page.cards import Pictures
from vlgate.report.page.sections import Section, section, shown_cases
from vlgate.report.page.template import html
from vlgate.report.remarks import recorded_splits
from vlgate.report.rows import by_reason
from vlgate.types import CAPABILITIES, Task

PAGE = "report.html"
FINDS = "shrunk.html"  # the page of a run that only searched for smallest changes, so that it has no ``report.html``
_VERSIONS = ("vlgate", "torch", "transformers")
_TAGS = 40  # the most values of a tag that the page can be filtered by
MOST_ROWS = 80  # the most tasks of a chart; all of them are in the sections
# the fewest and the most tasks of a radar: with fewer it has no area, with more its names overlap
FEWEST_AXES, MOST_AXES = 3, 36
_CENTRE, _RADIUS = 320, 180  # of the radar, which is 640 wide


def write_page(
    run: RecordedRun, tasks: Sequence[Task], earlier: Sequence[Path] = (), outcome: RunOutcome | None = None
) -> dict[str, Any]:
    # A case that is not among ``tasks`` is shown without images. ``earlier`` are folders of runs, the oldest first, by
    # default the baseline alone; ``outcome`` is None for what the files of the folder say.
    figures = run.figures
    known, comparison = figures["tasks"], figures.get("baseline")
    shown = shown_cases(run, tasks, earlier)
    # The images of newly broken cases come first, because the budget for images may end before the other cases.
    changed = changes(comparison, shown.baseline, shown.broken(), shown.problem) if comparison else None
    made = [section(name, figures, shown.makers.get(name)) for name in known]
    sections = sorted(made, key=lambda one: CAPABILITIES.index(one.figures["capability"]))
    measured = [one for one in sections if one.headline]
    gates = [gate for gate in figures["gates"] if gate["decision"] != "not run"]
    marks = {  # what stands beside the figures of the model in the charts
        "baseline": any(one.baseline is not None for one in measured),
        "human": any(one.human is not None for one in measured),
        "published": any(one.models for one in measured),
        "blind": any(one.blind is not None for one in measured),
        "chance": any("chance" in one.figure for one in measured),
    }
    content = {
        "model": run.model,
        "answer": answer(figures, outcome or recorded_outcome(run)),
        "counts": _counts(known, made if shown.makers else None),
        "changes": changed,
        "abilities": {word: [one for one in sections if one.ability and one.ability.word == word] for word in WORDS},
        "charts": [(name, chart(group)) for name, group in _grouped(measured[:MOST_ROWS]).items()],
        "radar": radar(measured),
        "marks": [name for name, there in marks.items() if there],
        "gates": [decided(gate, known) for gate in sorted(gates, key=urgency) if gate["kind"] != "limit"],
        "limits": [decided(gate, known) for gate in gates if gate["kind"] == "limit"],
        "idle": by_reason((gate["gate"], gate["why"]) for gate in figures["gates"] if gate["decision"] == "not run"),
        "remarks": list(_remarks(figures)),
        "sections": sections,
        "capabilities": list(_grouped(sections)),
        "tags": _tags(sections),
        "facts": _facts(run),
        "left_out": list(_left_out(sections, shown.pictures)),
        "priors": recorded_splits(known),
        "explained": explained(run.folder, {card.anchor for one in sections for card in one.cards}),
        "finds": finds(run.folder),
        "analyses": analyses(run.folder),
        "controls": tables(figures),
    }
    write_whole(run.folder / PAGE, html("page.html", content))
    return content


def write_finds(folder: Path, model: str) -> None:
    if section := finds(folder):
        write_whole(folder / FINDS, html("finds.html", {"model": model, "finds": section}))


def _grouped(sections: Sequence[Section]) -> dict[str, list[Section]]:
    groups = {name: [one for one in sections if one.figures["capability"] == name] for name in CAPABILITIES}
    return {name: group for name, group in groups.items() if group}


def _counts(tasks: Mapping[str, Any], sections: Sequence[Section] | None) -> str:
    judged, unscored, skipped = (sum(task[key] for task in tasks.values()) for key in ("judged", "unscored", "skipped"))
    missed = sum(one.missed for one in sections or ())
    parts = [] if sections is None else [f"{judged - missed:,} right", f"{missed:,} missed"]
    parts += [f"{unscored:,} not scored"] if unscored else []
    parts += [f"{skipped:,} skipped"] if skipped else []
    return f"{judged + unscored + skipped:,} cases of {len(tasks):,} tasks: {', '.join(parts)}"


def _remarks(figures: Mapping[str, Any]) -> Iterator[str]:
    model = figures["model"]
    yield from (f"{check['name']}: {check['outcome']}: {check['why']}" for check in model["checks"])
    yield from (f"{kind} requests: {how}" for kind, how in model["adapters"].items())
    yield from model["notes"]
    for name, mean in figures["averages"].items():
        yield f"{name}: mean {mean['value']:.3f} over {mean['tasks']} of {mean['of']} tasks"
    for name, gap in figures["gaps"].items():
        yield f"{name}: {gap['value']:+.3f} over {gap['tasks']} pairs of tasks"


def _tags(sections: Sequence[Section]) -> dict[str, tuple[str, ...]]:
    counts: dict[str, Counter[str]] = {}
    for tag, value in (item for one in sections for card in one.cards for item in card.tags.items()):
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


def _left_out(sections: Sequence[Section], pictures: Pictures) -> Iterator[str]:
    missed = sum(one.missed for one in sections)
    shown = sum(card.state == "missed" for one in sections for card in one.cards)
    if shown < missed:
        some = f"{shown:,} of {missed:,} missed cases are shown: of each task the worst two and a sample"
        yield f"{some}; cases.parquet has all of them"
    if pictures.left_out:
        yield f"{pictures.left_out:,} images are left out, because the page has its most images"
    if sum(bool(one.headline) for one in sections) > MOST_ROWS:
        yield f"the chart shows the first {MOST_ROWS} tasks"


# The headline figures as SVG, each beside chance, the text-only model, the baseline, and the figures of people and of
# models that papers print. Each task of a chart must have its headline figure.


def chart(sections: Sequence[Section]) -> Markup:
    return Markup(html("chart.html", {"sections": sections, "name": _names(sections)}))  # noqa: S704  # a template


def radar(sections: Sequence[Section]) -> Markup:
    if not FEWEST_AXES <= len(sections) <= MOST_AXES:
        return Markup()
    values = ((one.figure.get("chance"), one.blind, one.baseline, one.figure["value"]) for one in sections)
    kinds = zip(("chance", "blind", "baseline", "model"), zip(*values, strict=True), strict=True)
    lines = [(kind, [(n, v) for n, v in enumerate(value) if v is not None]) for kind, value in kinds]
    content = {"sections": sections, "name": _names(sections), "lines": lines, "fewest": FEWEST_AXES}
    return Markup(html("radar.html", {**content, "point": partial(_point, len(sections))}))  # noqa: S704  # likewise


def short(name: str, most: int = 22) -> str:
    return name if len(name) <= most else f"…{name[1 - most :]}"


def _names(sections: Sequence[Section]) -> Callable[[Section, int], str]:
    # Several tasks of one benchmark, which goes without saying
    alone = len(sections) > 1 and len({one.task.partition("/")[0] for one in sections}) == 1
    return lambda one, most: short(one.task.partition("/")[2] if alone else one.task, most)


def _point(axes: int, number: int, value: float) -> tuple[float, float]:
    angle = 2 * pi * number / axes  # the first axis points up, and the others follow clockwise
    return _CENTRE + _RADIUS * value * sin(angle), _CENTRE - _RADIUS * value * cos(angle)
