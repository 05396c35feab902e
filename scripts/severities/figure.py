"""The curves as a drawing in SVG: a panel for each family, a line for each model."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence

from severities.curves import Curve

_WIDTH, _HEIGHT = 200, 120  # of a panel's axes
_LEFT, _TOP, _RIGHT, _BOTTOM = 36, 30, 14, 24
_COLUMNS = 3
_COLOURS = ("#0072b2", "#d55e00", "#009e73")  # told apart by everybody: Okabe and Ito 2008
_LEAST = 0.4  # of the vertical axis; chance is 0.5


def figure(curves: Mapping[str, Sequence[Curve]]) -> str:
    """Return the drawing of the curves of each model, by the model's name; bars are 95 % intervals."""
    models = tuple(curves)
    families = [curve.family for curve in curves[models[0]]]
    rows = -(-len(families) // _COLUMNS)
    width, height = _COLUMNS * (_LEFT + _WIDTH + _RIGHT), rows * (_TOP + _HEIGHT + _BOTTOM) + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"',
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for index, family in enumerate(families):
        x, y = index % _COLUMNS * (_LEFT + _WIDTH + _RIGHT), index // _COLUMNS * (_TOP + _HEIGHT + _BOTTOM)
        parts += [f'<g transform="translate({x + _LEFT} {y + _TOP})">', *_axes(family)]
        for model, colour in zip(models, _COLOURS, strict=False):
            parts += _line(next(curve for curve in curves[model] if curve.family == family), colour)
        parts.append("</g>")
    for index, (model, colour) in enumerate(zip(models, _COLOURS, strict=False)):
        parts.append(f'<text x="{_LEFT + 140 * index}" y="{height - 8}" fill="{colour}">{html.escape(model)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _axes(family: str) -> Iterator[str]:
    yield f'<text y="-10" font-weight="bold">{html.escape(family)}</text>'
    for value in (0.5, 0.75, 1.0):
        y = _down(value)
        dashes = ' stroke-dasharray="3 3"' if value == 0.5 else ""  # chance
        yield f'<path d="M0 {y}H{_WIDTH}" stroke="#ccc"{dashes}/>'
        yield f'<text x="-6" y="{y + 4}" text-anchor="end">{value}</text>'
    for severity in range(6):
        yield f'<text x="{_across(severity)}" y="{_HEIGHT + 16}" text-anchor="middle">{severity}</text>'


def _line(curve: Curve, colour: str) -> Iterator[str]:
    points = curve.points
    path = " ".join(f"{_across(index)},{_down(metric.value)}" for index, metric in enumerate(points))
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    for index, metric in enumerate(points):
        x = _across(index)
        yield f'<path d="M{x} {_down(metric.low)}V{_down(metric.high)}" stroke="{colour}"/>'
        yield f'<circle cx="{x}" cy="{_down(metric.value)}" r="2.5" fill="{colour}"/>'


def _across(severity: int) -> float:
    return 10 + severity * (_WIDTH - 20) / 5


def _down(value: float) -> float:
    return round(_HEIGHT * (1 - (value - _LEAST) / (1 - _LEAST)), 1)
