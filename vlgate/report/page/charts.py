"""The headline figures as SVG: a chart of intervals, and a radar of the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin

from markupsafe import Markup

from vlgate.report.page.sections import Section

# The chart of the headline figures as SVG: for each task the interval, and beside it what it is compared with.
#
# That is chance, the text-only model, the baseline, and the figures of people and of models that papers print.

MOST_ROWS = 80
"""The most tasks of a chart; all of them are in the sections."""
_ROW, _TOP = 22, 26  # in pixels
_LEFT, _PLOT = 38, 51  # in percent of the width: text keeps its size whatever the width is


def chart(sections: Sequence[Section]) -> Markup:
    """Return the chart of the headline metrics of tasks as one SVG element; each task must have its headline metric."""
    height = _TOP + _ROW * len(sections) + 4
    alone = len({section.task.partition("/")[0] for section in sections}) == 1
    said = "; ".join(f"{one.task}: {one.ability.figures}" for one in sections if one.ability)
    body = _axis(height)
    for number, section in enumerate(sections):
        name = section.task.partition("/")[2] if alone else section.task
        body += _row(_TOP + _ROW * number + _ROW // 2, short(name), section)
    return Markup('<svg class="chart" width="100%" height="{}" role="group" aria-label="{}">{}</svg>').format(
        height, said, body
    )


def _at(value: float) -> str:
    return f"{_LEFT + _PLOT * value:.2f}%"


def _axis(height: int) -> Markup:
    mark = Markup(
        '<line class="grid" x1="{x}" x2="{x}" y1="{t}" y2="{h}"/>'
        '<text class="tick" x="{x}" y="14" text-anchor="middle">{v:g}</text>'
    )
    values = (0.0, 0.25, 0.5, 0.75, 1.0)
    return Markup().join(mark.format(x=_at(value), t=_TOP - 6, h=height - 4, v=value) for value in values)


def _row(y: int, name: str, section: Section) -> Markup:
    figure = section.figure
    word = section.ability.word if section.ability else "unknown"
    link = Markup('<a href="#{}"><text class="name" x="{}%" y="{}" text-anchor="end">{}</text></a>')
    line = Markup('<line class="range {}" x1="{}" x2="{}" y1="{y}" y2="{y}"/>')
    dot = Markup('<circle class="dot {}" cx="{}" cy="{}" r="4.5"/>')
    value = Markup('<text class="value" x="100%" y="{}" text-anchor="end">{:.2f}</text>')
    return Markup().join(
        (
            link.format(section.anchor, _LEFT - 2, y + 4, name),
            line.format(word, _at(figure["low"]), _at(figure["high"]), y=y),
            _mark("chance", figure.get("chance"), y),
            *(_mark("published", value, y, name) for name, value in section.models),
            _mark("human", section.human, y, "people"),
            _mark("baseline", section.baseline, y),
            _mark("blind", section.blind, y),
            dot.format(word, _at(figure["value"]), y),
            value.format(y + 4, figure["value"]),
        )
    )


_MARKS = {
    "published": Markup('<line class="published" y1="2" y2="8"/>'),
    "baseline": Markup('<polygon class="baseline" points="-5,-7 5,-7 0,-1"/>'),
    "chance": Markup('<line class="chance" y1="-6" y2="6"/>'),
    "human": Markup('<polygon class="human" points="0,-5 5,0 0,5 -5,0"/>'),
    "blind": Markup('<circle class="blind" r="3.5"/>'),
}


def _mark(kind: str, value: float | None, y: int, name: str = "") -> Markup:
    if value is None:
        return Markup()
    mark = Markup('<svg x="{}" y="{}" overflow="visible"><title>{} {:.3f}</title>{}</svg>')
    return mark.format(_at(value), y, name or kind, value, _MARKS[kind])


def short(name: str, most: int = 22) -> str:
    """Return the end of a name, which tells it from the others."""
    return name if len(name) <= most else f"…{name[1 - most :]}"


# The radar of the headline figures as SVG: one axis per task, with the model, its baseline, text alone and chance.

FEWEST_AXES, MOST_AXES = 3, 36
"""The fewest and the most tasks of a radar: with fewer it has no area, with more its names overlap."""
_SIDE, _RADIUS = 640, 180
_CENTRE = _SIDE / 2
_LONGEST = 20  # characters of a name, at six units each, between the outer ring and the edge
Values = Sequence[float | None]


def radar(sections: Sequence[Section]) -> Markup:
    """Return the radar of the headline metrics of tasks as one SVG element; empty for too few or too many tasks.

    Each task must have its headline metric. The figures of people and of published models are marks on the axes.
    """
    if not FEWEST_AXES <= len(sections) <= MOST_AXES:
        return Markup()
    lines: tuple[tuple[str, Values], ...] = (
        ("chance", [section.figure.get("chance") for section in sections]),
        ("blind", [section.blind for section in sections]),
        ("baseline", [section.baseline for section in sections]),
        ("model", [section.figure["value"] for section in sections]),
    )
    body = _web(len(sections)) + Markup().join(_line(kind, values) for kind, values in lines)
    alone = len({section.task.partition("/")[0] for section in sections}) == 1
    for number, section in enumerate(sections):
        name = section.task.partition("/")[2] if alone else section.task
        body += _name(number, len(sections), name, section.anchor)
        body += _marks(number, len(sections), section)
    said = "; ".join(f"{section.task}: {section.figure['value']:.2f}" for section in sections)
    start = Markup('<svg class="radar" viewBox="0 0 {side} {side}" role="group" aria-label="{said}">')
    return start.format(side=_SIDE, said=said) + body + Markup("</svg>")


def _point(number: int, of: int, value: float) -> tuple[float, float]:
    # The place of a value on an axis; the first axis points up, and the others follow clockwise
    angle = 2 * pi * number / of
    return _CENTRE + _RADIUS * value * sin(angle), _CENTRE - _RADIUS * value * cos(angle)


def _web(of: int) -> Markup:
    rings = Markup().join(
        Markup('<polygon class="ring" points="{}"/>').format(
            " ".join("{:.1f},{:.1f}".format(*_point(number, of, value)) for number in range(of))
        )
        for value in (0.25, 0.5, 0.75, 1.0)
    )
    axis = Markup('<line class="grid" x1="{c}" y1="{c}" x2="{:.1f}" y2="{:.1f}"/>')
    return rings + Markup().join(axis.format(*_point(number, of, 1.0), c=_CENTRE) for number in range(of))


def _line(kind: str, values: Values) -> Markup:
    # A closed line through the values; a task without one is left out of it
    places = [_point(number, len(values), value) for number, value in enumerate(values) if value is not None]
    if len(places) < FEWEST_AXES:
        return Markup()
    points = " ".join("{:.1f},{:.1f}".format(*place) for place in places)
    return Markup('<polygon class="line {}" points="{}"/>').format(kind, points)


def _name(number: int, of: int, name: str, anchor: str) -> Markup:
    degrees = 360 * number / of
    right = degrees <= 180
    x, y = _point(number, of, 1.04)
    link = Markup(
        '<a href="#{}"><text class="name" transform="translate({:.1f} {:.1f}) rotate({:.1f})" text-anchor="{}"'
        ' dominant-baseline="central">{}</text></a>'
    )
    return link.format(
        anchor, x, y, degrees - (90 if right else 270), "start" if right else "end", short(name, _LONGEST)
    )


def _marks(number: int, of: int, section: Section) -> Markup:
    human = section.human
    point = Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}"><title>{} {:.3f}</title></circle>')
    found = [point.format("published", *_point(number, of, value), 2, name, value) for name, value in section.models]
    found += [] if human is None else [point.format("human", *_point(number, of, human), 4, "people", human)]
    return Markup().join(found)
