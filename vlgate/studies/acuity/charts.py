"""Draws the acuity charts of a model: cost, trials, gates; a table, SVG and a page of HTML."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import ceil
from pathlib import Path
from typing import Any, get_args

import numpy as np
from markupsafe import Markup

from vlgate.errors import OptionError, VlgateError, described
from vlgate.gates.acuity import AcuityDecision, AcuityGate, decide_acuity, said
from vlgate.gates.thresholds import checked_thresholds, toml_of
from vlgate.metrics.perception import FACULTIES, Acuity, Counts, Faculty, Word, band, grid, posterior
from vlgate.metrics.stats import wilson
from vlgate.record.options import Options
from vlgate.record.whole_file import write_whole
from vlgate.run.loading import load_model
from vlgate.studies.acuity.staircase import charts, cost, seconds_per_call

FILE = "acuity.json"
SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRun:
    model: str
    fingerprint: str
    seed: int
    charts: tuple[Acuity, ...]
    decisions: tuple[AcuityDecision, ...] = ()

    @property
    def passed(self) -> bool:
        return all(decision.outcome == "pass" for decision in self.decisions)

    def chart(self, faculty: str) -> Acuity | None:
        return next((chart for chart in self.charts if chart.faculty == faculty), None)


def text_of(release: ChartRun) -> str:
    gates = [
        {"gate": f"acuity.{one.gate.faculty}", one.gate.key: one.gate.bound, "decision": one.outcome, "why": one.why}
        for one in release.decisions
    ]
    content = {
        "schema": SCHEMA,
        "model": release.model,
        "fingerprint": release.fingerprint,
        "seed": release.seed,
        "calls": sum(chart.calls for chart in release.charts),
        "charts": {chart.faculty: _chart(chart) for chart in release.charts},
        "gates": gates,
    }
    return json.dumps(content, indent=1) + "\n"


def _chart(acuity: Acuity) -> dict[str, object]:
    low, high = acuity.interval
    told = {"level": acuity.level, "low": low, "high": high, "unit": acuity.about.unit, "calls": acuity.calls}
    kept = {name: value for name, value in asdict(acuity).items() if name not in {"faculty", "low", "high"}}
    levels = {"levels": acuity.about.levels().round(4).tolist()}
    return {"word": acuity.word, **told, **kept, "place_low": acuity.low, "place_high": acuity.high, **levels}


def read_release(place: Path) -> ChartRun:
    file = place / FILE if place.is_dir() else place
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        charts = tuple(_read(name, one) for name, one in content["charts"].items())
        model, digest = str(content["model"]), str(content["fingerprint"])
        return ChartRun(model=model, fingerprint=digest, seed=int(content["seed"]), charts=charts)
    except OSError as error:
        why = f"{file} cannot be read ({error.strerror}); name a folder with {FILE}"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{file} is not a file of vlgate analyse acuity ({type(error).__name__}: {error}); write it again"
    raise OptionError(f"--against {place}: {why}")


def _read(name: str, given: Mapping[str, Any]) -> Acuity:
    ends = {"low": given["place_low"], "high": given["place_high"], "faculty": name}
    values: dict[str, Any] = {field.name: ends.get(field.name, given.get(field.name)) for field in fields(Acuity)}
    values |= {"asked": tuple(given["asked"]), "right": tuple(given["right"])}
    acuity = Acuity(**values)
    known = len(FACULTIES[name].levels())
    if acuity.word not in get_args(Word) or {len(acuity.asked), len(acuity.right)} != {known}:
        raise ValueError(f"the chart {name!r} is damaged")
    for one in ("place", "low", "high", "best", "best_low", "best_high"):
        if not isinstance(values[one], float):
            raise TypeError(f"{name}.{one} is {values[one]!r}, not a number")
    return acuity


WIDTH, HEIGHT = 420, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 58, 40
_MARKS = 5
_TOGETHER = 6  # trials of a point at least
STYLES = ("now", "before")  # the classes of the release and of the earlier one
CSS = Path(__file__).with_name("chart.css").read_text(encoding="utf-8")


def panel(faculty: Faculty, releases: Sequence[ChartRun]) -> Markup:
    both = zip(STYLES, releases, strict=False)
    drawn = [(style, one.model, chart) for style, one in both if (chart := one.chart(faculty.name))]
    start = Markup(
        '<svg class="acuity" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{t}">'
        "<title>{t}</title>"
    ).format(w=WIDTH, h=HEIGHT, t=f"{faculty.name}: {'; '.join(f'{model}: {said(one)}' for _, model, one in drawn)}")
    parts = [
        start,
        Markup('<rect class="panel" width="{}" height="{}" rx="8"/>').format(WIDTH, HEIGHT),
        Markup('<text class="title" x="{}" y="18">{}</text>').format(_LEFT, faculty.name),
        *_axes(faculty),
    ]
    for row, (style, model, chart) in enumerate(drawn):
        parts.append(Markup('<g class="{}">').format(style))
        line = Markup('<text class="said" x="{}" y="{}">{} {}: {}</text>')
        mark = "●" if style == "now" else "○"
        parts.append(line.format(_LEFT, 34 + 15 * row, mark, _short(model), said(chart)))
        parts += [*_curve(chart), Markup("</g>")]
    return Markup().join([*parts, Markup("</svg>")])


def sheet(faculties: Sequence[Faculty], releases: Sequence[ChartRun]) -> str:
    columns = min(2, len(faculties))
    width, height = columns * WIDTH, -(-len(faculties) // columns) * HEIGHT
    start = Markup('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}">')
    parts = [
        start.format(w=width, h=height),
        Markup("<style>{}</style>").format(Markup(CSS)),  # noqa: S704  # our own file
        Markup('<rect width="{}" height="{}" style="fill: var(--page)"/>').format(width, height),
    ]
    for number, faculty in enumerate(faculties):
        place = Markup('<g transform="translate({} {})">').format(number % columns * WIDTH, number // columns * HEIGHT)
        parts += [place, panel(faculty, releases), Markup("</g>")]
    return str(Markup("\n").join([*parts, Markup("</svg>")])) + "\n"


def _axes(faculty: Faculty) -> Iterator[Markup]:
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _down(value)
        kind = "chance" if value == 0.5 else "grid"
        yield Markup('<line class="{}" x1="{}" x2="{}" y1="{y}" y2="{y}"/>').format(kind, _LEFT, WIDTH - _RIGHT, y=y)
        yield Markup('<text class="tick" x="{}" y="{}" text-anchor="end">{:g}</text>').format(_LEFT - 6, y + 4, value)
    levels, places = faculty.levels(), faculty.places()
    for number in np.linspace(0, len(levels) - 1, _MARKS).round().astype(int).tolist():
        x = _across(float(places[number]))
        yield Markup('<text class="tick" x="{}" y="{}" text-anchor="middle">{:.3g}</text>').format(
            x, HEIGHT - _BOTTOM + 15, levels[number]
        )
    yield Markup('<text class="unit" x="{}" y="{}" text-anchor="middle">hard ← {}, {} → easy</text>').format(
        (_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 8, _short(faculty.level, 54), faculty.unit
    )


def _curve(chart: Acuity) -> Iterator[Markup]:
    places = chart.about.places()
    asked, right = np.array(chart.asked), np.array(chart.right)
    if chart.word not in {"no fit", "below chance", "unscored"}:
        observers = grid(places)
        low, middle, high = band(observers, posterior(observers, right, asked))
        around = [*zip(places, high, strict=True), *zip(places[::-1], low[::-1], strict=True)]
        yield Markup('<polygon class="band" points="{}"/>').format(_points(around))
        yield Markup('<polyline class="curve" points="{}"/>').format(_points(list(zip(places, middle, strict=True))))
    bar = Markup('<line class="bar" x1="{x}" x2="{x}" y1="{}" y2="{}"/>')
    dot = Markup('<circle class="point" cx="{}" cy="{}" r="{:.1f}"><title>{} of {} right</title></circle>')
    for some in _groups(asked):
        number, hits = int(asked[some].sum()), int(right[some].sum())
        x, (least, most) = _across(float(np.average(places[some], weights=asked[some]))), wilson(hits / number, number)
        yield bar.format(_down(least), _down(most), x=x)
        yield dot.format(x, _down(hits / number), 2 + min(3.0, number**0.5 / 3), hits, number)
    if chart.level is not None:
        x, ends = _across(chart.place), [_across(float(np.clip(end, 0, 1))) for end in (chart.low, chart.high)]
        bottom = HEIGHT - _BOTTOM
        box = Markup('<rect class="range" x="{}" y="{}" width="{:.1f}" height="5"/>')
        yield box.format(ends[0], bottom - 5, ends[1] - ends[0])
        line = Markup('<line class="threshold" x1="{x}" x2="{x}" y1="{}" y2="{}"/>')
        yield line.format(_down((0.5 + chart.best) / 2), bottom, x=x)


def _groups(asked: Counts) -> Iterator[list[int]]:
    group: list[int] = []
    for place in np.flatnonzero(asked).tolist():
        group.append(place)
        if asked[group].sum() >= _TOGETHER:
            yield group
            group = []
    if group:
        yield group


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_across(float(x))},{_down(float(y))}" for x, y in points)


def _across(place: float) -> float:
    return round(_LEFT + place * (WIDTH - _LEFT - _RIGHT), 1)


def _down(value: float) -> float:
    return round(_TOP + (1 - value) * (HEIGHT - _TOP - _BOTTOM), 1)


def _short(text: str, most: int = 26) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


_PAGE = Markup(Path(__file__).with_name("charts.html").read_text(encoding="utf-8"))  # noqa: S704  # our own file
_HEAD = ("faculty", "threshold (95 % interval)", "best", "calls", "before", "change")


def change(now: Acuity, before: Acuity | None) -> str:
    ends = []
    for chart in (now, before):
        if chart is None or chart.word in {"no fit", "unscored"}:
            return ""
        # A model at chance is worse than any in the range.
        ends.append((2.0, 2.0) if chart.word in {"at chance", "below chance"} else (chart.low, chart.high))
    (low, high), (least, most) = ends
    return "worse" if low > most else "better" if high < least else "not told apart"


def cells(release: ChartRun, earlier: ChartRun | None) -> Iterator[tuple[str, ...]]:
    for chart in release.charts:
        before = earlier.chart(chart.faculty) if earlier else None
        row = (chart.faculty, said(chart), f"{chart.best:.2f}", f"{chart.calls:,}")
        yield (*row, said(before), change(chart, before)) if before else (*row, "", "")


def lines(release: ChartRun, earlier: ChartRun | None) -> Iterator[str]:
    most = len(_HEAD) if earlier else 4
    rows = [_HEAD[:most], *(row[:most] for row in cells(release, earlier))]
    widths = [max(len(row[column]) for row in rows) for column in range(most)]
    yield from ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    for chart in release.charts:
        ties = f"{chart.ties} of {chart.trials + chart.unscored} trials are exact ties, decided by a coin"
        remarks = [ties] if chart.ties else []
        remarks += [f"{chart.unscored} trials have no reply"] if chart.unscored else []
        if remarks:
            yield f"{chart.faculty}: {'; '.join(remarks)}"
    yield from (f"acuity.{decision.gate.faculty}: {decision.outcome}: {decision.why}" for decision in release.decisions)


def page(release: ChartRun, earlier: ChartRun | None) -> str:
    both = [release, *([earlier] if earlier else [])]
    charts = Markup("\n").join(panel(chart.about, both) for chart in release.charts)
    head = Markup().join(Markup("<th>{}</th>").format(cell) for cell in _HEAD)
    rows = Markup("\n").join(
        Markup("<tr>{}</tr>").format(Markup().join(Markup("<td>{}</td>").format(cell) for cell in row))
        for row in cells(release, earlier)
    )
    models = " and ".join(one.model for one in both)
    css = Markup(CSS)  # noqa: S704  # our own file
    return str(_PAGE.format(css=css, models=models, charts=charts, head=head, rows=rows))


def gates_of(file: Path) -> tuple[AcuityGate, ...]:
    _, content = toml_of(file)
    ours = {name: value for name, value in content.items() if name not in {"gate", "limit", "defaults", "checks"}}
    return checked_thresholds(file, ours, {}).acuity


def draw(
    options: Options,
    faculties: Sequence[str],
    gates: Sequence[AcuityGate],
    limit: int | None,
    say: Callable[[str], None],
) -> ChartRun:
    calls, trials = cost(faculties, limit)
    try:
        loaded, predictor = load_model(options, ())
        say(f"{len(faculties)} charts, at most {calls:,} calls to {options.model} ({trials} trials each)")
        seconds = ceil(calls * seconds_per_call(predictor, faculties, options.seed))
        say(f"at most {seconds} s" if seconds < 100 else f"at most {seconds // 60} min {seconds % 60} s")
        drawn = tuple(charts(predictor, faculties, trials, options.seed))
    except VlgateError as error:
        raise OptionError(str(error)) from error
    except Exception as error:  # what a foreign model raises has any class; it is told in one line, with its class
        raise OptionError(f"--model={options.model}: the model raised {described(error)}; correct it") from error
    release = ChartRun(model=options.model, fingerprint=loaded.fingerprint, seed=options.seed, charts=drawn)
    return replace(release, decisions=tuple(decide_acuity(gate, release.chart(gate.faculty)) for gate in gates))


def written(release: ChartRun, earlier: ChartRun | None, folder: Path) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    both = [release, *([earlier] if earlier else [])]
    write_whole(folder / FILE, text_of(release))
    write_whole(folder / "acuity.svg", sheet([chart.about for chart in release.charts], both))
    write_whole(folder / "acuity.html", page(release, earlier))
    return list(lines(release, earlier))
