"""The sections of a page, one per task, with the cases that each shows."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from vlgate.errors import OptionError
from vlgate.metrics.shapes import headlines
from vlgate.metrics.variants import definitions
from vlgate.record.cases import case_tables
from vlgate.record.folder import CASES, RecordedRun
from vlgate.report.abilities import Ability, ability, limit_words, unmeasured
from vlgate.report.page.answer import quota, value_before
from vlgate.report.page.cards import Card, CardMaker, Pictures, anchor
from vlgate.report.page.rows import WORST, History, Wanted, names, release, task_rows
from vlgate.report.remarks import published_lines_of
from vlgate.report.rows import YES_OR_NO, judged_by
from vlgate.sources.published.figures import beside
from vlgate.sources.registry import measures
from vlgate.types import Metric, Task

CARDS = 600  # the most missed cases of a page
CARDS_A_TASK = 12
MOST_POINTS = 12  # of a trend, this run included
TaskFigures = Mapping[str, Any]  # a task of ``metrics.json``
_HEADLINES = headlines()


class TrendPoint(NamedTuple):
    """The value of a metric in one run, and its place in a figure of 240 x 56 pixels with 0 and 1 at its edges."""

    name: str
    value: float
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    task: str
    figures: TaskFigures
    headline: str
    ability: Ability | None = None
    words: tuple[str, ...] = ()  # what the page can be filtered by
    published: tuple[tuple[str, float], ...] = ()  # figures of models and people by name
    beside: tuple[str, ...] = ()  # sentences about them
    baseline: float | None = None  # the value of the headline metric in the earlier run
    health: tuple[str, ...] = ()
    tags: Mapping[str, int]  # counts the cards of each slice
    missed: int = 0
    example: Card | None = None
    cards: tuple[Card, ...] = ()  # the worst ones first; not all that are missed
    trend: tuple[TrendPoint, ...] = ()  # of the headline metric, the oldest run first

    @property
    def anchor(self) -> str:
        return anchor(self.task)

    @property
    def question(self) -> str:
        return measures(self.task)

    @property
    def figure(self) -> Mapping[str, Any]:
        figure: Mapping[str, Any] = self.figures["metrics"][self.headline]
        return figure

    @property
    def blind(self) -> Any:
        return self.figure["blind"]["value"] if "blind" in self.figure else None

    @property
    def slices(self) -> list[tuple[str, Mapping[str, Any]]]:
        slices = self.figures["slices"].items()
        return [(part, metrics[self.headline]) for part, metrics in slices if self.headline in metrics]

    @property
    def human(self) -> float | None:
        return next((value for name, value in self.published if name == "human"), None)

    @property
    def models(self) -> list[tuple[str, float]]:
        return [(name, value) for name, value in self.published if name not in {"human", "chance"}]


def headline_of(task: TaskFigures) -> str:
    return next((name for name in _HEADLINES if name in task["metrics"]), "")


def section(name: str, figures: Mapping[str, Any], maker: CardMaker | None) -> Section:
    task = figures["tasks"][name]
    headline = headline_of(task)
    own = [gate for gate in figures["gates"] if judged_by(gate)[0] == name]
    known = tuple(limit_words(gate["max"], gate["reason"]) for gate in own if gate["decision"] == "cannot")
    able = _ability(name, task, headline, known) if headline else None
    gated = tuple(dict.fromkeys(f"gate {gate['decision']}" for gate in own if gate["kind"] != "limit"))
    example, cards = None, []
    if maker is not None:
        rows = maker.rows
        example = None if rows.example is None else maker.card(rows.example)
        cards = [maker.card(row, worst=index < WORST) for index, row in enumerate(rows.missed)]
        cards += [maker.card(row) for row in rows.unscored]
    return Section(
        task=name,
        figures=task,
        headline=headline,
        ability=able,
        words=(*([able.word] if able else []), *(gated or ("no gate",))),
        published=tuple((one.model, one.value) for one in beside(name, headline)) if headline else (),
        beside=_beside(name, task),
        baseline=value_before(figures.get("baseline"), name, headline, task["metrics"][headline]) if headline else None,
        health=tuple(_health(name, task)),
        tags=Counter(f"{tag}={value}" for card in cards for tag, value in card.tags.items()),
        missed=0 if maker is None else maker.rows.all_missed,
        example=example,
        cards=tuple(cards),
        trend=() if maker is None or not headline else _trend(maker.history, name, headline, task["metrics"][headline]),
    )


def _trend(history: History, task: str, metric: str, now: Mapping[str, Any]) -> tuple[TrendPoint, ...]:
    recent = history.releases[1 - MOST_POINTS :]
    before = [(one.name, one.tasks.get(task, {}).get("metrics", {}).get(metric)) for one in recent]
    points = [(name, figure["value"]) for name, figure in (*before, ("this run", now)) if figure]
    if len(points) < 3:  # the section says the change since one earlier run
        return ()
    last = len(points) - 1
    return tuple(
        TrendPoint(name, value, 8 + 224 * at / last, 52 - 48 * value) for at, (name, value) in enumerate(points)
    )


def _ability(name: str, task: TaskFigures, headline: str, limits: tuple[str, ...]) -> Ability:
    figure = task["metrics"][headline]
    metric, chance, neither = _metric(figure), figure.get("chance"), task.get("neither", {"replies": 0, "of": 0})
    counts = neither["replies"], neither["of"]
    doubt = unmeasured(metric, chance, tied=task["tied"], yes_or_no="yes_or_no" in task, neither=counts)
    blind = figure["blind"]["value"] if "blind" in figure else None
    return ability(name, metric, chance=chance, blind=blind, limits=limits, doubt=doubt)


def _metric(found: Mapping[str, Any]) -> Metric:
    return Metric(**{key: found[key] for key in ("value", "low", "high", "n", "deff")})


def _beside(name: str, task: TaskFigures) -> tuple[str, ...]:
    # Published figures are of one image at a time. Files of earlier versions do not have the shape.
    if "shape" not in task or task.get("ask") == "together":
        return ()
    metrics = {metric: _metric(figure) for metric, figure in task["metrics"].items()}
    return tuple(published_lines_of(name, task["shape"], metrics))


_COUNTED = {
    "unscored": "not scored",
    "skipped": "skipped",
    "deselected": "deselected",
    "tied": "with a tie",
    "unread": "with an answer that could not be read",
    "cut": "with a text that the model did not read to the end",
}


def _health(name: str, task: TaskFigures) -> Iterator[str]:
    counts = [f"{task[key]:,} {words}" for key, words in _COUNTED.items() if task[key]]
    counts += [f"every reply is {YES_OR_NO}"] if "yes_or_no" in task else []
    others = {"corrected because of a dispute": task.get("disputed", {}).get("corrected", 0), **task["left_out"]}
    counts += [f"{count:,} {reason}" for reason, count in others.items() if count]
    after = f"; {', '.join(counts)}" if counts else ""
    yield f"{task['judged']:,} of {task['cases']:,} cases judged, {task['images']:,} images{after}"
    if task.get("ask") == "together":
        yield "Asked with the images of a case together (--ask=together), in two orders; a choice counts if both agree"
    if task["note"]:
        yield task["note"]
    for (_, differs), metrics in definitions(task["metrics"], name).items():
        yield f"For published figures, by another definition: {', '.join(metrics)} ({differs})"
    for what, flaw in task.get("flaws", {}).items():
        why = f" ({flaw['why']})" if flaw.get("why") else ""  # earlier versions wrote none
        yield f"Flaw of the data: {flaw['count']:,} x {what}{why}, for example {', '.join(flaw['examples'])}"
    probes = {rule: probe["value"] for rule, probe in task.get("probes", {}).items() if probe["value"] is not None}
    if probes:
        yield f"Text-only rules: {', '.join(f'{rule} {value:.2f}' for rule, value in probes.items())}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCases:
    makers: Mapping[str, CardMaker]
    pictures: Pictures
    baseline: str = ""  # the name of the run that this one is compared with
    problem: str = ""  # why its replies cannot be shown

    def broken(self) -> dict[str, tuple[Card, ...]]:
        rows = {name: (maker, maker.rows.broken) for name, maker in self.makers.items()}
        return {name: tuple(maker.card(row, kept=True) for row in broken) for name, (maker, broken) in rows.items()}


def shown_cases(run: RecordedRun, tasks: Sequence[Task], earlier: Sequence[Path]) -> ShownCases:
    figures = run.figures
    known, comparison = figures["tasks"], figures.get("baseline")
    wanted = Wanted(
        most=max(2, min(CARDS_A_TASK, CARDS // max(1, len(known)))),
        seed=figures["run"]["seed"],
        broken={name: frozenset(task["broken"]) for name, task in comparison["tasks"].items()} if comparison else {},
        quota=quota(comparison),
    )
    headlines = {name: headline_of(task) for name, task in known.items()}
    chosen = task_rows(case_tables(run), headlines, wanted) if (run.folder / CASES).exists() else {}
    ids = {name: [row["case"] for row in rows.shown] for name, rows in chosen.items()}
    history, baseline, problem = _history(comparison, wanted.broken, ids, earlier)
    pictures, shown = Pictures(), {name: frozenset(some) for name, some in ids.items()}
    again = {task.id: {case.id: case for case in task.cases if case.id in shown.get(task.id, ())} for task in tasks}
    makers = {
        name: CardMaker(
            task=name,
            capability=known[name]["capability"],
            headline=headlines[name],
            rows=rows,
            cases=again.get(name, {}),
            pictures=pictures,
            options={"model": figures["model"]["name"], **run.options},
            history=history,
        )
        for name, rows in chosen.items()
        if name in known
    }
    return ShownCases(makers=makers, pictures=pictures, baseline=baseline, problem=problem)


def _history(
    comparison: Mapping[str, Any] | None,
    broken: Mapping[str, frozenset[str]],
    ids: Mapping[str, Sequence[str]],
    earlier: Sequence[Path],
) -> tuple[History, str, str]:
    base = None if comparison is None else Path(comparison["folder"])
    folders = list(dict.fromkeys([*earlier, *([base] if base else [])]))
    named = dict(zip(folders, names(folders), strict=True))
    read = {folder: release(folder, named[folder], "--earlier", ids) for folder in earlier}
    problem = ""
    if base is not None and base not in read:
        try:
            read[base] = release(base, named[base], "--baseline", ids)
        except OptionError as error:
            problem = str(error)
    releases = tuple(read[folder] for folder in earlier or (base,) if folder in read)
    history = History(baseline=read.get(base) if base else None, broken=broken, releases=releases)
    return history, named[base] if base else "", problem
