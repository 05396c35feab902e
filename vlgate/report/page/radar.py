"""The radar of the headline figures as SVG: one axis per task, with the model, its baseline, text alone and chance."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin

from markupsafe import Markup

from vlgate.report.page.chart import figure_of, published_of, short
from vlgate.report.page.records import Section

FEWEST, MOST = 3, 36
"""The fewest and the most tasks of a radar: with fewer it has no area, with more its names overlap."""
_SIDE, _RADIUS = 640, 180
_CENTRE = _SIDE / 2
_LONGEST = 20  # characters of a name, at six units each, between the outer ring and the edge
Values = Sequence[float | None]


def radar(sections: Sequence[Section]) -> Markup:
    """Return the radar of the headline metrics of tasks as one SVG element; empty for too few or too many tasks.

    Each task must have its headline metric. The figures of people and of published models are marks on the axes.
    """
    if not FEWEST <= len(sections) <= MOST:
        return Markup()
    figures = [figure_of(section) for section in sections]
    lines: tuple[tuple[str, Values], ...] = (
        ("chance", [one.chance for one in figures]),
        ("blind", [one.blind for one in figures]),
        ("baseline", [section.baseline for section in sections]),
        ("model", [one.value for one in figures]),
    )
    body = _web(len(sections)) + Markup().join(_line(kind, values) for kind, values in lines)
    alone = len({section.task.partition("/")[0] for section in sections}) == 1
    for number, section in enumerate(sections):
        name = section.task.partition("/")[2] if alone else section.task
        body += _name(number, len(sections), name, section.anchor)
        body += _marks(number, len(sections), section)
    said = "; ".join(f"{section.task}: {one.value:.2f}" for section, one in zip(sections, figures, strict=True))
    start = Markup('<svg class="radar" viewBox="0 0 {side} {side}" role="group" aria-label="{said}">')
    return start.format(side=_SIDE, said=said) + body + Markup("</svg>")


def _at(number: int, of: int, value: float) -> tuple[float, float]:
    """The place of a value on an axis; the first axis points up, and the others follow clockwise."""
    angle = 2 * pi * number / of
    return _CENTRE + _RADIUS * value * sin(angle), _CENTRE - _RADIUS * value * cos(angle)


def _web(of: int) -> Markup:
    rings = Markup().join(
        Markup('<polygon class="ring" points="{}"/>').format(
            " ".join("{:.1f},{:.1f}".format(*_at(number, of, value)) for number in range(of))
        )
        for value in (0.25, 0.5, 0.75, 1.0)
    )
    axis = Markup('<line class="grid" x1="{c}" y1="{c}" x2="{:.1f}" y2="{:.1f}"/>')
    return rings + Markup().join(axis.format(*_at(number, of, 1.0), c=_CENTRE) for number in range(of))


def _line(kind: str, values: Values) -> Markup:
    """A closed line through the values; a task without one is left out of it."""
    places = [_at(number, len(values), value) for number, value in enumerate(values) if value is not None]
    if len(places) < FEWEST:
        return Markup()
    points = " ".join("{:.1f},{:.1f}".format(*place) for place in places)
    return Markup('<polygon class="line {}" points="{}"/>').format(kind, points)


def _name(number: int, of: int, name: str, anchor: str) -> Markup:
    """The name of a task along its axis, upright on both sides."""
    degrees = 360 * number / of
    right = degrees <= 180
    x, y = _at(number, of, 1.04)
    link = Markup(
        '<a href="#{}"><text class="name" transform="translate({:.1f} {:.1f}) rotate({:.1f})" text-anchor="{}"'
        ' dominant-baseline="central">{}</text></a>'
    )
    return link.format(
        anchor, x, y, degrees - (90 if right else 270), "start" if right else "end", short(name, _LONGEST)
    )


def _marks(number: int, of: int, section: Section) -> Markup:
    human, published = published_of(section)
    point = Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{}"><title>{} {:.3f}</title></circle>')
    found = [point.format("published", *_at(number, of, value), 2, name, value) for name, value in published]
    found += [] if human is None else [point.format("human", *_at(number, of, human), 4, "people", human)]
    return Markup().join(found)
