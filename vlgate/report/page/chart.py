"""The chart of the headline figures as SVG: for each task the interval, and beside it chance, text alone and people."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from vlgate.report.page.records import Section

MOST = 80
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
        body += _row(_TOP + _ROW * number + _ROW // 2, _short(name), section)
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
    """One task: a link, the interval as a line, the value as a dot, and marks for what it is compared with."""
    figure = next(one for one in section.metrics if one.name == section.headline)
    word = section.ability.word if section.ability else "unknown"
    human = next((value for model, value in section.published if model == "human"), None)
    link = Markup('<a href="#{}"><text class="name" x="{}%" y="{}" text-anchor="end">{}</text></a>')
    line = Markup('<line class="range {}" x1="{}" x2="{}" y1="{y}" y2="{y}"/>')
    dot = Markup('<circle class="dot {}" cx="{}" cy="{}" r="4.5"/>')
    value = Markup('<text class="value" x="100%" y="{}" text-anchor="end">{:.2f}</text>')
    return Markup().join(
        (
            link.format(section.anchor, _LEFT - 2, y + 4, name),
            line.format(word, _at(figure.low), _at(figure.high), y=y),
            _mark("chance", figure.chance, y),
            _mark("human", human, y),
            _mark("blind", figure.blind, y),
            dot.format(word, _at(figure.value), y),
            value.format(y + 4, figure.value),
        )
    )


_MARKS = {
    "chance": Markup('<line class="chance" y1="-6" y2="6"/>'),
    "human": Markup('<polygon class="human" points="0,-5 5,0 0,5 -5,0"/>'),
    "blind": Markup('<circle class="blind" r="3.5"/>'),
}


def _mark(kind: str, value: float | None, y: int) -> Markup:
    if value is None:
        return Markup()
    return Markup('<svg x="{}" y="{}" overflow="visible">{}</svg>').format(_at(value), y, _MARKS[kind])


def _short(name: str, most: int = 22) -> str:
    """The end of a name, which tells it from the others."""
    return name if len(name) <= most else f"…{name[1 - most :]}"
