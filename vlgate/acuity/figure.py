"""The charts as SVG: for each faculty the observed shares with their intervals, the fitted curve, and the threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from markupsafe import Markup

from vlgate.acuity.record import Release
from vlgate.gates.acuity import said
from vlgate.metrics.perception.acuity import Acuity
from vlgate.metrics.perception.faculties import Faculty
from vlgate.metrics.perception.psychometric import Counts, band, grid, posterior
from vlgate.metrics.stats import wilson
from vlgate.types import FloatArray

WIDTH, HEIGHT = 420, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 58, 40
_MARKS = 5
_TOGETHER = 6  # trials of a point at least
STYLES = ("now", "before")
"""The classes of the release and of the earlier one."""
CSS = Path(__file__).with_name("chart.css").read_text(encoding="utf-8")


def panel(faculty: Faculty, releases: Sequence[Release]) -> Markup:
    """Return the chart of one faculty as an SVG element: the first release, and perhaps an earlier one."""
    drawn = [
        (style, one, found) for style, one in zip(STYLES, releases, strict=False) if (found := one.chart(faculty.name))
    ]
    told = "; ".join(f"{one.model}: {said(found)}" for _, one, found in drawn)
    start = Markup(
        '<svg class="acuity" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{t}">'
        "<title>{t}</title>"
    ).format(w=WIDTH, h=HEIGHT, t=f"{faculty.name}: {told}")
    return Markup().join([start, *_inside(faculty, drawn), Markup("</svg>")])


def sheet(faculties: Sequence[Faculty], releases: Sequence[Release]) -> str:
    """Return all charts as one SVG file that needs no other."""
    columns = min(2, len(faculties))
    rows = -(-len(faculties) // columns)
    width, height = columns * WIDTH, rows * HEIGHT
    parts = [
        Markup('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}">').format(
            w=width, h=height
        ),
        Markup("<style>{}</style>").format(Markup(CSS)),  # noqa: S704  # our own file
        Markup('<rect width="{}" height="{}" style="fill: var(--page)"/>').format(width, height),
    ]
    for number, faculty in enumerate(faculties):
        place = Markup('<g transform="translate({} {})">').format(number % columns * WIDTH, number // columns * HEIGHT)
        parts += [place, panel(faculty, releases), Markup("</g>")]
    return str(Markup("\n").join([*parts, Markup("</svg>")])) + "\n"


def _inside(faculty: Faculty, drawn: Sequence[tuple[str, Release, Acuity]]) -> Iterator[Markup]:
    yield Markup('<rect class="panel" width="{}" height="{}" rx="8"/>').format(WIDTH, HEIGHT)
    yield Markup('<text class="title" x="{}" y="18">{}</text>').format(_LEFT, faculty.name)
    yield from _axes(faculty)
    for row, (style, release, found) in enumerate(drawn):
        yield Markup('<g class="{}">').format(style)
        yield Markup('<text class="said" x="{}" y="{}">{} {}: {}</text>').format(
            _LEFT, 34 + 15 * row, "●" if style == "now" else "○", _short(release.model), said(found)
        )
        yield from _curve(found)
        yield Markup("</g>")


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


def _curve(found: Acuity) -> Iterator[Markup]:
    """The points with their intervals; the curve, its band and the threshold if there is one."""
    places = found.about.places()
    asked, right = np.array(found.asked), np.array(found.right)
    if found.word not in {"no fit", "below chance", "unscored"}:
        observers = grid(places)
        low, middle, high = band(observers, posterior(observers, right, asked))
        around = [*zip(places, high, strict=True), *zip(places[::-1], low[::-1], strict=True)]
        yield Markup('<polygon class="band" points="{}"/>').format(_points(around))
        yield Markup('<polyline class="curve" points="{}"/>').format(_points(list(zip(places, middle, strict=True))))
    yield from _observed(places, asked, right)
    if found.level is not None:
        x, ends = _across(found.place), [_across(float(np.clip(end, 0, 1))) for end in (found.low, found.high)]
        bottom = HEIGHT - _BOTTOM
        yield Markup('<rect class="range" x="{}" y="{}" width="{:.1f}" height="5"/>').format(
            ends[0], bottom - 5, ends[1] - ends[0]
        )
        yield Markup('<line class="threshold" x1="{x}" x2="{x}" y1="{}" y2="{}"/>').format(
            _down((0.5 + found.best) / 2), bottom, x=x
        )


def _observed(places: FloatArray, asked: Counts, right: Counts) -> Iterator[Markup]:
    """The shares of right replies with their intervals; neighbouring levels with few trials share a point."""
    bar = Markup('<line class="bar" x1="{x}" x2="{x}" y1="{}" y2="{}"/>')
    dot = Markup('<circle class="point" cx="{}" cy="{}" r="{:.1f}"><title>{} of {} right</title></circle>')
    for some in _groups(asked):
        number, hits = int(asked[some].sum()), int(right[some].sum())
        x, (least, most) = _across(float(np.average(places[some], weights=asked[some]))), wilson(hits / number, number)
        yield bar.format(_down(least), _down(most), x=x)
        yield dot.format(x, _down(hits / number), 2 + min(3.0, number**0.5 / 3), hits, number)


def _groups(asked: Counts) -> Iterator[list[int]]:
    """Yield the positions of neighbouring levels with ``_TOGETHER`` trials in all, or what is left at the end."""
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
