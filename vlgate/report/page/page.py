"""Write report.html, or the page of a search for smallest changes, from the files of a run."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from vlgate.record.folder import RecordedRun
from vlgate.record.verdict import RunOutcome, recorded_outcome
from vlgate.record.whole_file import write_whole
from vlgate.report.abilities import WORDS
from vlgate.report.controls import tables
from vlgate.report.page.analysed import analyses
from vlgate.report.page.answer import answer, changes, decided, idle, urgency
from vlgate.report.page.cards import Pictures
from vlgate.report.page.causes import founds, whys
from vlgate.report.page.charts import MOST_ROWS, chart, figure_of, published_of, radar
from vlgate.report.page.records import Founds, PageContent, Section
from vlgate.report.page.rows import TaskRows
from vlgate.report.page.sections import ShownCases, cards_of, section, shown_cases
from vlgate.report.remarks import recorded_splits
from vlgate.types import CAPABILITIES, Task

# What a page shows, from the files of a run's folder and the tasks whose images it draws again.

_VERSIONS = ("vlgate", "torch", "transformers")
_TAGS = 40  # the most values of a tag that the page can be filtered by


def page_content(
    run: RecordedRun, tasks: Sequence[Task], earlier: Sequence[Path] = (), outcome: RunOutcome | None = None
) -> PageContent:
    """Return what the page of a run shows."""
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
    shown = [one for one in sections if one.headline][:MOST_ROWS]
    groups = {name: [one for one in shown if one.capability == name] for name in CAPABILITIES}
    return tuple((name, chart(group)) for name, group in groups.items() if group)


def _marks(sections: Sequence[Section]) -> frozenset[str]:
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
    if sum(bool(one.headline) for one in sections) > MOST_ROWS:
        said.append(f"the chart shows the first {MOST_ROWS} tasks")
    return tuple(said)


# Write ``report.html`` from the files of a run.
#
# The page is one file without addresses of others. Its policy allows its own script and style only, by their digests,
# and images only as data, so that nothing in a caption can run or be fetched. Every value that the template prints is
# escaped, and control characters in it are shown as escapes.

PAGE = "report.html"
_HERE = Path(__file__).parent
_OBEYED = {0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF}
"""Marks that change the order of the text around them, or end a line."""


def write_page(
    run: RecordedRun, tasks: Sequence[Task], earlier: Sequence[Path] = (), outcome: RunOutcome | None = None
) -> PageContent:
    """Write ``report.html`` into the folder of a run, beside ``cases.parquet``."""
    content = page_content(run, tasks, earlier, outcome)
    write_whole(run.folder / PAGE, rendered(content))
    return content


def rendered(content: PageContent) -> str:
    """Return the page as HTML."""
    return html("page.html", content)


def html(template: str, content: object) -> str:
    """Return a template of this folder as HTML; ``content`` is its ``page``."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script, style = (_HERE / "page.js").read_text(encoding="utf-8"), (_HERE / "page.css").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; img-src data:; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    found = environment.get_template(template)
    return found.render(page=content, policy=policy, script=_code(script), style=_code(style))


def shown(value: object) -> object:
    r"""Return a value as the page prints it: control characters and marks of direction in a text become escapes.

    >>> shown("a \x1b[31m b")
    'a \\x1b[31m b'
    """
    from markupsafe import Markup

    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return "".join(_escaped(character) for character in value)


def _escaped(character: str) -> str:
    code = ord(character)
    plain = code >= 0x20 and not 0x7F <= code <= 0x9F and code not in _OBEYED and not 0xD800 <= code <= 0xDFFF
    return character if plain or character in "\n\t" else character.encode("unicode_escape").decode("ascii")


def _code(text: str) -> object:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704  # a file of this package


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


# The page of a run that only searched for smallest changes, so that it has no ``report.html``.

FILE = "shrunk.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """What the page shows: the finds of a model."""

    model: str
    founds: Founds


def write_finds(folder: Path, model: str) -> None:
    """Write ``shrunk.html`` from ``shrunk.jsonl`` of a run's folder; no page if nothing was found."""
    found = founds(folder)
    if found.shown:
        write_whole(folder / FILE, html("finds.html", _Content(model=model, founds=found)))
